package store_test

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"
)

var byMail = store.NoticeChannels{Mail: true}

// look looks for notices until there is nothing more to read.
func look(t *testing.T, f *storetest.Fixture, ch store.NoticeChannels) int {
	t.Helper()
	n := 0
	for {
		p, err := f.Store.PlanNotices(t.Context(), ch)
		ok(t, err)
		n += p.Planned
		if !p.More {
			return n
		}
	}
}

// told lists the notices as "kind.step who channel state bundle", sorted.
func told(t *testing.T, f *storetest.Fixture, where string, args ...any) []string {
	t.Helper()
	rows, err := f.Owner.QueryContext(t.Context(), `SELECT n.kind || '.' || n.step || ' ' || COALESCE(split_part(u.email, '@', 1), n.addressee) || ' ' || n.channel || ' ' || n.state
		|| CASE WHEN n.bundle <> '' THEN ' ' || n.bundle ELSE '' END FROM notices n LEFT JOIN users u ON u.id = n.user_id `+where, args...)
	ok(t, err)
	defer rows.Close()
	var out []string
	for rows.Next() {
		var s string
		ok(t, rows.Scan(&s))
		out = append(out, s)
	}
	slices.Sort(out)
	return out
}

func same(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%s:\n%s\nwant\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// owner runs a statement as the schema's owner: what tests disturb.
func owner(t *testing.T, f *storetest.Fixture, q string, args ...any) {
	t.Helper()
	_, err := f.Owner.ExecContext(t.Context(), q, args...)
	ok(t, err)
}

// notice gives the one notice to a person of a kind.
func notice(t *testing.T, f *storetest.Fixture, short, kind string) operation.NoticeID {
	t.Helper()
	var id operation.NoticeID
	ok(t, f.Owner.QueryRowContext(t.Context(), `SELECT n.id FROM notices n WHERE n.user_id = $1 AND n.kind = $2 ORDER BY n.created_at LIMIT 1`, string(f.Users[short]), kind).Scan(&id))
	return id
}

func TestNoticesGoToWhoDecides(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	id := f.Receive(t, storetest.CouponEvent())[0]
	if n := look(t, f, byMail); n != 2 {
		t.Errorf("%d notices, want 2", n)
	}
	same(t, "approval asked", told(t, f, ""), "approval.0 lead mail planned", "approval.0 second mail planned")
	if n := look(t, f, byMail); n != 0 {
		t.Errorf("the second look planned %d", n)
	}
	ok(t, f.Decide(t, id, "lead", operation.RequestChanges))
	look(t, f, byMail)
	same(t, "changes requested: nobody wrote it, so every author", told(t, f, "WHERE kind = 'changes'"), "changes.0 author mail planned", "changes.0 author2 mail planned")
}

func TestNoticeOfChangesGoesToTheAuthorAlone(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	id := letter(t, f)()
	look(t, f, byMail)
	ok(t, f.Decide(t, id, "lead", operation.RequestChanges))
	look(t, f, byMail)
	same(t, "changes", told(t, f, "WHERE kind = 'changes'"), "changes.0 author mail planned")
}

func TestNoNoticeToWhoMayNotDecide(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	ctx := t.Context()
	// second approves for another flow only; lead is away and hands it to nobody
	ok(t, f.Store.RevokeRole(ctx, f.Fresh(t, "admin"), f.Users["second"], store.RoleGrant{Role: operation.RoleApprover}, "moved"))
	ok(t, f.Store.GrantRole(ctx, f.Fresh(t, "admin"), f.Users["second"], store.RoleGrant{Role: operation.RoleApprover, Flow: "partner-task"}, "moved"))
	f.Receive(t, storetest.CouponEvent())
	look(t, f, byMail)
	same(t, "approval asked", told(t, f, ""), "approval.0 lead mail planned")
	// between planning and sending, the right is gone
	ok(t, f.Store.RevokeRole(ctx, f.Fresh(t, "admin"), f.Users["lead"], store.RoleGrant{Role: operation.RoleApprover}, "moved"))
	_, err := f.Store.ClaimNotice(ctx, notice(t, f, "lead", "approval"), "d.test", time.Minute)
	gone(t, err)
	same(t, "superseded", told(t, f, ""), "approval.0 lead mail superseded")
}

func TestNoticeIsSupersededByTheDecision(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	id := f.Receive(t, storetest.CouponEvent())[0]
	look(t, f, byMail)
	f.Approve(t, id, "lead")
	_, err := f.Store.ClaimNotice(t.Context(), notice(t, f, "second", "approval"), "d.test", time.Minute)
	gone(t, err)
	same(t, "second's", told(t, f, "WHERE n.user_id = $1", string(f.Users["second"])), "approval.0 second mail superseded")
}

func TestNoticeIsClaimedOnceAndTriedAgain(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	f.Receive(t, storetest.CouponEvent())
	look(t, f, byMail)
	id, ctx := notice(t, f, "lead", "approval"), t.Context()
	var wg sync.WaitGroup
	var mu sync.Mutex
	var got []store.NoticeOrder
	for range 8 {
		wg.Go(func() {
			o, err := f.Store.ClaimNotice(ctx, id, "d.test", time.Minute)
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				got = append(got, o)
			} else if !errors.Is(err, store.ErrNotFound) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if len(got) != 1 {
		t.Fatalf("claimed %d times", len(got))
	}
	first := got[0]
	if first.To.Email != "lead@example.test" || first.Message != string(id)+"@d.test" || len(first.Items) != 1 || first.Items[0].FlowTitle["ja"] != "ニュースレタークーポン" || first.Items[0].Due.IsZero() {
		t.Errorf("order %+v", first)
	}
	ok(t, f.Store.RecordNotice(ctx, first, store.NoticeResult{Unknown: true, Retry: time.Hour, Code: "timeout", Detail: "no answer"}))
	same(t, "after a time-out", told(t, f, "WHERE n.id = $1", string(id)), "approval.0 lead mail unknown")
	_, err := f.Store.ClaimNotice(ctx, id, "other.test", time.Minute)
	gone(t, err)
	owner(t, f, `UPDATE notices SET planned_for = now() - interval '1 minute' WHERE id = $1`, string(id))
	second, err := f.Store.ClaimNotice(ctx, id, "other.test", time.Nanosecond)
	ok(t, err)
	if second.Message != first.Message || !second.At.Equal(first.At) || second.Attempt != 2 {
		t.Errorf("the second try is another message: %+v", second)
	}
	// its worker is killed: when its lease has ended, another one takes it
	third, err := f.Store.ClaimNotice(ctx, id, "d.test", time.Minute)
	ok(t, err)
	ok(t, f.Store.RecordNotice(ctx, second, store.NoticeResult{Permanent: true, Code: "late"}))
	same(t, "a report of a try that was taken over counts no more", told(t, f, "WHERE n.id = $1", string(id)), "approval.0 lead mail unknown")
	ok(t, f.Store.RecordNotice(ctx, third, store.NoticeResult{Sent: true}))
	same(t, "sent", told(t, f, "WHERE n.id = $1", string(id)), "approval.0 lead mail sent")
	if n := f.Count(t, "river_job WHERE kind = 'notice' AND queue = 'notices_mail' AND CAST(args->>'notice' AS text) = $1", string(id)); n != 2 {
		t.Errorf("%d jobs, want the first and the retry", n)
	}
}

func TestWakeNoticesFindsLostJobs(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	f.Receive(t, storetest.CouponEvent())
	look(t, f, byMail)
	ctx := t.Context()
	if n, err := f.Store.WakeNotices(ctx, 0); err != nil || n != 0 {
		t.Errorf("woken %d %v although their jobs wait", n, err)
	}
	owner(t, f, `DELETE FROM river_job`)
	if n, err := f.Store.WakeNotices(ctx, 0); err != nil || n != 2 {
		t.Errorf("woken %d %v, want 2", n, err)
	}
	if n, err := f.Store.WakeNotices(ctx, 0); err != nil || n != 0 {
		t.Errorf("woken again %d %v", n, err)
	}
}

func TestStepsAreToldOnce(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	id := f.Receive(t, storetest.CampaignEvent())[0]
	look(t, f, byMail)
	where := "WHERE n.subject = $1 AND n.step > 0"
	// after two hours: a reminder; the flow's own words
	past := func(d time.Duration) {
		owner(t, f, `UPDATE operations SET next_since = next_since - make_interval(secs => $2), next_at = next_at - make_interval(secs => $2) WHERE id = $1`, string(id), d.Seconds())
		owner(t, f, `UPDATE notice_decisions SET since = since - make_interval(secs => $2), step_at = step_at - make_interval(secs => $2) WHERE operation_id = $1`, string(id), d.Seconds())
		owner(t, f, `UPDATE notices SET since = since - make_interval(secs => $2) WHERE subject = $1`, string(id), d.Seconds())
	}
	past(2*time.Hour + time.Minute)
	look(t, f, byMail)
	look(t, f, byMail)
	same(t, "reminder", told(t, f, where, string(id)), "approval.1 lead mail planned", "approval.1 second mail planned")
	past(2 * time.Hour)
	look(t, f, byMail)
	look(t, f, byMail)
	same(t, "overdue", told(t, f, where+" AND kind = 'overdue'", string(id)), "overdue.2 lead mail planned", "overdue.2 second mail planned")
	past(21 * time.Hour)
	look(t, f, byMail)
	look(t, f, byMail)
	same(t, "escalated to the flow's admin", told(t, f, where+" AND step = 3", string(id)), "overdue.3 admin mail planned")
	if n := f.Count(t, "notice_decisions WHERE operation_id = $1 AND step = 3 AND step_at IS NULL", string(id)); n != 1 {
		t.Error("a step follows the last one")
	}
	f.Approve(t, id, "lead")
	look(t, f, byMail)
	if n := f.Count(t, "notice_decisions WHERE operation_id = $1", string(id)); n != 0 {
		t.Error("what is decided is still watched")
	}
}

func TestAfterAnOutageOnlyTheNewestStepIsTold(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	id := f.Receive(t, storetest.CampaignEvent())[0]
	owner(t, f, `UPDATE operations SET next_since = next_since - interval '5 hours', next_at = next_at - interval '5 hours' WHERE id = $1`, string(id))
	look(t, f, byMail)
	same(t, "asked and overdue", told(t, f, "WHERE n.subject = $1 AND n.user_id = $2", string(id), string(f.Users["lead"])), "approval.0 lead mail planned", "overdue.2 lead mail planned")
}

func TestUnknownReexecutionAndCompletedRuns(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	quick(t, f)
	s := &stand{f: f, t: t, id: f.Ready(t)}
	s.send()
	s.report(mismatch)
	look(t, f, byMail)
	same(t, "unknown to settle", told(t, f, "WHERE kind = 'unknown'"), "unknown.0 ops mail planned", "unknown.0 ops2 mail planned")
	s.notDone(true)
	look(t, f, byMail)
	same(t, "re-execution: never to whoever asked for it", told(t, f, "WHERE kind = 'reexecution'"), "reexecution.0 ops2 mail planned")
}

func TestCompletedRunsAreToldToTheOwner(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	id := f.Ready(t)
	look(t, f, byMail)
	d, err := f.Store.ClaimAndDispatch(t.Context(), worker, id, "w")
	ok(t, err)
	_, err = f.Store.Record(t.Context(), worker, d.Attempt, d.Fence, effect("cou_1"))
	ok(t, err)
	look(t, f, byMail)
	same(t, "completed", told(t, f, "WHERE kind = 'completed'"), "completed.0 second mail planned digest")
}

func TestPauseOfEverythingIsAnAlert(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	ctx := t.Context()
	_, err := f.Store.PauseAll(ctx, store.System("command"), "witness_older 2026-11-29T10:00:00Z")
	ok(t, err)
	look(t, f, byMail)
	same(t, "alert", told(t, f, "WHERE kind = 'alert'"), "alert.0 admin mail planned", "alert.0 ops mail planned", "alert.0 ops2 mail planned")
	o, err := f.Store.ClaimNotice(ctx, notice(t, f, "ops", "alert"), "d.test", time.Minute)
	ok(t, err)
	if o.Items[0].Reason != "witness_older 2026-11-29T10:00:00Z" {
		t.Errorf("reason %q", o.Items[0].Reason)
	}
	ok(t, f.Store.ResumeAll(ctx, f.Fresh(t, "admin"), "checked"))
	_, err = f.Store.ClaimNotice(ctx, notice(t, f, "ops2", "alert"), "d.test", time.Minute)
	gone(t, err)
}

func TestStormBecomesOneSummary(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	for range 3 {
		f.Receive(t, storetest.CouponEvent())
	}
	look(t, f, byMail)
	for range 6 {
		f.Receive(t, storetest.CouponEvent())
	}
	look(t, f, byMail)
	lead := string(f.Users["lead"])
	alone, storm := f.Count(t, "notices WHERE user_id = $1 AND bundle = ''", lead), f.Count(t, "notices WHERE user_id = $1 AND bundle = 'storm approval'", lead)
	if alone != 3 || storm != 6 {
		t.Fatalf("%d alone, %d gathered", alone, storm)
	}
	owner(t, f, `UPDATE notices SET planned_for = now() - interval '1 second' WHERE bundle <> ''`)
	var ids []string
	rows, err := f.Owner.Query(`SELECT id FROM notices WHERE user_id = $1 AND bundle <> '' ORDER BY id`, lead)
	ok(t, err)
	for rows.Next() {
		var id string
		ok(t, rows.Scan(&id))
		ids = append(ids, id)
	}
	ok(t, rows.Close())
	o, err := f.Store.ClaimNotice(t.Context(), operation.NoticeID(ids[2]), "d.test", time.Minute)
	ok(t, err)
	if !o.Bundle || len(o.Items) != 6 {
		t.Fatalf("the summary has %d", len(o.Items))
	}
	for _, id := range ids {
		_, err := f.Store.ClaimNotice(t.Context(), operation.NoticeID(id), "d.test", time.Minute)
		gone(t, err)
	}
	// tried again, it is the same message: what came since is another summary
	ok(t, f.Store.RecordNotice(t.Context(), o, store.NoticeResult{Retry: time.Minute, Code: "refused"}))
	f.Receive(t, storetest.CouponEvent())
	look(t, f, byMail)
	owner(t, f, `UPDATE notices SET planned_for = now() - interval '1 second' WHERE bundle <> ''`)
	again, err := f.Store.ClaimNotice(t.Context(), o.ID, "d.test", time.Minute)
	ok(t, err)
	if again.Message != o.Message || len(again.Items) != 6 {
		t.Errorf("the second try carries %d", len(again.Items))
	}
	ok(t, f.Store.RecordNotice(t.Context(), again, store.NoticeResult{Sent: true}))
	if n := f.Count(t, "notices WHERE state = 'sent' AND carried_by = $1", string(o.ID)); n != 6 {
		t.Errorf("%d of 6 are sent", n)
	}
}

func TestPeopleChooseHowTheyAreTold(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	ctx := t.Context()
	now := time.Now().UTC()
	from, to := now.Add(-time.Hour), now.Add(time.Hour)
	quiet := operation.Quiet{From: from.Hour()*60 + from.Minute(), To: to.Hour()*60 + to.Minute()}
	ok(t, f.Store.SaveNoticeSettings(ctx, f.As("lead"), store.NoticeSettings{Mail: true, SlackID: "U0123456789", DigestAt: 480, Quiet: &quiet}))
	ok(t, f.Store.SaveNoticeSettings(ctx, f.As("second"), store.NoticeSettings{DigestAt: 600, Mail: true,
		Modes: map[operation.NoticeKind]operation.NoticeMode{operation.NoticeApproval: operation.NoticeInDaily}}))
	ok(t, f.Store.SaveNoticeSettings(ctx, f.As("ops"), store.NoticeSettings{Mail: true, Modes: map[operation.NoticeKind]operation.NoticeMode{operation.NoticeAlert: operation.NoticeOff}}))
	f.Receive(t, storetest.CouponEvent())
	_, err := f.Store.PauseAll(ctx, f.Fresh(t, "admin"), "because")
	ok(t, err)
	look(t, f, store.NoticeChannels{Mail: true, Slack: true})
	same(t, "as they want it", told(t, f, "WHERE kind <> 'work'"), "alert.0 ops2 mail planned", "approval.0 lead mail planned quiet", "approval.0 lead slack planned quiet", "approval.0 second mail planned digest")
	n, err := f.Store.FindNoticeSettings(ctx, f.As("second"))
	ok(t, err)
	if n.Modes[operation.NoticeApproval] != operation.NoticeInDaily || n.Modes[operation.NoticeUnknown] != operation.NoticeNow || n.DigestAt != 600 || n.Quiet != nil {
		t.Errorf("settings %+v", n)
	}
	for code, bad := range map[string]store.NoticeSettings{
		"slack_id_malformed": {SlackID: "#general"}, "time_malformed": {DigestAt: 24 * 60}, "quiet_empty": {Quiet: &operation.Quiet{From: 5, To: 5}},
		"mode_unknown": {Modes: map[operation.NoticeKind]operation.NoticeMode{operation.NoticeDigest: operation.NoticeNow}},
	} {
		invalid(t, f.Store.SaveNoticeSettings(ctx, f.As("lead"), bad), code)
	}
	rows := whole(t, f.Store, operation.SubjectUser, string(f.Users["ops"]))
	if last := rows[len(rows)-1]; last.Action != "set_notices" || last.Links()["off"] != "alert" {
		t.Errorf("history %+v", last)
	}
}
