package sdks

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"holdpoint/connector"
	"holdpoint/operation"
	"holdpoint/operation/definition"
	"holdpoint/systems"
)

// The mail of all comparisons.
const (
	from    = "Example shop <shop@example.test>"
	to      = "anna@customer.test"
	subject = `Zażółć "gęślą" & こんにちは`
	text    = "Good day.\n.\n{operation_id} <b>"
	html    = `<p title="a'b">Good day &amp; bye</p>`
	secret  = "hush-hush-secret"
)

var content = map[string]any{"to": to, "subject": subject, "text": text, "html": html}

// seen is one request as a server received it.
type seen struct {
	method, path string
	header       http.Header
	body         []byte
}

// server answers everything alike, and keeps what came.
type server struct {
	*httptest.Server
	mu  sync.Mutex
	all []seen
}

func serve(t *testing.T, status int, header map[string]string, body string) *server {
	s := &server{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		s.mu.Lock()
		s.all = append(s.all, seen{r.Method, r.URL.RequestURI(), r.Header, raw})
		s.mu.Unlock()
		for name, v := range header {
			w.Header().Set(name, v)
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(s.Close)
	return s
}

// last gives the last request.
func (s *server) last(t *testing.T) seen {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.all) == 0 {
		t.Fatal("no request arrived")
	}
	return s.all[len(s.all)-1]
}

// sent is what one of our orders was, and what is said about it.
type sent struct {
	id     string
	key    string
	result operation.Result
	order  connector.Order
	by     connector.Connector
}

// send lets a shipped profile act once.
func send(t *testing.T, name, action string, content map[string]any, values map[string]string) sent {
	t.Helper()
	raw, err := fs.ReadFile(systems.Profiles(), name+".yaml")
	if err != nil {
		t.Fatal(err)
	}
	p, err := definition.ParseProfile(name+".yaml", raw)
	if err != nil {
		t.Fatal(err)
	}
	p.Local = true
	env := func(variable string) (string, bool) {
		if v, ok := values[variable]; ok {
			return v, true
		}
		return secret, true
	}
	a, err := p.Action(action)
	if err != nil {
		t.Fatal(err)
	}
	v, err := a.Render(content, env, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	id := operation.DeriveID([]byte("peers"), operation.Intent{Flow: t.Name(), Stage: name})
	key := operation.DestinationKey(id, 1)
	request, err := v.Request.Resolve(map[string]string{operation.HoleOperationID: string(id), operation.HoleKey: key})
	if err != nil {
		t.Fatal(err)
	}
	c, err := connector.New(p, env)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	o := connector.Order{
		Operation: id, Attempt: "att_1", Fence: 1, Action: action, Request: request, Key: key, Content: content,
		DispatchedAt: now, Deadline: now.Add(time.Minute), WallDeadline: now.Add(time.Minute).Round(0),
	}
	return sent{string(id), key, c.Act(context.Background(), o), o, c}
}

// confirmed: the answer was understood.
func (s sent) confirmed(t *testing.T, reference string) {
	t.Helper()
	if s.result.Outcome != operation.OutcomeConfirmed || reference != "" && s.result.TargetReference != reference {
		t.Fatalf("%s %q %+v", s.result.Outcome, s.result.TargetReference, s.result.Proof)
	}
}

// sameJSON compares two bodies by their values.
func sameJSON(t *testing.T, ours, theirs []byte) {
	t.Helper()
	var a, b any
	if err := json.Unmarshal(ours, &a); err != nil {
		t.Fatalf("ours: %v: %s", err, ours)
	}
	if err := json.Unmarshal(theirs, &b); err != nil {
		t.Fatalf("theirs: %v: %s", err, theirs)
	}
	if !reflect.DeepEqual(a, b) {
		t.Errorf("ours\n%s\ntheirs\n%s", ours, theirs)
	}
}

// sameWay compares method, path and the named headers.
func sameWay(t *testing.T, ours, theirs seen, headers ...string) {
	t.Helper()
	if ours.method != theirs.method || ours.path != theirs.path {
		t.Errorf("ours %s %s, theirs %s %s", ours.method, ours.path, theirs.method, theirs.path)
	}
	for _, name := range headers {
		if a, b := ours.header.Get(name), theirs.header.Get(name); a != b || a == "" {
			t.Errorf("%s: ours %q, theirs %q", name, a, b)
		}
	}
}

// fields reads a multipart form.
func fields(t *testing.T, s seen) map[string][]string {
	t.Helper()
	_, params, err := mime.ParseMediaType(s.header.Get("Content-Type"))
	if err != nil {
		t.Fatal(err)
	}
	form, err := multipart.NewReader(strings.NewReader(string(s.body)), params["boundary"]).ReadForm(1 << 20)
	if err != nil || len(form.File) != 0 {
		t.Fatal(fmt.Sprint(form, err))
	}
	return form.Value
}
