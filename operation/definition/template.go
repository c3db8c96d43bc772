package definition

import (
	"errors"
	"fmt"
	"sort"
	"strings"

	"cel.dev/cel-go/cel"
)

// template is a compiled tree of literals and expressions. Literal text and results
// of expressions stay apart until the end, so that a value can never be read as
// syntax, as another field or as a hole.
type template interface {
	// render gives the value; vars are the variables of the template's scope.
	render(vars map[string]any) (any, error)
	// pieces gives the parts of a text, with a mark on those that came from
	// expressions; an error for lists and objects.
	pieces(vars map[string]any) ([]piece, error)
	// place evaluates a text with late-bound functions.
	place(vars cel.Activation) (string, error)
	// each visits every expression.
	each(visit func(*expr))
}

// piece is a part of a text.
type piece struct {
	text  string
	value bool // it came from an expression
	truth bool // that gave true or false
	// fields are the paths of the content that the expression reads
	fields []string
}

type literal struct{ v any }

type single struct{ e *expr }

// mixed is text with expressions inside: odd places hold expressions.
type mixed struct{ parts []template }

type list []template

type object struct {
	names []string // sorted
	of    map[string]template
}

// compileTree compiles a decoded YAML value. mark treats the literal texts (it
// declares holes in profiles, and nothing elsewhere).
func compileTree(s scope, v any, path string, mark func(string) string, p *problems) template {
	switch x := v.(type) {
	case string:
		return compileText(s, x, path, mark, p)
	case []any:
		out := make(list, len(x))
		for i, e := range x {
			out[i] = compileTree(s, e, item(path, i), mark, p)
		}
		return out
	case map[string]any:
		o := object{of: map[string]template{}}
		for k, e := range x {
			o.names = append(o.names, k)
			o.of[k] = compileTree(s, e, join(path, k), mark, p)
		}
		sort.Strings(o.names)
		return o
	}
	return literal{plain(v)}
}

// compileText compiles one text: literal, one expression (which keeps its type), or
// both mixed.
func compileText(s scope, text, path string, mark func(string) string, p *problems) template {
	var parts []template
	rest := text
	for {
		i := strings.Index(rest, "${")
		if i < 0 {
			break
		}
		n := expressionEnd(rest[i:])
		if n == 0 {
			p.add(path, "an expression is not closed: %s", rest[i:])
			return literal{nil}
		}
		e, err := compile(s, rest[i+2:i+n-1])
		if err != nil {
			p.add(path, "%s", err)
			return literal{nil}
		}
		if i > 0 {
			parts = append(parts, literal{mark(rest[:i])})
		}
		parts = append(parts, single{e})
		rest = rest[i+n:]
	}
	if rest != "" || len(parts) == 0 {
		parts = append(parts, literal{mark(rest)})
	}
	if len(parts) == 1 {
		return parts[0]
	}
	return mixed{parts}
}

// asWritten leaves literal text as it is.
func asWritten(s string) string { return s }

// compileRule compiles a field that must be true or false.
func compileRule(s scope, x expression, path string, p *problems) *expr {
	if !x.set {
		return nil
	}
	e := compileOne(s, x, path, p)
	if e != nil && !e.boolean {
		p.add(path, "the rule must be true or false")
		return nil
	}
	return e
}

// compileOne compiles a field that must be exactly one expression.
func compileOne(s scope, x expression, path string, p *problems) *expr {
	if !x.set {
		return nil
	}
	text, _ := x.raw.(string)
	if !strings.HasPrefix(text, "${") || expressionEnd(text) != len(text) {
		p.add(path, "it must be one expression: ${…}")
		return nil
	}
	e, err := compile(s, text[2:len(text)-1])
	if err != nil {
		p.add(path, "%s", err)
		return nil
	}
	return e
}

func (l literal) render(map[string]any) (any, error) { return l.v, nil }

func (l literal) pieces(map[string]any) ([]piece, error) {
	s, err := textOf(l.v)
	return []piece{{text: s}}, err
}

func (l literal) place(cel.Activation) (string, error) { return textOf(l.v) }
func (l literal) each(func(*expr))                     {}

func (x single) render(vars map[string]any) (any, error) { return x.e.value(vars) }

func (x single) pieces(vars map[string]any) ([]piece, error) {
	v, err := x.e.value(vars)
	if err != nil {
		return nil, err
	}
	s, err := textOf(v)
	if err != nil {
		return nil, &exprError{x.e.fields, fmt.Errorf("${%s}: %w", x.e.text, err)}
	}
	_, truth := v.(bool)
	return []piece{{text: s, value: true, truth: truth, fields: x.e.fields}}, nil
}

func (x single) place(vars cel.Activation) (string, error) {
	out, _, err := x.e.program.Eval(vars)
	if err != nil {
		return "", fmt.Errorf("${%s}: %w", x.e.text, err)
	}
	v, err := native(out)
	if err != nil {
		return "", fmt.Errorf("${%s}: %w", x.e.text, err)
	}
	return textOf(v)
}

func (x single) each(visit func(*expr)) { visit(x.e) }

func (m mixed) render(vars map[string]any) (any, error) {
	ps, err := m.pieces(vars)
	if err != nil {
		return nil, err
	}
	return joinPieces(ps), nil
}

func joinPieces(ps []piece) string {
	var b strings.Builder
	for _, p := range ps {
		b.WriteString(p.text)
	}
	return b.String()
}

// keyPieces joins the parts of a key. Every expression must give a text or a number
// that is not blank: otherwise different things would share one key.
func keyPieces(ps []piece) (string, error) {
	for _, p := range ps {
		switch {
		case p.truth:
			return "", errors.New("a truth value is no key")
		case p.value && strings.TrimSpace(p.text) == "":
			return "", errors.New("an expression gives an empty text")
		}
	}
	return joinPieces(ps), nil
}

func (m mixed) pieces(vars map[string]any) ([]piece, error) {
	var out []piece
	for _, t := range m.parts {
		ps, err := t.pieces(vars)
		if err != nil {
			return nil, err
		}
		out = append(out, ps...)
	}
	return out, nil
}

func (m mixed) place(vars cel.Activation) (string, error) {
	var b strings.Builder
	for _, t := range m.parts {
		s, err := t.place(vars)
		if err != nil {
			return "", err
		}
		b.WriteString(s)
	}
	return b.String(), nil
}

func (m mixed) each(visit func(*expr)) {
	for _, t := range m.parts {
		t.each(visit)
	}
}

var errNoText = errors.New("a list or an object has no place in a text")

func (l list) render(vars map[string]any) (any, error) {
	out := make([]any, 0, len(l))
	for i, t := range l {
		v, err := t.render(vars)
		if errors.Is(err, errAbsent) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("[%d]: %w", i, err)
		}
		out = append(out, v)
	}
	return out, nil
}

func (l list) pieces(map[string]any) ([]piece, error) { return nil, errNoText }
func (l list) place(cel.Activation) (string, error)   { return "", errNoText }

func (l list) each(visit func(*expr)) {
	for _, t := range l {
		t.each(visit)
	}
}

func (o object) render(vars map[string]any) (any, error) {
	out := make(map[string]any, len(o.of))
	for _, name := range o.names {
		v, err := o.of[name].render(vars)
		if errors.Is(err, errAbsent) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		out[name] = v
	}
	return out, nil
}

func (o object) pieces(map[string]any) ([]piece, error) { return nil, errNoText }
func (o object) place(cel.Activation) (string, error)   { return "", errNoText }

func (o object) each(visit func(*expr)) {
	for _, name := range o.names {
		o.of[name].each(visit)
	}
}
