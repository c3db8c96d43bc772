package web

import (
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"runtime/debug"
	"strings"
	"time"

	"github.com/labstack/echo/v4"
)

// requestID names every request, so that a page about a fault can name its log lines.
// A caller's own ID is not taken over: it could forge log lines.
func requestID(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		id := strings.ToLower(rand.Text()[:16])
		c.Response().Header().Set(echo.HeaderXRequestID, id)
		return next(c)
	}
}

// RequestID gives the request's ID.
func RequestID(c echo.Context) string { return c.Response().Header().Get(echo.HeaderXRequestID) }

// accessLog writes one line per request. The query is left out, and so is what people
// typed: neither belongs into a log.
func (f *frame) accessLog(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		start := time.Now()
		err := next(c)
		if err != nil {
			c.Error(err)
		}
		if strings.HasPrefix(c.Path(), "/static/") {
			return nil
		}
		args := []any{"id", RequestID(c), "method", c.Request().Method, "route", c.Path(), "status", c.Response().Status,
			"ms", time.Since(start).Milliseconds(), "bytes", c.Response().Size}
		if op := c.Param("id"); op != "" && len(op) < 64 {
			args = append(args, "subject", op)
		}
		if v := visitOf(c); v != nil && v.User != nil {
			args = append(args, "user", string(v.User.ID))
		}
		f.Log.Info("request", args...)
		return nil
	}
}

// recovered turns a panic into an error with its stack in the log.
func (f *frame) recovered(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) (err error) {
		defer func() {
			r := recover()
			if r == nil {
				return
			}
			if e, ok := r.(error); ok && errors.Is(e, http.ErrAbortHandler) {
				panic(r)
			}
			f.Log.Error("panic", "id", RequestID(c), "route", c.Path(), "what", fmt.Sprint(r), "stack", string(debug.Stack()))
			err = fmt.Errorf("panic: %v", r)
		}()
		return next(c)
	}
}

// The policies of pages and of previews. A preview is somebody's mail: it may style
// itself, but it loads, runs and sends nothing.
const (
	pagePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
		"frame-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
	previewPolicy = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'; " +
		"frame-ancestors 'self'; base-uri 'none'"
	attachmentPolicy = "sandbox; default-src 'none'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'"
)

// headers sets what every answer carries. The referrer policy is same-origin: nothing
// leaves to other sites, and browsers still send the Origin by which foreign posts are
// recognised where there is no HTTPS.
func (f *frame) headers(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		h := c.Response().Header()
		h.Set("Content-Security-Policy", pagePolicy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Permissions-Policy", "camera=(), microphone=(), geolocation=()")
		if f.Secure {
			h.Set("Strict-Transport-Security", "max-age=31536000")
		}
		if !strings.HasPrefix(c.Request().URL.Path, "/static/") {
			h.Set("Cache-Control", "no-store")
		}
		return next(c)
	}
}

// PreviewHeaders sets the policy of somebody's mail, shown in a frame of ours.
func PreviewHeaders(c echo.Context) {
	h := c.Response().Header()
	h.Set("Content-Security-Policy", previewPolicy)
	h.Set("X-Frame-Options", "SAMEORIGIN")
	h.Set("Referrer-Policy", "no-referrer")
}

// AttachmentHeaders sets the policy of a file that a person attached: it runs, loads and
// frames nothing, and only this browser keeps it. Its name is its hash: it never changes,
// but whether it may be seen is asked each time.
func AttachmentHeaders(c echo.Context, hash string) {
	h := c.Response().Header()
	h.Set("Content-Security-Policy", attachmentPolicy)
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "private, no-cache")
	h.Set("Etag", `"`+hash+`"`)
}

func ipNet(p netip.Prefix) *net.IPNet {
	return &net.IPNet{IP: p.Masked().Addr().AsSlice(), Mask: net.CIDRMask(p.Bits(), p.Addr().BitLen())}
}
