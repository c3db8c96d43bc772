package definition

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

//go:embed flow.schema.json profile.schema.json source.schema.json
var schemas embed.FS

// Schema gives one of the JSON Schemas of the file formats: "flow", "profile" or
// "source". ok is false for any other name.
func Schema(name string) (raw []byte, ok bool) {
	raw, err := schemas.ReadFile(name + ".schema.json")
	return raw, err == nil
}

// noLoader keeps schemas from reading files or the network.
type noLoader struct{}

// Load refuses every address.
func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("a schema may not refer to %s", url)
}

func compileSchema(name string, doc any) (*jsonschema.Schema, error) {
	return compilePart(name, doc, "")
}

// compilePart compiles the schema at a JSON pointer of a document; "" = the whole.
func compilePart(name string, doc any, pointer string) (*jsonschema.Schema, error) {
	c := jsonschema.NewCompiler()
	c.UseLoader(noLoader{})
	c.AssertFormat()
	address := "mem:///" + name
	if err := c.AddResource(address, doc); err != nil {
		return nil, err
	}
	if pointer != "" {
		address += "#" + pointer
	}
	return c.Compile(address)
}

var compiled = map[string]func() (*jsonschema.Schema, error){
	"flow":    sync.OnceValues(func() (*jsonschema.Schema, error) { return shipped("flow") }),
	"profile": sync.OnceValues(func() (*jsonschema.Schema, error) { return shipped("profile") }),
	"source":  sync.OnceValues(func() (*jsonschema.Schema, error) { return shipped("source") }),
}

func shipped(name string) (*jsonschema.Schema, error) {
	raw, _ := Schema(name)
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	return compileSchema(name+".schema.json", doc)
}

// load reads a file, checks it against its schema and fills the raw form.
func load(kind, file string, src []byte, raw any) (*document, *problems, error) {
	d, err := readDocument(file, src)
	if err != nil {
		return nil, nil, err
	}
	p := &problems{doc: d}
	schema, err := compiled[kind]()
	if err != nil {
		return nil, nil, err
	}
	if err := schema.Validate(d.value); err != nil {
		explain(err, p)
		return nil, nil, p.err()
	}
	text, err := json.Marshal(d.value)
	if err != nil {
		return nil, nil, err
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	dec.UseNumber()
	if err := dec.Decode(raw); err != nil {
		p.add("", "%s", err)
		return nil, nil, p.err()
	}
	return d, p, nil
}

// explain turns a validation error into problems with their fields.
func explain(err error, p *problems) {
	var v *jsonschema.ValidationError
	if !errors.As(err, &v) {
		p.add("", "%s", err)
		return
	}
	for _, leaf := range leaves(v) {
		at := fieldPath(leaf.InstanceLocation)
		switch k := leaf.ErrorKind.(type) {
		case *kind.AdditionalProperties:
			for _, name := range k.Properties {
				p.add(join(at, name), "this field is not known")
			}
		case *kind.Required:
			for _, name := range k.Missing {
				p.add(join(at, name), "this field is missing")
			}
		default:
			p.add(at, "%s", sentence(leaf))
		}
	}
}

// leaves gives the innermost errors.
func leaves(v *jsonschema.ValidationError) []*jsonschema.ValidationError {
	if len(v.Causes) == 0 {
		return []*jsonschema.ValidationError{v}
	}
	var out []*jsonschema.ValidationError
	for _, c := range v.Causes {
		out = append(out, leaves(c)...)
	}
	return out
}

// sentence gives the validator's own words.
func sentence(v *jsonschema.ValidationError) string {
	if o := v.BasicOutput(); o.Error != nil {
		return o.Error.String()
	} else if len(o.Errors) > 0 && o.Errors[0].Error != nil {
		return o.Errors[0].Error.String()
	}
	return "it does not fit the schema"
}

// fieldPath writes a location as people read it: stages[0].key.
func fieldPath(location []string) string {
	path := ""
	for _, part := range location {
		if n, err := strconv.Atoi(part); err == nil && path != "" {
			path = item(path, n)
			continue
		}
		path = join(path, part)
	}
	return path
}

// checkValues validates a value and names what is missing or does not fit, by dotted
// path. A required text that is empty or null counts as missing.
func checkValues(schema *jsonschema.Schema, values map[string]any) (wrong []string, err error) {
	if schema == nil {
		return nil, nil
	}
	present := map[string]any{}
	for k, v := range values {
		if s, ok := v.(string); v == nil || ok && strings.TrimSpace(s) == "" {
			continue
		}
		present[k] = v
	}
	seen := map[string]bool{}
	note := func(field string) {
		if !seen[field] {
			seen[field] = true
			wrong = append(wrong, field)
		}
	}
	verr := schema.Validate(present)
	if verr == nil {
		return nil, nil
	}
	var v *jsonschema.ValidationError
	if !errors.As(verr, &v) {
		return nil, verr
	}
	for _, leaf := range leaves(v) {
		at := fieldPath(leaf.InstanceLocation)
		switch k := leaf.ErrorKind.(type) {
		case *kind.Required:
			for _, name := range k.Missing {
				note(join(at, name))
			}
		case *kind.AdditionalProperties:
			for _, name := range k.Properties {
				note(join(at, name))
			}
		default:
			note(at)
		}
	}
	return wrong, nil
}
