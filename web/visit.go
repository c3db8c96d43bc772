package web

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"slices"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/views"
	"holdpoint/views/text"

	"github.com/gorilla/sessions"
	"github.com/labstack/echo/v4"
)

// Visit is one request to a page: the session behind it and who looks.
type Visit struct {
	// User is the signed-in person; nil = nobody. Rights are read again in the
	// transaction that decides.
	User *store.User
	// Pending has given the first factor in this session and owes the second; Enrolling
	// must set a second factor up before anything else. User is nil for both.
	Pending, Enrolling *store.User
	// Now is the moment at which the page is made.
	Now time.Time

	session *sessions.Session
	printer *text.Printer
	mark    mark
}

func visitOf(c echo.Context) *Visit {
	v, _ := c.Get(visitKey).(*Visit)
	return v
}

// VisitOf gives the request's visit. It is there on every page.
func VisitOf(c echo.Context) *Visit { return c.Get(visitKey).(*Visit) }

// Actor is the signed-in person as the store wants to know them, with their session.
func (v *Visit) Actor() store.Actor {
	a := v.User.Actor("web")
	a.Session = v.TokenHash()
	return a
}

// Printer says things in the reader's language and time zone.
func (v *Visit) Printer() *text.Printer { return v.printer }

// TokenHash names the session in use, so that others can be ended without it.
func (v *Visit) TokenHash() []byte { return hashToken(v.session.ID) }

// Has reports whether the person holds a role for some flow.
func (v *Visit) Has(roles ...operation.Role) bool {
	if v.User == nil || !v.User.Active {
		return false
	}
	return slices.ContainsFunc(v.User.Roles, func(g store.RoleGrant) bool { return slices.Contains(roles, g.Role) })
}

// visit loads session, person and language.
func visit(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		f, r := frameOf(c), c.Request()
		r = r.WithContext(withIP(r.Context(), c.RealIP()))
		c.SetRequest(r)
		x, err := f.sessions.Get(r, f.sessions.name)
		if err != nil {
			return err
		}
		v := &Visit{Now: time.Now(), session: x}
		if id, _ := x.Values[valueUser].(string); id != "" {
			u, err := f.Store.FindUser(r.Context(), operation.UserID(id))
			if err != nil && !errors.Is(err, store.ErrNotFound) {
				return err
			}
			if err == nil && u.Active {
				v.User = &u
			}
		}
		if err := f.rotate(c, v); err != nil {
			return err
		}
		if err := f.settle(r.Context(), v); err != nil {
			return err
		}
		v.printer = printerFor(r, v)
		ctx := store.WatchCommits(r.Context())
		if r.Method == http.MethodGet && r.URL.Path != PathLive {
			ctx = store.OneLook(ctx)
		}
		c.SetRequest(r.WithContext(text.With(ctx, v.printer)))
		c.Set(visitKey, v)
		return next(c)
	}
}

// printerFor chooses language and time zone: the person's own, else the browser's
// language and UTC.
func printerFor(r *http.Request, v *Visit) *text.Printer {
	locale, zone := "", time.UTC
	if u := v.known(); u != nil {
		locale = u.Locale
		if z, err := time.LoadLocation(u.Zone); err == nil && u.Zone != "" {
			zone = z
		}
	}
	return text.New(text.Match(locale, r.Header.Get("Accept-Language")), zone, v.Now)
}

// SignIn starts a new session for a person and records how they proved who they are: the
// old token opens nothing any more. What the old session kept of theirs (a form, a
// message) goes with them; a form of somebody else is forgotten.
func SignIn(c echo.Context, u store.User, how store.SignInKind) error {
	v, f := VisitOf(c), frameOf(c)
	old := v.session.ID
	v.session.ID = ""
	v.session.Values[valueUser] = string(u.ID)
	if k := v.kept(); k == nil || k.Owner != u.ID {
		delete(v.session.Values, valueKept)
	}
	delete(v.session.Values, valueWas)
	delete(v.session.Values, valueOnce)
	v.begun()
	if err := f.sessions.Save(c.Request(), c.Response(), v.session); err != nil {
		return err
	}
	v.User = &u
	v.session.Values[valueProven] = v.Now
	if err := f.Store.NoteSignIn(c.Request().Context(), u, how, c.RealIP(), c.Request().UserAgent()); err != nil {
		return err
	}
	if old == "" {
		return nil
	}
	return f.Store.RevokeSession(c.Request().Context(), hashToken(old))
}

