package definition

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// MaxFile is the largest definition file, in bytes.
const MaxFile = 256 << 10

// maxNesting is the deepest nesting of a definition file.
const maxNesting = 40

// document is a read YAML file: its value as JSON would give it (numbers as
// json.Number) and the line of every field.
type document struct {
	file  string
	src   []byte
	value any
	lines map[string]int
}

func (d *document) hash() [32]byte { return sha256.Sum256(d.src) }

// line gives the line of a field, or of the nearest field around it.
func (d *document) line(field string) int {
	for {
		if n, ok := d.lines[field]; ok {
			return n
		}
		i := strings.LastIndexAny(field, ".[")
		if i < 0 {
			return d.lines[""]
		}
		field = field[:i]
	}
}

// readDocument reads strict YAML: one document, no duplicate keys, no anchors,
// aliases, tags or merge keys (they could hide what a file says).
func readDocument(file string, src []byte) (*document, error) {
	d := &document{file: file, src: src, lines: map[string]int{}}
	fail := func(line int, format string, args ...any) (*document, error) {
		return nil, Problems{{File: file, Line: line, Text: fmt.Sprintf(format, args...)}}
	}
	switch {
	case len(src) > MaxFile:
		return fail(0, "the file is larger than %d KiB", MaxFile>>10)
	case !utf8.Valid(src):
		return fail(0, "the file is not UTF-8")
	case strings.ContainsAny(string(src), "\x00\uFEFF\uE000\uE001"):
		return fail(0, "the file holds a character that is not permitted (NUL, byte-order mark or a private-use mark)")
	}
	text := quoteExpressions(string(src))
	if line := tooDeep(text); line > 0 {
		return fail(line, "the file is nested deeper than %d levels", maxNesting)
	}
	f, err := parse(text)
	if err != nil {
		line, message := yamlError(err)
		return fail(line, "%s", message)
	}
	docs := f.Docs
	if len(docs) != 1 || docs[0].Body == nil {
		return fail(0, "the file must hold exactly one YAML document, and holds %d", len(docs))
	}
	p := &problems{doc: d}
	d.lines[""] = 1
	d.value = d.read(docs[0].Body, "", 0, p)
	return d, p.err()
}

// parse turns a panic of the YAML library into an error: a file must never stop the
// program.
func parse(text string) (f *ast.File, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("not YAML: %v", r)
		}
	}()
	return parser.ParseBytes([]byte(text), 0)
}

// tooDeep gives the line where brackets or indentation nest too deeply, else 0. It
// runs before the parser, whose recursion has no limit.
func tooDeep(text string) int {
	depth := 0
	for n, line := range strings.Split(text, "\n") {
		depth += strings.Count(line, "[") + strings.Count(line, "{")
		if depth > 200 || strings.Count(line, "- ") > 200 {
			return n + 1
		}
		depth = max(0, depth-strings.Count(line, "]")-strings.Count(line, "}"))
	}
	return 0
}

var yamlPlace = regexp.MustCompile(`^\[(\d+):\d+\] `)

// yamlError gives line and first sentence of the library's error.
func yamlError(err error) (line int, message string) {
	message = strings.TrimSpace(yaml.FormatError(err, false, false))
	if m := yamlPlace.FindStringSubmatch(message); m != nil {
		line, _ = strconv.Atoi(m[1])
		message = message[len(m[0]):]
	}
	message, _, _ = strings.Cut(message, "\n")
	return line, message
}

// read turns a node into a value and notes the line of every field.
func (d *document) read(n ast.Node, path string, depth int, p *problems) any {
	if n == nil {
		return nil
	}
	if t := n.GetToken(); t != nil && t.Position != nil && d.lines[path] == 0 {
		d.lines[path] = t.Position.Line
	}
	if depth > maxNesting {
		p.add(path, "nested deeper than %d levels", maxNesting)
		return nil
	}
	switch n := n.(type) {
	case *ast.NullNode:
		return nil
	case *ast.BoolNode:
		return n.Value
	case *ast.StringNode:
		return n.Value
	case *ast.LiteralNode:
		return n.Value.Value
	case *ast.IntegerNode, *ast.FloatNode:
		return d.number(n.GetToken().Value, path, p)
	case *ast.MappingValueNode:
		return d.mapping([]*ast.MappingValueNode{n}, path, depth, p)
	case *ast.MappingNode:
		return d.mapping(n.Values, path, depth, p)
	case *ast.SequenceNode:
		out := make([]any, 0, len(n.Values))
		for i, v := range n.Values {
			out = append(out, d.read(v, item(path, i), depth+1, p))
		}
		return out
	}
	p.add(path, "anchors, aliases, tags and special numbers are not permitted (%s)", n.Type())
	return nil
}

func (d *document) mapping(values []*ast.MappingValueNode, path string, depth int, p *problems) any {
	out := make(map[string]any, len(values))
	for _, v := range values {
		var key string
		switch k := v.Key.(type) {
		case *ast.StringNode:
			key = k.Value
		case *ast.IntegerNode:
			key = k.GetToken().Value
		default:
			odd := join(path, v.Key.String())
			if t := v.Key.GetToken(); t != nil && t.Position != nil {
				d.lines[odd] = t.Position.Line
			}
			p.add(odd, "a key must be plain text")
			continue
		}
		field := join(path, key)
		if t := v.Key.GetToken(); t != nil && t.Position != nil {
			d.lines[field] = t.Position.Line
		}
		if _, twice := out[key]; twice {
			p.add(field, "the key is there twice")
			continue
		}
		out[key] = d.read(v.Value, field, depth+1, p)
	}
	return out
}

var plainNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?$`)

// number accepts plain decimal numbers within ±2^53 only: 012, 0x1f and 1_000 mean
// different things to different readers.
func (d *document) number(text, path string, p *problems) any {
	if !plainNumber.MatchString(text) || len(text) > 40 {
		p.add(path, "%s is not a plain decimal number; quote it if it is text", text)
		return nil
	}
	if v := exactNumber(text); v != nil {
		return json.Number(text)
	}
	p.add(path, "the number %s cannot be held exactly; write it as quoted text", text)
	return nil
}

// exactNumber gives an int64 within ±2^53 or a float64 that means the same decimal
// number, else nil.
func exactNumber(text string) any {
	if len(text) > 64 {
		return nil
	}
	if !strings.ContainsAny(text, ".eE") {
		i, err := strconv.ParseInt(text, 10, 64)
		if err != nil || i > 1<<53 || i < -(1<<53) {
			return nil
		}
		return i
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || f > 1<<53 || f < -(1<<53) || (f != 0 && f < 1e-30 && f > -1e-30) {
		return nil
	}
	if _, exp, ok := strings.Cut(strings.ToLower(text), "e"); ok && len(exp) > 4 {
		return nil
	}
	want, ok := new(big.Rat).SetString(text)
	have, ok2 := new(big.Rat).SetString(strconv.FormatFloat(f, 'g', -1, 64))
	if !ok || !ok2 || want.Cmp(have) != 0 {
		return nil
	}
	return f
}
