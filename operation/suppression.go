package operation

import (
	"net/mail"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// SuppressionReason says why nothing more is sent to an address. The words are identical in
// Go, SQL and API.
type SuppressionReason string

// The reasons.
const (
	SuppressedUnsubscribed SuppressionReason = "unsubscribed" // the person does not want it
	SuppressedBounce       SuppressionReason = "hard_bounce"  // the address does not exist or takes nothing
	SuppressedComplaint    SuppressionReason = "complaint"    // the person reported a mail as unwanted
	SuppressedManual       SuppressionReason = "manual"       // somebody decided so; the note says why
)

// SuppressionReasons lists every reason.
var SuppressionReasons = []SuppressionReason{SuppressedUnsubscribed, SuppressedBounce, SuppressedComplaint, SuppressedManual}

// Valid reports whether r is one of SuppressionReasons.
func (r SuppressionReason) Valid() bool { return slices.Contains(SuppressionReasons, r) }

// SuppressionScope says what a suppression covers.
type SuppressionScope string

// The scopes.
const (
	SuppressAll         SuppressionScope = "all"         // every effect that reaches the address
	SuppressEffect      SuppressionScope = "effect"      // those of one effect type, such as email
	SuppressDestination SuppressionScope = "destination" // those at one destination
)

// SuppressionScopes lists every scope.
var SuppressionScopes = []SuppressionScope{SuppressAll, SuppressEffect, SuppressDestination}

// Valid reports whether s is one of SuppressionScopes.
func (s SuppressionScope) Valid() bool { return slices.Contains(SuppressionScopes, s) }

// MaxAddress is how many characters an address may have.
const MaxAddress = 320

// NormalAddress gives an address as it is compared, a recipient's and one of the list alike:
// without a name before it, without spaces around it and characters that nobody sees, in
// small letters and NFC. Of a mailbox it takes away the dot that ends the host and the quotes
// and backslashes that the local part does not need (RFC 5321 §4.1.2). "" = it is none.
func NormalAddress(s string) string {
	s = strings.TrimSpace(Normalize(strings.Map(func(r rune) rune {
		if invisible(r) {
			return -1
		}
		return r
	}, s)))
	if strings.HasSuffix(s, ">") {
		if i := strings.LastIndexByte(s, '<'); i >= 0 {
			s = s[i+1 : len(s)-1]
		}
	}
	s = plainMailbox(Normalize(strings.ToLower(strings.TrimSpace(s))))
	if utf8.RuneCountInString(s) > MaxAddress || strings.ContainsFunc(s, func(r rune) bool { return unicode.IsControl(r) || r == '\uFFFD' }) {
		return ""
	}
	return s
}

// IsAddress reports whether one recipient can be called so; address is normal. Mails go to
// local@domain, where the domain is a name, and so does whatever else is suppressed for all effects by a text with an @.
// Other recipients, such as telephone numbers and identifiers, have any form, but no comma,
// and blanks only where the rest is a telephone number: nothing that is several. For all
// effects an identifier has a digit or an underscore in it: a mere word is nobody's.
func IsAddress(address string, scope SuppressionScope, mails bool) bool {
	at := strings.Contains(address, "@")
	switch {
	case address == "", strings.ContainsFunc(address, invisible), strings.Contains(address, ","), at && strings.Contains(address, ";"),
		strings.ContainsFunc(address, unicode.IsControl), strings.ContainsFunc(address, unicode.IsSpace) && !isTelephone(address):
		return false
	case mails || at && scope == SuppressAll:
		a, err := mail.ParseAddress(address)
		return err == nil && a.Address == address && a.Name == "" && isMailHost(address[strings.LastIndexByte(address, '@')+1:])
	case scope == SuppressAll:
		return strings.ContainsFunc(address, func(r rune) bool { return r == '_' || unicode.IsDigit(r) })
	}
	return true
}

// OneAddress is NormalAddress for what a person or a program wrote: "" too where it holds
// several addresses with names before them, or a character in it that nobody sees.
func OneAddress(s string) string {
	if strings.ContainsFunc(s, invisible) {
		return ""
	}
	name := s[:max(strings.LastIndexByte(s, '<'), 0)]
	if strings.Contains(name, "<") || strings.Contains(name, "@") && strings.ContainsAny(name, ",;") {
		return ""
	}
	return NormalAddress(s)
}

// isMailHost reports whether mail can go to a host of this name: labels as RFC 1123 has them,
// letters of any script among them (RFC 5890), and at least two, or localhost.
func isMailHost(host string) bool {
	if len(host) > 253 || !strings.Contains(host, ".") && host != "localhost" {
		return false
	}
	for label := range strings.SplitSeq(host, ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' || strings.ContainsFunc(label, func(r rune) bool {
			return r != '-' && !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r)
		}) {
			return false
		}
	}
	return true
}

// invisible reports a character that has no shape of its own: a joiner, a direction mark, a
// filler. Two addresses that differ in nothing else look the same.
func invisible(r rune) bool {
	return unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

func isTelephone(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return (r < '0' || r > '9') && !strings.ContainsRune("+()-./ \u00a0", r) })
}

// SuppressedBy gives the reason for which news of a delivery puts its recipient on the
// suppression list; "" = it does not.
func SuppressedBy(kind NewsKind) SuppressionReason {
	switch kind {
	case NewsBounced:
		return SuppressedBounce
	case NewsComplained:
		return SuppressedComplaint
	}
	return ""
}
