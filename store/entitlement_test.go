package store_test

import (
	"strings"
	"testing"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"
)

func TestSetRoles(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	s, ctx, admin, lead := f.Store, t.Context(), f.As("admin"), f.Users["lead"]
	everywhere := []store.RoleGrant{{Role: operation.RoleApprover}}
	chosen := []store.RoleGrant{{Role: operation.RoleApprover, Flow: "newsletter-coupon"}, {Role: operation.RoleAuthor, Flow: "plain-note"}}

	_, err := s.SetRoles(ctx, admin, lead, everywhere, chosen, " ")
	invalid(t, err, "reason_missing")
	_, err = s.SetRoles(ctx, admin, lead, everywhere, append(chosen, store.RoleGrant{Role: operation.RoleAuthor, Flow: "no-such-flow"}), "typo")
	invalid(t, err, "flow_unknown")
	_, err = s.SetRoles(ctx, f.As("ops"), lead, everywhere, chosen, "mine now")
	refused(t, err, operation.CodeNotEntitled)

	n, err := s.SetRoles(ctx, admin, lead, everywhere, chosen, "Takes care of coupons alone.")
	ok(t, err)
	if n != 3 {
		t.Errorf("%d changes, want 3", n)
	}
	held, err := s.ListEntitlements(ctx, lead)
	ok(t, err)
	if len(held) != 2 || held[0].RoleGrant != chosen[0] || held[0].GrantedBy != string(f.Users["admin"]) || held[0].GrantedAt.IsZero() || held[0].ByProvider {
		t.Errorf("holds %+v", held)
	}
	rows := whole(t, s, operation.SubjectUser, string(lead))
	written := 0
	for _, h := range rows[len(rows)-3:] {
		if h.Reason == "Takes care of coupons alone." && h.ActorID == string(f.Users["admin"]) && (h.Action == "grant_role" || h.Action == "revoke_role") {
			written++
		}
	}
	if written != 3 {
		t.Errorf("%d entries with who and why, want 3", written)
	}

	t.Run("RefusesWhatWasShownBefore", func(t *testing.T) {
		before := f.Count(t, "history")
		_, err := s.SetRoles(ctx, admin, lead, everywhere, nil, "stale")
		invalid(t, err, "roles_changed")
		n, err := s.SetRoles(ctx, admin, lead, everywhere, chosen, "sent twice") // a double click is one change
		ok(t, err)
		if n != 0 || f.Count(t, "history") != before {
			t.Errorf("%d changes", n)
		}
	})
	t.Run("CountsForItsFlowAlone", func(t *testing.T) {
		coupon, task := f.Receive(t, storetest.CouponEvent())[0], f.Receive(t, storetest.CampaignEvent())[0]
		refused(t, f.Decide(t, task, "lead", operation.Approve), operation.CodeNotEntitled)
		ok(t, f.Decide(t, coupon, "lead", operation.Approve))
	})
}

// TestNobodyChangesTheirOwnAccess tries every way in which an admin could (FC-45).
func TestNobodyChangesTheirOwnAccess(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	s, ctx, me, id := f.Store, t.Context(), f.As("admin"), f.Users["admin"]
	ok(t, s.GrantRole(ctx, me, f.Users["ops"], store.RoleGrant{Role: operation.RoleAdmin}, "stands in"))
	approver := store.RoleGrant{Role: operation.RoleApprover}
	mine := []store.RoleGrant{{Role: operation.RoleAdmin}}
	before := f.Count(t, "history")
	tries := map[string]func(operation.UserID) error{
		"grant":  func(u operation.UserID) error { return s.GrantRole(ctx, me, u, approver, "") },
		"revoke": func(u operation.UserID) error { return s.RevokeRole(ctx, me, u, mine[0], "") },
		"set": func(u operation.UserID) error {
			_, err := s.SetRoles(ctx, me, u, mine, append(mine, approver), "x")
			return err
		},
		"disable": func(u operation.UserID) error { return s.DisableUser(ctx, me, u, "") },
		"reset":   func(u operation.UserID) error { _, err := s.ResetPassword(ctx, me, u, ""); return err },
		"out":     func(u operation.UserID) error { return s.SignOutUser(ctx, me, u, "") },
	}
	for name, try := range tries {
		t.Run(name, func(t *testing.T) { invalid(t, try(id), "own_access") })
	}
	if f.Count(t, "history") != before || f.Count(t, "user_roles WHERE user_id = $1", string(id)) != 1 {
		t.Error("something was changed")
	}

	t.Run("ByAnotherAccountOfTheirs", func(t *testing.T) {
		link, err := s.AddUser(ctx, command, store.NewUser{Email: "ada.private@example.test", Name: "Ada again", Roles: []store.RoleGrant{approver}})
		ok(t, err)
		_, err = f.Owner.Exec(`UPDATE users SET same_as = $2 WHERE id = $1`, string(link.User), string(id))
		ok(t, err)
		for _, try := range tries {
			invalid(t, try(link.User), "own_access")
		}
	})
	t.Run("NorDoesTheDatabase", func(t *testing.T) {
		_, err := f.Owner.Exec(`INSERT INTO user_roles (user_id, role, granted_by) VALUES ($1, 'approver', $1)`, string(id))
		if !broke(err, "user_roles_not_own") {
			t.Errorf("err = %v", err)
		}
	})
	t.Run("TheLastAdminStaysInTheDatabaseToo", func(t *testing.T) {
		_, err := f.Owner.Exec(`DELETE FROM user_roles WHERE role = 'admin'`)
		if !broke(err, "users_last_admin") {
			t.Errorf("err = %v", err)
		}
		_, err = f.Owner.Exec(`UPDATE users SET active = false WHERE id IN (SELECT user_id FROM user_roles WHERE role = 'admin')`)
		if !broke(err, "users_last_admin") {
			t.Errorf("err = %v", err)
		}
	})
}

