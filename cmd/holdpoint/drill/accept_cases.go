package drill

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
)

// acceptCases are the six cases, in the order of operation.AcceptanceCases.
var acceptCases = []acceptCase{
	{"normal", acceptNormal},
	{"redelivery", acceptRedelivery},
	{"timeout_after_success", acceptTimeout},
	{"concurrent", acceptConcurrent},
	{"resume", acceptResume},
	{"expired_key", acceptExpired},
}

// acceptNormal: one event, the approvals, one effect for each stage.
func acceptNormal(t *acceptTrial) error {
	ops, err := t.begin()
	if err != nil {
		return err
	}
	for _, id := range ops {
		if err := t.usual(id); err != nil {
			return err
		}
	}
	return nil
}

// usual takes one operation the usual way: nothing before its approval, then one effect.
func (t *acceptTrial) usual(id operation.ID) error {
	p, err := t.page(id)
	if err != nil {
		return err
	}
	t.unsent(p)
	if err := t.approve(id); err != nil {
		return err
	}
	f, err := t.confirmed(id)
	if err != nil {
		return err
	}
	t.did("confirmed", "Stage", f.Stage, "Target", f.Target)
	t.attempts(f, "first confirmed")
	return t.sameBytes(id, 1)
}

// sameBytes checks that the destination received exactly what was approved.
func (t *acceptTrial) sameBytes(id operation.ID, generation int) error {
	p, err := t.page(id)
	if err != nil {
		return err
	}
	want, err := t.resolved(p, generation)
	if err != nil {
		return err
	}
	sum := sha256.Sum256([]byte(want.Body))
	came := t.dests[p.Destination].gate.of(id)
	for _, a := range came {
		t.check(a.hash == hex.EncodeToString(sum[:]), "bytes", "Stage", p.Stage)
	}
	t.check(len(came) > 0, "nothing_came", "Stage", p.Stage)
	return nil
}

// acceptRedelivery: the same event twenty times at once and twice later.
func acceptRedelivery(t *acceptTrial) error {
	e, err := t.event()
	if err != nil {
		return err
	}
	got, errs := make([]store.Receipt, parallel), make([]error, parallel)
	var all sync.WaitGroup
	for n := range parallel {
		all.Go(func() { got[n], errs[n] = t.hand(e, n) })
	}
	all.Wait()
	accepted := 0
	for n, r := range got {
		if errs[n] != nil {
			return fmt.Errorf("delivery %d: %w", n, errs[n])
		}
		if r.Verdict == store.VerdictAccepted {
			accepted++
		}
		t.check(slices.Equal(r.Operations, got[0].Operations), "other_operation", "Delivery", strconv.Itoa(n+1))
	}
	t.did("event_at_once", "Event", e.EventKey, "Times", strconv.Itoa(parallel))
	t.check(accepted == 1, "accepted", "Found", strconv.Itoa(accepted))
	ops := got[0].Operations
	for _, id := range ops {
		if err := t.approve(id); err != nil {
			return err
		}
		if _, err := t.untilState(id, operation.Confirmed); err != nil {
			return err
		}
	}
	for n := range 2 {
		r, err := t.hand(e, parallel+n)
		if err != nil {
			return err
		}
		t.check(r.Verdict == store.VerdictRepeated && slices.Equal(r.Operations, ops), "other_operation", "Delivery", strconv.Itoa(parallel+n+1))
	}
	t.did("event_again", "Times", "2")
	if err := pause(t.ctx, 500*time.Millisecond); err != nil {
		return err
	}
	for _, id := range ops {
		f, err := t.confirmed(id)
		if err != nil {
			return err
		}
		t.attempts(f, "first confirmed")
	}
	return nil
}

// acceptTimeout: the destination acts and its answer is lost. The outcome is unknown
// until it is proven; nothing is done twice.
func acceptTimeout(t *acceptTrial) error {
	ops, err := t.begin()
	if err != nil {
		return err
	}
	for _, id := range ops {
		p, err := t.page(id)
		if err != nil {
			return err
		}
		t.dests[p.Destination].gate.order(id, loseAnswer)
		t.did("answer_will_be_lost", "Stage", p.Stage)
		if err := t.approve(id); err != nil {
			return err
		}
		if p, err = t.untilState(id, operation.Confirmed, operation.Review); err != nil {
			return err
		}
		if p.State == operation.Review {
			if err := t.attest(p); err != nil {
				return err
			}
		}
		f, err := t.confirmed(id)
		if err != nil {
			return err
		}
		t.did("settled", "Stage", f.Stage, "Target", f.Target)
		t.check(len(f.Attempts) > 0 && f.Attempts[0] == "first unknown", "not_unknown", "Stage", f.Stage, "Found", strings.Join(f.Attempts, ", "))
		t.check(len(f.Attempts) == 1 || len(f.Attempts) == 2 && f.Attempts[1] == "protected confirmed", "repeated", "Stage", f.Stage, "Found", strings.Join(f.Attempts, ", "))
	}
	return nil
}

