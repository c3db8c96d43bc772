package store_test

import (
	"fmt"
	"testing"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"
)

// TestKeptStatements: a connection prepares a statement once, keeps a bounded number, and
// prepares anew what the server does not take any more.
func TestKeptStatements(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	c, err := f.Store.DB().Conn(t.Context())
	ok(t, err)
	defer c.Close()
	value := func(q string, args ...any) (n int, err error) {
		err = c.QueryRowContext(t.Context(), q, args...).Scan(&n)
		return n, err
	}
	prepared := func(like string) int {
		t.Helper()
		n, err := value(`SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE $1`, like)
		ok(t, err)
		return n
	}
	for i := range 3 {
		if n, err := value(`SELECT CAST($1 AS int) + 1 /* kept */`, i); err != nil || n != i+1 {
			t.Fatalf("%d, %v", n, err)
		}
	}
	if n := prepared("%/* kept */"); n != 1 {
		t.Errorf("prepared %d times", n)
	}
	_, err = c.ExecContext(t.Context(), `DEALLOCATE ALL`)
	ok(t, err)
	if n, err := value(`SELECT CAST($1 AS int) + 1 /* kept */`, 7); err != nil || n != 8 {
		t.Errorf("after the server forgot it: %d, %v", n, err)
	}
	for i := range 400 {
		if n, err := value(fmt.Sprintf(`SELECT CAST($1 AS int) + %d /* many */`, i), 1); err != nil || n != i+1 {
			t.Fatalf("%d, %v", n, err)
		}
	}
	if n := prepared("%/* many */"); n == 0 || n > 160 {
		t.Errorf("%d statements are kept", n)
	}
	if n, err := value(`SELECT CAST($1 AS int) / 0 /* kept */`, 7); err == nil {
		t.Errorf("a division by nought gave %d", n)
	}
	if n, err := value(`SELECT CAST($1 AS int) + 1 /* kept */`, 8); err != nil || n != 9 {
		t.Errorf("after an error: %d, %v", n, err)
	}
}

// TestOneLook: within one request who looks is read once, until it commits something; the
// next request reads anew.
func TestOneLook(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	f.Receive(t, storetest.CouponEvent())
	who := f.As("lead")
	request := store.OneLook(store.WatchCommits(t.Context()))
	see := func(where string, look func() (store.Viewer, int), active bool, waiting int) {
		t.Helper()
		if v, n := look(); v.Active != active || n != waiting {
			t.Errorf("%s: active %v, %d waiting; want %v, %d", where, v.Active, n, active, waiting)
		}
	}
	same := func() (store.Viewer, int) {
		v, err := f.Store.FindViewer(request, who)
		ok(t, err)
		n, err := f.Store.CountInbox(request, who)
		ok(t, err)
		return v, n
	}
	other := func() (store.Viewer, int) {
		ctx := store.OneLook(store.WatchCommits(t.Context()))
		v, err := f.Store.FindViewer(ctx, who)
		ok(t, err)
		n, err := f.Store.CountInbox(ctx, who)
		ok(t, err)
		return v, n
	}
	see("first", same, true, 1)
	ok(t, f.Store.DisableUser(t.Context(), f.As("admin"), f.Users["lead"], ""))
	see("the same request", same, true, 1)
	see("another request", other, false, 0)
	if v, err := f.Store.FindViewer(request, f.As("second")); err != nil || v.ID != f.Users["second"] || v.ID == operation.UserID(who.ID) {
		t.Errorf("somebody else in the same request: %+v, %v", v.Person, err)
	}
	_, err := f.Store.PauseAll(request, f.As("admin"), "to see what a commit does")
	ok(t, err)
	see("after a commit of its own", same, false, 0)
}
