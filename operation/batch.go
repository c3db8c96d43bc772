package operation

import (
	"crypto/sha256"
	"encoding/binary"
	"unicode"
	"unicode/utf8"
)

// MaxItemKey is how many bytes an item's key may have.
const MaxItemKey = 200

// CheckItemKey checks the key of one item of a fanned-out stage: it is in the form that
// Normalize gives, not blank, without control characters or outer spaces, and at most
// MaxItemKey bytes long. Keys are compared byte by byte.
func CheckItemKey(key string) *Refusal {
	bad := blank(key) || len(key) > MaxItemKey || !utf8.ValidString(key) || Normalize(key) != key
	first, _ := utf8.DecodeRuneInString(key)
	last, _ := utf8.DecodeLastRuneInString(key)
	bad = bad || unicode.IsSpace(first) || unicode.IsSpace(last)
	for _, c := range key {
		bad = bad || unicode.IsControl(c)
	}
	if bad {
		return Refuse(CodeItemKey, "item", key)
	}
	return nil
}

// CheckItemKeys checks every key of a batch, and that none is used twice.
func CheckItemKeys(keys []string) *Refusal {
	seen := make(map[string]bool, len(keys))
	for _, k := range keys {
		if r := CheckItemKey(k); r != nil {
			return r
		}
		if seen[k] {
			return Refuse(CodeItemKey, "item", k)
		}
		seen[k] = true
	}
	return nil
}

// BatchHash is the hash that one approval of a whole batch covers: SHA-256 over the
// number of items and their version hashes in the approved order. A stop that only
// takes items away is an overlay and changes neither list nor hash.
func BatchHash(versions [][32]byte) [32]byte {
	h := sha256.New()
	writePart(h, "holdpoint/batch/1")
	_ = binary.Write(h, binary.BigEndian, uint64(len(versions)))
	for _, v := range versions {
		h.Write(v[:])
	}
	return [32]byte(h.Sum(nil))
}
