package handlers

import (
	"strings"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/views"
)

// panel is what is decided next, and what this viewer may do.
func (b batchOf) panel() views.BatchPanel {
	p := views.BatchPanel{Decide: b.decide(), Withdraw: b.withdraw(), Revise: b.revise()}
	if b.p.State.Takes(operation.BatchActStop) && !b.p.Stopped() {
		p.Stop = b.act(operation.BatchActStop)
		if b.p.Paused() {
			p.Resume = b.act(operation.BatchActResume)
		} else {
			p.Pause = b.act(operation.BatchActPause)
		}
	}
	if b.p.State.Takes(operation.BatchActCancel) && b.mayAct(operation.BatchActCancel) == nil {
		p.Cancel = b.act(operation.BatchActCancel)
	}
	if b.p.Turn.Unmet {
		if a := b.act(operation.BatchActGoOn); a.Barred == nil || b.p.Turn.Kind == operation.TurnGoOn {
			p.GoOn = a
		}
	}
	switch next := b.p.Next(); {
	case b.p.Turn.Kind == operation.TurnGoOn:
		p.Yours = p.GoOn != nil && p.GoOn.Barred == nil && b.n.myTurn(b.p.Turn.Next.Who)
	case p.Decide != nil:
		p.Yours = p.Decide.Barred == nil
	case p.Resume != nil:
		p.Yours = p.Resume.Barred == nil && b.n.myTurn(next.Who)
	case b.p.State == operation.BatchDraft:
		p.Yours = p.Revise != nil && p.Revise.Barred == nil
	}
	return p
}

// turn says whose turn it is: a role whose next decision this viewer is barred from is
// somebody else's of that role, even where the viewer holds it.
func (b batchOf) turn(w views.Who) views.Who {
	if w.You && w.Kind == views.WhoRole && (!b.next || b.nextBarred() != nil) {
		w.You, w.Another = false, true
	}
	return w
}

// nextBarred says why the next decision is not the viewer's; nil = it may be.
func (b batchOf) nextBarred() *operation.Refusal {
	if b.p.Turn.Kind != operation.TurnRecorded {
		return nil
	}
	switch decide := b.decide(); {
	case decide != nil:
		return decide.Barred
	case b.p.State == operation.BatchDraft:
		return b.revise().Barred
	case b.p.Paused() && !b.p.Stopped():
		return b.mayAct(operation.BatchActResume)
	}
	return nil
}

// act leads to the page that says what is done to how many items.
func (b batchOf) act(a operation.BatchAct) *views.LinkAction {
	return &views.LinkAction{URL: pathBatch(b.p.ID) + "/" + string(a), Barred: b.mayAct(a)}
}

// mayAct says why the viewer may not do this to the whole; nil = they may.
func (b batchOf) mayAct(a operation.BatchAct) *operation.Refusal {
	f := b.p.Def
	people := operation.People{Owner: operation.Responsible{Role: f.Owner.Role}, Author: operation.Responsible{Role: f.Author.Role}, Reviewer: operation.Responsible{Role: f.Reviewer.Role}}
	if people.Author.Role == "" {
		people.Author.Role = operation.RoleAuthor
	}
	return operation.MayActOnBatch(a, b.n.viewer, people, b.p.Stage2.Approval.Roles())
}

// revise leads to the page on which the author makes a new version.
func (b batchOf) revise() *views.LinkAction {
	if b.p.State != operation.BatchDraft && b.p.State != operation.BatchPendingApproval {
		return nil
	}
	author := b.p.Def.Author.Role
	if author == "" {
		author = operation.RoleAuthor
	}
	why := b.ops.needs(author, author, operation.RoleAuthor)
	if why != nil && b.p.State == operation.BatchPendingApproval {
		return nil
	}
	return &views.LinkAction{URL: pathBatch(b.p.ID) + "/revise", Barred: why}
}

