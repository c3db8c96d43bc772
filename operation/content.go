package operation

import (
	"cmp"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// RequestKind says how a request travels.
type RequestKind string

// The kinds of request.
const (
	RequestHTTP RequestKind = "http"
	RequestSMTP RequestKind = "smtp"
)

// Request is the exact request of a content version, with holes still open (see
// hole.go) or, after Resolve, with the bytes that leave.
type Request struct {
	Kind   RequestKind `json:"kind"`
	Method string      `json:"method,omitempty"`
	URL    string      `json:"url,omitempty"`
	Header []Header    `json:"header,omitempty"` // in sending order; no credentials
	Body   string      `json:"body,omitempty"`   // the exact bytes; UTF-8 (other bytes are refused)
	From   string      `json:"from,omitempty"`   // SMTP envelope sender
	To     []string    `json:"to,omitempty"`     // SMTP envelope recipients
}

// Header is one header line.
type Header struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Version is what an approval covers: content and request, where they go and under
// which named credential. Nothing else is added after approval but declared holes.
type Version struct {
	Content     json.RawMessage `json:"content"`
	Request     Request         `json:"request"`
	Destination string          `json:"destination"`
	Action      string          `json:"action"`
	Account     string          `json:"account"`
	Environment string          `json:"environment"`
	Credential  string          `json:"credential"` // its name, never its value
}

// Check refuses text that cannot travel as it is shown: bytes that are not UTF-8, and
// line ends or NUL outside the body.
func (r Request) Check() error {
	if err := r.checkText(); err != nil {
		return err
	}
	lines := make([]string, 0, 4+len(r.To)+2*len(r.Header))
	lines = append(append(lines, string(r.Kind), r.Method, r.URL, r.From), r.To...)
	for _, h := range r.Header {
		lines = append(lines, h.Name, h.Value)
	}
	for _, s := range lines {
		if strings.ContainsAny(s, "\r\n\x00") {
			return fmt.Errorf("a line of the request holds a line end: %q", s)
		}
	}
	return nil
}

func (r Request) checkText() error {
	for i := range r.Header {
		if err := checkUTF8(r.Header[i].Name, r.Header[i].Value); err != nil {
			return err
		}
	}
	return cmp.Or(checkUTF8(string(r.Kind), r.Method, r.URL, r.Body, r.From), checkUTF8(r.To...))
}

func (v Version) checkText() error {
	if err := v.Request.checkText(); err != nil {
		return err
	}
	if !utf8.Valid(v.Content) {
		return errNotUTF8
	}
	return checkUTF8(v.Destination, v.Action, v.Account, v.Environment, v.Credential)
}

var errNotUTF8 = errors.New("the text is not UTF-8")

func checkUTF8(all ...string) error {
	for _, s := range all {
		if !utf8.ValidString(s) {
			return errNotUTF8
		}
	}
	return nil
}

// CheckNumbers refuses numbers that a double cannot hold exactly: beyond ±2^53, or with
// more decimals than a double keeps. Amounts and identifiers belong in strings or
// integer minor units. Content that is not one JSON value is refused as well.
func CheckNumbers(raw json.RawMessage) error {
	if len(raw) == 0 {
		return nil
	}
	if !json.Valid(raw) {
		return errors.New("the content is not one JSON value")
	}
	for i := 0; i < len(raw); {
		switch c := raw[i]; {
		case c == '"':
			i += textLen(raw[i:])
		case c == '-' || c >= '0' && c <= '9':
			n := numberLen(raw[i:])
			if !exact(string(raw[i : i+n])) {
				return fmt.Errorf("number %s is beyond ±2^53 or has too many decimals: write it as a string", raw[i:i+n])
			}
			i += n
		default:
			i++
		}
	}
	return nil
}

// textLen is how long the text is with which valid JSON begins.
func textLen(raw []byte) int {
	for i := 1; ; i++ {
		switch raw[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
}

// numberLen is how long the number is with which valid JSON begins.
func numberLen(raw []byte) int {
	n := 1
	for n < len(raw) && (raw[n] >= '0' && raw[n] <= '9' || raw[n] == '.' || raw[n] == '+' || raw[n] == '-' || raw[n] == 'e' || raw[n] == 'E') {
		n++
	}
	return n
}

// exact reports whether a double holds the number so that its shortest form is the same
// number again. Literals are read exactly, but only within a size that is cheap to read.
func exact(n string) bool {
	if len(n) <= 15 && !strings.ContainsAny(n, ".eE") {
		return true
	}
	f, err := strconv.ParseFloat(n, 64)
	if err != nil || len(n) > 400 {
		return false
	}
	const limit = 1 << 53
	if !strings.ContainsAny(n, ".eE") {
		i, err := strconv.ParseInt(n, 10, 64)
		return err == nil && i >= -limit && i <= limit
	}
	if f >= limit || f <= -limit {
		return false
	}
	digits, _, _ := strings.Cut(strings.ToLower(n), "e")
	if f == 0 {
		return strings.Trim(digits, "-0.") == ""
	}
	if f > -1e-300 && f < 1e-300 {
		return false
	}
	want, ok := new(big.Rat).SetString(n)
	got, ok2 := new(big.Rat).SetString(strconv.FormatFloat(f, 'g', -1, 64))
	return ok && ok2 && want.Cmp(got) == 0
}

// Normalize brings text to Unicode NFC and takes out the two private-use characters
// that mark holes, and bytes that are not UTF-8; U+FFFD stands in their place. It runs
// once, on input; nothing is changed after that. Direction controls stay: pages make
// them visible.
func Normalize(s string) string {
	s = norm.NFC.String(strings.ToValidUTF8(s, "\uFFFD"))
	if strings.ContainsAny(s, HoleOpen+HoleClose) {
		s = strings.NewReplacer(HoleOpen, "\uFFFD", HoleClose, "\uFFFD").Replace(s)
	}
	return s
}

// NormalizeValue normalises every text of a decoded JSON value.
func NormalizeValue(v any) any {
	switch x := v.(type) {
	case string:
		return Normalize(x)
	case []any:
		for i := range x {
			x[i] = NormalizeValue(x[i])
		}
		return x
	case map[string]any:
		out := make(map[string]any, len(x))
		for k, e := range x {
			out[Normalize(k)] = NormalizeValue(e)
		}
		return out
	}
	return v
}

// ShortHash shows a hash as people compare it: the first and last four bytes.
func ShortHash(h [32]byte) string {
	s := hex.EncodeToString(h[:])
	return s[:8] + "…" + s[len(s)-8:]
}
