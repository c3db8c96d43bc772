//go:build peers

package graphs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"holdpoint/operation"
)

// serverDir is where the LangGraph server for development and its graphs are installed.
const serverDir = "HOLDPOINT_LANGGRAPH"

// graphServer is a running LangGraph server.
type graphServer struct{ url string }

func startGraphServer(t *testing.T) graphServer {
	t.Helper()
	dir := os.Getenv(serverDir)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	_ = l.Close()
	var log bytes.Buffer
	cmd := exec.Command("node", filepath.Join(dir, "node_modules/.bin/langgraphjs"), "dev", "--port", fmt.Sprint(port), "--host", "127.0.0.1", "--no-browser", "--no-reload")
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &log, &log
	cmd.Env = append(os.Environ(), "LANGSMITH_TRACING=false", "LANGCHAIN_TRACING_V2=false")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("the LangGraph server wrote:\n%s", tail(log.String(), 3000))
		}
	})
	s := graphServer{fmt.Sprintf("http://127.0.0.1:%d", port)}
	until(t, "the LangGraph server", 90*time.Second, func() bool {
		resp, err := http.Get(s.url + "/ok")
		if err == nil {
			resp.Body.Close()
		}
		return err == nil && resp.StatusCode == http.StatusOK
	})
	return s
}

func tail(s string, n int) string { return s[max(len(s)-n, 0):] }

func until(t *testing.T, what string, limit time.Duration, reached func() bool) {
	t.Helper()
	for end := time.Now().Add(limit); !reached(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited in vain: %s", what)
		}
	}
}

// call makes one call and gives status and body.
func call(t *testing.T, method, url, token string, in any) (int, []byte) {
	t.Helper()
	raw, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), method, url, bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, body
}

func read[T any](t *testing.T, status int, raw []byte) (out T) {
	t.Helper()
	if status/100 != 2 {
		t.Fatalf("%d %s", status, raw)
	}
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatalf("%v: %s", err, raw)
	}
	return out
}

func (s graphServer) ask(t *testing.T, method, path string, in any) (int, []byte) {
	return call(t, method, s.url+path, "", in)
}

// state is a thread's state as the server tells it.
type state struct {
	Values struct {
		Answer any     `json:"answer"`
		Ran    float64 `json:"ran"`
	} `json:"values"`
	Next       []string `json:"next"`
	Checkpoint struct {
		ThreadID     string `json:"thread_id"`
		CheckpointID string `json:"checkpoint_id"`
	} `json:"checkpoint"`
	Tasks []struct {
		Interrupts []struct {
			ID    string `json:"id"`
			Value any    `json:"value"`
		} `json:"interrupts"`
	} `json:"tasks"`
	Metadata struct {
		OperationID string `json:"operation_id"`
	} `json:"metadata"`
}

func (s graphServer) state(t *testing.T, thread string) state {
	status, raw := s.ask(t, "GET", "/threads/"+thread+"/state", nil)
	return read[state](t, status, raw)
}

// paused starts a thread and waits for its pause; webhook may be "".
func (s graphServer) paused(t *testing.T, graph, webhook string) (thread string, event map[string]any) {
	t.Helper()
	status, raw := s.ask(t, "POST", "/threads", map[string]any{})
	thread = read[struct {
		ID string `json:"thread_id"`
	}](t, status, raw).ID
	run := map[string]any{"assistant_id": graph, "input": map[string]any{}}
	if webhook != "" {
		run["webhook"] = webhook
	}
	if status, raw := s.ask(t, "POST", "/threads/"+thread+"/runs", run); status != http.StatusOK {
		t.Fatalf("%d %s", status, raw)
	}
	var at state
	until(t, "the pause", 20*time.Second, func() bool {
		at = s.state(t, thread)
		return len(at.Tasks) == 1 && len(at.Tasks[0].Interrupts) == 1 && s.status(t, thread) == "interrupted"
	})
	status, raw = s.ask(t, "GET", "/threads/"+thread, nil)
	assistant := read[struct {
		Metadata struct {
			ID string `json:"assistant_id"`
		}
	}](t, status, raw).Metadata.ID
	return thread, map[string]any{"thread_id": thread, "checkpoint_id": at.Checkpoint.CheckpointID, "assistant_id": assistant, "interrupts": at.Tasks[0].Interrupts}
}

func (s graphServer) status(t *testing.T, thread string) string {
	status, raw := s.ask(t, "GET", "/threads/"+thread, nil)
	return read[struct{ Status string }](t, status, raw).Status
}

