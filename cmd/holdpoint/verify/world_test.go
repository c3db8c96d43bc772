package verify

import (
	"bytes"
	"context"
	"crypto/rand"
	"database/sql"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"holdpoint/jobs"
	"holdpoint/operation"
	"holdpoint/operation/checkpoint"
	"holdpoint/store"
	"holdpoint/store/storetest"
)

func TestMain(m *testing.M) { os.Exit(storetest.Run(m)) }

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// world is an installation with checkpoints, and somebody who may do anything to its
// database.
type world struct {
	*storetest.Fixture
	t      *testing.T
	signer *checkpoint.Signer
	keys   *checkpoint.Keys
	file   jobs.CheckpointFile
	super  *sql.Conn // a superuser's session, for which no trigger runs
	url    string    // of the database that is verified
}

func newKey(t *testing.T) (*checkpoint.Signer, *checkpoint.Keys) {
	t.Helper()
	signing, verifier, err := checkpoint.NewKey(rand.Reader, "holdpoint")
	ok(t, err)
	s, err := checkpoint.ParseSigner([]byte(signing))
	ok(t, err)
	k, err := checkpoint.ParseKeys(verifier)
	ok(t, err)
	return s, k
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{Fixture: storetest.NewFixture(t), t: t}
	w.signer, w.keys = newKey(t)
	w.file.Path = filepath.Join(t.TempDir(), "checkpoints")
	w.url = w.AppURL
	w.super = w.superuser(w.AppURL)
	return w
}

// superuser opens a session that no trigger and no constraint of another table stops.
func (w *world) superuser(app string) *sql.Conn {
	w.t.Helper()
	admin, err := url.Parse(storetest.AdminURL(w.t))
	ok(w.t, err)
	at, err := url.Parse(app)
	ok(w.t, err)
	admin.Path = at.Path
	db, err := sql.Open("postgres", admin.String())
	ok(w.t, err)
	w.t.Cleanup(func() { db.Close() })
	c, err := db.Conn(w.t.Context())
	ok(w.t, err)
	_, err = c.ExecContext(w.t.Context(), `SET session_replication_role = replica`)
	ok(w.t, err)
	return c
}

// do changes the database behind the product's back.
func (w *world) do(q string, args ...any) {
	w.t.Helper()
	r, err := w.super.ExecContext(w.t.Context(), q, args...)
	ok(w.t, err)
	if n, err := r.RowsAffected(); err == nil && n == 0 {
		w.t.Fatalf("nothing was changed by %s", q)
	}
}

// publish makes a checkpoint and appends it to the file.
func (w *world) publish() store.MadeCheckpoint {
	w.t.Helper()
	made, err := w.Store.MakeCheckpoint(w.t.Context(), w.signer)
	ok(w.t, err)
	if made.Number == 0 {
		w.t.Fatal("there was nothing to publish")
	}
	_, err = w.file.Append([][]byte{made.Note})
	ok(w.t, err)
	return made
}

// dated gives the checkpoint file as if one checkpoint had been made at another time.
func (w *world) dated(number int64, at time.Time) io.Reader {
	w.t.Helper()
	raw, err := os.ReadFile(w.file.Path)
	ok(w.t, err)
	other := jobs.CheckpointFile{Path: filepath.Join(w.t.TempDir(), "checkpoints")}
	ok(w.t, checkpoint.ReadFile(bytes.NewReader(raw), func(f checkpoint.Found) error {
		c, err := checkpoint.Open(f.Note, w.keys)
		ok(w.t, err)
		if c.Number == number {
			c.At = at.UTC().Truncate(time.Microsecond)
		}
		note, err := c.Sign(w.signer)
		ok(w.t, err)
		_, err = other.Append([][]byte{note})
		return err
	}))
	out, err := os.ReadFile(other.Path)
	ok(w.t, err)
	return bytes.NewReader(out)
}

// verify verifies the database; turn may change the job.
func (w *world) verify(turn ...func(*Job)) *Report {
	w.t.Helper()
	var r *Report
	ok(w.t, store.ReadRecord(w.t.Context(), w.url, func(rec *store.Record) (err error) {
		j := Job{Record: rec, Keys: w.keys, Dir: w.t.TempDir(), Now: time.Now().Add(10 * time.Minute)}
		if raw, err := os.ReadFile(w.file.Path); err == nil {
			j.Checkpoints = bytes.NewReader(raw)
		}
		for _, t := range turn {
			t(&j)
		}
		r, err = Run(j)
		return err
	}))
	return r
}

func chainsOnly(j *Job)   { j.Keys, j.Checkpoints = nil, nil }
func withContents(j *Job) { j.Contents = true }

