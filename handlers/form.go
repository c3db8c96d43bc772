package handlers

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/views"
	"holdpoint/web"

	"github.com/labstack/echo/v4"
)

// typed is what a person typed into one form of a page, and what is wrong with it. The
// zero value is a page that is shown for the first time.
type typed struct {
	form   string
	fields url.Values
	errors map[string]views.Say
	files  map[string][]store.Attachment // by field, as they were taken
	lost   int                           // how many files came: they cannot be put into the form again
}

// of gives what was typed into one form of the page: nothing for the others.
func (t typed) of(form string) typed {
	if t.form != form {
		return typed{}
	}
	return t
}

// val gives one field as it was typed.
func (t typed) val(name string) string { return t.fields.Get(name) }

// or gives one field as it was typed, or what stands there otherwise.
func (t typed) or(name, otherwise string) string {
	if t.fields == nil {
		return otherwise
	}
	return t.fields.Get(name)
}

// formKeyLimit bounds a form's key, textLimit what a person may say in one field.
const (
	formKeyLimit = 100    // bytes
	textLimit    = 10_000 // characters
)

// sent reads the form of a POST from its body alone. Its name is the last part of the address.
func sent(c echo.Context) (typed, error) {
	fields, err := web.PostForm(c)
	if err != nil {
		return typed{}, err
	}
	return typedBy(c, fields)
}

// sentMarked is sent for a page that marks the fields of its content: what no record can hold
// of them is shown with a mark in its place, and the form is not to be acted upon.
func sentMarked(c echo.Context) (typed, error) {
	fields, err := web.PostForm(c)
	var bad *web.Unfit
	if !errors.As(err, &bad) {
		if err != nil {
			return typed{}, err
		}
		return typedBy(c, fields)
	}
	for _, name := range bad.Fields {
		if !strings.HasPrefix(name, "content.") || !web.IsText(name) {
			return typed{}, err
		}
	}
	t, err := typedBy(c, fields)
	for _, name := range bad.Fields {
		fields.Set(name, strings.ReplaceAll(strings.ToValidUTF8(fields.Get(name), "\uFFFD"), "\x00", "\uFFFD"))
		t.wrong(name, views.Sentence("starting.unfit"))
	}
	return t, err
}

// typedBy names the form and looks at its key.
func typedBy(c echo.Context, fields url.Values) (typed, error) {
	if len(fields.Get("form_id")) > formKeyLimit {
		return typed{}, echo.NewHTTPError(http.StatusUnprocessableEntity)
	}
	path := c.Path()
	return typed{form: path[strings.LastIndex(path, "/")+1:], fields: fields}, nil
}

// about reads the operation and the form of a POST about it, before its handler. A text
// that is too long comes back with its page.
func (s *site) about(handle func(echo.Context, *operationAt, typed) error) echo.HandlerFunc {
	return s.aboutBy(sent, handle)
}

func (s *site) aboutBy(read func(echo.Context) (typed, error), handle func(echo.Context, *operationAt, typed) error) echo.HandlerFunc {
	return func(c echo.Context) error {
		p, err := s.find(c)
		if err != nil {
			return err
		}
		t, err := read(c)
		if err != nil {
			return err
		}
		if t.ofAnother(web.VisitOf(c).User.ID) {
			return web.ErrFormOfAnother
		}
		if t.old(web.VisitOf(c).Now) {
			t.wrong("", views.Sentence("settling.form_old"))
			return s.showAgain(c, p, t)
		}
		if t.tooLong() {
			return s.showAgain(c, p, t)
		}
		return handle(c, &operationAt{p, web.VisitOf(c).Actor(), c.Request().Context()}, t)
	}
}

// showAgain shows the page of a form that is to be corrected.
func (s *site) showAgain(c echo.Context, p *store.OperationPage, t typed) error {
	switch t.form {
	case "edit":
		return s.showEdit(c, http.StatusUnprocessableEntity, p, views.EditVersion, t)
	case "replace":
		return s.showEdit(c, http.StatusUnprocessableEntity, p, views.EditReplacement, t)
	case "go-on":
		return s.showRun(c, http.StatusUnprocessableEntity, p.RunID, t)
	}
	if !p.SameAs(t.revision()) { // it changed: the form may be gone from the page
		return s.showStale(c, http.StatusConflict, p, t)
	}
	return s.showOperation(c, http.StatusUnprocessableEntity, p, t)
}

// text gives a field as it goes into the record: trimmed, with Unix line ends.
func (t typed) text(name string) string {
	return strings.TrimSpace(strings.ReplaceAll(t.fields.Get(name), "\r\n", "\n"))
}

func (t typed) yes(name string) bool { return t.fields.Get(name) == "yes" }

// wrong adds what is wrong with a field.
func (t *typed) wrong(field string, s views.Say) {
	if t.errors == nil {
		t.errors = map[string]views.Say{}
	}
	t.errors[field] = s
}

