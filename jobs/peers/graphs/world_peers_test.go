//go:build peers

package graphs

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"holdpoint/connector/connectortest"
	"holdpoint/handlers/api"
	"holdpoint/jobs"
	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"

	"github.com/labstack/echo/v4"
)

func TestMain(m *testing.M) { os.Exit(storetest.Run(m)) }

// world is a server with its job API, a worker, the sandbox, and a door through which a
// program may let people decide and answers get lost.
type world struct {
	*storetest.Fixture
	box      *connectortest.Sandbox
	url      string // of the server
	control  string
	token    string
	mu       sync.Mutex
	toLose   map[string]int // by the end of the path
	answered map[string]int
}

// newWorld brings everything up with the demonstration's definitions, its lags and waits
// shortened, and more files.
func newWorld(t *testing.T, more ...store.File) *world {
	t.Helper()
	w := &world{box: connectortest.StartSandbox(t), toLose: map[string]int{}, answered: map[string]int{}}
	t.Setenv("SANDBOX_URL", w.box.URL)
	t.Setenv("SANDBOX_SMTP", w.box.SMTP)
	t.Setenv("SANDBOX_TOKEN", "demo-token")
	w.Fixture = storetest.NewFixture(t)
	files, err := storetest.DemoFiles()
	if err != nil {
		t.Fatal(err)
	}
	files = append(files, more...)
	quick := strings.NewReplacer("lag: 15s", "lag: 300ms", "settle_after: 10s", "settle_after: 300ms", "settle_after: 10m", "settle_after: 300ms", "base: 2s", "base: 200ms", "lag: 2s", "lag: 300ms",
		"limits: {concurrency: 4, rate: 20/s, timeout: 5s, body: 256KiB}", "limits: {concurrency: 4, rate: 20/s, timeout: 1500ms, body: 256KiB}\nlease: 3s")
	for i := range files {
		files[i].Source = []byte(quick.Replace(string(files[i].Source)))
	}
	if _, err := w.Store.Apply(t.Context(), store.System("command"), files); err != nil {
		t.Fatal(err)
	}
	e := echo.New()
	if err := api.Register(e.Group("/api"), api.Deps{Store: w.Store, Log: slog.New(slog.DiscardHandler), PublicURL: "https://hold.example.test"}); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(w.lossy(e))
	t.Cleanup(server.Close)
	door := httptest.NewServer(w.door())
	t.Cleanup(door.Close)
	w.url, w.control = server.URL, door.URL
	_, w.token, err = w.Store.AddToken(t.Context(), store.System("command"), store.NewToken{Name: "graphs", Scopes: []string{store.ScopeEvents, store.ScopeOperations, store.ScopeClaims, store.ScopeRead, store.ScopeBatches, store.ScopeSuppressions}})
	if err != nil {
		t.Fatal(err)
	}
	w.work(t)
	return w
}

func (w *world) work(t *testing.T) {
	t.Helper()
	j, err := jobs.New(jobs.Config{Store: w.Store, Log: slog.New(slog.DiscardHandler), PollOnly: true, Poll: 100 * time.Millisecond, Sweep: 200 * time.Millisecond, StopTimeout: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Stop(context.Background()) })
}

// lossy works on a request and then drops its answer, as often as was asked for.
func (w *world) lossy(next http.Handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		end := filepath.Base(r.URL.Path)
		w.mu.Lock()
		lose := w.toLose[end] > 0
		if lose {
			w.toLose[end]--
		}
		w.mu.Unlock()
		if lose {
			next.ServeHTTP(httptest.NewRecorder(), r)
			panic(http.ErrAbortHandler)
		}
		next.ServeHTTP(rw, r)
	})
}

