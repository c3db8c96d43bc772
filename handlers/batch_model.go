package handlers

import (
	"strconv"
	"time"

	"holdpoint/operation"
	"holdpoint/operation/definition"
	"holdpoint/store"
	"holdpoint/views"
	"holdpoint/web"

	"github.com/labstack/echo/v4"
)

// effectMail is the kind of effect that people call a mail.
const effectMail = "email"

// head is the top of the page.
func (b batchOf) head() views.BatchHead {
	p := b.p
	next := p.Turn.Next
	h := views.BatchHead{ID: p.ID, URL: pathBatch(p.ID), Title: b.title(), Flow: views.Link{Label: p.Def.Title.In(b.lang), URL: pathFlow(p.Flow)}, FlowVersion: p.FlowVersion,
		Run: views.Link{Label: shortID(string(p.RunID)), URL: pathRun(p.RunID)}, Stage: p.Stage2.Title.In(b.lang), BatchStanding: b.standing(), Revision: p.Revision, Number: p.Number,
		Canary: p.Canary, Mails: p.EffectType == effectMail, Next: next.Kind, Responsible: b.turn(b.n.responsible(next.Who)), Due: next.At, Overdue: p.Turn.Overdue(p.Now),
		Destination: views.Link{Label: p.Profile.Title.In(b.lang), URL: pathDestination(p.Destination)}, Environment: p.Environment, CreatedAt: p.CreatedAt, ClosedAt: timeOf(p.ClosedAt),
		Turn: b.turnOf(), Replacing: views.BatchReplacing{More: p.ReplacingMore}}
	for _, id := range p.Replacing {
		h.Replacing.Open = append(h.Replacing.Open, *operationLink(id))
	}
	if p.Waived != nil {
		h.WentOn = &views.Signature{Given: true, Who: b.n.person(p.Waived.By), At: p.Waived.At, Comment: p.Waived.Reason}
	}
	if f := p.Version.Facts(); f.Sum != 0 {
		h.Money = []views.Money{{Minor: strconv.FormatInt(f.Sum, 10), Currency: f.Currency}}
	}
	if p.Policy != nil && b.waits() {
		h.Given, h.Required = b.ops.p.Approved(), max(p.Policy.Required, 1)
	}
	for _, x := range p.Pauses {
		h.Paused = append(h.Paused, views.PausedBy{Scope: views.PauseScope(x.Kind), Who: b.n.person(x.By), Since: x.At, Reason: x.Reason})
	}
	return h
}

// waits reports that people decide about the batch now.
func (b batchOf) waits() bool {
	return b.p.State == operation.BatchPendingApproval || b.p.State == operation.BatchCanaryReview && !b.p.Stopped()
}

func (b batchOf) standing() views.BatchStanding {
	out := standingOf(b.p.Batch, b.p.Counts, b.p.Turn, b.n)
	if out.Pause != nil && out.Pause.Auto != "" {
		out.Pause.Alarm = alarmOf(b.p.Batch, limitsOf(b.p.Stage2))
	}
	if out.Stop != nil {
		out.Stop.Again = b.p.Again
	}
	return out
}

// standingOf says where a batch stands.
func standingOf(p store.Batch, c store.BatchCounts, turn operation.BatchTurn, n names) views.BatchStanding {
	out := views.BatchStanding{State: p.State, Held: turn.Kind == operation.TurnHeld, Halted: turn.Kind == operation.TurnResume, Lapsed: operation.RestLapsed(p.State, p.Released, p.Cleared) && !p.Stopped()}
	if p.Paused() {
		out.Pause = &views.BatchPause{Auto: p.PausedAuto, Why: p.PausedWhy, Who: n.person(p.PausedBy), At: timeOf(p.PausedAt)}
	}
	if p.Stopped() {
		out.Stop = &views.BatchStop{Why: p.StoppedWhy, Who: n.person(p.StoppedBy), At: timeOf(p.StoppedAt)}
	}
	s := c.States
	left := c.Waiting + s[operation.Ready] + s[operation.InProgress] + s[operation.RetryScheduled] + s[operation.Waiting]
	out.Settling = (p.State == operation.BatchRunning || p.State == operation.BatchClosed) && left == 0 && s[operation.Unknown]+s[operation.Review]+s[operation.ReexecutionRequested] > 0
	return out
}

func limitsOf(st definition.Stage) operation.BatchLimits {
	if st.ForEach != nil {
		return st.ForEach.PauseWhen
	}
	return operation.DefaultBatchLimits
}

// alarmOf is the measurement that an automatic pause was decided on. Records that are older
// hold no limit: it is the flow's.
func alarmOf(p store.Batch, limits operation.BatchLimits) operation.BatchAlarm {
	a, ok := operation.ReadBatchAlarm(p.PausedWhy)
	if !ok {
		return operation.BatchAlarm{Kind: p.PausedAuto, Limit: -1}
	}
	if a.Limit < 0 {
		a.Limit = map[string]int{operation.AlarmErrors: limits.Errors, operation.AlarmUnknown: limits.Unknown, operation.AlarmBounced: limits.Bounced}[a.Kind]
	}
	return a
}

// hundredths turns a limit in thousandths into hundredths of a percent; one that is never
// passed is none.
func hundredths(thousandths int) int64 {
	if thousandths >= 1000 {
		return 0
	}
	return int64(thousandths) * 10
}

