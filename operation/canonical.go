package operation

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/gowebpki/jcs"
)

// The canonical form of a version and of a request is RFC 8785 of what encoding/json writes
// of them. It is written here at once, member by member in the order that RFC 8785 wants,
// for it is hashed several times for each item of a batch.

// canonicalJSON is the RFC 8785 canonical form of any value.
func canonicalJSON(v any) ([]byte, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("canonical form: %w", err)
	}
	return jcs.Transform(raw)
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
	b, err := v.appendCanonical(append(make([]byte, 0, len(salt)+len(v.Content)+v.Request.size()+256), salt...))
	if err != nil {
		return [32]byte{}, fmt.Errorf("canonical form: %w", err)
	}
	return sha256.Sum256(b), nil
}

// Hash is SHA-256 over the canonical JSON of a request; of a resolved one it names
// the bytes that leave.
func (r Request) Hash() ([32]byte, error) {
	if err := r.checkText(); err != nil {
		return [32]byte{}, err
	}
	return sha256.Sum256(r.Canonical()), nil
}

// Canonical is the request's RFC 8785 canonical JSON: the bytes that Hash hashes.
func (r Request) Canonical() []byte {
	return r.appendCanonical(make([]byte, 0, r.size()))
}

func (v Version) appendCanonical(b []byte) (_ []byte, err error) {
	b = appendMember(b, `{"account":`, v.Account)
	b = appendMember(b, `,"action":`, v.Action)
	if b, err = appendContent(append(b, `,"content":`...), v.Content); err != nil {
		return nil, err
	}
	b = appendMember(b, `,"credential":`, v.Credential)
	b = appendMember(b, `,"destination":`, v.Destination)
	b = appendMember(b, `,"environment":`, v.Environment)
	b = v.Request.appendCanonical(append(b, `,"request":`...))
	return append(b, '}'), nil
}

func (r Request) appendCanonical(b []byte) []byte {
	b = append(b, '{')
	if r.Body != "" {
		b = append(appendMember(b, `"body":`, r.Body), ',')
	}
	if r.From != "" {
		b = append(appendMember(b, `"from":`, r.From), ',')
	}
	for i, h := range r.Header {
		b = append(b, begins(i, `"header":[`)...)
		b = appendMember(b, `{"name":`, h.Name)
		b = append(appendMember(b, `,"value":`, h.Value), '}')
	}
	if len(r.Header) > 0 {
		b = append(b, `],`...)
	}
	b = appendMember(b, `"kind":`, string(r.Kind))
	if r.Method != "" {
		b = appendMember(b, `,"method":`, r.Method)
	}
	for i, to := range r.To {
		b = appendText(append(b, begins(i, `,"to":[`)...), to)
	}
	if len(r.To) > 0 {
		b = append(b, ']')
	}
	if r.URL != "" {
		b = appendMember(b, `,"url":`, r.URL)
	}
	return append(b, '}')
}

// begins gives what stands before the i-th element of a list.
func begins(i int, list string) string {
	if i > 0 {
		return ","
	}
	return list
}

// size is about how long a request is in its canonical form.
func (r Request) size() int {
	n := 128 + len(r.URL) + len(r.Body) + len(r.Body)/8 + len(r.From)
	for _, h := range r.Header {
		n += len(h.Name) + len(h.Value) + 24
	}
	for _, to := range r.To {
		n += len(to) + 3
	}
	return n
}

// appendContent writes one JSON value, whose numbers are checked, in canonical form. It
// stands in a list meanwhile: it is as deep then as in its version, and a value that is
// too deep there is refused.
func appendContent(b []byte, content json.RawMessage) ([]byte, error) {
	switch {
	case content == nil:
		return append(b, "null"...), nil
	case len(content) == 0:
		return nil, errors.New("the content is empty")
	}
	list := jsontext.Value(slices.Concat([]byte{'['}, content, []byte{']'}))
	if err := list.Canonicalize(); err != nil {
		return nil, err
	}
	return append(b, list[1:len(list)-1]...), nil
}

func appendMember(b []byte, name, text string) []byte {
	return appendText(append(b, name...), text)
}

// appendText writes a text as RFC 8785 does: only what must be escaped is. In place of a
// byte that is not UTF-8 it writes U+FFFD, as encoding/json does.
func appendText(b []byte, s string) []byte {
	b, _ = jsontext.AppendQuote(b, s)
	return b
}
