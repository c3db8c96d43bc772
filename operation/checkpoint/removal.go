package checkpoint

import (
	"fmt"
	"strconv"
	"time"

	"holdpoint/operation"
)

// Removal is what one entry of the system's history records: of which entries the words
// were removed, when, and under which term.
type Removal struct {
	At      time.Time
	Days    int
	Entries Spans // the numbers of their rows
}

// RemovalOf reads an entry; false = it records no removal, or not in the form that the
// product writes.
func RemovalOf(e operation.Entry) (Removal, bool) {
	if e.SubjectKind != operation.SubjectSystem || e.Action != operation.ActionThinned {
		return Removal{}, false
	}
	spans, err := ParseSpans(e.Links[operation.LinkThinned])
	if err != nil {
		return Removal{}, false
	}
	days, err := strconv.Atoi(e.Links[operation.LinkThinnedDays])
	return Removal{At: e.At, Days: days, Entries: spans}, err == nil && days > 0
}

// Fault says why an entry of that time must not have lost its words by this removal; nil =
// it was older than the term.
func (r Removal) Fault(at time.Time) error {
	if at.Add(time.Duration(r.Days) * 24 * time.Hour).After(r.At) {
		return fmt.Errorf("its words were removed after %d days, and the term was %d", int(r.At.Sub(at).Hours()/24), r.Days)
	}
	return nil
}

// Unrecorded is the fault of an entry whose words are gone without an entry that says so.
func Unrecorded(gone time.Time) error {
	return fmt.Errorf("its words were removed, and no entry of the system's history of %s records it", gone.UTC().Format(operation.TimeForm))
}

// removed checks that a proof's entries without words are named by the removals that it holds.
func (p Proof) removed() error {
	for _, e := range p.Entries {
		w := e.Line.Entry.Words
		if !w.Gone() {
			continue
		}
		fault := Unrecorded(w.GoneAt)
		for _, r := range p.Removals {
			if x, ok := RemovalOf(r.Line.Entry); ok && x.At.Equal(w.GoneAt) && x.Entries.Has(e.Line.ID) {
				fault = x.Fault(e.Line.Entry.At)
				break
			}
		}
		if fault != nil {
			return fmt.Errorf("entry %d of %s %s: %w", e.Line.Entry.Seq, e.Line.Entry.SubjectKind, e.Line.Entry.SubjectID, fault)
		}
	}
	return nil
}
