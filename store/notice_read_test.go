package store_test

import (
	"database/sql"
	"sync"
	"testing"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"
)

// TestNoticeOfALateCommit: an entry whose number was taken before it was committed is
// told of although the look had passed it.
func TestNoticeOfALateCommit(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	f.Receive(t, storetest.CouponEvent())
	look(t, f, byMail)
	var run string
	ok(t, f.Owner.QueryRow(`SELECT id FROM runs`).Scan(&run))
	late, err := f.Owner.BeginTx(t.Context(), nil)
	ok(t, err)
	defer func() { _ = late.Rollback() }()
	_, err = late.Exec(`INSERT INTO history (subject_kind, subject_id, seq, at, actor_kind, actor_id, actor_name, role, channel, action, from_state, to_state, reason, links, version_id, evidence_hash, prev_hash, hash)
		VALUES ('run', $1, 99, now(), 'system', 'x', 'x', '', 'job', 'run_completed', 'open', 'completed', '', '{}', '', '', '', '')`, run)
	ok(t, err)
	f.Receive(t, storetest.CouponEvent()) // a higher number, committed first
	settle := func(by time.Duration) {
		owner(t, f, `UPDATE notice_reading SET horizon_at = horizon_at - make_interval(secs => $1)`, by.Seconds())
	}
	for range 3 {
		look(t, f, byMail)
		settle(time.Minute)
	}
	if n := f.Count(t, "notice_reading WHERE settled < read_to"); n != 1 {
		t.Error("the look settles entries while an older transaction runs")
	}
	ok(t, late.Commit())
	for range 2 { // the horizon before this one, then this one
		settle(10 * time.Minute) // however long transactions of other databases take
		look(t, f, byMail)
	}
	same(t, "told after all", told(t, f, "WHERE kind = 'completed'"), "completed.0 second mail planned digest")
}

// TestLookFindsWhatTheHistoryDidNotTell: all open decisions are gone through besides.
func TestLookFindsWhatTheHistoryDidNotTell(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	f.Receive(t, storetest.CouponEvent())
	owner(t, f, `UPDATE notice_reading SET read_to = (SELECT max(id) FROM history), settled = (SELECT max(id) FROM history)`)
	look(t, f, byMail)
	same(t, "told", told(t, f, ""), "approval.0 lead mail planned", "approval.0 second mail planned")
}

func TestTwoProcessesLookAtOnce(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	other := f.Open(t, f.AppURL)
	for range 20 {
		f.Receive(t, storetest.CouponEvent())
	}
	var wg sync.WaitGroup
	for _, s := range []*store.Store{f.Store, other, f.Store, other} {
		wg.Go(func() {
			for range 5 {
				if _, err := s.PlanNotices(t.Context(), byMail); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	look(t, f, byMail)
	if n := f.Count(t, "notices"); n != 40 {
		t.Errorf("%d notices, want 40", n)
	}
}

// TestLookReadsNoGrowingTableWhole: beside many operations that wait for nobody, a look
// reads what is new.
func TestLookReadsNoGrowingTableWhole(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	id := f.Ready(t)
	look(t, f, byMail)
	const many = 5000
	owner(t, f, `INSERT INTO operations SELECT (jsonb_populate_record(o, jsonb_build_object('id', 'op_' || lpad(CAST(g AS text), 26, '0'), 'item_key', CAST(g AS text), 'state', 'confirmed',
		'confirmed_by', 'destination', 'next_kind', '', 'next_system', false))).* FROM operations o, generate_series(1, 5000) g WHERE o.id = $1`, string(id))
	owner(t, f, `INSERT INTO history (subject_kind, subject_id, seq, at, actor_kind, actor_id, actor_name, role, channel, action, from_state, to_state, reason, links, version_id, evidence_hash, prev_hash, hash)
		SELECT 'operation', 'op_' || lpad(CAST(g AS text), 26, '0'), 1, now(), 'system', 'x', 'x', '', 'job', 'edit', 'draft', 'draft', '', '{}', '', '', '', '' FROM generate_series(1, 5000) g`)
	owner(t, f, `INSERT INTO notices (id, kind, subject, since, addressee, channel, planned_for, created_at, state, sent_at)
		SELECT 'ntc_' || g, 'approval', 'op_' || g, now(), 'slack C1', 'slack', now(), now() - interval '1 day', 'sent', now() FROM generate_series(1, 5000) g`)
	look(t, f, byMail)
	for _, table := range []string{"operations", "history", "notices"} {
		owner(t, f, `ANALYZE `+table)
	}
	read := func() (n int) {
		ok(t, f.Owner.QueryRow(`SELECT sum(seq_tup_read) FROM pg_stat_user_tables WHERE relname IN ('operations', 'history', 'notices', 'content_versions', 'approvals')`).Scan(&n))
		return n
	}
	// sessions report their statistics when they end
	owner(t, f, `SELECT pg_stat_force_next_flush()`)
	ok(t, f.Store.Close())
	before := read()
	f.Store = f.Open(t, f.AppURL)
	f.Receive(t, storetest.CouponEvent())
	look(t, f, byMail)
	_, err := f.Store.ClaimNotice(t.Context(), notice(t, f, "second", "approval"), "d.test", time.Minute)
	ok(t, err)
	_, err = f.Store.WakeNotices(t.Context(), 0)
	ok(t, err)
	_, err = f.Store.WaitingNotices(t.Context())
	ok(t, err)
	_, err = f.Store.ListNotices(t.Context(), f.As("lead"))
	ok(t, err)
	ok(t, f.Store.Close())
	f.Store = f.Open(t, f.AppURL)
	if n := read() - before; n > many {
		t.Errorf("%d rows were read by whole scans", n)
	}
}

// TestUpgradeTellsNobodyOfWhatWaitedBefore: nobody gets a mail for each of it.
func TestUpgradeTellsNobodyOfWhatWaitedBefore(t *testing.T) {
	t.Parallel()
	ownerURL, appURL := storetest.NewReleased(t, storetest.ReleasedVersions[len(storetest.ReleasedVersions)-1])
	ownerDB, err := sql.Open("postgres", ownerURL)
	ok(t, err)
	t.Cleanup(func() { ownerDB.Close() })
	ok(t, store.Migrate(t.Context(), ownerURL, "holdpoint_app"))
	f := &storetest.Fixture{OwnerURL: ownerURL, AppURL: appURL, Owner: ownerDB, Users: map[string]operation.UserID{}}
	f.Store = f.Open(t, appURL)
	f.FindUsers(t)
	waiting := f.Count(t, "operations WHERE next_kind NOT IN ('', 'earlier_stage') AND NOT next_system")
	if n := look(t, f, byMail); n != 0 || waiting == 0 {
		t.Errorf("%d notices of %d decisions that waited before the upgrade", n, waiting)
	}
	event := storetest.CouponEvent()
	event.EventKey, event.DeliveryKey = "evt-told", "dlv-told"
	event.Data = map[string]any{"code": "CODE-TOLD", "percent_off": 10, "name": "After the upgrade"}
	event.Body = []byte(`{"code": "CODE-TOLD", "percent_off": 10, "name": "After the upgrade"}`)
	f.Receive(t, event)
	if n := look(t, f, byMail); n == 0 {
		t.Error("nobody is told of what came after the upgrade")
	}
}
