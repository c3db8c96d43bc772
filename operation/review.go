package operation

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"
)

// ReportID names one weekly or monthly review: "rep_…".
type ReportID string

// ReportKind says how long a review's period is.
type ReportKind string

// The kinds of reviews.
const (
	Weekly  ReportKind = "weekly"  // Monday to Sunday
	Monthly ReportKind = "monthly" // a month of the calendar
)

// ReportKinds lists them.
var ReportKinds = []ReportKind{Weekly, Monthly}

// Valid reports whether k is one of ReportKinds.
func (k ReportKind) Valid() bool { return k == Weekly || k == Monthly }

// Period is the time that one review covers: whole days of one zone, of whatever length
// those days are.
type Period struct {
	Kind   ReportKind
	Key    string    // "2026-W16" or "2026-04"
	From   time.Time // its first moment
	To     time.Time // the first moment after it
	Before time.Time // the first moment of the period before it
}

// LastPeriod gives the newest period of a kind that is over at now.
func LastPeriod(k ReportKind, now time.Time, zone *time.Location) Period {
	return periodOf(k, dayOf(now, zone), zone).step(-1, zone)
}

// Next gives the period that follows.
func (p Period) Next(zone *time.Location) Period { return p.step(1, zone) }

// Running gives the period in which now lies.
func Running(k ReportKind, now time.Time, zone *time.Location) Period {
	return periodOf(k, dayOf(now, zone), zone)
}

// day is a day of the calendar, without zone or time.
type day struct {
	year  int
	month time.Month
	day   int
}

func dayOf(at time.Time, zone *time.Location) day {
	y, m, d := at.In(zone).Date()
	return day{y, m, d}
}

// plain is the day as a moment to count from: noon, which every zone has once.
func (d day) plain() time.Time { return time.Date(d.year, d.month, d.day, 12, 0, 0, 0, time.UTC) }

// begins is the first moment of the day in a zone. Where the clock leaves midnight out
// it is the moment after the leap; where it shows midnight twice, the first of them.
func (d day) begins(zone *time.Location) time.Time {
	want := d.add(0)
	for at := time.Date(want.year, want.month, want.day, 0, 0, 0, 0, zone).Add(-3 * time.Hour); ; at = at.Add(15 * time.Minute) {
		if !dayOf(at, zone).plain().Before(want.plain()) { // a day that a zone left out begins with the next
			return at.UTC()
		}
	}
}

func periodOf(k ReportKind, d day, zone *time.Location) Period {
	first := func(d day) day { return day{d.year, d.month, 1} }
	last := func(d day) day { return day{d.year, d.month - 1, 1} }
	next := func(d day) day { return day{d.year, d.month + 1, 1} }
	if k == Weekly {
		first = func(d day) day { return d.add(-(int(d.plain().Weekday()) + 6) % 7) }
		last = func(d day) day { return d.add(-7) }
		next = func(d day) day { return d.add(7) }
	}
	begin := first(d)
	p := Period{Kind: k, From: begin.begins(zone), To: next(begin).begins(zone), Before: last(begin).begins(zone)}
	if k == Weekly {
		y, w := begin.plain().ISOWeek()
		p.Key = fmt.Sprintf("%04d-W%02d", y, w)
	} else {
		p.Key = begin.plain().Format("2006-01")
	}
	return p
}

func (d day) add(n int) day {
	p := d.plain().AddDate(0, 0, n)
	return day{p.Year(), p.Month(), p.Day()}
}

// step goes n periods on. The middle of a period is far from any change of the clock.
func (p Period) step(n int, zone *time.Location) Period {
	for ; n > 0; n-- {
		p = periodOf(p.Kind, dayOf(p.To.Add(12*time.Hour), zone), zone)
	}
	for ; n < 0; n++ {
		p = periodOf(p.Kind, dayOf(p.Before.Add(12*time.Hour), zone), zone)
	}
	return p
}

// ReviewSection names a part of a review; each can be commented on.
type ReviewSection string

