package definition

import (
	"fmt"
	"sort"
	"strings"
	"time"
)

// Topic says what a sentence of Explain is about.
type Topic string

// The topics, in the order of Explain.
const (
	TopicEffect      Topic = "effect"
	TopicConfirmed   Topic = "confirmed"
	TopicNotStarted  Topic = "not started"
	TopicUnknown     Topic = "unknown"
	TopicLookup      Topic = "lookup"
	TopicMiss        Topic = "miss"
	TopicTimeOut     Topic = "time-out"
	TopicKey         Topic = "key"
	TopicConcurrency Topic = "two at once"
	TopicOverwrites  Topic = "overwrites"
	TopicErrors      Topic = "errors"
	TopicMismatch    Topic = "mismatch"
	TopicUnique      Topic = "unique"
	TopicPerformed   Topic = "performed by"
	TopicSettling    Topic = "settling"
	TopicRule        Topic = "rule"
	TopicOpen        Topic = "not known"
)

// Explained is one plain English sentence (or two that belong together) on a topic.
type Explained struct {
	Topic Topic
	Text  string
}

// Explain says in words what a profile means for an action: what confirms it, what
// follows a time-out, when a person decides, and what nobody knows.
func Explain(m Meaning) []Explained {
	x := &explaining{}
	x.say(TopicEffect, "One %s at %s (account %s, %s).", spaced(m.Effect), m.Destination, m.Account, m.Environment)
	x.outcomes(m)
	x.lookup(m)
	x.timeOut(m)
	x.key(m)
	if m.Clients {
		x.say(TopicPerformed, "Other programs perform it: they ask the job API for a permit, act themselves and report.")
	}
	if m.Protection.SettleAfter > 0 {
		x.say(TopicSettling, "A request that was received may still take effect for %s; until then nobody can state that nothing happened.", words(m.Protection.SettleAfter))
	}
	x.rules(m)
	x.open(m)
	return x.all
}

type explaining struct{ all []Explained }

func (x *explaining) say(t Topic, format string, args ...any) {
	x.all = append(x.all, Explained{t, fmt.Sprintf(format, args...)})
}

func (x *explaining) outcomes(m Meaning) {
	switch {
	case m.Clients:
		x.say(TopicConfirmed, "It is confirmed when the program that performs it reports the destination's own reference.")
	case m.Reference == ReferenceOurs:
		x.say(TopicConfirmed, "It is confirmed by an answer that fits the profile; the destination gives no reference, ours stands for it.")
	case m.Reference == ReferenceTheirs:
		x.say(TopicConfirmed, "It is confirmed only by an answer that fits the profile and names the destination's own reference.")
	default:
		x.say(TopicConfirmed, "It is confirmed by an answer that fits the profile; the destination gives no reference.")
	}
	if codes := m.notStarted(); len(codes) > 0 {
		x.say(TopicNotStarted, "These answers prove that nothing was executed: %s; then it is tried again later, unless the refusal is permanent.", strings.Join(codes, ", "))
	} else {
		x.say(TopicNotStarted, "No answer proves that nothing was executed; only a request that never left does.")
	}
	x.say(TopicUnknown, "Everything else is unknown: no answer, a cut or unexpected answer, a redirect, a rule that cannot be evaluated.")
}

func (m Meaning) notStarted() []string {
	seen := map[string]bool{}
	var codes []string
	for _, r := range m.Rules {
		if r.Kind == "not_started" && !seen[r.Code] {
			seen[r.Code] = true
			codes = append(codes, r.Code)
		}
	}
	sort.Strings(codes)
	return codes
}

func (x *explaining) lookup(m Meaning) {
	l := m.Lookup
	switch {
	case l == nil && m.SMTP:
		x.say(TopicLookup, "Mail handed over by SMTP cannot be looked up: accepted is not delivered, and a lost answer cannot be asked for.")
		return
	case l == nil:
		x.say(TopicLookup, "The destination cannot be asked whether the effect exists.")
		return
	case l.By == "":
		x.say(TopicLookup, "The destination can be searched, but not by a reference of ours: what is found is only a candidate for a person.")
		return
	}
	when := "at once"
	if l.Lag > 0 {
		when = "after " + words(l.Lag)
	}
	x.say(TopicLookup, "When the outcome is unknown the destination is asked %s by our own reference (%s); one fitting match confirms.", when, spaced(l.By))
	if l.Authoritative {
		x.say(TopicMiss, "A miss is documented as reliable; still it is not a proof and only fills in the reviewer's form.")
	} else {
		x.say(TopicMiss, "A miss is not a proof.")
	}
}

