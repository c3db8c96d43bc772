package definition

import (
	"fmt"
	"strings"
	"time"

	"holdpoint/operation"
)

// Reading says in one English paragraph what the profile means for this action: what
// confirms it, what a time-out leads to, and when a person decides.
func (a *Action) Reading() string {
	var s []string
	say := func(format string, args ...any) { s = append(s, fmt.Sprintf(format, args...)) }
	say("One %s at %s (account %s, %s).", strings.ReplaceAll(a.Effect, "_", " "), a.profile.Title.In("en"), a.profile.Account, a.profile.Environment)
	switch {
	case a.reference != nil && !a.reference.fromAnswer():
		say("It is confirmed by an answer that fits the profile; the destination gives no reference, ours stands for it.")
	case a.reference != nil:
		say("It is confirmed only by an answer that fits the profile and names the destination's own reference.")
	default:
		say("It is confirmed by an answer that fits the profile; the destination gives no reference.")
	}
	if codes := a.NotStartedCodes(); len(codes) > 0 {
		say("These answers prove that nothing was executed: %s; then it is tried again later, unless the refusal is permanent.", strings.Join(codes, ", "))
	} else {
		say("No answer proves that nothing was executed; only a request that never left does.")
	}
	s = append(s, a.readLookup()...)
	s = append(s, a.readProtection()...)
	if a.profile.PerformedBy == ClientsPerform {
		say("Other programs perform it: they ask the job API for a permit, act themselves and report.")
	}
	if a.profile.SettleAfter > 0 {
		say("A request that was received may still take effect for %s; until then nobody can state that nothing happened.", words(a.profile.SettleAfter))
	}
	return strings.Join(s, " ")
}

func (a *Action) readLookup() []string {
	l := a.lookup
	switch {
	case l == nil && a.profile.Kind == operation.RequestSMTP:
		return []string{"Mail handed over by SMTP cannot be looked up: accepted is not delivered, and a lost answer cannot be asked for."}
	case l == nil:
		return []string{"The destination cannot be asked whether the effect exists."}
	case l.by == "":
		return []string{"The destination can be searched, but not by a reference of ours: what is found is only a candidate for a person."}
	}
	lag := "at once"
	if l.lag > 0 {
		lag = "after " + words(l.lag)
	}
	miss := "A miss is not a proof."
	if a.Authoritative {
		miss = "A miss is documented as reliable; still it is not a proof and only fills in the reviewer's form."
	}
	return []string{fmt.Sprintf("When the outcome is unknown the destination is asked %s by our own reference (%s); one fitting match confirms. %s",
		lag, strings.ReplaceAll(l.by, "_", " "), miss)}
}

func (a *Action) readProtection() []string {
	p := a.Protection()
	after := "then a person decides"
	if p.HasLookup {
		after = "then only lookups go on and a person decides"
	}
	switch {
	case !p.Key && a.Unique != "":
		return []string{fmt.Sprintf("There is no idempotency key, but our reference (%s) is unique there: a repeat is refused. "+
			"Still a time-out is never repeated by itself, a person decides.", strings.ReplaceAll(a.Unique, "_", " "))}
	case !p.Key && p.HasLookup:
		return []string{"There is no idempotency key: a time-out is never repeated by itself; if the lookups find nothing, a person decides."}
	case !p.Key:
		return []string{"There is no idempotency key: a time-out is never repeated by itself, a person decides."}
	case p.Retention == 0:
		return []string{"A key is sent, but the destination does not publish how long it protects: a time-out is never repeated by itself, a person decides."}
	case !p.Proven:
		return []string{fmt.Sprintf("The destination documents that the same key protects for %s, but no probe has shown it: a time-out is never repeated by itself, a person decides.", words(p.Retention))}
	}
	s := []string{fmt.Sprintf("A time-out here is repeated with the same key for %s (%s published, %s margin), %s. Shown on %s by %s.",
		words(p.Retention-p.Margin), words(p.Retention), words(p.Margin), after, a.Proven.On, a.Proven.By)}
	if !p.Concurrency {
		s = append(s, "What a concurrent request with the same key gets is not documented, so a repeat waits until the first can no longer take effect.")
	}
	if p.Overwrites {
		s = append(s, "A repeat overwrites what is there, so it needs a lookup that reached the destination and found nothing.")
	}
	if a.protection.replayErrors {
		s = append(s, "The destination replays stored errors too: a repeated error is the recorded result, not a new failure.")
	}
	return s
}

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

// fromAnswer reports whether the target reference is taken from the answer.
func (rf *reference) fromAnswer() bool {
	from := false
	rf.id.each(func(e *expr) { from = from || e.names["body"] || e.names["header"] })
	return from
}
