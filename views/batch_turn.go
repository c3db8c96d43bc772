package views

import (
	"holdpoint/operation"
	"holdpoint/views/text"
)

// BatchTurn is what a batch waits for where that is not its own recorded decision.
type BatchTurn struct {
	Kind operation.BatchTurnKind
	N    int // outcomes or re-executions that people decide about
	// Of an earlier stage that holds it: where that is, and what it waits for itself.
	Stage     Link
	Items     bool // it holds those items that wait for their own one
	There     operation.BatchTurnKind
	ThereN    int
	ThereNext operation.DecisionKind
}

// next says what is decided next; "" = as it was recorded.
func (t BatchTurn) next(p *text.Printer) string {
	switch t.Kind {
	case operation.TurnHeld:
		return p.T("next.earlier_stage")
	case operation.TurnSettle, operation.TurnReexecution:
		return p.N("turn.next."+string(t.Kind), t.N)
	case operation.TurnGoOn:
		return p.T("next.blocked")
	case operation.TurnResume:
		return p.T("next.resume")
	}
	return ""
}

// what names the next decision in a list.
func (t BatchTurn) what(p *text.Printer, next operation.DecisionKind) string {
	if w := t.next(p); w != "" {
		return w
	}
	return p.T("next." + string(next))
}

// waits says what happens next, and who does it.
func (t BatchTurn) waits(p *text.Printer, who Who) string {
	w := who.In(p)
	switch t.Kind {
	case operation.TurnSettle, operation.TurnReexecution:
		return p.N("turn.waits."+string(t.Kind), t.N, "Who", w)
	case operation.TurnGoOn:
		return p.T("turn.waits.go_on", "Who", w)
	case operation.TurnResume:
		return p.T("turn.waits.resume", "Who", w)
	case operation.TurnHeld:
		return t.held(p, who)
	}
	return ""
}

// held says what holds the batch, and what is to be done there.
func (t BatchTurn) held(p *text.Printer, who Who) string {
	w := who.In(p)
	switch {
	case t.There == operation.TurnSettle || t.There == operation.TurnReexecution:
		return p.N("turn.held."+string(t.There), t.ThereN, "Stage", t.Stage.Label, "Who", w)
	case t.There == operation.TurnGoOn:
		return p.T("turn.held.go_on", "Stage", t.Stage.Label, "Who", w)
	case who.Kind == WhoSystem || t.ThereNext == operation.DecideNothing:
		return p.T("turn.held.system", "Stage", t.Stage.Label)
	}
	return p.T("turn.held.person", "Stage", t.Stage.Label, "What", p.T("next."+string(t.ThereNext)), "Who", w)
}

// restLapsed reports that the entry says that the approval of a batch's rest holds no longer.
func (e HistoryLine) restLapsed() bool {
	return e.Action == "expire" && string(e.To) == string(operation.BatchCanaryReview)
}