// whole fails unless nothing is wrong.
func (w *world) whole(r *Report) {
	w.t.Helper()
	if r.Broken != 0 || len(r.Findings) != 0 || r.Entries == 0 {
		w.t.Fatalf("%d entries, %d findings: %v", r.Entries, r.Broken, r.Findings)
	}
}

// first fails unless the first finding is this one.
func (w *world) first(r *Report, what What, subject operation.ID, seq int64) Finding {
	w.t.Helper()
	if r.Broken == 0 || len(r.Findings) == 0 {
		w.t.Fatalf("nothing is found; want %s %s %d", what, subject, seq)
	}
	f := r.Findings[0]
	if f.What != what || f.Subject != string(subject) || f.Seq != seq {
		w.t.Fatalf("found first: %s\nall %d: %v\nwant %s %s %d", f, r.Broken, r.Findings, what, subject, seq)
	}
	return f
}

// export writes the history as JSON Lines.
func (w *world) export() []string {
	w.t.Helper()
	var lines []string
	ok(w.t, store.ReadRecord(w.t.Context(), w.url, func(rec *store.Record) error {
		return rec.Entries(func(l operation.Line) error {
			raw, err := l.AppendLine(nil)
			lines = append(lines, string(raw))
			return err
		})
	}))
	return lines
}

// verifyExport verifies lines offline.
func (w *world) verifyExport(lines []string, turn ...func(*Job)) *Report {
	w.t.Helper()
	path := filepath.Join(w.t.TempDir(), "history.jsonl")
	ok(w.t, os.WriteFile(path, []byte(strings.Join(lines, "")), 0o600))
	f, err := os.Open(path)
	ok(w.t, err)
	defer f.Close()
	raw, err := os.ReadFile(w.file.Path)
	ok(w.t, err)
	j := Job{Export: f, Keys: w.keys, Checkpoints: bytes.NewReader(raw), Dir: w.t.TempDir()}
	for _, t := range turn {
		t(&j)
	}
	r, err := Run(j)
	ok(w.t, err)
	return r
}

// history reads one operation's entries.
func (w *world) history(id operation.ID) (lines []operation.Line) {
	w.t.Helper()
	ok(w.t, store.ReadRecord(w.t.Context(), w.url, func(rec *store.Record) error {
		return rec.Subject(operation.SubjectOperation, string(id), func(l operation.Line) error {
			lines = append(lines, l)
			return nil
		})
	}))
	return lines
}

// rewrite alters an entry and computes all later hashes of the chain anew, the head's too:
// every chain verifies afterwards.
func (w *world) rewrite(id operation.ID, seq int64, reason string) {
	w.t.Helper()
	var prev [32]byte
	for _, l := range w.history(id) {
		e := l.Entry
		if e.Seq == seq {
			e.Reason = reason
		}
		if e.Seq >= seq {
			if e.Seq > 1 {
				e.Prev = prev
			}
			e.Words.Hash = e.WordsHash()
			h := e.Hash()
			w.do(`UPDATE history SET reason = $2, prev_hash = $3, hash = $4, words_hash = $5 WHERE id = $1`, l.ID, e.Reason, e.Prev[:], h[:], e.Words.Hash[:])
			w.do(`UPDATE operations SET chain_hash = $2 WHERE id = $1`, string(id), h[:])
			prev = h
			continue
		}
		prev = l.Hash
	}
}

// copied copies the database as a backup would, and gives the copy's address.
func (w *world) copied() string {
	w.t.Helper()
	ok(w.t, w.Store.Close())
	w.Owner.SetMaxIdleConns(0)
	_ = w.super.Close()
	from, err := url.Parse(w.AppURL)
	ok(w.t, err)
	admin, err := sql.Open("postgres", storetest.AdminURL(w.t))
	ok(w.t, err)
	w.t.Cleanup(func() { admin.Close() })
	old := strings.TrimPrefix(from.Path, "/")
	name := "hp_copy_" + strings.ToLower(rand.Text()[:12])
	_, err = admin.Exec(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1`, old)
	ok(w.t, err)
	_, err = admin.Exec(`CREATE DATABASE ` + name + ` TEMPLATE ` + old + ` OWNER holdpoint_owner`)
	ok(w.t, err)
	w.t.Cleanup(func() {
		_, _ = admin.ExecContext(context.Background(), `DROP DATABASE IF EXISTS `+name+` WITH (FORCE)`)
	})
	w.Store = w.Open(w.t, w.AppURL)
	w.super = w.superuser(w.AppURL)
	to := *from
	to.Path = "/" + name
	return to.String()
}
