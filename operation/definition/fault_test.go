package definition

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestRender_NamesTheContentAtFault: whatever an event brings, the error names the
// content, so that a person can correct it (FC-04, FC-10).
func TestRender_NamesTheContentAtFault(t *testing.T) {
	const head = "destination: d\ntitle: {en: D}\nkind: http\naccount: a\nenvironment: test\nbase_url: https://d.example\nauth: {none: true}\nactions:\n  act:\n    effect: e\n    request: "
	const tail = "\n    outcome: [{confirmed: ${status == 200}}]\n"
	for name, c := range map[string]struct {
		request string
		content map[string]any
		want    string
	}{
		"PathEmpty":      {`{method: POST, path: "/a/${content.id}"}`, map[string]any{"id": ""}, "id"},
		"PathDot":        {`{method: POST, path: "/${content.a}/${content.b}"}`, map[string]any{"a": "x", "b": "."}, "b"},
		"PathDots":       {`{method: POST, path: "/${content.a}/${content.b}"}`, map[string]any{"a": "..", "b": "x"}, "a"},
		"PathJoined":     {`{method: POST, path: "/${content.a}${content.b}/x"}`, map[string]any{"a": ".", "b": "."}, "a b"},
		"PathSlash":      {`{method: POST, path: "/${content.place.id}"}`, map[string]any{"place": map[string]any{"id": "a/b"}}, "place.id"},
		"PathOfList":     {`{method: POST, path: "/${content.ids[0]}"}`, map[string]any{"ids": []any{"a/b"}}, "ids[0]"},
		"PathMissing":    {`{method: POST, path: "/${content.id}"}`, map[string]any{}, "id"},
		"PathOptional":   {`{method: POST, path: "/${content.?id}"}`, map[string]any{}, "id"},
		"PathByName":     {`{method: POST, path: '/${content["the id"]}'}`, map[string]any{"the id": "a/b"}, "the id"},
		"WholeContent":   {`{method: POST, path: "/${content.size() == 1 ? '..' : 'x'}"}`, map[string]any{"x": "y"}, "request.path"},
		"HeaderLineEnd":  {`{method: POST, path: /x, headers: {X-Who: "${content.who}"}}`, map[string]any{"who": "a\r\nX: b"}, "who"},
		"HeaderBlank":    {`{method: POST, path: /x, headers: {x-who: "${content.who}"}}`, map[string]any{"who": " a"}, "who"},
		"HeaderIsObject": {`{method: POST, path: /x, headers: {X-Who: "${content.who}"}}`, map[string]any{"who": map[string]any{"a": "b"}}, "who"},
		"JSONMissing":    {`{method: POST, path: /x, json: {a: "${content.a}", b: ["${content.b.c}"]}}`, map[string]any{"a": "1"}, "b.c"},
		"FormName":       {`{method: POST, path: /x, form: {a: "${content.a}", b: "${content.b}"}}`, map[string]any{"a": "1", "b": map[string]any{"x[y]": "z"}}, "b"},
		"QueryList":      {`{method: GET, path: /x, query: {q: "a ${content.q}"}}`, map[string]any{"q": []any{"x"}}, "q"},
		"Number":         {`{method: POST, path: /x, json: {n: "${content.n.v}"}}`, map[string]any{"n": map[string]any{"v": json.Number("9007199254740993")}}, "n.v"},
		"MarkOfAHole":    {`{method: POST, path: /x, json: {n: "${content.n}"}}`, map[string]any{"n": "%EE%80%80key"}, "n"},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := ParseProfile("p.yaml", []byte(head+c.request+tail))
			if err != nil {
				t.Fatal(err)
			}
			v, err := p.Actions["act"].Render(c.content, nil, time.Time{})
			var fault *ContentError
			if !errors.As(err, &fault) || strings.Join(fault.Fields, " ") != c.want || fault.Why == nil {
				t.Errorf("%v, want the fields %s; request %+v", err, c.want, v.Request)
			}
		})
	}
}

// TestRender_NamesTheMailAtFault does the same for mail.
func TestRender_NamesTheMailAtFault(t *testing.T) {
	a := loadDemo(t).profiles["smtp"].Actions["send"]
	for part, texts := range map[string][]string{
		"subject": {"a\tb", "a\x1bb", "a\u2028b", strings.Repeat("ą", 1001)[:2002]},
		"text":    {"a\x00b"},
		"to":      {`"a b"@example.test`},
	} {
		for _, text := range texts {
			content := map[string]any{"to": "kim@example.test", "subject": "s", "text": "t"}
			content[part] = text
			_, err := a.Render(content, demoEnv, noon)
			var fault *ContentError
			if !errors.As(err, &fault) || !slices.Equal(fault.Fields, []string{part}) {
				t.Errorf("%s %q: %v", part, text, err)
			}
			if _, err := a.Render(content, nil, noon); err == nil || errors.As(err, &fault) && strings.Contains(err.Error(), part) {
				t.Errorf("without the place's variable the content is blamed: %v", err)
			}
		}
	}
}
