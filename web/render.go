package web

import (
	"bytes"
	"net/http"

	"holdpoint/operation"
	"holdpoint/views"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"
)

// Render writes a page with status 200.
func Render(c echo.Context, page templ.Component) error { return RenderStatus(c, http.StatusOK, page) }

// RenderStatus writes a page. It is made in memory first: a fault while making it still
// becomes a page about the fault, never half a page.
func RenderStatus(c echo.Context, status int, page templ.Component) error {
	var b bytes.Buffer
	if err := page.Render(c.Request().Context(), &b); err != nil {
		return err
	}
	return sendPage(c, status, b.Bytes())
}

// Frame gives what stands around a page. The messages that wait are taken by it.
func Frame(c echo.Context, section views.Section) views.Frame {
	v, f := VisitOf(c), frameOf(c)
	fr := views.Frame{Path: c.Request().URL.RequestURI(), Section: section, Theme: theme(c)}
	if !isLive(c.Request()) {
		fr.Flash = v.takeFlash(c)
	}
	if v.User == nil {
		return fr
	}
	fr.BreakGlass = v.IsBreakGlass()
	fr.SendsPaused = f.sendsPaused(c.Request().Context())
	fr.KeysOff, fr.LiveAt = !v.User.SingleKeys, v.Now
	fr.Viewer = &views.Viewer{Name: v.User.Name, Email: v.User.Email}
	seen := map[operation.Role]bool{}
	for _, g := range v.User.Roles {
		if !seen[g.Role] {
			seen[g.Role] = true
			fr.Viewer.Roles = append(fr.Viewer.Roles, g.Role)
		}
	}
	if f.Waiting != nil {
		n, err := f.Waiting(c.Request().Context(), *v.User)
		if err != nil {
			f.Log.Warn("waiting decisions not counted", "id", RequestID(c), "err", err)
		}
		fr.Waiting = n
	}
	return fr
}

// themeCookie holds light or dark for this browser; it says nothing about the person.
const themeCookie = "holdpoint_theme"

func theme(c echo.Context) string {
	k, err := c.Cookie(themeCookie)
	if err != nil || (k.Value != "light" && k.Value != "dark") {
		return ""
	}
	return k.Value
}

// SetTheme keeps light, dark or the browser's own choice for this browser.
func SetTheme(c echo.Context, value string) {
	k := &http.Cookie{Name: themeCookie, Value: value, Path: "/", MaxAge: 365 * 24 * 3600, HttpOnly: true, Secure: frameOf(c).Secure, SameSite: http.SameSiteLaxMode}
	if value != "light" && value != "dark" {
		k.Value, k.MaxAge = "", -1
	}
	c.SetCookie(k)
}

// Theme gives the choice of SetTheme: light, dark or auto.
func Theme(c echo.Context) string {
	if t := theme(c); t != "" {
		return t
	}
	return "auto"
}
