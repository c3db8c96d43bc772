package store

import (
	"time"

	"holdpoint/operation"
)

// The rows that many decisions write, as their statements read them.

// newAttempt is an attempt that begins; its last four stay away until it is dispatched.
type newAttempt struct {
	ID            operation.AttemptID     `json:"id"`
	Operation     operation.ID            `json:"operation_id"`
	Number        int                     `json:"number"`
	Fence         int64                   `json:"fence"`
	Kind          operation.AttemptKind   `json:"kind"`
	Counted       *int                    `json:"counted"`
	Cap           int                     `json:"cap"`
	Version       operation.VersionID     `json:"version_id"`
	Clearance     operation.ClearanceID   `json:"clearance_id"`
	ClearanceKind operation.ClearanceKind `json:"clearance_kind"`
	DestVersion   int                     `json:"destination_version"`
	Account       string                  `json:"account"`
	Key           string                  `json:"key"`
	KeyGeneration int                     `json:"key_generation"`
	Protected     bool                    `json:"protected"`
	Worker        string                  `json:"worker"`
	ClaimedBy     string                  `json:"claimed_by"`
	ClaimedAt     time.Time               `json:"claimed_at"`
	LeaseUntil    time.Time               `json:"lease_until"`
	LeaseCap      time.Time               `json:"lease_cap"`
	DispatchedAt  *time.Time              `json:"dispatched_at,omitempty"`
	SendBy        *time.Time              `json:"send_by,omitempty"`
	Resolved      *string                 `json:"resolved,omitempty"`
	ResolvedHash  *string                 `json:"resolved_hash,omitempty"`
}

// attemptEnd is the outcome of an open attempt.
type attemptEnd struct {
	ID        operation.AttemptID `json:"id"`
	Fence     int64               `json:"fence"`
	Outcome   string              `json:"outcome"`
	Proof     string              `json:"proof"`
	Permanent bool                `json:"permanent"`
	EndedAt   time.Time           `json:"ended_at"`
	Settled   *string             `json:"settled,omitempty"`
	SettledAt *time.Time          `json:"settled_at,omitempty"`
}

// newTarget is a target reference that an operation takes.
type newTarget struct {
	Account    string       `json:"account"`
	EffectType string       `json:"effect_type"`
	Reference  string       `json:"reference"`
	Operation  operation.ID `json:"operation_id"`
	URL        string       `json:"url"`
	At         time.Time    `json:"at"`
}

// newEvidence is one piece of evidence.
type newEvidence struct {
	ID        string              `json:"id"`
	Operation operation.ID        `json:"operation_id"`
	Attempt   operation.AttemptID `json:"attempt_id"`
	Kind      string              `json:"kind"`
	Result    string              `json:"result"`
	Reference string              `json:"reference"`
	Link      string              `json:"link"`
	Body      string              `json:"body"`
	GivenBy   string              `json:"given_by"`
	Hash      string              `json:"hash"`
	At        time.Time           `json:"at"`
}