// newGraphWorld is a world whose definitions answer a LangGraph server.
func newGraphWorld(t *testing.T) (*world, graphServer) {
	s := startGraphServer(t)
	t.Setenv("LANGGRAPH_URL", s.url)
	t.Setenv("LANGGRAPH_API_KEY", "none")
	files := exampleFiles(t, "systems/profiles/langgraph.yaml", "systems/sources/langgraph.yaml", "docs/examples/langgraph/server/*.yaml")
	files[0].Source = []byte(strings.Replace(string(files[0].Source), "base_url:", "local: true\nbase_url:", 1))
	files[0].Name, files[1].Name = "profile-langgraph.yaml", "source-langgraph.yaml"
	return newWorld(t, files...), s
}

type receipt struct {
	Verdict    string
	Operations []operation.ID
}

func (w *world) event(t *testing.T, event map[string]any) receipt {
	t.Helper()
	status, raw := call(t, "POST", w.url+"/api/v1/events?source=langgraph", w.token, event)
	return read[receipt](t, status, raw)
}

func (w *world) approve(t *testing.T, id operation.ID) {
	t.Helper()
	if err := w.decide(t.Context(), id, operation.Approve); err != nil {
		t.Fatal(err)
	}
}

func (w *world) reaches(t *testing.T, id operation.ID, want operation.State) {
	t.Helper()
	until(t, fmt.Sprintf("%s is %s, it is %s", id, want, w.State(t, id)), 40*time.Second, func() bool { return w.State(t, id) == want })
}

func jsonOf(v any) string { raw, _ := json.Marshal(v); return string(raw) }

// TestServerResume: the profile's resume and lookup against the real server.
func TestServerResume(t *testing.T) {
	w, s := newGraphWorld(t)
	t.Run("approved", func(t *testing.T) { approvedAnswer(t, w, s) })
	t.Run("edited", func(t *testing.T) { editedAnswer(t, w, s) })
	t.Run("lost answer", func(t *testing.T) { lostAnswer(t, w, s) })
	t.Run("webhook", func(t *testing.T) { webhookIsNotBelieved(t, w, s) })
	t.Run("answered by another", func(t *testing.T) { answeredByAnother(t, w, s) })
	t.Run("rejected", func(t *testing.T) { rejectionReachesTheGraph(t, w, s) })
}

func approvedAnswer(t *testing.T, w *world, s graphServer) {
	thread, event := s.paused(t, "inbox", "")
	first, again := w.event(t, event), w.event(t, event)
	if first.Verdict != "accepted" || again.Verdict != "repeated" || len(again.Operations) != 1 || again.Operations[0] != first.Operations[0] {
		t.Fatalf("%+v, then %+v", first, again)
	}
	id := first.Operations[0]
	w.approve(t, id)
	w.reaches(t, id, operation.Confirmed)
	at := s.state(t, thread)
	want := `[{"args":{"action":"send_email","args":{"subject":"Your kettle","to":"ann@example.test"}},"type":"accept"}]`
	if at.Values.Ran != 1 || jsonOf(at.Values.Answer) != want || at.Metadata.OperationID != string(id) {
		t.Errorf("the graph went on with %s, ran %v, by %s", jsonOf(at.Values.Answer), at.Values.Ran, at.Metadata.OperationID)
	}
}

func editedAnswer(t *testing.T, w *world, s graphServer) {
	thread, event := s.paused(t, "middleware", "")
	id := w.event(t, event).Operations[0]
	status, raw := call(t, "GET", w.url+"/api/v1/operations/"+string(id), w.token, nil)
	content := read[struct {
		Version struct{ Content map[string]any }
	}](t, status, raw).Version.Content
	answers := content["answers"].([]any)
	answers[0].(map[string]any)["args"] = map[string]any{"to": "bob@example.test"}
	answers[1].(map[string]any)["decision"], answers[1].(map[string]any)["message"] = "reject", "keep it"
	if status, raw := call(t, "POST", w.url+"/api/v1/operations/"+string(id)+"/versions", w.token, map[string]any{"content": content}); status != http.StatusOK {
		t.Fatalf("%d %s", status, raw)
	}
	w.approve(t, id)
	w.reaches(t, id, operation.Confirmed)
	want := `{"decisions":[{"editedAction":{"args":{"to":"bob@example.test"},"name":"send_email"},"type":"edit"},{"message":"keep it","type":"reject"}]}`
	if at := s.state(t, thread); jsonOf(at.Values.Answer) != want || at.Values.Ran != 1 {
		t.Errorf("the graph went on with %s", jsonOf(at.Values.Answer))
	}
	// What the graph does not take cannot be put up for approval at all.
	_, event = s.paused(t, "middleware", "")
	id = w.event(t, event).Operations[0]
	answers[1].(map[string]any)["decision"] = "respond"
	if status, raw := call(t, "POST", w.url+"/api/v1/operations/"+string(id)+"/versions", w.token, map[string]any{"content": map[string]any{
		"thread": event["thread_id"], "checkpoint": event["checkpoint_id"], "assistant": event["assistant_id"], "interrupts": event["interrupts"], "answers": answers}}); status != http.StatusUnprocessableEntity {
		t.Errorf("an answer that the graph does not take: %d %s", status, raw)
	}
}

