package views

import (
	"strings"
	"time"

	"holdpoint/operation"
	"holdpoint/views/text"
)

// PathHistory is the history over everything, PathTimeline everything that concerns one
// thing: PathTimeline/<kind>/<id>.
const (
	PathHistory  = "/history"
	PathTimeline = "/history/of"
)

// verifyCommand checks an exported history without the server.
const verifyCommand = "holdpoint verify --export holdpoint-history.jsonl"

// HistoryPageModel is the history over all subjects with its filters, newest first.
// Query fields (GET): from, to (days), kind, subject, actor, role, channel, action, flow,
// destination, state_from, state_to, moved (yes), after, before (keyset).
type HistoryPageModel struct {
	Frame
	Filter    HistoryPageFilter
	Rows      []HistoryPageRow
	Pager     Pager
	Integrity HistoryIntegrity
	// The same list as files: CSV, JSON Lines, JSON Lines with what was approved and sent.
	CSV, Lines, Content string
	// Timeline leads to everything that concerns the subject that is filtered by; "" = it
	// has none.
	Timeline string
	// Recorded says that the viewer's looks at content are recorded.
	Recorded bool
}

// HistoryPageFilter is what the list is limited to. Labels without a catalogue key come
// from the model.
type HistoryPageFilter struct {
	From, To     string // days, "2006-01-02" in the viewer's zone; both count
	Kinds        []Option
	Subject      string
	Actors       []Option
	Roles        []Option
	Channels     []Option
	Actions      []Option
	Flows        []Option
	Destinations []Option
	Before       []Option
	After        []Option
	Moved        bool
	Active       bool // some filter is set
	More         bool // one of those that are folded is set
}

// HistoryPageRow is one entry with what it belongs to.
type HistoryPageRow struct {
	HistoryLine
	ID          int64
	Kind        operation.SubjectKind
	Subject     string // identifier
	Label       string // as people know the subject; "" = by its identifier
	URL         string // of its page; "" = it has none
	Flow        string // title
	Destination string // title
	Policy      string // version of the flow whose policy was applied
	Profile     string // version of the destination's profile
	Delegation  string // under which they acted
	Version     string // of the content
	Evidence    string // hash
	// Objects are what the entry names besides its subject.
	Objects []HistoryObject
}

// HistoryObject is something that an entry names.
type HistoryObject struct {
	Kind string // has a key "history_page.object.<kind>"
	Link
}

// HistoryIntegrity says what was verified of the histories that are shown.
type HistoryIntegrity struct {
	Whole   int
	Entries int
	Left    int
	Broken  []BrokenHistory
	// Checkpoint is the newest signed checkpoint; nil = there is none yet.
	Checkpoint *HistoryCheckpoint
}

// BrokenHistory is a history that does not verify.
type BrokenHistory struct {
	Kind    operation.SubjectKind
	Subject string
	Seq     int64
	URL     string
}

// HistoryCheckpoint is a signed statement of how the history stood.
type HistoryCheckpoint struct {
	Entries int64
	Root    string // hexadecimal
	At      time.Time
	Key     string // name of the key that signed it
}

// pageWords are the actions of other histories than operations' and people's that have a
// key "action.<word>".
var pageWords = []string{"apply", "record_probe", "add_token", "revoke_token", "set_factor_roles",
	"share_view", "rename_view", "remove_view", "release_held", "discard_held", "run_open", "run_blocked", "run_completed", "run_stopped",
	"set_limit", "change_limit", "end_limit", "limit_broken", "limit_back", "limit_again", "make_report", "comment_report", "sign_report",
	"news_held", "news_aside", "news_expired", "topic_confirmed", "suppress", "lift_suppression"}

// pageDetails are the links of an entry that the page shows besides historyDetails.
var pageDetails = []string{"export", "format", "rows", "filter", "name", "scopes", "item", "size"}

// pageDetailsText says what else an entry is about, on the page of the history.
func pageDetailsText(p *text.Printer, e HistoryPageRow) string {
	links := map[string]string{}
	for k, v := range e.Links {
		links[k] = v
	}
	for _, o := range e.Objects {
		delete(links, o.Kind)
	}
	delete(links, "version")
	parts := []string{}
	if d := detailsText(p, links); d != "" {
		parts = append(parts, d)
	}
	for _, name := range pageDetails {
		if v := links[name]; v != "" {
			parts = append(parts, p.T("history_page.detail."+name, "V", v))
		}
	}
	return strings.Join(parts, " · ")
}

// entryState says a state that an entry left or led to; runs and batches have states of their own.
func entryState(p *text.Printer, kind operation.SubjectKind, s operation.State) string {
	if k := "batch.state." + string(s); kind == operation.SubjectBatch && text.Has(k) {
		return p.T(k)
	}
	for _, k := range []string{"state." + string(s), "run.state." + string(s)} {
		if kind == operation.SubjectRun {
			k = "run.state." + string(s)
		}
		if text.Has(k) {
			return p.T(k)
		}
	}
	return string(s)
}

// integrityText is the one sentence about the histories that a page shows.
func integrityText(p *text.Printer, h HistoryIntegrity) string {
	switch {
	case len(h.Broken) > 0:
		return p.N("history_page.broken", len(h.Broken))
	case h.Left > 0:
		return p.N("history_page.whole_left", h.Whole, "Left", p.N("history_page.left", h.Left))
	}
	return p.N("history_page.whole", h.Whole)
}

// TimelineModel is everything that concerns one thing, newest first.
type TimelineModel struct {
	Frame
	Kind  string // operation, run, incident, person
	Title string
	URL   string // of its own page
	ID    string
	Rows  []TimelineRow
	// History leads to the entries of its own history, with filters and exports.
	History     string
	First, Next string
}

// TimelineRow is one thing of a timeline: an entry of the history, an event, a delivery
// or a notice.
type TimelineRow struct {
	At       time.Time
	Entry    *HistoryPageRow
	Event    *EventView
	Delivery *DeliveryRow
	Notice   *ToldLine
}

// ToldLine is something that somebody was told.
type ToldLine struct {
	Kind    string
	Title   string
	To      Who
	Place   string // of the flow, when it went to no person
	Channel string // mail, slack, slack_hook, teams
	State   string // planned, sent, unknown, failed, superseded
}

// ActionWord says an action of the history alone, for a filter.
func ActionWord(p *text.Printer, action string) string {
	if k := "action." + action; text.Has(k) {
		return p.T(k)
	}
	return action
}
