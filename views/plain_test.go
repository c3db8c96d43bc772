package views

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"holdpoint/views/text"
)

func TestPlainShowsWhatCannotBeSeen(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"plain":             "plain",
		"gpj\u202Eexe":      "gpj[RLO]exe",
		"a\u200B\u200B":     "a[ZWSP ×2]",
		"a\uE000key\uE001b": "a{key}b",
		"a\u2003b\u00A0c":   "a[U+2003]b[NBSP]c",
		"\xff":              "[0xFF]",
	} {
		if got := Plain(in); got != want {
			t.Errorf("%q is written %q, want %q", in, got, want)
		}
	}
}

func TestBound(t *testing.T) {
	t.Parallel()
	if s, cut := Bound("short", 100); s != "short" || cut {
		t.Errorf("a short text became %q, %v", s, cut)
	}
	s, cut := Bound(strings.Repeat("あ", 1000), 100)
	if !cut || !utf8.ValidString(s) || len(s) > 100 || len(s) < 97 {
		t.Errorf("%d bytes, valid %v, cut %v", len(s), utf8.ValidString(s), cut)
	}
	if s, cut = Bound(strings.Repeat("line of text\n", 100), 130); !cut || !strings.HasSuffix(s, "\n") {
		t.Errorf("not cut after a line: %q", s)
	}
	// five million invisible characters: each is written with some sixty bytes
	if s, cut = Bound(strings.Repeat("\u200B\u200C", 800_000), ShownText); !cut || len(s) > 1000 {
		t.Errorf("%d bytes of marks are shown", len(s))
	}
}

func TestMoney(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ lang, minor, currency, want string }{
		{"en", "125000", "eur", "1,250.00\u00a0EUR"},
		{"pl", "125000", "pln", "1250,00\u00a0PLN"},
		{"pl", "12345678", "pln", "123\u00a0456,78\u00a0PLN"},
		{"ja", "125000", "jpy", "125,000\u00a0JPY"},
		{"en", "5", "usd", "0.05\u00a0USD"},
		{"en", "-5", "usd", "−0.05\u00a0USD"},
		{"en", "1234", "bhd", "1.234\u00a0BHD"},
		{"en", "9007199254740993", "eur", "90,071,992,547,409.93\u00a0EUR"}, // no double holds it
		{"en", "12", "qqq", "12 QQQ (minor units)"},
	} {
		p := text.New(c.lang, time.UTC, time.Now())
		if got := (Money{c.minor, c.currency}).In(p); got != c.want {
			t.Errorf("%s %s %s is written %q, want %q", c.lang, c.minor, c.currency, got, c.want)
		}
	}
}

func TestMiddle(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		n          int
		all        bool
		from, upto int
	}{{0, false, 0, 0}, {12, false, 12, 12}, {13, false, 2, 5}, {200, false, 2, 192}, {200, true, 200, 200}} {
		if from, to := Middle(c.n, c.all); from != c.from || to != c.upto {
			t.Errorf("of %d: %d to %d", c.n, from, to)
		}
	}
}
