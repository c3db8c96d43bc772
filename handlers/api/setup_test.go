package api_test

import (
	"errors"
	"net/http"
	"os"
	"testing"

	"holdpoint/operation/definition"
	"holdpoint/store"
)

const unplacedProfile = `destination: unplaced
title: {en: Unplaced}
kind: http
account: a
environment: test
base_url: ${env("HOLDPOINT_TEST_UNPLACED_URL")}
auth: {none: true}
actions:
  send: {effect: task, content: {type: object}, request: {method: POST, path: /, json: {}}, outcome: [{confirmed: "${status == 200}"}]}
`

const unplacedFlow = `flow: unplaced
title: {en: Unplaced}
owner: {role: approver}
reviewer: {role: ops_owner}
reexecution: {approvers: {role: ops_owner}}
trigger: {source: form, topic: unplaced.asked}
inputs: {type: object}
stages: [{key: effect, destination: unplaced, action: send, content: {note: x}, approval: {approvers: {role: approver}, required: 1}}]
`

// A place that cannot be used is refused when it is applied, with file, line and field.
// When the environment changes after that, callers are told what is wrong, and can come
// again: it is no fault of theirs, and none of ours.
func TestDestinationWhoseAddressCannotBeUsed(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	set := func(v string) { _ = os.Setenv("HOLDPOINT_TEST_UNPLACED_URL", v) }
	apply := func() error {
		_, err := h.Store.Apply(t.Context(), store.System("command"), []store.File{{Name: "unplaced.yaml", Source: []byte(unplacedProfile)}, {Name: "flow.yaml", Source: []byte(unplacedFlow)}})
		return err
	}
	var wrong definition.Problems
	set("http://crm.example.com")
	if err := apply(); !errors.As(err, &wrong) || len(wrong) != 1 || wrong[0].File != "unplaced.yaml" || wrong[0].Line != 6 || wrong[0].Field != "base_url" {
		t.Fatalf("applied: %v", err)
	}
	set("https://crm.example.com")
	if err := apply(); err != nil {
		t.Fatal(err)
	}
	tok := h.token("operations")
	create := func() reply {
		return h.post("/operations", tok, map[string]any{"flow": "unplaced", "inputs": map[string]any{}}, "Idempotency-Key", "k")
	}
	for _, bad := range []string{"http://crm.example.com", ""} {
		set(bad)
		if r := h.want(create(), http.StatusConflict); r.text("code") != "destination_set_up" || r.body["responsible"] == nil {
			t.Errorf("%q: %s", bad, r.raw)
		}
	}
	set("https://crm.example.com")
	h.want(create(), http.StatusCreated)
}
