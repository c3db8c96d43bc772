package definition

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
)

// TestSampleFitsItsSchema: a person may start from what is proposed, so the product
// itself must take it.
func TestSampleFitsItsSchema(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ pattern, least, most, want string }{
		{"", "", "", "acceptance-{n}"},
		{"^[A-Z0-9][A-Z0-9-]{2,60}$", "", "", "ACCEPTANCE-{n}"},
		{"^[a-z_0-9]+$", "", "", "acceptance_{n}"},
		{"", "1", "5", "a{n}"},
		{"^[0-9]+$", "", "", "{n}"},
		{"^[a-z]{3}$", "", "", "aaa"},
		{"^(JP|PL)-[0-9]{4}$", "", "", "JP-0000"},
		{"", "20", "", "acceptance-{n}xxxxxxxx"},
	} {
		schema := map[string]any{"type": "string"}
		for name, v := range map[string]string{"minLength": c.least, "maxLength": c.most} {
			if v != "" {
				schema[name] = json.Number(v)
			}
		}
		if c.pattern != "" {
			schema["pattern"] = c.pattern
		}
		got, _ := Sample(schema).(string)
		if got != c.want {
			t.Errorf("%s %s–%s: %q, want %q", c.pattern, c.least, c.most, got, c.want)
		}
		if s := strings.ReplaceAll(got, "{n}", "7"); !regexp.MustCompile(c.pattern).MatchString(s) {
			t.Errorf("%s does not fit %s", s, c.pattern)
		}
	}
}
