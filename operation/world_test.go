package operation

import (
	"time"

	"pgregory.net/rapid"
)

// world is a model destination: it does what its documentation says, as unkindly as the
// documentation permits. Its ledger is the oracle of the property tests.
type world struct {
	doc     Protection // what is documented, and true
	honours bool       // whether the key is honoured; an unproven one may not be
	replays bool       // stored errors are replayed
	unique  bool       // refuses a second record with the same reference ("already exists")

	ledger   []effect
	inFlight []flight
	keys     map[string]*stored
	serial   int
}

type effect struct {
	key string
	ref string
	at  time.Time
}

// flight is a received request that takes effect later, up to settle_after.
type flight struct {
	key string
	at  time.Time
	rec *stored
}

// stored is what the destination remembers of a key.
type stored struct {
	first time.Time
	body  [32]byte
	done  bool
	ref   string // of the effect; "" = a stored error
}

// drawWorld draws a destination; a trusted one documents its key and lets repeats race.
func drawWorld(t *rapid.T, trusted bool) *world {
	pick := func(name string, ds ...time.Duration) time.Duration { return oneOf(t, name, ds...) }
	w := &world{keys: map[string]*stored{}}
	w.doc = Protection{
		Key:         !odds(t, "no key", 4),
		Proven:      !odds(t, "not proven", 6),
		Retention:   pick("retention", 0, 3*time.Second, 10*time.Minute, 24*time.Hour, 720*time.Hour),
		Margin:      pick("margin", 0, 0, time.Minute, time.Hour),
		SettleAfter: pick("settle", 0, 10*time.Second, 2*time.Minute),
		Concurrency: rapid.Bool().Draw(t, "concurrency"),
		HasLookup:   rapid.Bool().Draw(t, "lookup"),
		LookupLag:   pick("lag", 0, time.Second, time.Minute, 30*time.Minute),
	}
	if trusted && odds(t, "trusted", 2) {
		w.doc = Protection{Key: true, Proven: true, Retention: 24 * time.Hour, SettleAfter: oneOf(t, "settles", 10*time.Second, 2*time.Minute)}
	}
	w.honours = w.doc.Key && (w.doc.Proven || rapid.Bool().Draw(t, "honours"))
	w.doc.Overwrites = w.doc.Key && odds(t, "overwrites", 5)
	w.replays = rapid.Bool().Draw(t, "replays")
	w.unique = odds(t, "unique", 5)
	return w
}

// below draws an even number below n. Rapid's own integers lean to the small ones,
// which leaves most of a history's branches untried.
func below(t *rapid.T, name string, n int) int {
	v := 0
	for range 10 {
		v *= 2
		if rapid.Bool().Draw(t, name) {
			v++
		}
	}
	return v * n / 1024
}

// odds is true once in n times.
func odds(t *rapid.T, name string, n int) bool { return below(t, name, n) == n-1 }

// oneOf draws one of the values, each as often as the others.
func oneOf[T any](t *rapid.T, name string, values ...T) T { return values[below(t, name, len(values))] }

// tick lets requests in flight take effect.
func (w *world) tick(now time.Time) {
	var later []flight
	for _, f := range w.inFlight {
		if f.at.After(now) {
			later = append(later, f)
			continue
		}
		w.execute(f.key, f.at, f.rec)
	}
	w.inFlight = later
}

func (w *world) execute(key string, at time.Time, rec *stored) {
	if w.doc.Overwrites && w.honours {
		for _, e := range w.ledger {
			if e.key == key {
				rec.done, rec.ref = true, e.ref
				return
			}
		}
	}
	w.serial++
	ref := "ref_" + itoa(w.serial)
	w.ledger = append(w.ledger, effect{key, ref, at})
	if rec != nil {
		rec.done, rec.ref = true, ref
	}
}

// arrive is a request's arrival. It gives the destination's answer; ok is false when
// the answer is lost on the way.
func (w *world) arrive(t *rapid.T, now time.Time, key string, body [32]byte) (r Result, ok bool) {
	if w.unique && len(w.ledger) > 0 {
		return Result{Lookup: true, Proof: Proof{Code: "exists"}}, w.arrives(t)
	}
	if rec := w.keys[key]; w.honours && rec != nil && now.Before(rec.first.Add(w.doc.Retention)) {
		switch {
		case rec.body != body:
			return Result{Mismatch: true}, w.arrives(t)
		case !rec.done && w.doc.Concurrency:
			return Result{InProgress: true}, w.arrives(t)
		case rec.done && rec.ref == "":
			return Result{Replayed: true, Proof: Proof{Code: "stored_error", Status: 500}}, w.arrives(t)
		case rec.done:
			return Result{Outcome: OutcomeConfirmed, TargetReference: rec.ref, Replayed: true}, w.arrives(t)
		}
		// Undocumented concurrency: the unkind answer is to execute it twice.
	}
	rec := &stored{first: now, body: body}
	switch oneOf(t, "fate", "execute", "execute", "execute", "execute", "drop", "drop", "refuse", "refuse_for_good", "error", "error") {
	case "refuse":
		return Result{Outcome: OutcomeNotStarted, Proof: Proof{Code: "refused"}}, w.arrives(t)
	case "refuse_for_good":
		return Result{Outcome: OutcomeNotStarted, Permanent: true, Proof: Proof{Code: "validation"}}, w.arrives(t)
	case "drop":
		return Result{}, false
	case "error":
		if w.replays {
			rec.done = true
			w.keys[key] = rec
		}
		return Result{Proof: Proof{Status: 500}}, w.arrives(t)
	}
	w.keys[key] = rec
	delay := w.doc.SettleAfter * time.Duration(below(t, "delay", 5)) / 4
	if delay > 0 {
		w.inFlight = append(w.inFlight, flight{key, now.Add(delay), rec})
		return Result{}, false
	}
	w.execute(key, now, rec)
	return Result{Outcome: OutcomeConfirmed, TargetReference: rec.ref}, w.arrives(t)
}

func (w *world) arrives(t *rapid.T) bool { return odds(t, "answer arrives", 3) }

// lookup finds effects by our reference; younger ones than the lag may be missing.
func (w *world) lookup(t *rapid.T, now time.Time) LookupFinding {
	if odds(t, "unreachable", 5) {
		return LookupFinding{Result: LookupUnreachable}
	}
	var found []effect
	for _, e := range w.ledger {
		if !now.Before(e.at.Add(w.doc.LookupLag)) || rapid.Bool().Draw(t, "visible early") {
			found = append(found, e)
		}
	}
	switch len(found) {
	case 0:
		return LookupFinding{Result: LookupNone}
	case 1:
		return LookupFinding{Result: LookupOne, ID: found[0].ref}
	}
	return LookupFinding{Result: LookupMany}
}
