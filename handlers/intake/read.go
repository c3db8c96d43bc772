package intake

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
)

// ReadLimited reads at most limit bytes of a body, exactly as they came. The code of a
// *Refused is "body_cut" or "too_large"; what was read comes with both.
func ReadLimited(body io.Reader, limit int64) ([]byte, *Refused) {
	raw, err := io.ReadAll(io.LimitReader(body, limit+1))
	switch {
	case err != nil:
		return raw, &Refused{http.StatusBadRequest, "body_cut", "the body ended early"}
	case int64(len(raw)) > limit:
		return raw[:limit], &Refused{http.StatusRequestEntityTooLarge, "too_large", "the body is larger than is permitted here"}
	}
	return raw, nil
}

// Encoding is how a body is compressed, in lower case; "" = not at all.
func Encoding(h http.Header) string {
	enc := strings.ToLower(strings.TrimSpace(strings.Join(h.Values("Content-Encoding"), ",")))
	if enc == "identity" {
		return ""
	}
	return enc
}

// BareList takes a body apart that is a list and nothing else, each entry as exactly the
// bytes that stand in it; nil = it is none. Others' texts are in such entries, and one that
// cannot be read must not keep the others out. A list within an object is not taken from a
// body that could be read in two ways.
func BareList(raw []byte) []json.RawMessage {
	if !bytes.HasPrefix(bytes.TrimLeft(raw, " \t\r\n"), []byte{'['}) {
		return nil
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		return nil
	}
	return list
}

// Clip shortens a text to at most n bytes, for the record.
func Clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n-3], "") + "…"
}
