package definition

import (
	"errors"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"holdpoint/operation"
)

func langgraph(t *testing.T) (*Flow, *Profile, *Source) {
	t.Helper()
	p, err := ParseProfile("langgraph.yaml", read(t, "../../systems/profiles/langgraph.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := ParseSource("langgraph.yaml", read(t, "../../systems/sources/langgraph.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile("../../docs/examples/langgraph/server/graph-answer.yaml")
	if err != nil {
		t.Fatal(err)
	}
	f, err := ParseFlow("graph-answer.yaml", raw)
	if err != nil {
		t.Fatal(err)
	}
	return f, p, s
}

func pause(value string) map[string]any {
	v, _ := DecodeJSON([]byte(`{"thread_id":"t-1","checkpoint_id":"cp-1","assistant_id":"campaign","interrupts":[{"id":"i1","value":` + value + `}]}`))
	return v.(map[string]any)
}

const asksForMail = `{"action_request":{"action":"send_email","args":{"to":"a@example.test","n":1}},"config":{"allow_accept":true,"allow_edit":false,"allow_respond":true},"description":"Send it"}`

// TestInterruptBecomesTheResume: what the graph asks becomes a draft whose request holds
// exactly the approved answer, addressed by the interrupt's id.
func TestInterruptBecomesTheResume(t *testing.T) {
	t.Parallel()
	f, p, s := langgraph(t)
	n, err := s.Read(http.Header{}, pause(asksForMail))
	if err != nil || n.Event.Key != "t-1 cp-1 i1" || n.Event.Topic != "interrupt" {
		t.Fatalf("%+v %v", n, err)
	}
	content, missing, err := f.Draft("answer", n.Event, f.TakeInputs(n.Event))
	if err != nil || len(missing) > 0 {
		t.Fatalf("missing %v, %v", missing, err)
	}
	a, err := p.Action("resume")
	if err != nil {
		t.Fatal(err)
	}
	env := func(string) (string, bool) { return "https://graphs.example.test", true }
	body := func(content map[string]any) (string, error) {
		tpl, err := a.Render(content, env, time.Now())
		return tpl.Request.Body, err
	}
	got, err := body(content)
	want := `"command":{"resume":{"i1":[{"args":{"action":"send_email","args":{"n":1,"to":"a@example.test"}},"type":"accept"}]}}`
	if err != nil || !strings.Contains(got, want) || !strings.Contains(got, `"multitask_strategy":"reject"`) {
		t.Errorf("%s %v", got, err)
	}
	answer := content["answers"].([]any)[0].(map[string]any)
	answer["args"] = map[string]any{"to": "b@example.test", "n": int64(1)}
	if got, err := body(content); err == nil {
		t.Errorf("an edit that the graph does not take was rendered: %s", got)
	} else if of := (*ContentError)(nil); !errors.As(err, &of) || !slices.Contains(of.Fields, "answers") {
		t.Errorf("the fault does not name the answers: %v", err)
	}
}

// TestUnreadableInterruptIsADraft: a question in free form waits for words, a form that is
// half kept for somebody who understands it.
func TestUnreadableInterruptIsADraft(t *testing.T) {
	t.Parallel()
	f, _, _ := langgraph(t)
	data := pause(`{"action_request":{"action":"send_email"}}`)
	content, missing, err := f.Draft("answer", EventData{Key: "k", Data: data}, data)
	if err != nil || !slices.Equal(missing, []string{"answers"}) || content["answers"] != nil {
		t.Errorf("%v missing %v %v", content, missing, err)
	}
}

// TestResumeIsNotBelieved: an accepted run proves nothing; a checkpoint of ours right after
// the pause does.
func TestResumeIsNotBelieved(t *testing.T) {
	t.Parallel()
	_, p, _ := langgraph(t)
	a, err := p.Action("resume")
	if err != nil {
		t.Fatal(err)
	}
	in := Context{Content: map[string]any{"thread": "t-1", "checkpoint": "cp-1"}, OperationID: "op_1", DispatchedAt: time.Now()}
	for name, c := range map[string]struct {
		status int
		body   string
		want   operation.Outcome
		code   string
	}{
		"accepted":       {200, `{"run_id":"r","status":"pending"}`, operation.OutcomeUnknown, ""},
		"said success":   {200, `{"run_id":"r","status":"success"}`, operation.OutcomeUnknown, ""},
		"busy":           {422, `Thread is already running a task. Wait for it to finish or choose a different multitask strategy.`, operation.OutcomeNotStarted, "thread_busy"},
		"422 of another": {422, `{"detail":[{"msg":"field required"}]}`, operation.OutcomeUnknown, ""},
		"no assistant":   {404, `No assistant found`, operation.OutcomeNotStarted, "not_found"},
		"broken":         {500, `oops`, operation.OutcomeUnknown, ""},
	} {
		r := a.Classify(in, Answer{Status: c.status, Body: []byte(c.body)})
		if r.Outcome != c.want || c.code != "" && r.Proof.Code != c.code {
			t.Errorf("%s: %+v", name, r)
		}
	}
	for name, c := range map[string]struct {
		body string
		want operation.LookupResult
	}{
		"went on":             {`[{"metadata":{"operation_id":"op_1","run_id":"r2"},"parent_checkpoint":{"checkpoint_id":"cp-2"}},{"metadata":{"operation_id":"op_1","run_id":"r2"},"parent_checkpoint":{"checkpoint_id":"cp-1"}}]`, operation.LookupOne},
		"nothing of ours":     {`[]`, operation.LookupNone},
		"filter not obeyed":   {`[{"metadata":{"run_id":"r1"},"parent_checkpoint":{"checkpoint_id":"cp-1"}},{"metadata":{},"parent_checkpoint":null}]`, operation.LookupNone},
		"from somewhere else": {`[{"metadata":{"operation_id":"op_1","run_id":"r2"},"parent_checkpoint":{"checkpoint_id":"cp-0"}}]`, operation.LookupNone},
		"no list":             {`{"detail":"not found"}`, operation.LookupUnreachable},
	} {
		l := a.ReadLookup(in, Answer{Status: 200, Body: []byte(c.body)})
		if l.Result != c.want || c.want == operation.LookupOne && l.ID != "r2" {
			t.Errorf("%s: %+v", name, l)
		}
	}
}
