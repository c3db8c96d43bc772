package store_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"
)

// allPages reads a filter page by page, forth, and compares with the pages back.
func allPages(t *testing.T, f *storetest.Fixture, who string, in store.HistoryFilter) (ids []int64) {
	t.Helper()
	var pages [][]int64
	last := ""
	for {
		list, err := f.Store.FindHistory(t.Context(), f.As(who), in)
		ok(t, err)
		var page []int64
		for _, r := range list.Rows {
			page = append(page, r.ID)
		}
		if len(list.Integrity.Broken) > 0 {
			t.Errorf("%+v: broken %+v", in, list.Integrity.Broken)
		}
		pages, ids = append(pages, page), append(ids, page...)
		last = list.Prev
		if in.Cursor = list.Next; in.Cursor == "" {
			break
		}
	}
	for i := len(pages) - 2; i >= 0; i-- {
		in.Cursor = last
		list, err := f.Store.FindHistory(t.Context(), f.As(who), in)
		ok(t, err)
		var page []int64
		for _, r := range list.Rows {
			page = append(page, r.ID)
		}
		if !slices.Equal(page, pages[i]) {
			t.Fatalf("page %d backwards: %v, forwards it was %v", i, page, pages[i])
		}
		last = list.Prev
	}
	return ids
}

// lived makes a house in which some things happened.
func lived(t *testing.T) *storetest.Fixture {
	t.Helper()
	f := storetest.NewFixture(t)
	full(t, f)
	full(t, f)
	f.Receive(t, storetest.CampaignEvent())
	_, err := f.Store.PauseFlow(t.Context(), f.As("ops"), "newsletter-coupon", "the list is being cleaned")
	ok(t, err)
	return f
}

