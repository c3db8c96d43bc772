package store_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"

	"github.com/lib/pq"
)

const acceptanceInput = `{"inputs":{"topic":"acceptance-{n}"}}`

// ask asks for an acceptance of the note flow.
func ask(t *testing.T, f *storetest.Fixture) operation.AcceptanceID {
	t.Helper()
	id, err := f.Store.AskAcceptance(t.Context(), f.As("ops"), store.NewAcceptance{Flow: "plain-note", Version: 1, Input: acceptanceInput})
	ok(t, err)
	return id
}

// passedSheet is a sheet on which every case of the plan passed.
func passedSheet(p operation.AcceptancePlan) operation.AcceptanceSheet {
	s := operation.AcceptanceSheet{Format: operation.AcceptanceFormat, ID: p.ID, Flow: p.Flow, Destinations: p.Destinations, Input: p.Input}
	for _, key := range operation.AcceptanceCases {
		s.Cases = append(s.Cases, operation.AcceptanceCase{Key: key, Passed: true, Found: []operation.AcceptanceFinding{{Stage: "note", Effects: 1, Expected: 1}}})
	}
	return s
}

// TestAcceptanceIsSignedByTwo takes a run to its sheet and its two signatures, and lets a
// newer version make it stale.
func TestAcceptanceIsSignedByTwo(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	id := ask(t, f)
	again, err := f.Store.AskAcceptance(t.Context(), f.As("ops"), store.NewAcceptance{Flow: "plain-note", Version: 1, Input: acceptanceInput})
	if ok(t, err); again != id {
		t.Errorf("the same form sent twice asks for %s, then for %s", id, again)
	}
	_, err = f.Store.AskAcceptance(t.Context(), f.As("admin"), store.NewAcceptance{Flow: "plain-note", Version: 1, Input: acceptanceInput})
	invalid(t, err, "acceptance_open")
	plan, err := f.Store.ClaimAcceptance(t.Context(), "w1", time.Minute)
	ok(t, err)
	if plan.ID != id || len(plan.Destinations) != 1 || plan.Destinations[0].Source == "" || plan.Source.Source == "" {
		t.Fatalf("plan %+v", plan)
	}
	if _, err := f.Store.ClaimAcceptance(t.Context(), "w2", time.Minute); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("it was claimed twice: %v", err)
	}
	if _, err := f.Store.KeepAcceptance(t.Context(), id, "w2", time.Minute, nil); !errors.Is(err, store.ErrAcceptanceLost) {
		t.Errorf("another worker keeps it: %v", err)
	}
	ok(t, f.Store.EndAcceptance(t.Context(), id, "w1", passedSheet(plan)))
	p, err := f.Store.FindAcceptance(t.Context(), f.As("ops"), id)
	ok(t, err)
	if p.State != operation.AcceptancePassed || p.HashHex() == "" || !p.ChainOK || p.Stale {
		t.Fatalf("%+v", p)
	}
	const owner = "ops2" // the flow names them
	refused(t, f.Store.SignAcceptance(t.Context(), f.Fresh(t, "ops"), id, store.Signature{Part: operation.SignedByOwner, Hash: p.HashHex()}), operation.CodeNotEntitled)
	sign := func(who, part, hash string) error {
		return f.Store.SignAcceptance(t.Context(), f.Fresh(t, who), id, store.Signature{Part: part, Hash: hash})
	}
	invalid(t, sign(owner, operation.SignedByOwner, strings.Repeat("0", 64)), "acceptance_other_sheet")
	if err := f.Store.SignAcceptance(t.Context(), store.Person(f.As(owner).UserID(), "x", "web"), id, store.Signature{Part: operation.SignedByOwner, Hash: p.HashHex()}); !errors.Is(err, store.ErrConfirm) {
		t.Errorf("signed without a proof: %v", err)
	}
	ok(t, sign(owner, operation.SignedByOwner, p.HashHex()))
	ok(t, sign(owner, operation.SignedByOwner, p.HashHex())) // the same form sent twice
	if n := f.Count(t, "history WHERE action = 'sign_acceptance'"); n != 1 {
		t.Errorf("signed %d times", n)
	}
	invalid(t, f.Store.SignAcceptance(t.Context(), f.Fresh(t, owner), id, store.Signature{Part: operation.SignedByOwner, Hash: p.HashHex(), Comment: "with another comment"}), "acceptance_signed")
	ok(t, sign("admin", operation.SignedByImplementer, p.HashHex()))
	files, err := storetest.DemoFiles()
	ok(t, err)
	for i := range files {
		if strings.HasSuffix(files[i].Name, "plain.yaml") {
			files[i].Source = append(files[i].Source, "\n# newer\n"...)
		}
	}
	_, err = f.Store.Apply(t.Context(), store.System("command"), files)
	ok(t, err)
	p, err = f.Store.FindAcceptance(t.Context(), f.As("ops"), id)
	ok(t, err)
	if !p.Stale || !p.Agreed() || len(p.Signatures) != 2 || !p.ChainOK {
		t.Errorf("stale %v, signed %d", p.Stale, p.Signed)
	}
	whole(t, f.Store, operation.SubjectAcceptance, string(id))
}

