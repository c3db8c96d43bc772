package views

import (
	"time"

	"holdpoint/operation"
	"holdpoint/views/text"
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
	// Why is the code of why it was refused or held, e.g. "signature"; Detail is the
	// technical part.
	Why    string
	Detail string
	Run    *Link
	Status int // the HTTP status that was answered
}

// DeliveryReasons lists the codes for which the catalogues say why a delivery was
// refused or held (DeliveryRow.Why); other codes are shown as they are.
var DeliveryReasons = []string{"signature", "signature_missing", "signature_time", "token", "secret", "unknown_source",
	"event_key", "syntax", "empty_body", "body_cut", "content_type", "gzip", "too_large", "no_flow", "content_missing",
	"conflict", "held"}

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

// whyText says why a delivery was refused or held.
func whyText(p *text.Printer, code string) string {
	if k := "delivery.why." + code; text.Has(k) {
		return p.T(k)
	}
	return code
}
