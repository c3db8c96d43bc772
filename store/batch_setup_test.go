package store_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"
)

// TestBatchSetUp: a destination that is not set up is told once, as that, and not as a problem
// of each row; nothing is stored. The same list can come again when it is mended.
func TestBatchSetUp(t *testing.T) {
	t.Parallel()
	const variable = "HOLDPOINT_TEST_BATCH_PLACE"
	f := storetest.NewFixture(t)
	set := func(v string) { ok(t, os.Setenv(variable, v)) }
	t.Cleanup(func() { _ = os.Unsetenv(variable) })
	set("https://crm.example.com")
	profile := `destination: unplaced
title: {en: Unplaced}
kind: http
account: a
environment: test
base_url: ${env("` + variable + `")}
auth: {none: true}
actions:
  send: {effect: task, content: {type: object}, request: {method: POST, path: /, json: {to: "${content.to}"}}, outcome: [{confirmed: "${status == 200}"}]}
`
	flow := strings.NewReplacer("destination: mail", "destination: unplaced", "MAILING_APPROVAL", storetest.DefaultMailing, "MAILING_FOREACH", "").Replace(storetest.Mailing)
	_, err := f.Store.Apply(t.Context(), store.System("command"), []store.File{{Name: "unplaced.yaml", Source: []byte(profile)}, {Name: "mailing.yaml", Source: []byte(flow)}})
	ok(t, err)
	n := storetest.NewMailing(storetest.Recipients(5, nil))
	for _, bad := range []string{"http://crm.example.com", ""} {
		set(bad)
		_, _, err := f.Store.CreateBatchRun(t.Context(), f.As("author"), n)
		var r *operation.Refusal
		if !errors.As(err, &r) || r.Code != operation.CodeDestinationSetUp {
			t.Fatalf("%q: %v", bad, err)
		}
		if r.Params["item"] != "unplaced" || r.Params["why"] == "" || r.Who.Role != operation.RoleAdmin {
			t.Errorf("%q: %+v", bad, r)
		}
		if _, err := f.Store.JudgeBatchRun(t.Context(), f.As("author"), n, "letter", func(store.JudgedItem) error { return nil }); err == nil {
			t.Errorf("%q: the look at the list finds nothing wrong", bad)
		}
	}
	if n := f.Count(t, "batches"); n != 0 || f.Count(t, "batch_items") != 0 {
		t.Errorf("%d batches are stored", n)
	}
	set("https://crm.example.com")
	_, ids, err := f.Store.CreateBatchRun(t.Context(), f.As("author"), n)
	ok(t, err)
	if len(ids) != 1 || f.BatchState(t, ids[0]) != operation.BatchPendingApproval {
		t.Errorf("mended: %v", ids)
	}
}