// counts are where each row of the list stands.
func (b batchOf) counts() views.BatchCounts {
	return batchCounts(b.p.Counts, b.itemsURL())
}

func batchCounts(c store.BatchCounts, itemsURL string) views.BatchCounts {
	return views.BatchCounts{Total: c.Total, Duplicates: c.Duplicates, Suppressed: c.Suppressed, Problems: c.Problems, ToCome: c.Waiting, Unsent: c.GivenUp, Ops: c.States, ItemsURL: itemsURL}
}

// stages are the run's, this one marked.
func (b batchOf) stages() []views.StageLink {
	var out []views.StageLink
	for i, st := range b.p.Def.Stages {
		link := views.StageLink{Number: i + 1, Title: st.Title.In(b.lang), State: operation.Waiting, Current: st.Key == b.p.Stage}
		for _, o := range b.p.Siblings {
			if o.Stage == st.Key {
				link.URL, link.State = pathOperation(o.ID), o.State
			}
		}
		for _, x := range b.p.Batches {
			if x.Stage == st.Key {
				at := standingOf(x, b.p.Beside[x.ID], b.p.Turns[x.ID], b.n)
				link.URL, link.Batch = pathBatch(x.ID), &at
			}
		}
		if link.Current {
			at := b.standing()
			link.URL, link.Batch = pathBatch(b.p.ID), &at
		}
		out = append(out, link)
	}
	return out
}

// batchSent is how far the batch is; nil = nothing was cleared yet.
func (s *site) batchSent(c echo.Context, b batchOf) (*views.BatchSent, error) {
	p := b.p
	if p.Cleared == 0 && p.Counts.Operations() == 0 {
		return nil, nil
	}
	out := &views.BatchSent{Closed: p.Counts.Closed(), Of: p.Counts.Operations() + p.Counts.Waiting, PerMinute: int(p.Rate*60 + 0.5), Ends: p.End, Window: windowOf(p)}
	if len(p.Marks) > 0 {
		out.Started = firstSent(p)
	}
	if lapsed := operation.RestLapsed(p.State, p.Released, p.Cleared); lapsed && !p.Stopped() {
		out.Of, out.Rest = p.Counts.Operations(), p.Counts.Waiting
	} else if !lapsed && p.Canary > 0 && p.Cleared < p.Total && (p.State == operation.BatchCanary || p.State == operation.BatchCanaryReview) {
		out.Of = min(p.Canary, p.Included)
		canary, err := s.batchCanary(c, b)
		if err != nil {
			return nil, err
		}
		out.Canary = canary
	}
	return out, nil
}

// firstSent is when the first approval let items go.
func firstSent(p *store.BatchPage) time.Time {
	for _, h := range p.History {
		if h.Action == "clear" {
			return h.At
		}
	}
	return time.Time{}
}

// windowOf sums the newest marks up to what the automatic pause looks at.
func windowOf(p *store.BatchPage) views.BatchWindow {
	l := limitsOf(p.Stage2)
	w := views.BatchWindow{ErrorLimit: hundredths(l.Errors), UnknownLimit: hundredths(l.Unknown), BounceLimit: hundredths(l.Bounced)}
	for i := len(p.Marks) - 1; i >= 0; i-- {
		m := p.Marks[i]
		n := m.Confirmed + m.NotStarted + m.Unknown
		if w.Last > 0 && w.Last+n > l.Last {
			break
		}
		w.Last, w.Errors, w.Unknown = w.Last+n, w.Errors+m.NotStarted, w.Unknown+m.Unknown
	}
	return w
}

// canaryShown is how many items of a canary its page lists, of each state.
const canaryShown = 3

// batchCanary are the first items and what became of them: some of each state.
func (s *site) batchCanary(c echo.Context, b batchOf) (*views.BatchCanary, error) {
	p := b.p
	out := &views.BatchCanary{N: min(p.Canary, p.Included), URL: b.itemsURL() + "?state=operation"}
	out.Counts = views.BatchCounts{Total: out.N, Ops: p.Counts.States, ToCome: max(out.N-p.Counts.Operations(), 0)}
	if p.State != operation.BatchCanaryReview {
		return out, nil
	}
	for _, part := range out.Counts.Parts() {
		list, err := s.Store.BatchItems(c.Request().Context(), web.VisitOf(c).Actor(), store.BatchQuery{Batch: p.ID, State: operation.State(part.Key), Limit: canaryShown})
		if err != nil {
			return nil, err
		}
		for _, i := range list.Items {
			out.Rows = append(out.Rows, itemLine(p, i))
		}
	}
	return out, nil
}

// found is what the destination says of the items.
func (b batchOf) found() views.BatchFound {
	s := b.p.Counts.States
	f := views.BatchFound{Unknown: s[operation.Unknown], Review: s[operation.Review] + s[operation.ReexecutionRequested], ExportURL: pathBatch(b.p.ID) + "/items.csv", ItemsURL: b.itemsURL(),
		OperationsURL: b.itemsURL() + "?state=operation", AcceptedOnly: b.p.EffectType == effectMail}
	if f.Unknown+f.Review > 0 && b.may(owners.roles...) {
		settle, _ := b.form("settle")
		look, _ := b.form("lookup")
		f.Settle, f.Lookup = &settle, &look
	}
	return f
}
