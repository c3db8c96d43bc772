package operation

import "time"

// NoticeID names one notice: "ntc_…".
type NoticeID string

// NoticeKind says what a notice tells a person of.
type NoticeKind string

// The kinds of notices.
const (
	NoticeApproval      NoticeKind = "approval"      // content waits for your approval
	NoticeChanges       NoticeKind = "changes"       // changes were requested: the author is told
	NoticeUnknown       NoticeKind = "unknown"       // an outcome is to be settled by a person
	NoticeReexecution   NoticeKind = "reexecution"   // a re-execution was asked for
	NoticeWork          NoticeKind = "work"          // any other decision that waits: a draft, a pause, a remedy
	NoticeCompleted     NoticeKind = "completed"     // a run is complete: the flow's owner is told
	NoticeOverdue       NoticeKind = "overdue"       // a decision is past its time
	NoticeExpired       NoticeKind = "expired"       // an approval expired and nothing was sent
	NoticeAlert         NoticeKind = "alert"         // all sends are paused, or the database does not fit its witness
	NoticeLimit         NoticeKind = "limit"         // a figure is beyond its limit
	NoticeLimitBack     NoticeKind = "limit_back"    // it is back within
	NoticeReport        NoticeKind = "report"        // a weekly or monthly review is made
	NoticeContradiction NoticeKind = "contradiction" // evidence of an effect contradicts what a person decided
	NoticeCaseTaken     NoticeKind = "case_taken"    // somebody took a recovery case over from you
	NoticeTask          NoticeKind = "task"          // an improvement task is yours, is due or overdue
	NoticeCanary        NoticeKind = "canary"        // the first items of a batch are through: look, and decide about the rest
	NoticeBatchPaused   NoticeKind = "batch_paused"  // a batch paused by itself
	NoticeBatchClosed   NoticeKind = "batch_closed"  // every operation of a batch is closed: the flow's owner is told
	NoticeDigest        NoticeKind = "digest"        // once a day: what waits
)

// NoticeKinds lists every kind in the order in which people set them.
var NoticeKinds = []NoticeKind{NoticeApproval, NoticeChanges, NoticeUnknown, NoticeReexecution, NoticeCaseTaken, NoticeContradiction, NoticeExpired, NoticeOverdue, NoticeCanary, NoticeBatchPaused,
	NoticeWork, NoticeBatchClosed, NoticeCompleted, NoticeAlert, NoticeLimit, NoticeLimitBack, NoticeReport, NoticeTask, NoticeDigest}

// Valid reports whether k is one of NoticeKinds.
func (k NoticeKind) Valid() bool {
	for _, x := range NoticeKinds {
		if x == k {
			return true
		}
	}
	return false
}

// NoticeMode says when a person wants to be told of a kind.
type NoticeMode string

// The modes.
const (
	NoticeOff     NoticeMode = "off"
	NoticeNow     NoticeMode = "now"    // at once, outside the quiet hours
	NoticeInDaily NoticeMode = "digest" // gathered in the daily digest
)

// Modes lists the modes that a kind can be set to. The digest itself comes daily or not
// at all, and so does nothing else. A contradiction is never gathered with others.
func (k NoticeKind) Modes() []NoticeMode {
	switch k {
	case NoticeDigest:
		return []NoticeMode{NoticeInDaily, NoticeOff}
	case NoticeContradiction:
		return []NoticeMode{NoticeNow, NoticeOff}
	}
	return []NoticeMode{NoticeNow, NoticeInDaily, NoticeOff}
}

// Default is the mode of a kind for a person who has set none: decisions at once, the
// rest once a day.
func (k NoticeKind) Default() NoticeMode {
	switch k {
	case NoticeWork, NoticeCompleted, NoticeBatchClosed, NoticeDigest:
		return NoticeInDaily
	case NoticeReport: // for whoever chooses it
		return NoticeOff
	}
	return NoticeNow
}

// Allows reports whether a kind can be set to a mode.
func (k NoticeKind) Allows(m NoticeMode) bool {
	for _, x := range k.Modes() {
		if x == m {
			return k.Valid()
		}
	}
	return false
}

// NoticeFor gives the kind of notice about a next decision. last is the event that led
// to it: a draft that came back, and an approval that expired, are told of as such.
// "" = nobody is told: the system decides next, or an earlier stage.
func NoticeFor(d DecisionKind, last string) NoticeKind {
	switch d {
	case DecideApprove:
		if last == string(EvExpire) {
			return NoticeExpired
		}
		return NoticeApproval
	case DecideComplete:
		if last == string(RequestChanges) || last == string(EvCorrect) {
			return NoticeChanges
		}
		return NoticeWork
	case DecideReconcile:
		return NoticeUnknown
	case DecideReexecution:
		return NoticeReexecution
	case DecideResume, DecideRemedy:
		return NoticeWork
	}
	return ""
}

// The steps of one decision, in order. Each is told once.
const (
	StepAsk      = iota // the decision begins to wait
	StepRemind          // before it is due
	StepOverdue         // it is due
	StepEscalate        // somebody else is told that nobody decided
)

// EscalateAfterDue is how long after its due time a decision is escalated where the
// flow does not say.
const EscalateAfterDue = 4 * time.Hour

// NoticePolicy says when the steps of a decision come. Both times count from the
// decision's beginning; zero = no reminder, and EscalateAfterDue after the due time.
type NoticePolicy struct {
	Remind   time.Duration
	Escalate time.Duration
}

// NextStep gives the step that follows done, and its time; ok is false after the last.
// A reminder that would come with the due time or later is left out, and nobody is
// escalated before the decision is due.
func (p NoticePolicy) NextStep(done int, since, due time.Time) (step int, at time.Time, ok bool) {
	switch {
	case done < StepRemind && p.Remind > 0 && since.Add(p.Remind).Before(due):
		return StepRemind, since.Add(p.Remind), true
	case done < StepOverdue:
		return StepOverdue, due, true
	case done < StepEscalate:
		at = due.Add(EscalateAfterDue)
		if p.Escalate > 0 {
			at = since.Add(p.Escalate)
		}
		if at.Before(due) {
			at = due
		}
		return StepEscalate, at, true
	}
	return 0, time.Time{}, false
}

// Quiet are a person's quiet hours: minutes of their local day. They may span midnight;
// From equal to To means none.
type Quiet struct{ From, To int }

// Until gives the end of the quiet hours that hold at now in a zone; ok is false
// outside of them. The end is a moment of the local clock, so that a change of summer
// time moves it along.
func (q Quiet) Until(now time.Time, zone *time.Location) (end time.Time, ok bool) {
	if q.From == q.To {
		return time.Time{}, false
	}
	local := now.In(zone)
	minute := local.Hour()*60 + local.Minute()
	inside := q.From <= minute && minute < q.To
	if q.From > q.To {
		inside = minute >= q.From || minute < q.To
	}
	if !inside {
		return time.Time{}, false
	}
	return NextClock(q.To, now, zone), true
}

// NextClock gives the next moment after now at which the local clock shows this minute
// of the day. On the day on which the clock leaves it out, it is the moment after the
// leap.
func NextClock(minute int, now time.Time, zone *time.Location) time.Time {
	local := now.In(zone)
	for day := local.Day(); ; day++ {
		at := time.Date(local.Year(), local.Month(), day, minute/60, minute%60, 0, 0, zone)
		if at.After(now) {
			return at.UTC()
		}
	}
}
