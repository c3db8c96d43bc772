package store

import (
	"encoding/json"
	"strconv"
	"time"

	"holdpoint/operation"
)

// measure is one thing that is counted: figures are made of measures. The numbers are
// places in stored running totals: new ones are added at the end.
type measure int

// The measures.
const (
	mEvents         measure = iota // business facts
	mDeliveries                    // receipts
	mReached                       // events by the flows that they reached
	mBrought                       // receipts of events by the flows that these had reached
	mAttempts                      // tries
	mEnded                         // tries that were sent and have ended
	mRefused                       // of these: provably not executed
	mUnknown                       // of these: left unknown
	mByDestination                 // effects confirmed by the destination
	mByPerson                      // effects confirmed by a person
	mIntoDoubt                     // operations that came into doubt
	mOutOfDoubt                    // operations that left it
	mSuspected                     // first suspicion of more than one effect
	mDuplicates                    // first record of more than one effect
	mReexecutions                  // approved re-executions
	mReexecutionErr                // those whose effect existed after all
	mKeyReuse                      // keys sent for the second time
	mAdopted                       // operations entered by hand
	countMeasures                  // how many these are
	mApproval       measure = 100  // times, counted by cells
	mInHand         measure = 101
	mActive         measure = 102
)

// The parts of the running totals: one for all counts, one for the cells of each time.
const (
	partCounts = iota
	partApproval
	partInHand
	partActive
	figureParts
)

// place gives where a fact is counted: the part and the place in it.
func (m measure) place(cell int) (part, place int) {
	switch m {
	case mApproval:
		return partApproval, cell
	case mInHand:
		return partInHand, cell
	case mActive:
		return partActive, cell
	}
	return partCounts, int(m)
}

// partLen is how many places a part has.
func partLen(part int) int {
	if part == partCounts {
		return int(countMeasures)
	}
	return len(operation.DurationBounds) + 1
}

// durationPart gives the part that holds the times of a figure.
func durationPart(f operation.Figure) int {
	switch f {
	case operation.FigureApprovalDelay:
		return partApproval
	case operation.FigureInHand:
		return partInHand
	case operation.FigureActive:
		return partActive
	}
	return partCounts
}

// everyFlow is the name of the series over all flows, and over all destinations.
const everyFlow = "*"

// tally holds counts by part and place.
type tally [figureParts][]int64

func (t *tally) add(part, place int, n int64) {
	if t[part] == nil {
		t[part] = make([]int64, partLen(part))
	}
	t[part][place] += n
}

func (t *tally) plus(u *tally) {
	for part, v := range u {
		for i, n := range v {
			t.add(part, i, n)
		}
	}
}

// get is a count of measures.
func (t *tally) get(m measure) int64 {
	if t[partCounts] == nil {
		return 0
	}
	return t[partCounts][m]
}

// between gives what came between two totals.
func between(before, after *tally) tally {
	var out tally
	out.plus(after)
	for part, v := range before {
		for i, n := range v {
			out.add(part, i, -n)
		}
	}
	return out
}

// placeSQL is a measure's place in a stored array, which counts from 1.
func placeSQL(m measure) string {
	_, place := m.place(0)
	return strconv.Itoa(place + 1)
}

// storedTotals is one row of running totals as it is read.
type storedTotals struct {
	Part        int       `db:"part"`
	Flow        string    `db:"flow"`
	Destination string    `db:"destination"`
	Until       time.Time `db:"until"`
	Totals      string    `db:"totals"`
}

func (r storedTotals) key() seriesKey { return seriesKey{r.Part, r.Flow, r.Destination} }

func (r storedTotals) numbers() (out []int64, err error) {
	err = json.Unmarshal([]byte(r.Totals), &out)
	return out, err
}
