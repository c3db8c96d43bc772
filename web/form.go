package web

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/labstack/echo/v4"
)

// PostForm reads the form in the body of a POST. Nothing of it comes from the address: a
// link cannot decide and cannot fill a form in. A body that cannot be read is refused
// with 400, one that is too large with 413, one that holds what no record can hold with
// 422: an *Unfit, beside which the form is given. Files are not taken; see PostFiles.
func PostForm(c echo.Context) (url.Values, error) {
	if isMultipart(c.Request()) {
		fields, _, err := readParts(c.Request(), bodyLimit)
		return fields, err
	}
	if _, err := c.FormParams(); err != nil {
		return nil, badBody(err)
	}
	fields := c.Request().PostForm
	return fields, unfit(fields)
}

// badBody says what is wrong with a body that could not be read.
func badBody(err error) error {
	var he *echo.HTTPError
	if errors.As(err, &he) {
		return he
	}
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		return echo.NewHTTPError(http.StatusRequestEntityTooLarge).SetInternal(err)
	}
	return echo.NewHTTPError(http.StatusBadRequest).SetInternal(err)
}

// Unfit is a form with texts that no record can hold. Where its page does not mark the
// fields, it is answered with 422.
type Unfit struct {
	Fields []string // their names, in order
}

// Error names the fields, for logs.
func (e *Unfit) Error() string { return fmt.Sprintf("no text in %q", e.Fields) }

// Unwrap gives the answer.
func (e *Unfit) Unwrap() error { return echo.NewHTTPError(http.StatusUnprocessableEntity) }

// unfit refuses what no record can hold, with an *Unfit.
func unfit(fields url.Values) error {
	var bad []string
	for name, list := range fields {
		if !IsText(name) || slices.ContainsFunc(list, func(v string) bool { return !IsText(v) }) {
			bad = append(bad, name)
		}
	}
	if bad == nil {
		return nil
	}
	slices.Sort(bad)
	return &Unfit{Fields: bad}
}

// IsText reports whether s is UTF-8 without the zero byte, as the database holds it.
func IsText(s string) bool { return utf8.ValidString(s) && !strings.Contains(s, "\x00") }

const (
	// bodyLimit bounds what a page's form may send, in bytes.
	bodyLimit = 2 << 20
	// drainLimit is how much of a refused body is still read: a browser shows the
	// answer only when it could send its question.
	drainLimit   = 64 << 20
	wholeBodyKey = "holdpoint/body"
)

// limitBody bounds the bodies of all pages. A form that brings files has a bound of its
// own, which PostFiles sets.
func limitBody(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()
		whole := r.Body
		if r.Body == nil || r.Body == http.NoBody {
			return next(c)
		}
		c.Set(wholeBodyKey, whole)
		r.Body = http.MaxBytesReader(keepOpen{c.Response()}, whole, bodyLimit)
		err := next(c)
		var he *echo.HTTPError
		if errors.As(err, &he) && he.Code == http.StatusRequestEntityTooLarge && r.ContentLength <= drainLimit {
			_, _ = io.CopyN(io.Discard, whole, drainLimit) // what cannot be read is not waited for
		}
		return err
	}
}

// keepOpen keeps the connection open where a body is too large: its end is read by
// limitBody, and then the answer arrives.
type keepOpen struct{ http.ResponseWriter }
