package definition

import (
	"errors"
	"regexp"
	"strconv"
	"strings"
)

// filling renders the content of one item.
type filling struct {
	vars   map[string]any
	item   map[string]any
	texts  map[string]sharedText // by path
	causes *causes
}

// fill renders; ok is false when there is no value here.
func (f *filling) fill(t draftTree) (v any, ok bool) {
	switch {
	case t.draft != nil:
		text, ok := f.texts[t.path]
		if !ok {
			return nil, false
		}
		return text.fill(f.item, f.causes), true
	case t.of != nil:
		out := make(map[string]any, len(t.names))
		for _, name := range t.names {
			if v, ok := f.fill(t.of[name]); ok {
				out[name] = v
			}
		}
		return out, true
	case t.items != nil:
		out := make([]any, 0, len(t.items))
		for _, i := range t.items {
			if v, ok := f.fill(i); ok {
				out = append(out, v)
			}
		}
		return out, true
	}
	v, err := t.leaf.render(f.vars)
	if errors.Is(err, errAbsent) {
		return nil, false
	}
	if err != nil {
		f.causes.place(ProblemEmpty, t.path, t.leaf)
		return nil, false
	}
	return v, true
}

// sharedText is text that is written once for a batch: odd parts name fields of the item.
type sharedText []string

var place = regexp.MustCompile(`\{\{\s*([\p{L}_][\p{L}\p{N}_]*(?:\.[\p{L}_][\p{L}\p{N}_]*)*)\s*\}\}`)

func splitShared(text string) sharedText {
	var out sharedText
	at := 0
	for _, m := range place.FindAllStringSubmatchIndex(text, -1) {
		out = append(out, text[at:m[0]], text[m[2]:m[3]])
		at = m[1]
	}
	return append(out, text[at:])
}

// SharedFields names the fields of an item that a shared text holds as {{name}}, each once, in
// the order of the text.
func SharedFields(text string) []string {
	var out []string
	seen := map[string]bool{}
	for i, s := range splitShared(text) {
		if i%2 == 1 && !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	return out
}

func (t sharedText) fill(it map[string]any, c *causes) string {
	if len(t) == 1 {
		return t[0]
	}
	var b strings.Builder
	for i, s := range t {
		if i%2 == 0 {
			b.WriteString(s)
			continue
		}
		v, _ := valueAt(it, s)
		text, err := textOf(v)
		switch {
		case err != nil || strings.TrimSpace(text) == "":
			c.entry(ProblemUnresolved, s)
		case strings.ContainsAny(text, "<>"):
			c.entry(ProblemMarkup, s)
		}
		b.WriteString(text)
	}
	return b.String()
}

// valueAt gives the value at a dotted path.
func valueAt(v any, path string) (any, bool) {
	for path != "" {
		name, rest, _ := strings.Cut(path, ".")
		name, index, listed := strings.Cut(name, "[")
		m, ok := v.(map[string]any)
		if !ok {
			return nil, false
		}
		if v, ok = m[name]; !ok {
			return nil, false
		}
		for listed {
			var one string
			one, index, listed = strings.Cut(index, "[")
			list, _ := v.([]any)
			n, err := strconv.Atoi(strings.TrimSuffix(one, "]"))
			if err != nil || n < 0 || n >= len(list) {
				return nil, false
			}
			v = list[n]
		}
		path = rest
	}
	return v, true
}

func isEmpty(v any) bool {
	switch x := v.(type) {
	case nil:
		return true
	case string:
		return strings.TrimSpace(x) == ""
	case []any:
		return len(x) == 0
	case map[string]any:
		return len(x) == 0
	}
	return false
}

func eachText(v any, path string, visit func(path, text string)) {
	switch x := v.(type) {
	case string:
		visit(path, x)
	case []any:
		for i, e := range x {
			eachText(e, item(path, i), visit)
		}
	case map[string]any:
		for name, e := range x {
			eachText(e, join(path, name), visit)
		}
	}
}

// mergeTags are the places to be filled of the mail programs of the trade.
var mergeTags = regexp.MustCompile(`\{\{[^{}]*\}\}|\*\|[^|\n]{1,200}\|\*|%%[^%\s]{1,200}%%|\[\[[^\[\]\n]{1,200}\]\]|<%[^%\n]{1,200}%>|\$\{[^{}\n]{1,200}\}`)

// hasMergeTag reports whether a text still holds what looks like a place to be filled.
func hasMergeTag(text string) bool {
	return strings.ContainsAny(text, "{*%[<$") && maybeTag(text) && mergeTags.MatchString(text)
}

// maybeTag is a cheap look before the exact one.
func maybeTag(text string) bool {
	for _, open := range []string{"{{", "*|", "%%", "[[", "<%", "${"} {
		if strings.Contains(text, open) {
			return true
		}
	}
	return false
}

func wholeNumber(s string) (int64, bool) {
	n, err := strconv.ParseInt(strings.TrimSpace(s), 10, 64)
	return n, err == nil
}
