package operation

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

func TestHistoryLine(t *testing.T) {
	for i, e := range exampleEntries() {
		e.Reason += "<b> & \"quoted\"\nsecond line\u2028third"
		want := Line{ID: int64(40 + i), Entry: e, Hash: e.Hash()}
		raw, err := want.AppendLine(nil)
		if err != nil {
			t.Fatal(err)
		}
		text := string(raw)
		if strings.Count(text, "\n") != 1 || !strings.HasSuffix(text, "}\n") {
			t.Errorf("not one line: %q", text)
		}
		if !strings.Contains(text, `<b> &`) {
			t.Errorf("escaped for HTML: %s", text)
		}
		var got Line
		if err := json.Unmarshal(raw, &got); err != nil {
			t.Fatal(err)
		}
		if got.Entry.Links != nil && len(got.Entry.Links) == 0 {
			got.Entry.Links = nil
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("read back:\n%+v\nwant\n%+v", got, want)
		}
		if got.Entry.Hash() != want.Hash {
			t.Error("the entry read back has another hash")
		}
		// The general encoder escapes more, and gives the same line back.
		general, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var again Line
		if err := json.Unmarshal(general, &again); err != nil || again.Entry.Hash() != want.Hash {
			t.Errorf("through json.Marshal: %v", err)
		}
	}
}

func TestHistoryLineMembers(t *testing.T) {
	e := exampleEntries()[0]
	raw, err := Line{ID: 1, Entry: e, Hash: e.Hash()}.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	at := -1
	for _, m := range strings.Fields("id subject_kind subject seq at actor_kind actor actor_name role channel action from to reason version evidence links prev hash") {
		next := strings.Index(string(raw), `"`+m+`":`)
		if next <= at {
			t.Errorf("member %s is missing or out of order: %s", m, raw)
		}
		at = next
	}
}

func TestHistoryLineRefuses(t *testing.T) {
	e := exampleEntries()[1]
	raw, err := Line{ID: 7, Entry: e, Hash: e.Hash()}.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	good := string(raw)
	for name, bad := range map[string]string{
		"an unknown member":    strings.Replace(good, `{"id"`, `{"more":1,"id"`, 1),
		"a second object":      good + good,
		"milliseconds":         strings.Replace(good, ".250000Z", ".250Z", 1),
		"another zone":         strings.Replace(good, ".250000Z", ".250000+00:00", 1),
		"a short hash":         strings.Replace(good, `"hash":"`, `"hash":"","x":"`, 1),
		"a hash in upper case": strings.Replace(good, `"prev":"`+good[strings.Index(good, `"prev":"`)+8:strings.Index(good, `"prev":"`)+72], `"prev":"`+strings.Repeat("A", 64), 1),
		"a text for a number":  strings.Replace(good, `"seq":2`, `"seq":"2"`, 1),
		"nothing":              "",
	} {
		if bad == good {
			t.Fatalf("%s changes nothing", name)
		}
		var l Line
		if err := json.Unmarshal([]byte(bad), &l); err == nil {
			t.Errorf("%s is read", name)
		}
	}
}
