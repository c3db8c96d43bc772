package text

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/BurntSushi/toml"
)

// rawCatalogue reads a message file as it stands: sentences and plural forms by key.
func rawCatalogue(t *testing.T, lang string) map[string]map[string]string {
	t.Helper()
	out := map[string]map[string]string{}
	for _, name := range parts(lang) {
		b, err := files.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var raw map[string]any
		if err := toml.Unmarshal(b, &raw); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		addMessages(t, out, name, raw)
	}
	return out
}

func addMessages(t *testing.T, out map[string]map[string]string, name string, raw map[string]any) {
	t.Helper()
	for k, v := range raw {
		if out[k] != nil {
			t.Errorf("%s: key %q stands in another file too", name, k)
		}
		switch x := v.(type) {
		case string:
			out[k] = map[string]string{"": x}
		case map[string]any:
			out[k] = map[string]string{}
			for form, s := range x {
				out[k][form] = s.(string)
			}
		}
	}
}

var place = regexp.MustCompile(`\{\{\.(\w+)\}\}`)

func places(s string) []string {
	var names []string
	for _, m := range place.FindAllStringSubmatch(s, -1) {
		names = append(names, m[1])
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func TestCatalogues(t *testing.T) {
	forms := map[string][]string{"en": {"one", "other"}, "ja": {"other"}, "pl": {"few", "many", "one", "other"}}
	en := rawCatalogue(t, "en")
	for _, lang := range Languages {
		other := rawCatalogue(t, lang)
		for key := range en {
			if _, ok := other[key]; !ok {
				t.Errorf("%s: key %q is missing", lang, key)
			}
		}
		for key, messages := range other {
			want, ok := en[key]
			if !ok {
				t.Errorf("%s: key %q is not in the English catalogue", lang, key)
				continue
			}
			t.Run(lang+"/"+key, func(t *testing.T) {
				checkForms(t, messages, want, forms[lang])
			})
		}
	}
}

func checkForms(t *testing.T, messages, english map[string]string, forms []string) {
	_, plain := english[""]
	var have []string
	for form, s := range messages {
		if form != "" {
			have = append(have, form)
		}
		if strings.TrimSpace(s) == "" && s != "" && len(s) > 1 {
			t.Errorf("form %q is blank", form)
		}
	}
	slices.Sort(have)
	if !plain && !slices.Equal(have, forms) {
		t.Errorf("plural forms %v, want %v", have, forms)
	}
	if plain && len(have) > 0 {
		t.Errorf("has plural forms %v, English has none", have)
	}
	wantPlaces := places(english[""] + english["other"])
	for form, s := range messages {
		got := places(s)
		// "one" is one alone in all our languages: it may say so in words.
		said := form == "one" && slices.Equal(got, slices.DeleteFunc(slices.Clone(wantPlaces), func(p string) bool { return p == "N" }))
		if !said && !slices.Equal(got, wantPlaces) {
			t.Errorf("form %q fills %v, English fills %v", form, got, wantPlaces)
		}
	}
}

var now = time.Date(2026, 4, 16, 7, 42, 0, 0, time.UTC)

func warsaw(t *testing.T) *time.Location {
	t.Helper()
	l, err := time.LoadLocation("Europe/Warsaw")
	if err != nil {
		t.Skip("no time zone data on this machine")
	}
	return l
}

func TestPlurals(t *testing.T) {
	for _, c := range []struct {
		lang string
		n    int
		want string
	}{
		{"en", 1, "1 decision"}, {"en", 2, "2 decisions"}, {"en", 0, "0 decisions"},
		{"ja", 1, "判断 1件"}, {"ja", 5, "判断 5件"},
		{"pl", 1, "1 decyzja"}, {"pl", 2, "2 decyzje"}, {"pl", 5, "5 decyzji"}, {"pl", 12, "12 decyzji"}, {"pl", 22, "22 decyzje"},
	} {
		if got := New(c.lang, nil, now).N("inbox.decisions", c.n); got != c.want {
			t.Errorf("%s %d: %q, want %q", c.lang, c.n, got, c.want)
		}
	}
}

func TestTimes(t *testing.T) {
	zone := warsaw(t)
	for _, c := range []struct{ lang, date, exact, short, yesterday, old, until, late string }{
		{"en", "16 April 2026", "16 April 2026, 09:42:00 CEST", "today 09:42", "15 Apr 09:42", "16 Apr 2025 09:42", "in 1 h 18 min", "42 min late"},
		{"ja", "2026年4月16日", "2026年4月16日 09:42:00 CEST", "今日 09:42", "4月15日 09:42", "2025年4月16日 09:42", "あと1時間18分", "42分超過"},
		{"pl", "16 kwietnia 2026", "16 kwietnia 2026, 09:42:00 CEST", "dziś 09:42", "15 kwi 09:42", "16 kwi 2025 09:42", "za 1 h 18 min", "42 min po terminie"},
	} {
		p := New(c.lang, zone, now)
		for _, got := range []struct{ what, is, want string }{
			{"Date", p.Date(now), c.date}, {"Exact", p.Exact(now), c.exact}, {"Short", p.Short(now), c.short},
			{"Short yesterday", p.Short(now.AddDate(0, 0, -1)), c.yesterday}, {"Short last year", p.Short(now.AddDate(-1, 0, 0)), c.old},
			{"Until", p.Until(now.Add(78 * time.Minute)), c.until}, {"late", p.Until(now.Add(-42 * time.Minute)), c.late},
		} {
			if got.is != got.want {
				t.Errorf("%s %s: %q, want %q", c.lang, got.what, got.is, got.want)
			}
		}
	}
}

func TestDurations(t *testing.T) {
	p := New("en", nil, now)
	for d, want := range map[time.Duration]string{
		250 * time.Millisecond: "250 ms", 30 * time.Second: "30 s", 90 * time.Second: "1 min 30 s", 24 * time.Hour: "24 h",
		47 * time.Hour: "47 h", 72 * time.Hour: "3 days", 75 * time.Hour: "3 days 3 h", -time.Minute: "1 min",
	} {
		if got := p.Duration(d); got != want {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
	if got := p.Length(now.Add(-19*time.Hour - 20*time.Minute)); got != "19 h" {
		t.Errorf("Length leaves out minutes: %q", got)
	}
}

func TestMatch(t *testing.T) {
	for _, c := range []struct{ user, header, want string }{
		{"", "", "en"}, {"ja", "pl", "ja"}, {"", "pl-PL,pl;q=0.9,en;q=0.5", "pl"}, {"", "ja", "ja"}, {"", "de-DE", "en"},
		{"xx", "ja-JP", "ja"}, {"", ";;;", "en"},
	} {
		if got := Match(c.user, c.header); got != c.want {
			t.Errorf("Match(%q, %q) = %q, want %q", c.user, c.header, got, c.want)
		}
	}
}

func TestMissingKeyIsMarked(t *testing.T) {
	p := New("ja", nil, now)
	if got := p.T("no.such.key"); got != "⟦no.such.key⟧" {
		t.Errorf("unknown key: %q", got)
	}
	if got := p.T("time.in"); got != "⟦time.in⟧" {
		t.Errorf("unfilled place: %q", got)
	}
	if got := New("xx", nil, now).Lang; got != "en" {
		t.Errorf("unknown language becomes %q", got)
	}
}
