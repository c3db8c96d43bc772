package definition

import (
	"encoding/json"
	"slices"
	"testing"

	"holdpoint/operation"
)

func TestRecipients(t *testing.T) {
	profile := func(recipient string) *Profile {
		t.Helper()
		p, err := ParseProfile("d.yaml", []byte(`destination: d
title: {en: D}
kind: http
account: a
environment: test
base_url: https://d.example
auth: {none: true}
actions:
  send:
    effect: email
`+recipient+`    request: {method: POST, path: /send, json: {to: "${content.to}"}}
    outcome: [{confirmed: "${status == 200}"}]
`))
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	for _, c := range []struct {
		name, recipient, content string
		named                    bool
		want                     []string
	}{
		{"one", "    recipient: ${content.to}\n", `{"to":" Ann@Example.test "}`, true, []string{"ann@example.test"}},
		{"a list, each once", "    recipient: ${content.to}\n", `{"to":["a@x.test","A@x.test","b@x.test"]}`, true, []string{"a@x.test", "b@x.test"}},
		{"several fields", "    recipient: [\"${content.to}\", \"${content.cc}\"]\n", `{"to":"a","cc":"b"}`, true, []string{"a", "b"}},
		{"the content says nobody", "    recipient: ${content.to}\n", `{}`, true, nil},
		{"not named by the profile", "", `{"to":"a"}`, false, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, err := profile(c.recipient).Action("send")
			if err != nil {
				t.Fatal(err)
			}
			if a.NamesRecipients() != c.named {
				t.Errorf("named: %v", a.NamesRecipients())
			}
			if got := a.Recipients(json.RawMessage(c.content), operation.Request{}); !slices.Equal(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
	t.Run("the envelope of a mail", func(t *testing.T) {
		a := &Action{mail: &mailForm{}}
		if got := a.Recipients(nil, operation.Request{To: []string{"B@x.test", "b@x.test"}}); !a.NamesRecipients() || !slices.Equal(got, []string{"b@x.test"}) {
			t.Errorf("%q", got)
		}
	})
}
