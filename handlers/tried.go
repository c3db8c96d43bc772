package handlers

import (
	"strings"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/views"
)

// triedColumn is the ladder of attempts.
func triedColumn(p *store.OperationPage, n names) views.Tried {
	t := views.Tried{Used: p.AttemptsUsed, Max: p.AttemptsMax, Reexecution: p.Facts.Reexecution != nil && !p.State.Closed()}
	if p.RetryAt != nil && !p.State.Closed() {
		t.Next = *p.RetryAt
	}
	switch p.State {
	case operation.Ready, operation.RetryScheduled, operation.Unknown:
		if p.Gate != nil && p.Gate.Code != operation.CodeNotDue {
			t.Halt = views.Refused(p.Gate)
		}
	}
	for _, a := range p.Attempts {
		t.Attempts = append(t.Attempts, attemptView(p, n, a))
	}
	return t
}

func attemptView(p *store.OperationPage, n names, a store.AttemptView) views.AttemptView {
	v := views.AttemptView{
		ID: a.ID, Number: a.Number, Kind: a.Kind, ClaimedAt: a.ClaimedAt, By: worker(n, a), DispatchedAt: timeOf(a.DispatchedAt),
		Key: a.Key, Generation: a.KeyGeneration, SendBy: timeOf(a.SendBy), LeaseEnd: a.LeaseUntil,
		Open: a.ID == p.OpenAttempt, EndedAt: timeOf(a.EndedAt), Proof: a.Proof(),
	}
	if !p.Facts.Protection.Key { // the request carried none
		v.Key, v.Generation = "", 0
	}
	v.Written = v.Proof.Written
	if a.Outcome != nil {
		v.Outcome, _ = operation.ParseOutcome(*a.Outcome)
	}
	if v.Outcome == operation.OutcomeConfirmed {
		v.Reference = p.TargetReference
	}
	switch a.Settled {
	case "confirmed", "duplicate":
		v.SettledBy = views.SettledEffect
	case "not_done":
		v.SettledBy = views.SettledNoEffect
	}
	return v
}

func worker(n names, a store.AttemptView) views.Who {
	if strings.HasPrefix(a.ClaimedBy, "tok_") {
		return n.person(a.ClaimedBy)
	}
	if a.Worker != "" {
		return views.Who{Kind: views.WhoJob, Name: a.Worker}
	}
	return views.Who{Kind: views.WhoJob, Name: a.ClaimedBy}
}

func timeOf(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return *t
}
