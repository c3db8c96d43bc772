package main

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"holdpoint/operation/definition"
	"holdpoint/store/storetest"
)

var free = []string{"--addr", "127.0.0.1:0", "--metrics-addr", "127.0.0.1:0"}

func serveArgs(more ...string) []string { return append(append([]string{"serve"}, free...), more...) }

func TestServeWithItsPrivateDatabase(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	r, said := h.start("listening", serveArgs()...)
	url, metrics := said["url"].(string), "http://"+said["metrics"].(string)
	for _, address := range []string{url + "/healthz", url + "/readyz", metrics + "/metrics"} {
		if got := status(t, address); got != 200 {
			t.Errorf("%s answered %d", address, got)
		}
	}
	for _, file := range []string{"key", privateNote} {
		info, err := os.Stat(filepath.Join(h.data, file))
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", file, info, err)
		}
	}
	link := h.must("user", "add", "--role", "admin", "Root@Example.test")
	if !strings.Contains(link, url+"/set-password") {
		t.Errorf("no link to %s: %s", url, link)
	}
	if out := h.must("user", "list"); !strings.Contains(out, "root@example.test") || !strings.Contains(out, "no password yet") {
		t.Errorf("user list: %s", out)
	}
	secret := strings.TrimSpace(h.must("token", "add", "shop", "--scope", "events"))
	if out := h.must("token", "list"); !strings.HasPrefix(secret, "hp_") || !strings.Contains(out, "shop") || strings.Contains(out, secret) {
		t.Errorf("token %q, list: %s", secret, out)
	}
	if code := r.stop(); code != 0 {
		t.Errorf("ended with %d", code)
	}
	if _, err := os.Stat(filepath.Join(h.data, privateNote)); !os.IsNotExist(err) {
		t.Error("the note about the running database is still there")
	}
	if _, errs, code := h.run("user", "list"); code != 1 || !strings.Contains(errs, "serve") {
		t.Errorf("without a database: %d, %s", code, errs)
	}

	// The second start keeps the data and the key.
	r, _ = h.start("listening", serveArgs()...)
	t.Logf("second start, database included: %v", r.took.Round(time.Millisecond))
	if out := h.must("user", "list"); !strings.Contains(out, "root@example.test") {
		t.Errorf("after the second start: %s", out)
	}
	if code := r.stop(); code != 0 {
		t.Errorf("ended with %d", code)
	}

	// A lost key file is never replaced.
	if err := os.Remove(filepath.Join(h.data, "key")); err != nil {
		t.Fatal(err)
	}
	if _, errs, code := h.run(serveArgs()...); code != 1 || !strings.Contains(errs, "Restore the key file") {
		t.Errorf("without its key file: %d, %s", code, errs)
	}
}

func TestServeWithAGivenDatabase(t *testing.T) {
	t.Parallel()
	owner, app := storetest.NewDB(t)
	h := newHouse(t, "DATABASE_URL="+app)
	r, said := h.start("listening", serveArgs("--no-jobs")...)
	t.Logf("ready with the database up after %v", r.took.Round(time.Millisecond))
	if got := status(t, said["url"].(string)+"/readyz"); got != 200 {
		t.Errorf("/readyz answered %d", got)
	}
	w, _ := h.start("jobs started", "work", "--metrics-addr", "127.0.0.1:0")
	for _, p := range []*running{w, r} {
		if code := p.stop(); code != 0 {
			t.Errorf("ended with %d", code)
		}
	}
	if strings.Contains(r.log.String(), "only triggers guard") {
		t.Error("it warns although there are two roles")
	}

	one := newHouse(t, "DATABASE_URL="+owner, "HOLDPOINT_KEY_FILE="+filepath.Join(h.data, "key"))
	r, _ = one.start("listening", serveArgs("--no-jobs")...)
	if !strings.Contains(r.log.String(), "only triggers guard") {
		t.Error("it does not warn about one role for both")
	}
	if code := r.stop(); code != 0 {
		t.Errorf("ended with %d", code)
	}
}

