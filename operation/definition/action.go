package definition

import (
	"encoding/json"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"holdpoint/operation"
)

// Action is one kind of effect at a destination.
type Action struct {
	Name    string
	Effect  string // the kind of effect: target references are unique per account and effect
	Title   Text
	Content map[string]any // JSON Schema of the content; nil = any
	// Proven says when and how the protection was shown to hold; zero = not proven.
	Proven Proven
	// Authoritative says that the lookup's miss is documented as reliable. It is still
	// not a proof: it only fills in the reviewer's form.
	Authoritative bool
	// Unique names the field of the destination that holds our reference and that it
	// documents as unique: a repeat is refused there. It is shown to people and permits
	// nothing; "" = not documented.
	Unique string

	profile    *Profile
	schema     *jsonschema.Schema
	recipient  template // whom an effect reaches; nil = the profile does not say
	request    *request
	mail       *mailForm
	protection protection
	outcomes   []outcome
	reference  *reference
	lookup     *lookup
	links      []link
}

// Proven is a dated probe of a protection.
type Proven struct {
	On string `json:"on"` // date, YYYY-MM-DD
	By string `json:"by"`
}

// rawProven is a dated probe, or false.
type rawProven Proven

// UnmarshalJSON reads a probe; false is none.
func (p *rawProven) UnmarshalJSON(raw []byte) error {
	if string(raw) == "false" {
		*p = rawProven{}
		return nil
	}
	return json.Unmarshal(raw, (*Proven)(p))
}

// Profile gives the profile that the action belongs to.
func (a *Action) Profile() *Profile { return a.profile }

type protection struct {
	keyHeader    string
	keyValue     string // with its holes declared
	retention    time.Duration
	margin       time.Duration
	mismatch     *expr
	inProgress   *expr
	replay       *expr
	replayErrors bool
	overwrites   bool
}

type outcome struct {
	kind      string // "confirmed", "not_started", "lookup" or "unknown"
	rule      *expr
	code      string
	permanent bool
}

type reference struct {
	id, url template
	fits    *expr
}

type link struct {
	text Text
	url  template
}

type rawAction struct {
	Effect     string         `json:"effect"`
	Title      Text           `json:"title"`
	Content    map[string]any `json:"content"`
	Recipient  expression     `json:"recipient"`
	Request    *rawRequest    `json:"request"`
	Mail       *rawMail       `json:"mail"`
	Protection struct {
		Key *struct {
			Header string `json:"header"`
			Value  string `json:"value"`
		} `json:"key"`
		Retention     duration   `json:"retention"`
		Margin        *duration  `json:"margin"`
		Mismatch      expression `json:"mismatch"`
		InProgress    expression `json:"in_progress"`
		Replay        expression `json:"replay"`
		ReplaysErrors bool       `json:"replays_errors"`
		Overwrites    bool       `json:"overwrites"`
		Unique        string     `json:"unique"`
		Proven        rawProven  `json:"proven"`
	} `json:"protection"`
	Outcome []struct {
		Confirmed  expression `json:"confirmed"`
		NotStarted expression `json:"not_started"`
		Lookup     expression `json:"lookup"`
		Unknown    expression `json:"unknown"`
		Code       string     `json:"code"`
		Permanent  bool       `json:"permanent"`
	} `json:"outcome"`
	Reference *struct {
		ID   expression `json:"id"`
		URL  expression `json:"url"`
		Fits expression `json:"fits"`
	} `json:"reference"`
	Lookup   *rawLookup          `json:"lookup"`
	Yourself []map[string]string `json:"look_yourself"`
}

