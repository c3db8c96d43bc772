package definition

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"holdpoint/operation"
)

// act parses the minimal profile with a changed action block.
func act(t *testing.T, block string) *Action {
	t.Helper()
	head, _, _ := strings.Cut(minimal, "    request:")
	p, err := ParseProfile("p.yaml", []byte(head+block))
	if err != nil {
		t.Fatal(err)
	}
	a, err := p.Action("act")
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestRender_Bodies(t *testing.T) {
	const outcome = "\n    outcome: [{confirmed: ${status == 200}}]\n"
	content := map[string]any{
		"items": []any{map[string]any{"price": "p 1", "n": json.Number("2")}, map[string]any{"price": "p&2"}},
		"text":  "t", "flag": true, "none": nil, "long": json.Number("9007199254740993"), "price": json.Number("19.90"),
	}
	for name, c := range map[string]struct{ request, body, kind string }{
		"NestedForm":   {`{method: POST, path: /x, form: {items: "${content.items}", flag: "${content.flag}", none: "${content.none}", gone: "${content.?gone}"}}`, "flag=true&items[0][n]=2&items[0][price]=p+1&items[1][price]=p%262", "application/x-www-form-urlencoded"},
		"NumbersExact": {`{method: POST, path: /x, json: {long: "${content.long}", price: "${content.price}", literal: 12, sum: "${content.price + 0.5}"}}`, `{"literal":12,"long":"9007199254740993","price":19.9,"sum":20.4}`, "application/json"},
		"WholeContent": {`{method: PUT, path: /x, json: "${content.items}"}`, `[{"n":2,"price":"p 1"},{"price":"p&2"}]`, "application/json"},
		"PlainText":    {`{method: PATCH, path: /x, text: "a ${content.text} {operation_id}"}`, "a t {operation_id}", "text/plain; charset=utf-8"},
		"NoBody":       {`{method: DELETE, path: "/x/${content.text}"}`, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			src := map[string]any{}
			for k, v := range content {
				src[k] = v
			}
			if name == "NoBody" || name == "PlainText" || name == "NestedForm" || name == "WholeContent" {
				delete(src, "long") // a version's own content holds exact numbers only
			}
			if name == "NumbersExact" {
				src["long"] = "9007199254740993"
			}
			v, err := act(t, "    request: "+c.request+outcome).Render(src, nil, time.Time{})
			if err != nil {
				t.Fatal(err)
			}
			kind := ""
			for _, h := range v.Request.Header {
				if h.Name == "Content-Type" {
					kind = h.Value
				}
			}
			if got := operation.ShowHoles(v.Request.Body); got != c.body || kind != c.kind {
				t.Errorf("%s\n%s\nwant %s\n%s", kind, got, c.kind, c.body)
			}
		})
	}
	a := act(t, "    request: {method: POST, path: /x, form: {all: \"${content}\"}}"+outcome)
	if _, err := a.Render(map[string]any{"a[b]": "x"}, nil, time.Time{}); err == nil {
		t.Error("a bracket in a name became structure")
	}
	if _, err := a.Render(map[string]any{"n": json.Number("9007199254740993")}, nil, time.Time{}); err == nil {
		t.Error("a number that canonical JSON would change was accepted")
	}
}

func TestReadLookup_MatchShapes(t *testing.T) {
	a := act(t, `    request: {method: POST, path: /x, json: {ref: "{operation_id}"}}
    outcome: [{confirmed: ${status == 200}}]
    lookup: {request: {method: POST, path: /search, json: {q: "{operation_id}"}}, match: "${body.?hit}", id: "${match.id}"}
`)
	for body, want := range map[string]operation.LookupResult{
		`{"hit":{"id":"1"}}`:            operation.LookupOne,
		`{"hit":[{"id":"1"}]}`:          operation.LookupOne,
		`{"hit":[{"id":1},{"id":2}]}`:   operation.LookupMany,
		`{"hit":[]}`:                    operation.LookupNone,
		`{"hit":null}`:                  operation.LookupNone,
		`{}`:                            operation.LookupNone,
		`{"hit":"1"}`:                   operation.LookupUnreachable,
		`{"hit":true}`:                  operation.LookupUnreachable,
		`{"hit":{"id":"two words"}}`:    operation.LookupUnreachable,
		`{"hit":{"id":null}}`:           operation.LookupUnreachable,
		`{"hit":[{"id":1},{"name":2}]}`: operation.LookupUnreachable,
		`not JSON`:                      operation.LookupUnreachable,
	} {
		if f := a.ReadLookup(in(nil), Answer{Status: 200, Body: []byte(body)}); f.Result != want {
			t.Errorf("%s is %s, want %s", body, f.Result, want)
		}
	}
	r, err := a.LookupRequest(in(nil), nil)
	if err != nil || r.Body != `{"q":"`+opID+`"}` {
		t.Errorf("%+v, %v", r, err)
	}
	if !a.HasLookup() || a.Profile().Destination != "d" {
		t.Error("the action does not know its lookup or profile")
	}
	if _, err := a.Profile().Action("other"); err == nil {
		t.Error("there is an action that the profile does not have")
	}
}