// attest lets a reviewer settle what nothing else could: they look where the effect is
// counted, and name what they found.
func (t *acceptTrial) attest(p *store.OperationPage) error {
	n, ids, by, err := t.count(p)
	if err != nil {
		return err
	}
	t.did("in_review", "Stage", p.Stage)
	if n != 1 || len(ids) != 1 {
		t.fail("effects", "Stage", p.Stage, "Found", strconv.Itoa(n), "Expected", "1")
		return fmt.Errorf("%s holds %d effects of stage %s", by, n, p.Stage)
	}
	who, err := t.decide(p.ID, "The effect was found at the destination.", func(who store.Actor, sh store.Shown) error {
		return t.store.ConfirmDone(t.ctx, who, sh, store.Reference{ID: ids[0]})
	})
	if err == nil {
		t.did("attested", "Stage", p.Stage, "Person", who, "Target", ids[0])
		return nil
	}
	// A lookup may have found it while they looked: then there is nothing left to settle.
	if now, perr := t.page(p.ID); perr == nil && now.State == operation.Confirmed {
		return nil
	}
	return err
}

// decide lets the first of the declared people who may decide about an operation.
func (t *acceptTrial) decide(id operation.ID, reason string, verb func(store.Actor, store.Shown) error, not ...string) (string, error) {
	var last error
	for _, who := range t.everybody {
		if slices.Contains(not, who.Name) {
			continue
		}
		if last = t.press(id, who, reason, verb); !refused(last, operation.CodeNotEntitled, operation.CodeParty) {
			return who.Name, last
		}
	}
	return "", last
}

// press lets a person decide about an operation on its newest page. When it changed
// between reading and pressing, as every lookup changes it, they look and press again.
func (t *acceptTrial) press(id operation.ID, who store.Actor, reason string, verb func(store.Actor, store.Shown) error) error {
	form := store.NewFormID()
	for {
		p, err := t.page(id)
		if err != nil {
			return err
		}
		err = verb(who, store.Shown{Operation: id, Revision: p.Revision, FormID: form, Reason: reason})
		if !refused(err, operation.CodeStaleRevision, operation.CodeSettling) {
			return err
		}
		if err := pause(t.ctx, stalePause); err != nil {
			return err
		}
	}
}

// acceptConcurrent: two workers and four more claim the same operation at once.
func acceptConcurrent(t *acceptTrial) error {
	ops, err := t.begin()
	if err != nil {
		return err
	}
	for _, id := range ops {
		if err := t.raced(id); err != nil {
			return err
		}
	}
	return nil
}

func (t *acceptTrial) raced(id operation.ID) error {
	p, err := t.page(id)
	if err != nil {
		return err
	}
	t.dests[p.Destination].gate.slow(400 * time.Millisecond)
	ctx, cancel := context.WithCancel(t.ctx)
	defer cancel()
	var won, refusals int
	var raceErr error
	var all sync.WaitGroup
	all.Go(func() { won, refusals, raceErr = t.race(ctx, p) })
	err = t.approve(id)
	if err == nil {
		_, err = t.untilState(id, operation.Confirmed)
	}
	cancel()
	all.Wait()
	if err != nil {
		return err
	}
	if raceErr != nil {
		return raceErr
	}
	t.did("raced", "Stage", p.Stage, "Claimants", strconv.Itoa(clients+2), "Refusals", strconv.Itoa(refusals))
	t.check(won <= 1, "won", "Stage", p.Stage, "Found", strconv.Itoa(won))
	t.check(refusals > 0, "no_race", "Stage", p.Stage)
	f, err := t.confirmed(id)
	if err == nil {
		t.attempts(f, "first confirmed")
	}
	return err
}

// acceptResume: every worker is killed before the last approval, and new ones go on. What
// was done before never runs again.
func acceptResume(t *acceptTrial) error {
	ops, err := t.begin()
	if err != nil {
		return err
	}
	last := ops[len(ops)-1]
	for _, id := range ops[:len(ops)-1] {
		if err := t.approve(id); err != nil {
			return err
		}
		p, err := t.untilState(id, operation.Confirmed)
		if err != nil {
			return err
		}
		t.did("confirmed", "Stage", p.Stage, "Target", p.TargetReference)
	}
	t.killWorkers()
	t.did("workers_killed")
	if err := t.approve(last); err != nil {
		return err
	}
	if err := pause(t.ctx, 300*time.Millisecond); err != nil {
		return err
	}
	p, err := t.page(last)
	if err != nil {
		return err
	}
	t.unsent(p)
	if err := t.work(2); err != nil {
		return err
	}
	t.did("workers_started")
	if _, err := t.untilState(last, operation.Confirmed); err != nil {
		return err
	}
	if err := pause(t.ctx, 500*time.Millisecond); err != nil {
		return err
	}
	for _, id := range ops {
		f, err := t.confirmed(id)
		if err != nil {
			return err
		}
		t.attempts(f, "first confirmed")
		if err := t.sameBytes(id, 1); err != nil {
			return err
		}
	}
	t.did("bytes_equal")
	return nil
}
