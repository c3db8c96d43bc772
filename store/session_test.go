package store_test

import (
	"crypto/sha256"
	"testing"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"
)

func session(f *storetest.Fixture, short string, n byte) store.Session {
	h := sha256.Sum256([]byte{n})
	return store.Session{TokenHash: h[:], UserID: f.Users[short], Data: []byte{n}, IP: "192.0.2.1", Agent: "test", Expires: time.Now().Add(time.Hour)}
}

func TestSession(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	s, ctx := f.Store, t.Context()
	restarted := f.Open(t, f.AppURL)

	x := session(f, "lead", 1)
	ok(t, s.SaveSession(ctx, x))
	got, err := restarted.LoadSession(ctx, x.TokenHash)
	ok(t, err)
	if got.UserID != x.UserID || string(got.Data) != string(x.Data) || got.IP != x.IP {
		t.Errorf("loaded %+v", got)
	}

	t.Run("NeverChangesItsPerson", func(t *testing.T) {
		y := x
		y.UserID = f.Users["admin"]
		gone(t, s.SaveSession(ctx, y))
		y.UserID = ""
		gone(t, s.SaveSession(ctx, y))
	})
	t.Run("IsTouchedAtMostOnceAMinute", func(t *testing.T) {
		seen := func() (at time.Time) {
			ok(t, f.Owner.QueryRow(`SELECT seen_at FROM sessions WHERE token_hash = $1`, x.TokenHash).Scan(&at))
			return at
		}
		before := seen()
		_, err := s.LoadSession(ctx, x.TokenHash)
		ok(t, err)
		if !seen().Equal(before) {
			t.Error("a reading within the minute wrote")
		}
		_, err = f.Owner.Exec(`UPDATE sessions SET seen_at = seen_at - interval '2 minutes'`)
		ok(t, err)
		_, err = s.LoadSession(ctx, x.TokenHash)
		ok(t, err)
		if seen().Before(before) {
			t.Error("a reading after two minutes did not write")
		}
	})
	t.Run("StaysDeadOnceRevoked", func(t *testing.T) {
		y := session(f, "lead", 2)
		ok(t, s.SaveSession(ctx, y))
		ok(t, s.RevokeSession(ctx, y.TokenHash))
		_, err := s.LoadSession(ctx, y.TokenHash)
		gone(t, err)
		gone(t, s.SaveSession(ctx, y)) // a request that was under way does not revive it
		if f.Count(t, "sessions WHERE token_hash = $1 AND data <> ''", y.TokenHash) != 0 {
			t.Error("a revoked session keeps its data")
		}
	})
	t.Run("IsKnownToBeItsPersonsForAWeekAfterItsEnd", func(t *testing.T) {
		expired, revoked, nobody := session(f, "author", 21), session(f, "author", 22), session(f, "author", 23)
		expired.Expires, nobody.UserID = time.Now().Add(-6*24*time.Hour), ""
		for _, y := range []store.Session{expired, revoked, nobody} {
			ok(t, s.SaveSession(ctx, y))
		}
		ok(t, s.RevokeSession(ctx, revoked.TokenHash))
		_, err := s.DeleteExpiredSessions(ctx)
		ok(t, err)
		for _, y := range []store.Session{expired, revoked} {
			if id, err := s.FindSessionOwner(ctx, y.TokenHash); err != nil || id != f.Users["author"] {
				t.Errorf("owner %q %v", id, err)
			}
		}
		_, err = s.FindSessionOwner(ctx, nobody.TokenHash)
		gone(t, err)
		_, err = f.Owner.Exec(`UPDATE sessions SET expires_at = expires_at - interval '2 days' WHERE token_hash = $1`, expired.TokenHash)
		ok(t, err)
		_, err = s.DeleteExpiredSessions(ctx)
		ok(t, err)
		_, err = s.FindSessionOwner(ctx, expired.TokenHash)
		gone(t, err)
	})
	t.Run("EndsWithItsTime", func(t *testing.T) {
		y := session(f, "lead", 3)
		y.Expires = time.Now().Add(-time.Second)
		ok(t, s.SaveSession(ctx, y))
		_, err := s.LoadSession(ctx, y.TokenHash)
		gone(t, err)
	})
	t.Run("WithoutAPersonHoldsBeforeSigningIn", func(t *testing.T) {
		y := session(f, "lead", 4)
		y.UserID = ""
		ok(t, s.SaveSession(ctx, y))
		got, err := s.LoadSession(ctx, y.TokenHash)
		ok(t, err)
		if got.UserID != "" {
			t.Errorf("user %s", got.UserID)
		}
	})
	t.Run("OfADisabledPersonIsDeadAtOnce", func(t *testing.T) {
		y, z := session(f, "ops", 5), session(f, "ops", 6)
		ok(t, s.SaveSession(ctx, y))
		ok(t, s.DisableUser(ctx, f.As("admin"), f.Users["ops"], "left"))
		_, err := restarted.LoadSession(ctx, y.TokenHash)
		gone(t, err)
		gone(t, s.SaveSession(ctx, z))
		ok(t, s.EnableUser(ctx, f.As("admin"), f.Users["ops"], "back"))
		_, err = restarted.LoadSession(ctx, y.TokenHash)
		gone(t, err)
	})
	t.Run("IsListedForItsPersonAndEndedByThem", func(t *testing.T) {
		y, z := session(f, "second", 7), session(f, "second", 8)
		ok(t, s.SaveSession(ctx, y))
		ok(t, s.SaveSession(ctx, z))
		list, err := s.ListSessions(ctx, f.Users["second"])
		ok(t, err)
		if len(list) != 2 {
			t.Errorf("%d sessions", len(list))
		}
		_, err = s.RevokeUserSessions(ctx, f.As("lead"), f.Users["second"], nil)
		refused(t, err, operation.CodeNotEntitled)
		n, err := s.RevokeUserSessions(ctx, f.As("second"), f.Users["second"], y.TokenHash)
		ok(t, err)
		if list, err = s.ListSessions(ctx, f.Users["second"]); err != nil || n != 1 || len(list) != 1 {
			t.Errorf("ended %d, left %d, %v", n, len(list), err)
		}
		n, err = s.RevokeUserSessions(ctx, f.As("admin"), f.Users["second"], nil)
		ok(t, err)
		if n != 1 {
			t.Errorf("the admin ended %d", n)
		}
	})
	t.Run("IsTidiedUpAWeekLater", func(t *testing.T) {
		before := f.Count(t, "sessions")
		if n, err := s.DeleteExpiredSessions(ctx); err != nil || n != 0 {
			t.Errorf("deleted %d, %v", n, err)
		}
		_, err := f.Owner.Exec(`UPDATE sessions SET expires_at = expires_at - interval '8 days', revoked_at = revoked_at - interval '8 days'`)
		ok(t, err)
		if n, err := s.DeleteExpiredSessions(ctx); err != nil || int(n) != before {
			t.Errorf("deleted %d of %d, %v", n, before, err)
		}
	})
}

