package main

import (
	"sync"
	"time"
)

// keyState is what the destination knows about an Idempotency-Key.
type keyState int

const (
	keyNew      keyState = iota // never seen, or pruned: the request executes
	keyReplay                   // the stored answer is given again
	keyMismatch                 // the key belongs to another request
	keyBusy                     // the first request with this key still runs
)

// keyEntry is one remembered key: the request it belongs to and its answer.
type keyEntry struct {
	fingerprint string
	first       time.Time
	running     bool
	stored      answer
}

// keys remembers Idempotency-Keys per destination, each for the destination's
// retention counted from its first use on the sandbox's clock.
type keys struct {
	mu      sync.Mutex
	entries map[string]*keyEntry
}

func newKeys() *keys { return &keys{entries: map[string]*keyEntry{}} }

// begin claims the key for a request. Only keyNew lets the caller execute, who
// must then call finish or release with the entry.
func (k *keys) begin(destination, key, fingerprint string, now time.Time, retention time.Duration) (*keyEntry, keyState) {
	k.mu.Lock()
	defer k.mu.Unlock()
	id := nameKey(destination, key)
	e, known := k.entries[id]
	switch {
	case !known, !e.running && !now.Before(e.first.Add(retention)):
		e = &keyEntry{fingerprint: fingerprint, first: now, running: true}
		k.entries[id] = e
		return e, keyNew
	case e.fingerprint != fingerprint:
		return e, keyMismatch
	case e.running:
		return e, keyBusy
	}
	return e, keyReplay
}

// finish stores the answer that every later request with this key will get.
func (k *keys) finish(e *keyEntry, stored answer) {
	k.mu.Lock()
	defer k.mu.Unlock()
	e.running = false
	e.stored = stored
}

// release forgets a key whose request never began to execute.
func (k *keys) release(destination, key string, e *keyEntry) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if id := nameKey(destination, key); k.entries[id] == e {
		delete(k.entries, id)
	}
}

func (k *keys) clear() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.entries = map[string]*keyEntry{}
}

// keyRules is how one API words its idempotency. A nil header map adds none.
type keyRules struct {
	maxLength     int
	replaysErrors bool // a faulted answer after execution is stored as it was given
	replayHeader  string
	tooLong       func() answer
	mismatch      func(key string) answer
	busy          func(key string) answer
}

// keyed executes do at most once per key within the retention. Answers given
// before execution began (validation, 401, 429) are not stored.
func (c *call) keyed(rules keyRules, fingerprint string, do func() answer) answer {
	if c.key == "" || c.ignoreKey {
		return c.execute(do)
	}
	if len(c.key) > rules.maxLength {
		return rules.tooLong()
	}
	retention := c.sandbox.settings.of(c.destination).Retention
	entry, state := c.sandbox.keys.begin(c.destination, c.key, fingerprint, c.now(), retention.Duration)
	switch state {
	case keyMismatch:
		return rules.mismatch(c.key)
	case keyBusy:
		return rules.busy(c.key)
	case keyReplay:
		a := entry.stored
		if rules.replayHeader != "" {
			a = a.with(rules.replayHeader, "true")
		}
		a.replayed = true
		return a
	}
	stored := false
	defer func() {
		if !stored {
			c.sandbox.keys.release(c.destination, c.key, entry)
		}
	}()
	a := c.execute(do)
	if a.began {
		kept := a
		if rules.replaysErrors {
			kept = c.distort(a)
		}
		c.sandbox.keys.finish(entry, kept)
		stored = true
	}
	return a
}
