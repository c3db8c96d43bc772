package web

import (
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"
)

// textPolicy is the policy of somebody's text that is given as a file: it may do nothing.
const textPolicy = "sandbox; default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"

// TextFile answers with text as a file. Whatever the text is, a browser takes it as plain
// text, and saves it rather than showing it.
func TextFile(c echo.Context, name, text string) error {
	h := c.Response().Header()
	h.Set("Content-Security-Policy", textPolicy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Content-Disposition", `attachment; filename="`+fileName(name)+`"`)
	return c.Blob(http.StatusOK, "text/plain; charset=utf-8", []byte(text))
}

// fileName keeps what every system takes in a file's name.
func fileName(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-", r) {
			return r
		}
		return '_'
	}, s)
}
