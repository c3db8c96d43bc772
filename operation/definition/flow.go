package definition

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"holdpoint/operation"
)

// Flow is one version of a flow: what starts it, what it needs, its stages, and who
// decides. It is read-only after ParseFlow and safe for concurrent use.
type Flow struct {
	Name           string
	Title          Text
	Owner          operation.Selector
	Author         operation.Selector // completes drafts; default: role author
	Reviewer       operation.Selector // settles what nothing else can settle
	Reexecution    Reexecution
	Trigger        Trigger
	RunKey         string         // the expression as written; "" = the event's identity
	Inputs         map[string]any // JSON Schema of the inputs
	Outputs        []string
	OnMissingData  string // MissingDraft or MissingRefuse
	Stages         []Stage
	ChecklistExtra []CheckItem
	Due            operation.Due // Approve is the default for stages that name none
	Prompts        map[string]string
	Failure        string // how failure is handled, for people
	Runbook        string // Markdown for people
	TestCases      []string
	Introduction   Text       // one page for new operators, Markdown; may be empty
	OutputsOf      []Output   // Outputs with their names for people
	Briefs         []Brief    // Prompts with their versions, by name
	Cases          []TestCase // TestCases with what they say
	Notify         Notify     // how its people are told

	Source []byte   // the file as applied
	Hash   [32]byte // SHA-256 of Source

	schema *jsonschema.Schema
	runKey template
	take   template
}

// What a flow does when inputs are missing.
const (
	MissingDraft  = "draft"  // the operation begins as a draft that names them
	MissingRefuse = "refuse" // no run begins; the source's owner is told
)

// What satisfies a stage.
const (
	SatisfiedConfirmed = "confirmed" // the destination confirmed the effect
	SatisfiedAccepted  = "accepted"  // mail: the provider took responsibility
	SatisfiedDelivered = "delivered" // mail: the recipient's server took it
)

// DefaultAttempts is the attempt limit of a stage that names none.
const DefaultAttempts = 5

// DefaultDelivery is how long an accepted mail may stay without news where a flow does
// not say.
const DefaultDelivery = 48 * time.Hour

// Reexecution says who decides on one more attempt after an unknown outcome.
type Reexecution struct {
	Approvers operation.Selector
	Required  int
}

// Trigger says which notifications start the flow. An empty handle or topic matches
// every one of the source.
type Trigger struct {
	Source string `json:"source"`
	Handle string `json:"handle"` // Shopify Flow: the action's handle
	Topic  string `json:"topic"`
}

// CheckItem is a question that the flow adds to the recovery checklist.
type CheckItem struct {
	Key string `json:"key"`
	Ask Text   `json:"ask"`
}

// Stage is one step of a flow: one effect at one destination, with its own approval.
type Stage struct {
	Key         string
	Title       Text
	Destination string
	Action      string
	Content     map[string]any // as written, with its expressions
	Drafts      []DraftField   // the parts that somebody writes
	Approval    operation.Policy
	// Reasons are the preset reasons of a decision; none = the common ones.
	Reasons     map[operation.Decision][]Reason
	MaxAttempts int
	SatisfiedBy string // SatisfiedConfirmed, SatisfiedAccepted or SatisfiedDelivered; fanned out: SatisfiedEvery…
	// ForEach says that the stage fans out over a list; nil = it is one operation. The
	// Drafts of such a stage are written once for the whole batch.
	ForEach *ForEach
	// DeliveredWithin is how long an accepted mail may stay without news of its delivery
	// before its silence becomes the owner's work; only where delivery satisfies.
	DeliveredWithin time.Duration

	tree draftTree
}

// Reason is a preset reason that a flow offers for one of the approvers' decisions.
type Reason struct {
	Code string `json:"code"` // stored with the decision
	Text Text   `json:"text"`
}

// DraftField is a part of a stage's content that a person or a model writes.
type DraftField struct {
	Path  string `json:"path"`
	By    string `json:"by"`              // "author" or "model"
	Brief string `json:"brief,omitempty"` // what to write
}

// Stage gives a stage by its key; ok is false when there is none.
func (f *Flow) Stage(key string) (st *Stage, ok bool) {
	for i := range f.Stages {
		if f.Stages[i].Key == key {
			return &f.Stages[i], true
		}
	}
	return nil, false
}

