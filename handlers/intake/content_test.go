package intake_test

import (
	"net/http"
	"testing"

	"holdpoint/operation"
)

// TestOddContentIsKept: a genuine notification whose text the request cannot hold is
// acknowledged and stored, and its operation is a draft; the sender is not asked to come
// again for ever (FC-04, FC-10).
func TestOddContentIsKept(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.apply(`source: letters
title: {en: Letters}
kind: json
account: demo
environment: test
secrets: [{env: FORM_SECRET}]
signature: {scheme: hmac_sha256, header: X-Form-Signature, encoding: hex, prefix: "sha256="}
event_key: ${body.id}
topic: letter.asked
`)
	h.apply(`flow: letter
title: {en: Letter}
owner: {role: approver}
reviewer: {role: ops_owner}
reexecution: {approvers: {role: ops_owner}}
trigger: {source: letters, topic: letter.asked}
inputs: {type: object}
stages:
  - key: letter
    destination: smtp
    action: send
    content: {to: ${inputs.to}, subject: ${inputs.subject}, text: ${inputs.text}}
    approval: {approvers: {role: approver}, required: 1}
`)
	for id, subject := range map[string]string{"1": `a\tb`, "2": `a\u001bb`, "3": `a\u2028b`, "4": `%EE%80%80key`} {
		body := []byte(`{"id":"` + id + `","to":"kim@example.test","subject":"` + subject + `","text":"t"}`)
		send := func() reply {
			return h.send(h.url+"/in/letters", body, "X-Form-Signature", "sha256="+hexMAC("form", body))
		}
		r := h.want(send(), http.StatusOK)
		if r.body.Verdict != "accepted" || len(r.body.Operations) != 1 {
			t.Fatalf("subject %s: %s", subject, r.raw)
		}
		if s := h.State(t, operation.ID(r.body.Operations[0])); s != operation.Draft {
			t.Errorf("subject %s: state %s", subject, s)
		}
		if n := h.Count(t, "content_versions WHERE operation_id = $1 AND missing = '{subject}'", r.body.Operations[0]); n != 1 {
			t.Errorf("subject %s: the draft does not name it", subject)
		}
		if again := h.want(send(), http.StatusOK); again.body.Verdict != "repeated" || again.body.Operations[0] != r.body.Operations[0] {
			t.Errorf("subject %s again: %s", subject, again.raw)
		}
	}
}
