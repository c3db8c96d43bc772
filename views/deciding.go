package views

import (
	"time"

	"holdpoint/operation"
	"holdpoint/views/text"
)

// Preset is a preset reason of one decision.
type Preset struct {
	Code string
	// Words are the flow's own; "" = the catalogue's, under "preset.<decision>.<code>".
	Words    string
	Selected bool
}

// Presets are the codes of the common reasons of each decision; a flow may give its own.
// Each has a key "preset.<decision>.<code>".
var Presets = map[operation.Decision][]string{
	operation.Approve:        {"checked", "as_agreed"},
	operation.RequestChanges: {"wording", "recipient", "amount", "missing"},
	operation.Reject:         {"not_wanted", "wrong_customer", "done_already", "not_allowed"},
}

// PresetText says a preset reason in the reader's language: the flow's own words, the
// catalogue's, or as it was shown when it was given.
func PresetText(p *text.Printer, d operation.Decision, code, words string) string {
	if words == "" {
		if k := "preset." + string(d) + "." + code; text.Has(k) {
			return p.T(k)
		}
	}
	return words
}

// TogetherModel is the page on which several versions of one flow and stage are approved
// together. It is one form; fields: form_id, flow, stage, pick (an operation's ID, many),
// and for each operation version.<id>, hash.<id>, revision.<id>, for.<id>.
type TogetherModel struct {
	Frame
	Form
	Flow, Stage         string // names, as the form carries them
	FlowTitle           string
	StageTitle          string
	Destination         string
	Items               []TogetherItem
	Mails, Recipients   int
	Money               []Money // totals, by currency
	Shared              []Field // the same in all of them
	More                bool    // there are more than are shown
	Left                int     // that wait, and that this person may not approve
	NextStage, OwnInbox string
}

// TogetherItem is one version of the list.
type TogetherItem struct {
	ID       operation.ID
	URL      string
	Title    string
	Version  operation.VersionID
	Number   int
	Hash     string // hex
	Revision int64
	// For is on whose behalf it would be approved, ForName their name; "" = own.
	For, ForName    string
	Varies          []Field // short fields that differ from the others
	Content         ContentView
	Given, Required int
	Due             time.Time
	Overdue         bool
	Picked          bool
}

// TogetherResultModel reports what became of each operation of a list.
type TogetherResultModel struct {
	Frame
	Rows  []TogetherResult
	Again string // address of what is left of the list
	Next  *Link  // the next decision of the inbox
}

// TogetherResult is one operation of the report.
type TogetherResult struct {
	Title string
	URL   string
	State operation.State
	// Refusal says why it was not approved; nil = it was.
	Refusal *operation.Refusal
}

// Approved counts those that were approved.
func (m TogetherResultModel) Approved() (n int) {
	for _, r := range m.Rows {
		if r.Refusal == nil {
			n++
		}
	}
	return n
}

// DelegationsModel is one's own page of delegations, or everybody's for admins.
type DelegationsModel struct {
	Frame
	New             *DelegationForm // nil = cannot give any
	Given, Received []DelegationLine
	All             []DelegationLine // of everybody; only on the people's page
}

// DelegationForm hands approvals on. Fields: to, roles (many), flows (many; none = every
// flow), starts, ends (2006-01-02T15:04 in the viewer's zone), reason.
type DelegationForm struct {
	Form
	People       []Option
	Roles, Flows []Option
	Starts, Ends string
	Reason       string
}

// DelegationLine is one delegation.
type DelegationLine struct {
	ID           operation.DelegationID
	From, To     Who
	Roles        []operation.Role
	Flows        []string // titles; none = every flow
	Reason       string
	Starts, Ends time.Time
	Ended        time.Time // taken back; zero = not
	EndedBy      string
	Used         int
	Live, Over   bool
	// Revoke takes it back; nil = it is over, or not the viewer's.
	Revoke *ReasonForm
}

// delegationState says how a delegation stands.
func delegationState(d DelegationLine) string {
	switch {
	case !d.Ended.IsZero():
		return "delegation.revoked"
	case d.Over:
		return "delegation.ended"
	case d.Live:
		return "delegation.live"
	}
	return "delegation.coming"
}

// delegationHue and delegationIcon give the hue and the shape of how it stands.
func delegationHue(d DelegationLine) string {
	if d.Live {
		return string(operation.Ready)
	}
	return string(operation.Waiting)
}

func delegationIcon(d DelegationLine) string {
	switch {
	case d.Live:
		return "circle"
	case d.Over:
		return string(operation.Cancelled)
	}
	return string(operation.Waiting)
}