// Matches reports whether a notification of a source starts the flow. handle is the
// action's handle of Shopify Flow, "" elsewhere.
func (f *Flow) Matches(source, handle, topic string) bool {
	t := f.Trigger
	return t.Source == source && (t.Handle == "" || t.Handle == handle) && (t.Topic == "" || t.Topic == topic)
}

type rawFlow struct {
	Flow        string             `json:"flow"`
	Title       Text               `json:"title"`
	Owner       operation.Selector `json:"owner"`
	Author      operation.Selector `json:"author"`
	Reviewer    operation.Selector `json:"reviewer"`
	Reexecution struct {
		Approvers operation.Selector `json:"approvers"`
		Required  int                `json:"required"`
	} `json:"reexecution"`
	Trigger       Trigger        `json:"trigger"`
	RunKey        expression     `json:"run_key"`
	Take          expression     `json:"take"`
	Inputs        map[string]any `json:"inputs"`
	Outputs       []rawOutput    `json:"outputs"`
	OnMissingData string         `json:"on_missing_data"`
	Stages        []rawStage     `json:"stages"`
	Checklist     []CheckItem    `json:"checklist_extra"`
	Due           struct {
		Draft     duration `json:"draft"`
		Review    duration `json:"review"`
		Reexecute duration `json:"reexecute"`
	} `json:"due"`
	Prompts      map[string]rawBrief `json:"prompts"`
	Failure      string              `json:"failure"`
	Runbook      string              `json:"runbook"`
	Introduction Text                `json:"introduction"`
	TestCases    []rawCase           `json:"test_cases"`
	Notify       rawNotify           `json:"notify"`
}

type rawStage struct {
	Key         string         `json:"key"`
	Title       Text           `json:"title"`
	Destination string         `json:"destination"`
	Action      string         `json:"action"`
	Content     map[string]any `json:"content"`
	Approval    rawApproval    `json:"approval"`
	Attempts    struct {
		Max int `json:"max"`
	} `json:"attempts"`
	SatisfiedBy     string      `json:"satisfied_by"`
	DeliveredWithin duration    `json:"delivered_within"`
	ForEach         *rawForEach `json:"for_each"`
}

type rawApproval struct {
	Approvers      operation.Selector `json:"approvers"`
	Required       int                `json:"required"`
	Groups         []rawGroup         `json:"groups"`
	SeparateAuthor *bool              `json:"separate_author"`
	Expires        duration           `json:"expires"`
	Due            duration           `json:"due"`
	Remind         duration           `json:"remind"`
	Escalate       struct {
		Role  operation.Role `json:"role"`
		After duration       `json:"after"`
	} `json:"escalate"`
	Reasons map[operation.Decision][]Reason `json:"reasons"`
}

// ParseFlow reads a flow file. The error is Problems, with file, line and field.
func ParseFlow(file string, src []byte) (*Flow, error) {
	var raw rawFlow
	d, p, err := load("flow", file, src, &raw)
	if err != nil {
		return nil, err
	}
	f := &Flow{
		Name: raw.Flow, Title: raw.Title, Owner: raw.Owner, Author: raw.Author, Reviewer: raw.Reviewer,
		Reexecution: Reexecution{Approvers: raw.Reexecution.Approvers, Required: max(1, raw.Reexecution.Required)},
		Trigger:     raw.Trigger, Inputs: raw.Inputs,
		OnMissingData: or(raw.OnMissingData, MissingDraft), ChecklistExtra: raw.Checklist,
		Due: operation.DefaultDue, Failure: raw.Failure, Runbook: raw.Runbook,
		Source: src, Hash: d.hash(),
	}
	f.describe(&raw, p)
	if f.Author.Role == "" {
		f.Author.Role = operation.RoleAuthor
	}
	setDue(&f.Due.Draft, raw.Due.Draft)
	setDue(&f.Due.Review, raw.Due.Review)
	setDue(&f.Due.Reexecute, raw.Due.Reexecute)
	if raw.RunKey.set {
		f.RunKey, _ = raw.RunKey.raw.(string)
		f.runKey = compileText(scopeFlow, f.RunKey, "run_key", asWritten, p)
	}
	if raw.Take.set {
		f.take = compileTree(scopeFlow, raw.Take.raw, "take", asWritten, p)
	}
	if f.schema, err = compileSchema("inputs.json", withoutItems(raw.Inputs, rawLists(raw.Stages))); err != nil {
		p.add("inputs", "it is not a JSON Schema: %s", oneLine(err))
	}
	for i, s := range raw.Stages {
		path := item("stages", i)
		if _, twice := f.Stage(s.Key); twice {
			p.add(join(path, "key"), "two stages have the key %q", s.Key)
		}
		f.Stages = append(f.Stages, s.stage(f, path, p))
	}
	f.Notify = raw.Notify.notify(p)
	seen := map[string]bool{}
	for _, k := range operation.Checklist {
		seen[string(k)] = true
	}
	for i, c := range raw.Checklist {
		if seen[c.Key] {
			p.add(join(item("checklist_extra", i), "key"), "the checklist already has an item %q", c.Key)
		}
		seen[c.Key] = true
	}
	if err := p.err(); err != nil {
		return nil, err
	}
	return f, nil
}

