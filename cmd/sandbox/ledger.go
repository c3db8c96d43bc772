package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"
)

// effect is one thing that really exists at a destination: a task, an invoice,
// a coupon, a mail, a thing. The ledger of effects is also the destinations'
// only storage, so what it counts cannot differ from what they serve.
type effect struct {
	Destination string `json:"destination"`
	Effect      string `json:"effect"`
	ID          string `json:"id"`
	// Reference is the caller's own name for the effect, wherever the API carries it.
	Reference string `json:"reference"`
	// Key is the Idempotency-Key of the request that made it.
	Key string `json:"key"`
	// RequestHash is the SHA-256 of the exact body received, in hex.
	RequestHash string         `json:"request_hash"`
	Time        time.Time      `json:"time"`
	Deleted     bool           `json:"deleted,omitempty"`
	Fields      map[string]any `json:"fields"`

	// aliases are further names by which the ledger finds it.
	aliases []string
	// eventID and requestID name the billing event that tells of it.
	eventID, requestID string
}

// uniqueness says what two effects of one kind may not share.
type uniqueness int

const (
	uniqueNothing   uniqueness = iota
	uniqueID                   // the ID, chosen by the caller
	uniqueReference            // the reference, if there is one; also against deleted effects
	uniqueAlias                // every one of the further names
)

// ledger holds the effects in the order in which they came to exist.
type ledger struct {
	mu      sync.Mutex
	tag     string
	changed *bell
	effects []effect
	byID    map[string]int
	byName  map[string][]int
	serials map[string]int
}

func newLedger(tag string, changed *bell) *ledger {
	l := &ledger{tag: tag, changed: changed, serials: map[string]int{}}
	l.clear()
	return l
}

// startTag makes IDs differ between two starts, so that a product which kept
// its data never meets an old target reference on a new effect.
func startTag(now time.Time) string {
	since := now.Sub(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	return strconv.FormatInt(int64(since/(100*time.Millisecond)), 36)
}

// nextID gives prefix-tag-number. Numbers are never used again, also after a reset.
func (l *ledger) nextID(prefix, separator string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.serials[prefix]++
	return prefix + separator + l.tag + separator + strconv.Itoa(1000+l.serials[prefix])
}

// add records e unless another effect of its kind already holds what must be
// unique; then it returns that one and false.
func (l *ledger) add(e effect, unique uniqueness) (effect, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch unique {
	case uniqueID:
		if i, taken := l.byID[idKey(e.Destination, e.Effect, e.ID)]; taken {
			return l.effects[i], false
		}
	case uniqueReference:
		for _, i := range l.byName[nameKey(e.Destination, e.Reference)] {
			if e.Reference != "" && l.effects[i].Effect == e.Effect {
				return l.effects[i], false
			}
		}
	}
	if holder, taken := l.aliasTaken(e); unique == uniqueAlias && taken {
		return holder, false
	}
	at := len(l.effects)
	l.effects = append(l.effects, e)
	l.byID[idKey(e.Destination, e.Effect, e.ID)] = at
	names := append([]string{e.Reference}, e.aliases...)
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if name != "" {
			k := nameKey(e.Destination, name)
			l.byName[k] = append(l.byName[k], at)
		}
	}
	l.changed.ring()
	return e, true
}

// aliasTaken gives the living effect of e's kind that has one of its further names. The
// lock is held.
func (l *ledger) aliasTaken(e effect) (effect, bool) {
	for _, name := range e.aliases {
		for _, i := range l.byName[nameKey(e.Destination, name)] {
			if h := l.effects[i]; h.Effect == e.Effect && !h.Deleted && slices.Contains(h.aliases, name) {
				return h, true
			}
		}
	}
	return effect{}, false
}

// find gives the effect with this ID, deleted ones too.
func (l *ledger) find(destination, kind, id string) (effect, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	i, ok := l.byID[idKey(destination, kind, id)]
	if !ok {
		return effect{}, false
	}
	return l.effects[i], true
}

// update changes an effect in place. Its fields are copied first, so that
// readers of the earlier state are not disturbed.
func (l *ledger) update(destination, kind, id string, change func(*effect)) (effect, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	i, ok := l.byID[idKey(destination, kind, id)]
	if !ok {
		return effect{}, false
	}
	e := l.effects[i]
	e.Fields = maps.Clone(e.Fields)
	change(&e)
	l.effects[i] = e
	l.changed.ring()
	return e, true
}

// list gives the effects of a destination, a reference or both, oldest first;
// an empty argument does not filter. Deleted effects are included and marked.
func (l *ledger) list(destination, reference string) []effect {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := []effect{}
	if destination != "" && reference != "" {
		for _, i := range l.byName[nameKey(destination, reference)] {
			out = append(out, l.effects[i])
		}
		return out
	}
	for _, e := range l.effects {
		if destination != "" && e.Destination != destination {
			continue
		}
		if reference != "" && e.Reference != reference && !slices.Contains(e.aliases, reference) {
			continue
		}
		out = append(out, e)
	}
	return out
}

func (l *ledger) clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.effects = nil
	l.byID = map[string]int{}
	l.byName = map[string][]int{}
	l.changed.ring()
}

func idKey(destination, kind, id string) string { return destination + "\x00" + kind + "\x00" + id }

func nameKey(destination, name string) string { return destination + "\x00" + name }

func hashOf(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}

// text gives a field as words for people and for filters.
func text(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	default:
		return fmt.Sprint(v)
	}
}
