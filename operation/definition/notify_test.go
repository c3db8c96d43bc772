package definition

import (
	"strings"
	"testing"
	"time"

	"holdpoint/operation"
)

func TestNotifyOfAFlow(t *testing.T) {
	plain := string(read(t, "testdata/flow.yaml"))
	f, err := ParseFlow("flow.yaml", []byte(plain+`notify:
  remind: 1h
  escalate: {role: admin, user: boss@example.test, after: 2h}
  places:
    - slack: {channel: C0123456789}
    - slack_hook: {url: {env: HOOK}}
      kinds: [completed]
    - teams: {url: {file: /run/teams}}
      local: true
`))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, c := range f.Notify.Places {
		names = append(names, c.Name())
	}
	if got := strings.Join(names, ", "); got != "slack C0123456789, slack_hook env:HOOK, teams file:/run/teams" {
		t.Errorf("places %s", got)
	}
	if c, ok := f.Notify.Place("slack_hook env:HOOK"); !ok || !c.Takes(operation.NoticeCompleted) || c.Takes(operation.NoticeApproval) || c.Local {
		t.Errorf("the hook is %+v", c)
	}
	if c, ok := f.Notify.Place("teams file:/run/teams"); !ok || !c.Takes(operation.NoticeOverdue) || c.Takes(operation.NoticeWork) || !c.Local {
		t.Errorf("Teams is %+v", c)
	}
	if _, ok := f.Notify.Place("slack"); ok {
		t.Error("a place that the flow does not name is found")
	}
	if p, last := f.NoticePolicy("email", operation.DecideReconcile); p != (operation.NoticePolicy{Remind: time.Hour, Escalate: 2 * time.Hour}) || last.User != "boss@example.test" {
		t.Errorf("policy of a case: %+v %+v", p, last)
	}
	if p, last := f.NoticePolicy("crm-task", operation.DecideApprove); p != (operation.NoticePolicy{Remind: 2 * time.Hour, Escalate: 24 * time.Hour}) || last != (operation.Selector{Role: operation.RoleAdmin}) {
		t.Errorf("a stage's own approval goes first: %+v %+v", p, last)
	}
	without, err := ParseFlow("flow.yaml", []byte(plain))
	if err != nil {
		t.Fatal(err)
	}
	if p, last := without.NoticePolicy("email", operation.DecideApprove); p != (operation.NoticePolicy{}) || last != without.Owner {
		t.Errorf("without a block: %+v %+v", p, last)
	}
}

func TestNotifyRefusesWhatItCannotUse(t *testing.T) {
	plain := string(read(t, "testdata/flow.yaml"))
	for block, want := range map[string]string{
		"places: [{slack: {channel: general}}]":                                      "channel",
		"places: [{slack: {channel: C0123456789}, teams: {url: {env: A}}}]":          "places",
		"places: [{kinds: [approval]}]":                                              "places",
		"places: [{teams: {url: \"https://a.example/secret\"}}]":                     "url",
		"places: [{teams: {url: {env: A}}, kinds: [alert]}]":                         "kinds",
		"places: [{teams: {url: {env: A}}}, {teams: {url: {env: A}}}]":               "named twice",
		"escalate: {after: 2h}":                                                      "escalate",
		"mail: yes":                                                                  "mail",
		"places: [{slack: {channel: C0123456789, token: {env: A, file: /b}}}]":       "token",
		"places: [{slack: {channel: C0123456789, token: \"xoxb-never-in-a-file\"}}]": "token",
		"remind: soon": "remind",
	} {
		_, err := ParseFlow("flow.yaml", []byte(plain+"notify:\n  "+block+"\n"))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want a word about %q", block, err, want)
		}
	}
}
