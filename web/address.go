package web

import (
	"strings"

	"github.com/labstack/echo/v4"
)

// Address gives a path of ours as the address that people open.
func Address(c echo.Context, path string) string {
	return strings.TrimSuffix(frameOf(c).PublicURL, "/") + path
}
