package views

import (
	"context"
	"strconv"
	"strings"
	"time"

	"holdpoint/views/text"
)

// t says a catalogue sentence in the reader's language.
func t(ctx context.Context, key string, args ...any) string { return text.From(ctx).T(key, args...) }

// n says a catalogue sentence about a number in the right plural form.
func n(ctx context.Context, key string, count int, args ...any) string {
	return text.From(ctx).N(key, count, args...)
}

// say puts a sentence into the reader's language.
func say(ctx context.Context, s Say) string { return s.In(text.From(ctx)) }

// who names somebody in the reader's language.
func who(ctx context.Context, w Who) string { return w.In(text.From(ctx)) }

// span says a length of time.
func span(ctx context.Context, d time.Duration) string { return text.From(ctx).Duration(d) }

// num writes a whole number.
func num(ctx context.Context, v int) string { return text.From(ctx).Number(v) }

// num64 writes a number that is a name (a revision, a sequence): no digit grouping.
func num64(v int64) string { return strconv.FormatInt(v, 10) }

// label gives the word for a field's name, or the model's own label, or the name.
func label(ctx context.Context, name, own string) string { return fieldWord(text.From(ctx), name, own) }

func fieldWord(p *text.Printer, name, own string) string {
	if own != "" {
		return own
	}
	if k := "field." + name; text.Has(k) {
		return p.T(k)
	}
	if !strings.Contains(name, ".") {
		return Plain(name)
	}
	parts := strings.Split(name, ".")
	for i, part := range parts {
		if n, err := strconv.Atoi(part); err == nil {
			parts[i] = p.Number(n + 1)
		} else {
			parts[i] = fieldWord(p, part, "")
		}
	}
	return strings.Join(parts, " › ")
}

// sizeText says a number of bytes as people read it.
func sizeText(p *text.Printer, bytes int) string {
	const k = 1000
	tenths := func(unit int) string {
		n := bytes / (unit / 10)
		return p.Number(n/10) + decimalMark(p.Lang) + strconv.Itoa(n%10)
	}
	switch {
	case bytes < k:
		return p.N("size.bytes", bytes)
	case bytes < 10*k:
		return p.T("size.kb", "N", tenths(k))
	case bytes < k*k:
		return p.T("size.kb", "N", p.Number(bytes/k))
	}
	return p.T("size.mb", "N", tenths(k*k))
}

// effectText is the word for a kind of effect, or the destination's own.
func effectText(p *text.Printer, effect string) string {
	if k := "effect." + effect; text.Has(k) {
		return p.T(k)
	}
	return effect
}

// typeText is the word for the type of an input, or the schema's own.
func typeText(p *text.Printer, kind string) string {
	if k := "flow.type." + kind; text.Has(k) {
		return p.T(k)
	}
	return kind
}

// effectWords and inputTypes have a word in the catalogues.
var (
	effectWords = []string{"task", "note", "coupon", "invoice", "email", "contact", "ticket"}
	inputTypes  = []string{"string", "integer", "number", "boolean", "email", "date", "date-time", "uri", "array", "object"}
)

// shortHash shows a hexadecimal hash as people compare it: its first and last four
// bytes.
func shortHash(h string) string {
	if len(h) <= 16 {
		return h
	}
	return h[:8] + "…" + h[len(h)-8:]
}

// pageTitle is the title of the browser's tab.
func pageTitle(title string) string { return Plain(title) + " · Holdpoint" }
