package definition

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"holdpoint/operation"
)

const minimalFlow = `flow: f
title: {en: F}
owner: {role: approver}
reviewer: {role: ops_owner}
reexecution: {approvers: {role: ops_owner}}
trigger: {source: s}
inputs:
  type: object
  required: [name]
  properties: {name: {type: string}, mail: {type: string, format: email}, n: {type: integer}, list: {type: array}}
stages:
  - key: one
    destination: d
    action: act
    content:
      text: ${inputs.name}
    approval: {approvers: {role: approver}}
`

func flow(t *testing.T, src string) *Flow {
	t.Helper()
	f, err := ParseFlow("f.yaml", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestParseFlow_Defaults(t *testing.T) {
	f := flow(t, minimalFlow)
	st := f.Stages[0]
	if f.Author.Role != operation.RoleAuthor || f.OnMissingData != MissingDraft || f.Due != operation.DefaultDue || f.Reexecution.Required != 1 {
		t.Errorf("%+v", f)
	}
	want := operation.Policy{Approvers: operation.Selector{Role: operation.RoleApprover}, Required: 1, SeparateAuthor: true, Due: operation.DefaultDue.Approve}
	if !reflect.DeepEqual(st.Approval, want) || st.MaxAttempts != DefaultAttempts || st.SatisfiedBy != SatisfiedConfirmed {
		t.Errorf("%+v", st)
	}
	if !f.Matches("s", "anything", "any") || f.Matches("other", "", "") {
		t.Error("the trigger matches wrongly")
	}
}

func TestParseFlow_Refuses(t *testing.T) {
	swap := func(old, new string) string { return strings.Replace(minimalFlow, old, new, 1) }
	for name, c := range map[string]struct{ src, want string }{
		"TwoStagesOneKey":     {minimalFlow + "  - {key: one, destination: d, action: a, content: {x: y}, approval: {approvers: {role: approver}}}\n", `f.yaml:18: stages[1].key: two stages have the key "one"`},
		"UnknownRole":         {swap("owner: {role: approver}", "owner: {role: boss}"), "f.yaml:3: owner.role"},
		"BadMail":             {swap("owner: {role: approver}", "owner: {role: approver, user: nobody}"), "f.yaml:3: owner.user"},
		"LateReminder":        {swap("approval: {approvers: {role: approver}}", "approval: {approvers: {role: approver}, due: 1h, remind: 2h}"), "comes too late"},
		"TwoApprovalsOfOne":   {swap("approval: {approvers: {role: approver}}", "approval: {approvers: {role: approver, user: a@b.test}, required: 2}"), "one named person"},
		"BadSchema":           {swap("required: [name]", "required: name"), "inputs: it is not a JSON Schema"},
		"SchemaFromElsewhere": {swap("required: [name]", `$ref: "https://example.test/x.json"`), "a schema may not refer to"},
		"SchemaFromFile":      {swap("required: [name]", `$ref: "file:///etc/passwd"`), "inputs: it is not a JSON Schema"},
		"BadDraft":            {swap("${inputs.name}", "{draft: {by: robot}}"), "a draft has by"},
		"AnswerInContent":     {swap("${inputs.name}", "${status}"), "undeclared reference"},
		"EnvInContent":        {swap("${inputs.name}", `${env("HOME")}`), "undeclared reference"},
		"ChecklistTwice":      {minimalFlow + "checklist_extra: [{key: cause, ask: {en: Why}}]\n", "already has an item"},
		"NoEnglish":           {swap("title: {en: F}", "title: {ja: F}"), "title.en: this field is missing"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ParseFlow("f.yaml", []byte(c.src))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}

func TestKey(t *testing.T) {
	ev := EventData{Source: "s", Account: "a", Topic: "t", Key: "k"}
	if k, err := flow(t, minimalFlow).Key(ev); err != nil || k != "s\x00a\x00t\x00k" {
		t.Errorf("%q, %v", k, err)
	}
	if _, err := flow(t, minimalFlow).Key(EventData{Source: "s"}); err == nil {
		t.Error("an event without a key has a run key")
	}
	f := flow(t, minimalFlow+"run_key: ${event.data.order}\n")
	for name, c := range map[string]struct {
		data any
		want string
	}{
		"Text":         {"A-1", "A-1"},
		"Number":       {json.Number("42"), "42"},
		"LongNumber":   {json.Number("9007199254740993"), "9007199254740993"},
		"LongerNumber": {json.Number("90071992547409931234567890"), "90071992547409931234567890"},
		"Null":         {nil, ""},
		"Empty":        {"", ""},
		"Blank":        {"  ", ""},
		"Object":       {map[string]any{"x": 1}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			k, err := f.Key(EventData{Data: map[string]any{"order": c.data}})
			if k != c.want || (err == nil) != (c.want != "") {
				t.Errorf("%q, %v; want %q", k, err, c.want)
			}
		})
	}
	if _, err := f.Key(EventData{}); err == nil {
		t.Error("a missing value gives a run key")
	}
	mixed := flow(t, minimalFlow+"run_key: \"order:${event.data.order}\"\n")
	if k, err := mixed.Key(EventData{Data: map[string]any{"order": ""}}); err == nil {
		t.Errorf("an empty value gives the shared run key %q", k)
	}
}

func TestDraft(t *testing.T) {
	f := flow(t, strings.Replace(minimalFlow, "      text: ${inputs.name}\n", `      text: ${inputs.name}
      n: ${inputs.n}
      big: ${inputs.list}
      greeting: "Dear ${inputs.name}, ${inputs.n}"
      optional: ${inputs.?gone}
      flag: true
      nested: {mail: "${inputs.mail}", list: ["${inputs.name}", "${inputs.gone}"], written: {draft: {by: model, brief: Short.}}}
      literal: "{key} {operation_id}"
`, 1))
	content, missing, err := f.Draft("one", EventData{}, map[string]any{
		"name": "Zoe\u0308", "n": json.Number("7"), "mail": "no mail", "list": []any{json.Number("9007199254740993"), 1.5, nil}})
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(content)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"big":["9007199254740993",1.5,null],"flag":true,"greeting":"Dear Zoë, 7","literal":"{key} {operation_id}","n":7,"nested":{"list":["Zoë"]},"text":"Zoë"}`
	if string(raw) != want {
		t.Errorf("content\n%s\n%s", raw, want)
	}
	if got := strings.Join(missing, " "); got != "nested.list[1] nested.mail nested.written" {
		t.Errorf("missing %s", got)
	}
	if d := f.Stages[0].Drafts; len(d) != 1 || d[0] != (DraftField{"nested.written", "model", "Short."}) {
		t.Errorf("drafts %v", d)
	}
	if _, _, err := f.Draft("two", EventData{}, nil); err == nil {
		t.Error("a stage that is not there was drafted")
	}
}

func TestCheckInputs(t *testing.T) {
	f := flow(t, minimalFlow)
	for name, c := range map[string]struct {
		in   map[string]any
		want string
	}{
		"Complete":  {map[string]any{"name": "x"}, ""},
		"Nothing":   {nil, "name"},
		"Empty":     {map[string]any{"name": " "}, "name"},
		"Null":      {map[string]any{"name": nil}, "name"},
		"WrongKind": {map[string]any{"name": json.Number("1"), "n": json.Number("1.5")}, "n name"},
		"WrongMail": {map[string]any{"name": "x", "mail": "a@b@c"}, "mail"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := f.CheckInputs(c.in)
			if err != nil || strings.Join(got, " ") != c.want {
				t.Errorf("%v, %v; want %s", got, err, c.want)
			}
		})
	}
}

func TestTakeInputs(t *testing.T) {
	f := flow(t, minimalFlow+`take: {name: "${event.data.customer.name}", n: "${event.data.gone}"}`)
	got := f.TakeInputs(EventData{Data: map[string]any{"customer": map[string]any{"name": "Kim"}}})
	if fmt.Sprint(got) != "map[name:Kim]" {
		t.Errorf("%v", got)
	}
}

func TestExpression_StopsWhenItCostsTooMuch(t *testing.T) {
	list := strings.Repeat("1,", 300) + "1"
	text := "[" + list + "].all(a, [" + list + "].all(b, [" + list + "].all(c, a + b + c > 0)))"
	e, err := compile(scopeAnswer, text)
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	_, err = e.holds(Context{}.variables(Answer{}))
	if err == nil || !strings.Contains(err.Error(), "cost limit") {
		t.Errorf("it ended with %v", err)
	}
	if d := time.Since(start); d > 2*time.Second {
		t.Errorf("it took %s", d)
	}
}

func TestExpression_NeverChangesAnIdentifier(t *testing.T) {
	vars := Context{}.variables(Answer{Body: []byte(`{"id":9007199254740993,"other":9007199254740992,"small":12,"price":19.90,"odd":0.1000000000000000000001}`)})
	for text, want := range map[string]any{
		`body.id`:                                "9007199254740993",
		`body.id == "9007199254740993"`:          true,
		`body.id == body.other`:                  false,
		`body.small == 12`:                       true,
		`body.small == 12.0`:                     true,
		`body.price`:                             19.9,
		`body.odd`:                               "0.1000000000000000000001",
		`body.?gone.orValue("x")`:                "x",
		`timestamp("2026-11-29T10:00:00+09:00")`: "2026-11-29T01:00:00Z",
		`duration("48h")`:                        "172800s",
	} {
		e, err := compile(scopeAnswer, text)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := e.value(vars); err != nil || got != want {
			t.Errorf("%s gives %v (%T), %v; want %v", text, got, got, err, want)
		}
	}
	for _, text := range []string{`9007199254740992 + 1`, `1.0 / 0.0`, `b"bytes"`, `{1: 2}`} {
		e, err := compile(scopeAnswer, text)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := e.value(vars); err == nil {
			t.Errorf("%s gives %v instead of an error", text, got)
		}
	}
	e, err := compile(scopeAnswer, `body.?gone`)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.value(vars); !errors.Is(err, errAbsent) {
		t.Errorf("an empty optional gives %v", err)
	}
}

func TestText(t *testing.T) {
	text := Text{"en": "E", "pl": "P"}
	for lang, want := range map[string]string{"pl": "P", "pl-PL": "P", "ja": "E", "": "E"} {
		if got := text.In(lang); got != want {
			t.Errorf("In(%q) is %q", lang, got)
		}
	}
	if got := (Text{"pl": "P", "ja": "J"}).In("de"); got != "J" {
		t.Errorf("without English: %q", got)
	}
	if got := (Text(nil)).In("en"); got != "" {
		t.Errorf("without text: %q", got)
	}
}

func TestSchema_ShipsWithTheProgram(t *testing.T) {
	for _, name := range []string{"flow", "profile", "source"} {
		raw, ok := Schema(name)
		if !ok || !json.Valid(raw) {
			t.Errorf("schema %s: %v", name, ok)
		}
		if _, err := compiled[name](); err != nil {
			t.Error(err)
		}
	}
	if _, ok := Schema("other"); ok {
		t.Error("there is a schema of nothing")
	}
}

// TestParseFlow_Reasons: a flow's own preset reasons are read with their words; codes that
// stand twice, that are no codes, and unknown decisions are named by file and line.
func TestParseFlow_Reasons(t *testing.T) {
	base, err := os.ReadFile("../../cmd/holdpoint/demo/flows/newsletter-coupon.yaml")
	if err != nil {
		t.Fatal(err)
	}
	with := func(reasons string) (*Flow, error) {
		return ParseFlow("f.yaml", []byte(strings.Replace(string(base), "approval: {", "approval: {reasons: "+reasons+", ", 1)))
	}
	f, err := with(`{reject: [{code: sold_out, text: {en: Sold out, pl: Wyprzedane}}]}`)
	if err != nil {
		t.Fatal(err)
	}
	got := f.Stages[0].Reasons[operation.Reject]
	if len(got) != 1 || got[0].Code != "sold_out" || got[0].Text.In("pl") != "Wyprzedane" || len(f.Stages[0].Reasons[operation.Approve]) != 0 {
		t.Errorf("reasons: %+v", f.Stages[0].Reasons)
	}
	for reasons, says := range map[string]string{
		`{reject: [{code: a, text: {en: A}}, {code: a, text: {en: B}}]}`: "two reasons have the code",
		`{reject: [{code: "Not a code", text: {en: A}}]}`:                "code",
		`{withdraw: [{code: a, text: {en: A}}]}`:                         "withdraw",
		`{reject: []}`:                                                   "reject",
		`{reject: [{code: a}]}`:                                          "text",
	} {
		if _, err := with(reasons); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", reasons, err)
		}
	}
}