// TestFindHistory compares the pages of many combined filters with what a plain look at
// every entry finds.
func TestFindHistory(t *testing.T) {
	t.Parallel()
	f := lived(t)
	var all []store.FoundEntry
	ok(t, asOwner(f).Select(&all, `SELECT id, flow, destination, subject_kind, subject_id, seq, at, actor_kind, actor_id, role, channel, action, from_state, to_state FROM history ORDER BY at DESC, id DESC`))
	if len(all) < 20 {
		t.Fatalf("%d entries", len(all))
	}
	var filters []store.HistoryFilter
	for _, e := range all {
		one := []store.HistoryFilter{{SubjectKind: e.SubjectKind}, {SubjectKind: e.SubjectKind, Subject: e.SubjectID}, {Actor: e.ActorID}, {ActorKind: e.ActorKind}, {Role: e.Role},
			{Channel: e.Channel}, {Action: e.Action}, {Flow: e.Flow}, {Destination: e.Destination}, {Before: e.From}, {After: e.To}, {Moved: true}, {From: e.At}, {To: e.At}}
		for i, a := range one {
			b := one[(i+3)%len(one)]
			a.Role, a.Flow, a.To = max(a.Role, b.Role), max(a.Flow, b.Flow), later(a.To, b.To)
			if a.Actor == "" {
				a.Actor = b.Actor
			}
			a.Limit = 7
			if !slices.Contains(filters, a) {
				filters = append(filters, a)
			}
		}
	}
	for _, x := range filters {
		var want []int64
		for _, e := range all {
			if fits(x, e) {
				want = append(want, e.ID)
			}
		}
		if got := allPages(t, f, "auditor", x); !slices.Equal(got, want) {
			t.Fatalf("%+v finds %v, want %v", x, got, want)
		}
		var exported []int64
		ok(t, f.Store.ExportHistory(t.Context(), f.As("auditor"), x, func(*store.HistoryExport) error { return nil }, func(e store.FoundEntry) error {
			exported = append(exported, e.ID)
			return nil
		}))
		slices.Reverse(exported)
		if !slices.Equal(exported, want) {
			t.Fatalf("%+v exports %v, want %v", x, exported, want)
		}
	}
	t.Logf("%d filters over %d entries", len(filters), len(all))
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// fits says without the database whether an entry fits a filter.
func fits(f store.HistoryFilter, e store.FoundEntry) bool {
	return (f.SubjectKind == "" || f.SubjectKind == e.SubjectKind) && (f.Subject == "" || f.Subject == e.SubjectID) && (f.Actor == "" || f.Actor == e.ActorID) &&
		(f.ActorKind == "" || f.ActorKind == e.ActorKind) && (f.Role == "" || f.Role == e.Role) && (f.Channel == "" || f.Channel == e.Channel) &&
		(f.Action == "" || f.Action == e.Action) && (f.Flow == "" || f.Flow == e.Flow) && (f.Destination == "" || f.Destination == e.Destination) &&
		(f.Before == "" || f.Before == e.From) && (f.After == "" || f.After == e.To) && (!f.Moved || e.From != e.To) &&
		(f.From.IsZero() || !e.At.Before(f.From)) && (f.To.IsZero() || e.At.Before(f.To))
}

// TestFindHistoryKinds: every entry's kind is written down with it, and where it belongs.
func TestFindHistoryKinds(t *testing.T) {
	t.Parallel()
	f := lived(t)
	var lost, unplaced int
	ok(t, asOwner(f).Get(&lost, `SELECT count(*) FROM history h WHERE NOT EXISTS (SELECT 1 FROM history_kinds k WHERE k.kind = h.kind AND k.action = h.action AND k.flow = h.flow)`))
	ok(t, asOwner(f).Get(&unplaced, `SELECT count(*) FROM history h LEFT JOIN operations o ON o.id = h.subject_id LEFT JOIN runs r ON r.id = h.subject_id
		WHERE (h.flow, h.destination) IS DISTINCT FROM (CASE h.subject_kind WHEN 'operation' THEN o.flow WHEN 'run' THEN r.flow WHEN 'flow' THEN h.subject_id ELSE '' END,
		CASE h.subject_kind WHEN 'operation' THEN o.destination WHEN 'destination' THEN h.subject_id ELSE '' END)`))
	if lost > 0 || unplaced > 0 {
		t.Errorf("%d entries of an unknown kind, %d that are not where they belong", lost, unplaced)
	}
}

// TestFieldCase48History: whoever has a role for one flow finds the history of that flow
// alone, whatever they filter by; people and the installation are for administrators and
// auditors, one's own history for oneself.
func TestFieldCase48History(t *testing.T) {
	t.Parallel()
	f := lived(t)
	limitedTo(t, f, operation.RoleApprover, "newsletter-coupon")
	who := "only-" + string(operation.RoleApprover)
	var foreign operation.ID
	ok(t, f.Owner.QueryRow(`SELECT id FROM operations WHERE flow <> 'newsletter-coupon' LIMIT 1`).Scan(&foreign))
	for _, x := range []store.HistoryFilter{{}, {Flow: "campaign-follow-up"}, {SubjectKind: operation.SubjectOperation}, {SubjectKind: operation.SubjectOperation, Subject: string(foreign)},
		{SubjectKind: operation.SubjectUser}, {SubjectKind: operation.SubjectSystem}, {Action: "grant_role"}, {Actor: string(f.Users["admin"])}, {ActorKind: operation.ActorPerson},
		{SubjectKind: operation.SubjectUser, Subject: string(f.Users["lead"])}} {
		list, err := f.Store.FindHistory(t.Context(), f.As(who), x)
		ok(t, err)
		for _, r := range list.Rows {
			if r.Flow != "newsletter-coupon" {
				t.Errorf("%+v shows %s %s of flow %q", x, r.SubjectKind, r.SubjectID, r.Flow)
			}
		}
		if x == (store.HistoryFilter{}) && len(list.Rows) == 0 {
			t.Error("nothing of their own flow")
		}
	}
	own, err := f.Store.FindHistory(t.Context(), f.As("lead"), store.HistoryFilter{SubjectKind: operation.SubjectUser, Subject: string(f.Users["lead"])})
	ok(t, err)
	if len(own.Rows) == 0 {
		t.Error("nobody reads their own history")
	}
	actions, err := f.Store.HistoryActions(t.Context(), f.As(who))
	ok(t, err)
	if slices.Contains(actions, "add_user") || !slices.Contains(actions, "create") {
		t.Errorf("actions to filter by: %v", actions)
	}
}

// TestFindHistoryBroken: a page says whose history does not verify, and from where.
func TestFindHistoryBroken(t *testing.T) {
	t.Parallel()
	f := lived(t)
	var id string
	ok(t, f.Owner.QueryRow(`SELECT subject_id FROM history WHERE subject_kind = 'operation' AND seq = 4 LIMIT 1`).Scan(&id))
	for _, q := range []string{`ALTER TABLE history DISABLE TRIGGER USER`, fmt.Sprintf(`UPDATE history SET reason = 'forged' WHERE subject_id = '%s' AND seq = 3`, id)} {
		_, err := f.Owner.Exec(q)
		ok(t, err)
	}
	list, err := f.Store.FindHistory(t.Context(), f.As("auditor"), store.HistoryFilter{SubjectKind: operation.SubjectOperation})
	ok(t, err)
	if b := list.Integrity.Broken; len(b) != 1 || b[0].Subject != id || b[0].Seq != 3 || list.Integrity.Whole == 0 {
		t.Errorf("integrity %+v, want %s broken at 3", list.Integrity, id)
	}
	_, err = f.Owner.Exec(`DELETE FROM history WHERE subject_id = $1 AND seq >= 3`, id)
	ok(t, err)
	list, err = f.Store.FindHistory(t.Context(), f.As("auditor"), store.HistoryFilter{SubjectKind: operation.SubjectOperation, Subject: id})
	ok(t, err)
	if b := list.Integrity.Broken; len(b) != 1 || b[0].Seq != 3 {
		t.Errorf("a tail that was cut: %+v, want it broken at 3", list.Integrity)
	}
}

// TestHistoryReadsWhatItShows: no page of any filter reads many more entries than it
// shows, in a history in which the filters fit few, or none.
func TestHistoryReadsWhatItShows(t *testing.T) {
	t.Parallel()
	f := lived(t)
	const rows = 20000
	multiply(t, f, rows)
	v, err := f.Store.FindViewer(t.Context(), f.As("auditor"))
	ok(t, err)
	limitedTo(t, f, operation.RoleApprover, "newsletter-coupon")
	few, err := f.Store.FindViewer(t.Context(), f.As("only-"+string(operation.RoleApprover)))
	ok(t, err)
	yesterday := time.Now().AddDate(0, 0, -1)
	filters := map[string]store.HistoryFilter{"none": {}, "day": {From: yesterday, To: yesterday.AddDate(0, 0, 1)}, "long ago": {To: yesterday.AddDate(-9, 0, 0)},
		"kind": {SubjectKind: operation.SubjectUser}, "subject": {SubjectKind: operation.SubjectSystem, Subject: "installation"}, "person": {Actor: string(f.Users["admin"])},
		"persons": {ActorKind: operation.ActorPerson}, "nobody": {Actor: "usr_nobody"}, "job": {ActorKind: operation.ActorJob}, "worker": {Actor: "nobody"}, "role": {Role: operation.RoleApprover}, "no role": {Role: operation.RoleAuditor},
		"channel": {Channel: "api"}, "web": {Channel: "web"}, "action": {Action: "pause"}, "common action": {Action: "dispatch"}, "no action": {Action: "nothing"},
		"flow": {Flow: "newsletter-coupon"}, "no flow": {Flow: "nothing"}, "destination": {Destination: "coupon-service"}, "before": {Before: operation.Unknown}, "after": {After: operation.Confirmed}, "moved": {Moved: true},
		"person and action": {Actor: string(f.Users["lead"]), Action: "grant_role"}, "flow and state": {Flow: "campaign-follow-up", After: operation.Confirmed},
		"role and day": {Role: operation.RoleApprover, From: yesterday.AddDate(0, 0, -2), To: yesterday}}
	c, err := asOwner(f).Connx(t.Context())
	ok(t, err)
	defer c.Close()
	_, err = c.ExecContext(t.Context(), `SET plan_cache_mode = force_generic_plan`)
	ok(t, err)
	for name, x := range filters {
		for who, v := range map[string]store.Viewer{"auditor": v, "approver of one flow": few} {
			q, args := x.Statement(v)
			var text string
			ok(t, c.GetContext(t.Context(), &text, `EXPLAIN (ANALYZE, FORMAT JSON) `+q, args...))
			var plan []struct{ Plan planNode }
			ok(t, json.Unmarshal([]byte(text), &plan))
			if n := plan[0].Plan.read(); n > 4000 {
				t.Errorf("%s, %s: %.0f rows read\n%s", name, who, n, text)
			}
		}
	}
}

// multiply repeats the history of operations as that of many others, one every second.
// Their operations are not there: it is for reading alone.
func multiply(t *testing.T, f *storetest.Fixture, rows int) {
	t.Helper()
	_, err := f.Owner.Exec(storetest.MultiplyHistory, rows)
	ok(t, err)
	_, err = f.Owner.Exec(`ANALYZE history`)
	ok(t, err)
}
