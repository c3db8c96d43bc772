package views

import (
	"slices"
	"time"

	"holdpoint/operation"
	"holdpoint/views/text"
)

// DeliveriesModel lists receipts of notifications, refused ones included.
// Query fields: q, source, result, from, to (days), after, before (keyset).
type DeliveriesModel struct {
	Frame
	Q        string // delivery ID, delivery key or event key
	From, To string // days, "2006-01-02" in the viewer's zone; both count
	Active   bool   // some filter is set
	Sources  []Option
	Results  []Option // values are DeliveryResult; labels come from the catalogues
	Rows     []DeliveryRow
	Pager    Pager
}

// DeliveryResult says what was done with a delivery.
type DeliveryResult string

// What was done with a delivery.
const (
	DeliveryRecorded   DeliveryResult = "recorded"   // a new event
	DeliveryRedelivery DeliveryResult = "redelivery" // the event was known; nothing new was started
	DeliveryConflict   DeliveryResult = "conflict"   // known identity, other payload
	DeliveryHeld       DeliveryResult = "held"       // a possible duplicate by its business key
	DeliveryRefused    DeliveryResult = "refused"    // not verified or not understood
	DeliveryIgnored    DeliveryResult = "ignored"    // genuine, but for another account or environment
)

// DeliveryResults lists them in the order in which filters show them.
var DeliveryResults = []DeliveryResult{DeliveryRecorded, DeliveryRedelivery, DeliveryHeld, DeliveryConflict, DeliveryRefused, DeliveryIgnored}

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
	// ErasedAt is when its body was erased; zero = it was not.
	ErasedAt time.Time
	// URL is the delivery's own page; "" = not linked.
	URL string
	// Twin is the key of the earlier event that a held one resembles.
	Twin    string
	Decided *HeldDecision // what a person decided about a held event
	MayHeld bool          // the viewer may decide about it now
}

// HeldDecision is a person's decision about a possible duplicate.
type HeldDecision struct {
	Released bool // it started what it would have started; else it was discarded
	Who      Who
	At       time.Time
	Reason   string
}

// DeliveryModel is one delivery with all deliveries of its event.
type DeliveryModel struct {
	Frame
	Row  DeliveryRow
	Same []DeliveryRow // of the same event, newest first
	// Event is what it brought; nil = nothing that could be read.
	Event *EventSide
	Held  *HeldView // a possible duplicate
}

// EventSide is one event as it stands beside another.
type EventSide struct {
	Key    string
	At     time.Time
	Run    *Link   // what it started
	Fields []Field // what it says; empty when its body was erased
}

// HeldView is a possible duplicate that a person decides about. Two forms: Release and
// Discard (field: reason).
type HeldView struct {
	BusinessKey string // what both events have in common
	Twin        EventSide
	Flows       []string // what a release would start
	Release     *ReasonForm
	Discard     *ReasonForm
	Barred      *operation.Refusal // why the viewer may not decide
	Decided     *HeldDecision
}

// DeliveryReasons lists the codes for which the catalogues say why a delivery was
// refused or held (DeliveryRow.Why); other codes are shown as they are.
var DeliveryReasons = []string{"signature", "signature_missing", "signature_time", "token", "secret", "unknown_source",
	"event_key", "syntax", "empty_body", "body_cut", "content_type", "gzip", "too_large", "no_flow", "content_missing",
	"conflict", "held", "run_known", "discarded", "account", "environment", "content_encoding", "utf16", "gzip_undeclared", "nul", "data_base64", "charset",
	"byte_order_mark", "encoding", "trailing_data", "duplicate_key", "case_variant_key", "nested_too_deeply",
	"items", "too_many", "empty", "account_of", "body", "data", "topic", "delivery_key", "action_run_id", "specversion", "id", "source", "type", "time"}

// detailed are the codes whose detail says more than their sentence does.
var detailed = []string{"signature_time", "event_key", "content_missing", "duplicate_key", "case_variant_key", "syntax",
	"items", "account_of", "data", "topic", "delivery_key", "action_run_id", "id", "source", "type", "time"}

// ShowsDetail reports whether the technical part is shown besides the sentence. Other
// parts would say the same again, in English.
func ShowsDetail(code string) bool {
	return !slices.Contains(DeliveryReasons, code) || slices.Contains(detailed, code)
}

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
	case DeliveryHeld:
		return "paused"
	case DeliveryRefused:
		return "rejected"
	case DeliveryIgnored:
		return "circle"
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
