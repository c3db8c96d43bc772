package definition

import (
	"time"

	"holdpoint/operation"
)

// Meaning is what a profile means for one action, as plain facts: what a page shows and
// what Explain puts into words.
type Meaning struct {
	Effect, Destination  string // the destination's English title
	Account, Environment string
	Protection           operation.Protection
	TimeOut              TimeOut // what follows an unknown outcome
	KeyHeader            string  // "" = no key
	Unique               string  // the field that is unique there; "" = not documented
	Proven               Proven
	MismatchKnown        bool // what other parameters with the same key get is documented
	ReplayKnown          bool // a replayed answer can be told from a first one
	ReplaysErrors        bool
	Lookup               *LookupMeaning // nil = it cannot be asked
	Reference            ReferenceFrom
	Rules                []RuleMeaning // in the order in which they are asked
	SMTP                 bool
	Clients              bool // other programs perform it
	Links                int  // places where a person can look themselves
	Docs                 Docs
}

// TimeOut is what follows when nobody knows whether a request took effect.
type TimeOut string

// What follows a time-out, from the best protected to the least.
const (
	TimeOutRepeated TimeOut = "repeated" // with the same key, while it protects; then a person
	TimeOutLookedUp TimeOut = "looked_up"
	TimeOutPerson   TimeOut = "person"
)

// ReferenceFrom says where the target reference of a confirmed effect comes from.
type ReferenceFrom string

// Where a target reference comes from.
const (
	ReferenceTheirs ReferenceFrom = "answer" // the destination's own
	ReferenceOurs   ReferenceFrom = "ours"   // one that we gave
	ReferenceNone   ReferenceFrom = "none"
)

// LookupMeaning is what a lookup can tell.
type LookupMeaning struct {
	By            string // by which of our references it finds; "" = by none of ours
	Lag           time.Duration
	Authoritative bool // a miss is documented as reliable; still it is no proof
}

// RuleMeaning is one outcome rule.
type RuleMeaning struct {
	Kind      string // "confirmed", "not_started", "lookup" or "unknown"
	Rule      string // as written
	Code      string
	Permanent bool
}

// Meaning gives what the profile means for this action.
func (a *Action) Meaning() Meaning {
	pr := a.profile
	m := Meaning{
		Effect: a.Effect, Destination: pr.Title.In("en"), Account: pr.Account, Environment: pr.Environment,
		Protection: a.Protection(), KeyHeader: a.protection.keyHeader, Unique: a.Unique, Proven: a.Proven,
		MismatchKnown: a.protection.mismatch != nil, ReplayKnown: a.protection.replay != nil, ReplaysErrors: a.protection.replayErrors,
		Reference: ReferenceNone, SMTP: pr.Kind == operation.RequestSMTP, Clients: pr.PerformedBy == ClientsPerform, Links: len(a.links), Docs: pr.Docs,
	}
	switch {
	case a.reference != nil && a.reference.fromAnswer():
		m.Reference = ReferenceTheirs
	case a.reference != nil:
		m.Reference = ReferenceOurs
	}
	if l := a.lookup; l != nil {
		m.Lookup = &LookupMeaning{By: l.by, Lag: l.lag, Authoritative: a.Authoritative}
	}
	for _, o := range a.outcomes {
		m.Rules = append(m.Rules, RuleMeaning{o.kind, o.rule.text, o.code, o.permanent})
	}
	m.TimeOut = timeOut(m.Protection, m.Lookup)
	return m
}

// timeOut says what follows an unknown outcome.
func timeOut(p operation.Protection, l *LookupMeaning) TimeOut {
	switch {
	case p.Key && p.Proven && p.Retention > 0 && (!p.Overwrites || p.HasLookup):
		return TimeOutRepeated
	case l != nil:
		return TimeOutLookedUp
	}
	return TimeOutPerson
}

// fromAnswer reports whether the target reference is taken from the answer.
func (rf *reference) fromAnswer() bool {
	from := false
	rf.id.each(func(e *expr) { from = from || e.names["body"] || e.names["header"] })
	return from
}
