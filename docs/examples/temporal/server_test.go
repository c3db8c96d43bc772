package temporal_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os/exec"
	"testing"
	"time"

	"example/temporal"

	sdk "go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"

	"holdpoint/handlers/api/client"
	"holdpoint/operation"
)

// TestOnARealServer runs the workflow on `temporal server start-dev` where it is on the
// PATH: a lost report, a retried activity, one effect.
func TestOnARealServer(t *testing.T) {
	program, err := exec.LookPath("temporal")
	if err != nil {
		t.Log("no `temporal` on the PATH: only the SDK's test environment is used") // build/test.sh says so aloud
		return
	}
	address := startServer(t, program)
	g := newGate(t)
	c, err := sdk.Dial(sdk.Options{HostPort: address})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	w := worker.New(c, "effects", worker.Options{})
	w.RegisterWorkflow(temporal.Effect)
	w.RegisterActivity(&temporal.Activities{Holdpoint: g.client, Signals: c, Worker: "test", Act: func(_ context.Context, p client.Permit) client.Report { return g.effect(p) }})
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	g.cut.Store(1)
	g.decide("real", operation.Approve)
	run, err := c.ExecuteWorkflow(t.Context(), sdk.StartWorkflowOptions{ID: "real", TaskQueue: "effects"}, temporal.Effect,
		temporal.In{Flow: "partner-task", Key: "real", Inputs: map[string]any{"subject": "Pack"}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	var s temporal.Standing
	if err := run.Get(ctx, &s); err != nil || s.State != "confirmed" || g.made() != 1 {
		t.Errorf("%+v %v, %d effects", s, err, g.made())
	}
}

// startServer starts a development server on a free port.
func startServer(t *testing.T, program string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	l.Close()
	cmd := exec.Command(program, "server", "start-dev", "--headless", "--port", fmt.Sprint(port), "--log-level", "error")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	go func() {
		for s := bufio.NewScanner(out); s.Scan(); {
		}
	}()
	address := fmt.Sprint("127.0.0.1:", port)
	for limit := time.Now().Add(time.Minute); time.Now().Before(limit); time.Sleep(100 * time.Millisecond) {
		if c, err := net.Dial("tcp", address); err == nil {
			c.Close()
			return address
		}
	}
	t.Fatal("temporal server start-dev did not listen within a minute")
	return ""
}
