package storetest

import (
	"context"
	"database/sql"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestMain(m *testing.M) { os.Exit(Run(m)) }

// tiny is a schema of one table; builds counts how often it was prepared here.
var builds atomic.Int32

var tiny = schema{key: "tiny", migrate: func(ctx context.Context, ownerURL string) error {
	builds.Add(1)
	db, err := sql.Open("postgres", ownerURL)
	if err != nil {
		return err
	}
	defer db.Close()
	_, err = db.ExecContext(ctx, `CREATE TABLE thing (id int PRIMARY KEY, name text);
		GRANT SELECT, INSERT ON thing TO `+appRole)
	return err
}}

func openDB(t *testing.T, url string) *sql.DB {
	t.Helper()
	db, err := sql.Open("postgres", url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func count(t *testing.T, url string) int {
	t.Helper()
	var n int
	if err := openDB(t, url).QueryRow(`SELECT count(*) FROM thing`).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestNewDB(t *testing.T) {
	t.Run("DatabasesAreSeparateAndParallel", func(t *testing.T) {
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				_, app := newDB(t, tiny)
				db := openDB(t, app)
				if _, err := db.Exec(`INSERT INTO thing VALUES (1, 'mine alone')`); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if n := builds.Load(); n > 1 {
			t.Errorf("the template was prepared %d times", n)
		}
	})
	t.Run("IsQuick", func(t *testing.T) {
		newDB(t, tiny)
		begin := time.Now()
		newDB(t, tiny)
		took := time.Since(begin)
		t.Log(took)
		if took > 3*time.Second {
			t.Errorf("a copy took %v", took)
		}
	})
	t.Run("KeepsTheRolesApart", func(t *testing.T) {
		owner, app := newDB(t, tiny)
		if _, err := openDB(t, app).Exec(`DROP TABLE thing`); err == nil {
			t.Error("the application role may drop a table")
		}
		if _, err := openDB(t, owner).Exec(`DROP TABLE thing`); err != nil {
			t.Error(err)
		}
	})
	for _, late := range []bool{false, true} {
		t.Run(map[bool]string{false: "DropsTheDatabaseAtTheEnd", true: "DropsLateOnADisk"}[late], func(t *testing.T) {
			shared := connect(t)
			srv := &server{url: shared.url, admin: shared.admin, late: late}
			template, err := srv.template(t.Context(), tiny)
			if err != nil {
				t.Fatal(err)
			}
			var app string
			t.Run("Inner", func(t *testing.T) {
				_, app = srv.copyOf(t.Context(), t, template)
				if err := openDB(t, app).Ping(); err != nil { // an open session does not keep it
					t.Fatal(err)
				}
			})
			gone := func() bool {
				err := openDB(t, app).Ping()
				return err != nil && strings.Contains(err.Error(), "does not exist")
			}
			if gone() == late {
				t.Errorf("after the test it is gone: %v", !late)
			}
			if err := srv.dropLeft(); err != nil || !gone() {
				t.Errorf("at the end it is gone: %v, err = %v", gone(), err)
			}
		})
	}
	t.Run("HoldsTheProductsSchema", func(t *testing.T) {
		owner, _ := NewDB(t)
		var tables int
		err := openDB(t, owner).QueryRow(`SELECT count(*) FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`).Scan(&tables)
		if err != nil || tables < 5 {
			t.Errorf("%d tables, err = %v", tables, err)
		}
	})
}
