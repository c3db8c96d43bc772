package web

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"time"

	"holdpoint/views"

	"github.com/labstack/echo/v4"
)

// Kept is a form that was sent when the session had ended. It is held in the session
// that has not signed in yet, on the server; nothing of it is decided by signing in.
type Kept struct {
	Page   string // path of the page that shows the form
	Form   string // name of the form on it
	Fields url.Values
	At     time.Time
}

const (
	// keptLimit bounds a kept form; a longer text is not kept, and the page says so.
	keptLimit = 256 << 10
	// keptLife is how long it waits for the sign-in.
	keptLife = 2 * time.Hour
)

// AskSignIn leads to the sign-in page. A form that was posted is kept: after signing
// in, its page comes back with what was typed. page is where it is shown.
func AskSignIn(c echo.Context, page, form string) error {
	target := c.Request().URL.RequestURI()
	if isPost(c) {
		target = views.PathInbox
		if page != "" {
			kept, err := keep(c, page, form)
			if err != nil {
				return err
			}
			if target = page; kept {
				target += "?kept=1"
			}
		}
	}
	to := views.PathSignIn
	if target != "/" && target != views.PathInbox {
		to += "?return=" + url.QueryEscape(target)
	}
	return c.Redirect(http.StatusSeeOther, to)
}

func isPost(c echo.Context) bool {
	m := c.Request().Method
	return m != http.MethodGet && m != http.MethodHead
}

func keep(c echo.Context, page, form string) (bool, error) {
	fields, err := c.FormParams()
	if err != nil {
		return false, err
	}
	k := Kept{Page: page, Form: form, At: time.Now(), Fields: url.Values{}}
	for name, v := range fields {
		if !strings.Contains(name, "password") && name != "current" && name != "token" {
			k.Fields[name] = v
		}
	}
	raw, err := json.Marshal(k)
	if err != nil || len(raw) > keptLimit {
		return false, err
	}
	v := VisitOf(c)
	v.session.Values[valueKept] = string(raw)
	return true, v.save(c)
}

// KeptForm gives the form that was kept for this page, when the address asks for it.
// It stays until the form is sent or its time is over, so that a reload shows it too.
func KeptForm(c echo.Context) *Kept {
	if c.QueryParam("kept") == "" {
		return nil
	}
	k := VisitOf(c).kept()
	if k == nil || k.Page != c.Request().URL.Path {
		return nil
	}
	return k
}

// HasKept reports whether a form waits for the sign-in.
func HasKept(c echo.Context) bool { return VisitOf(c).kept() != nil }

// DropKept forgets the kept form: it was sent, or its page is no longer wanted.
func DropKept(c echo.Context) error {
	v := VisitOf(c)
	if _, ok := v.session.Values[valueKept]; !ok {
		return nil
	}
	delete(v.session.Values, valueKept)
	return v.save(c)
}

func (v *Visit) kept() *Kept {
	raw, _ := v.session.Values[valueKept].(string)
	if raw == "" {
		return nil
	}
	var k Kept
	if err := json.Unmarshal([]byte(raw), &k); err != nil || v.Now.Sub(k.At) > keptLife {
		return nil
	}
	return &k
}

// LocalPath gives a path of ours to go on to, or fallback for anything else.
func LocalPath(raw, fallback string) string {
	if !strings.HasPrefix(raw, "/") || strings.HasPrefix(raw, "//") || strings.ContainsAny(raw, "\\\r\n\t") {
		return fallback
	}
	if u, err := url.Parse(raw); err != nil || u.Host != "" || u.Scheme != "" {
		return fallback
	}
	return raw
}