func (r rawAction) compile(pr *Profile, name string, p *problems) *Action {
	path := join("actions", name)
	a := &Action{Name: name, Effect: r.Effect, Title: r.Title, Content: r.Content, Proven: Proven(r.Protection.Proven), Unique: r.Protection.Unique, profile: pr}
	if len(a.Title) == 0 {
		a.Title = Text{"en": strings.ReplaceAll(name, "_", " ")}
	}
	if r.Content != nil {
		var err error
		if a.schema, err = compileSchema("content.json", r.Content); err != nil {
			p.add(join(path, "content"), "it is not a JSON Schema: %s", oneLine(err))
		}
	}
	switch smtp := pr.Kind == operation.RequestSMTP; {
	case smtp && (r.Mail == nil || r.Request != nil):
		p.add(path, "an action of kind smtp has a mail block and no request")
	case !smtp && (r.Request == nil || r.Mail != nil):
		p.add(path, "an action of kind http has a request and no mail block")
	case smtp:
		a.mail = r.Mail.compile(join(path, "mail"), p)
	default:
		a.request = r.Request.compile(scopeRequest, join(path, "request"), p)
	}
	if r.Recipient.set {
		a.recipient = compileTree(scopeRequest, r.Recipient.raw, join(path, "recipient"), asWritten, p)
	}
	r.compileProtection(a, join(path, "protection"), p)
	r.compileOutcomes(a, join(path, "outcome"), p)
	if r.Reference != nil {
		at := join(path, "reference")
		a.reference = &reference{
			id:   compileValue(scopeAnswer, r.Reference.ID, join(at, "id"), p),
			url:  compileValue(scopeAnswerLink, r.Reference.URL, join(at, "url"), p),
			fits: compileRule(scopeAnswer, r.Reference.Fits, join(at, "fits"), p),
		}
	}
	if r.Lookup != nil {
		if pr.Kind == operation.RequestSMTP {
			p.add(join(path, "lookup"), "SMTP cannot be asked")
		} else {
			a.lookup = r.Lookup.compile(a, join(path, "lookup"), p)
		}
	}
	r.compileLinks(a, join(path, "look_yourself"), p)
	return a
}

func (r rawAction) compileProtection(a *Action, path string, p *problems) {
	raw := r.Protection
	a.protection = protection{
		retention: time.Duration(raw.Retention), margin: operation.DefaultMargin,
		mismatch:     compileRule(scopeAnswer, raw.Mismatch, join(path, "mismatch"), p),
		inProgress:   compileRule(scopeAnswer, raw.InProgress, join(path, "in_progress"), p),
		replay:       compileRule(scopeAnswer, raw.Replay, join(path, "replay"), p),
		replayErrors: raw.ReplaysErrors, overwrites: raw.Overwrites,
	}
	if raw.Margin != nil {
		a.protection.margin = time.Duration(*raw.Margin)
	}
	if raw.Key != nil {
		a.protection.keyHeader, a.protection.keyValue = raw.Key.Header, operation.DeclareHoles(raw.Key.Value)
		if a.mail != nil {
			p.add(join(path, "key"), "SMTP has no idempotency key")
		}
		if reservedHeader(raw.Key.Header) {
			p.add(join(path, "key.header"), "the header %s is set by the program", raw.Key.Header)
		}
	} else if raw.Retention > 0 {
		p.add(join(path, "retention"), "a retention without a key protects nothing")
	}
	if raw.Unique != "" && !a.sendsReference() {
		p.add(join(path, "unique"), "the request holds no reference of ours ({operation_id} or {key}) that could be unique")
	}
	if raw.Retention > 0 && a.protection.margin >= a.protection.retention {
		p.add(join(path, "margin"), "the margin %s uses up the whole retention %s", a.protection.margin, a.protection.retention)
	}
}

// sendsReference reports that the request carries a reference of ours that stays the
// same over all attempts.
func (a *Action) sendsReference() bool {
	return a.request != nil && slices.ContainsFunc(a.request.holes(), func(name string) bool {
		return name == operation.HoleOperationID || name == operation.HoleKey
	})
}