// TestAcceptanceEndsOnce: a lost worker's run is interrupted, and what it says afterwards
// counts for nothing; a sheet about something else never passes; ended runs stay.
func TestAcceptanceEndsOnce(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	id := ask(t, f)
	plan, err := f.Store.ClaimAcceptance(t.Context(), "w1", -time.Second)
	ok(t, err)
	for _, want := range []int{1, 0} {
		if n, err := f.Store.SweepAcceptances(t.Context(), store.System("job")); n != want || err != nil {
			t.Fatalf("%d interrupted, want %d: %v", n, want, err)
		}
	}
	if err := f.Store.EndAcceptance(t.Context(), id, "w1", passedSheet(plan)); !errors.Is(err, store.ErrAcceptanceLost) {
		t.Errorf("a lost run ended: %v", err)
	}
	second := ask(t, f)
	plan, err = f.Store.ClaimAcceptance(t.Context(), "w1", time.Minute)
	ok(t, err)
	sheet := passedSheet(plan)
	sheet.Flow.Hash = strings.Repeat("0", 64)
	ok(t, f.Store.EndAcceptance(t.Context(), second, "w1", sheet))
	third := ask(t, f)
	ok(t, f.Store.CancelAcceptance(t.Context(), f.As("ops"), third))
	for id, want := range map[operation.AcceptanceID]operation.AcceptanceState{id: operation.AcceptanceInterrupted, second: operation.AcceptanceBroken, third: operation.AcceptanceCancelled} {
		p, err := f.Store.FindAcceptance(t.Context(), f.As("ops"), id)
		ok(t, err)
		if p.State != want {
			t.Errorf("%s is %s, want %s", id, p.State, want)
		}
	}
	var p *pq.Error
	if _, err := f.Owner.Exec(`UPDATE acceptance_runs SET failure = 'x'`); !errors.As(err, &p) || p.Constraint != "acceptance_runs_kept" {
		t.Errorf("an ended run changed: %v", err)
	}
	if _, err := f.Owner.Exec(`INSERT INTO acceptance_destinations VALUES ($1, 'plain', 1, 'production')`, string(id)); !errors.As(err, &p) ||
		p.Constraint != "acceptance_destinations_test" && p.Constraint != "acceptance_destinations_current" {
		t.Errorf("a destination that is not for tests: %v", err)
	}
}

// TestAcceptanceOnlyOfTests refuses a destination that is not marked as for tests.
func TestAcceptanceOnlyOfTests(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	files, err := storetest.DemoFiles()
	ok(t, err)
	for i := range files {
		if strings.HasSuffix(files[i].Name, "plain.yaml") {
			files[i].Source = []byte(strings.Replace(string(files[i].Source), "environment: test", "environment: production", 1))
		}
	}
	_, err = f.Store.Apply(t.Context(), store.System("command"), files)
	ok(t, err)
	_, err = f.Store.AskAcceptance(t.Context(), f.As("ops"), store.NewAcceptance{Flow: "plain-note", Version: 1, Input: acceptanceInput})
	invalid(t, err, "acceptance_barred")
	bars, err := f.Store.FindAcceptanceBars(t.Context(), "plain-note", 1)
	if err != nil || len(bars) != 1 || bars[0].Code != "not_test" {
		t.Errorf("bars %+v: %v", bars, err)
	}
	f.ApplyMailing(t, "")
	_, err = f.Store.AskAcceptance(t.Context(), f.As("ops"), store.NewAcceptance{Flow: "mailing", Version: 1, Input: acceptanceInput})
	invalid(t, err, "acceptance_barred")
	if bars, err = f.Store.FindAcceptanceBars(t.Context(), "mailing", 1); err != nil || len(bars) == 0 || bars[0].Code != "for_each" || bars[0].Stage != "letter" {
		t.Errorf("of a flow that fans out: %+v: %v", bars, err)
	}
	if _, err := f.Store.AskAcceptance(t.Context(), f.As("author"), store.NewAcceptance{Flow: "plain-note", Version: 1, Input: acceptanceInput}); err == nil {
		t.Error("an author asked for it")
	}
}