// SignOut ends the session and takes its cookie away.
func SignOut(c echo.Context) error {
	v, f := VisitOf(c), frameOf(c)
	if v.session.ID == "" {
		return nil
	}
	if err := f.Store.RevokeSession(c.Request().Context(), hashToken(v.session.ID)); err != nil {
		return err
	}
	f.Store.Hint() // their open pages end
	was, _ := v.session.Values[valueUser].(string)
	v.User, v.Enrolling, v.Pending, v.session.ID, v.session.Values = nil, nil, nil, "", map[any]any{valueWas: was}
	gone := *v.session.Options
	gone.MaxAge = -1
	http.SetCookie(c.Response(), sessions.NewCookie(v.session.Name(), "", &gone))
	return nil
}

func (v *Visit) save(c echo.Context) error {
	return frameOf(c).sessions.Save(c.Request(), c.Response(), v.session)
}

// kept flash messages, as they stand in the session.
type flash struct {
	Kind views.FlashKind
	Key  string
	Args []string
	Next *views.Link `json:",omitempty"`
}

// maxFlash bounds how many messages wait to be shown.
const maxFlash = 4

// Flash keeps a message about what was done for the next page. Its parameters must be
// texts, names and values in turn. The same message twice (a double click) is one.
func Flash(c echo.Context, kind views.FlashKind, key string, args ...string) error {
	return FlashNext(c, kind, nil, key, args...)
}

// FlashNext is Flash with a link to what comes next; nil = none is offered.
func FlashNext(c echo.Context, kind views.FlashKind, next *views.Link, key string, args ...string) error {
	v := VisitOf(c)
	list := v.flashes()
	m := flash{Kind: kind, Key: key, Args: args, Next: next}
	if slices.ContainsFunc(list, func(o flash) bool { return o.Key == m.Key && slices.Equal(o.Args, m.Args) }) {
		return nil
	}
	if len(list) >= maxFlash {
		list = list[1:]
	}
	raw, err := json.Marshal(append(list, m))
	if err != nil {
		return err
	}
	v.session.Values[valueFlash] = string(raw)
	return v.save(c)
}

func (v *Visit) flashes() (list []flash) {
	raw, _ := v.session.Values[valueFlash].(string)
	if raw == "" {
		return nil
	}
	_ = json.Unmarshal([]byte(raw), &list) // what cannot be read is not shown
	return list
}

// takeFlash gives the messages that wait, and forgets them.
func (v *Visit) takeFlash(c echo.Context) []views.Flash {
	list := v.flashes()
	if len(list) == 0 {
		return nil
	}
	delete(v.session.Values, valueFlash)
	if err := v.save(c); err != nil {
		frameOf(c).Log.Warn("messages stay in the session", "id", RequestID(c), "err", err)
	}
	out := make([]views.Flash, len(list))
	for i, m := range list {
		args := make([]any, len(m.Args))
		for k, a := range m.Args {
			args[k] = a
		}
		out[i] = views.Flash{Kind: m.Kind, Say: views.Sentence(m.Key, args...), Next: m.Next}
	}
	return out
}

type ipKey struct{}

func withIP(ctx context.Context, ip string) context.Context {
	return context.WithValue(ctx, ipKey{}, ip)
}

// remoteIP is the caller's address as the trusted proxies tell it.
func remoteIP(r *http.Request) string {
	if ip, ok := r.Context().Value(ipKey{}).(string); ok {
		return ip
	}
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}
