package views

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"holdpoint/operation"
	"holdpoint/views/text"
)

// The addresses of acceptances.
const (
	PathAcceptance    = "/acceptance"
	PathAcceptanceNew = "/acceptance/new"
)

// What an action on an acceptance did.
const (
	FlashAcceptanceAsked     = "acceptance.flash.asked"
	FlashAcceptanceCancelled = "acceptance.flash.cancelled"
	FlashAcceptanceSigned    = "acceptance.flash.signed"
)

// AcceptanceStates, AcceptanceSteps and AcceptanceFaults are the words that the
// catalogues say.
var (
	AcceptanceStates = []operation.AcceptanceState{operation.AcceptanceWaiting, operation.AcceptanceRunning, operation.AcceptancePassed, operation.AcceptanceFailed,
		operation.AcceptanceInterrupted, operation.AcceptanceCancelled, operation.AcceptanceBroken}
	AcceptanceSteps = []string{"event_arrives", "event_at_once", "event_again", "completed", "approved", "confirmed", "settled", "answer_will_be_lost", "request_will_be_lost",
		"in_review", "attested", "raced", "workers_killed", "workers_started", "bytes_equal", "key_expired", "not_done", "permitted", "lookups_fail", "lookups_work"}
	AcceptanceFaults = []string{"broke_off", "effects", "requests", "attempts", "chain", "nobody", "target", "sent_early", "bytes", "nothing_came", "other_operation", "accepted",
		"not_unknown", "repeated", "won", "no_race", "not_barred", "went_on_alone", "own_request", "sent_blind", "no_lookup"}
	AcceptanceBars = []string{"not_test", "kind", "clients", "not_countable", "version", "for_each"}
	// AcceptanceParts are the two who agree.
	AcceptanceParts = []string{operation.SignedByOwner, operation.SignedByImplementer}
)

// AcceptancesModel lists the runs.
type AcceptancesModel struct {
	Frame
	Rows  []AcceptanceLine
	Of    *Link // the flow or destination that the list is about; nil = all
	Older string
	Start *Link // nil = the viewer may start none
}

// AcceptanceLine is one run of a list.
type AcceptanceLine struct {
	ID      operation.AcceptanceID
	Number  int64
	URL     string
	Flow    string
	Version int
	State   operation.AcceptanceState
	By      Who
	At      time.Time
	Signed  int
	Stale   bool
}

// AcceptanceNewModel is the form that starts a run.
type AcceptanceNewModel struct {
	Frame
	Flows []Option // the flows that may be chosen
	Flow  string   // "" = none is chosen yet
	Title string
	// Versions are the flow's versions, newest first.
	Versions     []Option
	Destinations []AcceptanceTarget
	Bars         []AcceptanceBar
	Input        string
	Form         Form
	Last         *AcceptanceLine // nil = there was none
}

// AcceptanceTarget is a destination of the run.
type AcceptanceTarget struct {
	Name        string
	URL         string
	Version     int
	Current     int // the version in use now
	Environment string
	Hash        string
	Sandbox     bool // played by the sandbox
}

// AcceptanceBar says why no run can be made.
type AcceptanceBar struct{ Code, Destination, Environment, Stage string }

// AcceptanceModel is one run with its sheet.
type AcceptanceModel struct {
	Frame
	AcceptanceLine
	FlowURL   string
	Current   int // version of the flow in use now
	Started   time.Time
	Ended     time.Time
	Targets   []AcceptanceTarget
	FlowHash  string
	Program   string
	Cases     []operation.AcceptanceCase // the ended ones while it runs
	Changed   []operation.AcceptanceChange
	People    []string
	Input     string
	Failure   string
	Hash      string // of the sheet; "" = none
	Cancel    *Form
	Signs     []AcceptanceSign
	History   HistoryModel
	Canceling bool
	JSON      string
	Markdown  string
}

// Open reports that the run has not ended.
func (m AcceptanceModel) Open() bool { return m.State.Open() }

// running is the key of the case that runs now; "" = none.
func (m AcceptanceModel) running() string {
	if m.State != operation.AcceptanceRunning || len(m.Cases) >= len(operation.AcceptanceCases) {
		return ""
	}
	return operation.AcceptanceCases[len(m.Cases)]
}

