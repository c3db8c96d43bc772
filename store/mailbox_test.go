package store_test

import (
	"slices"
	"strings"
	"testing"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"
)

// A destination that takes every spelling of a mailbox as it is given.
const letterShop = `destination: shop
title: {en: Letter shop}
kind: http
account: shop-test
environment: test
base_url: https://shop.example
auth: {none: true}
limits: {concurrency: 10, timeout: 2s, body: 64KiB}
docs: {url: "https://shop.example/docs", checked: 2026-11-29}
actions:
  send:
    effect: email
    recipient: ${content.to}
    request: {method: POST, path: /send, json: {to: "${content.to}"}}
    outcome: [{confirmed: "${status == 200}"}]
`

// TestMailboxSpellings: a mailbox is the same with quotes that it does not need and with a dot
// behind its host: as an entry of the suppression list, among the rows of a list, when its turn
// comes, and as the recipient of a replacement. What is sent is spelled as the list has it.
func TestMailboxSpellings(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	flow := strings.NewReplacer("destination: mail", "destination: shop", ", format: email", "", "MAILING_APPROVAL", "{approvers: {role: approver}, expires: 72h}", "MAILING_FOREACH", "").Replace(storetest.Mailing)
	_, err := f.Store.Apply(t.Context(), store.System("command"), []store.File{{Name: "shop.yaml", Source: []byte(letterShop)}, {Name: "mailing.yaml", Source: []byte(flow)}})
	ok(t, err)
	suppressed(t, f, `"held"@example.test.`)
	if f.Count(t, `suppressions WHERE address = 'held@example.test'`) != 1 {
		t.Error("the entry is not stored as addresses are compared")
	}

	spelled := []string{`"held"@example.test`, `held@example.test.`, `twin@example.test`, `"Twin"@example.test`, `twin@example.test.`, `"la\ter"@example.test.`, `"Free"@Example.test.`, `other@example.test`}
	id := f.Batch(t, storetest.Recipients(len(spelled), func(i int, e map[string]any) map[string]any {
		e["email"] = spelled[i-1]
		return e
	}))
	for excluded, want := range map[operation.Exclusion]int{operation.ExcludedSuppressed: 1, operation.ExcludedDuplicate: 3, "": 4} {
		if n := f.Count(t, `batch_items WHERE batch_id = $1 AND excluded = $2`, string(id), string(excluded)); n != want {
			t.Errorf("%d rows are %q, want %d", n, excluded, want)
		}
	}
	if f.Count(t, `batch_items WHERE batch_id = $1 AND recipient IN ('later@example.test', 'free@example.test')`, string(id)) != 2 {
		t.Error("recipients are not stored as they are compared")
	}

	f.ApproveBatch(t, id, "lead")
	suppressed(t, f, "later@example.test")
	var sent []store.Dispatched
	for range 3 { // an item that is suppressed ends what is taken at once
		c := took(t, f, id, 10)
		if c.Due && len(c.Dispatched) == 0 {
			c = claimed(t, f, id, 10)
		}
		sent = append(sent, c.Dispatched...)
	}
	var to []string
	for _, s := range sent {
		to = append(to, s.Content["to"].(string))
	}
	if f.Count(t, `operations WHERE batch_id = $1 AND state = 'cancelled'`, string(id)) != 1 || !slices.Equal(to, []string{`twin@example.test`, `"Free"@Example.test.`, `other@example.test`}) {
		t.Fatalf("sent to %q", to)
	}

	recorded(t, f, id, confirmed(sent))
	_, err = f.Owner.Exec(`UPDATE operations SET last_dispatch = last_dispatch - interval '1 day', last_send = last_send - interval '1 day'`) // no request can take effect any more
	ok(t, err)
	s := &stand{f: f, t: t, id: sent[2].Operation}
	s.dispute()
	s.notDone(false)
	p, err := f.Store.FindOperation(t.Context(), f.As("author"), s.id)
	ok(t, err)
	content := p.Current().Content()
	content["to"] = `"later"@example.test.`
	next, err := f.Store.Replace(t.Context(), f.As("author"), s.shown("other content"), store.Replacement{Content: content, Submit: true})
	ok(t, err)
	f.Approve(t, next, "ops2")
	_, err = f.Store.ClaimAndDispatch(t.Context(), hand, next, "hand")
	refused(t, err, operation.CodeSuppressed)
}
