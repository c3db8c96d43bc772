package operation

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func version(content string) Version {
	return Version{Content: json.RawMessage(content), Request: Request{Kind: RequestHTTP, Method: "POST", URL: "https://crm.test/tasks",
		Header: []Header{{"Content-Type", "application/json"}}, Body: content}, Destination: "crm", Action: "create_task",
		Account: "acct", Environment: "test", Credential: "crm-key"}
}

func mustHash(t *testing.T, v Version, salt string) [32]byte {
	t.Helper()
	h, err := v.Hash([]byte(salt))
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// FC-14: any change at all is another hash; changed back it is the same bytes again.
func TestFieldCase14_AnyChangeIsAnotherHash(t *testing.T) {
	base := version(`{"subject":"Call","due":"2027-03-01"}`)
	h := mustHash(t, base, "salt")
	for name, turn := range map[string]func(*Version){
		"one space":      func(v *Version) { v.Content = json.RawMessage(`{"subject":"Call ","due":"2027-03-01"}`) },
		"added field":    func(v *Version) { v.Content = json.RawMessage(`{"subject":"Call","due":"2027-03-01","x":null}`) },
		"empty content":  func(v *Version) { v.Content = json.RawMessage(`{}`) },
		"body":           func(v *Version) { v.Request.Body += " " },
		"method":         func(v *Version) { v.Request.Method = "PUT" },
		"address":        func(v *Version) { v.Request.URL += "?" },
		"header value":   func(v *Version) { v.Request.Header = []Header{{"Content-Type", "text/plain"}} },
		"header case":    func(v *Version) { v.Request.Header = []Header{{"content-type", "application/json"}} },
		"header added":   func(v *Version) { v.Request.Header = append(v.Request.Header[:1:1], Header{"X", ""}) },
		"recipient":      func(v *Version) { v.Request.To = []string{"a@example.test"} },
		"sender":         func(v *Version) { v.Request.From = "a@example.test" },
		"destination":    func(v *Version) { v.Destination = "crm2" },
		"action":         func(v *Version) { v.Action = "update_task" },
		"account":        func(v *Version) { v.Account = "acct2" },
		"environment":    func(v *Version) { v.Environment = "live" },
		"credential":     func(v *Version) { v.Credential = "other" },
		"hole in place":  func(v *Version) { v.Request.Body = MarkHole(HoleKey) },
		"bidi control":   func(v *Version) { v.Content = json.RawMessage("{\"subject\":\"Call\u202e\",\"due\":\"2027-03-01\"}") },
		"look-alike":     func(v *Version) { v.Content = json.RawMessage(`{"subject":"Саll","due":"2027-03-01"}`) },
		"not normalised": func(v *Version) { v.Content = json.RawMessage("{\"subject\":\"Call\u0301\",\"due\":\"2027-03-01\"}") },
	} {
		v := base
		turn(&v)
		if mustHash(t, v, "salt") == h {
			t.Errorf("%s: same hash", name)
		}
	}
	if mustHash(t, base, "other salt") == h {
		t.Error("the salt does not count")
	}
	if mustHash(t, base, "salt") != h {
		t.Error("the same version has two hashes")
	}
}

// FC-18: the canonical form decides: order of keys and white space do not count, nor how
// a character is escaped.
func TestFieldCase18_CanonicalForm(t *testing.T) {
	a := version(`{"b":"é<\u2028","a":[1,2.50,1e2]}`)
	b := version("{ \"a\" : [1, 2.5, 100],\n \"b\" : \"\\u00e9\\u003c\u2028\" }")
	b.Request = a.Request
	if mustHash(t, a, "s") != mustHash(t, b, "s") {
		t.Error("the same value in another order has another hash")
	}
	c := version(`{"a":[2.5,1,100],"b":"é<\u2028"}`)
	c.Request = a.Request
	if mustHash(t, a, "s") == mustHash(t, c, "s") {
		t.Error("the order of a list does not count")
	}
}

func TestHashRefuses(t *testing.T) {
	for name, content := range map[string]string{
		"a key twice":          `{"amount":10,"amount":1000}`,
		"a key twice, escaped": `{"amount":10,"\u0061mount":1000}`,
		"two values":           `{} {}`,
		"no JSON":              `{"a":`,
		"not UTF-8":            "{\"a\":\"\xff\"}",
		"half a character":     `{"a":"\ud800"}`,
		"too large a number":   `{"a":9007199254740993}`,
		"infinite":             `{"a":1e400}`,
	} {
		v := version(`{}`)
		v.Content = json.RawMessage(content)
		if _, err := v.Hash(nil); err == nil {
			t.Errorf("%s: hashed", name)
		}
	}
	v := version(`{}`)
	v.Request.Body = "\xff"
	if _, err := v.Hash(nil); err == nil {
		t.Error("a body that is not UTF-8 has a hash")
	}
	if _, err := v.Request.Hash(); err == nil {
		t.Error("a request that is not UTF-8 has a hash")
	}
}

func TestCheckNumbers(t *testing.T) {
	for n, ok := range map[string]bool{
		"0": true, "-0": true, "1": true, "9007199254740992": true, "-9007199254740992": true, "9007199254740993": false, "-9007199254740993": false,
		"123456789012345678901234567890": false, "1.5": true, "-12.50": true, "0.1": true, "0.30000000000000004": true, "1e2": true, "1E2": true,
		"1e20": false, "9007199254740993.0": false, "9007199254740992.5": false, "0.12345678901234567890": false, "1e-400": false, "0e9": true,
		"0.0": true, "1e400": false, "4503599627370497.5": false, "2251799813685249.5": true, "1.0000000000000000000000000001": false,
	} {
		if err := CheckNumbers(json.RawMessage(`{"deep":[{"n":` + n + `}]}`)); (err == nil) != ok {
			t.Errorf("%s: %v", n, err)
		}
	}
	if CheckNumbers(nil) != nil || CheckNumbers(json.RawMessage(`"9007199254740993"`)) != nil {
		t.Error("a text is no number")
	}
	if CheckNumbers(json.RawMessage(`[1e999999999]`)) == nil || CheckNumbers(json.RawMessage("[0."+strings.Repeat("1", 100000)+"]")) == nil {
		t.Error("a number made to cost time passes")
	}
}

func TestNormalize(t *testing.T) {
	for in, want := range map[string]string{
		"e\u0301": "é", "日本": "日本", "Ł": "Ł", "a" + HoleOpen + "key" + HoleClose: "a\uFFFDkey\uFFFD", "a\u202eb": "a\u202eb", "\xff": "\uFFFD",
		"\u212B": "Å", "ﬁ": "ﬁ", "line\r\nend": "line\r\nend",
	} {
		if got := Normalize(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
	got := NormalizeValue(map[string]any{"e\u0301": []any{"e\u0301", 1.5, nil, map[string]any{"k": HoleOpen}}}).(map[string]any)
	list, ok := got["é"].([]any)
	if !ok || list[0] != "é" || list[1] != 1.5 || list[2] != nil || list[3].(map[string]any)["k"] != "\uFFFD" {
		t.Errorf("got %#v", got)
	}
}

func TestNormalizeOnceIsEnough(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "text")
		n := Normalize(s)
		if Normalize(n) != n {
			t.Fatalf("%q: %q normalises further to %q", s, n, Normalize(n))
		}
		if strings.ContainsAny(n, HoleOpen+HoleClose) {
			t.Fatalf("%q still holds a mark", n)
		}
	})
}

func TestShortHash(t *testing.T) {
	h := hash(0xab)
	h[31] = 0xcd
	if got := ShortHash(h); got != "ab000000…000000cd" {
		t.Errorf("got %s", got)
	}
}
