package store_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"
)

const password = "correct horse battery"

func TestPassword(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	s, ctx := f.Store, t.Context()

	t.Run("ALinkSetsAPasswordOnce", func(t *testing.T) {
		link, err := s.ResetPassword(ctx, f.As("admin"), f.Users["lead"], "new here")
		ok(t, err)
		if left := time.Until(link.Expires); left < 23*time.Hour || left > 25*time.Hour {
			t.Errorf("the link holds for %v", left)
		}
		u, err := s.FindPasswordLink(ctx, link.Secret)
		ok(t, err)
		if u.ID != f.Users["lead"] {
			t.Errorf("the link is of %s", u.ID)
		}
		_, err = s.SetPassword(ctx, link.Secret, "short")
		invalid(t, err, "password_short")
		_, err = s.SetPassword(ctx, link.Secret, strings.Repeat("x", 300))
		invalid(t, err, "password_long")
		// two browsers use the link at once: one of them wins
		var set atomic.Int32
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				if _, err := s.SetPassword(ctx, link.Secret, password); err == nil {
					set.Add(1)
				} else {
					gone(t, err)
				}
			})
		}
		wg.Wait()
		if set.Load() != 1 {
			t.Errorf("the link was used %d times", set.Load())
		}
		_, err = s.FindPasswordLink(ctx, link.Secret)
		gone(t, err)
		if f.Count(t, "password_links WHERE token_hash = $1 OR encode(token_hash, 'escape') = $2", []byte(link.Secret), link.Secret) != 0 {
			t.Error("the link's secret is stored")
		}
	})
	t.Run("SignsInWithItInAnyCaseOfTheAddress", func(t *testing.T) {
		u, err := s.VerifyPassword(ctx, "LEAD@Example.test", password, "192.0.2.1")
		ok(t, err)
		if u.ID != f.Users["lead"] || !u.HasPassword {
			t.Errorf("signed in %+v", u)
		}
		_, err = s.VerifyPassword(ctx, "lead@example.test", password+"x", "192.0.2.1")
		if !errors.Is(err, store.ErrBadLogin) {
			t.Errorf("err = %v", err)
		}
	})
	t.Run("ALaterLinkVoidsTheEarlier", func(t *testing.T) {
		first, err := s.ResetPassword(ctx, f.As("admin"), f.Users["second"], "")
		ok(t, err)
		_, err = s.ResetPassword(ctx, f.As("admin"), f.Users["second"], "")
		ok(t, err)
		_, err = s.SetPassword(ctx, first.Secret, password)
		gone(t, err)
	})
	t.Run("AnOldLinkIsGone", func(t *testing.T) {
		link, err := s.ResetPassword(ctx, f.As("admin"), f.Users["second"], "")
		ok(t, err)
		_, err = f.Owner.Exec(`UPDATE password_links SET expires_at = clock_timestamp() - interval '1 second' WHERE used_at IS NULL`)
		ok(t, err)
		_, err = s.SetPassword(ctx, link.Secret, password)
		gone(t, err)
	})
	t.Run("ADisabledPersonsLinkIsGone", func(t *testing.T) {
		link, err := s.ResetPassword(ctx, f.As("admin"), f.Users["second"], "")
		ok(t, err)
		ok(t, s.DisableUser(ctx, f.As("admin"), f.Users["second"], ""))
		_, err = s.SetPassword(ctx, link.Secret, password)
		gone(t, err)
		ok(t, s.EnableUser(ctx, f.As("admin"), f.Users["second"], ""))
		_, err = s.SetPassword(ctx, link.Secret, password) // nor does it come back
		gone(t, err)
	})
	t.Run("AChangedPasswordEndsTheOtherSessions", func(t *testing.T) {
		mine, other := session(f, "lead", 1), session(f, "lead", 2)
		ok(t, s.SaveSession(ctx, mine))
		ok(t, s.SaveSession(ctx, other))
		err := s.ChangePassword(ctx, f.As("lead"), "wrong wrong wrong", "another good one", "192.0.2.1", mine.TokenHash)
		if !errors.Is(err, store.ErrBadLogin) {
			t.Errorf("err = %v", err)
		}
		ok(t, s.ChangePassword(ctx, f.As("lead"), password, "another good one", "192.0.2.1", mine.TokenHash))
		_, err = s.LoadSession(ctx, mine.TokenHash)
		ok(t, err)
		_, err = s.LoadSession(ctx, other.TokenHash)
		gone(t, err)
	})
	t.Run("DisabledPeopleDoNotSignIn", func(t *testing.T) {
		f.SetPassword(t, "ops", password)
		ok(t, s.DisableUser(ctx, f.As("admin"), f.Users["ops"], ""))
		_, err := s.VerifyPassword(ctx, storetest.Email("ops"), password, "192.0.2.9")
		if !errors.Is(err, store.ErrBadLogin) {
			t.Errorf("err = %v", err)
		}
	})
	whole(t, s, operation.SubjectUser, string(f.Users["lead"]))
}

