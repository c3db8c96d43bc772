package interrupt_test

import (
	"encoding/json"
	"strings"
	"testing"

	"holdpoint/operation/interrupt"
)

func value(t *testing.T, s string) any {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(s), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

const (
	inbox = `{"action_request":{"action":"send_email","args":{"to":"a@example.test","n":1}},
		"config":{"allow_accept":true,"allow_edit":true,"allow_respond":true,"allow_ignore":true},"description":"Send **this**"}`
	editOnly  = `{"action_request":{"action":"send_email","args":{"to":"a"}},"config":{"allow_edit":true}}`
	langchain = `{"actionRequests":[{"name":"send_email","args":{"to":"a"},"description":"d"},{"name":"delete","args":{}}],
		"reviewConfigs":[{"actionName":"send_email","allowedDecisions":["approve","edit","reject"]},{"actionName":"delete","allowedDecisions":["approve","reject"]}]}`
	snake = `{"action_requests":[{"name":"send_email","args":{"to":"a"}}],
		"review_configs":[{"action_name":"send_email","allowed_decisions":["edit"]}]}`
	noConfig = `{"actionRequests":[{"name":"send_email","args":{}}]}`
)

func one(v string) string { return `[{"id":"i1","value":` + v + `}]` }

// TestDraftedAnswersAreAccepted: what is drafted is what the forms call an approval.
func TestDraftedAnswersAreAccepted(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ in, want string }{
		"inbox":         {one(inbox), `{"i1":[{"type":"accept","args":{"action":"send_email","args":{"to":"a@example.test","n":1}}}]}`},
		"inbox list":    {one(`[` + inbox + `,` + inbox + `]`), `{"i1":[{"type":"accept","args":{"action":"send_email","args":{"to":"a@example.test","n":1}}},{"type":"accept","args":{"action":"send_email","args":{"to":"a@example.test","n":1}}}]}`},
		"edit only":     {one(editOnly), `{"i1":[{"type":"edit","args":{"action":"send_email","args":{"to":"a"}}}]}`},
		"langchain":     {one(langchain), `{"i1":{"decisions":[{"type":"approve"},{"type":"approve"}]}}`},
		"snake":         {one(snake), `{"i1":{"decisions":[{"type":"edit","edited_action":{"name":"send_email","args":{"to":"a"}}}]}}`},
		"two at once":   {`[{"id":"i1","value":` + editOnly + `},{"id":"i2","value":` + langchain + `}]`, `{"i1":[{"type":"edit","args":{"action":"send_email","args":{"to":"a"}}}],"i2":{"decisions":[{"type":"approve"},{"type":"approve"}]}}`},
		"two the same ": {`[{"id":"i1","value":` + snake + `},{"id":"i2","value":` + snake + `}]`, `{"i1":{"decisions":[{"type":"edit","edited_action":{"name":"send_email","args":{"to":"a"}}}]},"i2":{"decisions":[{"type":"edit","edited_action":{"name":"send_email","args":{"to":"a"}}}]}}`},
	} {
		rs, err := interrupt.Read(value(t, c.in))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got, err := interrupt.Resume(rs, interrupt.Answers(rs))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if raw, _ := json.Marshal(got); !equal(t, string(raw), c.want) {
			t.Errorf("%s: %s", name, raw)
		}
	}
}

