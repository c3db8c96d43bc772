package store_test

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"
)

// rounds is how often every pair of decisions is raced.
const rounds = 25

// race is one pair of decisions that meet on one operation.
type race struct {
	f  *storetest.Fixture
	t  *testing.T
	id operation.ID
}

// both starts the two at the same moment and gives their errors.
func both(left, right func() error) (l, r error) {
	var wg sync.WaitGroup
	start := make(chan struct{})
	wg.Go(func() { <-start; l = left() })
	wg.Go(func() { <-start; r = right() })
	close(start)
	wg.Wait()
	return l, r
}

// again races a pair on fresh operations and checks after each round what must hold
// whoever came first.
func again(t *testing.T, f *storetest.Fixture, prepare func() operation.ID, round func(r race)) {
	t.Helper()
	for n := range rounds {
		r := race{f: f, t: t, id: prepare()}
		round(r)
		r.whole()
		if t.Failed() {
			t.Fatalf("in round %d", n+1)
		}
	}
}

// whole checks what must hold for an operation at any moment: its chain verifies, its
// next decision has somebody responsible and a time, one clearance per version at most,
// one open attempt at most, and no attempt without a clearance of exactly its version.
func (r race) whole() {
	r.t.Helper()
	rows, broken, err := r.f.Store.ListHistory(r.t.Context(), operation.SubjectOperation, string(r.id))
	if err != nil || broken != 0 {
		r.t.Errorf("history: entry %d does not verify, %v", broken, err)
	}
	page, err := r.f.Store.FindOperation(r.t.Context(), r.f.As("ops"), r.id)
	if err != nil {
		r.t.Fatal(err)
	}
	if !page.ChainOK || int64(len(rows)) != page.ChainSeq {
		r.t.Errorf("the head of the chain is entry %d, the last one %d", page.ChainSeq, len(rows))
	}
	if rows[len(rows)-1].To != page.State {
		r.t.Errorf("the history ends in %s, the operation is %s", rows[len(rows)-1].To, page.State)
	}
	if next := page.Next(); !page.State.Closed() && (next.Kind == "" || next.At.IsZero() || next.Who == (operation.Responsible{})) {
		r.t.Errorf("%s without a next decision: %+v", page.State, next)
	}
	if n := r.f.Count(r.t, `(SELECT 1 FROM clearances WHERE operation_id = $1 GROUP BY version_id, kind HAVING count(*) > 1) x`, string(r.id)); n > 0 {
		r.t.Errorf("%d versions with two clearances", n)
	}
	if n := r.count(`attempts WHERE operation_id = $1 AND outcome IS NULL`); n > 1 {
		r.t.Errorf("%d open attempts", n)
	}
	if n := r.count(`attempts a JOIN clearances c ON c.id = a.clearance_id WHERE a.operation_id = $1 AND c.version_id <> a.version_id`); n > 0 {
		r.t.Errorf("%d attempts under another version's clearance", n)
	}
}

func (r race) count(from string) int {
	r.t.Helper()
	return r.f.Count(r.t, from, string(r.id))
}

func (r race) sent() int {
	r.t.Helper()
	return r.count(`attempts WHERE operation_id = $1 AND dispatched_at IS NOT NULL`)
}

func (r race) state() operation.State { r.t.Helper(); return r.f.State(r.t, r.id) }

// decide prepares a person's press on the button as the page shows it now.
func (r race) decide(short string, d operation.Decision) func() error {
	r.t.Helper()
	in := r.f.Decision(r.t, r.id, d)
	return func() error { return r.f.Store.Decide(r.t.Context(), r.f.As(short), in) }
}

func (r race) claim() error {
	_, err := r.f.Store.ClaimAndDispatch(r.t.Context(), store.Job("racer"), r.id, "racer")
	return err
}

// refused checks that err is a refusal with one of these codes.
func (r race) refused(what string, err error, codes ...operation.Code) {
	r.t.Helper()
	var no *operation.Refusal
	if !errors.As(err, &no) || !slices.Contains(codes, no.Code) {
		r.t.Errorf("%s: %v, want one of %v", what, err, codes)
	}
}

// oneOf checks that exactly one of the two went through, and gives the loser's error.
func (r race) oneOf(left, right error) (leftWon bool) {
	r.t.Helper()
	if (left == nil) == (right == nil) {
		r.t.Errorf("exactly one must go through: left %v, right %v", left, right)
	}
	return left == nil
}

