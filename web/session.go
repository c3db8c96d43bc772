package web

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"holdpoint/operation"
	"holdpoint/store"

	"github.com/gorilla/sessions"
)

// sessionStore keeps gorilla's sessions in PostgreSQL. The cookie holds only a random
// token; the table holds its SHA-256, so that reading the table opens no session.
type sessionStore struct {
	store  *store.Store
	name   string
	secure bool
	idle   time.Duration
	max    time.Duration
}

func newSessionStore(c Config) *sessionStore {
	s := &sessionStore{store: c.Store, name: "holdpoint", secure: c.Secure, idle: c.SessionIdle, max: c.SessionMax}
	switch u, err := url.Parse(c.PublicURL); {
	case c.Secure:
		s.name = "__Host-holdpoint" // no other host, path or plain HTTP can set it
	case err == nil && u.Port() != "":
		s.name = "holdpoint_" + u.Port() // cookies know no ports: two copies on one machine stay apart
	}
	return s
}

// The values of a session. Those that are kept in it are strings.
const (
	valueUser  = "user"
	valueFlash = "flash"
	valueKept  = "kept"
	valueWas   = "was"  // who signed out here: a form that they send afterwards is theirs
	valueOnce  = "once" // what the next page shows, once; sealed with the token

	valueProven = "proven" // time.Time: when the person last proved who they are
	valueRotate = "rotate" // bool: the person's rights have changed, a new token is due
)

// maxToken bounds the cookie's value that is looked up.
const maxToken = 64

// ErrSessionGone is a session that was ended while it was in use.
var ErrSessionGone = errors.New("the session has ended")

// Get gives the request's session, cached for the request.
func (s *sessionStore) Get(r *http.Request, name string) (*sessions.Session, error) {
	return sessions.GetRegistry(r).Get(s, name)
}

// New loads the session that the cookie names, or makes one that is not saved yet. An
// error is the database's; a session that no longer holds is simply new.
func (s *sessionStore) New(r *http.Request, name string) (*sessions.Session, error) {
	x := sessions.NewSession(s, name)
	x.IsNew = true
	x.Options = &sessions.Options{Path: "/", HttpOnly: true, Secure: s.secure, SameSite: http.SameSiteLaxMode, MaxAge: int(s.max.Seconds())}
	cookie, err := r.Cookie(name)
	if err != nil || cookie.Value == "" || len(cookie.Value) > maxToken {
		return x, nil
	}
	row, err := s.store.LoadSession(r.Context(), hashToken(cookie.Value))
	if errors.Is(err, store.ErrNotFound) {
		return x, nil
	}
	if err != nil {
		return x, fmt.Errorf("session: %w", err)
	}
	values := map[string]string{}
	if err := json.Unmarshal(row.Data, &values); err != nil {
		return x, nil
	}
	for k, v := range values {
		x.Values[k] = v
	}
	x.Values[valueUser], x.Values[valuePending] = string(row.UserID), string(row.Pending)
	x.Values[valueProven], x.Values[valueRotate] = row.AuthenticatedAt, row.Rotate
	x.ID, x.IsNew = cookie.Value, false
	if !row.Replaced && s.needsRenewal(row) && !isLive(r) {
		return x, s.store.SaveSession(r.Context(), s.row(r, x, row.CreatedAt))
	}
	return x, nil
}

// needsRenewal reports that a session in use would end soon. Renewing is rare, so that
// looking at pages seldom writes.
func (s *sessionStore) needsRenewal(row store.Session) bool {
	end := time.Now().Add(s.idle)
	if last := row.CreatedAt.Add(s.max); end.After(last) {
		end = last
	}
	return end.Sub(row.Expires) > s.idle/4
}

// Save writes a session and, for a new one, its cookie. ErrSessionGone is one that was
// ended meanwhile.
func (s *sessionStore) Save(r *http.Request, w http.ResponseWriter, x *sessions.Session) error {
	fresh := x.ID == ""
	if fresh {
		x.ID = rand.Text() // 130 bits
	}
	err := s.store.SaveSession(r.Context(), s.row(r, x, time.Now()))
	if errors.Is(err, store.ErrNotFound) {
		return ErrSessionGone
	}
	if err != nil {
		return fmt.Errorf("session: %w", err)
	}
	if fresh {
		http.SetCookie(w, sessions.NewCookie(x.Name(), x.ID, x.Options))
		x.IsNew = false
	}
	return nil
}

func (s *sessionStore) row(r *http.Request, x *sessions.Session, created time.Time) store.Session {
	values := map[string]string{}
	for k, v := range x.Values {
		name, _ := k.(string)
		if text, ok := v.(string); ok && name != valueUser && name != valuePending {
			values[name] = text
		}
	}
	data, err := json.Marshal(values)
	if err != nil {
		panic(err) // a map of strings
	}
	end := time.Now().Add(s.idle)
	if last := created.Add(s.max); end.After(last) {
		end = last
	}
	user, _ := x.Values[valueUser].(string)
	pending, _ := x.Values[valuePending].(string)
	return store.Session{TokenHash: hashToken(x.ID), UserID: operation.UserID(user), Pending: operation.UserID(pending), Data: data, IP: remoteIP(r), Agent: r.UserAgent(), Expires: end}
}

func hashToken(token string) []byte {
	h := sha256.Sum256([]byte(token))
	return h[:]
}
