package operation

import (
	"strings"
	"unicode"
)

// plainMailbox gives local@host in its one spelling: "kim"@example.test. and
// kim@example.test are the same mailbox. What is none stays as it is.
func plainMailbox(s string) string {
	at := strings.LastIndexByte(s, '@')
	if at <= 0 {
		return s
	}
	host := strings.TrimRightFunc(s[at+1:], func(r rune) bool { return r == '.' || unicode.IsSpace(r) })
	if host == "" || strings.ContainsAny(host, `<>"`) {
		return s
	}
	return plainLocal(s[:at]) + "@" + host
}

// plainLocal takes away the quotes of a local part that reads the same without them, else the
// backslashes in them before characters that need none.
func plainLocal(local string) string {
	if !strings.Contains(local, `"`) {
		return local
	}
	var plain, kept strings.Builder // kept: as one quoted string
	quoted, begun := false, strings.HasPrefix(local, `"`)
	for i := 0; i < len(local); i++ {
		c := local[i]
		switch {
		case c == '"':
			if quoted && i < len(local)-1 {
				begun = false // more words follow
			}
			quoted = !quoted
			continue
		case c == '\\' && quoted && i+1 < len(local):
			i++
			c = local[i]
		}
		if c == '"' || c == '\\' {
			kept.WriteByte('\\')
		}
		kept.WriteByte(c)
		plain.WriteByte(c)
	}
	switch {
	case quoted: // without its end
		return local
	case isDotAtom(plain.String()):
		return plain.String()
	case begun:
		return `"` + kept.String() + `"`
	}
	return local
}

// isDotAtom reports whether a local part needs no quotes: atoms with single dots between them
// (RFC 5322 §3.2.3, with RFC 6532's letters of any script).
func isDotAtom(s string) bool {
	for atom := range strings.SplitSeq(s, ".") {
		if atom == "" || strings.ContainsFunc(atom, func(r rune) bool { return r <= ' ' || r == 0x7f || strings.ContainsRune("()<>[]:;@\\,\"", r) }) {
			return false
		}
	}
	return true
}
