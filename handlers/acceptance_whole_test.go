package handlers_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"holdpoint/cmd/holdpoint/drill"
	"holdpoint/connector/connectortest"
	"holdpoint/jobs"
	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"
)

// theirTask gives a flow to a test destination that the rehearsal does not play: a service of
// its own at this place, with a credential and an index that is behind.
func theirTask(t *testing.T, place string) (flow, profile store.File) {
	t.Helper()
	files, err := storetest.DemoFiles()
	if err != nil {
		t.Fatal(err)
	}
	change := func(name string, words ...string) store.File {
		for _, f := range files {
			if f.Name == name {
				for i := 0; i < len(words); i += 2 {
					if !strings.Contains(string(f.Source), words[i]) {
						t.Fatalf("%s does not say %q", name, words[i])
					}
				}
				return store.File{Name: "their-" + name, Source: []byte(strings.NewReplacer(words...).Replace(string(f.Source)))}
			}
		}
		t.Fatalf("the demo has no %s", name)
		return store.File{}
	}
	return change("partner-task.yaml", "flow: partner-task", "flow: their-task", "topic: partner.task", "topic: their.task", "destination: partner", "destination: theirs"),
		change("crm.yaml", "destination: crm\n", "destination: theirs\n", `${env("SANDBOX_URL") + "/crm"}`, place+"/crm", "SANDBOX_TOKEN", "THEIR_TEST_KEY",
			`"/tasks/by-reference/{operation_id}"`, `/tasks, query: {reference: "{operation_id}"}`, `status in [200, 300]`, "status == 200",
			`${status == 404 && body.category == "OBJECT_NOT_FOUND"}`, "${body.total == 0}", "status == 300 ? body.results : [body]", "body.results", "lag: 15s", "lag: 800ms")
}

// rehearser is a worker that runs what people ask for with the real program, in an
// installation of its own.
func (h *house) rehearser(t *testing.T) {
	t.Helper()
	o := drill.Options{Binary: os.Getenv("HOLDPOINT_TEST_BINARY"), Sandbox: os.Getenv(connectortest.SandboxEnv)}
	for name, path := range map[string]*string{"holdpoint": &o.Binary, "sandbox": &o.Sandbox} {
		if *path != "" {
			continue
		}
		*path = filepath.Join(t.TempDir(), name)
		if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", *path, "holdpoint/cmd/"+name).CombinedOutput(); err != nil {
			t.Fatalf("build %s: %v\n%s", name, err, out)
		}
	}
	w, err := jobs.New(jobs.Config{Store: h.Store, Name: "rehearser", Log: slog.New(slog.NewTextHandler(testWriter{t}, &slog.HandlerOptions{Level: slog.LevelError})),
		Rehearse: func(ctx context.Context, p operation.AcceptancePlan, ended func(operation.AcceptanceCase)) (operation.AcceptanceSheet, error) {
			return drill.AcceptInChild(ctx, o, p, ended)
		}})
	if err == nil {
		err = w.Start(context.Background())
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Stop(context.Background()) })
}

// TestAcceptanceWhole goes the whole way: a run is asked for on its page, a worker rehearses
// the six cases against a test destination over HTTP, whose own lookup counts, and whose
// ledger agrees; owner and implementer sign what was shown; a newer profile makes it stale.
func TestAcceptanceWhole(t *testing.T) {
	t.Parallel()
	os.Setenv("THEIR_TEST_KEY", "their-key") // not t.Setenv: others run beside this test, and none reads it
	h := newHouse(t)
	there := connectortest.StartSandbox(t)
	there.Settings(t, "crm", map[string]time.Duration{"index_lag": 700 * time.Millisecond})
	flow, profile := theirTask(t, there.URL)
	if _, err := h.Store.Apply(t.Context(), store.System("command"), []store.File{flow, profile}); err != nil {
		t.Fatal(err)
	}
	h.rehearser(t)
	ops := h.as(t, "ops")
	page := ops.get("/acceptance/new?flow=their-task").want(http.StatusOK)
	to, _, _ := strings.Cut(ops.submit(page, "form-acceptance").want(http.StatusSeeOther).to, "?")
	id := operation.AcceptanceID(strings.TrimPrefix(to, "/acceptance/"))
	p := h.acceptanceEnded(t, id)
	if p.State != operation.AcceptancePassed || len(p.Sheet.Cases) != len(operation.AcceptanceCases) {
		raw, _ := json.MarshalIndent(p.Sheet.Cases, "", " ")
		t.Fatalf("the run is %s: %s\n%s", p.State, p.Failure, raw)
	}
	for _, c := range p.Sheet.Cases {
		if len(c.Found) != 1 {
			t.Errorf("%s: %d operations", c.Key, len(c.Found))
		}
		for _, f := range c.Found {
			if effects := there.Ledger(t, "crm", string(f.Operation)); len(effects) != 1 || effects[0].ID != f.Target || f.Effects != 1 || f.CountedBy != operation.CountedByLookup {
				t.Errorf("%s: the sheet shows %+v, the destination's ledger %+v", c.Key, f, effects)
			}
		}
	}

	raw := ops.get(to + "/sheet.json").want(http.StatusOK).body
	if sum := sha256.Sum256([]byte(raw)); hex.EncodeToString(sum[:]) != p.HashHex() {
		t.Error("the file is not what is signed")
	}
	for i, part := range []struct{ who, part string }{{"ops", operation.SignedByOwner}, {"admin", operation.SignedByImplementer}} {
		b := h.as(t, part.who)
		b.submit(b.get(to).want(http.StatusOK), "form-sign-"+part.part, "read", "yes", "comment", "seen by "+part.who).want(http.StatusSeeOther)
		if p = h.acceptanceEnded(t, id); p.Signed != i+1 || p.Agreed() != (i == 1) {
			t.Fatalf("%d signed", p.Signed)
		}
	}
	if signed := ops.get(to).want(http.StatusOK).says("seen by ops").says("seen by admin"); signed.has("stale") != nil {
		t.Error("a sheet about what is in use is stale")
	}

	profile.Source = []byte(strings.Replace(string(profile.Source), "lease: 60s", "lease: 61s", 1))
	if _, err := h.Store.Apply(t.Context(), store.System("command"), []store.File{profile}); err != nil {
		t.Fatal(err)
	}
	if stale := ops.get(to).want(http.StatusOK).says("seen by ops"); stale.has("stale") == nil {
		t.Error("a newer profile does not make the sheet stale")
	}
	if again := ops.get(to + "/sheet.json").want(http.StatusOK); again.body != raw {
		t.Error("a newer profile changes the sheet that was signed")
	}
}

// acceptanceEnded waits for the end of a run.
func (h *house) acceptanceEnded(t *testing.T, id operation.AcceptanceID) *store.AcceptancePage {
	t.Helper()
	for limit := time.Now().Add(5 * time.Minute); ; time.Sleep(50 * time.Millisecond) {
		p, err := h.Store.FindAcceptance(t.Context(), h.As("ops"), id)
		if err != nil {
			t.Fatal(err)
		}
		if !p.State.Open() {
			return p
		}
		if time.Now().After(limit) {
			t.Fatalf("the run is still %s", p.State)
		}
	}
}
