package operation

import (
	"crypto/sha256"
	"errors"
	"slices"
	"strings"
	"time"
)

// Words are what an entry of format 2 says about people and in their words: actor, actor's
// name, reason, and the links that are named here. The entry's hash covers a salted hash of
// them, so that they can be removed under a term and the entry still verifies.
type Words struct {
	// Salt is random and goes with the words: from the hash alone nobody can try which
	// words they were. nil = the words are removed.
	Salt []byte
	// Links are the names of the links that are words, in byte order. The others stay.
	Links []string
	// Hash is the hash of the words as it is stored with the entry (Entry.WordsHash).
	Hash [32]byte
	// GoneAt is when they were removed; zero = they are there. No hash covers it: the entry
	// that records the removal has the same time.
	GoneAt time.Time
}

// ActionThinned is the entry of the system's history that records one removal of words. Its
// links name the entries by the numbers of their rows (LinkThinned), and the term in days
// (LinkThinnedDays).
const (
	ActionThinned   = "thin_history"
	LinkThinned     = "entries"
	LinkThinnedDays = "days"
)

// WordsSalt is how long a salt is, in bytes.
const WordsSalt = 16

// Gone reports that the entry's words were removed.
func (w *Words) Gone() bool { return w != nil && w.Salt == nil }

// What can be wrong with one entry by itself.
var (
	// ErrEntryAltered is an entry that is not what its own hash says.
	ErrEntryAltered = errors.New("it is not what its own hash says")
	// ErrWordsAltered is an entry whose words are not what the entry's hash covers.
	ErrWordsAltered = errors.New("its words are not what their hash says")
	// ErrWordsHash is an entry with another hash of its words than the one it covers.
	ErrWordsHash = errors.New("the hash of its words is another one than the entry's hash covers")
	// ErrWordsLeft is an entry whose words are said to be removed, with some of them there.
	ErrWordsLeft = errors.New("its words are said to be removed, and some are there")
)

// keptLinks are the links that are no words: identifiers of things, hashes, numbers and the
// product's own codes. What the program reads from old entries is among them. Any other
// link goes with the words.
var keptLinks = setOf(strings.Fields(`after approval attachment attempt batch breach by case cause clearance clock code count days decision decision_seq delegation destination
	duplicate entries event events evidence facts flow from_ms hash incident included kind limit news number operation other outcome owner_role part pattern period phase policy
	probe profile remedy replacement replaces report request restore result revision round rows run size stage start suggestion suppression task to_ms total until version version_hash`))

func setOf(names []string) map[string]bool {
	out := make(map[string]bool, len(names))
	for _, n := range names {
		out[n] = true
	}
	return out
}

// IsWords says whether a link of this name and value goes with the words of an entry: a
// kept name, too, when its value is a person, an address or a text.
func IsWords(name, value string) bool {
	return !keptLinks[name] || strings.HasPrefix(value, "usr_") || strings.ContainsAny(value, "@ \t\r\n")
}

// Salted makes it an entry of format 2, with that salt. Its links are complete by then.
func (e *Entry) Salted(salt []byte) {
	w := &Words{Salt: salt}
	for n, v := range e.Links {
		if IsWords(n, v) {
			w.Links = append(w.Links, n)
		}
	}
	slices.Sort(w.Links)
	e.Words = w
	w.Hash = e.WordsHash()
}

// WordsHash computes the hash of the words that are there: SHA-256 over the salt and each
// of them, each with its length before it. It is for entries of format 2.
func (e Entry) WordsHash() [32]byte {
	b := appendPart(make([]byte, 0, hashRoom), "holdpoint/history/2/words", string(e.Words.Salt), e.ActorID, e.ActorName, e.Reason)
	for _, n := range e.Words.Links {
		b = appendPart(b, n, e.Links[n])
	}
	return sha256.Sum256(b)
}

// Check compares an entry with the hash that is stored for it, and its words with theirs.
// nil = it is what both say, or its words are removed and the rest is what its hash says.
func (e Entry) Check(stored [32]byte) error {
	if e.Words == nil {
		if e.Hash() != stored {
			return ErrEntryAltered
		}
		return nil
	}
	if e.Words.Gone() {
		switch {
		case e.ActorID != "" || e.ActorName != "" || e.Reason != "" || len(e.Words.Links) > 0:
			return ErrWordsLeft
		case e.Hash() != stored:
			return ErrEntryAltered
		}
		return nil
	}
	words := e.WordsHash()
	whole := words == e.Words.Hash && len(e.Words.Salt) == WordsSalt && e.linksNamed()
	switch {
	case e.Hash() == stored && whole:
		return nil
	case e.Hash() == stored:
		return ErrWordsAltered
	}
	w := *e.Words
	w.Hash = words
	e.Words = &w
	if !whole && e.Hash() == stored {
		return ErrWordsHash
	}
	return ErrEntryAltered
}

// linksNamed reports that the links that are words are there, each named once, in order.
func (e Entry) linksNamed() bool {
	for i, n := range e.Words.Links {
		if _, ok := e.Links[n]; !ok || i > 0 && e.Words.Links[i-1] >= n {
			return false
		}
	}
	return true
}

// Thinned gives the entry without its words, as it is once they are removed.
func (e Entry) Thinned(at time.Time) Entry {
	if e.Words == nil {
		return e
	}
	links := map[string]string{}
	for n, v := range e.Links {
		if !slices.Contains(e.Words.Links, n) {
			links[n] = v
		}
	}
	e.ActorID, e.ActorName, e.Reason, e.Links = "", "", "", links
	e.Words = &Words{Hash: e.Words.Hash, GoneAt: at}
	return e
}