// lostAnswer: the server has the resume, its answer is lost on the way; the checkpoint of
// our run proves it, and nothing is sent again.
func lostAnswer(t *testing.T, w *world, s graphServer) {
	thread, event := s.paused(t, "slow", "")
	runs := func() int {
		status, raw := s.ask(t, "GET", "/threads/"+thread+"/runs", nil)
		return len(read[[]any](t, status, raw))
	}
	before := runs()
	target := strings.TrimPrefix(s.url, "http://")
	cut := newCutter(t, target)
	t.Setenv("LANGGRAPH_URL", "http://"+cut.addr)
	id := w.event(t, event).Operations[0]
	t.Setenv("LANGGRAPH_URL", s.url)
	w.approve(t, id)
	w.reaches(t, id, operation.Confirmed)
	if cut.sent() != 1 || runs() != before+1 {
		t.Errorf("%d resumes were sent, the server has %d new runs", cut.sent(), runs()-before)
	}
	until(t, "the graph's end", 20*time.Second, func() bool { return s.state(t, thread).Values.Ran == 1 })
}

// webhookIsNotBelieved: the server says "success" of a run that only paused.
func webhookIsNotBelieved(t *testing.T, w *world, s graphServer) {
	said := make(chan []byte, 1)
	hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		said <- raw
	}))
	defer hook.Close()
	thread, event := s.paused(t, "inbox", hook.URL)
	id := w.event(t, event).Operations[0]
	var body map[string]any
	select {
	case raw := <-said:
		if err := json.Unmarshal(raw, &body); err != nil {
			t.Fatal(err)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("no webhook")
	}
	if body["status"] != "success" || s.status(t, thread) != "interrupted" {
		t.Errorf("the webhook says %v of a thread that is %s", body["status"], s.status(t, thread))
	}
	if st := w.State(t, id); st != operation.PendingApproval {
		t.Errorf("the operation is %s", st)
	}
}

// answeredByAnother: somebody resumes the thread behind the gate. While it runs, our resume
// is refused as busy; the one that the server then accepts does nothing, and is not
// believed.
func answeredByAnother(t *testing.T, w *world, s graphServer) {
	thread, event := s.paused(t, "slow", "")
	id := w.event(t, event).Operations[0]
	interruptID := jsonField(event["interrupts"], 0, "id")
	if status, raw := s.ask(t, "POST", "/threads/"+thread+"/runs", map[string]any{"assistant_id": "slow", "multitask_strategy": "reject",
		"command": map[string]any{"resume": map[string]any{interruptID: map[string]any{"decisions": []any{map[string]any{"type": "approve"}, map[string]any{"type": "approve"}}}}}}); status != http.StatusOK {
		t.Fatalf("%d %s", status, raw)
	}
	w.approve(t, id)
	w.reaches(t, id, operation.Review)
	if n := w.Count(t, "attempts WHERE operation_id = $1 AND outcome = 'not_started' AND proof LIKE '%thread_busy%'", string(id)); n == 0 {
		t.Error("no attempt was refused as busy")
	}
	if at := s.state(t, thread); at.Values.Ran != 1 {
		t.Errorf("the node ran %v times", at.Values.Ran)
	}
}

func jsonField(list any, i int, key string) string {
	var out []map[string]any
	_ = json.Unmarshal([]byte(jsonOf(list)), &out)
	s, _ := out[i][key].(string)
	return s
}

// rejectionReachesTheGraph: the bridge tells of the pause, and takes the refusal back.
func rejectionReachesTheGraph(t *testing.T, w *world, s graphServer) {
	thread, event := s.paused(t, "middleware", "")
	bridge := func() { w.node(t, os.Getenv(graphsDir), []string{"LANGGRAPH_URL=" + s.url}, "bridge.js", "once") }
	bridge()
	bridge()
	again := w.event(t, event)
	if again.Verdict != "repeated" || len(again.Operations) != 1 {
		t.Fatalf("the bridge told of another event than we: %+v", again)
	}
	if err := w.decide(t.Context(), again.Operations[0], operation.Reject); err != nil {
		t.Fatal(err)
	}
	bridge()
	until(t, "the graph's end", 20*time.Second, func() bool { return s.state(t, thread).Values.Ran == 1 })
	if answer := jsonOf(s.state(t, thread).Values.Answer); !strings.Contains(answer, `"type":"reject"`) || strings.Contains(answer, `"type":"approve"`) {
		t.Errorf("the graph heard %s", answer)
	}
	bridge()
	if st := w.State(t, again.Operations[0]); st != operation.Rejected {
		t.Errorf("the operation is %s", st)
	}
}
