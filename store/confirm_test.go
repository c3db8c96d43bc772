package store_test

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"
)

// age makes a session's proof of its person older.
func age(t *testing.T, f *storetest.Fixture, session []byte, by string) {
	t.Helper()
	_, err := f.Owner.Exec(`UPDATE sessions SET authenticated_at = authenticated_at - CAST($2 AS interval) WHERE token_hash = $1`, session, by)
	ok(t, err)
}

// TestConfirm asks for a fresh proof of the person in the transaction that decides about
// a re-execution, and before access is changed.
func TestConfirm(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	quick(t, f)
	s, ctx := f.Store, t.Context()
	st := &stand{f: f, t: t, id: coupon(t, f)()}
	ways[operation.ReexecutionRequested](st)
	ask := func(a store.Actor) error { return s.DecideReexecution(ctx, a, st.shown("one more"), true) }
	confirm := func(err error) {
		t.Helper()
		if !errors.Is(err, store.ErrConfirm) {
			t.Errorf("err = %v, want ErrConfirm", err)
		}
	}
	before := f.Count(t, "history")
	confirm(ask(f.As("ops2"))) // no session at all
	second := f.Fresh(t, "ops2")
	age(t, f, second.Session, "11 minutes")
	confirm(ask(second))
	stolen := f.As("ops2")
	stolen.Session = f.Fresh(t, "lead").Session // another person's session proves nothing
	confirm(ask(stolen))
	ended := f.Fresh(t, "ops2")
	ok(t, s.RevokeSession(ctx, ended.Session))
	confirm(ask(ended))
	if f.State(t, st.id) != operation.ReexecutionRequested || f.Count(t, "history") != before {
		t.Error("something was decided")
	}
	refused(t, ask(f.As("lead")), operation.CodeNotEntitled) // who may not is not asked to confirm

	t.Run("ANewTokenGoesOnAsProven", func(t *testing.T) {
		next := session(f, "ops2", 91).TokenHash
		ok(t, s.ReplaceSession(ctx, second.Session, next, true))
		gone(t, s.ReplaceSession(ctx, second.Session, session(f, "ops2", 92).TokenHash, true))
		now := f.As("ops2")
		now.Session = next
		ok(t, ask(now))
	})
	t.Run("BeforeAccessIsChanged", func(t *testing.T) {
		admin := f.Fresh(t, "admin")
		ok(t, s.GrantRole(ctx, admin, f.Users["author"], store.RoleGrant{Role: operation.RoleAuditor}, "reads"))
		age(t, f, admin.Session, "11 minutes")
		confirm(s.RevokeRole(ctx, admin, f.Users["author"], store.RoleGrant{Role: operation.RoleAuditor}, ""))
		confirm(s.DisableUser(ctx, admin, f.Users["author"], ""))
		_, err := s.ResetPassword(ctx, admin, f.Users["author"], "")
		confirm(err)
		_, err = s.Invite(ctx, admin, store.NewUser{Email: "x@example.test", Name: "X"}, "joins")
		confirm(err)
		_, _, err = s.AddToken(ctx, admin, store.NewToken{Name: "x", Scopes: []string{store.ScopeRead}})
		confirm(err)
	})
}

// TestReplacedSession goes on under a new token after a change of rights; the old one
// answers the requests that are under way, and no longer.
func TestReplacedSession(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	s, ctx := f.Store, t.Context()
	x, next := session(f, "lead", 71), session(f, "lead", 72)
	ok(t, s.SaveSession(ctx, x))
	ok(t, s.GrantRole(ctx, f.As("admin"), f.Users["lead"], store.RoleGrant{Role: operation.RoleAuthor}, ""))
	got, err := s.LoadSession(ctx, x.TokenHash)
	ok(t, err)
	if !got.Rotate {
		t.Error("a change of rights asks for no new token")
	}
	ok(t, s.ReplaceSession(ctx, x.TokenHash, next.TokenHash, false))
	old, err := s.LoadSession(ctx, x.TokenHash)
	ok(t, err)
	now, err := s.LoadSession(ctx, next.TokenHash)
	ok(t, err)
	if !old.Replaced || now.Replaced || now.Rotate || !now.AuthenticatedAt.Equal(got.AuthenticatedAt) || !now.CreatedAt.Equal(got.CreatedAt) || string(now.Data) != string(got.Data) {
		t.Errorf("old %+v, new %+v", old, now)
	}
	if list, err := s.ListSessions(ctx, f.Users["lead"]); err != nil || len(list) != 1 {
		t.Errorf("%d sessions are listed, %v", len(list), err)
	}
	_, err = f.Owner.Exec(`UPDATE sessions SET revoked_at = revoked_at - interval '21 seconds' WHERE token_hash = $1`, x.TokenHash)
	ok(t, err)
	_, err = s.LoadSession(ctx, x.TokenHash)
	gone(t, err)

	t.Run("EndsWithTheOthers", func(t *testing.T) {
		third := session(f, "lead", 73)
		ok(t, s.ReplaceSession(ctx, next.TokenHash, third.TokenHash, false))
		_, err := s.RevokeUserSessions(ctx, f.As("lead"), f.Users["lead"], nil)
		ok(t, err)
		for _, y := range []store.Session{next, third} {
			_, err := s.LoadSession(ctx, y.TokenHash)
			gone(t, err)
		}
	})
}

