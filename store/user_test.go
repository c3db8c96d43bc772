package store_test

import (
	"testing"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"
)

func TestUser(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	s, ctx := f.Store, t.Context()
	admin := f.As("admin")

	t.Run("OneAddressInAnyCaseIsOneAccount", func(t *testing.T) {
		link, err := s.AddUser(ctx, admin, store.NewUser{Email: " Nia@Example.test ", Name: "Nia"})
		ok(t, err)
		u, err := s.FindUserByEmail(ctx, "NIA@example.TEST")
		ok(t, err)
		if u.ID != link.User || u.Email != "nia@example.test" || u.HasPassword || !u.Active {
			t.Errorf("found %+v", u)
		}
		_, err = s.AddUser(ctx, admin, store.NewUser{Email: "nia@EXAMPLE.test", Name: "Nia again"})
		invalid(t, err, "email_taken")
	})
	t.Run("RefusesWhatIsNoAddress", func(t *testing.T) {
		for _, bad := range []string{"", "x", "a@", "Ann <ann@example.test>", "a@b@c", "a b@example.test"} {
			_, err := s.AddUser(ctx, admin, store.NewUser{Email: bad, Name: "X"})
			invalid(t, err, "email_malformed")
		}
	})
	t.Run("OnlyAdminsManagePeople", func(t *testing.T) {
		for _, a := range []store.Actor{f.As("ops"), f.As("author"), store.Job("worker"), {Kind: operation.ActorToken, ID: "tok_1", Name: "t"}} {
			_, err := s.AddUser(ctx, a, store.NewUser{Email: "new@example.test", Name: "New"})
			refused(t, err, operation.CodeNotEntitled)
			refused(t, s.DisableUser(ctx, a, f.Users["second"], ""), operation.CodeNotEntitled)
			refused(t, s.GrantRole(ctx, a, f.Users["author"], store.RoleGrant{Role: operation.RoleAdmin}, ""), operation.CodeNotEntitled)
		}
		if f.Count(t, "users WHERE email = 'new@example.test'") != 0 {
			t.Error("somebody without the right added a person")
		}
	})
	t.Run("AnAdminOfOneFlowManagesNobody", func(t *testing.T) {
		ok(t, s.GrantRole(ctx, admin, f.Users["auditor"], store.RoleGrant{Role: operation.RoleAdmin, Flow: "plain-note"}, ""))
		_, err := s.AddUser(ctx, f.As("auditor"), store.NewUser{Email: "new@example.test", Name: "New"})
		refused(t, err, operation.CodeNotEntitled)
	})
	t.Run("KeepsNamesOfDisabledPeople", func(t *testing.T) {
		ok(t, s.DisableUser(ctx, admin, f.Users["author2"], "left the company"))
		u, err := s.FindUser(ctx, f.Users["author2"])
		ok(t, err)
		if u.Active || u.Name != "Abe Author" || u.Has(operation.RoleAuthor, "plain-note") {
			t.Errorf("found %+v", u)
		}
		ok(t, s.EnableUser(ctx, admin, f.Users["author2"], "came back"))
		whole(t, s, operation.SubjectUser, string(f.Users["author2"]))
	})
	t.Run("KeepsTheLanguageAndZoneThatAPersonChose", func(t *testing.T) {
		ok(t, s.SetPlace(ctx, f.As("lead"), "ja", "Asia/Tokyo"))
		u, err := s.FindUser(ctx, f.Users["lead"])
		ok(t, err)
		if u.Locale != "ja" || u.Zone != "Asia/Tokyo" {
			t.Errorf("found %+v", u)
		}
		invalid(t, s.SetPlace(ctx, f.As("lead"), "xx", ""), "language_unknown")
		invalid(t, s.SetPlace(ctx, f.As("lead"), "", "Mars/Base"), "zone_unknown")
	})
	t.Run("ListsEverybodyWithTheirRoles", func(t *testing.T) {
		all, err := s.ListUsers(ctx)
		ok(t, err)
		if len(all) != f.Count(t, "users") {
			t.Errorf("%d people", len(all))
		}
		for _, u := range all {
			if u.ID == f.Users["ops"] && (len(u.Roles) != 1 || u.Roles[0] != store.RoleGrant{Role: operation.RoleOpsOwner}) {
				t.Errorf("roles of ops: %v", u.Roles)
			}
		}
	})
}

