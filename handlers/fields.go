package handlers

import (
	"encoding/json"
	"slices"
	"sort"
	"strconv"
	"strings"

	"holdpoint/operation/definition"
	"holdpoint/store"
	"holdpoint/views"
)

// draftField is one place of content that a person may fill, with what the
// destination's action and the flow say of it.
type draftField struct {
	path   string
	value  any
	schema map[string]any
	need   bool   // the action does not go without it
	brief  string // from the flow
	edited bool   // a person or a model writes it, says the flow
	given  bool   // the schema says readOnly: what started the work gave it, and nobody writes it
}

// draftFields lists the places of a version's content: what is there, what the action's
// schema names, and what the flow leaves to people.
func draftFields(p *store.OperationPage, content map[string]any) []draftField {
	byPath := map[string]*draftField{}
	add := func(path string) *draftField {
		f, ok := byPath[path]
		if !ok {
			f = &draftField{path: path}
			byPath[path] = f
		}
		return f
	}
	for _, l := range leaves(content, "") {
		if l.path != "" {
			add(l.path).value = l.value
		}
	}
	if p.Action != nil {
		schemaFields(p.Action.Content, "", add)
		entryFields(p.Action.Content, content, "", add)
	}
	for _, d := range p.Stage2.Drafts {
		f := add(d.Path)
		f.brief, f.edited = d.Brief, true
	}
	out := make([]draftField, 0, len(byPath))
	for _, f := range byPath {
		if f.schema == nil && p.Action != nil {
			f.schema = schemaAt(p.Action.Content, f.path)
		}
		f.given = p.Action != nil && isGiven(p.Action.Content, f.path)
		out = append(out, *f)
	}
	sort.Slice(out, func(i, j int) bool {
		a, _, _ := strings.Cut(out[i].path, ".")
		b, _, _ := strings.Cut(out[j].path, ".")
		if a != b {
			return fieldBefore(a, b)
		}
		return out[i].path < out[j].path
	})
	return out
}

// schemaFields adds the scalar properties that a schema names, also of nested objects.
func schemaFields(schema map[string]any, path string, add func(string) *draftField) {
	props, _ := schema["properties"].(map[string]any)
	need, _ := schema["required"].([]any)
	for name, x := range props {
		sub, _ := x.(map[string]any)
		at := strings.TrimPrefix(path+"."+name, ".")
		switch shownValue(sub["type"]) {
		case "object":
			schemaFields(sub, at, add)
		case "array": // its entries come from the content
		default:
			f := add(at)
			f.schema, f.need = sub, slices.ContainsFunc(need, func(n any) bool { return shownValue(n) == name })
		}
	}
}

// entryFields adds what the schema names for the entries that a list of objects has.
func entryFields(schema map[string]any, v any, path string, add func(string) *draftField) {
	switch x := v.(type) {
	case map[string]any:
		props, _ := schema["properties"].(map[string]any)
		for name, e := range x {
			sub, _ := props[name].(map[string]any)
			entryFields(sub, e, strings.TrimPrefix(path+"."+name, "."), add)
		}
	case []any:
		items, _ := schema["items"].(map[string]any)
		for i, e := range x {
			at := path + "." + strconv.Itoa(i)
			if _, is := e.(map[string]any); is {
				schemaFields(items, at, add)
			}
			entryFields(items, e, at, add)
		}
	}
}

// isGiven reports that a place, or one around it, is readOnly.
func isGiven(schema map[string]any, path string) bool {
	for i, r := range path + "." {
		if r != '.' {
			continue
		}
		if s := schemaAt(schema, path[:i]); s != nil && s["readOnly"] == true {
			return true
		}
	}
	return false
}

// schemaAt finds the schema of one place.
func schemaAt(schema map[string]any, path string) map[string]any {
	for part := range strings.SplitSeq(path, ".") {
		if schema == nil {
			return nil
		}
		if _, err := strconv.Atoi(part); err == nil {
			schema, _ = schema["items"].(map[string]any)
			continue
		}
		props, _ := schema["properties"].(map[string]any)
		schema, _ = props[part].(map[string]any)
	}
	return schema
}

// isNumber reports that the place holds a number.
func (f draftField) isNumber() bool {
	switch shownValue(f.schema["type"]) {
	case "number", "integer":
		return true
	}
	switch f.value.(type) {
	case json.Number, float64, int:
		return true
	}
	return false
}

func (f draftField) isFlag() bool {
	_, is := f.value.(bool)
	return is || shownValue(f.schema["type"]) == "boolean"
}

// view draws the place as an input. set says that values were typed.
func (f draftField) view(value string, missing []string) views.EditField {
	e := views.EditField{Path: f.path, Name: f.path[strings.LastIndex(f.path, ".")+1:], Kind: views.EditLine, Value: value, Hint: f.brief}
	if e.Name != f.path {
		e.Label = f.path
	}
	e.ReadOnly = f.given
	limit, _ := strconv.Atoi(shownValue(f.schema["maxLength"]))
	e.MaxLen = limit
	e.Optional = f.schema != nil && !f.need && !f.edited && !slices.Contains(missing, f.path)
	e.Missing = value == "" && (f.need || slices.Contains(missing, f.path))
	list, _ := f.schema["enum"].([]any)
	switch {
	case len(list) > 0:
		e.Kind = views.EditChoice
		for _, x := range list {
			e.Options = append(e.Options, views.Option{Value: shownValue(x), Label: shownValue(x), Selected: shownValue(x) == value})
		}
	case f.isFlag():
		e.Kind = views.EditFlag
		if value == "true" {
			e.Value = "yes"
		}
	case f.isNumber():
		e.Kind = views.EditNumber
	case limit > 300 || limit == 0 && f.edited || strings.Contains(value, "\n") || len(value) > 120:
		e.Kind = views.EditLong
	}
	return e
}

// value reads the typed text as the place holds it. ok is false when it does not fit;
// nil = the place stays empty.
func (f draftField) parse(text string) (v any, ok bool) {
	switch {
	case f.isFlag():
		return text == "yes", true
	case text == "":
		return nil, true
	case f.isNumber():
		x, err := definition.DecodeJSON([]byte(strings.TrimSpace(text)))
		_, number := x.(json.Number)
		return x, err == nil && number
	}
	return text, true
}

// setAt puts a value into content; nil takes it away.
func setAt(content map[string]any, path string, v any) {
	var at any = content
	parts := strings.Split(path, ".")
	for i, part := range parts {
		last := i == len(parts)-1
		switch x := at.(type) {
		case map[string]any:
			switch {
			case last && v == nil:
				delete(x, part)
			case last:
				x[part] = v
			default:
				if x[part] == nil {
					x[part] = map[string]any{}
				}
				at = x[part]
			}
		case []any:
			n, err := strconv.Atoi(part)
			if err != nil || n < 0 || n >= len(x) {
				return
			}
			if last {
				x[n] = v
				return
			}
			at = x[n]
		default:
			return
		}
	}
}