func TestEndSession(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	s, ctx := f.Store, t.Context()
	mine, theirs := session(f, "lead", 81), session(f, "second", 82)
	ok(t, s.SaveSession(ctx, mine))
	ok(t, s.SaveSession(ctx, theirs))
	gone(t, s.EndSession(ctx, f.As("lead"), theirs.ID()))
	gone(t, s.EndSession(ctx, f.As("lead"), ""))
	ok(t, s.EndSession(ctx, f.As("lead"), mine.ID()))
	_, err := s.LoadSession(ctx, mine.TokenHash)
	gone(t, err)
	_, err = s.LoadSession(ctx, theirs.TokenHash)
	ok(t, err)
	whole(t, s, operation.SubjectUser, string(f.Users["lead"]))
}

func TestSignIns(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	s, ctx := f.Store, t.Context()
	lead, err := s.FindUser(ctx, f.Users["lead"])
	ok(t, err)
	ok(t, s.NoteFailedSignIn(ctx, "LEAD@example.test", store.ByPassword, "192.0.2.1", "curl\x00/8"))
	ok(t, s.NoteSignIn(ctx, lead, store.ByPasskey, "192.0.2.2", "Firefox"))
	ok(t, s.NoteFailedSignIn(ctx, "nobody@example.test", store.ByPassword, "192.0.2.3", ""))
	ok(t, s.NoteFailedSignIn(ctx, "no address", store.ByPassword, "192.0.2.3", ""))
	list, err := s.ListSignIns(ctx, lead, 10)
	ok(t, err)
	if len(list) != 2 || !list[0].OK || list[0].How != store.ByPasskey || list[1].OK || list[1].IP != "192.0.2.1" {
		t.Errorf("sign-ins %+v", list)
	}
	if f.Count(t, "sign_ins s WHERE s::text LIKE '%example.test%'") != 0 {
		t.Error("the table names accounts")
	}
	_, err = f.Owner.Exec(`UPDATE sign_ins SET at = at - interval '91 days' WHERE user_id IS NULL`)
	ok(t, err)
	if n, err := s.DeleteOldSignIns(ctx); err != nil || n != 3 {
		t.Errorf("deleted %d, %v", n, err)
	}
}

func TestTry(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	s, ctx := f.Store, t.Context()
	asked := 0
	try := func(account string, match bool, err error) error {
		return s.Try(ctx, account, "192.0.2.1", func() (bool, error) { asked++; return match, err })
	}
	for range 5 {
		if err := try("factor:usr_1", false, nil); !errors.Is(err, store.ErrBadLogin) {
			t.Errorf("err = %v", err)
		}
	}
	if _, yes := limited(try("factor:usr_1", true, nil)); !yes || asked != 5 {
		t.Errorf("limited: %v, asked %d times", yes, asked)
	}
	ok(t, try("factor:usr_2", true, nil)) // each account and kind counts alone
	failed := errors.New("no answer")
	for range 9 { // what could not be checked is no guess
		if err := try("factor:usr_3", false, failed); !errors.Is(err, failed) {
			t.Fatalf("err = %v", err)
		}
	}
	ok(t, try("factor:usr_3", true, nil))
	if f.Count(t, "login_counters WHERE key LIKE '%usr_%'") != 0 {
		t.Error("the counters name an account")
	}
}

