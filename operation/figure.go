package operation

import (
	"math"
	"time"
)

// Figure names one of the figures that are kept apart (MODEL §9). docs/figures.md defines
// each by the facts that it counts. No two are ever added.
type Figure string

// The figures.
const (
	FigureEvents              Figure = "events"               // business facts, each counted once
	FigureDeliveries          Figure = "deliveries"           // receipts of notifications, repeated and refused ones included
	FigureAttempts            Figure = "attempts"             // technical tries, whatever came of them
	FigureEffectsDestination  Figure = "effects_destination"  // effects confirmed by their destination
	FigureEffectsPerson       Figure = "effects_person"       // effects confirmed by a person
	FigureUnresolved          Figure = "unresolved"           // operations whose outcome is not settled at a moment
	FigureUnresolvedOccurred  Figure = "unresolved_occurred"  // operations that came into doubt
	FigureDuplicatesSuspected Figure = "duplicates_suspected" // operations for which more than one effect was found
	FigureDuplicatesConfirmed Figure = "duplicates_confirmed" // operations for which a person recorded more than one effect
	FigureDuplicateRate       Figure = "duplicate_rate"       // duplicates confirmed of all confirmed effects
	FigureInHand              Figure = "recovery_in_hand"     // for how long people had a settled case in hand
	FigureActive              Figure = "recovery_active"      // for how long they worked on it
	FigureApprovalDelay       Figure = "approval_delay"       // from submitted to the last approval needed
	FigureReexecutionErrors   Figure = "reexecution_errors"   // approved re-executions whose effect existed after all
	FigureDestinationErrors   Figure = "destination_errors"   // attempts that a destination refused or left unknown
	FigureKeyReuse            Figure = "key_reuse"            // keys sent more than once under protection
	FigureAdopted             Figure = "adopted"              // runs without an operation ID, entered by hand
)

// Figures are all of them in the order in which people read them.
var Figures = []Figure{FigureEvents, FigureDeliveries, FigureAdopted, FigureAttempts, FigureEffectsDestination, FigureEffectsPerson, FigureKeyReuse,
	FigureDestinationErrors, FigureUnresolved, FigureUnresolvedOccurred, FigureDuplicatesSuspected, FigureDuplicatesConfirmed, FigureDuplicateRate,
	FigureReexecutionErrors, FigureApprovalDelay, FigureInHand, FigureActive}

// Valid reports whether f is one of Figures.
func (f Figure) Valid() bool {
	for _, k := range Figures {
		if f == k {
			return true
		}
	}
	return false
}

// FigureKind says what kind of number a figure is.
type FigureKind string

// The kinds.
const (
	KindCount    FigureKind = "count"    // how many in a span
	KindLevel    FigureKind = "level"    // how many at a moment: at the end of a span
	KindRate     FigureKind = "rate"     // such of so many, in a span
	KindDuration FigureKind = "duration" // median and ninth decile of times that ended in a span
)

// Kind says what kind of number it is.
func (f Figure) Kind() FigureKind {
	switch f {
	case FigureUnresolved:
		return KindLevel
	case FigureDuplicateRate, FigureReexecutionErrors, FigureDestinationErrors:
		return KindRate
	case FigureApprovalDelay, FigureInHand, FigureActive:
		return KindDuration
	}
	return KindCount
}

// ByDestination reports whether the figure can be narrowed to a destination. What comes in
// goes to no destination yet.
func (f Figure) ByDestination() bool { return f != FigureEvents && f != FigureDeliveries }

// FigureStep is the length of one part of a figure's span, in the reader's calendar.
type FigureStep string

// The steps. A week begins on Monday.
const (
	StepDay   FigureStep = "day"
	StepWeek  FigureStep = "week"
	StepMonth FigureStep = "month"
)

// Valid reports whether s is one of the steps.
func (s FigureStep) Valid() bool { return s == StepDay || s == StepWeek || s == StepMonth }

// Floor gives the beginning of the step that holds at, by the calendar of at's zone. On a
// day that begins without a midnight it is the first moment of that day.
func (s FigureStep) Floor(at time.Time) time.Time {
	y, m, d := at.Date()
	switch s {
	case StepWeek:
		d -= (int(at.Weekday()) + 6) % 7
	case StepMonth:
		d = 1
	}
	return startOfDay(y, m, d, at.Location())
}

// Next gives the beginning of the step after the one that holds at.
func (s FigureStep) Next(at time.Time) time.Time {
	y, m, d := s.Floor(at).Date()
	switch s {
	case StepWeek:
		d += 7
	case StepMonth:
		m++
	default:
		d++
	}
	return startOfDay(y, m, d, at.Location())
}

// startOfDay is the first moment of a day. Where clocks go forward at midnight, time.Date
// names a moment of the day before.
func startOfDay(y int, m time.Month, d int, zone *time.Location) time.Time {
	noon := time.Date(y, m, d, 12, 0, 0, 0, zone)
	at := time.Date(y, m, d, 0, 0, 0, 0, zone)
	if at.Day() != noon.Day() {
		_, before := at.Zone()
		_, after := noon.Zone()
		at = at.Add(time.Duration(after-before) * time.Second)
	}
	return at
}

// FigureSteps cuts [from, to) at the beginnings of the steps: the first and the last part
// may be shorter. The bounds of n parts are n+1 moments.
func FigureSteps(from, to time.Time, step FigureStep, zone *time.Location) []time.Time {
	bounds := []time.Time{from}
	for at := step.Next(from.In(zone)); at.Before(to); at = step.Next(at) {
		bounds = append(bounds, at)
	}
	return append(bounds, to)
}

// Durations are kept in cells, each a fifth longer than the one before, so that the middle
// of a long span can be found without reading every time. The cell of what lies below
// the first bound is 0.
const (
	durationRatio = 1.2
	durationCells = 96
)

// DurationBounds are the lower bounds of the cells 1, 2, …, in seconds: 1 s, 1.2 s, 1.44 s …
// to about a year.
var DurationBounds = func() []float64 {
	out := make([]float64, durationCells)
	for i := range out {
		out[i] = math.Pow(durationRatio, float64(i))
	}
	return out
}()

// DurationWithin is how far a quantile that was found by cells lies from the exact one at
// most, as a part of it.
const DurationWithin = 0.1

// CellDuration is the geometric middle of a cell: no time of the cell is further from it
// than DurationWithin. Below a second it is zero.
func CellDuration(cell int) time.Duration {
	if cell <= 0 {
		return 0
	}
	return time.Duration(math.Pow(durationRatio, float64(cell)-0.5) * float64(time.Second)).Round(time.Second)
}

// QuantileRank gives the place, from 1, of a quantile among n times in their order: the
// smallest time that so many percent do not exceed.
func QuantileRank(n int64, percent int) int64 {
	return max(1, (n*int64(percent)+99)/100)
}

// CellQuantile gives a quantile of times that are counted in cells; zero where there is none.
func CellQuantile(cells []int64, percent int) time.Duration {
	var n, seen int64
	for _, c := range cells {
		n += c
	}
	if n == 0 {
		return 0
	}
	rank := QuantileRank(n, percent)
	for i, c := range cells {
		if seen += c; seen >= rank {
			return CellDuration(i)
		}
	}
	return CellDuration(len(cells) - 1)
}
