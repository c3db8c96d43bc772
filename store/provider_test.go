package store_test

import (
	"errors"
	"slices"
	"testing"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"
)

// claims is what the provider says of one of the fixture's people.
func claims(short string, roles ...store.RoleGrant) store.ProviderClaims {
	return store.ProviderClaims{Issuer: "https://id.example.test", Subject: "sub-" + short, Email: storetest.Email(short), EmailVerified: true, Name: short, Roles: roles}
}

func providerRefused(t *testing.T, err error, code string) {
	t.Helper()
	var r *store.ProviderRefused
	if !errors.As(err, &r) || r.Code != code {
		t.Fatalf("err = %v, want refusal %q", err, code)
	}
}

var (
	approver    = store.RoleGrant{Role: operation.RoleApprover}
	couponsOnly = store.RoleGrant{Role: operation.RoleAuthor, Flow: "newsletter-coupon"}
)

func TestSignInByProvider(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	ctx := t.Context()

	t.Run("first sign-in links the account with the verified address", func(t *testing.T) {
		c := claims("author")
		c.Email = "Author@Example.test"
		u, err := f.Store.SignInByProvider(ctx, c)
		ok(t, err)
		if u.ID != f.Users["author"] {
			t.Errorf("signed in as %s", u.Email)
		}
		c.Email, c.EmailVerified = "renamed@example.test", false // the identity counts from now on
		if u, err = f.Store.SignInByProvider(ctx, c); err != nil || u.ID != f.Users["author"] {
			t.Errorf("second sign-in: %s, %v", u.Email, err)
		}
		is, err := f.Store.IsIdentityOf(ctx, c.Issuer, c.Subject, u.ID)
		ok(t, err)
		if !is || f.Count(t, "history WHERE action = 'link_identity' AND subject_id = $1", string(u.ID)) != 1 {
			t.Error("the link is not on record, or twice")
		}
	})
	t.Run("an address that was given to somebody else opens nothing", func(t *testing.T) {
		c := claims("author")
		c.Subject = "sub-successor"
		_, err := f.Store.SignInByProvider(ctx, c)
		providerRefused(t, err, store.ProviderOther)
	})
	t.Run("an address that is not verified opens nothing", func(t *testing.T) {
		c := claims("lead", approver)
		c.EmailVerified = false
		_, err := f.Store.SignInByProvider(ctx, c)
		providerRefused(t, err, store.ProviderEmail)
		c.Email, c.EmailVerified = "", true
		_, err = f.Store.SignInByProvider(ctx, c)
		providerRefused(t, err, store.ProviderEmail)
	})
	t.Run("nobody comes without a role", func(t *testing.T) {
		_, err := f.Store.SignInByProvider(ctx, claims("stranger"))
		providerRefused(t, err, store.ProviderNoRole)
		if n := f.Count(t, "users WHERE email = $1", storetest.Email("stranger")); n != 0 {
			t.Error("an account was made for them")
		}
	})
	t.Run("a group makes an account", func(t *testing.T) {
		u, err := f.Store.SignInByProvider(ctx, claims("new", couponsOnly, couponsOnly))
		ok(t, err)
		if u.Name != "new" || u.HasPassword || !slices.Equal(u.Roles, []store.RoleGrant{couponsOnly}) {
			t.Errorf("account %+v", u)
		}
	})
	t.Run("a disabled account stays out", func(t *testing.T) {
		ok(t, f.Store.DisableUser(ctx, f.As("admin"), f.Users["auditor"], "left"))
		_, err := f.Store.SignInByProvider(ctx, claims("auditor", approver))
		providerRefused(t, err, store.ProviderDisabled)
		c := claims("author", approver)
		ok(t, f.Store.DisableUser(ctx, f.As("admin"), f.Users["author"], "left"))
		_, err = f.Store.SignInByProvider(ctx, c)
		providerRefused(t, err, store.ProviderDisabled)
		if n := f.Count(t, "user_roles WHERE by_provider AND user_id = $1", string(f.Users["author"])); n != 0 {
			t.Error("a disabled account got a role")
		}
	})
}

