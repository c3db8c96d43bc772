package operation

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"strings"
	"time"
)

// Identifiers are opaque strings with a prefix that says what they name. They are
// stored, shown and sent in exactly this form. Distinct types keep them apart: an
// AttemptID where an ID is wanted does not compile.
type (
	// ID names one operation: "op_" and 26 characters.
	ID string
	// AttemptID names one technical try: "att_…".
	AttemptID string
	// VersionID names one content version: "ver_…".
	VersionID string
	// RunID names one run of a flow: "run_…".
	RunID string
	// EventID names one business fact: "evt_…".
	EventID string
	// DeliveryID names one receipt of a notification: "dlv_…".
	DeliveryID string
	// ApprovalID names one person's decision: "apr_…".
	ApprovalID string
	// ClearanceID names one reached quorum: "clr_…".
	ClearanceID string
	// EvidenceID names one piece of evidence: "evi_…".
	EvidenceID string
	// AttachmentID names one file that belongs to evidence or to an answer: "atc_…".
	AttachmentID string
	// RequestID names one request for a re-execution: "req_…".
	RequestID string
	// UserID names one natural person's account: "usr_…".
	UserID string
	// TokenID names one API token: "tok_…".
	TokenID string
)

// crockford is the base-32 alphabet of TypeID: no i, l, o, u.
const crockford = "0123456789abcdefghjkmnpqrstvwxyz"

// encodeID writes 16 bytes as 26 characters (130 bits, the two highest are zero).
func encodeID(b [16]byte) string {
	hi, lo := binary.BigEndian.Uint64(b[:8]), binary.BigEndian.Uint64(b[8:])
	var out [26]byte
	for i := 25; i >= 0; i-- {
		out[i] = crockford[lo&31]
		lo = lo>>5 | hi<<59
		hi >>= 5
	}
	return string(out[:])
}

// FormatID joins a prefix and 16 bytes to an identifier such as "att_01h…".
func FormatID(prefix string, b [16]byte) string { return prefix + "_" + encodeID(b) }

// FirstID is the lowest identifier with this prefix that can be made from that time on:
// those that are no operation's begin with 48 bits of milliseconds (UUIDv7).
func FirstID(prefix string, at time.Time) string {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:8], uint64(max(at.UnixMilli(), 0))<<16)
	return FormatID(prefix, b)
}

// ValidID reports whether s is an identifier with this prefix.
func ValidID(prefix, s string) bool {
	rest, ok := strings.CutPrefix(s, prefix+"_")
	if !ok || len(rest) != 26 || rest[0] > '7' {
		return false
	}
	return strings.Trim(rest, crockford) == ""
}

// Intent is what makes an operation the same operation: the same intent gets the
// same ID for ever, also after a restored backup.
type Intent struct {
	Flow        string
	RunKeyHash  [32]byte // see HashRunKey
	Stage       string
	ItemKey     string // "" for a stage that does not fan out
	Replacement int    // 0 for the original, n for the n-th replacement
}

// DeriveID derives the operation's ID from its intent by HMAC-SHA-256 with the
// installation's secret, so that it carries nothing of customer or case.
func DeriveID(secret []byte, in Intent) ID {
	m := hmac.New(sha256.New, secret)
	writePart(m, "holdpoint/operation/1", in.Flow, string(in.RunKeyHash[:]), in.Stage, in.ItemKey)
	_ = binary.Write(m, binary.BigEndian, int64(in.Replacement))
	return ID(FormatID("op", [16]byte(m.Sum(nil)[:16])))
}

// HashRunKey hashes a run key for its flow. Only the hash is kept, for ever.
func HashRunKey(flow, runKey string) [32]byte {
	h := sha256.New()
	writePart(h, "holdpoint/run-key/1", flow, runKey)
	return [32]byte(h.Sum(nil))
}

// DestinationKey is the idempotency key sent to a destination: the operation's ID
// and the generation, equal over all attempts of that generation. It is at most
// 255 characters long, as Stripe and Resend demand (CONTRACTS §3a, §7b).
func DestinationKey(id ID, generation int) string {
	if generation <= 1 {
		return string(id)
	}
	return string(id) + "-g" + itoa(generation)
}