func coupon(t *testing.T, f *storetest.Fixture) func() operation.ID {
	return func() operation.ID { return f.Receive(t, storetest.CouponEvent())[0] }
}

// letter makes an operation that two people must approve: the second stage of a run,
// whose text the author has written.
func letter(t *testing.T, f *storetest.Fixture) func() operation.ID {
	n := 0
	return func() operation.ID {
		n++
		id := f.Receive(t, storetest.CampaignEvent())[1]
		err := f.Store.AddVersion(t.Context(), f.As("author"), store.NewVersion{Operation: id, Submit: true, Author: author(f),
			Content: map[string]any{"to": "c@example.test", "subject": fmt.Sprint("Spring ", n), "text": "Thank you."}})
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
}

func author(f *storetest.Fixture) store.Author {
	return store.Author{Kind: "person", ID: string(f.Users["author"])}
}

func TestRaceApproveApprove(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	t.Run("OneIsEnough", func(t *testing.T) {
		again(t, f, coupon(t, f), func(r race) {
			l, s := both(r.decide("lead", operation.Approve), r.decide("second", operation.Approve))
			loser := s
			if !r.oneOf(l, s) {
				loser = l
			}
			r.refused("the later approval", loser, operation.CodeForbiddenMove)
			if n := r.count(`clearances WHERE operation_id = $1`); n != 1 || r.state() != operation.Ready {
				t.Errorf("%d clearances, %s", n, r.state())
			}
		})
	})
	t.Run("TwoMakeTheQuorum", func(t *testing.T) {
		again(t, f, letter(t, f), func(r race) {
			l, s := both(r.decide("lead", operation.Approve), r.decide("second", operation.Approve))
			if l != nil || s != nil {
				t.Errorf("both approvals count: %v, %v", l, s)
			}
			if n := r.count(`clearances WHERE operation_id = $1`); n != 1 || r.state() != operation.Waiting {
				t.Errorf("%d clearances, %s", n, r.state())
			}
			if n := r.count(`clearance_approvals x JOIN clearances c ON c.id = x.clearance_id WHERE c.operation_id = $1`); n != 2 {
				t.Errorf("the clearance stands on %d approvals", n)
			}
		})
	})
	t.Run("TheSameFormTwice", func(t *testing.T) {
		again(t, f, letter(t, f), func(r race) {
			press := r.decide("lead", operation.Approve)
			l, s := both(press, press)
			if l != nil || s != nil {
				t.Errorf("a double click is one calm answer: %v, %v", l, s)
			}
			if n := r.count(`approvals WHERE operation_id = $1`); n != 1 || r.state() != operation.PendingApproval {
				t.Errorf("%d approvals, %s", n, r.state())
			}
		})
	})
	t.Run("OnePersonFromTwoWindows", func(t *testing.T) {
		again(t, f, letter(t, f), func(r race) {
			l, s := both(r.decide("lead", operation.Approve), r.decide("lead", operation.Approve))
			loser := s
			if !r.oneOf(l, s) {
				loser = l
			}
			r.refused("the second window", loser, operation.CodeAlreadyDecided)
			if n := r.count(`clearances WHERE operation_id = $1`); n != 0 {
				t.Errorf("one person made a quorum of two")
			}
		})
	})
}

func TestRaceApproveReject(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	again(t, f, coupon(t, f), func(r race) {
		l, s := both(r.decide("lead", operation.Approve), r.decide("second", operation.Reject))
		cleared := r.count(`clearances WHERE operation_id = $1`)
		if r.oneOf(l, s) {
			r.refused("the rejection", s, operation.CodeForbiddenMove)
			if r.state() != operation.Ready || cleared != 1 {
				t.Errorf("approved first: %s, %d clearances", r.state(), cleared)
			}
			return
		}
		r.refused("the approval", l, operation.CodeForbiddenMove)
		if r.state() != operation.Rejected || cleared != 0 {
			t.Errorf("rejected first: %s, %d clearances", r.state(), cleared)
		}
		r.refused("a claim", r.claim(), operation.CodeClosed)
	})
}

func TestRaceApproveEdit(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	edit := func(r race, revision int64) func() error {
		content := map[string]any{"code": "CODE-" + fmt.Sprint(r.count(`history WHERE subject_id <> $1`)), "percent_off": 20, "name": "Edited"}
		return func() error {
			return f.Store.AddVersion(t.Context(), f.As("author"), store.NewVersion{Operation: r.id, Revision: revision, Submit: true, Author: author(f), Content: content})
		}
	}
	t.Run("OnTheShownRevision", func(t *testing.T) {
		again(t, f, coupon(t, f), func(r race) {
			shown := r.f.Decision(t, r.id, operation.Approve).Revision
			l, s := both(r.decide("lead", operation.Approve), edit(r, shown))
			if r.oneOf(l, s) {
				r.refused("the edit", s, operation.CodeStaleRevision)
				if n := r.count(`content_versions WHERE operation_id = $1`); n != 1 || r.state() != operation.Ready {
					t.Errorf("approved first: %d versions, %s", n, r.state())
				}
				return
			}
			r.refused("the approval", l, operation.CodeStaleVersion)
			if n := r.count(`clearances WHERE operation_id = $1`); n != 0 || r.state() != operation.PendingApproval {
				t.Errorf("edited first: %d clearances, %s", n, r.state())
			}
		})
	})
	t.Run("WhateverTheRevision", func(t *testing.T) {
		again(t, f, coupon(t, f), func(r race) {
			l, s := both(r.decide("lead", operation.Approve), edit(r, 0))
			if l != nil {
				r.refused("the approval", l, operation.CodeStaleVersion)
			}
			if s != nil {
				t.Errorf("the edit: %v", s)
			}
			if r.count(`operations WHERE id = $1 AND version_no = 2 AND clearance_id IS NULL`) != 1 || r.state() != operation.PendingApproval {
				t.Errorf("an approval of the first version outlived the edit: %s", r.state())
			}
			r.refused("a claim", r.claim(), operation.CodeNotApproved)
		})
	})
}

func TestRaceApproveWithdraw(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	again(t, f, letter(t, f), func(r race) {
		f.Approve(t, r.id, "lead")
		l, s := both(r.decide("second", operation.Approve), r.decide("lead", operation.Withdraw))
		if l != nil || s != nil {
			t.Errorf("both are permitted: %v, %v", l, s)
		}
		if r.count(`operations WHERE id = $1 AND clearance_id IS NULL`) != 1 || r.state() != operation.PendingApproval {
			t.Errorf("one approval of two stands: %s", r.state())
		}
		r.refused("a claim", r.claim(), operation.CodeNotApproved)
	})
}

func TestRaceApprovePause(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	t.Run("TheOperation", func(t *testing.T) {
		again(t, f, coupon(t, f), func(r race) {
			l, s := both(r.decide("lead", operation.Approve), func() error { return f.Store.PauseOperation(t.Context(), f.As("ops"), r.id, "look first") })
			if l != nil || s != nil {
				t.Errorf("both are permitted: %v, %v", l, s)
			}
			r.refused("a claim", r.claim(), operation.CodePausedOperation)
			if r.count(`operations WHERE id = $1 AND next_kind = 'resume'`) != 1 || r.state() != operation.Ready {
				t.Errorf("%s, and the next decision is not to resume", r.state())
			}
		})
	})
	t.Run("TheDestination", func(t *testing.T) {
		again(t, f, coupon(t, f), func(r race) {
			l, s := both(r.decide("lead", operation.Approve), func() error {
				_, err := f.Store.PauseDestination(t.Context(), f.As("ops"), "billing", "look first")
				return err
			})
			if l != nil || s != nil {
				t.Errorf("both are permitted: %v, %v", l, s)
			}
			r.refused("a claim", r.claim(), operation.CodePausedDestination)
			if err := f.Store.ResumeDestination(t.Context(), f.As("ops"), "billing", "looked"); err != nil {
				t.Error(err)
			}
		})
	})
}

func TestRaceApproveClaim(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	again(t, f, coupon(t, f), func(r race) {
		l, s := both(r.decide("lead", operation.Approve), r.claim)
		if l != nil {
			t.Errorf("the approval: %v", l)
		}
		if s != nil {
			r.refused("the claim", s, operation.CodeNotApproved)
			if err := r.claim(); err != nil {
				t.Errorf("the claim after the approval: %v", err)
			}
		}
		if r.sent() != 1 || r.state() != operation.InProgress {
			t.Errorf("%d dispatched attempts, %s", r.sent(), r.state())
		}
	})
}
