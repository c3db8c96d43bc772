package web

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"holdpoint/operation"
	"holdpoint/store"

	"github.com/labstack/echo/v4"
)

const (
	valuePending = "pending" // operation.UserID of who owes the second factor; a column of its own
	valueOwed    = "owed"    // Unix time at which the first factor was given
	valueFirst   = "first"   // store.SignInKind of the first factor
	valueStrong  = "strong"  // the provider has asked for a second factor itself
	valueGlass   = "glass"   // signed in past the provider
)

const (
	// pendingLife is how long the second factor may follow the first.
	pendingLife = 10 * time.Minute
	// startedPerHour is how many sessions are begun for one address prefix in an hour
	// for somebody who has not signed in.
	startedPerHour = 600
)

// mark is what is known of a sign-in besides its kind.
type mark struct{ strong, glass bool }

// Strong says that the sign-in that follows needs no second factor of ours: the provider
// has asked for one.
func Strong(c echo.Context) { VisitOf(c).mark.strong = true }

// BreakGlass says that the sign-in that follows goes past the provider: every page of its
// session says so.
func BreakGlass(c echo.Context) { VisitOf(c).mark.glass = true }

// settle finds out whether the session's person may do anything yet: whoever owes the
// second factor is Pending, whoever must set one up first is Enrolling, and in neither
// case is there a User.
func (f *frame) settle(ctx context.Context, v *Visit) error {
	if id, _ := v.session.Values[valuePending].(string); id != "" && v.owedSince() {
		u, err := f.Store.FindUser(ctx, operation.UserID(id))
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		if err == nil && u.Active {
			v.Pending = &u
		}
	}
	if u := v.User; u != nil && u.NeedsFactor && !u.HasFactor && v.session.Values[valueStrong] != "yes" {
		v.User, v.Enrolling = nil, u
	}
	return nil
}

func (v *Visit) owedSince() bool {
	raw, _ := v.session.Values[valueOwed].(string)
	at, err := strconv.ParseInt(raw, 10, 64)
	return err == nil && v.Now.Sub(time.Unix(at, 0)) <= pendingLife
}

// known is whoever the session knows, whatever they may do.
func (v *Visit) known() *store.User {
	for _, u := range []*store.User{v.User, v.Enrolling, v.Pending} {
		if u != nil {
			return u
		}
	}
	return nil
}

// Self is who sets up their own second factors: the signed-in person, or one who must do
// so before anything else. nil = nobody.
func (v *Visit) Self() *store.User {
	if v.User != nil {
		return v.User
	}
	return v.Enrolling
}

// SelfActor is Self as the store wants to know them, with their session.
func (v *Visit) SelfActor() store.Actor {
	a := v.Self().Actor("web")
	a.Session = v.TokenHash()
	return a
}

// First says how the first factor was given, while the second is owed.
func (v *Visit) First() store.SignInKind {
	how, _ := v.session.Values[valueFirst].(string)
	return store.SignInKind(how)
}

// IsBreakGlass reports a session that was signed in past the provider.
func (v *Visit) IsBreakGlass() bool { return v.session.Values[valueGlass] == "yes" }

// Owe starts a new session in which a person has given the first factor: it reaches
// nothing but the page that asks for the second. What the old session kept goes with it.
func Owe(c echo.Context, u store.User, how store.SignInKind) error {
	v, f := VisitOf(c), frameOf(c)
	old := v.session.ID
	v.session.ID = ""
	v.session.Values[valueUser], v.session.Values[valuePending] = "", string(u.ID)
	v.session.Values[valueOwed], v.session.Values[valueFirst] = strconv.FormatInt(v.Now.Unix(), 10), string(how)
	delete(v.session.Values, valueOnce)
	v.keepMark()
	if err := f.sessions.Save(c.Request(), c.Response(), v.session); err != nil {
		return err
	}
	v.User, v.Enrolling, v.Pending = nil, nil, &u
	if old == "" {
		return nil
	}
	return f.Store.RevokeSession(c.Request().Context(), hashToken(old))
}

// begun is called for a session that is about to be somebody's: nothing of an earlier
// sign-in in this browser is left in it.
func (v *Visit) begun() {
	if v.Pending != nil { // its second factor has come: it stays what it was
		v.mark.glass = v.mark.glass || v.IsBreakGlass()
	}
	for _, name := range []string{valuePending, valueOwed, valueFirst} {
		delete(v.session.Values, name)
	}
	v.Pending, v.Enrolling = nil, nil
	v.keepMark()
}

func (v *Visit) keepMark() {
	delete(v.session.Values, valueStrong)
	delete(v.session.Values, valueGlass)
	if v.mark.strong {
		v.session.Values[valueStrong] = "yes"
	}
	if v.mark.glass {
		v.session.Values[valueGlass] = "yes"
	}
}

// Challenge keeps on the server what this session is asked, for a while and for one
// answer. Somebody who has no session yet gets one; how many is bounded for each network.
func Challenge(c echo.Context, kind string, data []byte, life time.Duration) error {
	v, f := VisitOf(c), frameOf(c)
	if v.session.ID == "" {
		if !f.starting.allow(c.RealIP(), v.Now) {
			return echo.NewHTTPError(http.StatusTooManyRequests)
		}
		if err := v.save(c); err != nil {
			return err
		}
	}
	return f.Store.PutChallenge(c.Request().Context(), v.TokenHash(), kind, data, life)
}

// TakeChallenge gives what this session was asked, once; store.ErrNotFound when it was
// asked nothing, too long ago, or has answered.
func TakeChallenge(c echo.Context, kind string) ([]byte, error) {
	v := VisitOf(c)
	if v.session.ID == "" {
		return nil, store.ErrNotFound
	}
	return frameOf(c).Store.TakeChallenge(c.Request().Context(), v.TokenHash(), kind)
}
