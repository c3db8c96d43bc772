package views

import (
	"context"
	"time"

	"holdpoint/operation"
	"holdpoint/views/text"
)

// PathReports is where weekly and monthly reviews are.
const PathReports = "/reports"

// The messages after a review was commented on or signed.
const (
	FlashReportCommented = "flash.report_commented"
	FlashReportSigned    = "flash.report_signed"
)

// ReportsModel is the list of reviews.
type ReportsModel struct {
	Frame
	Rows         []ReportRowView
	Kinds, Flows []Option
	Active       bool // filters narrow the list
	Pager        Pager
	// FirstWeek and FirstMonth are when the first reviews are made, for an empty list.
	FirstWeek, FirstMonth time.Time
	Zone                  string
}

// ReportRowView is one review in the list.
type ReportRowView struct {
	ID, URL  string
	Kind     operation.ReportKind
	From, To time.Time
	Zone     *time.Location
	Flow     string // title; "" = the whole installation
	Open     int64  // operations without completion
	Doubt    int64
	Comments int
	SignedBy string
	Stale    bool // comments came after the signature
}

// ReportModel is one review.
type ReportModel struct {
	Frame
	ReportRowView
	Before        time.Time
	MadeAt        time.Time
	Late          bool
	Hash          string // of the facts, hex
	Sections      []ReportSectionView
	Signatures    []ReportSignatureView
	Sign          Form // its hash is what would be signed
	CSV, Markdown string
}

// ReportSectionView is one part of a review with its comments.
type ReportSectionView struct {
	Section  operation.ReviewSection
	Lines    []ReportLineView
	Comments []ReportCommentView
	Form     *Form // nil = the viewer may not comment
	Typed    string
}

// ReportLineView is one number with that of the period before.
type ReportLineView struct {
	operation.ReviewLine
	Name  string // of the destination, as people know it
	URL   string // of what it counts; "" = nothing
	Since int    // how many of them are settled since then; -1 = it is not said
}

// ReportCommentView is one comment.
type ReportCommentView struct {
	Name, Body string
	At         time.Time
}

// ReportSignatureView is one signature.
type ReportSignatureView struct {
	Name     string
	Role     operation.Role
	At       time.Time
	Comments int
	Hash     string
}

// ReportItemsModel lists what a number of a review counts.
type ReportItemsModel struct {
	Frame
	ReportRowView
	Line ReportLineView
	Rows []ReportItemView
	Next string
}

// ReportItemView is one thing that a number counts.
type ReportItemView struct {
	N       int
	ID      string
	URL     string
	Title   string
	Flow    string
	Place   string
	State   operation.State
	Attempt string // its ID, where attempts are counted
}

// days says the period in its own zone.
func (r ReportRowView) days(ctx context.Context) string {
	return text.From(ctx).Days(r.From, r.To, r.Zone)
}

// heading names the review.
func (r ReportRowView) heading(ctx context.Context) string {
	return r.Heading(text.From(ctx))
}

// Heading names the review in the reader's language: its kind, its days, its flow.
func (r ReportRowView) Heading(p *text.Printer) string {
	days := p.Days(r.From, r.To, r.Zone)
	if r.Flow != "" {
		return p.T("reports.heading_flow."+string(r.Kind), "Days", days, "Flow", Plain(r.Flow))
	}
	return p.T("reports.heading."+string(r.Kind), "Days", days)
}

// Title names a line: its figure, and its destination.
func (l ReportLineView) Title(p *text.Printer) string {
	s := p.T("reports.line." + l.Code)
	if l.Name != "" {
		return p.T("limits.of", "Figure", s, "Name", Plain(l.Name))
	}
	return s
}

// Number says one of a line's numbers.
func (l ReportLineView) Number(p *text.Printer, n operation.ReviewNumber) string {
	return p.ReviewNumber(string(l.Kind), n.N, n.Of)
}

// Change says how a line differs from the period before; "–" where one of them has
// nothing to compare.
func (l ReportLineView) Change(p *text.Printer) string {
	now, before := l.amount(l.Now), l.amount(l.Before)
	if l.Kind != operation.ReviewCount && (l.Now.Of == 0 || l.Before.Of == 0) {
		return "–"
	}
	switch d := now - before; {
	case d > 0:
		return p.T("reports.more", "D", l.apart(p, d))
	case d < 0:
		return p.T("reports.less", "D", l.apart(p, -d))
	}
	return p.T("reports.same")
}

// apart says how far the two numbers lie apart: two rates in points, not in percent.
func (l ReportLineView) apart(p *text.Printer, d int64) string {
	if l.Kind == operation.ReviewRate {
		return p.Points(d)
	}
	return p.Amount(string(l.Kind), d)
}

// amount is what is compared: of a rate tenths of a percent, as they are shown.
func (l ReportLineView) amount(n operation.ReviewNumber) int64 {
	if l.Kind != operation.ReviewRate {
		return n.N
	}
	if n.Of == 0 {
		return 0
	}
	return (n.N*operation.RateUnit/n.Of + 5) / 10 * 10
}

// ReportLines are the codes of all lines.
var ReportLines = []string{"open_at_end", "unresolved_at_end", "unresolved_occurred", "adopted", "key_reuse", "duplicates_suspected", "duplicates_confirmed", "duplicate_rate",
	"destination_errors", "approval_delay", "recovery_in_hand", "recovery_active", "reexecution_errors", "incidents_opened", "incidents_open", "tasks_open", "tasks_overdue", "limits_broken",
	"events", "deliveries", "attempts", "effects_destination", "effects_person"}

// unsigned reports a review that nobody has signed as it stands.
func (r ReportRowView) signedWords(ctx context.Context) string {
	switch {
	case r.SignedBy == "":
		return t(ctx, "reports.unsigned")
	case r.Stale:
		return t(ctx, "reports.signed_before", "Name", Plain(r.SignedBy))
	}
	return t(ctx, "reports.signed_by", "Name", Plain(r.SignedBy))
}

// counted is how many things the line counts.
func (m ReportItemsModel) counted() int {
	if m.Line.Kind == operation.ReviewDuration {
		return int(m.Line.Now.Of)
	}
	return int(m.Line.Now.N)
}

// SectionReports is the entry of reviews, incidents and improvement tasks.
const SectionReports Section = "reports"

// reportEntries lists the pages of that section.
var reportEntries = []subEntry{
	{PathReports, "reports.title"},
	{PathIncidents, "incidents.title"},
	{PathTasks, "tasks.title"},
}
