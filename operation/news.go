package operation

import (
	"regexp"
	"time"
)

// NewsKind is what a destination says later about an effect that it accepted.
type NewsKind string

// The kinds of news. Everything from accepted to contradiction says that the destination
// knows of the effect; only that is proof of it.
const (
	NewsAccepted      NewsKind = "accepted"      // it took the request
	NewsDelivered     NewsKind = "delivered"     // the recipient's system took it
	NewsDeferred      NewsKind = "deferred"      // not yet; it goes on trying
	NewsBounced       NewsKind = "bounced"       // the recipient's system refused it
	NewsDropped       NewsKind = "dropped"       // it accepted and then did not try
	NewsComplained    NewsKind = "complained"    // the recipient complained
	NewsEffect        NewsKind = "effect"        // the effect exists
	NewsContradiction NewsKind = "contradiction" // it says that there is none, or that it is undone
	NewsPlain         NewsKind = "news"          // anything else; kept as evidence
	NewsIgnored       NewsKind = "ignored"       // not recorded at all: opened, clicked …
)

// NewsKinds are the kinds that are recorded, in the order in which they come as a rule.
var NewsKinds = []NewsKind{NewsEffect, NewsAccepted, NewsDeferred, NewsDelivered, NewsDropped, NewsBounced, NewsComplained, NewsContradiction, NewsPlain}

// Proves reports that the news says that the effect exists.
func (k NewsKind) Proves() bool {
	switch k {
	case NewsPlain, NewsIgnored, NewsContradiction, "":
		return false
	}
	return true
}

// Names reports that the news names the effect itself: another reference is another
// effect. News of a delivery may name the one effect in another way.
func (k NewsKind) Names() bool { return k == NewsEffect || k == NewsAccepted }

// Stage gives the word of delivery to which the news leads; "" = to none.
func (k NewsKind) Stage() Delivery {
	switch k {
	case NewsAccepted:
		return DeliveryAccepted
	case NewsDelivered:
		return DeliveryDelivered
	case NewsBounced:
		return DeliveryBounced
	case NewsDropped:
		return DeliveryDropped
	case NewsComplained:
		return DeliveryComplained
	}
	return DeliveryNone
}

// deliveryRank orders the words of delivery: news never leads back.
var deliveryRank = map[Delivery]int{DeliveryNone: 0, DeliveryAccepted: 1, DeliveryDelivered: 2, DeliveryDropped: 3, DeliveryBounced: 3, DeliveryComplained: 4}

// Further reports that news leads further than what is known.
func (d Delivery) Further(known Delivery) bool { return deliveryRank[d] > deliveryRank[known] }

// Reached reports that the recipient has got it.
func (d Delivery) Reached() bool { return d == DeliveryDelivered || d == DeliveryComplained }

// Failed reports that the recipient did not get it, or does not want it: the owner's work.
func (d Delivery) Failed() bool {
	return d == DeliveryBounced || d == DeliveryDropped || d == DeliveryComplained
}

var operationInText = regexp.MustCompile(`\bop_[0-9a-hjkmnp-tv-z]{26}\b`)

// FindID finds an operation's ID in a text that a destination gives back: alone, or inside
// a Message-ID, with or without its brackets and domain (FC-41). "" = there is none, or
// more than one.
func FindID(text string) ID {
	found := operationInText.FindAllString(text, 3)
	for _, x := range found {
		if x != found[0] {
			return ""
		}
	}
	if len(found) == 0 {
		return ""
	}
	return ID(found[0])
}

// NewsTerm is how long news waits for its operation before it is put aside by itself.
const NewsTerm = 7 * 24 * time.Hour
