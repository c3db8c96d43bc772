package views

import (
	"time"

	"holdpoint/operation"
)

// DeliveriesModel lists receipts of notifications, refused ones included.
// Query fields: source, result, after (keyset).
type DeliveriesModel struct {
	Frame
	Sources []Option
	Results []Option // values are DeliveryResult; labels come from the catalogues
	Rows    []DeliveryRow
	Pager   Pager
}

// DeliveryResult says what was done with a delivery.
type DeliveryResult string

// What was done with a delivery.
const (
	DeliveryRecorded   DeliveryResult = "recorded"   // a new event
	DeliveryRedelivery DeliveryResult = "redelivery" // the event was known; nothing new was started
	DeliveryConflict   DeliveryResult = "conflict"   // known identity, other payload
	DeliveryRefused    DeliveryResult = "refused"    // not verified or not understood
)

// DeliveryResults lists them in the order in which filters show them.
var DeliveryResults = []DeliveryResult{DeliveryRecorded, DeliveryRedelivery, DeliveryConflict, DeliveryRefused}

// DeliveryRow is one receipt.
type DeliveryRow struct {
	ID       operation.DeliveryID
	At       time.Time
	Source   string
	Topic    string
	Key      string // delivery key
	EventKey string
	Result   DeliveryResult
	// Why says why it was refused: a catalogue key "delivery.why.<word>" word, e.g.
	// "signature"; Detail is the technical part.
	Why    string
	Detail string
	Run    *Link
	Status int // the HTTP status that was answered
}

// The words for why a delivery was refused (DeliveryRow.Why).
const (
	WhySignature     = "signature"
	WhyUnknownSource = "unknown_source"
	WhyMalformed     = "malformed"
	WhyNoKey         = "no_key"
	WhyTooLarge      = "too_large"
	WhyNoFlow        = "no_flow"
	WhyMissingData   = "missing_data"
	WhyConflict      = "conflict"
)

// DeliveryReasons lists them.
var DeliveryReasons = []string{WhySignature, WhyUnknownSource, WhyMalformed, WhyNoKey, WhyTooLarge, WhyNoFlow,
	WhyMissingData, WhyConflict}

// Pager leads to the neighbouring pages of a keyset list; "" = none.
type Pager struct {
	Prev, Next string
}

// deliveryIcon gives the shape for what was done with a delivery.
func deliveryIcon(r DeliveryResult) string {
	switch r {
	case DeliveryRedelivery:
		return "duplicate"
	case DeliveryConflict:
		return "warning"
	case DeliveryRefused:
		return "rejected"
	}
	return "tick"
}
