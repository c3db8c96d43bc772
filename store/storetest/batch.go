package storetest

import (
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"holdpoint/operation"
	"holdpoint/store"
)

// Mailing is a flow of one stage that fans out: a mail to each recipient of a list, approved
// by two people. MAILING_APPROVAL and MAILING_FOREACH stand for what a test may change.
const Mailing = `flow: mailing
title: {en: Mailing}
owner: {role: approver}
reviewer: {role: ops_owner}
reexecution: {approvers: {role: ops_owner}}
trigger: {source: api, topic: mailing}
inputs:
  type: object
  required: [season, recipients]
  properties:
    season: {type: string}
    recipients:
      type: array
      items: {type: object, required: [email], properties: {email: {type: string, format: email}, name: {type: string}, cents: {type: integer}}}
stages:
  - key: letter
    title: {en: Letter}
    destination: mail
    action: send
    for_each:
      in: ${inputs.recipients}
      key: ${item.email}
      total: ${item.?cents}
      currency: EUR
      required: [name]MAILING_FOREACH
    content:
      to: ${item.email}
      subject: {draft: {by: author}}
      text: ${"Dear " + item.name + ", our " + inputs.season + " offers are there. " + "You get this mail since you asked for it on our page; a word is enough to end that."}
    approval: MAILING_APPROVAL
`

// DefaultMailing is the approval of Mailing where a test says nothing else.
const DefaultMailing = `{approvers: {role: approver}, required: 2, separate_author: true, expires: 72h, due: 4h}`

// ApplyMailing applies Mailing with this approval ("" = DefaultMailing) and these lines more
// in for_each, each without its indentation.
func (f *Fixture) ApplyMailing(t testing.TB, approval string, foreach ...string) {
	t.Helper()
	if approval == "" {
		approval = DefaultMailing
	}
	more := ""
	for _, line := range foreach {
		more += "\n      " + line
	}
	src := strings.NewReplacer("MAILING_APPROVAL", approval, "MAILING_FOREACH", more).Replace(Mailing)
	if _, err := f.Store.Apply(t.Context(), store.System("command"), []store.File{{Name: "mailing.yaml", Source: []byte(src)}}); err != nil {
		t.Fatalf("storetest: mailing: %v", err)
	}
}

// Recipients makes a list of n people who are all different. change may alter an entry, by
// its place from 1; an entry that it makes nil is left out.
func Recipients(n int, change func(i int, entry map[string]any) map[string]any) store.List {
	return store.List{Name: "recipients.csv", Rows: func(yield func(map[string]any, error) bool) {
		for i := range n {
			e := map[string]any{"email": fmt.Sprintf("r%06d@example.test", i+1), "name": fmt.Sprintf("Person %d", i+1), "cents": int64(100)}
			if change != nil {
				if e = change(i+1, e); e == nil {
					continue
				}
			}
			if !yield(e, nil) {
				return
			}
		}
	}}
}

// NewMailing is what author hands in: a list, and the subject that all items share.
func NewMailing(list store.List) store.NewBatchRun {
	return store.NewBatchRun{Flow: "mailing", FormID: store.NewFormID(), Inputs: map[string]any{"season": "spring"}, Lists: map[string]store.List{"recipients": list},
		Shared: map[string]map[string]string{"letter": {"subject": "Spring for {{name}}"}}}
}

// Batch starts a mailing of this list and gives its batch.
func (f *Fixture) Batch(t testing.TB, list store.List) operation.BatchID {
	t.Helper()
	_, ids, err := f.Store.CreateBatchRun(t.Context(), f.As("author"), NewMailing(list))
	if err != nil || len(ids) != 1 {
		t.Fatalf("storetest: batch: %v %v", ids, err)
	}
	return ids[0]
}

// BatchDecision is what a person's form about the batch would send now.
func (f *Fixture) BatchDecision(t testing.TB, id operation.BatchID, d operation.Decision) store.BatchDecided {
	t.Helper()
	in := store.BatchDecided{Batch: id, Decision: d, FormID: store.NewFormID(), Phase: operation.PhaseFirst}
	var hash []byte
	var cleared int
	err := f.Owner.QueryRowContext(t.Context(), `SELECT b.revision, b.number, b.cleared, v.hash FROM batches b JOIN batch_versions v ON v.batch_id = b.id AND v.number = b.number WHERE b.id = $1`,
		string(id)).Scan(&in.Revision, &in.Number, &cleared, &hash)
	if err != nil {
		t.Fatalf("storetest: current version of %s: %v", id, err)
	}
	if cleared > 0 {
		in.Phase = operation.PhaseRest
	}
	if d != operation.Approve {
		in.Reason = "as the test wants it"
	}
	in.Hash = hex.EncodeToString(hash)
	return in
}

// ApproveBatch approves the current version by each of the people, in order.
func (f *Fixture) ApproveBatch(t testing.TB, id operation.BatchID, shorts ...string) {
	t.Helper()
	for _, short := range shorts {
		if err := f.Store.DecideBatch(t.Context(), f.As(short), f.BatchDecision(t, id, operation.Approve)); err != nil {
			t.Fatalf("storetest: %s approves %s: %v", short, id, err)
		}
	}
}

// BatchState reads a batch's state.
func (f *Fixture) BatchState(t testing.TB, id operation.BatchID) operation.BatchState {
	t.Helper()
	var s string
	if err := f.Owner.QueryRowContext(t.Context(), `SELECT state FROM batches WHERE id = $1`, string(id)).Scan(&s); err != nil {
		t.Fatalf("storetest: state of %s: %v", id, err)
	}
	return operation.BatchState(s)
}
