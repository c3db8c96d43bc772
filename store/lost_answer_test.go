package store_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"
)

// verb is one of the gate's verbs, to be cut at every statement that it runs.
type verb struct {
	name string
	// prepare makes what the verb needs, through an undisturbed store, and gives the
	// verb itself and what to count: how often it took effect.
	prepare func(t *testing.T, f *storetest.Fixture) (run func(s *store.Store) error, took func() int)
	// repeated is what the same call answers when it has taken effect already.
	repeated func(err error) bool
}

func fine(err error) bool { return err == nil }

func refusedWith(codes ...operation.Code) func(error) bool {
	return func(err error) bool {
		var r *operation.Refusal
		if !errors.As(err, &r) {
			return false
		}
		for _, c := range codes {
			if r.Code == c {
				return true
			}
		}
		return false
	}
}

var verbs = []verb{
	{"Receive", func(t *testing.T, f *storetest.Fixture) (func(*store.Store) error, func() int) {
		in := storetest.InvoiceEvent()
		return func(s *store.Store) error { _, err := s.Receive(t.Context(), command, in); return err },
			func() int {
				n := f.Count(t, "events WHERE event_key = $1", in.EventKey)
				if ops := f.Count(t, "operations o JOIN event_runs x ON x.run_id = o.run_id JOIN events e ON e.id = x.event_id WHERE e.event_key = $1", in.EventKey); ops != 2*n {
					t.Errorf("%d events, %d operations", n, ops)
				}
				if b := f.Count(t, "event_bodies b JOIN events e ON e.id = b.event_id WHERE e.event_key = $1", in.EventKey); b != n {
					t.Errorf("%d events, %d bodies", n, b)
				}
				return n
			}
	}, fine},
	{"Decide", func(t *testing.T, f *storetest.Fixture) (func(*store.Store) error, func() int) {
		id := f.Receive(t, storetest.CouponEvent())[0]
		form := f.Decision(t, id, operation.Approve)
		return func(s *store.Store) error { return s.Decide(t.Context(), f.As("lead"), form) },
			func() int {
				n := f.Count(t, "approvals WHERE operation_id = $1", string(id))
				if c := f.Count(t, "clearances WHERE operation_id = $1", string(id)); c != n {
					t.Errorf("%d approvals, %d clearances", n, c)
				}
				if w := f.Count(t, "river_job WHERE args->>'operation' = $1", string(id)); w < n {
					t.Error("the wake-up of a cleared operation is lost")
				}
				return n
			}
	}, fine},
	{"Claim", func(t *testing.T, f *storetest.Fixture) (func(*store.Store) error, func() int) {
		id := f.Ready(t)
		return func(s *store.Store) error { _, err := s.Claim(t.Context(), worker, id, "w"); return err },
			func() int {
				n := f.Count(t, "attempts WHERE operation_id = $1", string(id))
				if held := f.Count(t, "operations WHERE id = $1 AND state = 'in_progress'", string(id)); held != n {
					t.Errorf("%d attempts, state in_progress: %d", n, held)
				}
				return n
			}
	}, refusedWith(operation.CodeAttemptOpen, operation.CodeNotReady)},
	{"Dispatch", func(t *testing.T, f *storetest.Fixture) (func(*store.Store) error, func() int) {
		id := f.Ready(t)
		c, err := f.Store.Claim(t.Context(), worker, id, "w")
		ok(t, err)
		var body string
		return func(s *store.Store) error {
				d, err := s.Dispatch(t.Context(), worker, c.Attempt, c.Fence)
				if err == nil {
					if d.Request.Body == "" || body != "" && d.Request.Body != body {
						t.Errorf("the dispatch answer changed from %q to %q", body, d.Request.Body)
					}
					body = d.Request.Body
				}
				return err
			}, func() int {
				return f.Count(t, "attempts WHERE id = $1 AND dispatched_at IS NOT NULL", string(c.Attempt))
			}
	}, fine},
	{"Record", func(t *testing.T, f *storetest.Fixture) (func(*store.Store) error, func() int) {
		id := f.Ready(t)
		d, err := f.Store.ClaimAndDispatch(t.Context(), worker, id, "w")
		ok(t, err)
		ref := "co_" + string(id)
		return func(s *store.Store) error {
				_, err := s.Record(t.Context(), worker, d.Attempt, d.Fence, operation.Result{Outcome: operation.OutcomeConfirmed, TargetReference: ref})
				return err
			}, func() int {
				n := f.Count(t, "operations WHERE id = $1 AND state = 'confirmed'", string(id))
				if r := f.Count(t, "target_references WHERE operation_id = $1", string(id)); r != n {
					t.Errorf("confirmed %d, references %d", n, r)
				}
				return n
			}
	}, fine},
	{"PauseFlow", func(t *testing.T, f *storetest.Fixture) (func(*store.Store) error, func() int) {
		ok(t, f.Store.ResumeFlow(t.Context(), command, "plain-note", ""))
		before := f.Count(t, "pauses")
		return func(s *store.Store) error {
				_, err := s.PauseFlow(t.Context(), f.As("ops"), "plain-note", "x")
				return err
			},
			func() int { return f.Count(t, "pauses") - before }
	}, fine},
}

