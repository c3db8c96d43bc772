package drill

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"holdpoint/connector"
	"holdpoint/operation"
	"holdpoint/store"
)

// find puts an operation on the sheet and checks what holds for every one.
func (t *acceptTrial) find(id operation.ID, expected int) (operation.AcceptanceFinding, error) {
	p, err := t.page(id)
	if err != nil {
		return operation.AcceptanceFinding{}, err
	}
	d := t.dests[p.Destination]
	f := operation.AcceptanceFinding{Operation: id, Stage: p.Stage, Destination: p.Destination, State: p.State, Expected: expected, Target: p.TargetReference,
		Version: p.Current().HashHex(), Attempts: []string{}, Evidence: []string{}}
	dispatched := 0
	for _, at := range p.Attempts {
		f.Attempts = append(f.Attempts, string(at.Kind)+" "+outcomeOf(at))
		if at.DispatchedAt != nil {
			dispatched++
		}
	}
	for _, e := range p.Evidence {
		f.Evidence = append(f.Evidence, strings.TrimSpace(e.Kind+" "+e.Result))
	}
	came := d.gate.of(id)
	for _, x := range came {
		if x.reached {
			f.Requests, f.Sent = f.Requests+1, x.hash
		}
	}
	if n := len(p.History); n > 0 {
		f.History = hex.EncodeToString(headOf(p))
	}
	var ids []string
	if f.Effects, ids, f.CountedBy, err = t.count(p); err != nil {
		return f, err
	}
	t.Found = append(t.Found, f)
	t.check(f.Effects == expected, "effects", "Stage", f.Stage, "Found", strconv.Itoa(f.Effects), "Expected", strconv.Itoa(expected))
	t.check(len(came) == dispatched, "requests", "Stage", f.Stage, "Found", strconv.Itoa(len(came)), "Expected", strconv.Itoa(dispatched))
	t.check(p.ChainOK, "chain", "Stage", f.Stage)
	t.check(p.State.Closed() || p.Next().Kind != "", "nobody", "Stage", f.Stage)
	if p.State == operation.Confirmed && len(ids) == 1 {
		t.check(ids[0] == p.TargetReference, "target", "Stage", f.Stage, "Found", ids[0], "Expected", p.TargetReference)
	}
	return f, nil
}

// headOf is the hash of the newest entry of the operation's history.
func headOf(p *store.OperationPage) []byte {
	newest := p.History[0]
	for _, e := range p.History {
		if e.Seq > newest.Seq {
			newest = e
		}
	}
	return newest.Hash
}

// count asks who knows how many effects of an operation exist: the sandbox's ledger, or
// the test destination by the profile's own lookup.
func (t *acceptTrial) count(p *store.OperationPage) (n int, ids []string, by string, err error) {
	d := t.dests[p.Destination]
	if d.part != "" {
		there, err := t.box.ledger(t.ctx, d.part, p.ID)
		for _, e := range there {
			ids = append(ids, e.ID)
		}
		return len(there), ids, operation.CountedByLedger, err
	}
	conn, err := connector.New(d.profile, t.env)
	if err != nil {
		return 0, nil, "", err
	}
	generation := 1
	for _, a := range p.Attempts {
		generation = max(generation, a.KeyGeneration)
	}
	look := connector.LookupOrder{Operation: p.ID, Action: p.Action.Name, Key: operation.DestinationKey(p.ID, generation), Content: p.Current().Content(), DispatchedAt: time.Now()}
	if at := d.gate.latest(p.ID); !at.IsZero() { // sooner, a second effect could be hidden
		if err := pause(t.ctx, time.Until(at.Add(d.lag(p.Action.Name)))); err != nil {
			return 0, nil, operation.CountedByLookup, err
		}
	}
	for {
		f := conn.Lookup(t.ctx, look)
		switch f.Result {
		case operation.LookupOne:
			return 1, []string{f.ID}, operation.CountedByLookup, nil
		case operation.LookupMany:
			return max(2, len(f.Found)), nil, operation.CountedByLookup, nil
		case operation.LookupNone:
			if len(p.Attempts) == 0 || p.State != operation.Confirmed {
				return 0, nil, operation.CountedByLookup, nil
			}
		}
		if err := pause(t.ctx, time.Second); err != nil { // its index may be behind
			return 0, nil, operation.CountedByLookup, fmt.Errorf("the destination's lookup said %q last: %w", f.Result, err)
		}
	}
}

// confirmed waits until an operation is confirmed and puts it on the sheet with its one
// effect.
func (t *acceptTrial) confirmed(id operation.ID) (operation.AcceptanceFinding, error) {
	if _, err := t.untilState(id, operation.Confirmed); err != nil {
		t.ctx = context.WithoutCancel(t.ctx)
		_, more := t.find(id, 1)
		return operation.AcceptanceFinding{}, errors.Join(err, more)
	}
	return t.find(id, 1)
}

// attempts checks the attempts of an operation, as kind and outcome.
func (t *acceptTrial) attempts(f operation.AcceptanceFinding, want ...string) {
	t.check(slices.Equal(f.Attempts, want), "attempts", "Stage", f.Stage, "Found", strings.Join(f.Attempts, ", "), "Expected", strings.Join(want, ", "))
}

// unsent checks that nothing reached the destination.
func (t *acceptTrial) unsent(p *store.OperationPage) {
	t.check(len(t.dests[p.Destination].gate.of(p.ID)) == 0, "sent_early", "Stage", p.Stage)
}

// race claims an operation as four more workers would, until it is closed or ctx ends. A
// claim that the gate permits is performed, once, and reported.
func (t *acceptTrial) race(ctx context.Context, p *store.OperationPage) (won, refusals int, err error) {
	conn, err := connector.New(t.dests[p.Destination].profile, t.env)
	if err != nil {
		return 0, 0, err
	}
	var mu sync.Mutex
	var all sync.WaitGroup
	for n := range clients {
		all.Go(func() {
			name := fmt.Sprint("racer ", n+1)
			for ctx.Err() == nil {
				before := time.Now()
				d, cerr := t.store.ClaimAndDispatch(ctx, store.Job(name), p.ID, name)
				mu.Lock()
				var no *operation.Refusal
				switch {
				case cerr == nil:
					won++
				case errors.As(cerr, &no):
					refusals++
				case ctx.Err() == nil:
					err = errors.Join(err, cerr)
				}
				mu.Unlock()
				if cerr == nil {
					r := conn.Act(ctx, connector.Order{Operation: d.Operation, Attempt: d.Attempt, Fence: d.Fence, Action: d.Action, Request: d.Request, Key: d.Key,
						Content: d.Content, DispatchedAt: d.DispatchedAt, Deadline: before.Add(d.Budget), WallDeadline: before.Round(0).Add(d.Budget)})
					if _, rerr := t.store.Record(context.WithoutCancel(ctx), store.Job(name), d.Attempt, d.Fence, r); rerr != nil {
						mu.Lock()
						err = errors.Join(err, rerr)
						mu.Unlock()
					}
				}
				_ = pause(ctx, 5*time.Millisecond)
			}
		})
	}
	all.Wait()
	return won, refusals, err
}