func TestToken(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	s, ctx, admin := f.Store, t.Context(), f.As("admin")
	id, secret, err := s.AddToken(ctx, admin, store.NewToken{Name: "n8n", Scopes: []string{store.ScopeClaims, store.ScopeRead},
		Flows: []string{"newsletter-coupon"}, Destinations: []string{"billing"}})
	ok(t, err)
	a, err := s.FindToken(ctx, secret)
	ok(t, err)
	if a.Kind != operation.ActorToken || a.ID != string(id) || a.Name != "n8n" || a.Channel != "api" ||
		len(a.Scopes) != 2 || a.Flows[0] != "newsletter-coupon" || a.Destinations[0] != "billing" || a.UserID() != "" {
		t.Errorf("the token acts as %+v", a)
	}
	if f.Count(t, "api_tokens t WHERE t::text LIKE '%' || $1 || '%'", secret[3:]) != 0 {
		t.Error("the secret is stored")
	}

	t.Run("NotesItsUseOnceAMinute", func(t *testing.T) {
		list, err := s.ListTokens(ctx)
		ok(t, err)
		if len(list) != 1 || list[0].LastUsedAt == nil || list[0].CreatedBy != string(f.Users["admin"]) {
			t.Fatalf("tokens: %+v", list)
		}
		first := *list[0].LastUsedAt
		_, err = s.FindToken(ctx, secret)
		ok(t, err)
		if list, err = s.ListTokens(ctx); err != nil || !list[0].LastUsedAt.Equal(first) {
			t.Errorf("a second use within the minute wrote: %v", err)
		}
	})
	t.Run("IsRefusedWhenUnknownOrOfAnotherForm", func(t *testing.T) {
		for _, bad := range []string{"", "hp_", "hp_" + secret, secret[3:], secret + "x"} {
			_, err := s.FindToken(ctx, bad)
			gone(t, err)
		}
	})
	t.Run("NeverDecides", func(t *testing.T) {
		op := f.Receive(t, storetest.CouponEvent())[0]
		refused(t, s.Decide(ctx, a, f.Decision(t, op, operation.Approve)), operation.CodeNotEntitled)
		_, _, err := s.AddToken(ctx, a, store.NewToken{Name: "child", Scopes: []string{store.ScopeRead}})
		refused(t, err, operation.CodeNotEntitled)
		_, err = s.PauseFlow(ctx, a, "newsletter-coupon", "because")
		refused(t, err, operation.CodeNotEntitled)
	})
	t.Run("DiesWithItsMaker", func(t *testing.T) {
		ok(t, s.GrantRole(ctx, admin, f.Users["ops"], store.RoleGrant{Role: operation.RoleAdmin}, ""))
		_, theirs, err := s.AddToken(ctx, f.As("ops"), store.NewToken{Name: "theirs", Scopes: []string{store.ScopeRead}})
		ok(t, err)
		_, err = s.FindToken(ctx, theirs)
		ok(t, err)
		ok(t, s.DisableUser(ctx, admin, f.Users["ops"], "left"))
		_, err = s.FindToken(ctx, theirs)
		gone(t, err)
	})
	t.Run("EndsWhenExpiredOrRevoked", func(t *testing.T) {
		soon, passing, err := s.AddToken(ctx, command, store.NewToken{Name: "soon", Scopes: []string{store.ScopeRead}, Expires: time.Now().Add(time.Hour)})
		ok(t, err)
		_, err = s.FindToken(ctx, passing)
		ok(t, err)
		_, err = f.Owner.Exec(`UPDATE api_tokens SET expires_at = clock_timestamp() WHERE id = $1`, string(soon))
		ok(t, err)
		_, err = s.FindToken(ctx, passing)
		gone(t, err)
		refused(t, s.RevokeToken(ctx, f.As("ops2"), id, ""), operation.CodeNotEntitled)
		ok(t, s.RevokeToken(ctx, admin, id, "leaked"))
		ok(t, s.RevokeToken(ctx, admin, id, "leaked"))
		_, err = s.FindToken(ctx, secret)
		gone(t, err)
		gone(t, s.RevokeToken(ctx, admin, "tok_none", ""))
	})
	t.Run("IsRefusedWithAWrongLimit", func(t *testing.T) {
		for code, n := range map[string]store.NewToken{
			"name_missing":        {Scopes: []string{store.ScopeRead}},
			"scope_missing":       {Name: "x"},
			"scope_unknown":       {Name: "x", Scopes: []string{"decide"}},
			"flow_unknown":        {Name: "x", Scopes: []string{store.ScopeRead}, Flows: []string{"none"}},
			"destination_unknown": {Name: "x", Scopes: []string{store.ScopeRead}, Destinations: []string{"none"}},
			"date_past":           {Name: "x", Scopes: []string{store.ScopeRead}, Expires: time.Now().Add(-time.Hour)},
		} {
			_, _, err := s.AddToken(ctx, admin, n)
			invalid(t, err, code)
		}
	})
	whole(t, s, operation.SubjectSystem, "installation")
}
