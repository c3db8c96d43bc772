package drill

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"holdpoint/operation"
)

// resumeAfterApproval: the first stage is confirmed, every worker is killed, the second
// stage is approved while nobody works, and new workers go on. The first stage never
// runs again; what the second sends is what was approved.
func resumeAfterApproval(t *trial) error {
	ops, err := t.begin("drill-follow-up", 2)
	if err != nil {
		return err
	}
	task, mail := ops[0], ops[1]
	if err := t.approve(task); err != nil {
		return err
	}
	if _, err := t.untilState(task, operation.Confirmed); err != nil {
		return err
	}
	t.did("The lead approves the first stage; it is confirmed.")
	t.check(waitsUnsent(t, mail) == nil, "the mail left before its approval")
	t.killWorkers()
	t.did("Both workers are killed (SIGKILL).")
	if err := pause(t.ctx, 300*time.Millisecond); err != nil {
		return err
	}
	if err := t.approve(mail); err != nil {
		return err
	}
	t.did("The lead approves the second stage; nobody works.")
	t.check(sameSends(t, "mail", mail, 0), "the mail left without a worker")
	if err := t.work(2); err != nil {
		return err
	}
	t.did("Two new workers start.")
	second, err := t.confirmed(mail)
	if err != nil {
		return err
	}
	if err := pause(t.ctx, 500*time.Millisecond); err != nil {
		return err
	}
	first, err := t.record(task, 1)
	if err != nil {
		return err
	}
	t.expect(first, "first confirmed")
	t.expect(second, "first confirmed")
	t.check(first.Requests == 1, "the first stage was sent %d times", first.Requests)
	return t.approvedBytes(task, mail)
}

func sameSends(t *trial, place string, id operation.ID, want int) bool {
	sends, err := t.box.sends(t.ctx, place, id)
	return err == nil && len(sends) == want
}

// approvedBytes checks that the destination received exactly the approved request, its
// declared holes filled with the first stage's target reference and our own ID.
func (t *trial) approvedBytes(task, mail operation.ID) error {
	first, err := t.page(task)
	if err != nil {
		return err
	}
	p, err := t.page(mail)
	if err != nil {
		return err
	}
	want, err := p.Current().Request().Resolve(map[string]string{operation.HoleOperationID: string(mail),
		operation.HoleKey: operation.DestinationKey(mail, 1), operation.HoleTargetRef("task"): first.TargetReference})
	if err != nil {
		return err
	}
	there, err := t.box.ledger(t.ctx, "mail", mail)
	if err != nil {
		return err
	}
	if len(there) != 1 {
		return fmt.Errorf("the ledger holds %d mails", len(there))
	}
	h := sha256.Sum256([]byte(want.Body))
	t.check(there[0].RequestHash == hex.EncodeToString(h[:]), "the bytes that arrived are not the approved ones")
	content := p.Current().Content()
	t.check(there[0].Fields["subject"] == content["subject"] && there[0].Fields["text"] == content["text"], "the mail says something else than what was approved")
	t.did("The bytes that arrived are the approved ones, with the task's identifier in its hole.")
	return nil
}
