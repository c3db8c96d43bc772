package intake

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"

	"holdpoint/operation/definition"
)

// rawBody is a body as it was received and, where the source permits gzip, as it reads
// after decompression; otherwise both are the same bytes.
type rawBody struct{ received, decoded []byte }

// readBody reads at most the source's limit; for gzip the limit is of the decoded
// length too, so that no small body becomes a large one (FC-09).
func readBody(r *http.Request, src *definition.Source) (rawBody, *Refused) {
	raw, no := ReadLimited(r.Body, src.Body)
	b := rawBody{raw, raw}
	switch {
	case no != nil:
		return b, no
	case len(raw) == 0:
		return b, &Refused{http.StatusBadRequest, "empty_body", "the body is empty"}
	}
	switch enc := Encoding(r.Header); {
	case enc == "":
		return b, nil
	case enc == "gzip" && src.AcceptGzip:
		var err error
		b.decoded, err = gunzip(raw, src.Body)
		if errors.Is(err, errTooLarge) {
			return b, &Refused{http.StatusRequestEntityTooLarge, "too_large", "the decompressed body is larger than this source permits"}
		}
		if err != nil {
			return b, &Refused{http.StatusBadRequest, "gzip", "the compressed body is damaged or cut"}
		}
		return b, nil
	case enc == "gzip":
		return b, &Refused{http.StatusUnsupportedMediaType, "gzip", "this source's rule does not accept compressed bodies"}
	default:
		return b, &Refused{http.StatusUnsupportedMediaType, "content_encoding", "this content encoding is not accepted"}
	}
}

var errTooLarge = errors.New("too large")

func gunzip(raw []byte, limit int64) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	out, err := io.ReadAll(io.LimitReader(z, limit+1))
	if err == nil && int64(len(out)) > limit {
		return nil, errTooLarge
	}
	return out, err
}

// decode decodes the body as the source's rule says. Whatever is wrong is named.
func decode(h http.Header, src *definition.Source, b rawBody) (any, *Refused) {
	raw := b.decoded
	if no := contentType(h, src); no != nil {
		return nil, no
	}
	switch {
	case bytes.HasPrefix(raw, []byte{0xFF, 0xFE}), bytes.HasPrefix(raw, []byte{0xFE, 0xFF}), bytes.HasPrefix(raw, []byte{0, '{'}), bytes.HasPrefix(raw, []byte{'{', 0}):
		return nil, &Refused{http.StatusUnsupportedMediaType, "utf16", "the body is UTF-16; JSON travels as UTF-8"}
	case bytes.HasPrefix(raw, []byte{0x1F, 0x8B}):
		return nil, &Refused{http.StatusUnsupportedMediaType, "gzip_undeclared", "the body is compressed, but Content-Encoding does not say so"}
	case src.StripBOM:
		raw = definition.StripBOM(raw)
	}
	v, no := decodeJSON(raw)
	if no != nil {
		return nil, no
	}
	if src.Kind == definition.KindCloudEvents && isStructured(h) {
		if no := binaryData(v); no != nil {
			return nil, no
		}
	}
	return v, nil
}

// decodeJSON reads JSON that reads in one way only and can be stored.
func decodeJSON(raw []byte) (any, *Refused) {
	v, err := definition.DecodeJSON(raw)
	if err != nil {
		return nil, jsonRefusal(err)
	}
	if HasNUL(v) {
		return nil, &Refused{http.StatusBadRequest, "nul", "a text holds the character U+0000, which cannot be stored"}
	}
	return v, nil
}

// contentType checks the declared form: JSON, or nothing; sources of kind json may also
// call their JSON plain text.
func contentType(h http.Header, src *definition.Source) *Refused {
	declared := h.Get("Content-Type")
	if declared == "" {
		return nil
	}
	kind, params, err := mime.ParseMediaType(declared)
	batch := strings.HasPrefix(kind, "application/cloudevents-batch") && src.Kind != definition.KindCloudEvents
	json := kind == "application/json" || strings.HasSuffix(kind, "+json") || kind == "text/json" || kind == "text/plain" && src.Kind == definition.KindJSON
	if err != nil || !json || batch {
		return &Refused{http.StatusUnsupportedMediaType, "content_type", "the body must be JSON, one notification in each request"}
	}
	if cs := strings.ToLower(params["charset"]); cs != "" && cs != "utf-8" && cs != "utf8" && cs != "us-ascii" {
		return &Refused{http.StatusUnsupportedMediaType, "charset", "JSON travels as UTF-8"}
	}
	return nil
}

func isStructured(h http.Header) bool {
	return strings.HasPrefix(strings.ToLower(h.Get("Content-Type")), "application/cloudevents+json")
}

// binaryData refuses an event whose data is no JSON.
func binaryData(v any) *Refused {
	if m, ok := v.(map[string]any); ok && m["data_base64"] != nil {
		return &Refused{http.StatusUnsupportedMediaType, "data_base64", "binary event data is not accepted"}
	}
	return nil
}

// HasNUL reports whether a text or key of a decoded value holds U+0000: the database
// cannot store it, and it has no business in content.
func HasNUL(v any) bool {
	switch x := v.(type) {
	case string:
		return strings.ContainsRune(x, 0)
	case []any:
		for _, e := range x {
			if HasNUL(e) {
				return true
			}
		}
	case map[string]any:
		for k, e := range x {
			if strings.ContainsRune(k, 0) || HasNUL(e) {
				return true
			}
		}
	}
	return false
}
