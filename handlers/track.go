package handlers

import (
	"encoding/hex"

	"holdpoint/operation"
	"holdpoint/operation/definition"
	"holdpoint/store"
	"holdpoint/views"
)

// runStages is the track: one line for each operation of the run, and one for each
// stage that has none.
func runStages(p *store.RunPage, n names, lang string, t typed) []views.RunStage {
	var out []views.RunStage
	for i, st := range p.Flow.Stages {
		found := false
		for _, o := range p.Operations {
			if o.Stage == st.Key {
				found = true
				out = append(out, runStage(p, n, o, i+1, lang, t))
			}
		}
		for _, x := range p.Batches {
			if x.Stage == st.Key {
				found = true
				out = append(out, batchStage(p, x, n, st, i+1, lang))
			}
		}
		if !found && (len(p.Operations) > 0 && !p.Operations[0].Adopted || len(p.Batches) > 0) {
			out = append(out, views.RunStage{Number: i + 1, Key: st.Key, Title: st.Title.In(lang), Mark: views.MarkLater, Destination: st.Destination, Preview: views.Sentence("run.preview.none")})
		}
	}
	return out
}

// batchStage is the line of a fanned-out stage.
func batchStage(p *store.RunPage, x store.Batch, n names, st definition.Stage, number int, lang string) views.RunStage {
	turn := p.Turns[x.ID]
	next := turn.Next
	at := standingOf(x, p.Counts[x.ID], turn, n)
	out := views.RunStage{Number: number, Key: x.Stage, Title: st.Title.In(lang), URL: pathBatch(x.ID), Batch: &at, Counts: batchCounts(p.Counts[x.ID], ""), Destination: x.Destination, Mark: views.MarkNext,
		Next: next.Kind, Turn: lineTurn(turn), Responsible: n.responsible(next.Who), Due: next.At, Overdue: turn.Overdue(p.Now), GoOnURL: goOnURL(p, n, x)}
	w, waived := p.Waived[x.Stage]
	switch {
	case x.Satisfied:
		out.Mark = views.MarkKept
	case waived:
		out.Mark = views.MarkKept
		out.WentOn = &views.Signature{Given: true, Who: n.person(w.By), At: w.At, Comment: w.Reason}
	case x.State.Closed():
		out.Mark = views.MarkBlocked
	}
	out.Preview = views.Sentence("batch.in_run", "N", x.Included)
	return out
}

func runStage(p *store.RunPage, n names, o store.OperationSummary, number int, lang string, t typed) views.RunStage {
	title := stageTitle(p, o.Stage, lang)
	next := o.Next()
	s := views.RunStage{Number: number, Key: o.Stage, Title: title, Operation: o.ID, URL: pathOperation(o.ID), State: o.State, Destination: o.Destination, Mark: views.MarkNext,
		ConfirmedBy: views.ConfirmedBy(o.ConfirmedBy), Next: next.Kind, Responsible: n.responsible(next.Who), Due: next.At, Overdue: o.Overdue(p.Now)}
	w, waived := p.Waived[o.Stage]
	switch {
	case o.State == operation.Confirmed:
		s.Mark = views.MarkKept
		s.Reference = &views.Reference{ID: o.TargetReference, URL: safeURL(o.TargetURL), Effect: o.EffectType, At: o.UpdatedAt}
	case waived:
		s.Mark = views.MarkKept
		s.WentOn = &views.Signature{Given: true, Who: n.person(w.By), At: w.At, Comment: w.Reason}
	case o.State.WithoutEffect():
		s.Mark = views.MarkBlocked
		if !replaced(p, o) {
			s.GoOn = goOnForm(p, n, o, title, t)
		}
		if s.GoOn != nil && s.GoOn.Barred == nil {
			s.ReplaceURL = pathOperation(o.ID) + "/replace"
		}
		if s.GoOn != nil && o.Remedy == store.RemedyBlocked {
			s.LeaveURL = pathOperation(o.ID) + "#decision"
		}
	case o.State == operation.Review || o.State == operation.ReexecutionRequested || o.State == operation.Unknown:
		s.Mark = views.MarkBlocked
	case len(p.EarlierOpen[o.ID]) > 0:
		s.Mark = views.MarkLater
		first := p.EarlierOpen[o.ID][0]
		if s.Why = views.Refused(operation.Refuse(operation.CodeEarlierStage, "stage", stageTitle(p, first, lang))); closedWithout(p, first) {
			s.Why = views.Sentence("run.earlier_closed", "Stage", stageTitle(p, first, lang))
		}
	}
	if o.ClearanceID != "" {
		s.Version, s.Hash = o.VersionNo, hex.EncodeToString(p.Hashes[o.VersionID])
	}
	s.Preview = preview(p, o, s, lang)
	return s
}

