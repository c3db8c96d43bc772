package store

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// commonWords are the words and rows of keys of which the passwords are made that are
// guessed first, one a line, in small letters.
//
//go:embed common_passwords.txt
var commonWords string

var common = sync.OnceValue(func() []string {
	list := strings.Fields(commonWords)
	// the longest first: "password" goes as a whole before "pass" is looked for
	slices.SortFunc(list, func(a, b string) int { return len(b) - len(a) })
	return list
})

// spare is how many characters a password must have beside what everybody guesses.
const spare = 6

// isCommon reports a password that is little more than words and rows of keys that are
// guessed first, single characters again and again, and figures: "Password2026!",
// "qwertyuiop123", "aaaaaaaaaaaa", "123456789012".
func isCommon(password string) bool {
	return left(folded(password), common()) < spare
}

// namesOwner reports a password that is little more than the person's address or name.
func namesOwner(password string, of User) bool {
	local, host, _ := strings.Cut(of.Email, "@")
	own := []string{folded(of.Email), folded(local), folded(of.Name)}
	for _, part := range slices.Concat(strings.FieldsFunc(local, isSeparator), strings.FieldsFunc(of.Name, isSeparator), strings.Split(host, ".")) {
		if p := folded(part); len([]rune(p)) >= 3 {
			own = append(own, p)
		}
	}
	slices.SortFunc(own, func(a, b string) int { return len(b) - len(a) })
	s := folded(password)
	return left(s, own) < spare && left(s, nil) >= spare
}

func isSeparator(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }

// folded writes a text in small letters, without what stands between letters and figures
// and with letters for the signs that are written in their place.
func folded(s string) string {
	return strings.Map(func(r rune) rune {
		switch r {
		case '@':
			return 'a'
		case '$':
			return 's'
		}
		if isSeparator(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, norm.NFKC.String(s))
}

// left counts the characters of a text beside these words, figures and repetitions.
func left(s string, words []string) int {
	for _, w := range words {
		if w != "" {
			s = strings.ReplaceAll(s, w, "\x00")
		}
	}
	n, last := 0, rune(0)
	for _, r := range s {
		if r != last && r != 0 && !unicode.IsDigit(r) {
			n++
		}
		last = r
	}
	return n
}
