package main

import (
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"holdpoint/jobs"
	"holdpoint/store"
	"holdpoint/store/pglocal"
	"holdpoint/store/storetest"

	"github.com/lib/pq"
)

// operations.md says how to back up and to restore; a test runs what stands there.
const operationsPage = "../../docs/operations.md"

// shellOf gives the shell blocks of a section of the page for operators.
func shellOf(t *testing.T, heading string) (blocks []string) {
	t.Helper()
	raw, err := os.ReadFile(operationsPage)
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(raw), "\n## "+heading+"\n")
	if !found {
		t.Fatalf("no section %s", heading)
	}
	section, _, _ = strings.Cut(section, "\n## ")
	for i, part := range strings.Split(section, "```") {
		if body, is := strings.CutPrefix(part, "sh\n"); is && i%2 == 1 {
			blocks = append(blocks, strings.ReplaceAll("\n"+body, "\n   ", "\n")) // those of a numbered step stand three to the right
		}
	}
	return blocks
}

// shell runs blocks of the page as they stand there, but with the name of a database that
// no other test has.
type shell struct {
	t    *testing.T
	dir  string
	name string // of the restored database
	env  []string
}

func (s *shell) run(block string) {
	s.t.Helper()
	cmd := exec.Command("sh", "-e", "-u", "-c", strings.ReplaceAll(block, "holdpoint_restored", s.name))
	cmd.Dir, cmd.Env = s.dir, s.env
	if out, err := cmd.CombinedOutput(); err != nil {
		s.t.Fatalf("%s\n%v: %s", block, err, out)
	}
}

// restoring is what a restore needs: an installation with checkpoints, a shell, and the
// addresses of the new database.
type restoring struct {
	*storetest.Fixture
	t                *testing.T
	h                *house
	newOwner, newApp string
	sh               *shell
	checkpoints      jobs.CheckpointFile
	verifier         string // key that verifies the checkpoints
}

func newRestoring(t *testing.T) *restoring {
	t.Helper()
	r := &restoring{Fixture: storetest.NewClosedFixture(t), t: t, h: newHouse(t)}
	bin, err := pglocal.FindBinaries()
	if err != nil {
		t.Fatal(err)
	}
	dir, data := t.TempDir(), r.h.data
	if err := errors.Join(os.MkdirAll(data, 0o700), os.WriteFile(filepath.Join(data, "key"), []byte(base64.StdEncoding.EncodeToString(storetest.Secret)+"\n"), 0o600),
		os.Symlink(os.Args[0], filepath.Join(dir, "holdpoint"))); err != nil {
		t.Fatal(err)
	}
	key := filepath.Join(dir, "checkpoint-key")
	r.verifier = strings.TrimSpace(r.h.must("checkpoint", "key", key))
	r.checkpoints.Path = filepath.Join(dir, "checkpoints")
	r.h.env = append(r.h.env, "HOLDPOINT_CHECKPOINT_KEY_FILE="+key, "HOLDPOINT_CHECKPOINT_FILE="+r.checkpoints.Path, "HOLDPOINT_CHECKPOINT_EVERY=50ms")
	r.Store = r.Open(t, r.AppURL)
	r.sh = &shell{t: t, dir: dir, env: append(r.h.env[:len(r.h.env):len(r.h.env)], "PATH="+dir+":"+bin+":"+os.Getenv("PATH"), "ADMIN_URL="+storetest.AdminURL(t), "HOLDPOINT_MIGRATE_URL="+r.OwnerURL)}
	return r
}

// into names a new database, which the blocks of the page make.
func (r *restoring) into() {
	r.sh.name = "hp_restored_" + strings.ToLower(rand.Text()[:12])
	at := func(address string) string {
		u, err := url.Parse(address)
		if err != nil {
			r.t.Fatal(err)
		}
		u.Path = "/" + r.sh.name
		return u.String()
	}
	r.newOwner, r.newApp = at(r.OwnerURL), at(r.AppURL)
	r.sh.env = append(r.sh.env, "NEW_OWNER_URL="+r.newOwner, "NEW_URL="+r.newApp)
	admin := open(r.t, storetest.AdminURL(r.t))
	name := r.sh.name
	r.t.Cleanup(func() { _, _ = admin.Exec(`DROP DATABASE IF EXISTS ` + name + ` WITH (FORCE)`) })
}

