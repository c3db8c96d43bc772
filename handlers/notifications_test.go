package handlers_test

import (
	"strings"
	"testing"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"
)

// TestNotifications is a person's choice of how they are told, without a script.
func TestNotifications(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	lead := h.as(t, "lead")
	page := lead.get("/account/notifications").want(200).says("Approval requested", "Notifications by mail or chat are not set up here yet", "Nothing yet")
	wrong := lead.submit(page, "form-notifications", "slack_id", "#general", "mode_approval", "digest", "quiet_from", "22:00", "quiet_to", "22:00").want(422)
	wrong.says("A member ID looks like U0123456789")
	if !strings.Contains(wrong.body, `value="#general"`) || !strings.Contains(wrong.body, `value="22:00"`) {
		t.Error("what was typed is lost")
	}
	lead.submit(page, "form-notifications", "quiet_from", "late", "digest_at", "").want(422).says("Give a time such as 08:00")
	lead.submit(page, "form-notifications", "mode_digest", "now").want(422).says("This cannot be chosen here")
	saved := lead.submit(page, "form-notifications", "slack_id", "U0123456789", "mode_approval", "digest", "quiet_from", "22:00", "quiet_to", "07:30", "digest_at", "09:15")
	if saved.status != 303 || saved.to != "/account/notifications" {
		t.Fatalf("status %d to %q", saved.status, saved.to)
	}
	lead.follow(saved).says("How you are told is saved")
	n, err := h.Store.FindNoticeSettings(t.Context(), h.As("lead"))
	if err != nil {
		t.Fatal(err)
	}
	if n.SlackID != "U0123456789" || n.Quiet == nil || *n.Quiet != (operation.Quiet{From: 22 * 60, To: 7*60 + 30}) || n.DigestAt != 9*60+15 || !n.Mail || n.Modes[operation.NoticeApproval] != operation.NoticeInDaily {
		t.Errorf("settings %+v", n)
	}
	second, err := h.Store.FindNoticeSettings(t.Context(), h.As("second"))
	if err != nil || second.SlackID != "" || second.Quiet != nil {
		t.Errorf("somebody else's settings changed: %+v %v", second, err)
	}
}

// TestNotificationsListShowsOnlyMine: and nothing of a flow that I may not see any more.
func TestNotificationsListShowsOnlyMine(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ctx := t.Context()
	id := h.Receive(t, storetest.CouponEvent())[0]
	if _, err := h.Store.PlanNotices(ctx, store.NoticeChannels{Mail: true}); err != nil {
		t.Fatal(err)
	}
	second := h.as(t, "second")
	page := second.get("/account/notifications").want(200).says("Approval requested", "Planned")
	if strings.Count(page.body, `data-testid="notice"`) != 1 || !strings.Contains(page.body, opPath(id)) {
		t.Error("not exactly the own notice is listed")
	}
	if strings.Contains(h.as(t, "ops").get("/account/notifications").want(200).body, opPath(id)) {
		t.Error("somebody else's notice is listed")
	}
	if err := h.Store.GrantRole(ctx, h.Fresh(t, "admin"), h.Users["second"], store.RoleGrant{Role: operation.RoleApprover, Flow: "partner-task"}, "moved"); err != nil {
		t.Fatal(err)
	}
	if err := h.Store.RevokeRole(ctx, h.Fresh(t, "admin"), h.Users["second"], store.RoleGrant{Role: operation.RoleApprover}, "moved"); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(second.get("/account/notifications").want(200).body, opPath(id)) {
		t.Error("a notice of a flow that they may not see is listed")
	}
}

// TestFieldCase17_LinksOfNoticesDecideNothing: a scanner opens the link of a mail any
// number of times, without a cookie, before the person does.
func TestFieldCase17_LinksOfNoticesDecideNothing(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	id := h.Receive(t, storetest.CouponEvent())[0]
	if _, err := h.Store.PlanNotices(t.Context(), store.NoticeChannels{Mail: true}); err != nil {
		t.Fatal(err)
	}
	var notice operation.NoticeID
	if err := h.Owner.QueryRow(`SELECT id FROM notices WHERE user_id = $1`, string(h.Users["lead"])).Scan(&notice); err != nil {
		t.Fatal(err)
	}
	o, err := h.Store.ClaimNotice(t.Context(), notice, "d.test", time.Minute)
	if err != nil || o.Items[0].Subject != string(id) {
		t.Fatalf("%v %+v", err, o)
	}
	before := h.Count(t, "history")
	scanner := h.nobody(t)
	for _, method := range []string{"GET", "HEAD", "GET"} {
		if a := scanner.do(method, opPath(id), nil); a.status == 200 || a.status >= 500 {
			t.Errorf("%s without a cookie: %d", method, a.status)
		}
	}
	lead := h.as(t, "lead")
	lead.get(opPath(id)).want(200)
	if h.Count(t, "history") != before || h.State(t, id) != operation.PendingApproval {
		t.Error("opening a link changed something")
	}
	h.Approve(t, id, "lead")
	h.wantState(t, id, operation.Ready)
}