func TestServeRefusesAnotherSchema(t *testing.T) {
	t.Parallel()
	owner, app := storetest.NewDB(t)
	h := newHouse(t, "DATABASE_URL="+app)
	db, err := sql.Open("postgres", owner)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for what, change := range map[string]string{
		"newer": `INSERT INTO goose_db_version (version_id, is_applied) VALUES (99999, true)`,
		"older": `DELETE FROM goose_db_version WHERE version_id > 1`,
	} {
		if _, err := db.Exec(change); err != nil {
			t.Fatal(err)
		}
		_, errs, code := h.run(serveArgs()...)
		if code != 1 || what == "older" && !strings.Contains(errs, "holdpoint migrate") || what == "newer" && !strings.Contains(errs, "newer") {
			t.Errorf("%s schema: %d, %s", what, code, errs)
		}
		if _, err := db.Exec(`DELETE FROM goose_db_version WHERE version_id = 99999`); err != nil {
			t.Fatal(err)
		}
	}
}

func TestDemo(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "HOLDPOINT_LOG_LEVEL=info")
	if _, errs, code := h.run("serve", "--demo", "--addr", "0.0.0.0:0"); code == 0 || !strings.Contains(errs, "loopback") {
		t.Errorf("demo accounts on a public address: %d, %s", code, errs)
	}
	for range 2 { // the second start finds everything there
		r, _ := h.start("listening", serveArgs("--demo")...)
		limit := time.Now().Add(30 * time.Second)
		for !strings.Contains(r.out.String(), "Ctrl-C") && time.Now().Before(limit) {
			time.Sleep(10 * time.Millisecond)
		}
		for _, want := range []string{"lead@example.test", "ops2@example.test", demoPassword, "curl", "/in/shopify-flow"} {
			if !strings.Contains(r.out.String(), want) {
				t.Errorf("%q is not printed:\n%s", want, r.out.String())
			}
		}
		if strings.Contains(r.log.String(), `"level":"ERROR"`) {
			t.Errorf("errors:\n%s", r.log.String())
		}
		if out := h.must("user", "list"); strings.Count(out, "@example.test") != len(demoPeople) {
			t.Errorf("accounts: %s", out)
		}
		stages, lists := demoStages(t)
		if n := h.rows("operations"); n != stages {
			t.Errorf("%d operations, want one for each stage of one run of each flow: %d", n, stages)
		}
		if n := h.rows("batches WHERE state = 'pending_approval'"); n != lists || lists == 0 {
			t.Errorf("%d batches wait for approval, want one for each stage with a list: %d", n, lists)
		}
		if code := r.stop(); code != 0 {
			t.Errorf("ended with %d", code)
		}
	}
}

// demoStages counts the stages of the demo flows of which the demonstration begins a run:
// those with one effect, and those with a list. What people start by hand is left to them.
func demoStages(t *testing.T) (single, lists int) {
	t.Helper()
	files, err := storetest.DemoFiles()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		flow, err := definition.ParseFlow(f.Name, f.Source)
		if err != nil || flow.Trigger.Source == "by-hand" {
			continue
		}
		for _, st := range flow.Stages {
			if st.ForEach != nil {
				lists++
			} else {
				single++
			}
		}
	}
	return single, lists
}

// TestDemoStartsWithAnAccountDisabled: the definitions in use stay in use.
func TestDemoStartsWithAnAccountDisabled(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "HOLDPOINT_LOG_LEVEL=info")
	r, _ := h.start("listening", serveArgs("--demo")...)
	h.must("user", "disable", "second@example.test")
	r.stop()
	r, _ = h.start("listening", serveArgs("--demo")...)
	if out := r.out.String(); !strings.Contains(out, "Warning") || !strings.Contains(out, "user enable") || !strings.Contains(out, "people with role approver") {
		t.Errorf("no warning:\n%s", out)
	}
	if out := h.must("user", "enable", "second@example.test"); !strings.Contains(out, "is enabled") {
		t.Errorf("enable: %s", out)
	}
	r.stop()
	r, _ = h.start("listening", serveArgs("--demo")...)
	if strings.Contains(r.out.String(), "Warning") {
		t.Errorf("still a warning:\n%s", r.out.String())
	}
	r.stop()
}