// TestRolesOfGroups follows the groups over several sign-ins: rights given by hand stay.
func TestRolesOfGroups(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	ctx, id := t.Context(), f.Users["lead"] // an approver by hand
	roles := func() []store.RoleGrant {
		u, err := f.Store.FindUser(ctx, id)
		ok(t, err)
		return u.Roles
	}
	_, err := f.Store.SignInByProvider(ctx, claims("lead", approver, couponsOnly))
	ok(t, err)
	if got := roles(); len(got) != 2 {
		t.Errorf("roles %v: by hand and by group is one role", got)
	}
	epoch := f.Count(t, "generate_series(1, (SELECT epoch FROM installation))")
	_, err = f.Store.SignInByProvider(ctx, claims("lead", couponsOnly, approver))
	ok(t, err)
	if f.Count(t, "generate_series(1, (SELECT epoch FROM installation))") != epoch {
		t.Error("a sign-in that changes nothing begins a new epoch")
	}
	invalidOr := f.Store.RevokeRole(ctx, f.As("admin"), id, couponsOnly, "not by hand")
	ok(t, invalidOr)
	if got := roles(); len(got) != 2 {
		t.Errorf("roles %v: what the groups give is not taken by hand", got)
	}
	_, err = f.Store.SignInByProvider(ctx, claims("lead"))
	ok(t, err)
	if got := roles(); !slices.Equal(got, []store.RoleGrant{approver}) {
		t.Errorf("roles %v, want the one by hand", got)
	}
	if n := f.Count(t, `history WHERE subject_id = $1 AND links::json->>'by' = 'groups' AND actor_id = 'provider'`, string(id)); n != 4 {
		t.Errorf("%d entries, want two given and two taken", n)
	}
	ok(t, f.Store.RevokeRole(ctx, f.As("admin"), id, approver, "leaves the team"))
	_, err = f.Store.SignInByProvider(ctx, claims("lead"))
	providerRefused(t, err, store.ProviderNoRole)
	_, err = f.Store.SignInByProvider(ctx, claims("lead", approver))
	ok(t, err)
	_, err = f.Store.SignInByProvider(ctx, claims("lead"))
	providerRefused(t, err, store.ProviderNoRole)
	if got := roles(); len(got) != 0 {
		t.Errorf("roles %v stay after the refusal", got)
	}
}

// TestLastAdminOfGroups: a mistake at the provider leaves somebody who can put it right.
func TestLastAdminOfGroups(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	ctx, admin := t.Context(), store.RoleGrant{Role: operation.RoleAdmin}
	u, err := f.Store.SignInByProvider(ctx, claims("boss", admin))
	ok(t, err)
	_, err = f.Store.SignInByProvider(ctx, claims("boss", approver))
	ok(t, err) // the other admin is there
	_, err = f.Store.SignInByProvider(ctx, claims("boss", admin))
	ok(t, err)
	ok(t, f.Store.DisableUser(ctx, u.Actor("web"), f.Users["admin"], "left"))
	u, err = f.Store.SignInByProvider(ctx, claims("boss"))
	ok(t, err)
	if !u.Has(operation.RoleAdmin, "") {
		t.Error("nobody can manage people any more")
	}
}

func TestUnlinkIdentity(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	ctx := t.Context()
	u, err := f.Store.SignInByProvider(ctx, claims("lead", couponsOnly))
	ok(t, err)
	refusedAs(t, f.Store.UnlinkIdentity(ctx, f.As("ops"), u.ID, "https://id.example.test", "x"), operation.CodeNotEntitled)
	ok(t, f.Store.UnlinkIdentity(ctx, f.As("admin"), u.ID, "https://id.example.test", "moved to another tenant"))
	list, err := f.Store.ListIdentities(ctx, u.ID)
	ok(t, err)
	if len(list) != 0 || f.Count(t, "user_roles WHERE by_provider") != 0 {
		t.Errorf("identities %v, or roles of groups, are left", list)
	}
	c := claims("lead")
	c.Subject = "sub-new"
	if u, err = f.Store.SignInByProvider(ctx, c); err != nil || u.ID != f.Users["lead"] {
		t.Errorf("linked anew: %v, %v", u.Email, err)
	}
}

func TestBreakGlassIsOnRecord(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	u, err := f.Store.FindUser(t.Context(), f.Users["admin"])
	ok(t, err)
	ok(t, f.Store.NoteBreakGlass(t.Context(), u, "192.0.2.1"))
	list, err := f.Store.ListBreakGlass(t.Context(), 5)
	ok(t, err)
	if len(list) != 1 || list[0].User != u.ID || list[0].Name != u.Name || list[0].At.IsZero() {
		t.Errorf("break-glass %+v", list)
	}
	if n := f.Count(t, "history WHERE action = 'break_glass' AND subject_kind = 'user'"); n != 1 {
		t.Errorf("%d entries at the person", n)
	}
}
