package static

import (
	"bytes"
	"compress/gzip"
	"strconv"
	"strings"
	"sync"

	"github.com/andybalholm/brotli"
)

// encoded is a file as browsers take it: packed as well as it can be, once, when it is
// first asked for. A packing that saves nothing is nil.
type encoded struct {
	once     sync.Once
	br, gzip []byte
}

func (e *encoded) pack(body []byte) {
	e.once.Do(func() {
		var b, g bytes.Buffer
		bw := brotli.NewWriterLevel(&b, brotli.BestCompression)
		gw, _ := gzip.NewWriterLevel(&g, gzip.BestCompression) // the level is known
		_, _ = bw.Write(body)
		_, _ = gw.Write(body) // neither fails: they write to memory
		_ = bw.Close()
		_ = gw.Close()
		if b.Len() < len(body) {
			e.br = b.Bytes()
		}
		if g.Len() < len(body) {
			e.gzip = g.Bytes()
		}
	})
}

// choose gives the smallest packing that the browser takes, and its name; "" = as it is.
func (e *encoded) choose(body []byte, accept string) ([]byte, string) {
	e.pack(body)
	switch {
	case e.br != nil && Accepts(accept, "br"):
		return e.br, "br"
	case e.gzip != nil && Accepts(accept, "gzip"):
		return e.gzip, "gzip"
	}
	return body, ""
}

// Accepts reports whether an Accept-Encoding header takes a coding.
func Accepts(header, coding string) bool {
	for part := range strings.SplitSeq(header, ",") {
		name, rest, _ := strings.Cut(part, ";")
		if !strings.EqualFold(strings.TrimSpace(name), coding) {
			continue
		}
		weight, given := strings.CutPrefix(strings.TrimSpace(rest), "q=")
		q, err := strconv.ParseFloat(weight, 64)
		return !given || err == nil && q > 0
	}
	return false
}