func TestExplain_SaysWhatAnUnknownOutcomeLeadsTo(t *testing.T) {
	const tail = "\n    request: {method: POST, path: /x}\n    outcome: [{confirmed: ${status == 200}}]\n"
	for protection, want := range map[string]string{
		`{}`:                                 "no idempotency key: a time-out is never repeated by itself, a person decides",
		`{key: {header: K, value: "{key}"}}`: "does not publish how long it protects",
		`{key: {header: K, value: "{key}"}, retention: 24h}`:                                                    "no probe has shown it",
		`{key: {header: K, value: "{key}"}, retention: 30d, margin: 2h, proven: {on: 2026-11-20, by: probe}}`:   "repeated with the same key for 718 h (720 h published, 2 h margin), then a person decides. Shown on 2026-11-20 by probe.\ntwo at once: What a concurrent request",
		`{overwrites: true, key: {header: K, value: "{key}"}, retention: 24h, proven: {on: 2026-11-20, by: p}}`: "needs a lookup that reached the destination",
	} {
		a := act(t, "    protection: "+protection+tail)
		if got := explained(a); !strings.Contains(got, want) {
			t.Errorf("%s reads\n%s\nwant %s", protection, got, want)
		}
		p := a.Protection()
		repeats := strings.Contains(explained(a), "is repeated with the same key")
		if repeats != (!p.Until(dispatched).IsZero() && (!p.Overwrites || p.HasLookup)) {
			t.Errorf("%s: the reading and the rule disagree", protection)
		}
	}
}

func TestLimits(t *testing.T) {
	src := strings.Replace(minimal, "account: a", "account: a\nlimits: {rate: 90/m burst 5, body: 1MiB, timeout: 1500ms}\nlease: 3s\nlease_cap: 1h30m", 1)
	p, err := ParseProfile("p.yaml", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	want := Limits{Concurrency: DefaultConcurrency, Rate: 1.5, Burst: 5, Timeout: 1500 * time.Millisecond, Body: 1 << 20}
	if p.Limits != want || p.Lease != 3*time.Second || p.LeaseCap != 90*time.Minute {
		t.Errorf("%+v %s %s", p.Limits, p.Lease, p.LeaseCap)
	}
	for _, bad := range []string{"rate: 0/s", "rate: fast", "body: 1GiB", "concurrency: 0", "timeout: -1s"} {
		if len(problemsOf(t, strings.Replace(minimal, "account: a", "account: a\nlimits: {"+bad+"}", 1))) == 0 {
			t.Errorf("%s is accepted", bad)
		}
	}
}

func FuzzRender(f *testing.F) {
	for _, s := range hostile {
		f.Add(s)
	}
	p, err := ParseProfile("p.yaml", []byte(minimal))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, err := p.Actions["act"].Render(map[string]any{"text": text}, nil, time.Time{})
		if err != nil {
			return
		}
		r, err := v.Request.Resolve(map[string]string{operation.HoleOperationID: opID})
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		var body struct{ Text, Ref string }
		d := json.NewDecoder(strings.NewReader(r.Body))
		d.DisallowUnknownFields()
		if err := d.Decode(&body); err != nil || body.Text != operation.Normalize(text) || body.Ref != opID {
			t.Fatalf("%q became %s, %v", text, r.Body, err)
		}
	})
}