// TestFC24 cuts the connection at every statement of every verb, before the server got
// it and after it was carried out. Whatever was reported as done is done, nothing is
// done twice, and the same call again brings the record to the same end.
func TestFC24(t *testing.T) {
	t.Parallel()
	for _, v := range verbs {
		t.Run(v.name, func(t *testing.T) {
			t.Parallel()
			for _, how := range []storetest.Cut{storetest.CutBefore, storetest.CutAfterForward, storetest.CutRST} {
				t.Run(how.String(), func(t *testing.T) {
					f := storetest.NewFixture(t)
					p := storetest.NewProxy(t, f.AppURL)
					s := f.Open(t, p.URL())
					run, _ := v.prepare(t, f) // the first run prepares statements and parses definitions
					ok(t, run(s))
					commits := 0
					for n := 1; ; n++ {
						run, took := v.prepare(t, f)
						p.Reset()
						left := n
						p.CutOn(func(q string) bool {
							if strings.Contains(q, "pg_notify") {
								return false // the hint to workers is no part of the verb
							}
							left--
							return left == 0
						}, how, 1)
						err := run(s)
						if p.Cuts() == 0 {
							ok(t, err)
							t.Logf("%d statements cut, %d of them COMMIT", n-1, commits)
							break
						}
						if cutCommit(t, p, err) {
							commits++
						}
						if err != nil {
							t.Errorf("one lost connection at statement %d is a failure: %v", n, err)
						}
						checkCut(t, fmt.Sprintf("cut at statement %d", n), v, err, took)
						again := run(f.Store)
						if n := took(); n != 1 {
							t.Errorf("after the same call again it took effect %d times (%v, then %v)", n, err, again)
						}
						if n > 60 {
							t.Fatal("the verb never ends")
						}
					}
					if commits == 0 {
						t.Error("no COMMIT was cut")
					}
				})
			}
		})
	}
}

// checkCut compares what was reported with what is stored.
func checkCut(t *testing.T, where string, v verb, err error, took func() int) {
	t.Helper()
	n := took()
	var lost *store.OutcomeUnknown
	switch {
	case n > 1:
		t.Errorf("%s: it took effect %d times", where, n)
	case err == nil && n != 1:
		t.Errorf("%s: reported as done and not stored", where)
	case err != nil && n == 1 && !errors.As(err, &lost):
		t.Errorf("%s: stored, and reported as %v", where, err)
	}
}

// cutCommit reports whether the COMMIT was what was cut: its outcome was asked for. A
// committed one is reported as done, another was run again; neither is a failure.
func cutCommit(t *testing.T, p *storetest.Proxy, err error) bool {
	t.Helper()
	for _, q := range p.Statements() {
		if strings.Contains(q, "pg_xact_status") {
			if err != nil {
				t.Errorf("the outcome of a COMMIT was found out, and reported as %v", err)
			}
			return true
		}
	}
	return false
}