func (x *explaining) timeOut(m Meaning) {
	p := m.Protection
	const never = "a time-out is never repeated by itself"
	switch {
	case m.TimeOut == TimeOutRepeated:
		after := "then a person decides"
		if p.HasLookup {
			after = "then only lookups go on and a person decides"
		}
		x.say(TopicTimeOut, "A time-out here is repeated with the same key for %s (%s published, %s margin), %s. Shown on %s by %s.",
			words(p.Retention-p.Margin), words(p.Retention), words(p.Margin), after, m.Proven.On, m.Proven.By)
	case !p.Key && m.Unique != "":
		x.say(TopicTimeOut, "There is no idempotency key, but our reference (%s) is unique there: a repeat is refused. Still %s, a person decides.", spaced(m.Unique), never)
	case !p.Key && p.HasLookup:
		x.say(TopicTimeOut, "There is no idempotency key: %s; if the lookups find nothing, a person decides.", never)
	case !p.Key:
		x.say(TopicTimeOut, "There is no idempotency key: %s, a person decides.", never)
	case p.Retention == 0:
		x.say(TopicTimeOut, "A key is sent, but the destination does not publish how long it protects: %s, a person decides.", never)
	case !p.Proven:
		x.say(TopicTimeOut, "The destination documents that the same key protects for %s, but no probe has shown it: %s, a person decides.", words(p.Retention), never)
	default:
		x.say(TopicTimeOut, "A key protects for %s, but a repeat overwrites what is there and nobody can look first: %s, a person decides.", words(p.Retention), never)
	}
}

func (x *explaining) key(m Meaning) {
	p := m.Protection
	if m.TimeOut == TimeOutRepeated && !p.Concurrency {
		x.say(TopicConcurrency, "What a concurrent request with the same key gets is not documented, so a repeat waits until the first can no longer take effect.")
	}
	if p.Overwrites {
		x.say(TopicOverwrites, "A repeat overwrites what is there, so it needs a lookup that reached the destination and found nothing.")
	}
	if !p.Key {
		return
	}
	if p.Concurrency {
		x.say(TopicConcurrency, "A concurrent request with the same key is answered that the first one still runs; that answer is unknown, never a failure.")
	}
	if m.ReplaysErrors {
		x.say(TopicErrors, "The destination replays stored errors too: a repeated error is the recorded result, not a new failure.")
	}
	if m.MismatchKnown {
		x.say(TopicMismatch, "The same key with other parameters is refused there; that answer says nothing about the first request.")
	}
	use := "It is used: shown on " + m.Proven.On + " by " + m.Proven.By + "."
	switch {
	case !p.Proven:
		use = "It is sent but not relied on: no probe has shown that it holds."
	case p.Retention == 0:
		use = "It is sent but not relied on: how long it protects is not published."
	case m.TimeOut != TimeOutRepeated:
		use = "It is sent but not relied on: a repeat would overwrite what nobody has looked at."
	}
	x.say(TopicKey, "The key travels in the header %s. %s", m.KeyHeader, use)
	if m.Unique != "" {
		x.say(TopicUnique, "Besides, our reference (%s) is unique there: a second effect with it is refused.", spaced(m.Unique))
	}
}

// rules says what each outcome rule means, in the order in which they are asked.
func (x *explaining) rules(m Meaning) {
	for i, r := range m.Rules {
		var means string
		switch {
		case r.Kind == "confirmed" && m.Reference == ReferenceTheirs:
			means = "confirmed, if the answer names the reference; else unknown and looked up"
		case r.Kind == "confirmed":
			means = "confirmed"
		case r.Kind == "not_started" && r.Permanent:
			means = "proven not started (" + r.Code + "); a repeat would be refused again"
		case r.Kind == "not_started":
			means = "proven not started (" + r.Code + "); tried again later"
		case r.Kind == "lookup":
			means = "unknown, and looked up at once (" + r.Code + ")"
		default:
			means = "unknown (" + r.Code + ")"
		}
		if r.Rule == "false" {
			x.say(TopicRule, "%d. Never by an answer, only when a program reports it: %s.", i+1, means)
			continue
		}
		x.say(TopicRule, "%d. If %s: %s.", i+1, r.Rule, means)
	}
}

// open lists what the profile does not say, and how that is taken.
func (x *explaining) open(m Meaning) {
	p := m.Protection
	say := func(text string) { x.say(TopicOpen, "%s", text) }
	if p.Key && p.Retention == 0 {
		say("How long a key is kept (retention): taken as expired.")
	}
	if p.Key && !m.MismatchKnown {
		say("What other parameters with the same key get (mismatch): such an answer is judged by the rules.")
	}
	if p.Key && !m.ReplayKnown {
		say("How a replayed answer is told from a first one (replay): it counts as a first one.")
	}
	if p.SettleAfter == 0 {
		say("How long a received request may still take effect (settle_after): taken as not at all after the attempt's end.")
	}
	if m.Lookup != nil && m.Lookup.Lag == 0 {
		say("How far the lookup is behind (lag): taken as not at all.")
	}
	if m.Links == 0 {
		say("Where a person can look (look_yourself): the review names no place.")
	}
	if m.Docs.URL == "" {
		say("Where all this is documented (docs): nobody can check it.")
	}
}

func spaced(s string) string { return strings.ReplaceAll(s, "_", " ") }

// words writes a duration for people: "23 h", "2 min", "1 h 30 min".
func words(d time.Duration) string {
	if d <= 0 {
		return "0 s"
	}
	var parts []string
	for _, u := range []struct {
		unit time.Duration
		name string
	}{{time.Hour, "h"}, {time.Minute, "min"}, {time.Second, "s"}, {time.Millisecond, "ms"}} {
		if n := d / u.unit; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, u.name))
			d -= n * u.unit
		}
	}
	return strings.Join(parts, " ")
}
