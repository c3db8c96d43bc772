package drill

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
)

// Result is one line of the sheet.
type Result struct {
	Case       string   `json:"case"`
	Title      string   `json:"title"`
	Passed     bool     `json:"passed"`
	Took       float64  `json:"seconds"`
	Done       []string `json:"done"`       // what was done, in order
	Operations []Seen   `json:"operations"` // what came of it
	Failures   []string `json:"failures"`
}

// Seen is one operation at the end of a case. Effects and Requests come from the
// sandbox, everything else from the record.
type Seen struct {
	Operation   operation.ID `json:"operation"`
	Stage       string       `json:"stage"`
	Destination string       `json:"destination"`
	Effects     int          `json:"effects"`  // that exist in the destination's ledger
	Expected    int          `json:"expected"` // effects that must exist
	Requests    int          `json:"requests"` // with an effect, received by the destination
	Attempts    []string     `json:"attempts"` // kind and outcome, in order
	Evidence    []string     `json:"evidence"` // kind and result, in order
	State       string       `json:"state"`
	ConfirmedBy string       `json:"confirmed_by,omitempty"`
	Next        string       `json:"next"` // who is responsible for what; "-" when nothing is open

	dispatched int // attempts that were dispatched
}

// trial is one case while it runs.
type trial struct {
	*rig
	ctx context.Context
	Result
}

// did notes one step that was done.
func (t *trial) did(format string, args ...any) {
	t.Done = append(t.Done, fmt.Sprintf(format, args...))
}

// check notes a failure when something that must hold does not.
func (t *trial) check(ok bool, format string, args ...any) {
	if !ok {
		t.Failures = append(t.Failures, fmt.Sprintf(format, args...))
	}
}

// page reads an operation as its page shows it.
func (t *trial) page(id operation.ID) (*store.OperationPage, error) {
	return t.store.FindOperation(t.ctx, t.people["ops"], id)
}

// until waits until the record shows something about an operation.
func (t *trial) until(id operation.ID, what string, ok func(*store.OperationPage) bool) (*store.OperationPage, error) {
	last := operation.State("not read")
	for {
		p, err := t.page(id)
		if err == nil {
			if ok(p) {
				return p, nil
			}
			last = p.State
			err = pause(t.ctx, 20*time.Millisecond)
		}
		if err != nil {
			return nil, fmt.Errorf("%s is %s, waited for: %s: %w", id, last, what, err)
		}
	}
}

func (t *trial) untilState(id operation.ID, state operation.State) (*store.OperationPage, error) {
	return t.until(id, string(state), func(p *store.OperationPage) bool { return p.State == state })
}

// box's names of the drill's destinations.
var places = map[string]string{"drill-crm": "crm", "drill-mail": "mail", "drill-billing": "billing", "drill-blind": "billing"}

// record puts an operation on the sheet and checks, beside what seen checks, that as
// many requests arrived as attempts were dispatched: no transport repeated one.
func (t *trial) record(id operation.ID, effects int) (Seen, error) {
	s, err := t.seen(id, effects)
	if err != nil {
		return s, err
	}
	t.check(s.Requests == s.dispatched, "%d requests reached the destination, %d attempts were dispatched", s.Requests, s.dispatched)
	return s, nil
}

// seen puts an operation on the sheet and checks what holds for every one: the ledger's
// count, a history that verifies, and somebody responsible while it is open.
func (t *trial) seen(id operation.ID, effects int) (Seen, error) {
	p, err := t.page(id)
	if err != nil {
		return Seen{}, err
	}
	s := Seen{Operation: id, Stage: p.Stage, Destination: p.Destination, Expected: effects, State: string(p.State), ConfirmedBy: p.ConfirmedBy, Next: nextOf(p),
		Attempts: []string{}, Evidence: []string{}}
	there, err := t.box.ledger(t.ctx, places[p.Destination], id)
	if err != nil {
		return s, err
	}
	sends, err := t.box.sends(t.ctx, places[p.Destination], id)
	if err != nil {
		return s, err
	}
	s.Effects, s.Requests = len(there), len(sends)
	for _, a := range p.Attempts {
		s.Attempts = append(s.Attempts, string(a.Kind)+" "+outcomeOf(a))
		if a.DispatchedAt != nil {
			s.dispatched++
		}
	}
	for _, e := range p.Evidence {
		s.Evidence = append(s.Evidence, strings.TrimSpace(e.Kind+" "+e.Result))
	}
	t.Operations = append(t.Operations, s)
	t.check(s.Effects == effects, "the ledger holds %d effects of %s, expected %d", s.Effects, id, effects)
	t.check(p.ChainOK, "the history of %s does not verify", id)
	t.check(p.State.Closed() || p.Next().Kind != "", "%s is %s and nobody is responsible", id, p.State)
	if len(there) == 1 && p.State == operation.Confirmed {
		t.check(there[0].ID == p.TargetReference, "the record names %s, the ledger holds %s", p.TargetReference, there[0].ID)
	}
	return s, nil
}

// confirmed waits until an operation is confirmed and puts it on the sheet with its one
// effect.
func (t *trial) confirmed(id operation.ID) (Seen, error) {
	if _, err := t.untilState(id, operation.Confirmed); err != nil {
		_, more := t.record(id, 1)
		return Seen{}, fmt.Errorf("%w%s", err, textOf(more))
	}
	return t.record(id, 1)
}

func textOf(err error) string {
	if err == nil {
		return ""
	}
	return "; " + err.Error()
}

func outcomeOf(a store.AttemptView) string {
	if a.Outcome == nil {
		return "open"
	}
	return *a.Outcome
}

func nextOf(p *store.OperationPage) string {
	n := p.Next()
	switch {
	case n.Kind == "":
		return "-"
	case n.Who.System:
		return "system: " + string(n.Kind)
	case n.Who.User != "":
		return p.People[string(n.Who.User)] + ": " + string(n.Kind)
	}
	return string(n.Who.Role) + ": " + string(n.Kind)
}

// expect checks the attempts of an operation, as kind and outcome.
func (t *trial) expect(s Seen, attempts ...string) {
	t.check(slices.Equal(s.Attempts, attempts), "attempts are %q, expected %q", s.Attempts, attempts)
}
