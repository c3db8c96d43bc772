package client_test

import (
	"errors"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"holdpoint/handlers/api/client"
	"holdpoint/operation"
	"holdpoint/store/storetest"
)

// recipients gives n of them and then more, as an application would.
func recipients(n int, more ...map[string]any) iter.Seq[any] {
	return func(yield func(any) bool) {
		for i := range n {
			if !yield(map[string]any{"email": fmt.Sprintf("r%04d@example.test", i+1), "name": fmt.Sprint("Person ", i+1)}) {
				return
			}
		}
		for _, m := range more {
			if !yield(m) {
				return
			}
		}
	}
}

// problemOf fails unless an error is a problem with this status and code.
func problemOf(t *testing.T, err error, status int, code string) *client.Problem {
	t.Helper()
	var p *client.Problem
	if !errors.As(err, &p) || p.Status != status || p.Code != code {
		t.Fatalf("%v, want %d %s", err, status, code)
	}
	return p
}

// TestBatch makes a batch of a list whose answer is lost, reads it page by page, and holds it:
// paused, resumed and stopped. Nothing of that decides.
func TestBatch(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	f.ApplyMailing(t, "")
	var lost atomic.Int32
	c := newClient(t, f, func(r *http.Request) bool {
		return r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/batches") && lost.Add(1) == 1
	})
	ctx := t.Context()
	what := client.NewBatch{Flow: "mailing", Inputs: map[string]any{"season": "spring"}, Shared: map[string]string{"subject": "Hello {{name}}"}, Name: "spring.csv"}

	_, err := c.CreateBatch(ctx, "bad", what, recipients(2, map[string]any{"email": "nobody", "name": "x"}, map[string]any{"email": "kim@example.test"}))
	if err == nil {
		t.Fatal("the answer was not lost") // the first answer of all
	}
	_, err = c.CreateBatch(ctx, "bad", what, recipients(2, map[string]any{"email": "nobody", "name": "x"}, map[string]any{"email": "kim@example.test"}))
	if p := problemOf(t, err, http.StatusUnprocessableEntity, "rows"); len(p.Rows) != 2 || p.Rows[1].Row != 4 || p.Rows[1].Key != "kim@example.test" || !slices.Contains(p.Rows[1].Problems, client.ItemProblem{Code: "empty", Field: "name"}) {
		t.Errorf("%+v", p.Rows)
	}
	if n := f.Count(t, "batches"); n != 0 {
		t.Errorf("%d batches of rows that cannot go out", n)
	}

	const n = 520 // more than a page
	twice := map[string]any{"email": "R0001@example.test", "name": "Again"}
	lost.Store(0)
	if _, err := c.CreateBatch(ctx, `spring "1"`, what, recipients(n, twice)); err == nil {
		t.Fatal("the answer was not lost")
	}
	made, err := c.CreateBatch(ctx, `spring "1"`, what, recipients(n, twice))
	if err != nil || !made.Repeated || made.State != "pending_approval" || made.Total != n+1 || made.Included != n || made.Duplicates != 1 || f.Count(t, "batches") != 1 {
		t.Fatalf("%v %+v", err, made)
	}
	_, err = c.CreateBatch(ctx, `spring "1"`, what, recipients(n))
	problemOf(t, err, http.StatusUnprocessableEntity, "key_reused")

	for only, want := range map[string]int{"": n + 1, "duplicate": 1, "waiting": n, "problem": 0} {
		got, last := 0, 0
		for x, err := range c.BatchItems(ctx, made.Batch, only) {
			if err != nil || x.Position <= last {
				t.Fatalf("%s: item %d behind %d, %v", only, x.Position, last, err)
			}
			got, last = got+1, x.Position
		}
		if got != want {
			t.Errorf("%d items %q, want %d", got, only, want)
		}
	}
	for x, err := range c.BatchItems(ctx, made.Batch, "duplicate") {
		if err != nil || x.Excluded != "duplicate" || x.Position != n+1 || x.Operation != "" {
			t.Errorf("%+v %v", x, err)
		}
	}
	_, err = c.PauseBatch(ctx, made.Batch, "too soon")
	problemOf(t, err, http.StatusConflict, "forbidden_move")
	held(t, f, c, made.Batch, n)
	_, err = c.Batch(ctx, "bat_00000000000000000000000000")
	problemOf(t, err, http.StatusNotFound, "not_found")
	for _, err := range c.BatchItems(ctx, "bat_00000000000000000000000000", "") {
		problemOf(t, err, http.StatusNotFound, "not_found")
	}
}

func held(t *testing.T, f *storetest.Fixture, c *client.Client, id string, n int) {
	t.Helper()
	ctx := t.Context()
	f.ApproveBatch(t, operation.BatchID(id), "lead", "second")
	b, err := c.PauseBatch(ctx, id, "the page is down")
	if err != nil || !b.Paused || !strings.HasPrefix(b.PausedBy, "tok_") || b.State != "running" {
		t.Fatalf("%v %+v", err, b)
	}
	if b, err = c.ResumeBatch(ctx, id, "up again"); err != nil || b.Paused {
		t.Fatalf("%v %+v", err, b)
	}
	if b, err = c.StopBatch(ctx, id, "enough"); err != nil || !b.Stopped || b.Counts.GivenUp != n {
		t.Fatalf("%v %+v", err, b)
	}
	if b, err = c.Batch(ctx, id); err != nil || b.Counts.Total != n+1 || b.Counts.GivenUp+b.Counts.Duplicates != n+1 || len(b.Decisions) != 2 || b.Decisions[0].Decision != "approve" || b.Flow != "mailing" {
		t.Errorf("%v %+v", err, b)
	}
	_, err = c.PauseBatch(ctx, id, "wait")
	problemOf(t, err, http.StatusConflict, "forbidden_move")
	if got := f.Count(t, "batch_approvals"); got != 2 {
		t.Errorf("%d decisions", got)
	}
}