func (s rawStage) stage(f *Flow, path string, p *problems) Stage {
	st := Stage{
		Key: s.Key, Title: s.Title, Destination: s.Destination, Action: s.Action, Content: s.Content,
		Approval: s.Approval.policy(), MaxAttempts: s.Attempts.Max, SatisfiedBy: s.satisfiedBy(path, p),
	}
	st.Reasons = s.Approval.Reasons
	for d, list := range st.Reasons {
		seen := map[string]bool{}
		for i, r := range list {
			if seen[r.Code] {
				p.add(join(item(join(path, "approval.reasons."+string(d)), i), "code"), "two reasons have the code %q", r.Code)
			}
			seen[r.Code] = true
		}
	}
	if len(st.Title) == 0 {
		st.Title = Text{"en": s.Key}
	}
	if st.MaxAttempts == 0 {
		st.MaxAttempts = DefaultAttempts
	}
	if st.SatisfiedBy == SatisfiedDelivered {
		st.DeliveredWithin = cmp.Or(time.Duration(s.DeliveredWithin), DefaultDelivery)
	}
	if st.Approval.Due == 0 {
		st.Approval.Due = f.Due.Approve
	}
	if a := st.Approval; a.Remind > 0 && a.Remind >= a.Due {
		p.add(join(path, "approval.remind"), "a reminder after %s comes too late for a decision due after %s", a.Remind, a.Due)
	}
	s.Approval.check(join(path, "approval"), p)
	names := scopeFlow
	if s.ForEach != nil {
		names = scopeItem
	}
	st.tree = compileDraft(names, s.Content, join(path, "content"), "", p)
	st.tree.eachDraft(func(d DraftField) { st.Drafts = append(st.Drafts, d) })
	if s.ForEach != nil {
		st.ForEach = s.ForEach.forEach(f, &st, join(path, "for_each"), p)
	}
	return st
}

// satisfiedBy gives what satisfies the stage; one that fans out has words of its own.
func (s rawStage) satisfiedBy(path string, p *problems) string {
	every := strings.HasPrefix(s.SatisfiedBy, "every_item_")
	switch {
	case s.SatisfiedBy == "" && s.ForEach != nil:
		return SatisfiedEveryConfirmed
	case s.SatisfiedBy != "" && every != (s.ForEach != nil):
		p.add(join(path, "satisfied_by"), "a stage with for_each is satisfied by every_item_confirmed or every_item_closed, and no other stage is")
	}
	return or(s.SatisfiedBy, SatisfiedConfirmed)
}

func (a rawApproval) policy() operation.Policy {
	groups, required := groupsOf(a.Groups)
	if len(groups) == 0 {
		required = max(1, a.Required)
	}
	return operation.Policy{
		Approvers: a.Approvers, Required: required, Groups: groups, SeparateAuthor: a.SeparateAuthor == nil || *a.SeparateAuthor,
		Expires: time.Duration(a.Expires), Due: time.Duration(a.Due), Remind: time.Duration(a.Remind),
		EscalateRole: a.Escalate.Role, EscalateAfter: time.Duration(a.Escalate.After),
	}
}

func setDue(to *time.Duration, from duration) {
	if from > 0 {
		*to = time.Duration(from)
	}
}

func or(s, fallback string) string {
	if s == "" {
		return fallback
	}
	return s
}

func oneLine(err error) string { return strings.Join(strings.Fields(fmt.Sprint(err)), " ") }
