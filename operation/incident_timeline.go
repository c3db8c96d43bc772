package operation

import (
	"slices"
	"time"
)

// TimelineEntry is one history entry of an operation, as a timeline reads it.
type TimelineEntry struct {
	ID        int64 // the entry's number in the whole history
	Operation ID
	At        time.Time
	Action    string
	From, To  State
	Reason    string
	ActorKind ActorKind
	Actor     string // name, as it was then
}

// TimelineGroup is what happened to one or several operations in the same way, shortly
// after one another.
type TimelineGroup struct {
	First, Last TimelineEntry
	Operations  []ID // each once, in the order of time
	Entries     []int64
	Reason      string // where all give the same
	Actor       string // where all are of the same
	ActorKind   ActorKind
}

// timelineGap is how far apart the entries of one group may be.
const timelineGap = 10 * time.Minute

// timelineNotes are the entries that move no state and still belong into a report.
var timelineNotes = []string{"duplicate_suspected", "late_report", "confirmed_not_done", "no_further_attempt", "remedy_done", "pause", "resume", "go_on_without", "callback", "content_differs"}

// TimelineNotes lists the actions of entries that move no state and may stand in a
// timeline, besides the first "dispatch" of each operation.
func TimelineNotes() []string { return slices.Clone(timelineNotes) }

// timelineStates are the states whose beginning belongs into a report.
var timelineStates = []State{Unknown, Review, ReexecutionRequested, Confirmed, NotExecuted, Cancelled, Rejected}

// Significant leaves of a history, in the order of time, what belongs into a report: the
// first request of each operation, its ways into doubt and out of it, and what people and
// destinations added. Repeats of a doubt that stands already are left out.
func Significant(entries []TimelineEntry) []TimelineEntry {
	var out []TimelineEntry
	stands := map[ID]State{}
	sent := map[ID]bool{}
	for _, e := range entries {
		switch {
		case e.Action == "dispatch":
			if sent[e.Operation] {
				continue
			}
			sent[e.Operation] = true
		case slices.Contains(timelineNotes, e.Action):
		case e.From == e.To || !slices.Contains(timelineStates, e.To):
			if e.From == ReexecutionRequested && e.To == Ready { // one more attempt was permitted
				break
			}
			continue
		case stands[e.Operation] == e.To:
			continue
		default:
			stands[e.Operation] = e.To
		}
		out = append(out, e)
	}
	return out
}

// GroupTimeline puts together what happened to several operations in the same way. The
// groups follow one another by their first entries.
func GroupTimeline(entries []TimelineEntry) []TimelineGroup {
	type kind struct {
		action string
		to     State
		actor  string
	}
	var out []TimelineGroup
	open := map[kind]int{}
	for _, e := range entries {
		k := kind{e.Action, e.To, e.Actor}
		i, ok := open[k]
		if !ok || e.At.Sub(out[i].Last.At) > timelineGap {
			out = append(out, TimelineGroup{First: e, Reason: e.Reason, Actor: e.Actor, ActorKind: e.ActorKind})
			i = len(out) - 1
			open[k] = i
		}
		g := &out[i]
		g.Last = e
		g.Entries = append(g.Entries, e.ID)
		if !slices.Contains(g.Operations, e.Operation) {
			g.Operations = append(g.Operations, e.Operation)
		}
		if g.Reason != e.Reason {
			g.Reason = ""
		}
	}
	return out
}
