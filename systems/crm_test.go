package systems_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"holdpoint/connector/connectortest"
	"holdpoint/operation"
	"holdpoint/operation/definition"
)

// An upsert that updates was ours before: it is looked up, and confirmed by what is there.
func TestUpsertOfWhatAnEarlierAttemptMade(t *testing.T) {
	t.Parallel()
	for name, h := range map[string]connectortest.Harness{"hubspot": hubspot(t, "task"), "salesforce": salesforce(t)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			box := connectortest.StartSandbox(t)
			c := h.Connect(t, box.URL, nil)
			o := h.Order(t, box.URL)
			box.Fault(t, connectortest.Fault{Destination: name, Fault: "drop_after_execute"})
			if r := act(c, o); r.Outcome != unknown {
				t.Fatalf("%+v", r)
			}
			if r := act(c, o); r.Outcome != unknown || !r.Lookup || r.TargetReference != "" {
				t.Errorf("the second made nothing, and says so: %+v", r)
			}
			f := look(c, o)
			if f.Result != operation.LookupOne || f.ID != box.Ledger(t, name, connectortest.Reference(o))[0].ID || effects(t, box, h, o) != 1 {
				t.Errorf("lookup %+v", f)
			}
		})
	}
}

// An upsert overwrites: what somebody changed meanwhile comes to light, and a repeat
// needs a lookup that found nothing.
func TestUpsertOverwrites(t *testing.T) {
	t.Parallel()
	for name, h := range map[string]connectortest.Harness{"hubspot": hubspot(t, "task"), "salesforce": salesforce(t)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			box := connectortest.StartSandbox(t)
			c := h.Connect(t, box.URL, nil)
			o := h.Order(t, box.URL)
			act(c, o)
			changed := o
			changed.Request.Body = strings.Replace(o.Request.Body, "Call customer", "Do not call customer", 1)
			act(c, changed)
			if f := look(c, o); f.Result != operation.LookupMismatch || f.ID == "" {
				t.Errorf("a changed task was taken for what was sent: %+v", f)
			}
			a, err := h.Profile.Action(h.Action)
			if err != nil {
				t.Fatal(err)
			}
			if p := a.Protection(); !p.Overwrites || p.Key || p.Proven || !p.HasLookup {
				t.Errorf("%+v", p)
			}
			if n := effects(t, box, h, o); n != 1 {
				t.Errorf("%d effects", n)
			}
		})
	}
}

// Salesforce's answers to an update, by its version: 200 with a body, 204 without.
func TestSalesforce204AndSeveral(t *testing.T) {
	t.Parallel()
	h := salesforce(t)
	box := connectortest.StartSandbox(t)
	c := h.Connect(t, box.URL, nil)

	o := h.Order(t, box.URL)
	act(c, o)
	old := o
	old.Request.URL = strings.Replace(o.Request.URL, "v68.0", "v45.0", 1)
	if r := act(c, old); r.Outcome != unknown || !r.Lookup || r.Proof.Status != http.StatusNoContent {
		t.Errorf("204: %+v", r)
	}
	if f := look(c, o); f.Result != operation.LookupOne {
		t.Errorf("after a 204: %+v", f)
	}

	o = h.Order(t, box.URL)
	box.Fault(t, connectortest.Fault{Destination: "salesforce", Fault: "ignore_idempotency", Times: 2})
	act(c, o)
	act(c, o)
	if r := act(c, o); r.Outcome != unknown || r.Proof.Status != http.StatusMultipleChoices {
		t.Errorf("300: %+v", r)
	}
	if f := look(c, o); f.Result != operation.LookupMany || len(f.Found) != 2 || effects(t, box, h, o) != 2 {
		t.Errorf("several: %+v", f)
	}
	if f := look(c, h.Order(t, box.URL)); f.Result != operation.LookupNone {
		t.Errorf("never sent: %+v", f)
	}
}

func TestSalesforceErrorsAreLists(t *testing.T) {
	t.Parallel()
	h := salesforce(t)
	box := connectortest.StartSandbox(t)
	c := h.Connect(t, box.URL, nil)
	for code, w := range map[string]struct {
		status    int
		want      operation.Outcome
		permanent bool
	}{
		"INVALID_FIELD":           {400, notStarted, true},
		"REQUIRED_FIELD_MISSING":  {400, notStarted, true},
		"NOT_FOUND":               {404, notStarted, true},
		"INVALID_SESSION_ID":      {401, notStarted, true},
		"REQUEST_LIMIT_EXCEEDED":  {403, notStarted, false},
		"UNABLE_TO_LOCK_ROW":      {400, unknown, false},
		"DUPLICATE_VALUE":         {400, unknown, false},
		"SERVER_UNAVAILABLE":      {503, unknown, false},
		"UNKNOWN_EXCEPTION":       {500, unknown, false},
		"INSUFFICIENT_ACCESS":     {403, notStarted, true},
		"SOMETHING_THAT_IS_A_409": {409, unknown, false},
		"PRECONDITION_FAILED":     {412, unknown, false},
	} {
		box.Fault(t, connectortest.Fault{Destination: "salesforce", Fault: "status_before_execute", Status: w.status, Body: `[{"errorCode":"` + code + `","message":"x"}]`})
		if r := act(c, h.Order(t, box.URL)); r.Outcome != w.want || r.Permanent != w.permanent {
			t.Errorf("%s: %+v", code, r)
		}
	}
}

