package storetest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lib/pq"
)

func starts(prefix string) func(string) bool {
	return func(q string) bool { return strings.HasPrefix(q, prefix) }
}

// through opens a database through a proxy that may keep one connection.
func through(t *testing.T) (p *Proxy, db *sql.DB, direct string) {
	t.Helper()
	direct, _ = newDB(t, tiny)
	p = NewProxy(t, direct)
	db = openDB(t, p.URL())
	db.SetMaxOpenConns(1)
	return p, db, direct
}

func TestProxy(t *testing.T) {
	t.Parallel()
	t.Run("PassesEverything", func(t *testing.T) {
		t.Parallel()
		p, db, direct := through(t)
		tx, err := db.Begin()
		if err != nil {
			t.Fatal(err)
		}
		insert, err := tx.Prepare(`INSERT INTO thing VALUES ($1, $2)`)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 3 {
			if _, err := insert.Exec(i, strings.Repeat("x", 100_000)); err != nil {
				t.Fatal(err)
			}
		}
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
		if n := count(t, direct); n != 3 {
			t.Errorf("%d rows", n)
		}
		var kinds []string
		for _, s := range p.Statements() {
			kinds = append(kinds, strings.Fields(strings.Trim(s, ";"))[0])
		}
		if got := strings.Join(kinds, " "); got != "BEGIN INSERT INSERT INSERT COMMIT" {
			t.Errorf("statements: %s", got)
		}
	})
	t.Run("PassesCancellation", func(t *testing.T) {
		t.Parallel()
		_, db, _ := through(t)
		ctx, cancel := context.WithTimeout(context.Background(), 150*time.Millisecond)
		defer cancel()
		begin := time.Now()
		if _, err := db.ExecContext(ctx, `SELECT pg_sleep(20)`); err == nil {
			t.Error("the query was not cancelled")
		}
		if took := time.Since(begin); took > 10*time.Second {
			t.Errorf("cancelled after %v", took)
		}
	})
	t.Run("CountsCutsAndResets", func(t *testing.T) {
		t.Parallel()
		p, db, _ := through(t)
		p.CutOn(starts("SELECT 1"), CutBefore, 1)
		db.Exec(`SELECT 1`)
		if p.Cuts() != 1 {
			t.Errorf("%d cuts", p.Cuts())
		}
		p.Reset()
		if p.Cuts() != 0 || len(p.Statements()) != 0 {
			t.Error("Reset left something")
		}
	})
}

// TestProxyCuts shows each kind at a plain and at a prepared statement, inside
// an explicit transaction, where database/sql repeats nothing.
func TestProxyCuts(t *testing.T) {
	t.Parallel()
	ways := map[string]func(tx *sql.Tx) error{
		"Plain": func(tx *sql.Tx) error {
			_, err := tx.Exec(`INSERT INTO thing VALUES (1, 'a')`)
			return err
		},
		"WithArguments": func(tx *sql.Tx) error {
			_, err := tx.Exec(`INSERT INTO thing VALUES ($1, $2)`, 1, "a")
			return err
		},
	}
	for name, insert := range ways {
		for _, how := range []Cut{CutBefore, CutAfterForward, CutRST} {
			t.Run(name+"/"+how.String(), func(t *testing.T) {
				t.Parallel()
				p, db, direct := through(t)
				p.CutOn(starts("INSERT"), how, 1)
				tx, err := db.Begin()
				if err != nil {
					t.Fatal(err)
				}
				if err := insert(tx); err == nil {
					t.Fatal("the statement was reported as done")
				}
				tx.Rollback()
				if got := len(p.Statements()); (how == CutBefore) != (got == 1) {
					t.Errorf("%d statements reached the server", got)
				}
				if n := count(t, direct); n != 0 {
					t.Errorf("%d rows of a broken transaction", n)
				}
				if p.Cuts() != 1 {
					t.Errorf("%d cuts", p.Cuts())
				}
			})
		}
	}
}

