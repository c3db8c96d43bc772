package definition

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"

	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/types"

	"holdpoint/operation"
)

// ContentError says which parts of a content are missing, do not fit, or cannot stand
// where the request puts them.
type ContentError struct {
	// Fields are dotted paths of the content, sorted. Where the content cannot be
	// named, the part of the profile that uses it stands here: request.path.
	Fields []string
	Why    error // nil = missing, or not as the action's schema says
}

// Error names the parts, and why where that is not the schema.
func (e *ContentError) Error() string {
	text := "content is missing or does not fit: " + strings.Join(e.Fields, ", ")
	if e.Why != nil {
		text += ": " + e.Why.Error()
	}
	return text
}

// Unwrap gives the reason.
func (e *ContentError) Unwrap() error { return e.Why }

// exprError is an error of one expression, or of the value that it gave, with the
// content that the expression reads.
type exprError struct {
	fields []string
	err    error
}

// Error says what went wrong.
func (e *exprError) Error() string { return e.err.Error() }

// Unwrap gives the cause.
func (e *exprError) Unwrap() error { return e.err }

// contentFault names the content behind an error of one part of a request: that of the
// expression at fault, else all that the part reads, else the part.
func contentFault(part string, t template, err error) error {
	fields := []string{}
	var of *exprError
	if errors.As(err, &of) {
		fields = append(fields, of.fields...)
	}
	if len(fields) == 0 && t != nil {
		fields = fieldsOf(t)
	}
	if len(fields) == 0 {
		fields = []string{part}
	}
	sort.Strings(fields)
	return &ContentError{Fields: slices.Compact(fields), Why: fmt.Errorf("%s: %w", part, err)}
}

// fieldsOf lists the content that a template reads.
func fieldsOf(t template) []string {
	var fields []string
	t.each(func(e *expr) { fields = append(fields, e.fields...) })
	return fields
}

// contentFields lists the paths of the content that an expression reads, the longest of
// each chain: content.address.city gives address.city. The content as a whole has none.
func contentFields(root ast.Expr) []string {
	found := pathsOf(root, "content")
	return slices.DeleteFunc(slices.Clone(found), func(path string) bool {
		return slices.ContainsFunc(found, func(longer string) bool {
			return strings.HasPrefix(longer, path+".") || strings.HasPrefix(longer, path+"[")
		})
	})
}

// inputsRead names the inputs that an expression reads.
func inputsRead(root ast.Expr) []string { return pathsOf(root, "inputs") }

// pathsOf lists every path of a variable that an expression reads.
func pathsOf(root ast.Expr, variable string) []string {
	var found []string
	ast.PostOrderVisit(root, ast.NewExprVisitor(func(n ast.Expr) {
		if path, ok := variablePath(n, variable); ok && path != "" {
			found = append(found, path)
		}
	}))
	sort.Strings(found)
	return slices.Compact(found)
}

// variablePath reads a chain of selections that begins with a variable.
func variablePath(n ast.Expr, variable string) (path string, ok bool) {
	switch n.Kind() {
	case ast.IdentKind:
		return "", n.AsIdent() == variable
	case ast.SelectKind:
		path, ok = variablePath(n.AsSelect().Operand(), variable)
		return join(path, n.AsSelect().FieldName()), ok
	case ast.CallKind:
		call := n.AsCall()
		args := call.Args()
		if f := call.FunctionName(); f != "_[_]" && f != "_?._" && f != "_[?_]" || len(args) != 2 || args[1].Kind() != ast.LiteralKind {
			return "", false
		}
		path, ok = variablePath(args[0], variable)
		switch key := args[1].AsLiteral().(type) {
		case types.String:
			return join(path, string(key)), ok
		case types.Int:
			return item(path, int(key)), ok
		}
	}
	return "", false
}

// unfit finds what no content may hold: a number that canonical JSON would change, and
// text that looks like the percent-encoded mark of a hole, which would be taken for one
// in a body that is not percent-encoded. Text that cannot be written exactly is none.
func unfit(v any, path string) *ContentError {
	no := func(why error) *ContentError {
		return &ContentError{Fields: []string{or(path, "content")}, Why: why}
	}
	switch x := v.(type) {
	case string:
		if holdsMark(x) {
			return no(errHoleMark)
		}
	case []any:
		for i, e := range x {
			if f := unfit(e, item(path, i)); f != nil {
				return f
			}
		}
	case map[string]any:
		for _, k := range sortedNames(x) {
			if holdsMark(k) {
				return no(errHoleMark)
			}
			if f := unfit(x[k], join(path, k)); f != nil {
				return f
			}
		}
	default:
		raw, err := json.Marshal(v)
		if err == nil {
			err = operation.CheckNumbers(raw)
		}
		if err != nil {
			return no(err)
		}
	}
	return nil
}

var errHoleMark = errors.New("content holds the encoded mark of a hole (%EE%80%80 or %EE%80%81)")

func holdsMark(s string) bool {
	up := strings.ToUpper(s)
	return strings.Contains(up, "%EE%80%80") || strings.Contains(up, "%EE%80%81")
}
