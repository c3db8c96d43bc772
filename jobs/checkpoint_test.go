package jobs

import (
	"context"
	"crypto/rand"
	"database/sql"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"holdpoint/operation"
	"holdpoint/operation/checkpoint"
	"holdpoint/store"
	"holdpoint/store/storetest"
)

func signingKey(t *testing.T) (*checkpoint.Signer, *checkpoint.Keys) {
	t.Helper()
	signing, verifier, err := checkpoint.NewKey(rand.Reader, "holdpoint")
	if err != nil {
		t.Fatal(err)
	}
	s, err := checkpoint.ParseSigner([]byte(signing))
	if err != nil {
		t.Fatal(err)
	}
	k, err := checkpoint.ParseKeys(verifier)
	if err != nil {
		t.Fatal(err)
	}
	return s, k
}

// inFile gives the numbers of the checkpoints in a file, in its order.
func inFile(t *testing.T, path string, known *checkpoint.Keys) (numbers []int64, torn int) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	err = checkpoint.ReadFile(f, func(r checkpoint.Found) error {
		if r.Torn() {
			torn++
			return nil
		}
		c, err := checkpoint.Open(r.Note, known)
		numbers = append(numbers, c.Number)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return numbers, torn
}

// Several processes write one file; one was torn in the middle of it, one has no key.
func TestCheckpointFile(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "2s")
	signer, known := signingKey(t)
	dir := t.TempDir()
	shared, mirror := CheckpointFile{filepath.Join(dir, "shared")}, CheckpointFile{filepath.Join(dir, "mirror")}
	points := func(c Checkpoints) *checkpointer {
		x, err := New(Config{Store: openStore(t, w.url), Log: quiet(t), PollOnly: true, Checkpoints: &c})
		if err != nil {
			t.Fatal(err)
		}
		return x.points
	}
	a, b := points(Checkpoints{Signer: signer, File: shared}), points(Checkpoints{Signer: signer, File: shared})
	copies := points(Checkpoints{File: mirror})
	for range 4 {
		w.draft("crm")
		var both sync.WaitGroup
		for _, p := range []*checkpointer{a, b} {
			both.Go(func() {
				if err := p.look(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		both.Wait()
	}
	numbers, torn := inFile(t, shared.Path, known)
	if len(numbers) < 4 || !slices.IsSorted(numbers) || len(slices.Compact(slices.Clone(numbers))) != len(numbers) || torn != 0 {
		t.Errorf("%v, %d torn", numbers, torn)
	}
	before := len(numbers)
	if err := a.look(t.Context()); err != nil {
		t.Fatal(err)
	}
	if again, _ := inFile(t, shared.Path, known); len(again) != before {
		t.Errorf("%d checkpoints of nothing new", len(again)-before)
	}

	// A writer was killed in the middle; the next one goes on.
	raw, err := os.ReadFile(shared.Path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(shared.Path, raw[:len(raw)-40], 0o600); err != nil {
		t.Fatal(err)
	}
	if err := b.look(t.Context()); err != nil {
		t.Fatal(err)
	}
	if again, torn := inFile(t, shared.Path, known); !slices.Equal(again, numbers) || torn != 1 {
		t.Errorf("%v, %d torn, want %v", again, torn, numbers)
	}

	// Without a key, the file is a copy of what others sign.
	if err := copies.look(t.Context()); err != nil {
		t.Fatal(err)
	}
	if copied, _ := inFile(t, mirror.Path, known); !slices.Equal(copied, numbers) {
		t.Errorf("the copy holds %v", copied)
	}

	// A stopping worker signs what it did.
	x, err := New(Config{Store: openStore(t, w.url), Log: quiet(t), PollOnly: true, Checkpoints: &Checkpoints{Signer: signer, File: shared}})
	if err != nil {
		t.Fatal(err)
	}
	if err := x.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	w.draft("crm")
	if err := x.Stop(context.Background()); err != nil {
		t.Fatal(err)
	}
	var waiting int
	if err := w.db.QueryRow(`SELECT count(*) FROM history WHERE id > (SELECT max(up_to) FROM checkpoints)`).Scan(&waiting); err != nil || waiting != 0 {
		t.Errorf("%d entries without a checkpoint after the stop, %v", waiting, err)
	}
}

// backup copies the world's database as a dump would, and gives a world on the copy: the
// same destination, the same key file, an older record.
func (w *world) backup() *world {
	t := w.t
	t.Helper()
	from, err := url.Parse(w.url)
	if err != nil {
		t.Fatal(err)
	}
	admin, err := sql.Open("postgres", storetest.AdminURL(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { admin.Close() })
	name, old := "hp_copy_"+strings.ToLower(rand.Text()[:12]), strings.TrimPrefix(from.Path, "/")
	if err := w.store.Close(); err != nil {
		t.Fatal(err)
	}
	for _, q := range []string{`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '` + old + `'`, `CREATE DATABASE ` + name + ` TEMPLATE ` + old + ` OWNER holdpoint_owner`} {
		if _, err := admin.Exec(q); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { _, _ = admin.Exec(`DROP DATABASE IF EXISTS ` + name + ` WITH (FORCE)`) })
	w.store = openStore(t, w.url)
	to := *from
	to.Path = "/" + name
	c := &world{t: t, url: to.String(), box: w.box, lead: w.lead, ops: w.ops}
	c.store = openStore(t, c.url)
	if c.db, err = sql.Open("postgres", c.url); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.db.Close() })
	return c
}

// A backup is restored under what went on: nothing is sent until it is reconciled, what
// the destination knows is found by lookup, and an event that comes once more leads to the
// same operation. The destination holds each effect once.
func TestRestoredBackupSendsNothingTwice(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "2s")
	open := w.ready("crm")      // in the backup: ready
	blind := w.ready("billing") // likewise, where nothing can be looked up
	old := w.backup()

	// What the backup does not know: both were sent, and another event came and was sent.
	x := w.work()
	later := w.ready("crm")
	for _, id := range []operation.ID{open, blind, later} {
		w.untilState(id, operation.Confirmed)
	}
	if err := x.Stop(context.Background()); err != nil {
		t.Fatal(err)
	}
	kept, err := w.store.FindWitness(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	posts := w.posts("crm") + w.posts("billing")

	// The restored database: the witness does not fit, everything is paused and listed.
	_, m, err := old.store.CompareWitness(t.Context(), kept)
	if err != nil || m == nil || m.Word != store.MismatchOlder || m.Missing == nil {
		t.Fatalf("%+v, %v", m, err)
	}
	if err := old.store.PauseForWitness(t.Context(), *m); err != nil {
		t.Fatal(err)
	}
	old.work()
	old.untilState(open, operation.Confirmed) // found by our own reference
	old.until(blind, "listed", func(seen) bool { return old.history(blind, "restore_listed") == 1 })
	if s := old.see(blind); s.State != string(operation.Ready) {
		t.Errorf("what cannot be looked up is %+v", s)
	}

	// The source sends again: the same intent, the same operation.
	again := old.sendAgain(t, "crm", "3", kept.At)
	if again != later {
		t.Fatalf("the event leads to %s, before it was %s", again, later)
	}
	old.untilState(later, operation.Confirmed)

	admin := store.System("command")
	r, n, err := old.store.FindRestore(t.Context())
	if err != nil || n.All != 3 || r.Word != store.MismatchOlder {
		t.Fatalf("%+v, %+v, %v", r, n, err)
	}
	if err := old.store.ResumeAll(t.Context(), admin, "it will be fine"); err == nil {
		t.Error("resumed while an operation is open")
	}
	// Nobody could look this one up. The person finds it in the destination's own log.
	if err := old.store.CompareRestored(t.Context(), old.ops[0], r.ID, blind, "the billing list has it"); err != nil {
		t.Fatal(err)
	}
	if err := old.store.ResumeAll(t.Context(), admin, "compared with both lists"); err != nil {
		t.Fatal(err)
	}
	old.untilState(blind, operation.Confirmed) // sent with the same key: the destination replays its answer
	for _, id := range []operation.ID{open, later} {
		old.effects("crm", id, 1)
	}
	old.effects("billing", blind, 1)
	if got := old.posts("crm") + old.posts("billing"); got != posts+1 {
		t.Errorf("%d requests with an effect after the restore, want the one of the same key", got-posts)
	}
}

// sendAgain receives an event once more, as world.draft made it, with the time at which it
// happened.
func (w *world) sendAgain(t *testing.T, destination, n string, happened time.Time) operation.ID {
	t.Helper()
	r, err := w.store.Receive(context.Background(), store.System("api"), store.Received{Source: "test", Account: "test", Topic: "t", EventKey: destination + n,
		EventTime: happened, DeliveryKey: n, Body: []byte("{}"), Data: map[string]any{}, Status: 202, Flow: "to-" + destination, RunKey: n,
		Content: map[string]map[string]any{"effect": {content[destination]: "case " + n}}, Author: store.Author{Kind: "token", ID: "tok_test"}})
	if err != nil || len(r.Operations) != 1 {
		t.Fatalf("receive: %v %+v", err, r)
	}
	return r.Operations[0]
}
