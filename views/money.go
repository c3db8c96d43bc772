package views

import (
	"strings"

	"golang.org/x/text/currency"

	"holdpoint/views/text"
)

// Money is an amount in the minor units of a currency. It is never a float: Minor is the
// integer's own text.
type Money struct {
	Minor    string // digits, perhaps after a minus sign
	Currency string // ISO 4217, as the content writes it
}

// MinorDigits gives how many digits of an amount stand after the decimal mark; ok is
// false for a currency that ISO 4217 does not know.
func (m Money) MinorDigits() (digits int, ok bool) {
	unit, err := currency.ParseISO(strings.ToUpper(m.Currency))
	if err != nil {
		return 0, false
	}
	digits, _ = currency.Standard.Rounding(unit)
	return digits, true
}

// In writes the amount as the reader's language does: "1,250.00 EUR". Of an unknown
// currency the minor units are written as they are.
func (m Money) In(p *text.Printer) string {
	code := strings.ToUpper(m.Currency)
	digits, ok := m.MinorDigits()
	if !ok {
		return p.T("money.minor", "Amount", m.Minor, "Currency", code)
	}
	sign, whole := "", m.Minor
	if rest, negative := strings.CutPrefix(whole, "-"); negative {
		sign, whole = "−", rest
	}
	fraction := ""
	if digits > 0 {
		if n := digits + 1 - len(whole); n > 0 {
			whole = strings.Repeat("0", n) + whole
		}
		cut := len(whole) - digits
		whole, fraction = whole[:cut], decimalMark(p.Lang)+whole[cut:]
	}
	return sign + grouped(whole, p.Lang) + fraction + "\u00a0" + code
}

func decimalMark(lang string) string {
	if lang == "pl" {
		return ","
	}
	return "."
}

// grouped puts a mark between thousands; Polish leaves four digits together.
func grouped(digits, lang string) string {
	mark := ","
	if lang == "pl" {
		if mark = "\u00a0"; len(digits) <= 4 {
			return digits
		}
	}
	var b strings.Builder
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteString(mark)
		}
		b.WriteRune(d)
	}
	return b.String()
}
