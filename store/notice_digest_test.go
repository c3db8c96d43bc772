package store_test

import (
	"testing"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"
)

func TestDailyDigest(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	ctx := t.Context()
	f.Receive(t, storetest.CouponEvent())
	f.Receive(t, storetest.CouponEvent())
	now := time.Now().UTC()
	digest := func(short string, at time.Time, mode operation.NoticeMode) {
		ok(t, f.Store.SaveNoticeSettings(ctx, f.As(short), store.NoticeSettings{Mail: true, DigestAt: at.Hour()*60 + at.Minute(),
			Modes: map[operation.NoticeKind]operation.NoticeMode{operation.NoticeDigest: mode, operation.NoticeApproval: operation.NoticeInDaily}}))
	}
	digest("lead", now.Add(-2*time.Minute), operation.NoticeInDaily)
	digest("second", now.Add(-2*time.Minute), operation.NoticeOff)
	digest("ops", now.Add(-2*time.Minute), operation.NoticeInDaily) // nothing waits
	owner(t, f, `UPDATE notice_reading SET digested = now() - interval '10 minutes'`)
	for i, want := range []int{1, 0} {
		if n, err := f.Store.PlanDigests(ctx, byMail); err != nil || n != want {
			t.Errorf("look %d planned %d %v, want %d", i, n, err, want)
		}
	}
	same(t, "digests", told(t, f, "WHERE kind = 'digest'"), "digest.0 lead mail planned digest")
	o, err := f.Store.ClaimNotice(ctx, notice(t, f, "lead", "digest"), "d.test", time.Minute)
	ok(t, err)
	if len(o.Items) != 1 || o.Items[0].Title != "2" {
		t.Errorf("digest %+v", o.Items)
	}
}

func TestDelegatesAreTold(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	ok(t, f.Store.AddDelegation(t.Context(), f.As("lead"), store.NewDelegation{To: f.Users["ops"], Roles: []operation.Role{operation.RoleApprover}, Flows: []string{"newsletter-coupon"},
		StartsAt: time.Now().Add(-time.Minute), EndsAt: time.Now().Add(time.Hour), Reason: "away", FormID: "d1"}))
	f.Receive(t, storetest.CouponEvent())
	look(t, f, byMail)
	same(t, "told", told(t, f, ""), "approval.0 lead mail planned", "approval.0 ops mail planned", "approval.0 second mail planned")
}
