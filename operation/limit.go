package operation

import "time"

// LimitID names one limit of a figure: "lim_…".
type LimitID string

// BreachID names one breach of a limit: "brc_…".
type BreachID string

// LimitSide says which side of its value a limit forbids.
type LimitSide string

// The sides.
const (
	LimitOver  LimitSide = "over"  // more than the value is a breach
	LimitUnder LimitSide = "under" // less than the value is a breach
)

// Valid reports whether s is one of the sides.
func (s LimitSide) Valid() bool { return s == LimitOver || s == LimitUnder }

// RateUnit is one whole in the unit of rates: a limit of 2 % has the value 200.
const RateUnit = 10_000

// Measure is one measurement of a figure. Of a count and a level, N is the number and Of
// is zero. Of a rate, N of Of counted things are such. Of a duration, N are seconds and
// Of is the number of samples.
type Measure struct {
	N, Of int64
	Rate  bool // N of Of, to be compared with hundredths of a percent
}

// Amount is the measurement in the unit of a limit's value: a rate as hundredths of a
// percent, rounded down; 0 of 0 is 0.
func (m Measure) Amount() int64 {
	if !m.Rate {
		return m.N
	}
	if m.Of == 0 {
		return 0
	}
	return m.N * RateUnit / m.Of
}

// Limit is the rule of one limit, without its addressees.
type Limit struct {
	Side  LimitSide
	Value int64 // a count, hundredths of a percent, or seconds
	// Least is the number of tries of a rate, or samples of a duration, below which
	// nothing is judged: one of one does not alarm.
	Least int64
	// Margin is how far within its value a figure must come to be back.
	Margin int64
	// Hold is how long it must stay there.
	Hold time.Duration
	// Remind is the time between two reminders while the breach is open; 0 = none.
	Remind time.Duration
}

// Enough reports whether so much was measured that it can be judged. Counts and levels
// always can.
func (l Limit) Enough(m Measure) bool { return m.Of >= l.Least || !m.Rate && m.Of == 0 && l.Least == 0 }

// compare gives the sign of the measurement minus a value, exactly.
func (m Measure) compare(value int64) int {
	left, right := m.N, value
	if m.Rate {
		left, right = m.N*RateUnit, value*m.Of
	}
	switch {
	case left < right:
		return -1
	case left > right:
		return 1
	}
	return 0
}

// Broken reports a measurement that breaks the limit.
func (l Limit) Broken(m Measure) bool {
	switch {
	case !l.Enough(m), m.Rate && m.Of == 0:
		return false
	case l.Side == LimitUnder:
		return m.compare(l.Value) < 0
	}
	return m.compare(l.Value) > 0
}

// Cleared reports a measurement that is back within the limit by its margin. What cannot
// be judged for want of tries breaks nothing any more.
func (l Limit) Cleared(m Measure) bool {
	switch {
	case !l.Enough(m), m.Rate && m.Of == 0:
		return true
	case l.Side == LimitUnder:
		return m.compare(l.Value+l.Margin) >= 0
	}
	return m.compare(l.Value-l.Margin) <= 0
}

// Worse reports whether m is further beyond the limit than than.
func (l Limit) Worse(m, than Measure) bool {
	a, b := m.Amount(), than.Amount()
	if l.Side == LimitUnder {
		return a < b
	}
	return a > b
}

// BreachState is what is known of a limit's open breach. The zero value is none.
type BreachState struct {
	Open        bool
	WithinSince time.Time // back within since then; zero = not
	ToldAt      time.Time // of the newest notice about it
}

// LimitMove is what follows from a measurement.
type LimitMove string

// The moves.
const (
	LimitStays  LimitMove = ""       // nothing is to be told
	LimitBreaks LimitMove = "breach" // a breach begins
	LimitBack   LimitMove = "back"   // the breach is over
	LimitAgain  LimitMove = "remind" // it goes on, and people are reminded
)

// Judge decides what a measurement means at now, and gives the state afterwards. A
// breach begins with the first measurement that breaks the limit, and is over when the
// figure has been back by the margin for the whole hold: what flaps about the value is
// one breach.
func (l Limit) Judge(m Measure, s BreachState, now time.Time) (LimitMove, BreachState) {
	if !s.Open {
		if !l.Broken(m) {
			return LimitStays, s
		}
		return LimitBreaks, BreachState{Open: true, ToldAt: now}
	}
	if !l.Cleared(m) {
		s.WithinSince = time.Time{}
		if l.Remind > 0 && l.Broken(m) && !now.Before(s.ToldAt.Add(l.Remind)) {
			s.ToldAt = now
			return LimitAgain, s
		}
		return LimitStays, s
	}
	if s.WithinSince.IsZero() {
		s.WithinSince = now
	}
	if now.Before(s.WithinSince.Add(l.Hold)) {
		return LimitStays, s
	}
	return LimitBack, BreachState{}
}
