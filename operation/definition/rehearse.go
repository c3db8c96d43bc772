package definition

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
)

// TestEnvironments are the environments of a profile in which an acceptance may run.
// The database keeps the same list (acceptance_destinations_test).
var TestEnvironments = []string{"test", "sandbox", "demo"}

// IsTest reports that the profile marks its destination as one for tests: effects there
// concern no customer.
func (p *Profile) IsTest() bool { return slices.Contains(TestEnvironments, p.Environment) }

// IsSandbox reports that the destination is played by the sandbox: its place is one of the
// sandbox's, so that its ledger can count the effects.
func (p *Profile) IsSandbox() bool { return strings.Contains(p.BaseURL, `env("SANDBOX_URL")`) }

// Change is a field of a definition that has another value in a rehearsal.
type Change struct {
	Field string `json:"field"`
	From  string `json:"from"` // "" = the file does not name it
	To    string `json:"to"`
}

// Pace is how fast a rehearsal runs what a profile documents in hours.
type Pace struct {
	Retention time.Duration // how long a key protects
	Settle    time.Duration // how long a received request may still take effect
	Retry     time.Duration // the pause before the first repeat or lookup
	Lag       time.Duration // how far a lookup may be behind, at most; 0 = as documented
}

// RehearseProfile gives the profile with another place and shorter times, and what it
// changed. Requests, rules, protection and lookups stay as they are. place is an http
// address of this machine.
func RehearseProfile(file string, src []byte, place string, pace Pace) (out []byte, changed []Change, err error) {
	d, err := readDocument(file, src)
	if err != nil {
		return nil, nil, err
	}
	r := &rehearsal{root: d.value.(map[string]any)}
	r.set(r.root, "", "base_url", place)
	r.set(r.root, "", "local", true)
	r.set(r.root, "", "settle_after", pace.Settle.String())
	retry, _ := r.root["retry"].(map[string]any)
	if retry == nil {
		retry = map[string]any{}
		r.root["retry"] = retry
	}
	r.set(retry, "retry.", "base", pace.Retry.String())
	r.set(retry, "retry.", "max_interval", (4 * pace.Retry).String())
	actions, _ := r.root["actions"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(actions)) {
		a, _ := actions[name].(map[string]any)
		if p, _ := a["protection"].(map[string]any); p["retention"] != nil {
			r.set(p, "actions."+name+".protection.", "retention", pace.Retention.String())
			r.set(p, "actions."+name+".protection.", "margin", "0s")
		}
		if l, _ := a["lookup"].(map[string]any); l["lag"] != nil && pace.Lag > 0 {
			r.set(l, "actions."+name+".lookup.", "lag", pace.Lag.String())
		}
	}
	return r.finish(file, "destination", func(b []byte) error { _, err := ParseProfile(file, b); return err })
}

// RehearseFlow gives the flow without the places that tell people, and what it changed:
// a rehearsal tells nobody outside.
func RehearseFlow(file string, src []byte) (out []byte, changed []Change, err error) {
	d, err := readDocument(file, src)
	if err != nil {
		return nil, nil, err
	}
	r := &rehearsal{root: d.value.(map[string]any)}
	if _, ok := r.root["notify"]; !ok {
		return src, nil, nil
	}
	r.changed = append(r.changed, Change{Field: "notify", From: shortText(r.root["notify"])})
	delete(r.root, "notify")
	return r.finish(file, "flow", func(b []byte) error { _, err := ParseFlow(file, b); return err })
}

type rehearsal struct {
	root    map[string]any
	changed []Change
}

// set gives a field another value and notes what it was.
func (r *rehearsal) set(in map[string]any, path, name string, to any) {
	c := Change{Field: path + name, To: fmt.Sprint(to)}
	if old, ok := in[name]; ok {
		c.From = shortText(old)
	}
	in[name] = to
	if c.From != c.To {
		r.changed = append(r.changed, c)
	}
}

// finish writes the file anew and reads it once, so that a rehearsal never runs what the
// product would refuse.
func (r *rehearsal) finish(file, first string, read func([]byte) error) ([]byte, []Change, error) {
	var b strings.Builder
	writeBlock(&b, r.root, 0, first)
	out := []byte(b.String())
	if err := read(out); err != nil {
		return nil, nil, fmt.Errorf("%s for the rehearsal: %w", file, err)
	}
	return out, r.changed, nil
}

func shortText(v any) string {
	s, ok := v.(string)
	if !ok {
		s, _ = marshal(v)
	}
	if r := []rune(s); len(r) > 200 {
		s = string(r[:199]) + "…"
	}
	return s
}

var plainKey = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*$`)

// writeBlock writes a mapping as YAML in blocks; every scalar stands as JSON gives it.
func writeBlock(b *strings.Builder, m map[string]any, indent int, first string) {
	names := slices.Sorted(maps.Keys(m))
	slices.SortStableFunc(names, func(x, y string) int {
		switch {
		case x == first:
			return -1
		case y == first:
			return 1
		}
		return 0
	})
	for _, name := range names {
		key := name
		if !plainKey.MatchString(name) || slices.Contains([]string{"true", "false", "null"}, strings.ToLower(name)) {
			key, _ = marshal(name)
		}
		b.WriteString(strings.Repeat(" ", indent) + key + ":")
		writeValue(b, m[name], indent)
	}
}

func writeValue(b *strings.Builder, v any, indent int) {
	switch v := v.(type) {
	case map[string]any:
		if len(v) == 0 {
			b.WriteString(" {}\n")
			return
		}
		b.WriteString("\n")
		writeBlock(b, v, indent+2, "")
	case []any:
		if len(v) == 0 {
			b.WriteString(" []\n")
			return
		}
		b.WriteString("\n")
		for _, e := range v {
			b.WriteString(strings.Repeat(" ", indent+2) + "-")
			writeValue(b, e, indent+4)
		}
	case json.Number:
		b.WriteString(" " + v.String() + "\n")
	default:
		s, _ := marshal(v)
		b.WriteString(" " + s + "\n")
	}
}
