package web

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/views"

	"github.com/labstack/echo/v4"
)

// Kept is a form that was sent when the session had ended. It is held in the session
// that has not signed in yet, on the server; nothing of it is decided by signing in. It
// belongs to the person of the ended session and is shown to nobody else.
type Kept struct {
	Owner  operation.UserID
	Page   string // path of the page that shows the form
	Form   string // name of the form on it
	Fields url.Values
	Files  int // how many files it brought: they are not kept and must be chosen again
	At     time.Time
}

const (
	// keptLimit bounds what was sent and what is kept of it; a longer form is not kept.
	keptLimit = 64 << 10
	// keptLife is how long it waits for the sign-in.
	keptLife = 2 * time.Hour
)

// AskSignIn leads to the sign-in page. A form that was posted is kept where it is known
// whose it is: after signing in, its page comes back with what was typed. page is where
// it is shown.
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

// keep holds a form that came without a session that still holds. Whoever has never
// signed in has nothing to keep: anybody could fill the table of sessions with it.
func keep(c echo.Context, page, form string) (bool, error) {
	f, v := frameOf(c), VisitOf(c)
	owner, err := f.formOwner(c, v)
	if err != nil || owner == "" {
		return false, err
	}
	fields, files, err := keptFields(c)
	if err != nil {
		return false, nil // too long, or no form: the sign-in page comes all the same
	}
	k := Kept{Owner: owner, Page: page, Form: form, At: time.Now(), Fields: url.Values{}, Files: files}
	for name, value := range fields {
		if !strings.Contains(name, "password") && name != "current" && name != "token" {
			k.Fields[name] = value
		}
	}
	raw, err := json.Marshal(k)
	if err != nil || len(raw) > keptLimit || v.User == nil && !f.keeping.allow(c.RealIP(), v.Now) {
		return false, err
	}
	v.session.Values[valueKept] = string(raw)
	return true, v.save(c)
}

// keptFields reads what was typed into a form, and how many files it brought.
func keptFields(c echo.Context) (url.Values, int, error) {
	r := c.Request()
	if whole, ok := c.Get(wholeBodyKey).(io.ReadCloser); ok && isMultipart(r) {
		r.Body = http.MaxBytesReader(keepOpen{c.Response()}, whole, uploadLimit)
		return readParts(r, keptLimit)
	}
	if r.ContentLength > keptLimit {
		return nil, 0, errTooMuch
	}
	r.Body = http.MaxBytesReader(keepOpen{c.Response()}, r.Body, keptLimit)
	fields, err := PostForm(c)
	return fields, 0, err
}

// formOwner says whose form this is: the person who is signed in, the person of the session that the cookie names,
// ended or expired, or the person who was here before in the session that has not
// signed in yet. "" = nobody's.
func (f *frame) formOwner(c echo.Context, v *Visit) (operation.UserID, error) {
	if v.User != nil {
		return v.User.ID, nil
	}
	if v.session.ID != "" {
		if id, _ := v.session.Values[valueWas].(string); id != "" {
			return operation.UserID(id), nil
		}
		if k := v.kept(); k != nil {
			return k.Owner, nil
		}
		return "", nil
	}
	cookie, err := c.Cookie(f.sessions.name)
	if err != nil || cookie.Value == "" || len(cookie.Value) > maxToken {
		return "", nil
	}
	id, err := f.Store.FindSessionOwner(c.Request().Context(), hashToken(cookie.Value))
	if errors.Is(err, store.ErrNotFound) {
		return "", nil
	}
	return id, err
}

// KeptForm gives the form that was kept for this page, when the address asks for it.
// It stays until the form is sent or its time is over, so that a reload shows it too.
func KeptForm(c echo.Context) *Kept {
	if c.QueryParam("kept") == "" {
		return nil
	}
	v := VisitOf(c)
	k := v.kept()
	if k == nil || k.Page != c.Request().URL.Path || v.User == nil || v.User.ID != k.Owner {
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
	if err := json.Unmarshal([]byte(raw), &k); err != nil || k.Owner == "" || v.Now.Sub(k.At) > keptLife {
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
