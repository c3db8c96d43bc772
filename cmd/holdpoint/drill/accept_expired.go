package drill

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
)

// acceptExpired: an outcome stays unknown until no key protects any more. Then nothing is
// repeated by itself; a checklist and a second person permit one more attempt.
func acceptExpired(t *acceptTrial) error {
	ops, err := t.begin()
	if err != nil {
		return err
	}
	for _, id := range ops {
		p, err := t.page(id)
		if err != nil {
			return err
		}
		act, err := t.dests[p.Destination].profile.Action(p.Action.Name)
		if err != nil {
			return err
		}
		if act.HasLookup() {
			err = t.expiredWithLookup(p)
		} else {
			err = t.expiredWithout(p)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// runOut brings an operation to unknown and lets its key's retention end while the
// destination is paused. It is paused before the product can know that something is
// lost, so that no repeat slips in between. Then a person is asked, and an automatic
// claim is refused.
func (t *acceptTrial) runOut(p *store.OperationPage, what loss) error {
	id := p.ID
	lost := t.dests[p.Destination].gate.orderHeld(id, what)
	letGo := sync.OnceFunc(func() { close(lost.on) })
	defer letGo()
	if what == loseAnswer {
		t.did("answer_will_be_lost", "Stage", p.Stage)
	} else {
		t.did("request_will_be_lost", "Stage", p.Stage)
	}
	if err := t.approve(id); err != nil {
		return err
	}
	select {
	case <-lost.came:
	case <-t.ctx.Done():
		return fmt.Errorf("no request of stage %s came: %w", p.Stage, t.ctx.Err())
	}
	if _, err := t.store.PauseDestination(t.ctx, t.people["ops"], p.Destination, "the acceptance lets the key run out"); err != nil {
		return err
	}
	letGo()
	p, err := t.untilState(id, operation.Unknown, operation.Review)
	if err != nil {
		return err
	}
	if until := p.Facts.Protection.Until(p.Facts.KeyFirst); !until.IsZero() {
		if err := pause(t.ctx, until.Sub(p.Now)+300*time.Millisecond); err != nil {
			return err
		}
		t.did("key_expired", "Stage", p.Stage, "Seconds", strconv.Itoa(int(acceptPace.Retention/time.Second)))
	}
	if err := t.store.ResumeDestination(t.ctx, t.people["ops"], p.Destination, "the key has run out"); err != nil {
		return err
	}
	if _, err := t.untilState(id, operation.Review); err != nil {
		return err
	}
	_, err = t.store.ClaimAndDispatch(t.ctx, store.Job("acceptance"), id, "acceptance")
	t.check(refused(err, operation.CodeNotReady), "not_barred", "Stage", p.Stage)
	t.did("in_review", "Stage", p.Stage)
	return nil
}

// oneMore lets a reviewer state that nothing happened and ask for one more attempt, and a
// second person permit it. The first one cannot.
func (t *acceptTrial) oneMore(p *store.OperationPage) error {
	items := slices.Clone(operation.Checklist)
	for _, c := range t.flow.ChecklistExtra {
		items = append(items, operation.ChecklistItem(c.Key))
	}
	first, err := t.decide(p.ID, "Their log shows no such effect.", func(who store.Actor, sh store.Shown) error {
		var answers store.Answers
		for _, item := range items {
			answers = append(answers, operation.Answer{Item: item, Yes: true, Comment: "looked", User: who.UserID()})
		}
		return t.store.ConfirmNotDone(t.ctx, who, sh, answers, true)
	})
	if err != nil {
		return err
	}
	t.did("not_done", "Stage", p.Stage, "Person", first)
	now, err := t.page(p.ID)
	if err != nil {
		return err
	}
	came := len(t.dests[p.Destination].gate.of(p.ID))
	t.check(now.State == operation.ReexecutionRequested && came == 1, "went_on_alone", "Stage", p.Stage, "State", string(now.State))
	for _, who := range t.everybody {
		if who.Name == first {
			err := t.press(p.ID, who, "One more attempt.", func(who store.Actor, sh store.Shown) error {
				return t.store.DecideReexecution(t.ctx, who, sh, true)
			})
			t.check(refused(err, operation.CodeParty, operation.CodeNotEntitled), "own_request", "Stage", p.Stage)
		}
	}
	by := []string{first}
	for range max(1, t.flow.Reexecution.Required) {
		second, err := t.decide(p.ID, "One more attempt.", func(who store.Actor, sh store.Shown) error {
			return t.store.DecideReexecution(t.ctx, who, sh, true)
		}, by...)
		if err != nil {
			return err
		}
		by = append(by, second)
		t.did("permitted", "Stage", p.Stage, "Person", second)
	}
	return nil
}

// expiredWithLookup: the effect took place and its answer was lost; lookups fail until
// the key has run out. The reviewer is wrong; the lookup before the permitted attempt
// finds the effect, and nothing is sent again.
func (t *acceptTrial) expiredWithLookup(p *store.OperationPage) error {
	g := t.dests[p.Destination].gate
	g.listen(false)
	t.did("lookups_fail", "Stage", p.Stage)
	if err := t.runOut(p, loseAnswer); err != nil {
		return err
	}
	if err := t.oneMore(p); err != nil {
		return err
	}
	if err := pause(t.ctx, 500*time.Millisecond); err != nil {
		return err
	}
	t.check(len(g.of(p.ID)) == 1, "sent_blind", "Stage", p.Stage)
	g.listen(true)
	t.did("lookups_work", "Stage", p.Stage)
	f, err := t.confirmed(p.ID)
	if err != nil {
		return err
	}
	t.did("settled", "Stage", f.Stage, "Target", f.Target)
	t.attempts(f, "first unknown")
	t.check(f.Requests == 1, "requests", "Stage", f.Stage, "Found", strconv.Itoa(f.Requests), "Expected", "1")
	t.check(slices.Contains(f.Evidence, "lookup one"), "no_lookup", "Stage", f.Stage, "Found", strings.Join(f.Evidence, ", "))
	return nil
}

// expiredWithout: the request was lost on its way, and nothing can be looked up. There is
// exactly one more attempt, with the key's next generation where there is a key.
func (t *acceptTrial) expiredWithout(p *store.OperationPage) error {
	if err := t.runOut(p, loseRequest); err != nil {
		return err
	}
	if err := t.oneMore(p); err != nil {
		return err
	}
	f, err := t.confirmed(p.ID)
	if err != nil {
		return err
	}
	t.did("confirmed", "Stage", f.Stage, "Target", f.Target)
	t.attempts(f, "first unknown", "reexecution confirmed")
	t.check(f.Requests == 1, "requests", "Stage", f.Stage, "Found", strconv.Itoa(f.Requests), "Expected", "1")
	return nil
}
