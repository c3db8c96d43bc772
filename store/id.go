package store

import (
	"crypto/rand"
	"encoding/hex"

	"holdpoint/operation"

	"github.com/google/uuid"
)

// newID makes a time-ordered identifier with a prefix, before the row is written, so
// that a lost answer can be re-read by it.
func newID(prefix string) string {
	u, err := uuid.NewV7()
	if err != nil {
		panic(err) // the system has no randomness: nothing is safe then
	}
	return operation.FormatID(prefix, u)
}

// NewFormID makes the unique key of one shown form: a double click is one decision.
func NewFormID() string { return rand.Text() }

func newSalt() []byte {
	b := make([]byte, 16)
	_, _ = rand.Read(b)
	return b
}

func hexOf(b []byte) string { return hex.EncodeToString(b) }

func hash32(b []byte) (h [32]byte) {
	copy(h[:], b)
	return h
}
