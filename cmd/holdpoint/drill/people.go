package drill

import (
	"holdpoint/operation"
	"holdpoint/store"
)

// approve lets the marketing lead approve exactly the version that is shown now.
func (t *trial) approve(id operation.ID) error {
	p, err := t.untilState(id, operation.PendingApproval)
	if err != nil {
		return err
	}
	v := p.Current()
	return t.store.Decide(t.ctx, t.people["lead"], store.Decided{Operation: id, Version: v.ID, Hash: v.HashHex(), Revision: p.Revision,
		Decision: operation.Approve, FormID: store.NewFormID()})
}

// decide lets a person decide about an operation on its newest page. When it changed
// between reading and pressing, they look and press again.
func (t *trial) decide(id operation.ID, reason string, verb func(store.Shown) error) error {
	form := store.NewFormID()
	for {
		p, err := t.page(id)
		if err != nil {
			return err
		}
		err = verb(store.Shown{Operation: id, Revision: p.Revision, FormID: form, Reason: reason})
		if !refused(err, operation.CodeStaleRevision, operation.CodeSettling) {
			return err
		}
		if err := pause(t.ctx, stalePause); err != nil {
			return err
		}
	}
}

// notDone lets the reviewer answer the whole checklist and ask for one more attempt.
func (t *trial) notDone(id operation.ID) error {
	who := t.people["ops"]
	return t.decide(id, "Their log shows no such effect.", func(sh store.Shown) error {
		var answers store.Answers
		for _, item := range operation.Checklist {
			answers = append(answers, operation.Answer{Item: item, Yes: true, Comment: "looked", User: who.UserID()})
		}
		return t.store.ConfirmNotDone(t.ctx, who, sh, answers, true)
	})
}

// permit lets a person decide on the re-execution.
func (t *trial) permit(id operation.ID, short string) error {
	return t.decide(id, "One more attempt.", func(sh store.Shown) error {
		return t.store.DecideReexecution(t.ctx, t.people[short], sh, true)
	})
}