// revision is what the form was shown with; 0 when it is missing or no number.
func (t typed) revision() int64 {
	n, err := strconv.ParseInt(t.val("revision"), 10, 64)
	if err != nil || n < 1 {
		return -1 // never current, so that it is refused as stale
	}
	return n
}

// shown is what a form about an operation was shown with. reason names its text field.
func (t typed) shown(id operation.ID, reason string) store.Shown {
	return store.Shown{Operation: id, Revision: t.revision(), FormID: t.val("form_id"), Said: t.said(), Reason: t.text(reason)}
}

// said is all that a form says, without its key: whoever sends the key again with
// anything else has decided otherwise.
func (t typed) said() string {
	fields := maps.Clone(t.fields)
	fields.Del("form_id")
	return t.form + "?" + fields.Encode()
}

// once names a form by its key and by all that it says, for what remembers the key alone:
// the same key with anything else is another change, and is never taken for a repetition.
func (t typed) once() string {
	key := t.val("form_id")
	if key == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(t.said()))
	return key + "." + hex.EncodeToString(sum[:8])
}

// tooLong marks comments, reasons and evidence that are longer than the record takes.
// Content has the limits of its destination instead.
func (t *typed) tooLong() bool {
	long := false
	for name := range t.fields {
		if strings.HasPrefix(name, "content") || utf8.RuneCountInString(t.text(name)) <= textLimit {
			continue
		}
		t.wrong(name, views.Sentence(views.ErrorTooLong, "Limit", textLimit))
		long = true
	}
	return long
}

// formLife is how long a form may stay open. One that is older comes back with what was
// typed, to be looked at once more.
const formLife = 24 * time.Hour

// old reports that the form was shown too long ago. A key that says no time is not ours.
func (t typed) old(now time.Time) bool {
	at := t.shownAt()
	return !at.IsZero() && strings.Contains(t.val("form_id"), ".") && now.Sub(at) > formLife
}

// mark is a short mark of a person in the key of a form that was shown to them.
func mark(id operation.UserID) string {
	sum := sha256.Sum256([]byte("form of " + id))
	return hex.EncodeToString(sum[:5])
}

// ofAnother reports that the form was shown to somebody else: they signed out, and it
// was sent from a page that had stayed open.
func (t typed) ofAnother(id operation.UserID) bool {
	parts := strings.Split(t.val("form_id"), ".")
	return len(parts) == 3 && parts[2] != mark(id)
}

// shownTo marks a form for the person to whom it is shown.
func shownTo(f views.Form, id operation.UserID) views.Form {
	f.FormID += "." + mark(id)
	return f
}

// newForm gives a form's hidden fields. Its key begins with the time at which it is
// shown: pages can say what happened since. It grants nothing.
func newForm(t typed, action string) views.Form {
	return views.Form{Action: action, FormID: strconv.FormatInt(time.Now().UnixMilli(), 36) + "." + store.NewFormID(), Errors: t.errors, FilesLost: t.lost}
}

// shownAt is when the form was shown; zero when its key does not say.
func (t typed) shownAt() time.Time {
	stamp, _, _ := strings.Cut(t.val("form_id"), ".")
	ms, err := strconv.ParseInt(stamp, 36, 64)
	if err != nil {
		return time.Time{}
	}
	return time.UnixMilli(ms)
}

// kept gives the form that waited for the sign-in, if this page is its page.
func kept(c echo.Context) (typed, bool) {
	k := web.KeptForm(c)
	if k == nil {
		return typed{}, false
	}
	return typed{form: k.Form, fields: k.Fields, lost: k.Files}, true
}

// done says what was carried out and leads on: after a POST always by a redirect.
func done(c echo.Context, to, key string, args ...string) error {
	return leave(c, views.FlashDone, to, key, args...)
}

// calm says that nothing had to be done, and leads on.
func calm(c echo.Context, to, key string, args ...string) error {
	return leave(c, views.FlashInfo, to, key, args...)
}

func leave(c echo.Context, kind views.FlashKind, to, key string, args ...string) error {
	if err := web.DropKept(c); err != nil {
		return err
	}
	if err := web.Flash(c, kind, key, args...); err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, to)
}

// refusalOf gives the refusal in an error; nil = it is another error.
func refusalOf(err error) *operation.Refusal {
	var r *operation.Refusal
	if errors.As(err, &r) {
		return r
	}
	return nil
}

// isStale reports a decision on something that changed since it was shown.
func isStale(r *operation.Refusal) bool {
	switch r.Code {
	case operation.CodeStaleRevision, operation.CodeStaleVersion, operation.CodeForbiddenMove, operation.CodeClosed:
		return true
	}
	return false
}

// invalidOf gives the store's complaint about a field as a sentence; ok is false for
// another error.
func invalidOf(err error) (field string, s views.Say, ok bool) {
	var x *store.Invalid
	if !errors.As(err, &x) {
		return "", views.Say{}, false
	}
	return x.Field, views.Invalid(x.Code, x.Limit), true
}