func equal(t *testing.T, a, b string) bool {
	t.Helper()
	ra, _ := json.Marshal(value(t, a))
	rb, _ := json.Marshal(value(t, b))
	return string(ra) == string(rb)
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	const (
		toB = `"interrupt":"i1","action":"send_email","args":{"to":"b"}`
		toA = `"interrupt":"i1","action":"send_email","args":{"to":"a"}`
		del = `{"interrupt":"i1","action":"delete","decision":"approve","args":{}}`
		big = `"interrupt":"i1","action":"send_email","args":{"to":"a@example.test","n":1.0}`
	)
	for name, c := range map[string]struct{ in, answers, want, fault string }{
		"edit":             {in: langchain, answers: `[{` + toB + `,"decision":"approve"},` + del + `]`, want: `{"i1":{"decisions":[{"type":"edit","editedAction":{"name":"send_email","args":{"to":"b"}}},{"type":"approve"}]}}`},
		"reject":           {in: langchain, answers: `[{` + toA + `,"decision":"reject","message":"no"},` + del + `]`, want: `{"i1":{"decisions":[{"type":"reject","message":"no"},{"type":"approve"}]}}`},
		"reject, no words": {in: langchain, answers: `[{` + toA + `,"decision":"reject"},` + del + `]`, want: `{"i1":{"decisions":[{"type":"reject"},{"type":"approve"}]}}`},
		"ignore":           {in: inbox, answers: `[{` + big + `,"decision":"ignore"}]`, want: `{"i1":[{"type":"ignore","args":null}]}`},
		"respond":          {in: inbox, answers: `[{` + big + `,"decision":"respond","message":"later"}]`, want: `{"i1":[{"type":"response","args":"later"}]}`},
		"free":             {in: `"Which customer?"`, answers: `[{"interrupt":"i1","decision":"respond","message":"c-7"}]`, want: `{"i1":"c-7"}`},
		"free object":      {in: `{"q":1}`, answers: `[{"interrupt":"i1","decision":"respond","message":"x"}]`, want: `{"i1":"x"}`},

		"no config":             {in: noConfig, answers: `[{"interrupt":"i1","action":"send_email","args":{},"decision":"approve"}]`, fault: "does not take"},
		"not allowed":           {in: langchain, answers: `[{` + toA + `,"decision":"ignore"},` + del + `]`, fault: "does not take"},
		"reject in an inbox":    {in: inbox, answers: `[{` + big + `,"decision":"reject"}]`, fault: "does not take"},
		"changed, not allowed":  {in: langchain, answers: `[{` + toA + `,"decision":"approve"},{"interrupt":"i1","action":"delete","decision":"approve","args":{"all":true}}]`, fault: "may not be changed"},
		"changed and rejected":  {in: langchain, answers: `[{` + toB + `,"decision":"reject"},` + del + `]`, fault: "may not be changed"},
		"no words":              {in: inbox, answers: `[{` + big + `,"decision":"respond"}]`, fault: "no words"},
		"free without words":    {in: `"?"`, answers: `[{"interrupt":"i1","decision":"respond"}]`, fault: "no words"},
		"words that are lost":   {in: langchain, answers: `[{` + toA + `,"decision":"approve","message":"but"},` + del + `]`, fault: "no message"},
		"one too few":           {in: langchain, answers: `[{` + toA + `,"decision":"approve"}]`, fault: "missing"},
		"one too many":          {in: langchain, answers: `[{` + toA + `,"decision":"approve"},` + del + `,` + del + `]`, fault: "more answers"},
		"another order":         {in: langchain, answers: `[` + del + `,{` + toA + `,"decision":"approve"}]`, fault: "another place"},
		"another interrupt":     {in: inbox, answers: `[{"interrupt":"i2","action":"send_email","decision":"approve","args":{}}]`, fault: "another place"},
		"a member too many":     {in: inbox, answers: `[{` + big + `,"decision":"approve","type":"edit"}]`, fault: "no member"},
		"arguments of no shape": {in: inbox, answers: `[{"interrupt":"i1","action":"send_email","args":"x","decision":"approve"}]`, fault: "no object"},
		"no list":               {in: inbox, answers: `{}`, fault: "no list"},
		"no object":             {in: inbox, answers: `["approve"]`, fault: "no object"},
	} {
		rs, err := interrupt.Read(value(t, one(c.in)))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got, err := interrupt.Resume(rs, value(t, c.answers))
		if c.fault != "" {
			if err == nil || !strings.Contains(err.Error(), c.fault) {
				t.Errorf("%s: %v, %v; want a fault with %q", name, got, err, c.fault)
			}
			continue
		}
		if raw, _ := json.Marshal(got); err != nil || !equal(t, string(raw), c.want) {
			t.Errorf("%s: %s, %v", name, raw, err)
		}
	}
}

// TestHalfUnderstoodIsRefused: a form that is named but not kept to is never answered.
func TestHalfUnderstoodIsRefused(t *testing.T) {
	t.Parallel()
	for name, in := range map[string]string{
		"no list":        `{}`,
		"empty":          `[]`,
		"no id":          `[{"value":1}]`,
		"no value":       `[{"id":"i1"}]`,
		"the same twice": `[{"id":"i1","value":1},{"id":"i1","value":2}]`,
		"no action":      one(`{"action_request":{"args":{}}}`),
		"args as text":   one(`{"action_request":{"action":"x","args":"y"}}`),
		"no requests":    one(`{"actionRequests":[],"reviewConfigs":[]}`),
		"nameless":       one(`{"actionRequests":[{"args":{}}]}`),
		"null requests":  one(`{"action_requests":null}`),
	} {
		if rs, err := interrupt.Read(value(t, in)); err == nil {
			t.Errorf("%s: read as %+v", name, rs)
		}
	}
}

func TestWhatPeopleSee(t *testing.T) {
	t.Parallel()
	rs, err := interrupt.Read(value(t, `[{"id":"i1","value":`+inbox+`},{"id":"i2","value":"Who?"}]`))
	if err != nil {
		t.Fatal(err)
	}
	a := rs[0].Actions[0]
	if rs[0].Form != interrupt.Inbox || a.Name != "send_email" || a.Description != "Send **this**" || !a.Edit || len(a.Allowed) != 3 {
		t.Errorf("%+v", rs[0])
	}
	if q := rs[1].Actions[0]; rs[1].Form != interrupt.Free || q.Args != "Who?" || q.Edit {
		t.Errorf("%+v", rs[1])
	}
	drafted := interrupt.Answers(rs)
	if free, _ := drafted[1].(map[string]any); free["message"] != nil || free["decision"] != "respond" {
		t.Errorf("drafted %+v", drafted)
	}
}
