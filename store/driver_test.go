package store_test

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"holdpoint/store"
	"holdpoint/store/storetest"
)

func starting(prefix string) func(string) bool {
	return func(q string) bool { return strings.HasPrefix(q, prefix) }
}

// TestNoStatementRunsTwice: outside a transaction lib/pq and database/sql would run a
// write up to three times when its answer is lost. Here it is one row and an error.
func TestNoStatementRunsTwice(t *testing.T) {
	t.Parallel()
	const insert = `INSERT INTO login_counters (key, failures, window_start) VALUES (gen_random_uuid()::text, 0, clock_timestamp())`
	ways := map[string]func(s *store.Store) error{
		"Plain": func(s *store.Store) error { _, err := s.DB().Exec(insert); return err },
		"WithArguments": func(s *store.Store) error {
			_, err := s.DB().Exec(strings.Replace(insert, "0,", "$1,", 1), 1)
			return err
		},
		"Returning": func(s *store.Store) error {
			var key string
			return s.DB().QueryRow(insert + ` RETURNING key`).Scan(&key)
		},
		"Prepared": func(s *store.Store) error {
			st, err := s.DB().Prepare(strings.Replace(insert, "0,", "$1,", 1))
			if err != nil {
				return err
			}
			defer st.Close()
			_, err = st.Exec(1)
			return err
		},
		"OnOneConnection": func(s *store.Store) error {
			c, err := s.DB().Conn(context.Background())
			if err != nil {
				return err
			}
			defer c.Close()
			_, err = c.ExecContext(context.Background(), insert)
			return err
		},
	}
	for name, way := range ways {
		for how, rows := range map[storetest.Cut]int{storetest.CutBefore: 0, storetest.CutAfterForward: 1, storetest.CutRST: 1} {
			t.Run(name+"/"+how.String(), func(t *testing.T) {
				t.Parallel()
				f := storetest.NewClosedFixture(t)
				p := storetest.NewProxy(t, f.AppURL)
				s := f.Open(t, p.URL())
				p.Reset()
				p.CutOn(starting("INSERT INTO login_counters"), how, 3)
				err := way(s)
				var lost *store.OutcomeUnknown
				if !errors.As(err, &lost) {
					t.Errorf("err = %v, want an unknown outcome", err)
				}
				if p.Cuts() != 1 {
					t.Errorf("the statement was sent %d times", p.Cuts())
				}
				if n := f.Count(t, "login_counters"); n != rows {
					t.Errorf("%d rows, want %d", n, rows)
				}
				if err := s.Check(t.Context()); err != nil {
					t.Errorf("the next use fails: %v", err)
				}
			})
		}
	}
}

// TestFC32: an error reply, then the socket is gone before the connection is ready
// again. The connection must not go back to the pool and fail for good.
func TestFC32(t *testing.T) {
	t.Parallel()
	f := storetest.NewClosedFixture(t)
	var database string
	ok(t, f.Owner.QueryRow(`SELECT current_database()`).Scan(&database))
	p := storetest.NewProxy(t, f.AppURL)
	s, err := store.Open(t.Context(), store.Config{URL: p.URL(), Secret: storetest.Secret, MaxConns: 3})
	ok(t, err)
	t.Cleanup(func() { s.Close() })

	heals := func(t *testing.T) {
		t.Helper()
		failed := 0
		for deadline := time.Now().Add(5 * time.Second); ; {
			err := s.Check(t.Context())
			if err == nil {
				break
			}
			failed++
			if failed > 3 || time.Now().After(deadline) {
				t.Fatalf("after %d tries: %v", failed, err)
			}
		}
		for range 20 { // every pooled connection is asked
			ok(t, s.Check(t.Context()))
		}
	}
	t.Run("OutsideATransaction", func(t *testing.T) {
		p.Reset()
		p.CutOn(starting("SELECT CAST($1 AS int) / 0"), storetest.CutAfterError, 3)
		for range 3 {
			var n int
			if err := s.DB().QueryRowContext(t.Context(), `SELECT CAST($1 AS int) / 0`, 1).Scan(&n); err == nil {
				t.Error("a division by zero gave a result")
			}
		}
		if p.Cuts() == 0 { // a dead connection fails without a statement
			t.Error("nothing was cut")
		}
		p.Reset()
		heals(t)
	})
	t.Run("InATransaction", func(t *testing.T) {
		p.Reset()
		p.CutOn(starting("INSERT INTO users"), storetest.CutAfterError, 1)
		_, err := s.AddUser(t.Context(), command, store.NewUser{Email: storetest.Email("lead"), Name: "Twice"})
		if err == nil || p.Cuts() != 1 {
			t.Errorf("err = %v, %d cuts", err, p.Cuts())
		}
		heals(t)
		_, err = s.AddUser(t.Context(), command, store.NewUser{Email: storetest.Email("fresh"), Name: "Fresh"})
		ok(t, err)
	})
	t.Run("TheServerEndsEverySession", func(t *testing.T) {
		p.Reset()
		admin, err := sql.Open("postgres", storetest.AdminURL(t))
		ok(t, err)
		t.Cleanup(func() { admin.Close() })
		end := func() {
			var ended int
			ok(t, admin.QueryRow(`SELECT count(pg_terminate_backend(pid, 5000)) FROM pg_stat_activity WHERE datname = $1 AND usename = 'holdpoint_app'`, database).Scan(&ended))
			if ended == 0 {
				t.Error("there was no session to end")
			}
		}
		end()
		heals(t)
		end()
		_, err = s.AddUser(t.Context(), command, store.NewUser{Email: storetest.Email("later"), Name: "Later"})
		ok(t, err)
	})
}

// TestManyWritersFewConnections: a transaction never waits for a second connection, or
// a burst after a start would stand still.
func TestManyWritersFewConnections(t *testing.T) {
	t.Parallel()
	f := storetest.NewClosedFixture(t)
	s, err := store.Open(t.Context(), store.Config{URL: f.AppURL, Secret: storetest.Secret, MaxConns: 3})
	ok(t, err)
	t.Cleanup(func() { s.Close() })
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	var wg sync.WaitGroup
	for range 24 {
		wg.Go(func() {
			r, err := s.Receive(ctx, command, storetest.CampaignEvent())
			if err != nil {
				t.Error(err)
				return
			}
			if _, err := s.FindOperation(ctx, f.As("lead"), r.First()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}
