package store_test

import (
	"database/sql"
	"math/rand/v2"
	"testing"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"
)

// unknownCase makes an operation whose outcome is unknown, and gives its case.
func unknownCase(t *testing.T, f *storetest.Fixture) (*stand, operation.CaseID) {
	t.Helper()
	s := &stand{f: f, t: t, id: f.Receive(t, storetest.InvoiceEvent())[0]}
	f.Approve(t, s.id, "lead")
	s.send()
	s.report(operation.Result{Proof: operation.Proof{Code: "timeout", Written: 412}})
	return s, openCase(t, f, s.id)
}

// openCase gives the one open case of an operation; "" = it has none.
func openCase(t *testing.T, f *storetest.Fixture, id operation.ID) operation.CaseID {
	t.Helper()
	var c operation.CaseID
	err := f.Owner.QueryRowContext(t.Context(), `SELECT id FROM recovery_cases WHERE operation_id = $1 AND closed_at IS NULL`, string(id)).Scan(&c)
	if err != nil && err != sql.ErrNoRows {
		t.Fatal(err)
	}
	if c != "" && !operation.ValidID("case", string(c)) {
		t.Fatalf("%q is no case ID", c)
	}
	return c
}

// casesFit checks over the whole database that exactly the operations in doubt have an
// open case, each one, as operation.NeedsCase says it, and that only open cases are in
// somebody's hands.
func casesFit(t *testing.T, f *storetest.Fixture) {
	t.Helper()
	rows, err := f.Owner.QueryContext(t.Context(), `SELECT o.id, o.state, o.unsettled, COALESCE(o.request_id, ''), o.case_round,
		(SELECT count(*) FROM recovery_cases c WHERE c.operation_id = o.id AND c.closed_at IS NULL),
		COALESCE((SELECT max(c.round) FROM recovery_cases c WHERE c.operation_id = o.id AND c.closed_at IS NULL), -1) FROM operations o`)
	ok(t, err)
	defer rows.Close()
	for rows.Next() {
		var id operation.ID
		var state operation.State
		var request operation.RequestID
		var unsettled, round, open, of int
		ok(t, rows.Scan(&id, &state, &unsettled, &request, &round, &open, &of))
		want := 0
		if operation.NeedsCase(state, unsettled, request) {
			want = 1
		}
		if open != want || open == 1 && of != round {
			t.Errorf("%s is %s (%d unsettled, request %q, round %d): %d open cases of round %d, want %d", id, state, unsettled, request, round, open, of, want)
		}
		if state.Unresolved() && open != 1 {
			t.Errorf("%s is %s without a case", id, state)
		}
	}
	ok(t, rows.Err())
	if n := f.Count(t, `case_holds h JOIN recovery_cases c ON c.id = h.case_id WHERE (h.released_at IS NULL) <> (c.taken_by IS NOT DISTINCT FROM h.user_id AND c.taken_at = h.taken_at)`); n > 0 {
		t.Errorf("%d times in hand do not fit their case", n)
	}
}

// TestCasesOfRandomHistories lets operations live random lives. After each step exactly
// those in doubt have one open case, whichever verb brought them there.
func TestCasesOfRandomHistories(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	quick(t, f)
	rnd := rand.New(rand.NewPCG(7, 18))
	seen := map[operation.State]int{}
	for range 14 {
		s := &stand{f: f, t: t, id: f.Receive(t, storetest.InvoiceEvent())[0]}
		f.Approve(t, s.id, "lead")
		for range 12 {
			state := f.State(t, s.id)
			seen[state]++
			caseStep(s, state, rnd)
			casesFit(t, f)
			if t.Failed() {
				t.Fatalf("after a step from %s to %s", state, f.State(t, s.id))
			}
		}
		whole(t, f.Store, operation.SubjectOperation, string(s.id))
	}
	for _, state := range []operation.State{operation.Unknown, operation.Review, operation.ReexecutionRequested, operation.Confirmed, operation.NotExecuted} {
		if seen[state] == 0 {
			t.Errorf("no life came through %s: %v", state, seen)
		}
	}
	if n := f.Count(t, "recovery_cases WHERE closed_at IS NOT NULL"); n < 10 {
		t.Errorf("only %d cases were closed", n)
	}
}