// limited reports whether err is a limit, and until when.
func limited(err error) (time.Time, bool) {
	var l *store.LoginLimited
	if errors.As(err, &l) {
		return l.Until, true
	}
	return time.Time{}, false
}

func TestLoginLimits(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	f.SetPassword(t, "lead", password)
	ctx := t.Context()
	// two processes, as behind a balancer
	stores := []*store.Store{f.Store, f.Open(t, f.AppURL)}
	try := func(n int, email, pass, ip string) error {
		_, err := stores[n%2].VerifyPassword(ctx, email, pass, ip)
		return err
	}
	back := func(by string) {
		t.Helper()
		_, err := f.Owner.Exec(`UPDATE login_counters SET window_start = window_start - CAST($1 AS interval)`, by)
		ok(t, err)
	}

	t.Run("OfAnAccountOverAllProcesses", func(t *testing.T) {
		// parallel guesses count before the password is looked at
		var refusedAt atomic.Int32
		var wg sync.WaitGroup
		for i := range 10 {
			wg.Go(func() {
				if _, yes := limited(try(i, "lead@example.test", "wrong wrong wrong", "192.0.2."+string(rune('0'+i)))); yes {
					refusedAt.Add(1)
				}
			})
		}
		wg.Wait()
		if refusedAt.Load() < 5 {
			t.Errorf("only %d of 10 guesses were refused", refusedAt.Load())
		}
		_, err := f.Owner.Exec(`UPDATE login_counters SET failures = 30, window_start = clock_timestamp() WHERE key LIKE 'account:%'`)
		ok(t, err)
		// the right password waits too, in any case of the address, from anywhere
		until, yes := limited(try(0, "LEAD@example.test", password, "198.51.100.1"))
		if !yes || time.Until(until) > 6*time.Minute {
			t.Errorf("limited: %v until %v", yes, until)
		}
		if again, yes := limited(try(1, "lead@example.test", password, "198.51.100.1")); !yes || !again.Equal(until) {
			t.Errorf("a refused try moved the end from %v to %v", until, again)
		}
		back("6 minutes")
		ok(t, try(0, "lead@example.test", password, "198.51.100.1"))
		ok(t, try(1, "lead@example.test", password, "198.51.100.1")) // forgotten after the right one
	})
	t.Run("OfAnUnknownAccountLookTheSame", func(t *testing.T) {
		for i := range 5 {
			if err := try(i, "nobody@example.test", password, "203.0.113.1"); !errors.Is(err, store.ErrBadLogin) {
				t.Errorf("err = %v", err)
			}
		}
		if _, yes := limited(try(0, "nobody@example.test", password, "203.0.113.1")); !yes {
			t.Error("guesses at an unknown account are not limited")
		}
		if f.Count(t, "login_counters WHERE key LIKE '%nobody%'") != 0 {
			t.Error("the counters name an account")
		}
	})
	t.Run("OfANetwork", func(t *testing.T) {
		_, err := f.Owner.Exec(`INSERT INTO login_counters (key, failures, window_start) VALUES ('address:2001:db8:1:2::/64', 40, clock_timestamp())`)
		ok(t, err)
		until, yes := limited(try(0, "lead@example.test", password, "2001:db8:1:2:aaaa::7"))
		if !yes {
			t.Error("another address of the network is not limited")
		}
		if wait := time.Until(until); wait > 31*time.Second { // others' failures never keep anybody out for long
			t.Errorf("the network waits for %v, want at most 30 s", wait)
		}
		ok(t, try(0, "lead@example.test", password, "2001:db8:1:3::7"))
		back("2 hours")
		ok(t, try(1, "lead@example.test", password, "2001:db8:1:2:bbbb::8"))
	})
	t.Run("AreTidiedUp", func(t *testing.T) {
		back("3 hours")
		n, err := f.Store.DeleteOldLoginCounters(ctx)
		ok(t, err)
		if n == 0 || f.Count(t, "login_counters") != 0 {
			t.Errorf("%d deleted", n)
		}
	})
}

func TestPasswordHashing(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	f.SetPassword(t, "lead", password)
	var stored string
	ok(t, f.Owner.QueryRow(`SELECT password_hash FROM users WHERE email = 'lead@example.test'`).Scan(&stored))
	if !strings.HasPrefix(stored, "$argon2id$v=19$m=19456,t=2,p=1$") {
		t.Errorf("stored as %s", stored)
	}
	// the cap on concurrent hashes gives way when the one who waits is gone
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := f.Store.VerifyPassword(ctx, storetest.Email("lead"), password, ""); err == nil {
		t.Error("a cancelled sign-in was carried out")
	}
	// composed and decomposed characters are one password
	f.SetPassword(t, "second", "z\u0301le z\u0301le z\u0301le z\u0301le")
	_, err := f.Store.VerifyPassword(t.Context(), storetest.Email("second"), "\u017ale \u017ale \u017ale \u017ale", "192.0.2.1")
	ok(t, err)
}
