package handlers

import (
	"slices"
	"testing"
)

// TestLinksInText finds web addresses as people type them, and nothing else.
func TestLinksInText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"":                                        nil,
		"no address":                              nil,
		"See https://a.example.test/x?y=1 and":    {"https://a.example.test/x?y=1"},
		"HTTP://A.test\nhttps://b.test<br>":       {"HTTP://A.test", "https://b.test"},
		"(http://a.test)":                         {"http://a.test)"},
		"xhttp://a.test _https://b.test":          nil,
		"ftp://a.test, then http://b.test":        {"http://b.test"},
		"http:// nothing, https://":               nil,
		"\"https://a.test\" \u3000http://日本.test": {"https://a.test", "http://日本.test"},
		"http://a.test/?to=https://b.test":        {"http://a.test/?to=https://b.test"},
		"ああhttps://a.test":                        {"https://a.test"},
	} {
		if got := linksInText(text); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
