package wrap

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// kept bounds what is kept of the output; a reference after that is not found, so the
// outcome is unknown.
const kept = 1 << 20

// printed keeps what the command prints.
type printed struct {
	mu  sync.Mutex
	b   bytes.Buffer
	cut bool
}

// Write keeps the beginning and never fails: the command must not end because of us.
func (p *printed) Write(raw []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if room := kept - p.b.Len(); len(raw) > room {
		p.b.Write(raw[:room])
		p.cut = true
	} else {
		p.b.Write(raw)
	}
	return len(raw), nil
}

func (p *printed) text() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.b.String()
}

// tail is the end of the output, for people.
func (p *printed) tail() string {
	s := []rune(strings.TrimSpace(p.text()))
	return string(s[max(0, len(s)-2000):])
}

var (
	ourLine   = regexp.MustCompile(`^holdpoint-reference:\s*(\S+)\s*$`)
	reference = regexp.MustCompile(`^[^\s\p{C}]{1,255}$`)
)

// references gives the different references that the rule finds.
func (p *printed) references(o Output) []string {
	var found []string
	add := func(ref string) {
		if reference.MatchString(ref) && !slices.Contains(found, ref) {
			found = append(found, ref)
		}
	}
	if o.JSON != "" {
		add(atPath(p.text(), o.JSON))
		return found
	}
	rule := ourLine
	if o.Regexp != nil {
		rule = o.Regexp
	}
	for line := range strings.Lines(p.text()) {
		if m := rule.FindStringSubmatch(strings.TrimRight(line, "\r\n")); len(m) > 1 {
			add(m[1])
		}
	}
	return found
}

// atPath reads a dotted path in JSON text; "" when it is not there, or no plain value.
func atPath(text, path string) string {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil || d.More() {
		return ""
	}
	for name := range strings.SplitSeq(path, ".") {
		m, ok := v.(map[string]any)
		if !ok {
			return ""
		}
		v = m[name]
	}
	switch x := v.(type) {
	case string:
		return x
	case json.Number:
		return x.String()
	}
	return ""
}
