package operation

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

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

// Hash is SHA-256 over the salt and the RFC 8785 canonical JSON of the version.
// Numbers beyond ±2^53 are refused: canonical JSON would change them silently.
func (v Version) Hash(salt []byte) ([32]byte, error) {
	if err := CheckNumbers(v.Content); err != nil {
		return [32]byte{}, err
	}
	return canonicalHash(salt, v)
}

// Hash is SHA-256 over the canonical JSON of a request; of a resolved one it names
// the bytes that leave.
func (r Request) Hash() ([32]byte, error) { return canonicalHash(nil, r) }

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

// CheckNumbers refuses integers that a double cannot hold exactly. Amounts and
// identifiers belong in strings or integer minor units.
func CheckNumbers(raw json.RawMessage) error {
	if len(raw) == 0 {
		return nil
	}
	d := json.NewDecoder(strings.NewReader(string(raw)))
	d.UseNumber()
	for {
		t, err := d.Token()
		if err != nil {
			break
		}
		n, ok := t.(json.Number)
		if !ok || strings.ContainsAny(n.String(), ".eE") {
			continue
		}
		if i, err := n.Int64(); err != nil || i > 1<<53 || i < -(1<<53) {
			return fmt.Errorf("number %s is beyond ±2^53: write it as a string", n)
		}
	}
	return nil
}

// Normalize brings text to Unicode NFC and takes out the two private-use characters
// that mark holes. It runs once, on input; nothing is changed after that.
func Normalize(s string) string {
	s = norm.NFC.String(s)
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
