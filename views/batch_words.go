package views

import (
	"strings"

	"holdpoint/operation"
	"holdpoint/views/text"
)

// batchSays says what the state means for this batch.
func batchSays(p *text.Printer, h BatchHead) string {
	switch {
	case h.State == operation.BatchPendingApproval && h.Required > 0:
		return p.N("state.says.pending_of", h.Given, "Number", h.Number, "Required", h.Required)
	case h.Turn.Kind == operation.TurnHeld && h.Turn.Items:
		return p.T("turn.says.items", "Stage", h.Turn.Stage.Label)
	case h.Turn.Kind == operation.TurnHeld:
		return p.T("turn.says.held", "Stage", h.Turn.Stage.Label)
	case h.State == operation.BatchClosed && h.Turn.N > 0:
		return p.N("turn.says.reopened", h.Turn.N)
	case h.Turn.Kind == operation.TurnGoOn && h.State == operation.BatchClosed:
		return p.T("turn.says.go_on")
	case h.noted() != "":
		return p.T("batch.says." + h.noted())
	case h.State == operation.BatchCanary:
		return p.N("batch.says.canary", h.Canary)
	case h.State == operation.BatchCanaryReview:
		return p.N("batch.says.canary_review", h.Canary)
	}
	return p.T("batch.says." + string(h.State))
}

// noted names what goes before the state: an end or a pause that a person or a limit put to
// it, or outcomes that are left; "" = the state itself says it.
func (b BatchStanding) noted() string {
	switch {
	case b.State == operation.BatchClosed && b.Settling:
		return "reopened"
	case b.State == operation.BatchClosed && b.Stop != nil:
		return "stopped"
	case b.State.Closed() || batchOpen(b.State):
		return ""
	case b.Stop != nil:
		return "stopping"
	case b.Pause != nil:
		return "paused"
	case b.Halted:
		return "halted"
	case b.Held:
		return "held"
	case b.Settling:
		return "settling"
	case b.Lapsed:
		return "lapsed"
	}
	return ""
}

// word names where a batch stands: a key under "batch.state.", a hue and a shape.
func (b BatchStanding) word() string {
	if n := b.noted(); n != "" {
		return n
	}
	return string(b.State)
}

func batchWord(p *text.Printer, b BatchStanding) string { return p.T("batch.state." + b.word()) }

func batchIcon(b BatchStanding) string {
	switch b.word() {
	case "stopped", "stopping":
		return "stop"
	case "paused", "halted":
		return "paused"
	case "settling":
		return "unknown"
	case "reopened":
		return "review"
	case "held":
		return "waiting"
	case "lapsed":
		return string(operation.PendingApproval)
	case string(operation.BatchCanary), string(operation.BatchRunning):
		return "in_progress"
	case string(operation.BatchCanaryReview):
		return "review"
	case string(operation.BatchClosed):
		return "confirmed"
	}
	return string(b.State)
}

// batchNext says what is decided next. Who looks at a canary decides about the rest.
func batchNext(p *text.Printer, h BatchHead) string {
	switch {
	case h.Turn.Kind != operation.TurnRecorded:
		return h.Turn.next(p)
	case h.Next == operation.DecideNothing:
		return p.T("next.nothing")
	case h.Lapsed && h.Next == operation.DecideApprove:
		return p.T("turn.next.lapsed")
	case h.State == operation.BatchCanaryReview && h.Next == operation.DecideApprove:
		return p.T("batch.next.canary")
	case h.State.Cleared() && h.Responsible.Kind == WhoSystem:
		return p.T("batch.next.run")
	}
	return p.T("next." + string(h.Next))
}

func batchResponsible(p *text.Printer, h BatchHead) string {
	if h.Next == operation.DecideNothing {
		return "–"
	}
	return h.Responsible.In(p)
}

// batchAsk is the question that the panel asks.
func batchAsk(p *text.Printer, m BatchModel) string {
	if d := m.Panel.Decide; d != nil {
		return askDecide(p, *d)
	}
	return batchNext(p, m.Head)
}

// batchWaits says what happens next where nothing is asked of the viewer.
func batchWaits(p *text.Printer, m BatchModel) string {
	h := m.Head
	switch {
	case h.State == operation.BatchDraft && m.Panel.Yours:
		return p.T("batch.waits.draft")
	case h.Turn.Kind != operation.TurnRecorded:
		return h.Turn.waits(p, h.Responsible)
	case h.Next == operation.DecideNothing && m.Found.Unknown+m.Found.Review > 0:
		return p.N("batch.waits.unknown", m.Found.Unknown+m.Found.Review)
	case h.Next == operation.DecideNothing:
		return p.T("batch.waits.closed")
	case h.Stop != nil:
		return p.T("batch.waits.stopping")
	case h.Pause != nil:
		return p.T("batch.waits.paused", "Who", h.Responsible.In(p))
	case h.Responsible.Kind == WhoSystem:
		return p.T("panel.system")
	}
	return p.T("panel.others", "Who", h.Responsible.In(p))
}