func open(t *testing.T, address string) *sql.DB {
	t.Helper()
	db, err := sql.Open("postgres", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// published waits until the file holds a checkpoint beyond a number, and gives its number.
func (r *restoring) published(beyond int64) (number int64) {
	r.t.Helper()
	eventually(r.t, "no new checkpoint is published", func() bool {
		c, err := r.checkpoints.Newest()
		if err == nil && c != nil {
			number = c.Number
		}
		return number > beyond
	})
	return number
}

// catalog lists everything by which a schema keeps its promises: who may do what, what
// refuses changes, what is partitioned how, what holds of each row.
func catalog(t *testing.T, address string) map[string]bool {
	t.Helper()
	rows, err := open(t, address).Query(`
		WITH tables AS (SELECT oid, relname, relkind, relacl, relowner, relpartbound FROM pg_class WHERE relnamespace = 'public'::regnamespace)
		SELECT 'trigger ' || pg_get_triggerdef(g.oid) || ' ' || CAST(g.tgenabled AS text) FROM pg_trigger g JOIN tables c ON c.oid = g.tgrelid WHERE NOT g.tgisinternal
		UNION ALL SELECT 'right ' || c.relname || ' ' || CAST(a AS text) FROM tables c, unnest(c.relacl) a
		UNION ALL SELECT 'right on a column ' || c.relname || '.' || x.attname || ' ' || CAST(a AS text) FROM tables c JOIN pg_attribute x ON x.attrelid = c.oid, unnest(x.attacl) a
		UNION ALL SELECT 'owner ' || c.relname || ' ' || pg_get_userbyid(c.relowner) FROM tables c
		UNION ALL SELECT 'partition ' || c.relname || ' ' || pg_get_expr(c.relpartbound, c.oid) FROM tables c WHERE c.relpartbound IS NOT NULL
		UNION ALL SELECT 'constraint ' || c.relname || ' ' || k.conname || ' ' || translate(pg_get_constraintdef(k.oid), '()', '') || ' ' || k.convalidated FROM pg_constraint k JOIN tables c ON c.oid = k.conrelid WHERE k.conparentid = 0
		UNION ALL SELECT 'index ' || pg_get_indexdef(i.indexrelid) || ' ' || i.indisvalid FROM pg_index i JOIN tables c ON c.oid = i.indrelid
		UNION ALL SELECT 'function ' || p.proname || '(' || oidvectortypes(p.proargtypes) || ') ' || p.prosecdef || ' ' || COALESCE(CAST(p.proconfig AS text), '') || ' ' || md5(p.prosrc) || ' ' || COALESCE(CAST(a AS text), 'everybody')
			FROM pg_proc p LEFT JOIN LATERAL unnest(p.proacl) a ON true WHERE p.pronamespace = 'public'::regnamespace`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	out := map[string]bool{}
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			t.Fatal(err)
		}
		out[line] = true
	}
	if err := rows.Err(); err != nil || len(out) < 500 {
		t.Fatalf("%d lines: %v", len(out), err)
	}
	return out
}

// restoredWhole fails unless the new database promises all that the old one does, and
// holds the old one's history up to its own end.
func (r *restoring) restoredWhole() {
	r.t.Helper()
	was, is := catalog(r.t, r.OwnerURL), catalog(r.t, r.newOwner)
	for line := range was {
		if !is[line] {
			r.t.Errorf("lost: %s", line)
		}
	}
	for line := range is {
		if !was[line] {
			r.t.Errorf("new: %s", line)
		}
	}
	owner, app := open(r.t, r.newOwner), open(r.t, r.newApp)
	var last int64
	digest := func(db *sql.DB, what string, args ...any) (sum string) {
		if err := db.QueryRow(`SELECT md5(COALESCE(string_agg(CAST(x AS text), '|' ORDER BY CAST(x AS text)), '')) FROM `+what+` x`, args...).Scan(&sum); err != nil {
			r.t.Fatal(err)
		}
		return sum
	}
	if err := owner.QueryRow(`SELECT max(id) FROM history`).Scan(&last); err != nil || last == 0 {
		r.t.Fatalf("newest entry %d, %v", last, err)
	}
	if upTo := `(SELECT * FROM history WHERE id <= $1)`; digest(r.Owner, upTo, last) != digest(owner, upTo, last) {
		r.t.Error("the history is another one")
	}
	oldApp := open(r.t, r.AppURL)
	for _, q := range []string{`UPDATE history SET reason = ''`, `UPDATE history_first SET reason = ''`, `DELETE FROM history`, `DELETE FROM history_rest`, `TRUNCATE history CASCADE`, `TRUNCATE history_first CASCADE`,
		`DELETE FROM evidence`, `DELETE FROM evidence_first`, `TRUNCATE evidence_rest CASCADE`, `UPDATE deliveries SET reason = ''`, `DELETE FROM deliveries`, `DELETE FROM approvals`, `UPDATE approvals SET reason = ''`} {
		for who, db := range map[string][2]*sql.DB{"the owner": {r.Owner, owner}, "the application": {oldApp, app}} {
			if was, is := refusedWith(r.t, db[0], q), refusedWith(r.t, db[1], q); is == "" || was != is {
				r.t.Errorf("%s as %s: refused with %q, before the restore with %q", q, who, is, was)
			}
		}
	}
	if _, err := app.Exec(`SELECT make_partition('history', 'history_mine')`); err == nil {
		r.t.Error("the application makes partitions of its own")
	}
	if _, err := app.Exec(`SELECT add_partitions(3)`); err != nil {
		r.t.Errorf("the application cannot ask for the coming months: %v", err)
	}
}

// refusedWith tries a statement, and gives the code with which the server refuses it.
func refusedWith(t *testing.T, db *sql.DB, q string) string {
	t.Helper()
	x, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = x.Rollback() }()
	var refused *pq.Error
	if _, err = x.ExecContext(t.Context(), q); errors.As(err, &refused) {
		return string(refused.Code)
	}
	return ""
}

// verify runs holdpoint verify on a database.
func (r *restoring) verify(app string) (said string, code int) {
	r.t.Helper()
	out, errs, code := r.h.with("DATABASE_URL="+app).run("verify", "--checkpoints", r.checkpoints.Path, "--verifier-key", r.verifier, "--contents")
	return out + errs, code
}

// pageAs opens a page of a running server as one of the people.
func (r *restoring) pageAs(st *store.Store, short, address string) string {
	r.t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		r.t.Fatal(err)
	}
	token := rand.Text()
	sum := sha256.Sum256([]byte(token))
	if err := st.SaveSession(r.t.Context(), store.Session{TokenHash: sum[:], UserID: r.Users[short], Data: []byte("{}"), Expires: time.Now().Add(time.Hour)}); err != nil {
		r.t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(r.t.Context(), http.MethodGet, address, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	req.Header.Set("Cookie", "holdpoint_"+u.Port()+"="+token)
	req.Header.Set("Accept-Language", "en")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		r.t.Fatalf("%s: %d, %v", address, resp.StatusCode, err)
	}
	return string(body)
}