// decide is the approvers' decision about the whole, or why it is not the viewer's.
func (b batchOf) decide() *views.DecideForm {
	if !b.waits() {
		return nil
	}
	f := b.ops.decide()
	if f == nil {
		return nil
	}
	f.Form, _ = b.formOf(f.Form, "decide")
	ask := &views.BatchAsk{Phase: b.p.Phase(), Items: b.p.Counts.Waiting, LeftOut: b.p.Counts.Duplicates + b.p.Counts.Suppressed, Mails: b.p.EffectType == effectMail}
	if b.p.Phase() == operation.PhaseRest {
		n := b.p.Counts.States
		ask.LeftOut, ask.Doubt = 0, n[operation.Unknown]+n[operation.Review]+n[operation.ReexecutionRequested]
		ask.Lapsed = operation.RestLapsed(b.p.State, b.p.Released, b.p.Cleared)
	} else if n := b.p.Canary; n > 0 && n < ask.Items {
		ask.Rest, ask.Items = ask.Items-n, n
	}
	f.Batch = ask
	return f
}

// withdraw takes the viewer's approval back while others are still missing.
func (b batchOf) withdraw() *views.ReasonForm {
	if !b.waits() {
		return nil
	}
	f := b.ops.withdraw()
	if f != nil {
		f.Form, _ = b.formOf(f.Form, "withdraw")
	}
	return f
}

// formOf gives a form that was made for an operation the fields of the batch's.
func (b batchOf) formOf(made views.Form, name string) (views.Form, typed) {
	f, t := b.form(name)
	f.Barred = made.Barred
	return f, t
}

// stale says what the form was shown with and what is there now.
func (b batchOf) stale(t typed) *views.BatchStale {
	number, _ := splitVersion(t.val("version"))
	return &views.BatchStale{Seen: number, Now: b.p.Number, SeenRevision: max(t.revision(), 0), NowRevision: b.p.Revision, SeenHash: t.val("hash"), NowHash: b.p.Version.HashHex(),
		Changes: historySince(b.p.History, b.n, t.shownAt())}
}

// splitVersion reads a version and phase as forms carry them.
func splitVersion(x string) (number int, phase operation.BatchPhase) {
	n, ph, _ := strings.Cut(x, "-")
	return numberIn(n), operation.BatchPhase(ph)
}

// signatures are the decisions that stand and the places that are open, of the phase that is
// decided now; else all approvals that let items go.
func (b batchOf) signatures() []views.Signature {
	var out []views.Signature
	if b.waits() {
		out = b.ops.signatures()
		for i := range out {
			out[i].Rest, out[i].Lapsed = b.p.Phase() == operation.PhaseRest, operation.RestLapsed(b.p.State, b.p.Released, b.p.Cleared)
		}
		return out
	}
	for _, a := range b.p.Approvals {
		if a.Number == b.p.Number && (a.Decision == operation.Approve || a.Decision == operation.Reject) && !withdrawn(b.p.Approvals, a) {
			x := batchSignature(b.n, a)
			x.Lapsed = x.Rest && restLapsed(b.p.History, a.At)
			out = append(out, x)
		}
	}
	return out
}

// restLapsed reports that people decided about a batch's rest at that time because its approval
// held no longer, and not because the canary was closed. The history is read oldest first.
func restLapsed(history []store.HistoryRow, at time.Time) (lapsed bool) {
	for _, h := range history {
		if string(h.To) == string(operation.BatchCanaryReview) && h.From != h.To && !h.At.After(at) {
			lapsed = h.Action == "expire"
		}
	}
	return lapsed
}

// withdrawn reports that the person took the approval back.
func withdrawn(list []store.BatchApproval, a store.BatchApproval) bool {
	for _, x := range list {
		if x.Decision == operation.Withdraw && x.User == a.User && x.Number == a.Number && x.Phase == a.Phase && x.At.After(a.At) {
			return true
		}
	}
	return false
}

func batchSignature(n names, a store.BatchApproval) views.Signature {
	who := n.person(string(a.User))
	if a.For != "" {
		who.For = n.name(string(a.For))
	}
	return views.Signature{Given: true, Rest: a.Phase == operation.PhaseRest, Who: who, At: a.At, Comment: a.Reason, Decision: a.Decision, Preset: a.ReasonCode, PresetWords: a.ReasonWords}
}