// The parts of a review, in their order.
const (
	ReviewOpen         ReviewSection = "open"         // operations without completion
	ReviewAdopted      ReviewSection = "adopted"      // stopped jobs that had no ID
	ReviewKeys         ReviewSection = "keys"         // keys that were used again
	ReviewDuplicates   ReviewSection = "duplicates"   // suspected, confirmed, and confirmed of all effects
	ReviewDestinations ReviewSection = "destinations" // error rates, each destination alone
	ReviewDelays       ReviewSection = "delays"       // approval, recovery
	ReviewReexecutions ReviewSection = "reexecutions" // and their errors
	ReviewFollowUp     ReviewSection = "follow_up"    // incidents, improvement tasks, limits
	ReviewVolume       ReviewSection = "volume"       // what came in and went out, for comparison
)

// ReviewSections lists them.
var ReviewSections = []ReviewSection{ReviewOpen, ReviewAdopted, ReviewKeys, ReviewDuplicates, ReviewDestinations, ReviewDelays, ReviewReexecutions, ReviewFollowUp, ReviewVolume}

// Valid reports whether s is one of ReviewSections.
func (s ReviewSection) Valid() bool {
	for _, x := range ReviewSections {
		if s == x {
			return true
		}
	}
	return false
}

// ReviewKind says what a line's numbers are.
type ReviewKind string

// The kinds of lines.
const (
	ReviewCount    ReviewKind = "count"
	ReviewRate     ReviewKind = "rate"     // N of Of
	ReviewDuration ReviewKind = "duration" // N seconds, the median of Of samples
)

// ReviewLine is one number of a review with that of the period before. Each stands alone:
// lines are never added together.
type ReviewLine struct {
	Section ReviewSection `json:"section"`
	Code    string        `json:"code"` // stable; the catalogues say it
	Name    string        `json:"name"` // of the destination, where each has its own line
	Kind    ReviewKind    `json:"kind"`
	Now     ReviewNumber  `json:"now"`
	Before  ReviewNumber  `json:"before"`
}

// Key names the line within its review.
func (l ReviewLine) Key() string {
	if l.Name == "" {
		return l.Code
	}
	return l.Code + ":" + l.Name
}

// ReviewNumber is one number: see ReviewKind.
type ReviewNumber struct {
	N  int64 `json:"n"`
	Of int64 `json:"of"`
}

// ReviewFacts are the facts of one review, in no language, as of MadeAt. They never
// change afterwards.
type ReviewFacts struct {
	Format int          `json:"format"`
	Kind   ReportKind   `json:"kind"`
	Period string       `json:"period"`
	Flow   string       `json:"flow"` // "" = the whole installation
	Zone   string       `json:"zone"`
	From   string       `json:"from"` // RFC 3339, UTC
	To     string       `json:"to"`
	Before string       `json:"before"`
	MadeAt string       `json:"made_at"`
	Lines  []ReviewLine `json:"lines"`
}

// Canonical gives the facts as the bytes that are stored, hashed and signed: RFC 8785
// JSON.
func (f ReviewFacts) Canonical() ([]byte, error) { return canonicalJSON(f) }

// ReviewComment is one comment as a signature covers it.
type ReviewComment struct {
	Number  int           `json:"number"`
	Section ReviewSection `json:"section"`
	User    UserID        `json:"user"`
	At      string        `json:"at"` // RFC 3339, UTC
	Body    string        `json:"body"`
}

// ReviewHash is what a signature is bound to: the facts by their hash, and the comments
// that stood there when it was given.
func ReviewHash(facts [32]byte, comments []ReviewComment) ([32]byte, error) {
	if comments == nil {
		comments = []ReviewComment{}
	}
	b, err := canonicalJSON(struct {
		Facts    string          `json:"facts"`
		Comments []ReviewComment `json:"comments"`
	}{hex.EncodeToString(facts[:]), comments})
	return sha256.Sum256(b), err
}
