package operation

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gowebpki/jcs"
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

// Hash is SHA-256 over the salt and the RFC 8785 canonical JSON of the version. What
// canonical JSON would change or merge silently is refused: numbers that a double does
// not hold exactly, bytes that are not UTF-8, a key that stands twice in one object.
func (v Version) Hash(salt []byte) ([32]byte, error) {
	if err := CheckNumbers(v.Content); err != nil {
		return [32]byte{}, err
	}
	if err := v.checkText(); err != nil {
		return [32]byte{}, err
	}
	return canonicalHash(salt, v)
}

// Hash is SHA-256 over the canonical JSON of a request; of a resolved one it names
// the bytes that leave.
func (r Request) Hash() ([32]byte, error) {
	if err := r.checkText(); err != nil {
		return [32]byte{}, err
	}
	return canonicalHash(nil, r)
}

func canonicalHash(salt []byte, v any) ([32]byte, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return [32]byte{}, fmt.Errorf("canonical form: %w", err)
	}
	canon, err := jcs.Transform(raw)
	if err != nil {
		return [32]byte{}, fmt.Errorf("canonical form: %w", err)
	}
	h := sha256.New()
	h.Write(salt)
	h.Write(canon)
	return [32]byte(h.Sum(nil)), nil
}

// Check refuses text that cannot travel as it is shown: bytes that are not UTF-8, and
// line ends or NUL outside the body.
func (r Request) Check() error {
	if err := r.checkText(); err != nil {
		return err
	}
	lines := append([]string{string(r.Kind), r.Method, r.URL, r.From}, r.To...)
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
	all := append([]string{string(r.Kind), r.Method, r.URL, r.Body, r.From}, r.To...)
	for _, h := range r.Header {
		all = append(all, h.Name, h.Value)
	}
	return checkUTF8(all...)
}

func (v Version) checkText() error {
	if err := v.Request.checkText(); err != nil {
		return err
	}
	return checkUTF8(string(v.Content), v.Destination, v.Action, v.Account, v.Environment, v.Credential)
}

func checkUTF8(all ...string) error {
	for _, s := range all {
		if !utf8.ValidString(s) {
			return errors.New("the text is not UTF-8")
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
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	for {
		t, err := d.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("content: %w", err)
		}
		if n, ok := t.(json.Number); ok && !exact(n.String()) {
			return fmt.Errorf("number %s is beyond ±2^53 or has too many decimals: write it as a string", n)
		}
	}
}

// exact reports whether a double holds the number so that its shortest form is the same
// number again. Literals are read exactly, but only within a size that is cheap to read.
func exact(n string) bool {
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
