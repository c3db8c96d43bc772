package main

import (
	"crypto/rand"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"
)

// copyDatabase copies a fixture's database as a backup would, and gives the copy's
// addresses as application and owner.
func copyDatabase(t *testing.T, f *storetest.Fixture) (app, owner string) {
	t.Helper()
	f.Owner.SetMaxIdleConns(0) // a template must have no sessions
	admin, err := sql.Open("postgres", storetest.AdminURL(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { admin.Close() })
	from, err := url.Parse(f.AppURL)
	if err != nil {
		t.Fatal(err)
	}
	name := "hp_copy_" + strings.ToLower(rand.Text()[:12])
	if _, err := admin.Exec(`CREATE DATABASE ` + name + ` TEMPLATE ` + strings.TrimPrefix(from.Path, "/") + ` OWNER holdpoint_owner`); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = admin.Exec(`DROP DATABASE IF EXISTS ` + name + ` WITH (FORCE)`) })
	to, own := *from, *from
	to.Path = "/" + name
	if u, err := url.Parse(f.OwnerURL); err == nil {
		own = *u
	}
	own.Path = to.Path
	return to.String(), own.String()
}

func (h *house) witness() (w store.Witness) {
	h.t.Helper()
	raw, err := os.ReadFile(filepath.Join(h.data, witnessFile))
	if err != nil {
		h.t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &w); err != nil {
		h.t.Fatal(err)
	}
	return w
}

// with is the same machine, its data folder included, with another setting.
func (h *house) with(env string) *house {
	return &house{h.t, h.data, append(h.env[:len(h.env):len(h.env)], env)}
}

func page(t *testing.T, address string) string {
	t.Helper()
	resp, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for limit := time.Now().Add(20 * time.Second); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatal(what)
		}
	}
}

