package jobs

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
)

// sheetOf is a sheet of a plan on which every case passed.
func sheetOf(p operation.AcceptancePlan, cases []operation.AcceptanceCase) operation.AcceptanceSheet {
	s := operation.AcceptanceSheet{Format: operation.AcceptanceFormat, ID: p.ID, Program: "test", Flow: p.Flow, Input: p.Input, Began: time.Now().UTC(), Ended: time.Now().UTC(), Cases: cases}
	s.Flow.Source = ""
	for _, d := range p.Destinations {
		d.Source = ""
		s.Destinations = append(s.Destinations, d)
	}
	return s
}

// TestAcceptancesAreRun: a worker takes a run up, tells of each case as it ends, and leaves
// its sheet. A run that is broken off ends as cancelled, one that cannot be run says why,
// and one whose worker stops ends as interrupted; none of them as passed.
func TestAcceptancesAreRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "2s")
	seen, runs := make(chan struct{}), atomic.Int64{}
	worker := w.work(func(c *Config) {
		c.Rehearse = func(ctx context.Context, p operation.AcceptancePlan, ended func(operation.AcceptanceCase)) (operation.AcceptanceSheet, error) {
			n := runs.Add(1)
			if n == 3 {
				return operation.AcceptanceSheet{}, errors.New("there is no sandbox")
			}
			var cases []operation.AcceptanceCase
			for i, key := range operation.AcceptanceCases {
				if i == 2 {
					select {
					case <-seen:
					case <-ctx.Done():
						return operation.AcceptanceSheet{}, ctx.Err()
					}
				}
				c := operation.AcceptanceCase{Key: key, Passed: true, Began: time.Now().UTC(), Ended: time.Now().UTC(),
					Found: []operation.AcceptanceFinding{{Operation: "op_01", Stage: "effect", Destination: "crm", State: operation.Confirmed, Effects: 1, Expected: 1, Requests: 1, CountedBy: operation.CountedByLookup}}}
				cases = append(cases, c)
				ended(c)
			}
			return sheetOf(p, cases), nil
		}
	})
	ask := func() operation.AcceptanceID {
		id, err := w.store.AskAcceptance(t.Context(), w.lead, store.NewAcceptance{Flow: "to-crm", Version: 1, Input: `{"inputs":{},"content":{"effect":{"subject":"try-{n}"}}}`})
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	is := func(id operation.AcceptanceID, what string, ok func(*store.AcceptancePage) bool) {
		t.Helper()
		var p *store.AcceptancePage
		for limit := time.Now().Add(20 * time.Second); time.Now().Before(limit); time.Sleep(20 * time.Millisecond) {
			var err error
			if p, err = w.store.FindAcceptance(t.Context(), w.lead, id); err != nil {
				t.Fatal(err)
			}
			if ok(p) {
				return
			}
		}
		t.Fatalf("never %s: %s, %q, %d cases", what, p.State, p.Failure, len(p.Progress))
	}
	two := func(p *store.AcceptancePage) bool {
		return p.State == operation.AcceptanceRunning && len(p.Progress) == 2
	}
	id := ask()
	is(id, "two cases", two)
	seen <- struct{}{}
	is(id, "passed", func(p *store.AcceptancePage) bool {
		return p.State == operation.AcceptancePassed && p.HashHex() != "" && len(p.Sheet.Cases) == len(operation.AcceptanceCases)
	})

	id = ask()
	is(id, "two cases", two)
	if err := w.store.CancelAcceptance(t.Context(), w.lead, id); err != nil {
		t.Fatal(err)
	}
	is(id, "cancelled", func(p *store.AcceptancePage) bool { return p.State == operation.AcceptanceCancelled })

	id = ask()
	is(id, "broken", func(p *store.AcceptancePage) bool {
		return p.State == operation.AcceptanceBroken && p.Failure == "there is no sandbox"
	})

	id = ask()
	is(id, "two cases", two)
	if err := worker.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	is(id, "interrupted", func(p *store.AcceptancePage) bool { return p.State == operation.AcceptanceInterrupted })
}
