package handlers

import (
	"encoding/hex"
	"strings"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/views"
)

// triedColumn is the ladder of attempts: of many, the first and the newest.
func (b panelOf) triedColumn(want shown) views.Tried {
	p, n := b.p, b.n
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
	from, to := views.Middle(len(p.Attempts), want.all == "attempts")
	t.Gap = views.Gap{After: from, Left: to - from, URL: pathOperation(p.ID) + "?all=attempts#q2"}
	for i, a := range p.Attempts {
		if i < from || i >= to {
			t.Attempts = append(t.Attempts, attemptView(p, n, a))
		}
	}
	return t
}

func attemptView(p *store.OperationPage, n names, a store.AttemptView) views.AttemptView {
	v := views.AttemptView{
		ID: a.ID, Number: a.Number, Kind: a.Kind, ClaimedAt: a.ClaimedAt, By: worker(n, a), DispatchedAt: timeOf(a.DispatchedAt),
		Key: a.Key, Generation: a.KeyGeneration, SendBy: timeOf(a.SendBy), LeaseEnd: a.LeaseUntil,
		Open: a.ID == p.OpenAttempt, EndedAt: timeOf(a.EndedAt), Proof: a.Proof(),
	}
	if a.ResolvedHash != nil {
		v.Resolved = hex.EncodeToString(a.ResolvedHash)
		if a.Resolved != nil || a.AsBefore {
			v.BytesURL = pathAttempt(p.ID, a.ID)
		}
	}
	if shown, cut := views.Bound(v.Proof.Excerpt, views.ShownText/4); cut {
		v.AnswerCut = views.Cut{Shown: len(shown), Total: len(v.Proof.Excerpt)}
		v.Proof.Excerpt = shown
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