// TestOlderCopyOfTheDatabase restores an older copy under a machine that has seen more:
// all sends are paused, nothing leaves, and an admin's resume lets it go.
func TestOlderCopyOfTheDatabase(t *testing.T) {
	t.Parallel()
	f := storetest.NewClosedFixture(t)
	h := newHouse(t)
	if err := os.MkdirAll(h.data, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(h.data, "key"), []byte(base64.StdEncoding.EncodeToString(storetest.Secret)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	f.Store = f.Open(t, f.AppURL)
	f.Ready(t) // approved and waiting to be sent, in the backup too
	if err := f.Store.Close(); err != nil {
		t.Fatal(err)
	}
	copied, copyOwner := copyDatabase(t, f)

	// The first start writes the witness; what happens while it runs is in it at the end.
	now, old := h.with("DATABASE_URL="+f.AppURL), h.with("DATABASE_URL="+copied)
	r, _ := now.start("listening", serveArgs("--no-jobs")...)
	first := h.witness()
	f.Store = f.Open(t, f.AppURL)
	f.Receive(t, storetest.CouponEvent())
	if code := r.stop(); code != 0 {
		t.Errorf("ended with %d", code)
	}
	last := h.witness()
	if first.Entry == 0 || last.Entry <= first.Entry || last.System == "" || last.Timeline == 0 {
		t.Errorf("witness %+v, then %+v", first, last)
	}
	if info, err := os.Stat(filepath.Join(h.data, witnessFile)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	// The same database again: nothing is paused.
	r, _ = now.start("listening", serveArgs("--no-jobs")...)
	if paused, err := f.Store.AllPaused(t.Context()); err != nil || paused {
		t.Errorf("paused although everything fits: %v, %v", paused, err)
	}
	r.stop()

	// The older copy.
	r, _ = old.start("listening", serveArgs("--no-jobs")...)
	if !strings.Contains(r.log.String(), "ALL SENDS ARE PAUSED") {
		t.Error("the log says nothing")
	}
	r.stop()
	st := f.Open(t, copied)
	in, err := st.FindInstallation(t.Context())
	if err != nil || in.Paused == nil || !strings.HasPrefix(in.Paused.Reason, store.MismatchOlder) {
		t.Fatalf("paused: %+v, %v", in.Paused, err)
	}

	// A restart with jobs keeps the pause, and the gate refuses what is ready.
	r, said := old.start("listening", serveArgs()...)
	metrics := "http://" + said["metrics"].(string) + "/metrics"
	eventually(t, "the worker did not come to the gate", func() bool {
		return strings.Contains(page(t, metrics), `holdpoint_gate_refusals_total{code="paused_all"}`)
	})
	if !strings.Contains(page(t, metrics), `holdpoint_pauses{scope="all"} 1`) {
		t.Error("the pause is no figure")
	}
	db, err := sql.Open("postgres", copyOwner)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	attempts := func() (n int) {
		if err := db.QueryRow(`SELECT count(*) FROM attempts`).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	if n := attempts(); n != 0 {
		t.Errorf("%d attempts while all sends are paused", n)
	}
	// What was open in the backup is to be compared first.
	var refusal *operation.Refusal
	if err := st.ResumeAll(t.Context(), f.As("admin"), "it will be fine"); !errors.As(err, &refusal) || refusal.Code != operation.CodeRestoreOpen {
		t.Errorf("resumed before anything was compared: %v", err)
	}
	reconcile(t, st, f, "compared with the shop's log")
	if err := st.ResumeAll(t.Context(), f.As("admin"), "compared with the shop's log"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "nothing is sent after the resume", func() bool { return attempts() > 0 })
	if code := r.stop(); code != 0 {
		t.Errorf("ended with %d", code)
	}

	// Another installation is no pause but a refusal.
	if _, err := db.Exec(`UPDATE installation SET id = 'ins_another'`); err != nil {
		t.Fatal(err)
	}
	for _, command := range [][]string{serveArgs("--no-jobs"), {"work", "--metrics-addr", "off"}} {
		if _, errs, code := old.run(command...); code != 1 || !strings.Contains(errs, "belongs to installation") {
			t.Errorf("another installation: %d, %s", code, errs)
		}
	}
	if err := os.WriteFile(filepath.Join(h.data, witnessFile), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, errs, code := old.run("work", "--metrics-addr", "off"); code != 1 || !strings.Contains(errs, "cannot be read") {
		t.Errorf("a broken witness: %d, %s", code, errs)
	}
}

// reconcile marks everything that a restored database lists as compared, and gives it.
func reconcile(t *testing.T, st *store.Store, f *storetest.Fixture, reason string) (ids []operation.ID) {
	t.Helper()
	r, _, err := st.FindRestore(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	items, _, err := st.ListRestored(t.Context(), f.As("admin"), r.ID, store.RestoreFilter{Open: true, Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range items {
		if err := st.CompareRestored(t.Context(), f.As("admin"), r.ID, i.ID, reason); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, i.ID)
	}
	return ids
}

// TestDatabaseExchangedWhileRunning: what the process has seen is gone the next second.
func TestDatabaseExchangedWhileRunning(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	dir := t.TempDir()
	s := &Settings{Data: dir}
	log, err := s.logger(0)
	if err != nil {
		t.Fatal(err)
	}
	w := &witness{path: filepath.Join(dir, witnessFile), store: f.Store, log: log, ended: make(chan struct{})}
	if err := w.begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	f.Receive(t, storetest.CouponEvent())
	if err := w.look(t.Context()); err != nil {
		t.Fatal(err)
	}
	if paused, err := f.Store.AllPaused(t.Context()); err != nil || paused {
		t.Fatalf("paused although everything fits: %v, %v", paused, err)
	}
	w.last.Entry += 100
	if err := w.look(t.Context()); err != nil {
		t.Fatal(err)
	}
	if paused, err := f.Store.AllPaused(t.Context()); err != nil || !paused {
		t.Errorf("not paused: %v, %v", paused, err)
	}
	kept, found, err := readWitness(w.path)
	if err != nil || !found || kept != w.last {
		t.Errorf("the file has %+v, %v; the process %+v", kept, err, w.last)
	}
}