// door takes POST /approve/{operation}, /reject/{operation}, /lose/{end of path}/{times},
// /approve-batch/{batch}, and /pause/{destination} and /resume/{destination}.
func (w *world) door() http.Handler {
	mux := http.NewServeMux()
	decide := func(d operation.Decision) http.HandlerFunc {
		return func(rw http.ResponseWriter, r *http.Request) {
			if err := w.decide(r.Context(), operation.ID(r.PathValue("id")), d); err != nil {
				http.Error(rw, err.Error(), http.StatusConflict)
			}
		}
	}
	mux.HandleFunc("POST /approve/{id}", decide(operation.Approve))
	mux.HandleFunc("POST /reject/{id}", decide(operation.Reject))
	said := func(rw http.ResponseWriter, err error) {
		if err != nil {
			http.Error(rw, err.Error(), http.StatusConflict)
		}
	}
	mux.HandleFunc("POST /approve-batch/{id}", func(rw http.ResponseWriter, r *http.Request) {
		said(rw, w.approveBatch(r.Context(), operation.BatchID(r.PathValue("id"))))
	})
	mux.HandleFunc("POST /pause/{name}", func(rw http.ResponseWriter, r *http.Request) {
		_, err := w.Store.PauseDestination(r.Context(), w.As("ops"), r.PathValue("name"), "as the test wants it")
		said(rw, err)
	})
	mux.HandleFunc("POST /resume/{name}", func(rw http.ResponseWriter, r *http.Request) {
		said(rw, w.Store.ResumeDestination(r.Context(), w.As("ops"), r.PathValue("name"), "as the test wants it"))
	})
	mux.HandleFunc("POST /lose/{end}/{times}", func(_ http.ResponseWriter, r *http.Request) {
		n, _ := strconv.Atoi(r.PathValue("times"))
		w.mu.Lock()
		w.toLose[r.PathValue("end")] = n
		w.mu.Unlock()
	})
	return mux
}

// decide lets lead decide on the current version, and second after them where it needs two.
func (w *world) decide(ctx context.Context, id operation.ID, d operation.Decision) error {
	for _, who := range []string{"lead", "second"} {
		p, err := w.Store.FindOperation(ctx, w.As(who), id)
		if err != nil {
			return err
		}
		if p.State != operation.PendingApproval {
			return nil
		}
		v := p.Current()
		in := store.Decided{Operation: id, Decision: d, FormID: store.NewFormID(), Revision: p.Revision, Version: v.ID, Hash: fmt.Sprintf("%x", v.Hash)}
		if d != operation.Approve {
			in.Reason = "as the test wants it"
		}
		if err := w.Store.Decide(ctx, w.As(who), in); err != nil {
			return err
		}
	}
	return nil
}

// approveBatch lets lead and second approve a batch as it is now.
func (w *world) approveBatch(ctx context.Context, id operation.BatchID) error {
	for _, who := range []string{"lead", "second"} {
		p, err := w.Store.FindBatch(ctx, w.As(who), id)
		if err != nil {
			return err
		}
		in := store.BatchDecided{Batch: id, Decision: operation.Approve, FormID: store.NewFormID(), Phase: p.Phase(), Revision: p.Revision, Number: p.Number, Hash: fmt.Sprintf("%x", p.Version.Hash)}
		if err := w.Store.DecideBatch(ctx, w.As(who), in); err != nil {
			return err
		}
	}
	return nil
}

// environment is what a node program gets.
func (w *world) environment(more ...string) []string {
	return append(append(os.Environ(), "HOLDPOINT_URL="+w.url, "HOLDPOINT_TOKEN="+w.token, "CONTROL_URL="+w.control, "LANGSMITH_TRACING=false", "LANGCHAIN_TRACING_V2=false"), more...)
}

// root is the checkout.
func root(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// node runs a program of node to its end and gives what it wrote.
func (w *world) node(t *testing.T, dir string, more []string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "node", args...)
	cmd.Dir, cmd.Env = dir, w.environment(more...)
	var out, log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &log
	if err := cmd.Run(); err != nil {
		t.Fatalf("node %s: %v\n%s\n%s", strings.Join(args, " "), err, &out, &log)
	}
	return out.String()
}