func (r rawAction) compileOutcomes(a *Action, path string, p *problems) {
	for i, raw := range r.Outcome {
		at := item(path, i)
		o := outcome{code: raw.Code, permanent: raw.Permanent}
		n := 0
		for _, k := range []struct {
			kind string
			rule expression
		}{{"confirmed", raw.Confirmed}, {"not_started", raw.NotStarted}, {"lookup", raw.Lookup}, {"unknown", raw.Unknown}} {
			if k.rule.set {
				n++
				o.kind, o.rule = k.kind, compileRule(scopeAnswer, k.rule, join(at, k.kind), p)
			}
		}
		switch {
		case n != 1:
			p.add(at, "a rule has exactly one of confirmed, not_started, lookup, unknown")
			continue
		case o.kind == "not_started" && o.code == "":
			p.add(join(at, "code"), "a proof that nothing happened needs a code")
		case o.permanent && o.kind != "not_started":
			p.add(join(at, "permanent"), "permanent belongs to not_started")
		case o.kind == "lookup" && r.Lookup == nil:
			p.add(join(at, "lookup"), "the action has no lookup")
		}
		o.code = or(o.code, map[string]string{"confirmed": CodeConfirmed, "lookup": CodeExists, "unknown": CodeUnrecognised}[o.kind])
		a.outcomes = append(a.outcomes, o)
	}
}

func (r rawAction) compileLinks(a *Action, path string, p *problems) {
	for i, raw := range r.Yourself {
		l := link{text: Text{}}
		langs := make([]string, 0, len(raw))
		for k := range raw {
			langs = append(langs, k)
		}
		sort.Strings(langs)
		for _, k := range langs {
			if k != "url" {
				l.text[k] = raw[k]
			}
		}
		l.url = compileText(scopeLookupLink, raw["url"], join(item(path, i), "url"), asWritten, p)
		a.links = append(a.links, l)
	}
}

// compileValue compiles a field that is text with expressions, or one expression.
func compileValue(s scope, x expression, path string, p *problems) template {
	if !x.set {
		return nil
	}
	return compileTree(s, x.raw, path, asWritten, p)
}

// Protection gives what the destination documents about repeating this action. A
// retention that is not published is zero and counts as expired; a protection without
// a dated probe is not proven.
func (a *Action) Protection() operation.Protection {
	pt := a.protection
	out := operation.Protection{
		Key: pt.keyHeader != "", Proven: a.Proven.On != "", Retention: pt.retention, Margin: pt.margin,
		SettleAfter: a.profile.SettleAfter, Concurrency: pt.inProgress != nil, Overwrites: pt.overwrites,
		HasLookup: a.lookup != nil,
	}
	if a.lookup != nil {
		out.LookupLag = a.lookup.lag
	}
	return out
}

// ProvenSince is the beginning of the day (UTC) on which the protection was shown to
// hold, as the profile says; zero = it does not.
func (a *Action) ProvenSince() time.Time {
	day, err := time.Parse(time.DateOnly, a.Proven.On)
	if err != nil {
		return time.Time{}
	}
	return day
}

// KeyHeader is the header in which the key travels; "" = the action takes none.
func (a *Action) KeyHeader() string { return a.protection.keyHeader }

// ReplaysErrors reports that a used key also brings back a stored error.
func (a *Action) ReplaysErrors() bool { return a.protection.replayErrors }

// HasLookup reports whether the destination can be asked whether the effect exists.
func (a *Action) HasLookup() bool { return a.lookup != nil }

// NotStartedCodes lists the codes that the profile documents as a proof that nothing
// was executed; a client of the job API may claim these and no others. Sorted.
func (a *Action) NotStartedCodes() []string {
	seen := map[string]bool{}
	var codes []string
	for _, o := range a.outcomes {
		if o.kind == "not_started" && !seen[o.code] {
			seen[o.code] = true
			codes = append(codes, o.code)
		}
	}
	sort.Strings(codes)
	return codes
}

// Permanent reports whether the profile says of a code of not_started that a repeat
// will not change it.
func (a *Action) Permanent(code string) bool {
	for _, o := range a.outcomes {
		if o.kind == "not_started" && o.code == code && code != "" {
			return o.permanent
		}
	}
	return false
}

// CheckContent names the parts of a content that are missing or do not fit the
// action's schema, by dotted path, sorted.
func (a *Action) CheckContent(content map[string]any) (wrong []string, err error) {
	wrong, err = checkValues(a.schema, content)
	sort.Strings(wrong)
	return wrong, err
}
