package operation

import (
	"fmt"
	"slices"
	"strings"
)

// BatchLimits says when a batch pauses by itself. The rates are in thousandths; 1000 is never
// passed, and so switches a limit off.
type BatchLimits struct {
	Last    int `json:"last"`    // how many outcomes are looked at, at least 1
	Errors  int `json:"errors"`  // of attempts that provably did nothing
	Unknown int `json:"unknown"` // of attempts whose outcome is unknown
	Bounced int `json:"bounced"` // of mails that bounced, were dropped or complained about
}

// DefaultBatchLimits holds where a flow says nothing else.
var DefaultBatchLimits = BatchLimits{Last: 100, Errors: 200, Unknown: 50, Bounced: 50}

// BatchMark is what one group of a batch's attempts came to.
type BatchMark struct {
	Confirmed  int
	NotStarted int
	Unknown    int
}

// Outcomes is how many attempts the mark counts.
func (m BatchMark) Outcomes() int { return m.Confirmed + m.NotStarted + m.Unknown }

// BatchAlarm says which limit a batch passed: the kind as the record keeps it.
type BatchAlarm struct {
	Kind  string // AlarmErrors, AlarmUnknown, AlarmBounced; "" = none
	Count int    // how many of the window
	Of    int    // the window
	Limit int    // in thousandths
}

// Reason is the alarm as the record keeps it: its kind as a code, and its numbers. Readers are
// shown a sentence in their own language instead.
func (a BatchAlarm) Reason() string {
	return fmt.Sprintf("%s count=%d of=%d limit=%d", a.Kind, a.Count, a.Of, a.Limit)
}

// ReadBatchAlarm reads what Reason wrote. Records that are older name no limit: it is -1.
func ReadBatchAlarm(reason string) (BatchAlarm, bool) {
	a := BatchAlarm{Limit: -1}
	kind, _, _ := strings.Cut(reason, " ")
	a.Kind = strings.TrimSuffix(kind, ":")
	if !slices.Contains(BatchAlarms, a.Kind) {
		return BatchAlarm{}, false
	}
	for _, format := range []string{a.Kind + " count=%d of=%d limit=%d", a.Kind + ": %d of %d"} {
		a.Count, a.Of, a.Limit = 0, 0, -1
		into := []any{&a.Count, &a.Of, &a.Limit}[:strings.Count(format, "%d")]
		if n, err := fmt.Sscanf(reason, format, into...); err == nil && n == len(into) && a.Of > 0 {
			return a, true
		}
	}
	return BatchAlarm{}, false
}

// BatchAlarms lists the kinds of an automatic pause.
var BatchAlarms = []string{AlarmErrors, AlarmUnknown, AlarmBounced}

// The kinds of an automatic pause.
const (
	AlarmErrors  = "errors"
	AlarmUnknown = "unknown"
	AlarmBounced = "bounced"
)

// JudgeWindow decides whether a batch must pause by itself. marks stand in order, the newest
// first, since the batch last went on; bounced is how many of the newest limits.Last confirmed
// items were sent since then and bounced. A limit is passed when more than its share of a full window is bad: a window
// that is not full yet counts what is missing as good, so that one bad outcome among the first
// three pauses nothing, and a batch in which everything fails still stops early.
func JudgeWindow(marks []BatchMark, bounced int, limits BatchLimits) BatchAlarm {
	var sum BatchMark
	for i, m := range marks {
		if i > 0 && sum.Outcomes()+m.Outcomes() > limits.Last {
			break
		}
		sum.Confirmed, sum.NotStarted, sum.Unknown = sum.Confirmed+m.Confirmed, sum.NotStarted+m.NotStarted, sum.Unknown+m.Unknown
	}
	window := max(limits.Last, sum.Outcomes(), 1)
	for _, a := range []BatchAlarm{
		{AlarmUnknown, sum.Unknown, window, limits.Unknown},
		{AlarmErrors, sum.NotStarted, window, limits.Errors},
		{AlarmBounced, min(bounced, max(limits.Last, 1)), max(limits.Last, 1), limits.Bounced},
	} {
		if a.Count*1000 > a.Limit*a.Of {
			return a
		}
	}
	return BatchAlarm{}
}
