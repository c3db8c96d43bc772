package drill

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// The programs that are already built; without them the tests build their own.
const (
	binaryEnv  = "HOLDPOINT_TEST_BINARY"
	sandboxEnv = "HOLDPOINT_TEST_SANDBOX"
	realKeyEnv = "CRM_TEST_KEY" // the credential of a real test destination
)

func TestMain(m *testing.M) {
	os.Setenv(realKeyEnv, "their-key")
	code := m.Run()
	if theRig != nil {
		theRig.close()
	}
	if built != "" {
		os.RemoveAll(built)
	}
	os.Exit(code)
}

var (
	built    string // folder of what was built here
	theRig   *rig
	rigLog   tail
	rigMutex sync.Mutex // tests that share the rig run one after the other
)

// programs gives the two programs under test.
var programs = sync.OnceValues(func() (Options, error) {
	o := Options{Binary: os.Getenv(binaryEnv), Sandbox: os.Getenv(sandboxEnv)}
	for _, p := range []struct {
		path *string
		name string
	}{{&o.Binary, "holdpoint"}, {&o.Sandbox, "sandbox"}} {
		if *p.path != "" {
			continue
		}
		if built == "" {
			dir, err := os.MkdirTemp("", "holdpoint-drilltest-")
			if err != nil {
				return o, err
			}
			built = dir
		}
		*p.path = filepath.Join(built, p.name)
		if out, err := exec.Command("go", "build", "-o", *p.path, "holdpoint/cmd/"+p.name).CombinedOutput(); err != nil {
			return o, fmt.Errorf("build %s: %w\n%s", p.name, err, out)
		}
	}
	return o, nil
})

// started is the one rig of this package's tests, with two server processes.
var started = sync.OnceValues(func() (*rig, error) {
	o, err := programs()
	if err != nil {
		return nil, err
	}
	o.Log = &rigLog
	ctx := context.Background()
	r, err := start(ctx, o)
	if err == nil {
		theRig, err = r, r.serve(ctx)
	}
	return r, err
})

// useRig gives the rig to one test at a time.
func useRig(t *testing.T) *rig {
	t.Helper()
	rigMutex.Lock()
	t.Cleanup(rigMutex.Unlock)
	r, err := started()
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the processes wrote at last:\n%s", rigLog.String())
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestAcceptance(t *testing.T) {
	r := useRig(t)
	for _, c := range Cases {
		t.Run(c.Name, func(t *testing.T) {
			res := r.try(t.Context(), c)
			for _, f := range res.Failures {
				t.Error(f)
			}
			if len(res.Operations) == 0 {
				t.Fatal("the case shows no operation")
			}
			for _, o := range res.Operations {
				there, err := r.box.ledger(t.Context(), places[o.Destination], o.Operation)
				if err != nil {
					t.Fatal(err)
				}
				if len(there) != 1 || o.Effects != 1 || o.Expected != 1 {
					t.Errorf("%s: the ledger holds %d effects, the sheet says %d of %d", o.Operation, len(there), o.Effects, o.Expected)
				}
				if o.State != "confirmed" || o.Next != "-" {
					t.Errorf("%s ends as %s, next %s", o.Operation, o.State, o.Next)
				}
			}
			if t.Failed() {
				t.Logf("%+v", res)
			}
		})
	}
}

// TestFailureIsShown lets a case expect what did not happen: the sheet must say so.
func TestFailureIsShown(t *testing.T) {
	r := useRig(t)
	res := r.try(t.Context(), Case{"AC0_wrong", "A wrong expectation", func(t *trial) error {
		ops, err := t.begin("drill-task", 1)
		if err != nil {
			return err
		}
		if _, err := t.record(ops[0], 1); err != nil {
			return err
		}
		return errors.New("it broke off")
	}})
	if res.Passed || len(res.Failures) != 2 {
		t.Errorf("a wrong expectation and an error are two failures: %+v", res)
	}
	var b bytes.Buffer
	if err := WriteSheet(&b, Report{Cases: []Result{res}}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"FAIL", "0 of 1", "pending_approval", "approver: approve", "it broke off", "NOT every case passed"} {
		if !bytes.Contains(b.Bytes(), []byte(want)) {
			t.Errorf("the sheet does not say %q:\n%s", want, b.String())
		}
	}
}

// tail keeps the end of what was written.
type tail struct {
	mu sync.Mutex
	b  []byte
}

// Write keeps the last 64 KiB.
func (l *tail) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.b = append(l.b, p...)
	if len(l.b) > 128<<10 {
		l.b = append([]byte(nil), l.b[len(l.b)-64<<10:]...)
	}
	return len(p), nil
}

func (l *tail) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(l.b)
}