// pending are the keys of the cases that have not ended.
func (m AcceptanceModel) pending() []string {
	if !m.Open() {
		return nil
	}
	return operation.AcceptanceCases[min(len(m.Cases), len(operation.AcceptanceCases)):]
}

// AcceptanceSign is one of the two agreements: given, or to be given.
type AcceptanceSign struct {
	Part    string
	Role    operation.Role // who may give it
	By      Who            // zero = not given
	At      time.Time
	Comment string
	Typed   string // the comment as it was typed
	Form    *Form  // nil = nothing is to be signed
}

// Given reports that it is signed.
func (s AcceptanceSign) Given() bool { return !s.At.IsZero() }

// acceptanceIcon gives the shape of a state.
func acceptanceIcon(s operation.AcceptanceState) string {
	switch s {
	case operation.AcceptancePassed:
		return "confirmed"
	case operation.AcceptanceFailed:
		return "rejected"
	case operation.AcceptanceRunning:
		return "in_progress"
	case operation.AcceptanceWaiting:
		return "waiting"
	case operation.AcceptanceInterrupted:
		return "stop"
	}
	return "cancelled"
}

// note says one sentence of the sheet.
func acceptanceNote(p *text.Printer, family string, n operation.AcceptanceNote) string {
	key := "acceptance." + family + "." + n.Code
	if !text.Has(key) {
		return n.Code + " " + strings.Join(slices.Sorted(maps.Values(n.With)), " ")
	}
	args := make([]any, 0, 2*len(n.With))
	for _, name := range slices.Sorted(maps.Keys(n.With)) {
		args = append(args, name, n.With[name])
	}
	return p.T(key, args...)
}

func stepText(ctx context.Context, n operation.AcceptanceNote) string {
	return acceptanceNote(text.From(ctx), "step", n)
}

func faultText(ctx context.Context, n operation.AcceptanceNote) string {
	return acceptanceNote(text.From(ctx), "fault", n)
}

// clockText is the time of a step to the second.
func clockText(at time.Time) string { return at.UTC().Format("15:04:05.000") }

// spanOf is how long a case took: to the second, and to the millisecond where it was shorter
// than one. 0 = it was not measured.
func spanOf(c operation.AcceptanceCase) time.Duration {
	d := c.Ended.Sub(c.Began)
	switch {
	case c.Began.IsZero() || c.Ended.IsZero() || d < time.Millisecond:
		return 0
	case d < time.Second:
		return d.Truncate(time.Millisecond)
	}
	return d.Round(time.Second)
}

// attemptText says kind and outcome of an attempt of a finding.
func acceptanceAttempt(p *text.Printer, s string) string {
	kind, outcome, _ := strings.Cut(s, " ")
	key := "acceptance.attempt." + kind
	if !text.Has(key) || !text.Has("outcome."+outcome) {
		return s
	}
	return p.T(key, "Outcome", p.T("outcome."+outcome))
}

// acceptanceEvidence says kind and result of a piece of evidence.
func acceptanceEvidence(p *text.Printer, s string) string {
	kind, result, _ := strings.Cut(s, " ")
	if kind == "late_report" {
		kind = "late"
	}
	if !text.Has("evidence.kind." + kind) {
		return s
	}
	word := p.T("evidence.kind." + kind)
	if result != "" && text.Has("acceptance.lookup."+result) {
		return p.T("acceptance.evidence", "Kind", word, "Result", p.T("acceptance.lookup."+result))
	}
	return word
}

// AcceptanceCard is the state of the newest run, on the page of a flow or destination.
type AcceptanceCard struct {
	Last  *AcceptanceLine // nil = there was none
	All   string          // address of all runs
	Start string          // "" = it is not started from here
}

// flowEntries lists the pages of the section of flows.
var flowEntries = []subEntry{
	{PathFlows, "nav.flows"},
	{PathAcceptance, "acceptance.title"},
}

// acceptanceWords are the actions of an acceptance's history; each has a key
// "action.<word>".
var acceptanceWords = []string{"ask_acceptance", "start_acceptance", "end_acceptance", "cancel_acceptance", "sign_acceptance"}