// HubSpot's partial answers: an input that was refused made nothing, anything else is
// not known.
func TestHubSpotPartialAnswers(t *testing.T) {
	t.Parallel()
	h := hubspot(t, "task")
	box := connectortest.StartSandbox(t)
	c := h.Connect(t, box.URL, nil)
	for name, w := range map[string]struct {
		status int
		body   string
		want   operation.Outcome
	}{
		"refused":          {207, `{"status":"COMPLETE","results":[],"numErrors":1,"errors":[{"status":"error","category":"VALIDATION_ERROR","message":"x"}]}`, notStarted},
		"other category":   {207, `{"status":"COMPLETE","results":[],"numErrors":1,"errors":[{"status":"error","category":"OBJECT_ALREADY_EXISTS","message":"x"}]}`, unknown},
		"partly done":      {207, `{"status":"COMPLETE","results":[{"id":"1","new":true}],"numErrors":1,"errors":[{"status":"error","category":"VALIDATION_ERROR"}]}`, unknown},
		"still at work":    {200, `{"status":"PROCESSING","results":[]}`, unknown},
		"migration":        {477, `{"status":"error","category":"MIGRATION"}`, unknown},
		"locked":           {423, `{"status":"error","category":"LOCKED"}`, notStarted},
		"gateway":          {504, `x`, unknown},
		"someone else's":   {200, `{"status":"COMPLETE","results":[{"id":"1","new":true,"properties":{"holdpoint_operation_id":"op_other"}}]}`, unknown},
		"not even HubSpot": {400, `Bad Request`, unknown},
	} {
		o := h.Order(t, box.URL)
		fault := connectortest.Fault{Destination: "hubspot", Fault: "status_before_execute", Status: w.status, Body: w.body}
		box.Fault(t, fault)
		if r := act(c, o); r.Outcome != w.want {
			t.Errorf("%s: %+v", name, r)
		}
	}
	if n := len(box.Ledger(t, "hubspot", "")); n != 0 {
		t.Errorf("%d effects", n)
	}
}

// A second create with our unique value is refused and leads to the first.
func TestHubSpotUniquePropertyRefusesASecondTask(t *testing.T) {
	t.Parallel()
	h := hubspot(t, "task_for_contact")
	box := connectortest.StartSandbox(t)
	c := h.Connect(t, box.URL, nil)
	o := h.Order(t, box.URL)
	box.Fault(t, connectortest.Fault{Destination: "hubspot", Fault: "status_after_execute", Status: 504})
	act(c, o)
	if r := act(c, o); r.Outcome != unknown || !r.Lookup {
		t.Errorf("refused: %+v", r)
	}
	if f := look(c, o); f.Result != operation.LookupOne || effects(t, box, h, o) != 1 {
		t.Errorf("lookup %+v", f)
	}
	got := box.Ledger(t, "hubspot", connectortest.Reference(o))[0].Fields["associations"]
	if raw, err := json.Marshal(got); err != nil || !strings.Contains(string(raw), `"associationTypeId":204`) {
		t.Errorf("associations %s", raw)
	}
}

// Without the unique property two requests are two tasks; the search finds them only
// once its index has caught up.
func TestHubSpotPlainTaskHasNoProtection(t *testing.T) {
	t.Parallel()
	h := hubspot(t, "task_plain")
	h.Prepare = nil // the index lags as it does
	box := connectortest.StartSandbox(t)
	c := h.Connect(t, box.URL, nil)
	o := h.Order(t, box.URL)
	act(c, o)
	if f := look(c, o); f.Result != operation.LookupNone {
		t.Errorf("before the index has it: %+v", f)
	}
	a, err := h.Profile.Action(h.Action)
	if err != nil {
		t.Fatal(err)
	}
	if p := a.Protection(); p.Key || a.Unique != "" || a.Authoritative || p.LookupLag == 0 {
		t.Errorf("%+v", p)
	}
	act(c, o)
	box.Advance(t, 11e9)
	if f := look(c, o); f.Result != operation.LookupMany || effects(t, box, h, o) != 2 {
		t.Errorf("lookup %+v", f)
	}
}

// The worked example of the documentation is the file that ships, and it works.
func TestGenericExampleIsTheFile(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join("..", "docs", "systems", "generic-http.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(raw), "```yaml\n")
	example, _, ended := strings.Cut(rest, "```")
	if !found || !ended || example != string(profile(t, "generic")) {
		t.Error("docs/systems/generic-http.md does not show systems/profiles/generic.yaml")
	}
	if _, err := definition.ParseProfile("generic.yaml", []byte(example)); err != nil {
		t.Error(err)
	}
	lines := 0
	for _, line := range strings.Split(example, "\n") {
		if s := strings.TrimSpace(line); s != "" && !strings.HasPrefix(s, "#") {
			lines++
		}
	}
	if lines > 40 {
		t.Errorf("the example promises 40 lines and has %d", lines)
	}
}
