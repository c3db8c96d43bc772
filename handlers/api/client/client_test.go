package client_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"holdpoint/handlers/api"
	"holdpoint/handlers/api/client"
	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"

	"github.com/labstack/echo/v4"
)

func TestMain(m *testing.M) { os.Exit(storetest.Run(m)) }

// lossy drops the answers of some requests after the server has worked on them.
type lossy struct {
	next http.Handler
	drop func(*http.Request) bool
}

func (l lossy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if l.drop != nil && l.drop(r) {
		l.next.ServeHTTP(httptest.NewRecorder(), r)
		panic(http.ErrAbortHandler)
	}
	l.next.ServeHTTP(w, r)
}

func newClient(t *testing.T, f *storetest.Fixture, drop func(*http.Request) bool) *client.Client {
	t.Helper()
	e := echo.New()
	if err := api.Register(e.Group("/api"), api.Deps{Store: f.Store, Log: slog.New(slog.DiscardHandler), PublicURL: "https://hold.example.test"}); err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(lossy{e, drop})
	t.Cleanup(srv.Close)
	_, secret, err := f.Store.AddToken(t.Context(), store.System("command"), store.NewToken{Name: "job", Scopes: []string{"events", "operations", "claims", "read", "batches", "suppressions"}})
	if err != nil {
		t.Fatal(err)
	}
	return client.New(srv.URL, secret)
}

func TestPermitDispatchActReport(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	c := newClient(t, f, nil)
	ctx := t.Context()
	made, err := c.Create(ctx, `order "7"`, client.NewOperation{Flow: "newsletter-coupon", Inputs: map[string]any{"code": "GO-1", "percent_off": 10}})
	if err != nil {
		t.Fatal(err)
	}
	if again, err := c.Create(ctx, `order "7"`, client.NewOperation{Flow: "newsletter-coupon", Inputs: map[string]any{"code": "GO-1", "percent_off": 10}}); err != nil || again.Operation != made.Operation || !again.Repeated {
		t.Errorf("again: %+v %v", again, err)
	}
	_, err = c.Claim(ctx, made.Operation, "w", client.Presented{})
	if code, ok := client.Refused(err); !ok || code == "" {
		t.Errorf("claim before approval: %v", err)
	}
	op, err := c.Get(ctx, made.Operation)
	if err != nil {
		t.Fatal(err)
	}
	woke := make(chan client.Operation, 1)
	go func() {
		o, err := c.Wait(ctx, op.ID, op.Revision, 20*time.Second)
		if err != nil {
			t.Error(err)
		}
		woke <- o
	}()
	f.Approve(t, operation.ID(op.ID), "lead")
	if o := <-woke; o.State != "ready" {
		t.Errorf("woke in state %s", o.State)
	}
	var sent atomic.Int32
	w := client.Worker{Client: c, Destination: "billing", Name: "w", Act: func(ctx context.Context, p client.Permit) client.Report {
		sent.Add(1)
		if deadline, ok := ctx.Deadline(); !ok || time.Until(deadline) > p.Left()+time.Second || p.Left() <= 0 || p.Key != op.ID || p.Request.Method != "POST" {
			t.Errorf("permit %+v", p)
		}
		return client.Report{Outcome: client.Confirmed, Status: 200, TargetReference: "GO-1"}
	}}
	if n, err := w.Once(ctx); n != 1 || err != nil {
		t.Fatalf("%d attempts, %v", n, err)
	}
	if n, err := w.Once(ctx); n != 0 || err != nil {
		t.Errorf("then %d attempts, %v", n, err)
	}
	if o, err := c.Get(ctx, op.ID); err != nil || o.State != "confirmed" || o.TargetReference != "GO-1" || sent.Load() != 1 {
		t.Errorf("%+v, sent %d times, %v", o, sent.Load(), err)
	}
	r, err := c.PostEvent(ctx, "", client.Event{ID: "1", Source: "//test", Type: "newsletter.coupon", Data: map[string]any{"code": "GO-2", "percent_off": 1}})
	if err != nil || len(r.Operations) != 1 || r.Verdict != "accepted" {
		t.Errorf("event: %+v %v", r, err)
	}
}

