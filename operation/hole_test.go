package operation

import (
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

const (
	someID  = "op_01h2xcejqtf2nbrexx3vqjhp41"
	encOpen = "%EE%80%80"
	encShut = "%EE%80%81"
)

func form(body string) Request {
	return Request{Kind: RequestHTTP, Method: "POST", URL: "https://crm.test/tasks", Body: body,
		Header: []Header{{"Content-Type", "application/x-www-form-urlencoded; charset=utf-8"}}}
}

func values() map[string]string {
	return map[string]string{HoleOperationID: someID, HoleKey: someID + "-g2", HoleTargetRef("crm-task"): "a/b+c"}
}

func TestHolesDoesNotWrite(t *testing.T) {
	r := Request{URL: "https://x.test/" + MarkHole(HoleKey), To: []string{MarkHole(HoleOperationID)},
		Header: []Header{{"X", MarkHole(HoleKey)}}, Body: DeclareHoles("{target_ref(crm-task)} {key}")}
	want := []string{HoleKey, HoleTargetRef("crm-task"), HoleOperationID}
	var wg sync.WaitGroup
	for range 8 { // under -race a write would show
		wg.Go(func() {
			if got := r.Holes(); !slices.Equal(got, want) {
				t.Errorf("got %v, want %v", got, want)
			}
		})
	}
	wg.Wait()
}

func TestResolve(t *testing.T) {
	r := Request{Kind: RequestHTTP, Method: "POST", URL: "https://x.test/t/" + MarkHole(HoleTargetRef("crm-task")) + "?k=" + MarkHole(HoleKey),
		Header: []Header{{"Idempotency-Key", MarkHole(HoleKey)}}, Body: `{"ref":"` + MarkHole(HoleTargetRef("crm-task")) + `"}`,
		From: MarkHole(HoleOperationID) + "@x.test", To: []string{MarkHole(HoleOperationID) + "@y.test"}}
	before := reflect.ValueOf(r).Interface()
	got, err := r.Resolve(values())
	if err != nil {
		t.Fatal(err)
	}
	if got.URL != "https://x.test/t/a%2Fb%2Bc?k="+someID+"-g2" || got.Header[0].Value != someID+"-g2" || got.Body != `{"ref":"a/b+c"}` ||
		got.From != someID+"@x.test" || got.To[0] != someID+"@y.test" {
		t.Errorf("got %+v", got)
	}
	if !reflect.DeepEqual(before, r) || r.Header[0].Value == got.Header[0].Value || r.To[0] == got.To[0] {
		t.Error("the template was changed")
	}
	if len(got.Holes()) > 0 {
		t.Errorf("holes left: %v", got.Holes())
	}
	f, err := form("id=" + encOpen + "target_ref%28crm-task%29" + encShut + "&k=" + encOpen + "key" + encShut).Resolve(values())
	if err != nil || f.Body != "id=a%2Fb%2Bc&k="+someID+"-g2" {
		t.Errorf("form: %q %v", f.Body, err)
	}
}

func TestResolveRefuses(t *testing.T) {
	ok := Request{Kind: RequestHTTP, Method: "POST", URL: "https://x.test/"}
	with := func(turn func(*Request)) Request { r := ok; turn(&r); return r }
	for name, c := range map[string]struct {
		r Request
		v map[string]string
	}{
		"no value":                  {with(func(r *Request) { r.Body = MarkHole(HoleKey) }), nil},
		"value that does not fit":   {with(func(r *Request) { r.Body = MarkHole(HoleKey) }), map[string]string{HoleKey: `x","a":"b`}},
		"line end in a value":       {with(func(r *Request) { r.Body = MarkHole(HoleKey) }), map[string]string{HoleKey: someID + "\n"}},
		"reference climbs":          {with(func(r *Request) { r.Body = MarkHole(HoleTargetRef("a")) }), map[string]string{HoleTargetRef("a"): "a/../b"}},
		"quote in a reference":      {with(func(r *Request) { r.Body = MarkHole(HoleTargetRef("a")) }), map[string]string{HoleTargetRef("a"): `a"b`}},
		"a hole nobody declared":    {with(func(r *Request) { r.Body = MarkHole("secret") }), map[string]string{"secret": "x"}},
		"no stage":                  {with(func(r *Request) { r.Body = MarkHole("target_ref(") }), map[string]string{"target_ref(": "x"}},
		"hole in the host":          {with(func(r *Request) { r.URL = "https://" + MarkHole(HoleKey) + "/x" }), values()},
		"encoded hole in the host":  {with(func(r *Request) { r.URL = "https://" + encOpen + "key" + encShut + "/x" }), values()},
		"hole in a header name":     {with(func(r *Request) { r.Header = []Header{{MarkHole(HoleKey), "x"}} }), values()},
		"hole in the method":        {with(func(r *Request) { r.Method = MarkHole(HoleKey) }), values()},
		"open mark alone":           {with(func(r *Request) { r.Body = "a" + HoleOpen + "key" }), values()},
		"closing mark alone":        {with(func(r *Request) { r.Body = "key" + HoleClose }), values()},
		"encoded mark alone in URL": {with(func(r *Request) { r.URL += encOpen + "key" }), values()},
		"lower-case encoded mark":   {with(func(r *Request) { r.URL += strings.ToLower(encOpen) + "key" + strings.ToLower(encShut) }), values()},
		"line end in a header":      {with(func(r *Request) { r.Header = []Header{{"X", "a\r\nY: b"}} }), values()},
		"line end in the URL":       {with(func(r *Request) { r.URL += "\nx" }), values()},
		"NUL in a recipient":        {with(func(r *Request) { r.To = []string{"a\x00@x"} }), values()},
		"not UTF-8":                 {with(func(r *Request) { r.Body = "\xff" }), values()},
	} {
		if got, err := c.r.Resolve(c.v); err == nil {
			t.Errorf("%s: resolved to %+v", name, got)
		}
	}
	if _, err := with(func(r *Request) { r.Body = "two\r\nlines" }).Resolve(nil); err != nil {
		t.Errorf("a body has lines: %v", err)
	}
}

// Content can forge no hole: not with the marks, not with their percent-encoded form,
// not with braces.
func TestContentCannotForgeAHole(t *testing.T) {
	for _, forged := range []string{MarkHole(HoleKey), HoleOpen + "key", "{key}", encOpen + "key" + encShut, "{{key}}", HoleOpen + HoleOpen + "key" + HoleClose} {
		content := Normalize(forged)
		for name, r := range map[string]Request{
			"json":   {Body: `{"text":"` + content + `"}`, Header: []Header{{"Content-Type", "application/json"}}},
			"header": {Header: []Header{{"Subject", content}}},
			"mail":   {Kind: RequestSMTP, Body: content, To: []string{content}},
		} {
			if h := r.Holes(); len(h) > 0 {
				t.Errorf("%s: %q became the holes %v", name, forged, h)
			}
			if got, err := r.Resolve(values()); err != nil || !reflect.DeepEqual(got.Body, r.Body) {
				t.Errorf("%s: %q changed to %q, %v", name, forged, got.Body, err)
			}
		}
	}
}

func TestHoleStage(t *testing.T) {
	for name, want := range map[string]string{"target_ref(crm-task)": "crm-task", "target_ref(a": "", "target_ref()": "", "target_ref(A)": "", "key": "", "target_ref(a))": ""} {
		if got, ok := HoleStage(name); got != want || ok != (want != "") {
			t.Errorf("%s: %q %v", name, got, ok)
		}
	}
	if got := ShowHoles("a " + MarkHole(HoleTargetRef("x"))); got != "a {target_ref(x)}" {
		t.Errorf("shown as %q", got)
	}
	if got := DeclareHoles("{key} {operation_id} {target_ref(a-1)} {other} {target_ref(A)}"); strings.Count(got, HoleOpen) != 3 {
		t.Errorf("declared: %q", ShowHoles(got))
	}
}

// Whatever the content, resolving changes only the declared holes.
func TestResolveChangesOnlyHoles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before := Normalize(rapid.String().Draw(t, "before"))
		after := Normalize(rapid.String().Draw(t, "after"))
		r := Request{Kind: RequestHTTP, Method: "POST", URL: "https://x.test/", Body: before + MarkHole(HoleKey) + after}
		got, err := r.Resolve(values())
		if err != nil {
			t.Fatal(err)
		}
		if want := before + someID + "-g2" + after; got.Body != want {
			t.Fatalf("got %q, want %q", got.Body, want)
		}
	})
}

// TestCutMark: marks are cut where their pattern finds them.
func TestCutMark(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{HoleOpen, HoleClose, "key", "é", "\n", "\xee", "\x80", "\x81", "\xff", ""}), 0, 12).Draw(t, "text"), "")
		rest := s
		for _, m := range marker.FindAllStringSubmatchIndex(s, -1) {
			at := len(s) - len(rest)
			before, name, after, ok := cutMark(rest)
			if !ok || before != s[at:m[0]] || name != s[m[2]:m[3]] || after != s[m[1]:] {
				t.Fatalf("%q: %q, %q, %q, %v", s, before, name, after, ok)
			}
			rest = after
		}
		if before, _, _, ok := cutMark(rest); ok || before != rest {
			t.Fatalf("%q: a mark too many", s)
		}
	})
}
