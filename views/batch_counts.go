package views

import (
	"math"

	"holdpoint/operation"
	"holdpoint/views/text"
)

// BatchCounts says where each entry of a list stands. The numbers add up to Total.
type BatchCounts struct {
	Total      int
	Duplicates int
	Suppressed int
	// ToCome are items that are to be sent and are no operation yet; Unsent are those
	// that never become one: the batch was stopped, rejected or cancelled.
	ToCome, Unsent int
	Ops            map[operation.State]int
	// Problems are rows that block approval: they are among ToCome.
	Problems int
	// ItemsURL leads to the list of items; "" = nowhere.
	ItemsURL string
}

// BatchPart is one stretch of the bar: so many entries in one state.
type BatchPart struct {
	Key  string // a state, or "to_come", "unsent", "duplicate", "suppressed"
	N    int
	URL  string
	X, W string // in the bar's own coordinates
}

// batchOrder is the order of the stretches: what is done first, then what is under way,
// what is in doubt, what is to come, what is not sent.
var batchOrder = []operation.State{operation.Confirmed, operation.InProgress, operation.Ready, operation.RetryScheduled, operation.Waiting, operation.Unknown, operation.Review,
	operation.ReexecutionRequested, operation.Draft, operation.PendingApproval, operation.NotExecuted, operation.Cancelled, operation.Rejected}

// The keys of stretches that are no state of an operation.
const (
	PartToCome     = "to_come"
	PartProblem    = "problem" // blocks the approval of all
	PartUnsent     = "unsent"
	PartDuplicate  = "duplicate"
	PartSuppressed = "suppressed"
	// What lists of items can be narrowed to besides.
	PartOperation = "operation" // became an operation
	PartAny       = "any"       // left out, for whatever reason
)

// batchParts lists those keys.
var batchParts = []string{PartToCome, PartProblem, PartUnsent, PartDuplicate, PartSuppressed, PartOperation, PartAny}

// Included is how many entries are to be sent, or were.
func (c BatchCounts) Included() int { return c.Total - c.Duplicates - c.Suppressed }

// LeftOut is how many entries are not sent because of the list alone.
func (c BatchCounts) LeftOut() int { return c.Duplicates + c.Suppressed }

// Stuck is how many entries still to come cannot go out as they are.
func (c BatchCounts) Stuck() int { return min(c.Problems, c.ToCome) }

// Closed is how many operations are closed.
func (c BatchCounts) Closed() (n int) {
	for s, k := range c.Ops {
		if s.Closed() {
			n += k
		}
	}
	return n
}

// InFlight is how many attempts are under way or in doubt: a stop does not end them.
func (c BatchCounts) InFlight() int {
	return c.Ops[operation.InProgress] + c.Ops[operation.Unknown] + c.Ops[operation.Review] + c.Ops[operation.ReexecutionRequested]
}

// NotTried is how many would not be sent any more after a stop.
func (c BatchCounts) NotTried() int {
	return c.ToCome + c.Ops[operation.Ready] + c.Ops[operation.RetryScheduled] + c.Ops[operation.Waiting]
}

// without is how many entries that were to be sent are not confirmed.
func (c BatchCounts) without() int { return c.Included() - c.Ops[operation.Confirmed] }

// barWide is the width of the bar in its own coordinates; no stretch is thinner than
// barLeast, so that one in ten thousand can still be seen.
const barWide, barLeast = 1000.0, 6.0

// Parts gives the stretches that hold something.
func (c BatchCounts) Parts() []BatchPart {
	var out []BatchPart
	add := func(key string, n int, query string) {
		if n > 0 {
			p := BatchPart{Key: key, N: n}
			if c.ItemsURL != "" {
				p.URL = withQuery(c.ItemsURL, query)
			}
			out = append(out, p)
		}
	}
	for _, s := range batchOrder {
		add(string(s), c.Ops[s], "state="+string(s))
	}
	stuck := c.Stuck()
	add(PartToCome, c.ToCome-stuck, "state="+PartToCome)
	add(PartProblem, stuck, "problem=yes")
	add(PartUnsent, c.Unsent, "state="+PartUnsent)
	add(PartDuplicate, c.Duplicates, "left_out="+PartDuplicate)
	add(PartSuppressed, c.Suppressed, "left_out="+PartSuppressed)
	layOut(out, c.Total)
	return out
}

// layOut lays the stretches beside each other. What would be too thin to be seen takes its
// width from the others.
func layOut(parts []BatchPart, total int) {
	width := make([]float64, len(parts))
	thin, rest := 0.0, 0.0
	for i, p := range parts {
		width[i] = barWide * float64(p.N) / float64(max(total, 1))
		if width[i] < barLeast {
			width[i] = barLeast
			thin += barLeast
		} else {
			rest += width[i]
		}
	}
	x := 0.0
	for i := range parts {
		if width[i] > barLeast && rest > 0 {
			width[i] *= (barWide - thin) / rest
		}
		parts[i].X, parts[i].W = coord(x), coord(math.Max(width[i]-1, 1))
		x += width[i]
	}
}

// partText is the word for a stretch.
func partText(p *text.Printer, key string) string {
	if operation.State(key).Valid() {
		return p.T("state." + key)
	}
	return p.T("batch.part." + key)
}

// partIcon is the shape beside the word.
func partIcon(key string) string {
	switch key {
	case PartToCome:
		return "circle"
	case PartUnsent:
		return "stop"
	case PartSuppressed:
		return "lock"
	}
	return key
}

func withQuery(at, query string) string {
	for _, c := range at {
		if c == '?' {
			return at + "&" + query
		}
	}
	return at + "?" + query
}
