package temporal_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example/temporal"

	"github.com/labstack/echo/v4"
	"go.temporal.io/sdk/testsuite"

	"holdpoint/handlers/api"
	"holdpoint/handlers/api/client"
	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"
)

func TestMain(m *testing.M) { os.Exit(storetest.Run(m)) }

// gate is a real server with the demonstration's flows, and the ledger of the effects
// that the activity made.
type gate struct {
	*storetest.Fixture
	t      *testing.T
	client *client.Client
	cut    atomic.Int32 // how many reports are still lost
	asked  sync.Map     // the paths of operations for which a workflow has begun to wait
	mu     sync.Mutex
	ledger []string
}

func newGate(t *testing.T) *gate {
	t.Helper()
	g := &gate{Fixture: storetest.NewFixture(t), t: t}
	e := echo.New()
	if err := api.Register(e.Group("/api"), api.Deps{Store: g.Store, Log: slog.New(slog.DiscardHandler), PublicURL: "https://hold.example.test"}); err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/outcome") && g.cut.Add(-1) >= 0 {
			http.Error(w, `{"code": "lost"}`, http.StatusTeapot)
			return
		}
		if r.URL.Query().Has("wait") {
			g.asked.Store(r.URL.Path, true)
		}
		e.ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	_, secret, err := g.Store.AddToken(t.Context(), store.System("command"), store.NewToken{Name: "temporal", Scopes: []string{"operations", "claims", "read"}})
	if err != nil {
		t.Fatal(err)
	}
	g.client = client.New(srv.URL, secret)
	return g
}

// made counts the effects.
func (g *gate) made() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.ledger)
}

// effect makes an effect and answers as the destination would.
func (g *gate) effect(p client.Permit) client.Report {
	g.mu.Lock()
	g.ledger = append(g.ledger, p.Key)
	g.mu.Unlock()
	return temporal.Judge(http.StatusCreated, []byte(`{"id": "T-1"}`))
}

// signals hands the bridge's signals to a workflow of the test environment.
type signals struct {
	env  *testsuite.TestWorkflowEnvironment
	sent atomic.Int32
}

func (s *signals) SignalWorkflow(_ context.Context, _, _, name string, arg any) error {
	s.sent.Add(1)
	s.env.SignalWorkflow(name, arg)
	return nil
}

// start runs the workflow of one business case to its end.
func (g *gate) start(key string, act func(context.Context, client.Permit) client.Report) (temporal.Standing, *signals, error) {
	g.t.Helper()
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestWorkflowEnvironment()
	env.SetTestTimeout(time.Minute)
	sig := &signals{env: env}
	env.RegisterActivity(&temporal.Activities{Holdpoint: g.client, Signals: sig, Worker: "test", Act: act})
	env.ExecuteWorkflow(temporal.Effect, temporal.In{Flow: "partner-task", Key: key, Inputs: map[string]any{"subject": "Pack"}})
	var s temporal.Standing
	err := env.GetWorkflowError()
	if err == nil {
		err = env.GetWorkflowResult(&s)
	}
	return s, sig, err
}

// decide decides as soon as a workflow waits for the operation of a key: decided earlier,
// the workflow would find it decided and need no signal.
func (g *gate) decide(key string, d operation.Decision) {
	go func() {
		for g.t.Context().Err() == nil {
			made, err := g.client.Create(g.t.Context(), key, client.NewOperation{Flow: "partner-task", RunKey: key, Inputs: map[string]any{"subject": "Pack"}})
			if err == nil && g.waits(made.Operation) {
				if err := g.Decide(g.t, operation.ID(made.Operation), "lead", d); err != nil {
					g.t.Error(err)
				}
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
	}()
}

func (g *gate) waits(operation string) bool {
	waits := false
	g.asked.Range(func(path, _ any) bool {
		waits = strings.HasSuffix(path.(string), "/"+operation)
		return !waits
	})
	return waits
}

func TestAWorkflowWaitsForPeopleAndActsOnce(t *testing.T) {
	t.Parallel()
	g := newGate(t)
	act := func(_ context.Context, p client.Permit) client.Report { return g.effect(p) }
	g.decide("case-1", operation.Approve)
	s, sig, err := g.start("case-1", act)
	if err != nil || s.State != "confirmed" || s.Reference != "T-1" || g.made() != 1 || sig.sent.Load() == 0 {
		t.Fatalf("%+v %v, %d effects, %d signals", s, err, g.made(), sig.sent.Load())
	}
	// A second workflow of the same business case finds the effect.
	if s, _, err = g.start("case-1", act); err != nil || s.Reference != "T-1" || g.made() != 1 {
		t.Errorf("again: %+v %v, %d effects", s, err, g.made())
	}
	g.decide("case-2", operation.Reject)
	if _, _, err = g.start("case-2", act); err == nil || !strings.Contains(err.Error(), "closed without effect: rejected") || g.made() != 1 {
		t.Errorf("rejected: %v, %d effects", err, g.made())
	}
}

// The report is lost after the effect, and the activity is retried: it tells what it
// knew, or leaves it to the gate, and makes no second effect.
func TestACrashAfterTheEffectMakesNoSecondOne(t *testing.T) {
	t.Parallel()
	g := newGate(t)
	g.cut.Store(1)
	g.decide("crash", operation.Approve)
	done := make(chan struct{})
	go g.settle(done)
	s, _, err := g.start("crash", func(_ context.Context, p client.Permit) client.Report { return g.effect(p) })
	close(done)
	if err != nil || s.State != "confirmed" || g.made() != 1 || g.cut.Load() > 0 {
		t.Errorf("%+v %v, %d effects", s, err, g.made())
	}
}

// settle does what the destination's callback does: it tells of the effect, in case the
// retried activity does not know the report any more.
func (g *gate) settle(done <-chan struct{}) {
	for {
		select {
		case <-done:
			return
		case <-time.After(3 * time.Second):
		}
		var attempt string
		var fence int64
		err := g.Owner.QueryRow(`SELECT id, fence FROM attempts WHERE dispatched_at IS NOT NULL AND outcome IS NULL`).Scan(&attempt, &fence)
		if err != nil {
			continue
		}
		_, _ = g.client.Report(context.Background(), client.Claim{Attempt: attempt, Fence: fence}, client.Report{Outcome: client.Confirmed, TargetReference: "T-1"})
	}
}

// Two workflows of one business case at once: the gate gives one permit.
func TestTwoWorkflowsAtOnce(t *testing.T) {
	t.Parallel()
	g := newGate(t)
	g.decide("twice", operation.Approve)
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			s, _, err := g.start("twice", func(_ context.Context, p client.Permit) client.Report {
				time.Sleep(100 * time.Millisecond)
				return g.effect(p)
			})
			if err != nil || s.State != "confirmed" {
				t.Errorf("%+v %v", s, err)
			}
		})
	}
	wg.Wait()
	if g.made() != 1 {
		t.Errorf("%d effects", g.made())
	}
}