func TestLinksAreGuessedSlowly(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	s, ctx := f.Store, t.Context()
	for i := range 31 {
		_, err := s.SetPasswordFrom(ctx, "guess", password, "192.0.2.1")
		if _, yes := limited(err); yes != (i >= 30) {
			t.Fatalf("guess %d: %v", i, err)
		}
	}
	link, err := s.ResetPassword(ctx, f.As("admin"), f.Users["lead"], "")
	ok(t, err)
	if _, err := s.SetPasswordFrom(ctx, link.Secret, password, "192.0.2.77"); err == nil {
		t.Error("the network is not limited")
	}
	_, err = s.SetPasswordFrom(ctx, link.Secret, password, "198.51.100.1")
	ok(t, err)
	if f.Count(t, "login_counters WHERE key LIKE 'link %' AND failures > 0") != 1 {
		t.Error("a right link was counted")
	}
}

// TestUnknownAccountTakesAsLong compares how long a wrong password takes for an account
// that is there, and for one that is not.
func TestUnknownAccountTakesAsLong(t *testing.T) {
	f := storetest.NewFixture(t)
	f.SetPassword(t, "lead", password)
	s, ctx := f.Store, t.Context()
	best := func(email string) time.Duration {
		quickest := time.Hour
		for range 5 {
			_, err := f.Owner.Exec(`DELETE FROM login_counters`)
			ok(t, err)
			began := time.Now()
			if _, err := s.VerifyPassword(ctx, email, "wrong wrong wrong", "192.0.2.1"); !errors.Is(err, store.ErrBadLogin) {
				t.Fatalf("err = %v", err)
			}
			quickest = min(quickest, time.Since(began))
		}
		return quickest
	}
	best("nobody@example.test") // makes the hash of nobody's password
	known, unknown := best(storetest.Email("lead")), best("nobody@example.test")
	if unknown < known/2 || unknown > 2*known {
		t.Errorf("known %v, unknown %v", known, unknown)
	}
}

// TestBusy answers that too many passwords are being hashed, rather than to wait for ever.
func TestBusy(t *testing.T) {
	t.Parallel()
	f := storetest.NewClosedFixture(t)
	s, err := store.Open(t.Context(), store.Config{URL: f.AppURL, Secret: storetest.Secret, HashWait: time.Microsecond})
	ok(t, err)
	t.Cleanup(func() { s.Close() })
	var busy, wrong atomic.Int32
	for range 20 { // until some of them met
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				_, err := s.VerifyPassword(t.Context(), string(rune('a'+i))+"@example.test", "wrong wrong wrong", "")
				switch {
				case errors.Is(err, store.ErrBusy):
					busy.Add(1)
				case errors.Is(err, store.ErrBadLogin):
					wrong.Add(1)
				}
			})
		}
		wg.Wait()
		if busy.Load() > 0 && wrong.Load() > 0 {
			break
		}
	}
	if busy.Load() == 0 || wrong.Load() == 0 {
		t.Errorf("busy %d, wrong %d", busy.Load(), wrong.Load())
	}
	var counted int32
	ok(t, f.Owner.QueryRow(`SELECT COALESCE(sum(failures), 0) FROM login_counters WHERE key LIKE 'account:%'`).Scan(&counted))
	if counted != wrong.Load() {
		t.Errorf("%d tries are counted, %d were wrong", counted, wrong.Load())
	}
}

func TestPasswordRules(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	s, ctx := f.Store, t.Context()
	link, err := s.ResetPassword(ctx, f.As("admin"), f.Users["lead"], "")
	ok(t, err)
	for bad, code := range map[string]string{
		"Password2026!": "password_common", "qwertyuiop123": "password_common", "aaaaaaaaaaaaaa": "password_common", "123456789012": "password_common",
		"P@$$wordP@$$word": "password_common", "Summer-2026-Summer": "password_common", "elevenchars": "password_short",
		"lead@example.test": "password_own", "Lea Lead Lea Lead": "password_own", "LeaLead-1987-03": "password_own", "Example-Lead-99": "password_own",
	} {
		_, err := s.SetPassword(ctx, link.Secret, bad)
		var i *store.Invalid
		if !errors.As(err, &i) || i.Code != code {
			t.Errorf("%q: err = %v, want %s", bad, err, code)
		}
	}
	for _, good := range []string{"violet kettle moon", "zażółć gęślą jaźń", "紫のやかんと月の朝の音", "Lea's kettle sings at noon"} {
		_, err := s.SetPassword(ctx, link.Secret, good)
		if err != nil && len([]rune(good)) >= store.MinPassword {
			t.Errorf("%q: %v", good, err)
		}
		link, err = s.ResetPassword(ctx, f.As("admin"), f.Users["lead"], "")
		ok(t, err)
	}
}
