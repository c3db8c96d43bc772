package store_test

import (
	"testing"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"
)

// story reads a whole timeline, page by page, and gives how often each thing stands in it.
func story(t *testing.T, f *storetest.Fixture, who string, about store.About, id string) (found map[string]int, pages int) {
	t.Helper()
	found = map[string]int{}
	var last store.Happening
	for at := ""; ; {
		page, err := f.Store.FindTimeline(t.Context(), f.As(who), about, id, at)
		ok(t, err)
		for _, h := range page.Rows {
			if !last.At.IsZero() && h.At.After(last.At) {
				t.Fatalf("%v stands below %v", h.At, last.At)
			}
			switch last = h; {
			case h.Entry != nil:
				found["entry "+string(h.Entry.SubjectKind)]++
			case h.Event != nil:
				found["event"]++
			case h.Delivery != nil:
				found["delivery"]++
			case h.Notice != nil:
				found["notice"]++
			}
		}
		pages++
		if at = page.Next; at == "" {
			return found, pages
		}
	}
}

// TestTimeline puts all that concerns an operation, a run and a person in one order, each
// thing once.
func TestTimeline(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	id, _ := full(t, f)
	rows := whole(t, f.Store, operation.SubjectOperation, string(id))
	ok(t, f.Store.RecordLook(t.Context(), f.As("auditor"), store.Look{Operation: id, Flow: "newsletter-coupon"}))
	found, _ := story(t, f, "auditor", store.AboutOperation, string(id))
	if found["entry operation"] != len(rows) || found["event"] != 1 || found["delivery"] != 1 || found["entry user"] != 1 {
		t.Errorf("about the operation: %v, want %d entries, its event, its delivery and one look", found, len(rows))
	}
	if found, _ := story(t, f, "lead", store.AboutOperation, string(id)); found["entry user"] != 0 || found["entry operation"] != len(rows) {
		t.Errorf("an approver sees %v", found)
	}
	var run string
	ok(t, f.Owner.QueryRow(`SELECT run_id FROM operations WHERE id = $1`, string(id)).Scan(&run))
	if found, _ := story(t, f, "lead", store.AboutRun, run); found["entry operation"] != len(rows) || found["event"] != 1 {
		t.Errorf("about the run: %v", found)
	}
	found, _ = story(t, f, "auditor", store.AboutPerson, string(f.Users["lead"]))
	if found["entry operation"] == 0 || found["entry user"] == 0 {
		t.Errorf("about the approver: %v", found)
	}
	limitedTo(t, f, operation.RoleApprover, "campaign-follow-up")
	for about, id := range map[store.About]string{store.AboutOperation: string(id), store.AboutRun: run, store.AboutPerson: string(f.Users["lead"]), store.AboutIncident: "inc_nothing", "nothing": "x"} {
		_, err := f.Store.FindTimeline(t.Context(), f.As("only-"+string(operation.RoleApprover)), about, id, "")
		gone(t, err)
	}
}

// TestTimelineOfManyAtOnce: hundreds of things of one moment are each shown once, over
// several pages.
func TestTimelineOfManyAtOnce(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	id, _ := full(t, f)
	const many = 260
	_, err := f.Owner.Exec(`INSERT INTO history (subject_kind, subject_id, seq, at, actor_kind, actor_id, actor_name, role, channel, action, from_state, to_state, reason, links, version_id, evidence_hash, prev_hash, hash)
		SELECT subject_kind, subject_id, 1000 + n, at, actor_kind, actor_id, actor_name, role, channel, 'lookup', to_state, to_state, reason, links, version_id, evidence_hash, prev_hash, hash
		FROM (SELECT * FROM history WHERE subject_id = $1 ORDER BY seq DESC LIMIT 1) h, generate_series(1, $2) n`, string(id), many)
	ok(t, err)
	rows, _, err := f.Store.ListHistory(t.Context(), operation.SubjectOperation, string(id))
	ok(t, err)
	found, pages := story(t, f, "auditor", store.AboutOperation, string(id))
	if found["entry operation"] != len(rows) || pages < 3 {
		t.Errorf("%d entries over %d pages, want %d", found["entry operation"], pages, len(rows))
	}
}