// Lost answers of dispatch and report lead to the same attempt, the same bytes and one
// send; never to a second one.
func TestLostAnswers(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	var lost atomic.Int32
	c := newClient(t, f, func(r *http.Request) bool {
		return (strings.HasSuffix(r.URL.Path, "/dispatch") || strings.HasSuffix(r.URL.Path, "/outcome")) && lost.Add(1)%3 != 0
	})
	id := f.Ready(t)
	cl, err := c.Claim(t.Context(), string(id), "w", client.Presented{})
	if err != nil {
		t.Fatal(err)
	}
	sent := 0
	rec, err := c.Carry(t.Context(), cl, func(context.Context, client.Permit) client.Report {
		sent++
		return client.Report{Outcome: client.Confirmed, TargetReference: "once"}
	})
	if err != nil || rec.State != "confirmed" || rec.Late || sent != 1 {
		t.Errorf("%+v %v, sent %d times", rec, err, sent)
	}
	if n := f.Count(t, "attempts"); n != 1 {
		t.Errorf("%d attempts", n)
	}
	if lost.Load() < 4 {
		t.Errorf("only %d answers passed the lossy server", lost.Load())
	}
}

func TestWhatIsNotProvenIsUnknown(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	c := newClient(t, f, nil)
	for name, act := range map[string]func(context.Context, client.Permit) client.Report{
		"zero":    func(context.Context, client.Permit) client.Report { return client.Report{} },
		"panic":   func(context.Context, client.Permit) client.Report { panic("lost") },
		"no code": func(context.Context, client.Permit) client.Report { return client.Report{Outcome: client.NotStarted} },
	} {
		id := f.Ready(t)
		cl, err := c.Claim(t.Context(), string(id), "w", client.Presented{})
		if err != nil {
			t.Fatal(err)
		}
		if rec, err := c.Carry(t.Context(), cl, act); err != nil || rec.Outcome != "unknown" || f.State(t, id) != operation.Unknown {
			t.Errorf("%s: %+v %v", name, rec, err)
		}
	}
}

func TestRunEndsWithItsContext(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	c := newClient(t, f, nil)
	f.Ready(t)
	ctx, cancel := context.WithCancel(t.Context())
	var told atomic.Int32
	w := client.Worker{Client: c, Destination: "billing", Name: "w", Idle: 10 * time.Millisecond,
		Act: func(context.Context, client.Permit) client.Report {
			cancel() // stopping while an attempt is in flight
			return client.Report{Outcome: client.Confirmed, TargetReference: "last"}
		},
		Told: func(_ client.Claim, r client.Recorded, err error) {
			if err != nil || r.State != "confirmed" {
				t.Errorf("%+v %v", r, err)
			}
			told.Add(1)
		}}
	if err := w.Run(ctx); err != nil || told.Load() != 1 {
		t.Errorf("%v, %d attempts told", err, told.Load())
	}
	w.Client = client.New("http://127.0.0.1:1", "x")
	if n, err := w.Once(t.Context()); n != 0 || err == nil {
		t.Errorf("nobody answers: %d %v", n, err)
	}
	w.Client, w.Destination = c, "nowhere"
	if err := w.Run(t.Context()); err == nil {
		t.Error("a destination that is not there is worked on for ever")
	}
}

// The client can be imported by any program: it uses the standard library only.
func TestStandardLibraryOnly(t *testing.T) {
	t.Parallel()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-f", `{{join .Imports "\n"}}`, ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range strings.Fields(string(out)) {
		if strings.Contains(p, ".") || strings.HasPrefix(p, "holdpoint") {
			t.Errorf("it imports %s", p)
		}
	}
}
