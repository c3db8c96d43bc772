package operation

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"
)

// exampleWords is the worked example of format 2.
func exampleWords() Entry {
	e := exampleEntries()[1]
	e.Prev = exampleEntries()[0].Hash()
	e.Links = map[string]string{"policy": "3", "for": "usr_01h2xcejqtf2nbrexx3vqjhp45", "for_name": "Jan Nowak"}
	e.Salted([]byte("0123456789abcdef"))
	return e
}

func TestWordsExample(t *testing.T) {
	doc := readDoc(t, "history-format.md")
	e := exampleWords()
	words, h := e.Words.Hash, e.Hash()
	for _, line := range []string{"words  = " + hex.EncodeToString(words[:]), "hash 3 = " + hex.EncodeToString(h[:])} {
		if !strings.Contains(doc, line+"\n") {
			t.Errorf("the page does not hold %q", line)
		}
	}
	if got := e.Words.Links; !reflect.DeepEqual(got, []string{"for", "for_name"}) {
		t.Errorf("words among the links: %q", got)
	}
}

// What is removed leaves an entry with the same hash, as a line too.
func TestThinnedEntry(t *testing.T) {
	e := exampleWords()
	h := e.Hash()
	if err := e.Check(h); err != nil {
		t.Fatal(err)
	}
	x := e.Thinned(t0.Add(1000 * time.Hour))
	if err := x.Check(h); err != nil || !x.Words.Gone() || e.Words.Gone() {
		t.Fatalf("%v, gone %v", err, x.Words.Gone())
	}
	for _, e := range []Entry{e, x} {
		raw, err := Line{ID: 7, Entry: e, Hash: h}.AppendLine(nil)
		if err != nil {
			t.Fatal(err)
		}
		var got Line
		if err := json.Unmarshal(raw, &got); err != nil || !reflect.DeepEqual(got.Entry, e) || got.Entry.Check(got.Hash) != nil {
			t.Errorf("read back: %v\n%+v\nwant\n%+v", err, got.Entry.Words, e.Words)
		}
		for _, bad := range []string{`"words":{"hash":"00"}`, `"words":{"more":1}`, `"words":{"hash":"` + hex.EncodeToString(h[:]) + `"}`} {
			at, end := bytes.Index(raw, []byte(`"words":{`)), bytes.Index(raw, []byte(`},"prev"`))
			if err := json.Unmarshal([]byte(string(raw[:at])+bad+string(raw[end+1:])), &got); err == nil {
				t.Errorf("%s is read", bad)
			}
		}
	}
	for _, word := range []string{"佐藤", "campaign", "Nowak", "usr_", "for_name", "0123456789abcdef"} {
		if raw, _ := (Line{Entry: x, Hash: h}).AppendLine(nil); bytes.Contains(raw, []byte(word)) {
			t.Errorf("%q is still in %s", word, raw)
		}
	}
}

// Every field of the words counts for their hash, every other for the entry's, and each
// change is named as what it is.
func TestWordsAltered(t *testing.T) {
	base := exampleWords()
	h := base.Hash()
	words := func(e *Entry) { w := *e.Words; e.Words = &w }
	for name, c := range map[string]struct {
		turn func(*Entry)
		want error
	}{
		"actor":           {func(e *Entry) { e.ActorID = "usr_x" }, ErrWordsAltered},
		"name":            {func(e *Entry) { e.ActorName += " " }, ErrWordsAltered},
		"reason":          {func(e *Entry) { e.Reason = "" }, ErrWordsAltered},
		"name to reason":  {func(e *Entry) { e.ActorName, e.Reason = "", e.ActorName+e.Reason }, ErrWordsAltered},
		"salt":            {func(e *Entry) { words(e); e.Words.Salt = []byte("fedcba9876543210") }, ErrWordsAltered},
		"link of words":   {func(e *Entry) { e.Links = map[string]string{"policy": "3", "for": "usr_x", "for_name": "Jan Nowak"} }, ErrWordsAltered},
		"link called one": {func(e *Entry) { words(e); e.Words.Links = []string{"for", "for_name", "policy"} }, ErrEntryAltered},
		"hash of words":   {func(e *Entry) { words(e); e.Words.Hash[0]++ }, ErrWordsHash},
		"link": {func(e *Entry) {
			e.Links = map[string]string{"policy": "4", "for": base.Links["for"], "for_name": "Jan Nowak"}
		}, ErrEntryAltered},
		"role":            {func(e *Entry) { e.Role = "" }, ErrEntryAltered},
		"seq":             {func(e *Entry) { e.Seq++ }, ErrEntryAltered},
		"prev":            {func(e *Entry) { e.Prev[0]++ }, ErrEntryAltered},
		"format":          {func(e *Entry) { e.Words = nil }, ErrEntryAltered},
		"gone, some left": {func(e *Entry) { *e = e.Thinned(t0); e.Reason = "x" }, ErrWordsLeft},
		"gone, to":        {func(e *Entry) { *e = e.Thinned(t0); e.To = Ready }, ErrEntryAltered},
		"gone, link":      {func(e *Entry) { *e = e.Thinned(t0); e.Links["more"] = "1" }, ErrEntryAltered},
		"gone, hash":      {func(e *Entry) { *e = e.Thinned(t0); e.Words.Hash[0]++ }, ErrEntryAltered},
	} {
		e := base
		c.turn(&e)
		if err := e.Check(h); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	if err := base.Check(h); err != nil {
		t.Error(err)
	}
}

// What names a person or is free text is words, whatever its link is called.
func TestIsWords(t *testing.T) {
	for _, l := range [][2]string{{"for_name", "x"}, {"by", "usr_x"}, {"kind", "Anna wrote"}, {"reference", "cpn_1"}, {"outcome", "anna@example.test"}} {
		if !IsWords(l[0], l[1]) {
			t.Errorf("%s = %q stays", l[0], l[1])
		}
	}
	for _, l := range [][2]string{{"attempt", "att_1"}, {"by", "person"}, {"decision_seq", "4"}, {LinkThinned, "3,7-9"}, {LinkThinnedDays, "365"}, {"version_hash", "00ff"}, {"phase", "first"}} {
		if IsWords(l[0], l[1]) {
			t.Errorf("%s = %q goes", l[0], l[1])
		}
	}
}

// TestOlderWords: which links are words stands in the entry. One of a time at which a link
// still was a word verifies as before, and without its words.
func TestOlderWords(t *testing.T) {
	e := Entry{Seq: 1, Action: "approve", Links: map[string]string{"phase": "first", "number": "2"}}
	e.Words = &Words{Salt: bytes.Repeat([]byte{7}, WordsSalt), Links: []string{"phase"}}
	e.Words.Hash = e.WordsHash()
	h := e.Hash()
	if err := e.Check(h); err != nil {
		t.Error(err)
	}
	gone := e.Thinned(time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC))
	if err := gone.Check(h); err != nil || gone.Links["phase"] != "" || gone.Links["number"] != "2" {
		t.Errorf("without its words: %v, %v", err, gone.Links)
	}
	e.Links = map[string]string{"phase": "rest", "number": "2"}
	if err := e.Check(h); !errors.Is(err, ErrWordsAltered) {
		t.Errorf("another phase: %v", err)
	}
}
