package web

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/labstack/echo/v4"
)

// PostForm reads the form in the body of a POST. Nothing of it comes from the address: a
// link cannot decide and cannot fill a form in. A body that cannot be read is refused
// with 400, one that holds what no record can hold with 422.
func PostForm(c echo.Context) (url.Values, error) {
	if _, err := c.FormParams(); err != nil {
		var he *echo.HTTPError // the body is larger than is taken
		if errors.As(err, &he) {
			return nil, he
		}
		return nil, echo.NewHTTPError(http.StatusBadRequest).SetInternal(err)
	}
	fields := c.Request().PostForm
	for name, list := range fields {
		for _, v := range append([]string{name}, list...) {
			if !IsText(v) {
				return nil, echo.NewHTTPError(http.StatusUnprocessableEntity)
			}
		}
	}
	return fields, nil
}

// IsText reports whether s is UTF-8 without the zero byte, as the database holds it.
func IsText(s string) bool { return utf8.ValidString(s) && !strings.Contains(s, "\x00") }
