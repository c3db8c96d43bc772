package definition

import (
	"encoding/json"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// Sample gives values that fit a JSON Schema as far as a few rules go: constants and
// choices as they are, texts that name the test and fit their pattern and length, the
// smallest number that is permitted. A text holds {n} where the schema leaves room for
// it; a test replaces it with its own number.
func Sample(schema map[string]any) any {
	if v, ok := schema["const"]; ok {
		return v
	}
	for _, name := range []string{"enum", "examples"} {
		if list, _ := schema[name].([]any); len(list) > 0 {
			return list[0]
		}
	}
	kind, _ := schema["type"].(string)
	switch kind {
	case "object", "":
		return sampleObject(schema)
	case "array":
		items, _ := schema["items"].(map[string]any)
		return []any{Sample(items)}
	case "integer", "number":
		if n, ok := schema["minimum"]; ok {
			return n
		}
		return json.Number("1")
	case "boolean":
		return false
	}
	return sampleText(schema)
}

func sampleObject(schema map[string]any) map[string]any {
	out := map[string]any{}
	props, _ := schema["properties"].(map[string]any)
	required, _ := schema["required"].([]any)
	for _, name := range required {
		key, _ := name.(string)
		of, _ := props[key].(map[string]any)
		if of == nil {
			of = map[string]any{"type": "string"}
		}
		out[key] = Sample(of)
	}
	return out
}

// sampleTexts are the texts that are tried, the most telling first.
var sampleTexts = []string{"acceptance-{n}", "ACCEPTANCE-{n}", "acceptance_{n}", "ACCEPTANCE_{n}", "acceptance{n}", "ACCEPTANCE{n}", "a{n}", "A{n}", "{n}"}

func sampleText(schema map[string]any) string {
	switch schema["format"] {
	case "email":
		return "acceptance-{n}@example.test"
	case "date":
		return "2030-01-02"
	case "date-time":
		return "2030-01-02T09:00:00Z"
	case "uri", "url":
		return "https://example.test/acceptance-{n}"
	}
	for _, s := range sampleTexts {
		if fitsText(schema, strings.ReplaceAll(s, "{n}", "1")) && fitsText(schema, strings.ReplaceAll(s, "{n}", "99")) {
			return s
		}
	}
	pattern, _ := schema["pattern"].(string)
	if tree, err := syntax.Parse(pattern, syntax.Perl); err == nil && pattern != "" {
		var b strings.Builder
		shortest(&b, tree.Simplify())
		if s := b.String(); fitsText(schema, s) {
			return s
		}
	}
	least, _ := count(schema["minLength"])
	return sampleTexts[0] + strings.Repeat("x", max(0, least-len("acceptance-1")))
}

// fitsText reports whether a text has the schema's pattern and length.
func fitsText(schema map[string]any, s string) bool {
	n := utf8.RuneCountInString(s)
	if least, ok := count(schema["minLength"]); ok && n < least {
		return false
	}
	if most, ok := count(schema["maxLength"]); ok && n > most {
		return false
	}
	pattern, _ := schema["pattern"].(string)
	re, err := regexp.Compile(pattern)
	return err == nil && re.MatchString(s)
}

func count(v any) (int, bool) {
	n, ok := v.(json.Number)
	if !ok {
		return 0, false
	}
	i, err := n.Int64()
	return int(i), err == nil
}

// shortest writes a short text that a regular expression accepts.
func shortest(b *strings.Builder, re *syntax.Regexp) {
	switch re.Op {
	case syntax.OpLiteral:
		b.WriteString(string(re.Rune))
	case syntax.OpCharClass:
		if len(re.Rune) > 0 {
			b.WriteRune(max(re.Rune[0], min(re.Rune[1], ' ')))
		}
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		b.WriteByte('a')
	case syntax.OpPlus, syntax.OpCapture:
		shortest(b, re.Sub[0])
	case syntax.OpRepeat:
		for range re.Min {
			shortest(b, re.Sub[0])
		}
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			shortest(b, sub)
		}
	case syntax.OpAlternate:
		shortest(b, re.Sub[0])
	}
}

// Sample gives a content that a person may start from for an acceptance: what the
// profile's schema asks for.
func (a *Action) Sample() map[string]any {
	m, _ := Sample(a.Content).(map[string]any)
	return m
}
