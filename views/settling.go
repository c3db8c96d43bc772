package views

import (
	"time"

	"holdpoint/operation"
	"holdpoint/views/text"
)

// How is how a person knows what they state: the ready answers beside their own words.
type How string

// The ready answers.
const (
	HowSeen How = "seen" // with their own eyes, at the destination
	HowLog  How = "log"  // from its log or an export
	HowTold How = "told" // from somebody who works there
)

// Hows lists the ready answers in the order of the form.
var Hows = []How{HowSeen, HowLog, HowTold}

// HowText says a ready answer as the person's own statement; there tells whether the
// effect was found. It is "" for anything that is no ready answer.
func HowText(p *text.Printer, h How, there bool, destination string) string {
	family := "settling.how.none."
	if there {
		family = "settling.how.there."
	}
	if h != HowSeen && h != HowLog && h != HowTold {
		return ""
	}
	return p.T(family+string(h), "Destination", destination)
}

// effectWord gives the effect's word for the questions about it; "effect" stands for one
// that they have no noun for.
func effectWord(effect string) string {
	if text.Has("settling.ask." + effect) {
		return effect
	}
	return "effect"
}

// ExistsText asks whether the effect is there.
func ExistsText(p *text.Printer, effect, destination string) string {
	return p.T("settling.ask."+effectWord(effect), "Destination", destination)
}

// AgainWhys are the reasons for which nobody can simply send again: the end of the key's
// protection, what is not known of it, or what was tried before.
var AgainWhys = []string{"expired", "unpublished", "unproven", "keyless", "used_up", "proven", "adopted"}

// SendAgain says why a person cannot simply send again, and what would make it possible.
type SendAgain struct {
	// Why is one of AgainWhys.
	Why         string
	At          time.Time // of expired: the end of the protection
	Destination string
	Effect      string
	// Who is the second person who must permit it; NotBefore is when an earlier request
	// can no longer take effect, zero = now.
	Who       Who
	NotBefore time.Time
}

// whyText says why.
func (a SendAgain) whyText(p *text.Printer) string {
	return p.T("settling.again."+a.Why, "Destination", a.Destination, "At", p.Short(a.At))
}

// wayText says what it takes.
func (a SendAgain) wayText(p *text.Printer) string {
	answer, who := p.T("settling.no."+effectWord(a.Effect)), a.Who.In(p)
	if a.NotBefore.IsZero() {
		return p.T("settling.again.way", "Answer", answer, "Who", who)
	}
	return p.T("settling.again.way_after", "Answer", answer, "Who", who, "At", p.Short(a.NotBefore))
}

// NextUnknown leads from a settled operation to the next one that the viewer must settle.
type NextUnknown struct {
	ID    operation.ID // "" = none is left
	URL   string
	Title string
	Left  int // how many wait, this one included
}
