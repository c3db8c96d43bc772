package definition

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strings"
	"unicode/utf8"
)

// MaxJSONDepth is the deepest nesting that DecodeJSON accepts.
const MaxJSONDepth = 200

// JSONErrorCode names why DecodeJSON refused a body.
type JSONErrorCode string

// The reasons. They are stable: intake and API show them.
const (
	JSONByteOrderMark  JSONErrorCode = "byte_order_mark"   // it begins with a byte-order mark (StripBOM takes it off)
	JSONEncoding       JSONErrorCode = "encoding"          // not UTF-8, or half of a surrogate pair
	JSONSyntax         JSONErrorCode = "syntax"            // not JSON
	JSONTrailing       JSONErrorCode = "trailing_data"     // more than one value
	JSONDuplicateKey   JSONErrorCode = "duplicate_key"     // one object has the same key twice
	JSONCaseVariantKey JSONErrorCode = "case_variant_key"  // two keys of one object differ in case only
	JSONTooDeep        JSONErrorCode = "nested_too_deeply" // deeper than MaxJSONDepth
)

// JSONError is a refusal of DecodeJSON.
type JSONError struct {
	Code   JSONErrorCode
	Key    string // the key, for duplicate_key and case_variant_key
	Offset int64  // byte where it was noticed
}

// Error gives code, key and place.
func (e *JSONError) Error() string {
	if e.Key != "" {
		return fmt.Sprintf("JSON refused: %s %q at byte %d", e.Code, e.Key, e.Offset)
	}
	return fmt.Sprintf("JSON refused: %s at byte %d", e.Code, e.Offset)
}

const byteOrderMark = "\uFEFF"

// StripBOM takes a UTF-8 byte-order mark off, for senders whose rule permits one.
func StripBOM(raw []byte) []byte { return bytes.TrimPrefix(raw, []byte(byteOrderMark)) }

// DecodeJSON decodes one JSON value strictly. Numbers stay text (json.Number), so
// that no identifier changes. It refuses what two readers could understand in two
// ways: duplicate keys, keys that differ in case only, more than one value, broken
// text, and nesting deeper than MaxJSONDepth. Every refusal is a *JSONError.
func DecodeJSON(raw []byte) (any, error) {
	switch {
	case bytes.HasPrefix(raw, []byte(byteOrderMark)):
		return nil, &JSONError{Code: JSONByteOrderMark}
	case !utf8.Valid(raw):
		return nil, &JSONError{Code: JSONEncoding}
	}
	if at := halfSurrogate(raw); at >= 0 {
		return nil, &JSONError{Code: JSONEncoding, Offset: int64(at)}
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	v, err := decodeValue(d, 0)
	if err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, &JSONError{Code: JSONTrailing, Offset: d.InputOffset()}
	}
	if !json.Valid(raw) {
		return nil, &JSONError{Code: JSONSyntax}
	}
	return v, nil
}

func decodeValue(d *json.Decoder, depth int) (any, error) {
	if depth > MaxJSONDepth {
		return nil, &JSONError{Code: JSONTooDeep, Offset: d.InputOffset()}
	}
	t, err := d.Token()
	if err != nil {
		return nil, &JSONError{Code: JSONSyntax, Offset: d.InputOffset()}
	}
	switch t {
	case json.Delim('{'):
		return decodeObject(d, depth)
	case json.Delim('['):
		out := []any{}
		for d.More() {
			v, err := decodeValue(d, depth+1)
			if err != nil {
				return nil, err
			}
			out = append(out, v)
		}
		return out, closing(d)
	}
	if _, stray := t.(json.Delim); stray {
		return nil, &JSONError{Code: JSONSyntax, Offset: d.InputOffset()}
	}
	return t, nil
}

func decodeObject(d *json.Decoder, depth int) (any, error) {
	out := map[string]any{}
	folded := map[string]bool{}
	for d.More() {
		t, err := d.Token()
		key, ok := t.(string)
		if err != nil || !ok {
			return nil, &JSONError{Code: JSONSyntax, Offset: d.InputOffset()}
		}
		fold := strings.ToLower(strings.ToUpper(key))
		if _, twice := out[key]; twice {
			return nil, &JSONError{Code: JSONDuplicateKey, Key: key, Offset: d.InputOffset()}
		}
		if folded[fold] {
			return nil, &JSONError{Code: JSONCaseVariantKey, Key: key, Offset: d.InputOffset()}
		}
		folded[fold] = true
		if out[key], err = decodeValue(d, depth+1); err != nil {
			return nil, err
		}
	}
	return out, closing(d)
}

func closing(d *json.Decoder) error {
	if _, err := d.Token(); err != nil {
		return &JSONError{Code: JSONSyntax, Offset: d.InputOffset()}
	}
	return nil
}

var surrogate = regexp.MustCompile(`(?i)\\(?:u(d[89ab][0-9a-f]{2})(?:\\u(d[c-f][0-9a-f]{2}))?|u(d[c-f][0-9a-f]{2})|.)`)

// halfSurrogate finds an escaped surrogate without its other half, which the
// decoder would silently replace; -1 when there is none.
func halfSurrogate(raw []byte) int {
	if !bytes.Contains(raw, []byte(`\u`)) {
		return -1
	}
	for _, m := range surrogate.FindAllSubmatchIndex(raw, -1) {
		if high, low, alone := m[2] >= 0, m[4] >= 0, m[6] >= 0; alone || high && !low {
			return m[0]
		}
	}
	return -1
}

// decodeTree reads JSON that this package wrote itself.
func decodeTree(raw []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	err := d.Decode(&v)
	return v, err
}
