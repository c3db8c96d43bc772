package views

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"holdpoint/operation"
	"holdpoint/views/text"
)

// storedAction finds the words that the store writes into an operation's history.
var storedAction = regexp.MustCompile(`\bu\.(?:note|enter)\(\w+(?:\.\w+)?, "([a-z_]+)"`)

func TestEveryStoredActionHasAWord(t *testing.T) {
	seen := map[string]bool{}
	for name, src := range sources(t) {
		if !strings.HasPrefix(name, "../store/") {
			continue
		}
		for _, m := range storedAction.FindAllStringSubmatch(src, -1) {
			seen[m[1]] = true
			if !slices.Contains(historyWords, m[1]) && !slices.Contains(names(operation.Events), m[1]) {
				t.Errorf("%s writes %q, which historyWords does not know", name, m[1])
			}
		}
	}
	if len(seen) < 10 {
		t.Fatalf("only %d actions found: the pattern no longer fits the store", len(seen))
	}
}

// storedInvalid finds what the store finds wrong with a field or gives to a helper;
// typedInvalid what a page's form finds wrong before the store is asked.
var storedInvalid = regexp.MustCompile(`Invalid\{Field: [^}]*?Code: "([a-z_]+)"|\bnamed\("[a-z]+", "([a-z_]+)"`)

var typedInvalid = regexp.MustCompile(`views\.Invalid\("([a-z_]+)",`)

func TestEveryInvalidCodeHasASentence(t *testing.T) {
	seen := map[string]bool{}
	for name, src := range sources(t) {
		found := typedInvalid.FindAllStringSubmatch(src, -1)
		if strings.HasPrefix(name, "../store/") {
			found = storedInvalid.FindAllStringSubmatch(src, -1)
		}
		for _, m := range found {
			code := strings.Join(m[1:], "")
			seen[code] = true
			if !slices.Contains(invalidCodes, code) {
				t.Errorf("%s gives %q, which invalidCodes does not know", name, code)
			}
		}
	}
	for _, code := range invalidCodes {
		if !seen[code] {
			t.Errorf("neither the store nor a form gives %q", code)
		}
		for _, lang := range text.Languages {
			if s := Invalid(code, 12).In(text.New(lang, nil, time.Now())); s == "" || strings.ContainsAny(s, "⟦{") {
				t.Errorf("%s %s: %q", lang, code, s)
			}
		}
	}
	if s := Invalid("of a newer store", 0).In(text.New("en", nil, time.Now())); strings.Contains(s, "⟦") {
		t.Errorf("an unknown code says %q", s)
	}
}

// personAction finds the words that the store writes into a person's history.
var personAction = regexp.MustCompile(`\.enter\(\w+, now, operation\.SubjectUser, [^,]+(?:\([^)]*\))?, "([a-z_]+)"|action (?::=|=) "([a-z]+_user|export_[a-z]+)"|enterExport\(ctx, viewer, "([a-z]+)"`)

func TestEveryActionOfAPersonHasAWord(t *testing.T) {
	seen := map[string]bool{}
	for name, src := range sources(t) {
		if strings.HasPrefix(name, "../store/") {
			for _, m := range personAction.FindAllStringSubmatch(src, -1) {
				seen[strings.Join(m[1:], "")] = true
			}
		}
	}
	for _, w := range personWords {
		if !seen[w] {
			t.Errorf("the store never writes %q", w)
		}
		delete(seen, w)
	}
	for w := range seen {
		t.Errorf("the store writes %q, which personWords does not know", w)
	}
}
