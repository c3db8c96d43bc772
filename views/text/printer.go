package text

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/nicksnyder/go-i18n/v2/i18n"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// Printer says things to one reader.
type Printer struct {
	// Lang is one of Languages; it is the page's lang attribute.
	Lang string
	// Zone is the reader's time zone.
	Zone *time.Location
	// Now is the moment at which the page is made; relative times refer to it.
	Now time.Time

	localizer *i18n.Localizer
	plain     map[string]string
	numbers   *message.Printer
}

// New makes a printer. A language without a catalogue becomes English, a nil zone
// UTC.
func New(lang string, zone *time.Location, now time.Time) *Printer {
	c := load()
	if _, ok := c.plain[lang]; !ok {
		lang = Languages[0]
	}
	if zone == nil {
		zone = time.UTC
	}
	return &Printer{
		Lang: lang, Zone: zone, Now: now,
		localizer: i18n.NewLocalizer(c.bundle, lang),
		plain:     c.plain[lang],
		numbers:   message.NewPrinter(language.Make(lang)),
	}
}

type contextKey struct{}

// With puts the printer into the context that pages are rendered with.
func With(ctx context.Context, p *Printer) context.Context {
	return context.WithValue(ctx, contextKey{}, p)
}

// From gives the context's printer; without one, English in UTC at the present time.
func From(ctx context.Context) *Printer {
	if p, ok := ctx.Value(contextKey{}).(*Printer); ok {
		return p
	}
	return New(Languages[0], time.UTC, time.Now())
}

// T gives the sentence for a key. args are names and values in turn and fill the
// sentence's {{.Name}} places. An unknown key gives "⟦key⟧", which a test looks for.
func (p *Printer) T(key string, args ...any) string {
	if s, ok := p.plain[key]; ok {
		return s
	}
	return p.say(&i18n.LocalizeConfig{MessageID: key, TemplateData: p.data(args)})
}

// N gives the sentence for a key and a number, in the right plural form; {{.N}} is
// the number as the language writes it.
func (p *Printer) N(key string, n int, args ...any) string {
	if s, ok := p.plain[key]; ok {
		return s
	}
	data := p.data(args)
	data["N"] = p.Number(n)
	return p.say(&i18n.LocalizeConfig{MessageID: key, TemplateData: data, PluralCount: n})
}

func (p *Printer) say(c *i18n.LocalizeConfig) string {
	s, err := p.localizer.Localize(c)
	if err != nil || s == "" || strings.Contains(s, "<no value>") {
		return "⟦" + c.MessageID + "⟧"
	}
	return s
}

func (p *Printer) data(args []any) map[string]any {
	m := make(map[string]any, len(args)/2+1)
	for i := 0; i+1 < len(args); i += 2 {
		name := fmt.Sprint(args[i])
		switch v := args[i+1].(type) {
		case int:
			m[name] = p.Number(v)
		case time.Time:
			m[name] = p.Short(v)
		case time.Duration:
			m[name] = p.Duration(v)
		default:
			m[name] = v
		}
	}
	return m
}

// Number writes a whole number with the language's digit grouping.
func (p *Printer) Number(n int) string { return p.numbers.Sprint(n) }

// Match chooses the language: the reader's own setting, else the best of the
// browser's Accept-Language, else English.
func Match(user, acceptLanguage string) string {
	for _, l := range Languages {
		if l == user {
			return l
		}
	}
	tags, _, err := language.ParseAcceptLanguage(acceptLanguage)
	if err != nil || len(tags) == 0 {
		return Languages[0]
	}
	_, i, _ := matcher.Match(tags...)
	return Languages[i]
}

var matcher = language.NewMatcher([]language.Tag{language.English, language.Japanese, language.Polish})
