package store_test

import (
	"strings"
	"testing"

	"holdpoint/store"
	"holdpoint/store/storetest"
)

// What a stage that fans out asks of the profiles, which its file alone cannot say.
func TestApply_FanOut(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	mailing := strings.NewReplacer("MAILING_APPROVAL", storetest.DefaultMailing, "MAILING_FOREACH", "").Replace(storetest.Mailing)
	const links = `destination: linker
title: {en: Linker}
kind: http
account: a
environment: test
base_url: http://127.0.0.1:9
local: true
auth: {none: true}
actions:
  link:
    effect: link
    request: {method: POST, path: /links, json: {to: "{target_ref(letter)}", of: ${content.of}}}
    outcome: [{confirmed: ${status == 200}}]
`
	later := func(more string) string {
		return mailing + `  - key: link
    destination: linker
    action: link
` + more + `    approval: {approvers: {role: approver}}
`
	}
	each := "    for_each: {in: ${inputs.recipients}, key: ${item.email}}\n    content: {of: ${item.email}}\n"
	for name, c := range map[string]struct {
		flow, field, words string
	}{
		"no key, no recipient":           {strings.NewReplacer("      key: ${item.email}\n", "", "destination: mail", "destination: plain", "action: send", "action: create_thing").Replace(mailing), "stages[0].for_each.key", "names no recipient"},
		"one of many references":         {later("    content: {of: x}\n"), "stages[1].action", "same_item"},
		"one of many, of a list too":     {later(each), "stages[1].action", "same_item"},
		"no key, but recipients":         {strings.Replace(mailing, "      key: ${item.email}\n", "", 1), "", ""},
		"the reference of the same item": {later(strings.Replace(each, "{in:", "{same_item: true, in:", 1)), "", ""},
	} {
		_, err := f.Store.Apply(t.Context(), store.System("command"), []store.File{{Name: "links.yaml", Source: []byte(links)}, {Name: "mailing.yaml", Source: []byte(c.flow)}})
		if c.field == "" {
			ok(t, err)
			continue
		}
		t.Log(name)
		problems(t, err, c.field, c.words)
	}
}
