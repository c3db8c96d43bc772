package operation

import (
	"crypto/sha256"
	"strings"
	"testing"
)

func fillTemplate() Request {
	return Request{Kind: RequestHTTP, Method: "POST", URL: "https://api.example/c/" + MarkHole("target_ref(crm)") + "/tasks?k=%EE%80%80key%EE%80%81",
		Header: []Header{{"Content-Type", "application/json"}, {"Idempotency-Key", MarkHole(HoleKey)}},
		Body:   `{"ref":"` + MarkHole(HoleOperationID) + `","again":"` + MarkHole(HoleOperationID) + `","text":"a{key}b"}`}
}

func TestFilledBy(t *testing.T) {
	t.Parallel()
	const op, key, ref = "op_01jrw3v9m8f6xt2c7k4q0hz5da", "op_01jrw3v9m8f6xt2c7k4q0hz5da-g2", "cus/12+3=4"
	template := fillTemplate()
	sent, err := template.Resolve(map[string]string{HoleOperationID: op, HoleKey: key, "target_ref(crm)": ref})
	if err != nil {
		t.Fatal(err)
	}
	got, ok := template.FilledBy(sent)
	if !ok || got[HoleOperationID] != op || got[HoleKey] != key || got["target_ref(crm)"] != ref || len(got) != 3 {
		t.Fatalf("filled with %v, %v", got, ok)
	}
	for name, change := range map[string]func(*Request){
		"a byte of the body":      func(r *Request) { r.Body += " " },
		"one of two equal holes":  func(r *Request) { r.Body = strings.Replace(r.Body, op, "op_01jrw3v9m8f6xt2c7k4q0hz5db", 1) },
		"another method":          func(r *Request) { r.Method = "PUT" },
		"another host":            func(r *Request) { r.URL = strings.Replace(r.URL, "api.", "apx.", 1) },
		"another header":          func(r *Request) { r.Header = append([]Header{}, r.Header...); r.Header[0].Value = "text/plain" },
		"a header more":           func(r *Request) { r.Header = append([]Header{{"X", "1"}}, r.Header...) },
		"a value that is not fit": func(r *Request) { r.Header = append([]Header{}, r.Header...); r.Header[1].Value = "any" },
		"an envelope recipient":   func(r *Request) { r.To = []string{"a@example.test"} },
		"the text of a hole":      func(r *Request) { r.Body = strings.Replace(r.Body, "a{key}b", "a"+key+"b", 1) },
	} {
		other := sent
		change(&other)
		if _, ok := template.FilledBy(other); ok {
			t.Errorf("%s: taken as what was approved", name)
		}
	}
}

func TestFilledByOfAForm(t *testing.T) {
	t.Parallel()
	template := Request{Kind: RequestHTTP, Method: "POST", URL: "https://api.example/", Header: []Header{{"Content-Type", "application/x-www-form-urlencoded"}},
		Body: "a=1&ref=%EE%80%80target_ref%28crm%29%EE%80%81&z=2"}
	sent, err := template.Resolve(map[string]string{"target_ref(crm)": "x/y&z"[:3]})
	if err != nil {
		t.Fatal(err)
	}
	if got, ok := template.FilledBy(sent); !ok || got["target_ref(crm)"] != "x/y" {
		t.Errorf("filled with %v, %v", got, ok)
	}
}

func TestCanonicalIsWhatIsHashed(t *testing.T) {
	t.Parallel()
	r := fillTemplate()
	h, err := r.Hash()
	if err != nil || h != sha256.Sum256(r.Canonical()) {
		t.Errorf("the canonical form does not have the request's hash: %v", err)
	}
}
