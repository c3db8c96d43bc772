package web

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"sync"

	"holdpoint/static"

	"github.com/labstack/echo/v4"
)

// Pages are packed on their way, where that tells nobody anything. The size of a packed
// page could tell an onlooker a secret in it, if a page of theirs can make the browser ask
// for it again and again with guesses that the page repeats (BREACH). Our pages hold no
// tokens of forms, and the session's token is never in a page. What another site has the
// browser ask is packed only when its address has no query: then nothing of the asker's
// is repeated. A page that shows a secret says so by Unpacked.

const unpackedKey = "holdpoint/unpacked"

// Unpacked sends this request's page as it is: it shows a secret, such as a one-use link.
func Unpacked(c echo.Context) { c.Set(unpackedKey, true) }

// packMin is the size from which packing saves more than it costs.
const packMin = 1024

// mayPack reports that this page's packed size tells nobody anything.
func (f *frame) mayPack(c echo.Context) bool {
	r := c.Request()
	if c.Get(unpackedKey) != nil || !static.Accepts(r.Header.Get(echo.HeaderAcceptEncoding), "gzip") {
		return false
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "same-origin", "none":
		return true
	case "": // an old browser, or no HTTPS, where there is nothing to guess
		return !f.Secure || r.URL.RawQuery == "" && r.Method == http.MethodGet
	}
	return r.URL.RawQuery == "" && r.Method == http.MethodGet
}

var packers = sync.Pool{New: func() any {
	w, _ := gzip.NewWriterLevel(nil, 5) // the level is known
	return w
}}

// sendPage writes a page that is complete in memory.
func sendPage(c echo.Context, status int, page []byte) error {
	h := c.Response().Header()
	h.Add(echo.HeaderVary, echo.HeaderAcceptEncoding)
	if len(page) < packMin || !frameOf(c).mayPack(c) {
		return c.HTMLBlob(status, page)
	}
	var b bytes.Buffer
	w := packers.Get().(*gzip.Writer)
	defer packers.Put(w)
	w.Reset(&b)
	_, _ = w.Write(page) // to memory
	_ = w.Close()
	h.Set(echo.HeaderContentEncoding, "gzip")
	return c.HTMLBlob(status, b.Bytes())
}