func TestLastAdmin(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	s, ctx, admin := f.Store, t.Context(), f.As("admin")
	everywhere := store.RoleGrant{Role: operation.RoleAdmin}
	invalid(t, s.DisableUser(ctx, admin, f.Users["admin"], ""), "own_access")
	invalid(t, s.DisableUser(ctx, command, f.Users["admin"], ""), "last_admin")
	invalid(t, s.RevokeRole(ctx, command, f.Users["admin"], everywhere, ""), "last_admin")

	ok(t, s.GrantRole(ctx, admin, f.Users["ops"], everywhere, "stands in"))
	// both take the other's right at the same time: one of them must be refused
	errs := make(chan error, 2)
	go func() { errs <- s.RevokeRole(ctx, f.As("admin"), f.Users["ops"], everywhere, "") }()
	go func() { errs <- s.RevokeRole(ctx, f.As("ops"), f.Users["admin"], everywhere, "") }()
	one, other := <-errs, <-errs
	if (one == nil) == (other == nil) {
		t.Errorf("both ended alike: %v, %v", one, other)
	}
	if n := f.Count(t, "user_roles WHERE role = 'admin' AND flow = ''"); n != 1 {
		t.Errorf("%d admins are left", n)
	}
}

func TestRole(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	s, ctx, admin := f.Store, t.Context(), f.As("admin")

	// FC-44: lead has the page open while the right is taken away
	id := f.Receive(t, storetest.CouponEvent())[0]
	form := f.Decision(t, id, operation.Approve)
	ok(t, s.RevokeRole(ctx, admin, f.Users["lead"], store.RoleGrant{Role: operation.RoleApprover}, "moved on"))
	refused(t, s.Decide(ctx, f.As("lead"), form), operation.CodeNotEntitled)
	if f.Count(t, "approvals") != 0 || f.State(t, id) != operation.PendingApproval {
		t.Error("the decision of somebody without the right was recorded")
	}

	// a right for one flow counts there and nowhere else
	ok(t, s.GrantRole(ctx, admin, f.Users["lead"], store.RoleGrant{Role: operation.RoleApprover, Flow: "plain-note"}, ""))
	refused(t, f.Decide(t, id, "lead", operation.Approve), operation.CodeNotEntitled)
	ok(t, s.GrantRole(ctx, admin, f.Users["lead"], store.RoleGrant{Role: operation.RoleApprover, Flow: "newsletter-coupon"}, ""))
	ok(t, f.Decide(t, id, "lead", operation.Approve))

	// an approval given under a right that is gone since permits nothing
	ok(t, s.DisableUser(ctx, admin, f.Users["lead"], "left"))
	_, err := s.Claim(ctx, store.Job("worker"), id, "w1")
	refused(t, err, operation.CodeApproverNotEntitled)
	if got := f.State(t, id); got != operation.PendingApproval {
		t.Errorf("the operation is in %s", got)
	}
	if f.Count(t, "approvals WHERE user_id = $1", string(f.Users["lead"])) != 1 {
		t.Error("the earlier approval must stay in the record")
	}
	refused(t, f.Decide(t, id, "lead", operation.Approve), operation.CodeNotEntitled)

	invalid(t, s.GrantRole(ctx, admin, f.Users["ops"], store.RoleGrant{Role: "king"}, ""), "role_unknown")
	invalid(t, s.GrantRole(ctx, admin, f.Users["ops"], store.RoleGrant{Role: operation.RoleAuthor, Flow: "No Such"}, ""), "flow_unknown")
	gone(t, s.GrantRole(ctx, admin, "usr_00000000000000000000000000", store.RoleGrant{Role: operation.RoleAuthor}, ""))
	epoch := f.Count(t, "history WHERE subject_kind = 'user' AND subject_id = $1", string(f.Users["ops"]))
	ok(t, s.GrantRole(ctx, admin, f.Users["ops"], store.RoleGrant{Role: operation.RoleOpsOwner}, "again"))
	if f.Count(t, "history WHERE subject_kind = 'user' AND subject_id = $1", string(f.Users["ops"])) != epoch {
		t.Error("granting what somebody has already wrote an entry")
	}
	whole(t, s, operation.SubjectUser, string(f.Users["lead"]))
}