// caseStep does one of the things that can happen in a state. What is refused changes
// nothing, and that is checked too.
func caseStep(s *stand, state operation.State, rnd *rand.Rand) {
	ctx := s.t.Context()
	switch state {
	case operation.Ready, operation.RetryScheduled:
		c, err := s.f.Store.ClaimAndDispatch(ctx, hand, s.id, "hand")
		if err != nil {
			return
		}
		s.last = c.Claimed
		outcomes := []operation.Result{{Proof: operation.Proof{Code: "timeout", Written: 9}}, effect(ref(s.id)),
			{Outcome: operation.OutcomeNotStarted, Proof: operation.Proof{Code: "refused_connection"}},
			{Outcome: operation.OutcomeNotStarted, Permanent: true, Proof: operation.Proof{Code: "validation", Status: 400}}}
		_, _ = s.f.Store.Record(ctx, hand, c.Attempt, c.Fence, outcomes[rnd.IntN(len(outcomes))])
	case operation.Unknown, operation.Review:
		switch rnd.IntN(6) {
		case 0:
			_ = s.f.Store.ConfirmDone(ctx, s.f.As("ops"), s.shown("seen there"), store.Reference{ID: ref(s.id)})
		case 1, 2:
			_ = s.f.Store.ConfirmNotDone(ctx, s.f.As("ops"), s.shown("their log shows nothing"), allYes(s), rnd.IntN(2) == 0)
		case 3:
			_ = s.f.Store.RecordLookup(ctx, hand, s.id, time.Now(), operation.LookupFinding{Result: operation.LookupNone})
		case 4:
			_ = s.f.Store.Hold(ctx, s.f.As("ops"), s.shown("waiting for them"), time.Now().Add(time.Hour))
		default:
			_ = s.f.Store.RecordLookup(ctx, hand, s.id, time.Now(), operation.LookupFinding{Result: operation.LookupMany})
		}
	case operation.ReexecutionRequested:
		switch rnd.IntN(4) {
		case 0:
			_ = s.f.Store.DecideReexecution(ctx, s.f.Fresh(s.t, "ops2"), s.shown("no"), false)
		case 1:
			_ = s.f.Store.AskEvidence(ctx, s.f.Fresh(s.t, "ops2"), s.shown("which day was searched?"))
		case 2:
			_ = s.f.Store.WithdrawRequest(ctx, s.f.As("ops"), s.shown("asked too early"))
		default:
			_ = s.f.Store.DecideReexecution(ctx, s.f.Fresh(s.t, "ops2"), s.shown("yes, once"), true)
			_ = s.f.Store.RecordLookup(ctx, hand, s.id, time.Now(), operation.LookupFinding{Result: operation.LookupNone})
		}
	case operation.Confirmed, operation.NotExecuted:
		_ = s.f.Store.Dispute(ctx, s.f.As("ops"), s.shown("the customer says otherwise"), "")
	}
}

func allYes(s *stand) store.Answers {
	time.Sleep(2 * time.Millisecond) // settle_after of the last request
	var all store.Answers
	for _, i := range operation.Checklist {
		all = append(all, operation.Answer{Item: i, Yes: true})
	}
	return all
}

// TestCaseFacts holds the database to it that a case can be neither forgotten nor closed
// by hand.
func TestCaseFacts(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	s, id := unknownCase(t, f)
	for what, q := range map[string]string{
		"closed while in doubt": `UPDATE recovery_cases SET closed_at = clock_timestamp(), closed_as = 'confirmed' WHERE id = $1`,
		"renumbered":            `UPDATE recovery_cases SET opened_at = opened_at - interval '1 day' WHERE id = $1`,
		"deleted":               `DELETE FROM recovery_cases WHERE id = $1`,
		"a second one":          `INSERT INTO recovery_cases (id, operation_id, flow, destination, round, opened_at, opened_as, changed_at) SELECT new_case_id(), operation_id, flow, destination, round, opened_at, opened_as, changed_at FROM recovery_cases WHERE id = $1`,
	} {
		if _, err := f.Owner.ExecContext(t.Context(), q, string(id)); err == nil {
			t.Errorf("a case was %s", what)
		}
	}
	ok(t, f.Store.ConfirmDone(t.Context(), f.As("ops"), s.shown("seen there"), store.Reference{ID: ref(s.id)}))
	p, err := f.Store.FindCase(t.Context(), f.As("ops"), id)
	ok(t, err)
	if p.Case.Open() || p.Case.ClosedAs != operation.Confirmed || p.Case.TakenBy != "" {
		t.Errorf("after settling: %+v", p.Case)
	}
	if len(p.Holds) != 1 || p.Holds[0].User != f.Users["ops"] || p.Holds[0].Released == nil {
		t.Errorf("deciding takes the case by itself and settling gives it back: %+v", p.Holds)
	}
	if _, err := f.Owner.ExecContext(t.Context(), `UPDATE recovery_cases SET closed_at = NULL, closed_as = NULL WHERE id = $1`, string(id)); err == nil {
		t.Error("a closed case was opened again")
	}
}

// TestUpgradeOpensCases: whoever was in doubt before the upgrade has a case after it.
func TestUpgradeOpensCases(t *testing.T) {
	t.Parallel()
	for _, version := range storetest.ReleasedVersions {
		ownerURL, _ := storetest.NewReleased(t, version)
		owner, err := sql.Open("postgres", ownerURL)
		ok(t, err)
		t.Cleanup(func() { owner.Close() })
		ok(t, store.Migrate(t.Context(), ownerURL, "holdpoint_app"))
		f := &storetest.Fixture{Owner: owner}
		casesFit(t, f)
		if n := f.Count(t, "recovery_cases WHERE closed_at IS NULL AND opened_at <= clock_timestamp()"); n < 3 {
			t.Errorf("from version %d: %d cases", version, n)
		}
	}
}

// TestAdoptedCase: an adopted operation begins with its case.
func TestAdoptedCase(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	id, err := f.Store.Adopt(t.Context(), f.As("ops"), store.AdoptedJob{Flow: "campaign-follow-up", Stage: "crm-task", System: "cron", ItsID: "job 9", Reason: "It stopped half-way."})
	ok(t, err)
	if openCase(t, f, id) == "" {
		t.Error("an adopted operation has no case")
	}
	casesFit(t, f)
}
