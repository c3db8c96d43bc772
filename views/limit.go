package views

import (
	"context"
	"strings"
	"time"

	"holdpoint/operation"
	"holdpoint/views/text"
)

// PathLimits is where limits of figures are set.
const PathLimits = "/figures/limits"

// The messages after a limit was set, changed, or is no longer watched.
const (
	FlashLimitSet     = "flash.limit_set"
	FlashLimitChanged = "flash.limit_changed"
	FlashLimitEnded   = "flash.limit_ended"
)

// LimitsModel is the list of limits.
type LimitsModel struct {
	Frame
	Rows []LimitView
	// May says that the viewer may set limits; Ended that those are shown that nobody
	// watches any more.
	May, Ended bool
}

// LimitRule is what a limit is set to.
type LimitRule struct {
	Figure      operation.Figure
	Flow        string // title; "" = all
	Destination string // title; "" = all
	Source      string
	Under       bool
	Value       int64
	Hours       int
	Least       int64
	Margin      int64
	Hold        time.Duration
	Remind      time.Duration // 0 = none
	Again       time.Duration
	DueDays     int
	People      []string
	Roles       []operation.Role
	Owner       bool
	Note        string
}

// LimitView is one limit as it stands.
type LimitView struct {
	LimitRule
	ID, URL   string
	Measured  operation.Measure
	At        time.Time // zero = not measured yet
	Breach    *BreachView
	Ended     time.Time
	Version   int
	ChangedBy string
	ChangedAt time.Time
}

// BreachView is one breach.
type BreachView struct {
	Since, Within, Closed time.Time
	Why                   string // back, changed, ended; "" = it goes on
	Began, Peak           operation.Measure
	End                   *operation.Measure
	Task                  *Link
	TaskState             string
	Told                  []string
	ToldAt                time.Time
	Reminders             int
}

// LimitModel is the page of one limit.
type LimitModel struct {
	Frame
	LimitView
	Breaches []BreachView
	Versions []LimitVersionView
	// DrillURL leads to what is counted now; "" = there is no such list.
	DrillURL  string
	ChangeURL string // "" = the viewer may not change it
	End       *ReasonForm
}

// LimitVersionView is one version of a limit.
type LimitVersionView struct {
	LimitRule
	Version int
	By      string
	At      time.Time
}

// LimitFormModel is the form that sets or changes a limit. Its fields: figure, flow,
// destination, source, side, value, span, hours, least, margin, hold, remind, again, due,
// owner, role, user, note, reason, version.
type LimitFormModel struct {
	Frame
	Form                                                                Form
	New                                                                 bool
	Version                                                             int
	BackURL                                                             string
	FlowTitle                                                           string // of a limit that is changed: its flow stays
	Figures, Flows, Destinations, Sources, Sides, Spans                 []Option
	Value, Hours, Least, Margin, Hold, Remind, Again, Due, Note, Reason string
	Owner                                                               bool
	// OneFlow: the viewer may set limits of single flows only.
	OneFlow       bool
	Roles, People []Option
}

// kind is the kind of the figure's number, as amounts are written by it.
func (r LimitRule) kind() string { return string(r.Figure.Kind()) }

// backRule says when a breach is over: within the limit by how much, and for how long.
func backRule(p *text.Printer, r LimitRule) string {
	margin := p.Amount(r.kind(), r.Margin)
	if r.Hold == 0 {
		return p.T("limits.back_rule_now", "Margin", margin)
	}
	return p.T("limits.back_rule", "Margin", margin, "Hold", r.Hold)
}

// scope names what a limit is narrowed to; "" = nothing.
func (r LimitRule) scope(ctx context.Context) string {
	var parts []string
	for _, s := range []string{r.Flow, r.Destination, r.Source} {
		if s != "" {
			parts = append(parts, Plain(s))
		}
	}
	return strings.Join(parts, " · ")
}

// words says the limit itself.
func (r LimitRule) words(p *text.Printer) string {
	return p.LimitWords(r.kind(), r.Under, r.Value, r.Hours)
}

// measured says a measurement of the limit's figure.
func (r LimitRule) measured(p *text.Printer, m operation.Measure) string {
	if m.Rate {
		return p.ReviewNumber("rate", m.N, m.Of)
	}
	return p.Amount(r.kind(), m.Amount())
}

// told names who is told.
func (r LimitRule) told(p *text.Printer) string {
	var list []string
	if r.Owner {
		list = append(list, p.T("limits.owner"))
	}
	for _, x := range r.Roles {
		list = append(list, p.T("role."+string(x)))
	}
	for _, name := range r.People {
		list = append(list, Plain(name))
	}
	return strings.Join(list, p.T("limits.comma"))
}

// result is what a limit says now.
func (l LimitView) result() string {
	switch {
	case !l.Ended.IsZero():
		return "ended"
	case l.Breach != nil && !l.Breach.Within.IsZero():
		return "returning"
	case l.Breach != nil && l.Under:
		return "under"
	case l.Breach != nil:
		return "over"
	case l.At.IsZero():
		return "waiting"
	}
	return "within"
}

var (
	limitResults  = []string{"ended", "returning", "under", "over", "waiting", "within"}
	limitSpans    = []string{"0", "24", "168", "720", "hours"}
	breachEndings = []string{"back", "changed", "ended"}
)

// icon shows the result by its shape.
func (l LimitView) icon() string {
	switch l.result() {
	case "over", "under":
		return "warning"
	case "within":
		return "tick"
	case "returning", "waiting":
		return "clock"
	}
	return "minus"
}

// limitFields are the fields of the form, in their order.
var limitFields = []string{"figure", "flow", "destination", "source", "side", "value", "span", "least", "margin", "hold", "remind", "again", "due", "tell", "note", "reason"}

// limitPlaces are the fields that can be wrong, in their order.
func limitPlaces(ctx context.Context) []place {
	var list []place
	for _, name := range limitFields {
		list = append(list, place{name, "limit-" + name, t(ctx, "limits.field."+name)})
	}
	return list
}

// title says what the form does.
func (m LimitFormModel) title(ctx context.Context) string {
	if m.New {
		return t(ctx, "limits.new")
	}
	return t(ctx, "limits.change")
}

func anySelected(list []Option) bool {
	for _, o := range list {
		if o.Selected {
			return true
		}
	}
	return false
}
