package operation

import (
	"crypto/sha256"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// IncidentReport is an incident as it is signed.
type IncidentReport struct {
	ID         IncidentID
	Number     int64
	Revision   int
	Title      string
	Summary    string
	Owner      string // name; "" = nobody
	Times      IncidentTimes
	Corrected  IncidentTimes // what people set by hand; zero = as the history says
	Flows      []string
	Places     []string // destinations
	Scope      IncidentScope
	Operations []ReportedOperation
	Timeline   []ReportedLine
	Class      CauseClass
	Pattern    string
	PatternID  PatternID
	Cause      string
	Response   string
	Prevention string
	Actions    []ReportedTask
}

// ReportedOperation is one operation of a report, as it stood.
type ReportedOperation struct {
	ID        ID
	Flow      string
	State     State
	Effect    Effect
	Duplicate string
	Reference string
}

// ReportedLine is one line of a report's timeline: a group of entries, or what a person
// wrote.
type ReportedLine struct {
	At, Until  time.Time // Until = At for one moment
	Action     string    // "" = a person's own line
	To         State
	Operations int
	Who        string
	Says       string
}

// ReportedTask is one improvement task of a report.
type ReportedTask struct {
	Number int64
	State  TaskState
	Owner  string
	Due    time.Time
	Title  string
	Word   string
}

// Canonical is the text that is signed: the same for the same report, in no language but
// its own, with times in UTC. Whatever people wrote is indented, so that none of it reads
// as a line of the report. docs/incidents.md describes it.
func (r IncidentReport) Canonical() string {
	w := &canonical{}
	w.line("holdpoint/incident/1")
	w.field("id", string(r.ID))
	w.field("number", strconv.FormatInt(r.Number, 10))
	w.field("revision", strconv.Itoa(r.Revision))
	w.text("title", r.Title)
	w.text("owner", r.Owner)
	w.text("summary", r.Summary)
	for _, t := range []struct {
		name   string
		at, by time.Time
	}{{"first effect", r.Times.First, r.Corrected.First}, {"last effect", r.Times.Last, r.Corrected.Last},
		{"detected", r.Times.Detected, r.Corrected.Detected}, {"settled", r.Times.Settled, r.Corrected.Settled}} {
		how := " (history)"
		if !t.by.IsZero() {
			how = " (corrected)"
		}
		if t.at.IsZero() {
			how = ""
		}
		w.field(t.name, canonicalTime(t.at)+how)
	}
	w.field("flows", strings.Join(r.Flows, " "))
	w.field("destinations", strings.Join(r.Places, " "))
	w.scope(r.Scope)
	w.line("operations list:")
	for _, o := range r.Operations {
		w.line("  " + strings.TrimSpace(strings.Join([]string{string(o.ID), o.Flow, string(o.State), string(o.Effect), dash(o.Duplicate)}, " ")))
		w.text("  reference", o.Reference)
	}
	w.line("timeline:")
	for _, l := range r.Timeline {
		w.line("  " + canonicalTime(l.At) + " " + canonicalTime(l.Until) + " " + dash(l.Action) + " " + dash(string(l.To)) + " " + strconv.Itoa(l.Operations))
		w.text("  who", l.Who)
		w.text("  says", l.Says)
	}
	w.field("cause class", string(r.Class))
	w.field("pattern id", string(r.PatternID))
	w.text("pattern", r.Pattern)
	w.text("cause", r.Cause)
	w.text("response", r.Response)
	w.text("prevention", r.Prevention)
	w.line("actions:")
	for _, a := range r.Actions {
		w.line(fmt.Sprintf("  %d %s %s", a.Number, a.State, canonicalTime(a.Due)))
		w.text("  owner", a.Owner)
		w.text("  title", a.Title)
		w.text("  word", a.Word)
	}
	return w.String()
}

// Hash is SHA-256 over the canonical text.
func (r IncidentReport) Hash() [32]byte { return sha256.Sum256([]byte(r.Canonical())) }

// canonical writes the lines of a canonical text.
type canonical struct{ strings.Builder }

func (w *canonical) line(s string) { w.WriteString(s + "\n") }

func (w *canonical) field(name, value string) { w.line(name + ": " + dash(value)) }

// text writes what people wrote: below its name, each line indented by four spaces more
// than the name.
func (w *canonical) text(name, value string) {
	if value == "" {
		w.line(name + ": -")
		return
	}
	indent := strings.Repeat(" ", len(name)-len(strings.TrimLeft(name, " "))+4)
	w.line(name + ":")
	for l := range strings.SplitSeq(value, "\n") {
		w.line(indent + l)
	}
}

func (w *canonical) scope(s IncidentScope) {
	w.field("operations", strconv.Itoa(s.Operations))
	for _, e := range Effects {
		w.field("effect "+string(e), strconv.Itoa(s.Effects[e]))
	}
	w.field("confirmed by a person", strconv.Itoa(s.ConfirmedByPerson))
	w.field("duplicate suspected", strconv.Itoa(s.DuplicateSuspected))
	w.field("duplicate confirmed", strconv.Itoa(s.DuplicateConfirmed))
	w.field("recipients", strconv.Itoa(s.Recipients))
	w.field("operations with recipients named", strconv.Itoa(s.RecipientsNamed))
	w.field("operations with recipients not named", strconv.Itoa(s.RecipientsNotNamed))
	w.field("operations with recipients not stored", strconv.Itoa(s.RecipientsNotStored))
}

func canonicalTime(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format("2006-01-02T15:04:05Z")
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
