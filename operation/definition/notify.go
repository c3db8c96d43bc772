package definition

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"holdpoint/operation"
)

// Notify says how the people of a flow are told, beside what each sets for themselves.
type Notify struct {
	Remind        time.Duration      // after a decision began to wait; 0 = only when it is due
	Escalate      operation.Selector // who is told that nobody decided; no role = the flow's owner
	EscalateAfter time.Duration      // after it began; 0 = operation.EscalateAfterDue after its time
	Language      string             // of its places: en, ja or pl
	Places        []ChatPlace
}

// The kinds of chat places; they are the channels of notices too.
const (
	PlaceSlack     = "slack"      // Slack's API with a bot token: messages are changed when the matter is decided
	PlaceSlackHook = "slack_hook" // an incoming webhook of Slack or a compatible server: cannot change what it posted
	PlaceTeams     = "teams"      // a webhook of Microsoft Teams
)

// ChatPlace is one place of a chat that a flow's notices go to.
type ChatPlace struct {
	Kind    string                 // one of the Place constants
	Channel string                 // of PlaceSlack
	Secret  SecretRef              // the bot token, or the webhook's address; of PlaceSlack "" = the installation's token
	Kinds   []operation.NoticeKind // empty = those of ChatKinds
	Local   bool                   // loopback and private networks may be reached
}

// ChatKinds are the kinds that a place gets whose flow names none: what somebody of the
// team must decide.
var ChatKinds = []operation.NoticeKind{operation.NoticeApproval, operation.NoticeUnknown, operation.NoticeReexecution, operation.NoticeExpired, operation.NoticeOverdue}

// Takes reports whether a place gets notices of a kind.
func (c ChatPlace) Takes(k operation.NoticeKind) bool {
	if len(c.Kinds) == 0 {
		return slices.Contains(ChatKinds, k)
	}
	return slices.Contains(c.Kinds, k)
}

// Name names the place in the record: "slack C0123456789 env:TOKEN". It never holds a
// secret.
func (c ChatPlace) Name() string {
	var parts []string
	for _, s := range []string{c.Kind, c.Channel, c.Secret.Name()} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	return strings.Join(parts, " ")
}

// Place gives the place with a name; ok is false when the flow names it no more.
func (n Notify) Place(name string) (c ChatPlace, ok bool) {
	i := slices.IndexFunc(n.Places, func(c ChatPlace) bool { return c.Name() == name })
	if i < 0 {
		return ChatPlace{}, false
	}
	return n.Places[i], true
}

// NoticePolicy gives the times at which a decision of a stage is told again, and who is
// told at last. A stage's own approval goes before the flow.
func (f *Flow) NoticePolicy(stage string, d operation.DecisionKind) (p operation.NoticePolicy, last operation.Selector) {
	p = operation.NoticePolicy{Remind: f.Notify.Remind, Escalate: f.Notify.EscalateAfter}
	last = f.Notify.Escalate
	if st, ok := f.Stage(stage); ok && d == operation.DecideApprove {
		p.Remind = cmp.Or(st.Approval.Remind, p.Remind)
		p.Escalate = cmp.Or(st.Approval.EscalateAfter, p.Escalate)
		if st.Approval.EscalateRole != "" {
			last = operation.Selector{Role: st.Approval.EscalateRole}
		}
	}
	if last.Role == "" {
		last = f.Owner
	}
	return p, last
}

type rawNotify struct {
	Remind   duration `json:"remind"`
	Language string   `json:"language"`
	Escalate struct {
		Role  operation.Role `json:"role"`
		User  string         `json:"user"`
		After duration       `json:"after"`
	} `json:"escalate"`
	Places []struct {
		Slack *struct {
			Channel string     `json:"channel"`
			Token   *SecretRef `json:"token"`
		} `json:"slack"`
		SlackHook *rawHook               `json:"slack_hook"`
		Teams     *rawHook               `json:"teams"`
		Kinds     []operation.NoticeKind `json:"kinds"`
		Local     bool                   `json:"local"`
	} `json:"places"`
}

type rawHook struct {
	URL SecretRef `json:"url"`
}

func (r rawNotify) notify(p *problems) Notify {
	n := Notify{Language: cmp.Or(r.Language, "en"), Remind: time.Duration(r.Remind), EscalateAfter: time.Duration(r.Escalate.After),
		Escalate: operation.Selector{Role: r.Escalate.Role, User: r.Escalate.User}}
	for i, x := range r.Places {
		c := ChatPlace{Kinds: x.Kinds, Local: x.Local}
		switch {
		case x.Slack != nil:
			c.Kind, c.Channel = PlaceSlack, x.Slack.Channel
			if x.Slack.Token != nil {
				c.Secret = *x.Slack.Token
			}
		case x.SlackHook != nil:
			c.Kind, c.Secret = PlaceSlackHook, x.SlackHook.URL
		case x.Teams != nil:
			c.Kind, c.Secret = PlaceTeams, x.Teams.URL
		}
		if _, twice := n.Place(c.Name()); twice {
			p.add(item("notify.places", i), "the place %q is named twice", c.Name())
		}
		n.Places = append(n.Places, c)
	}
	return n
}
