package store_test

import (
	"errors"
	"slices"
	"testing"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"
)

// oddFiles are a flow that puts what an event brings into a path, a header and the
// subject of a mail.
var oddFiles = []store.File{
	{Name: "odd.yaml", Source: []byte(`destination: odd
title: {en: Odd}
kind: http
account: a
environment: test
base_url: https://odd.example
auth: {none: true}
actions:
  put:
    effect: thing
    request: {method: PUT, path: "/things/${content.id}", headers: {X-Who: "${content.who}"}, json: {note: "${content.?note}"}}
    outcome: [{confirmed: ${status == 200}}]
`)},
	{Name: "odd-flow.yaml", Source: []byte(`flow: odd
title: {en: Odd}
owner: {role: approver}
reviewer: {role: ops_owner}
reexecution: {approvers: {role: ops_owner}}
trigger: {source: api, topic: odd.asked}
inputs: {type: object}
stages:
  - key: thing
    destination: odd
    action: put
    content: {id: ${inputs.id}, who: ${inputs.?who.orValue("w")}, note: ${inputs.?note}}
    approval: {approvers: {role: approver}, required: 1}
  - key: letter
    destination: smtp
    action: send
    content: {to: ${inputs.?to.orValue("kim@example.test")}, subject: ${inputs.?subject.orValue("s")}, text: ${"at " + string(int(inputs.?n.orValue(1)))}}
    approval: {approvers: {role: approver}, required: 1}
`)},
}

func applyOdd(t *testing.T, f *storetest.Fixture) {
	t.Helper()
	if _, err := f.Store.Apply(t.Context(), store.System("command"), oddFiles); err != nil {
		t.Fatal(err)
	}
}

// TestReceive_OddContent: whatever a genuine event brings, it is stored, and a person
// sees what is to be corrected (FC-04, FC-10).
func TestReceive_OddContent(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	applyOdd(t, f)
	n := 0
	for name, c := range map[string]struct {
		data  map[string]any
		thing []string // missing of the first stage
		mail  []string // and of the second
	}{
		"PathEmpty":     {map[string]any{"id": ""}, []string{"id"}, nil},
		"PathDot":       {map[string]any{"id": "."}, []string{"id"}, nil},
		"PathDots":      {map[string]any{"id": ".."}, []string{"id"}, nil},
		"PathSlash":     {map[string]any{"id": "a/b"}, []string{"id"}, nil},
		"HeaderLineEnd": {map[string]any{"id": "1", "who": "a\r\nX-Injected: b"}, []string{"who"}, nil},
		"HeaderBlank":   {map[string]any{"id": "1", "who": " a"}, []string{"who"}, nil},
		"NoteMark":      {map[string]any{"id": "1", "note": "%EE%80%80key%EE%80%81"}, []string{"note"}, nil},
		"SubjectTab":    {map[string]any{"id": "1", "subject": "a\tb"}, nil, []string{"subject"}},
		"SubjectEscape": {map[string]any{"id": "1", "subject": "a\x1bb"}, nil, []string{"subject"}},
		"SubjectLine":   {map[string]any{"id": "1", "subject": "a\u2028b"}, nil, []string{"subject"}},
		"Address":       {map[string]any{"id": "1", "to": `"a b"@example.test`}, nil, []string{"to"}},
		"Expression":    {map[string]any{"id": "1", "n": "no number"}, nil, []string{"text"}},
		"Nothing":       {map[string]any{}, []string{"id"}, nil},
	} {
		n++
		in := storetest.NoteEvent()
		in.Topic, in.Data = "odd.asked", c.data
		ops := f.Receive(t, in)
		for i, want := range [][]string{c.thing, c.mail} {
			p, err := f.Store.FindOperation(t.Context(), f.As("auditor"), ops[i])
			ok(t, err)
			state := operation.PendingApproval
			if want != nil {
				state = operation.Draft
			}
			if got := p.Current().Missing(); p.State != state || !slices.Equal(got, want) && len(got)+len(want) > 0 {
				t.Errorf("%s, stage %d: %s, missing %q, want %s %q", name, i, p.State, got, state, want)
			}
		}
	}
	if got := f.Count(t, "deliveries WHERE verdict = 'accepted'"); got != n {
		t.Errorf("%d deliveries on the record, want %d", got, n)
	}
}

// TestAddVersion_OddContent: an edit that the request cannot hold is refused with its
// places when it is submitted, and kept as a draft when it is not.
func TestAddVersion_OddContent(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	applyOdd(t, f)
	in := storetest.NoteEvent()
	in.Topic, in.Data = "odd.asked", map[string]any{"id": "a/b"}
	id := f.Receive(t, in)[0]
	edit := func(content map[string]any, submit bool) error {
		return f.Store.AddVersion(t.Context(), f.As("author"), store.NewVersion{Operation: id, Content: content, Author: author(f), Submit: submit})
	}
	refused := func(err error, field string) {
		t.Helper()
		var r *operation.Refusal
		if !errors.As(err, &r) || r.Code != operation.CodeContentMissing || r.Params["field"] != field {
			t.Errorf("%v, want content_missing of %s", err, field)
		}
	}
	refused(edit(map[string]any{"id": "a/b", "who": "w"}, true), "id") // as it stands
	refused(edit(map[string]any{"id": "a", "who": "x\ny"}, true), "who")
	if n := f.Count(t, "content_versions WHERE operation_id = $1", string(id)); n != 1 {
		t.Errorf("%d versions after refusals", n)
	}
	ok(t, edit(map[string]any{"id": "a", "who": "x\ny"}, false))
	p, err := f.Store.FindOperation(t.Context(), f.As("author"), id)
	ok(t, err)
	if p.State != operation.Draft || p.VersionNo != 2 || !slices.Equal(p.Current().Missing(), []string{"who"}) {
		t.Errorf("%s, version %d, missing %q", p.State, p.VersionNo, p.Current().Missing())
	}
	ok(t, edit(map[string]any{"id": "a", "who": "x"}, true))
	if s := f.State(t, id); s != operation.PendingApproval {
		t.Errorf("state %s", s)
	}
}