func TestPasswordLinkLeadsToThisServer(t *testing.T) {
	for _, c := range []struct{ set, addr, cert, note, want string }{
		{"", "", "", "", "http://127.0.0.1:7300"},
		{"", "127.0.0.1:7310", "", "", "http://127.0.0.1:7310"},
		{"", "0.0.0.0:7310", "cert.pem", "", "https://localhost:7310"},
		{"", "127.0.0.1:7310", "", "http://127.0.0.1:7555", "http://127.0.0.1:7555"},
		{"https://hold.example.com/", "127.0.0.1:7310", "", "http://127.0.0.1:7555", "https://hold.example.com"},
	} {
		t.Setenv("HOLDPOINT_ADDR", c.addr)
		t.Setenv("HOLDPOINT_TLS_CERT", c.cert)
		s := &Settings{Data: t.TempDir(), PublicURL: c.set}
		if c.note != "" {
			if err := s.keepAddress(c.note); err != nil {
				t.Fatal(err)
			}
		}
		if got := s.passwordLink("x"); got != c.want+"/set-password?token=x" {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

// operations counts what the record of a running house holds.
// rows counts the rows of what stands after FROM.
func (h *house) rows(from string) (n int) {
	h.t.Helper()
	s := Settings{Data: h.data}
	d, err := s.findDatabase()
	if err != nil {
		h.t.Fatal(err)
	}
	db, err := sql.Open("postgres", d.app)
	if err != nil {
		h.t.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRow(`SELECT count(*) FROM ` + from).Scan(&n); err != nil {
		h.t.Fatal(err)
	}
	return n
}

func TestApply(t *testing.T) {
	t.Parallel()
	_, app := storetest.NewDB(t)
	h := newHouse(t, "DATABASE_URL="+app)
	// A policy that nobody can satisfy is refused, and says what is short.
	if _, errs, code := h.run("apply", "-f", "demo"); code != 1 || errs == "" {
		t.Errorf("without people: %d, %s", code, errs)
	}
	for _, p := range demoPeople {
		h.must("user", "add", p.email, "--role", string(p.role))
	}
	if out := h.must("apply", "-f", "demo"); !strings.Contains(out, "applied") || !strings.Contains(out, "campaign-follow-up") {
		t.Errorf("apply: %s", out)
	}
	if out := h.must("apply", "-f", "demo"); strings.Contains(out, "applied ") || !strings.Contains(out, "unchanged") {
		t.Errorf("apply again: %s", out)
	}
	if _, errs, code := h.run("user", "add", "lead@example.test", "--role", "approver"); code != 1 || !strings.Contains(errs, "already") {
		t.Errorf("the same person again: %d, %s", code, errs)
	}
}

func TestMigrateNeedsADatabase(t *testing.T) {
	t.Parallel()
	if _, errs, code := newHouse(t).run("migrate"); code != 1 || !strings.Contains(errs, "DATABASE_URL") {
		t.Errorf("%d, %s", code, errs)
	}
	owner, app := storetest.NewDB(t)
	h := newHouse(t, "DATABASE_URL="+app, "HOLDPOINT_MIGRATE_URL="+owner)
	if out := h.must("migrate"); !strings.Contains(out, "up to date") {
		t.Errorf("migrate: %s", out)
	}
	db, err := sql.Open("postgres", owner)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var version, n int
	if err := db.QueryRow(`SELECT max(version_id), count(*) FROM goose_db_version WHERE version_id > 0`).Scan(&version, &n); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(`DROP SCHEMA public CASCADE; CREATE SCHEMA public`); err != nil {
		t.Fatal(err)
	}
	if out := h.must("migrate"); !strings.Contains(out, fmt.Sprintf("Applied %d migrations. The schema has version %d.", n, version)) {
		t.Errorf("the first migrate: %s", out)
	}
}

func TestSettingsPageIsUpToDate(t *testing.T) {
	have, err := os.ReadFile("../../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	var c commands
	if want := configDoc(newParser(&c)); string(have) != string(want) {
		t.Error("docs/configuration.md is not what the flags say: go generate ./cmd/holdpoint")
	}
}