// TestProxyCutsCommit shows why a lost COMMIT answer is not a failure.
func TestProxyCutsCommit(t *testing.T) {
	t.Parallel()
	for how, rows := range map[Cut]int{CutBefore: 0, CutAfterForward: 1, CutRST: 1} {
		t.Run(how.String(), func(t *testing.T) {
			t.Parallel()
			p, db, direct := through(t)
			p.CutOn(starts("COMMIT"), how, 1)
			tx, err := db.Begin()
			if err != nil {
				t.Fatal(err)
			}
			if _, err := tx.Exec(`INSERT INTO thing VALUES ($1, 'a')`, 1); err != nil {
				t.Fatal(err)
			}
			err = tx.Commit()
			if err == nil {
				t.Fatal("the commit was reported as done")
			}
			if reset := errors.Is(err, syscall.ECONNRESET); how == CutRST && !reset {
				t.Logf("the driver hides the reset: %v", err)
			}
			if n := count(t, direct); n != rows {
				t.Errorf("%d rows, want %d", n, rows)
			}
			if err := db.Ping(); err != nil {
				t.Errorf("the next use fails: %v", err)
			}
		})
	}
}

// TestDriverRepeatsAWrite keeps the reason for the explicit-transaction rule in
// view: lib/pq and database/sql run an autocommit write twice when its answer
// is lost.
func TestDriverRepeatsAWrite(t *testing.T) {
	t.Parallel()
	p, db, _ := through(t)
	if err := db.Ping(); err != nil {
		t.Fatal(err)
	}
	p.CutOn(starts("INSERT"), CutAfterForward, 1)
	_, err := db.Exec(`INSERT INTO thing SELECT max(id) + 1, 'a' FROM (SELECT id FROM thing UNION SELECT 0) t`)
	var inserts int
	for _, s := range p.Statements() {
		if strings.HasPrefix(s, "INSERT") {
			inserts++
		}
	}
	if err != nil || inserts != 2 {
		t.Errorf("the driver behaves differently now (err = %v, sent %d times): look at the rule again", err, inserts)
	}
}

func TestProxyCutsNth(t *testing.T) {
	t.Parallel()
	_, _, direct := through(t)
	work := func(db *sql.DB, id int) error {
		tx, err := db.Begin()
		if err != nil {
			return err
		}
		defer tx.Rollback()
		if _, err := tx.Exec(`INSERT INTO thing VALUES ($1, 'a')`, id); err != nil {
			return err
		}
		if _, err := tx.Exec(`UPDATE thing SET name = 'b' WHERE id = 0`); err != nil {
			return err
		}
		return tx.Commit()
	}
	p := NewProxy(t, direct)
	n := 1
	for ; ; n++ {
		db := openDB(t, p.URL())
		p.Reset()
		p.CutNth(n, CutBefore)
		err := work(db, n)
		if p.Cuts() == 0 {
			if err != nil {
				t.Errorf("without a cut: %v", err)
			}
			break
		}
		// A lost BEGIN is repeated by database/sql and harmless.
		if began := n == 1; (err == nil) != began {
			t.Errorf("cut at statement %d: err = %v", n, err)
		}
	}
	if n != 5 {
		t.Errorf("saw %d statements, want BEGIN, INSERT, UPDATE, COMMIT", n-1)
	}
	if rows := count(t, direct); rows != 2 {
		t.Errorf("%d rows, want those of the repeated BEGIN and of the undisturbed run", rows)
	}
}

// TestFC32 replays the dead pooled connection: an error reply, then the socket
// is gone before ReadyForQuery.
func TestFC32(t *testing.T) {
	t.Parallel()
	p, db, _ := through(t)
	p.CutOn(starts("SELECT"), CutAfterError, 1)
	if _, err := db.Exec(`SELECT 2`); err != nil || p.Cuts() != 0 {
		t.Fatalf("a statement without an error was disturbed: %v", err)
	}
	_, err := db.Exec(`SELECT 1/0`)
	var pqErr *pq.Error
	if !errors.As(err, &pqErr) && !errors.Is(err, io.EOF) {
		t.Logf("the driver said: %v", err)
	}
	if err == nil || p.Cuts() != 1 {
		t.Fatalf("err = %v, %d cuts", err, p.Cuts())
	}
	// A limited lifetime is what heals the pool, whatever the driver does.
	db.SetConnMaxLifetime(time.Nanosecond)
	var one int
	if err := retry(5*time.Second, func() error { return db.QueryRow(`SELECT $1::int`, 1).Scan(&one) }); err != nil {
		t.Error(err)
	}
}

func retry(limit time.Duration, fn func() error) error {
	for deadline := time.Now().Add(limit); ; time.Sleep(20 * time.Millisecond) {
		err := fn()
		if err == nil {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("still after %v: %w", limit, err)
		}
	}
}