// preview says what becomes of a stage when the run goes on: what is kept, what is sent
// with which approved version, what stands in the way. titleDestinations puts in where to.
func preview(p *store.RunPage, o store.OperationSummary, s views.RunStage, lang string) views.Say {
	say := func(key string, args ...any) views.Say {
		return views.Sentence(key, append(args, "Number", o.VersionNo)...)
	}
	earlier := ""
	if open := p.EarlierOpen[o.ID]; len(open) > 0 {
		earlier = stageTitle(p, open[0], lang)
	}
	switch {
	case o.State == operation.Confirmed:
		return views.Sentence("run.preview.kept")
	case s.WentOn != nil:
		return views.Sentence("run.preview.went_on")
	case o.State.WithoutEffect() && replaced(p, o):
		return views.Sentence("run.preview.replaced")
	case p.State == operation.RunStopped:
		return views.Sentence("run.preview.stopped")
	case o.State.WithoutEffect():
		return views.Sentence("run.preview.closed")
	case o.NextKind == string(operation.DecideResume):
		return views.Sentence("run.preview.paused")
	case o.State == operation.Draft && earlier != "":
		return views.Sentence("run.preview.draft_later", "Stage", earlier)
	case o.State == operation.Draft:
		return views.Sentence("run.preview.draft")
	case o.State == operation.PendingApproval && earlier != "":
		return say("run.preview.approve_later", "Stage", earlier)
	case o.State == operation.PendingApproval:
		return say("run.preview.approve")
	case o.State == operation.InProgress:
		return say("run.preview.under_way")
	case o.State == operation.RetryScheduled && o.RetryAt != nil:
		return say("run.preview.retry", "At", *o.RetryAt)
	case o.State == operation.Unknown:
		return views.Sentence("run.preview.unknown")
	case o.State == operation.Review:
		return views.Sentence("run.preview.review")
	case o.State == operation.ReexecutionRequested:
		return views.Sentence("run.preview.reexecution")
	case earlier != "":
		return say("run.preview.later", "Stage", earlier)
	}
	return say("run.preview.send")
}

// inPreview puts the destination's title into a stage's preview.
func inPreview(s views.RunStage) views.Say {
	if k := s.Preview.Key; k == "run.preview.send" || k == "run.preview.later" {
		s.Preview.Args = append(s.Preview.Args, "Destination", views.Plain(s.Destination))
	}
	return s.Preview
}

func stageTitle(p *store.RunPage, key, lang string) string {
	if st, ok := p.Flow.Stage(key); ok {
		return st.Title.In(lang)
	}
	return key
}

// closedWithout reports that a stage is closed without effect and nothing replaces it.
func closedWithout(p *store.RunPage, stage string) bool {
	found := false
	for _, o := range p.Operations {
		if o.Stage != stage {
			continue
		}
		if found = o.State.WithoutEffect(); !found {
			return false
		}
	}
	return found
}

func replaced(p *store.RunPage, o store.OperationSummary) bool {
	for _, x := range p.Operations {
		if x.Replaces == string(o.ID) {
			return true
		}
	}
	return false
}

// goOnForm lets the owner go on without a stage that closed without an effect.
func goOnForm(p *store.RunPage, n names, o store.OperationSummary, title string, t typed) *views.GoOnForm {
	mine := t.of("go-on")
	if mine.val("version") != string(o.VersionID) {
		mine = typed{}
	}
	f := &views.GoOnForm{Form: newForm(mine, pathOperation(o.ID)+"/go-on"), Stage: title, Reason: mine.val("reason")}
	f.Revision, f.Version = o.Revision, o.VersionID
	b := panelOf{p: &store.OperationPage{OperationSummary: o, Flow2: p.Flow}, n: n}
	if st, ok := p.Flow.Stage(o.Stage); ok {
		b.p.Stage2 = *st
	}
	f.Barred = b.manages()
	return f
}