// alarmText says which limit a batch passed, and by how much it did. Of records that are older
// the limit is not known (-1).
func alarmText(p *text.Printer, a operation.BatchAlarm) string {
	args := []any{"Count", a.Count, "Last", a.Of, "Rate", p.Share(int64(a.Count), int64(a.Of)), "Limit", p.Percent(int64(a.Limit) * 10)}
	if a.Limit < 0 {
		return p.T("batch.auto_plain."+a.Kind, args...)
	}
	return p.T("batch.auto."+a.Kind, args...)
}

// askDecide is the question of a decision, approveWord the word on its button.
func askDecide(p *text.Printer, f DecideForm) string {
	switch {
	case f.Batch == nil:
		return p.T("panel.ask.approve", "Number", f.Number)
	case f.Batch.Phase == operation.PhaseRest:
		return p.N("batch.ask.rest", f.Batch.Items)
	case f.Batch.Mails:
		return p.N("batch.ask.mails", f.Batch.Items, "Number", f.Number)
	}
	return p.N("batch.ask.requests", f.Batch.Items, "Number", f.Number)
}

func approveWord(p *text.Printer, f DecideForm) string {
	if f.Batch != nil && f.Batch.Phase == operation.PhaseRest {
		return p.N("batch.approve_rest", f.Batch.Items)
	}
	return p.T("decide.approve", "Number", f.Number)
}

func rejectWord(p *text.Printer, f DecideForm) string {
	if f.Batch != nil && f.Batch.Phase == operation.PhaseRest {
		return p.T("batch.reject_rest")
	}
	return p.T("decide.reject")
}

// mayChange reports that the version can still be sent back: after a canary it cannot.
func (f DecideForm) mayChange() bool {
	return f.Batch == nil || f.Batch.Phase == operation.PhaseFirst
}

// decideHint says beside an answer what it does.
func decideHint(p *text.Printer, f DecideForm, d operation.Decision) string {
	if f.Batch == nil {
		return p.T("decide." + string(d) + "_hint")
	}
	if f.Batch.Phase == operation.PhaseRest {
		return p.T("batch.hint_rest." + string(d))
	}
	return p.T("batch.hint." + string(d))
}

// decideEffects are the sentences that say what an approval lets happen.
func decideEffects(p *text.Printer, f DecideForm) []string {
	out := []string{decideEffect(p, f)}
	b := f.Batch
	if b == nil {
		out = append(out, p.T("decide.effect"))
		if f.NextStage != "" {
			out = append(out, p.T("decide.next_stage", "Stage", f.NextStage))
		}
		return out
	}
	if b.Doubt > 0 {
		k := "turn.canary_doubt"
		if b.Lapsed {
			k = "turn.sent_doubt"
		}
		out = append([]string{p.N(k, b.Doubt)}, out...)
	}
	if b.Rest > 0 {
		out = append(out, p.N("batch.effect.rest", b.Rest))
	}
	if b.LeftOut > 0 {
		out = append(out, p.N("batch.effect.left_out", b.LeftOut))
	}
	return append(out, p.T("batch.effect.once"))
}

// batchEffect says what the approval of a batch lets go out.
func batchEffect(p *text.Printer, f DecideForm) string {
	if f.Batch.Mails {
		return p.N("batch.effect.mails", f.Batch.Items, "Destination", f.Destination)
	}
	return p.N("batch.effect.requests", f.Batch.Items, "Destination", f.Destination)
}

// refuseEffect says what a rejection does.
func refuseEffect(p *text.Printer, f DecideForm) string {
	switch {
	case f.Batch == nil:
		return p.T("decide.effect_reject")
	case f.Batch.Phase == operation.PhaseRest:
		return p.N("batch.effect.stop_rest", f.Batch.Items)
	}
	return p.T("batch.effect.reject")
}

// glanceNames names the first places of a part.
func glanceNames(p *text.Printer, list []BatchPlace) string {
	var words []string
	for _, x := range list[:min(len(list), 3)] {
		words = append(words, fieldWord(p, x.Name, x.Label))
	}
	out := strings.Join(words, p.T("list.join"))
	if left := len(list) - len(words); left > 0 {
		out = p.N("batch.and_more", left, "List", out)
	}
	if out == "" {
		return "–"
	}
	return out
}

// problemText says why a row blocks approval.
func problemText(p *text.Printer, x BatchProblem) string {
	k := "batch.problem." + x.Code
	if !text.Has(k) {
		k = "batch.problem.other"
	}
	return p.T(k, "Field", fieldWord(p, x.Field, ""), "Code", x.Code)
}

// batchSentHint says when the first items go out; "" = none ever will.
func batchSentHint(p *text.Printer, s operation.BatchState) string {
	if s == operation.BatchRejected || s == operation.BatchCancelled {
		return ""
	}
	return p.T("batch.sent_none_hint")
}
