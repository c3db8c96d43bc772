package operation

// CauseEnding says what became of an operation that had stopped.
type CauseEnding string

// The endings.
const (
	EndOpen        CauseEnding = "open"         // nothing is decided yet
	EndFound       CauseEnding = "found"        // the effect was there: a lookup, a callback or a late report proved it
	EndPerson      CauseEnding = "person"       // the effect was there: a person saw it
	EndRepeated    CauseEnding = "repeated"     // a later attempt was confirmed
	EndReexecuted  CauseEnding = "reexecuted"   // nothing had happened, and a re-execution was confirmed
	EndNotExecuted CauseEnding = "not_executed" // nothing had happened, and it stays so
	EndWithdrawn   CauseEnding = "withdrawn"    // cancelled or rejected
)

// CauseEndings lists every ending in the order in which they are shown.
var CauseEndings = []CauseEnding{EndFound, EndPerson, EndNotExecuted, EndReexecuted, EndRepeated, EndWithdrawn, EndOpen}

// EndingOf gives the ending of an operation that stopped at an attempt (its number, 0 = at
// none). last is the newest attempt that was confirmed, 0 = none, again whether it was a
// re-execution; byPerson, whether a person's word confirmed it.
func EndingOf(state State, stop, last int, again, byPerson bool) CauseEnding {
	switch state {
	case Confirmed:
		switch {
		case last > stop && again:
			return EndReexecuted
		case last > stop:
			return EndRepeated
		case byPerson:
			return EndPerson
		}
		return EndFound
	case NotExecuted:
		return EndNotExecuted
	case Cancelled, Rejected:
		return EndWithdrawn
	}
	return EndOpen
}

// Endings counts endings.
type Endings map[CauseEnding]int

// Happened counts where the effect turned out to be there.
func (e Endings) Happened() int { return e[EndFound] + e[EndPerson] }

// NotHappened counts where nothing had happened.
func (e Endings) NotHappened() int { return e[EndNotExecuted] + e[EndReexecuted] }

// Total counts all of them.
func (e Endings) Total() int {
	n := 0
	for _, k := range e {
		n += k
	}
	return n
}