func TestInvitation(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	s, ctx, admin := f.Store, t.Context(), f.As("admin")
	in := store.NewUser{Email: "nia@example.test", Name: "Nia New", Roles: []store.RoleGrant{{Role: operation.RoleApprover, Flow: "newsletter-coupon"}}}
	_, err := s.Invite(ctx, f.As("lead"), in, "a colleague")
	refused(t, err, operation.CodeNotEntitled)
	first, err := s.Invite(ctx, admin, in, "Joins the team.")
	ok(t, err)
	_, err = s.Invite(ctx, admin, in, "once more")
	invalid(t, err, "email_taken")
	open, err := s.ListInvitations(ctx)
	ok(t, err)
	if i := open[first.User]; i.By != string(f.Users["admin"]) || !i.Expires.Equal(first.Expires) || len(open) != 1 {
		t.Errorf("invitations %+v", open)
	}
	if f.Count(t, "password_links l WHERE l::text LIKE '%' || $1 || '%'", first.Secret) != 0 {
		t.Error("the link's secret is stored")
	}

	t.Run("ANewLinkVoidsTheEarlier", func(t *testing.T) {
		second, err := s.ResendInvitation(ctx, admin, first.User, "lost")
		ok(t, err)
		_, err = s.SetPassword(ctx, first.Secret, password)
		gone(t, err)
		_, err = s.SetPassword(ctx, second.Secret, password)
		ok(t, err)
		_, err = s.SetPassword(ctx, second.Secret, password) // one use
		gone(t, err)
		_, err = s.ResendInvitation(ctx, admin, first.User, "again")
		invalid(t, err, "not_invited")
		invalid(t, s.RevokeInvitation(ctx, admin, first.User, "too late"), "not_invited")
	})
	t.Run("OneThatIsRevokedOpensNothing", func(t *testing.T) {
		l, err := s.Invite(ctx, admin, store.NewUser{Email: "wrong@exmaple.test", Name: "Wrong"}, "typo")
		ok(t, err)
		invalid(t, s.RevokeInvitation(ctx, admin, l.User, ""), "reason_missing")
		ok(t, s.RevokeInvitation(ctx, admin, l.User, "wrong address"))
		_, err = s.SetPassword(ctx, l.Secret, password)
		gone(t, err)
		u, err := s.FindUser(ctx, l.User)
		ok(t, err)
		if u.Active {
			t.Error("the account is active")
		}
		_, err = s.ResendInvitation(ctx, admin, l.User, "after all")
		invalid(t, err, "user_disabled")
		whole(t, s, operation.SubjectUser, string(l.User))
	})
	t.Run("OneThatExpiresOpensNothing", func(t *testing.T) {
		l, err := s.Invite(ctx, admin, store.NewUser{Email: "late@example.test", Name: "Late"}, "joins")
		ok(t, err)
		_, err = f.Owner.Exec(`UPDATE password_links SET expires_at = clock_timestamp() WHERE user_id = $1`, string(l.User))
		ok(t, err)
		_, err = s.SetPassword(ctx, l.Secret, password)
		gone(t, err)
		if open, err := s.ListInvitations(ctx); err != nil || open[l.User].User == "" {
			t.Errorf("an expired invitation is not listed: %v", err)
		}
	})
	t.Run("TwoOpenLinksOfOnePersonMeetAConstraint", func(t *testing.T) {
		_, err := s.Invite(ctx, admin, store.NewUser{Email: "two@example.test", Name: "Two"}, "joins")
		ok(t, err)
		_, err = f.Owner.Exec(`INSERT INTO password_links (token_hash, user_id, expires_at) SELECT '\x00', user_id, expires_at FROM password_links WHERE used_at IS NULL LIMIT 1`)
		if !broke(err, "password_links_one_open") {
			t.Errorf("err = %v", err)
		}
	})
	rows := whole(t, s, operation.SubjectUser, string(first.User))
	var actions []string
	for _, h := range rows {
		actions = append(actions, h.Action)
	}
	if got := strings.Join(actions, " "); got != "invite_user grant_role resend_invitation set_password" {
		t.Errorf("history: %s", got)
	}
}
