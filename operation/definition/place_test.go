package definition

import (
	"strings"
	"testing"
)

const placedProfile = `destination: placed
title: {en: Placed}
kind: http
account: a
environment: test
base_url: https://example.com
auth: {none: true}
actions:
  send: {effect: task, request: {method: POST, path: /, json: {}}, outcome: [{confirmed: "${status == 200}"}]}
`

// What the environment says is known only where the file is applied; the place is named by
// file, line and field all the same.
func TestCheckPlace(t *testing.T) {
	t.Parallel()
	env := func(name string) (string, bool) {
		v, ok := map[string]string{"PLAIN": "http://crm.example.com", "TLS": "https://crm.example.com/x/", "HOST": "crm.example.com", "EMPTY": "", "USER": "https://me@example.com"}[name]
		return v, ok
	}
	for base, want := range map[string]string{
		`https://example.com`:                  "",
		`${env("TLS")}`:                        "",
		`${env("UNSET")}`:                      "",
		`https://${env("HOST")}/api`:           "",
		`${env("PLAIN")}`:                      "https://",
		`http://${env("HOST")}`:                "https://",
		`http://${env("UNSET")}`:               "https://",
		`${env("EMPTY")}`:                      "absolute",
		`${env("USER")}`:                       "no user",
		`${env("TLS")}?q=1`:                    "query",
		"${env(\"PLAIN\")}\nlocal: true":       "",
		"http://${env(\"HOST\")}\nlocal: true": "",
	} {
		p, err := ParseProfile("placed.yaml", []byte(strings.Replace(placedProfile, "https://example.com", base, 1)))
		if err != nil {
			t.Errorf("%s: %v", base, err)
			continue
		}
		got := p.CheckPlace(env)
		switch {
		case want == "" && len(got) > 0:
			t.Errorf("%s: %v", base, got)
		case want != "" && (len(got) != 1 || !strings.Contains(got[0].Text, want) || got[0].Field != "base_url" || got[0].Line != 6 || got[0].File != "placed.yaml"):
			t.Errorf("%s: %v, want %q at base_url, line 6", base, got, want)
		}
	}
}
