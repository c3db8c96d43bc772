package store_test

import (
	"database/sql"
	"net/url"
	"strings"
	"testing"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"
)

func TestWitness(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	s, ctx := f.Store, t.Context()
	kept, err := s.FindWitness(ctx)
	ok(t, err)
	if kept.Entry == 0 || len(kept.Hash) != 64 || kept.System == "" || kept.Timeline == 0 || !strings.HasPrefix(kept.Installation, "ins_") {
		t.Fatalf("the database is %+v", kept)
	}
	f.Receive(t, storetest.CouponEvent())
	for what, c := range map[string]struct {
		change func(*store.Witness)
		want   string
	}{
		"more happened since":    {func(*store.Witness) {}, ""},
		"nothing was kept":       {func(w *store.Witness) { *w = store.Witness{} }, ""},
		"an entry is missing":    {func(w *store.Witness) { w.Entry += 1000 }, store.MismatchOlder},
		"another entry is there": {func(w *store.Witness) { w.Hash = strings.Repeat("ab", 32) }, store.MismatchOlder},
		"another cluster":        {func(w *store.Witness) { w.System = "1" }, store.MismatchServer},
		"another timeline":       {func(w *store.Witness) { w.Timeline++ }, store.MismatchTimeline},
		"control data unknown":   {func(w *store.Witness) { w.System, w.Timeline = "", 0 }, ""},
	} {
		w := kept
		c.change(&w)
		now, m, err := s.CompareWitness(ctx, w)
		ok(t, err)
		got := ""
		if m != nil {
			got = m.Word
		}
		if got != c.want || now.Entry <= kept.Entry {
			t.Errorf("%s: %q, want %q", what, got, c.want)
		}
	}

	// The pause for a mismatch makes way for nobody, and only a reason ends it.
	_, err = s.PauseAll(ctx, f.As("admin"), "the office moves")
	ok(t, err)
	m := store.Mismatch{Word: store.MismatchOlder, Since: kept.At}
	ok(t, s.PauseForWitness(ctx, m))
	in, err := s.FindInstallation(ctx)
	ok(t, err)
	if in.Paused == nil || in.Paused.By != "system" || in.Paused.Reason != m.Reason() {
		t.Errorf("paused: %+v", in.Paused)
	}
	if rows := whole(t, s, operation.SubjectSystem, "installation"); len(rows) < 2 {
		t.Errorf("%d entries for two pauses", len(rows))
	}
	_, err = s.Claim(ctx, worker, f.Ready(t), "w")
	refused(t, err, operation.CodePausedAll)
}

// TestWitnessWithoutControlData: a hosted database may deny the control functions.
func TestWitnessWithoutControlData(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	here, err := url.Parse(f.OwnerURL)
	ok(t, err)
	super, err := url.Parse(storetest.AdminURL(t))
	ok(t, err)
	super.Path = here.Path
	db, err := sql.Open("postgres", super.String())
	ok(t, err)
	defer db.Close()
	_, err = db.Exec(`REVOKE EXECUTE ON FUNCTION pg_control_system(), pg_control_checkpoint() FROM PUBLIC`)
	ok(t, err)
	now, err := f.Store.FindWitness(t.Context())
	ok(t, err)
	if now.System != "" || now.Timeline != 0 || now.Entry == 0 {
		t.Errorf("the database is %+v", now)
	}
}

func TestFigures(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	s, ctx := f.Store, t.Context()
	f.Receive(t, storetest.CouponEvent())
	late, ready := f.Ready(t), f.Ready(t)
	_, err := f.Owner.Exec(`UPDATE operations SET next_at = now() - interval '1 hour' WHERE id = $1`, string(late))
	ok(t, err)
	ok(t, s.PauseOperation(ctx, f.As("ops"), ready, "wait"))
	_, err = s.PauseDestination(ctx, f.As("ops"), "billing", "outage")
	ok(t, err)
	_, err = s.PauseAll(ctx, f.As("admin"), "stop")
	ok(t, err)
	got, err := s.FindFigures(ctx)
	ok(t, err)
	if got.Open[operation.PendingApproval] != 1 || got.Open[operation.Ready] != 2 || got.Open[operation.Review] != 0 {
		t.Errorf("open: %v", got.Open)
	}
	if _, closed := got.Open[operation.Confirmed]; closed {
		t.Error("closed states are counted")
	}
	if got.Overdue["system"] != 1 || got.Overdue["person"] != 0 {
		t.Errorf("overdue: %v", got.Overdue)
	}
	if p := got.Paused; p["all"] != 1 || p["operation"] != 1 || p["destination"] != 1 || p["flow"] != 0 {
		t.Errorf("paused: %v", p)
	}
}
