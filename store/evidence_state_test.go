package store_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"
)

// stand brings one operation into a state. last is its newest attempt, empty when it
// has none.
type stand struct {
	f    *storetest.Fixture
	t    *testing.T
	id   operation.ID
	last store.Claimed
}

var hand = store.Job("hand")

// quick applies the demonstration's billing without the time in which a request may
// still take effect: a person may state at once that nothing happened.
// more are pairs of what else is replaced in the files.
func quick(t *testing.T, f *storetest.Fixture, more ...string) {
	t.Helper()
	files, err := storetest.DemoFiles()
	if err != nil {
		t.Fatal(err)
	}
	for i := range files {
		files[i].Source = []byte(strings.NewReplacer(append(more, "settle_after: 10s", "settle_after: 1ms")...).Replace(string(files[i].Source)))
	}
	if _, err := f.Store.Apply(t.Context(), store.System("command"), files); err != nil {
		t.Fatal(err)
	}
}

func (s *stand) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// shown is what a person's form about it would carry now.
func (s *stand) shown(reason string) store.Shown {
	s.t.Helper()
	return store.Shown{Operation: s.id, Revision: s.f.Decision(s.t, s.id, operation.Approve).Revision, FormID: store.NewFormID(), Reason: reason}
}

func (s *stand) send() {
	s.t.Helper()
	d, err := s.f.Store.ClaimAndDispatch(s.t.Context(), hand, s.id, "hand")
	s.must(err)
	s.last = d.Claimed
}

func (s *stand) report(r operation.Result) {
	s.t.Helper()
	_, err := s.f.Store.Record(s.t.Context(), hand, s.last.Attempt, s.last.Fence, r)
	s.must(err)
}

var (
	throttled = operation.Result{Outcome: operation.OutcomeNotStarted, Proof: operation.Proof{Code: "rate_limited", Status: 429}, RetryAfter: time.Hour}
	lost      = operation.Result{Proof: operation.Proof{Code: "timeout", Phase: operation.PhaseSent}}
	mismatch  = operation.Result{Mismatch: true, Proof: operation.Proof{Code: "mismatch", Status: 400}}
)

func effect(ref string) operation.Result {
	return operation.Result{Outcome: operation.OutcomeConfirmed, TargetReference: ref, Proof: operation.Proof{Code: "confirmed", Status: 200}}
}

// notDone lets the reviewer state that nothing happened.
func (s *stand) notDone(reexecute bool, extra ...operation.ChecklistItem) {
	s.t.Helper()
	time.Sleep(2 * time.Millisecond) // settle_after of the last request
	s.must(s.f.Store.ConfirmNotDone(s.t.Context(), s.f.As("ops"), s.shown("their log shows nothing"), s.answers(extra...), reexecute))
}

// answers are those of the whole checklist.
func (s *stand) answers(extra ...operation.ChecklistItem) (all store.Answers) {
	for _, item := range slices.Concat(operation.Checklist, extra) {
		all = append(all, operation.Answer{Item: item, Yes: true, Comment: "looked", User: s.f.Users["ops"]})
	}
	return all
}

// ways brings a coupon into each state. Those that end in a state after an attempt
// leave last set.
var ways = map[operation.State]func(*stand){
	operation.Draft: func(s *stand) {
		s.f.Approve(s.t, s.id, "lead")
		s.send()
		s.report(throttled) // proven: nothing was executed, so it may be edited again
		s.must(s.f.Store.AddVersion(s.t.Context(), s.f.As("author"), store.NewVersion{Operation: s.id, Author: author(s.f),
			Content: map[string]any{"percent_off": 5}, Missing: []string{"code", "name"}}))
	},
	operation.PendingApproval: func(*stand) {},
	operation.Waiting: func(s *stand) {
		s.id = letter(s.t, s.f)()
		s.f.Approve(s.t, s.id, "lead", "second")
	},
	operation.Ready: func(s *stand) { s.f.Approve(s.t, s.id, "lead") },
	operation.InProgress: func(s *stand) {
		s.f.Approve(s.t, s.id, "lead")
		s.send()
	},
	operation.RetryScheduled: func(s *stand) {
		s.f.Approve(s.t, s.id, "lead")
		s.send()
		s.report(throttled)
	},
	operation.Unknown: func(s *stand) {
		s.f.Approve(s.t, s.id, "lead")
		s.send()
		s.report(lost)
	},
	operation.Review: func(s *stand) {
		s.f.Approve(s.t, s.id, "lead")
		s.send()
		s.report(mismatch)
	},
	operation.ReexecutionRequested: func(s *stand) {
		s.f.Approve(s.t, s.id, "lead")
		s.send()
		s.report(lost)
		s.notDone(true)
	},
	operation.Confirmed: func(s *stand) {
		s.f.Approve(s.t, s.id, "lead")
		s.send()
		s.report(effect(ref(s.id)))
	},
	operation.Rejected: func(s *stand) {
		s.must(s.f.Decide(s.t, s.id, "lead", operation.Reject))
	},
	operation.Cancelled: func(s *stand) {
		s.f.Approve(s.t, s.id, "lead")
		s.send()
		s.report(throttled)
		s.must(s.f.Store.Cancel(s.t.Context(), s.f.As("ops"), s.shown("no longer wanted")))
	},
	operation.NotExecuted: func(s *stand) {
		s.f.Approve(s.t, s.id, "lead")
		s.send()
		s.report(lost)
		s.notDone(false)
	},
}

// ref is the destination's own identifier of an operation's one effect.
func ref(id operation.ID) string { return "there-" + string(id) }

// news is one way in which evidence of an effect arrives.
var news = map[string]func(s *stand, reference string) error{
	"LateReport": func(s *stand, reference string) error {
		_, err := s.f.Store.Record(s.t.Context(), hand, s.last.Attempt, s.last.Fence-1, effect(reference))
		return err
	},
	"Callback": func(s *stand, reference string) error {
		p, err := s.f.Store.PlaceOf(s.t.Context(), s.id)
		s.must(err)
		return s.f.Store.RecordCallback(s.t.Context(), store.System("api"), store.Callback{Operation: s.id, Destination: p.Destination, Kind: "effect",
			Reference: reference, Body: `{"type":"created"}`})
	},
	"Lookup": func(s *stand, reference string) error {
		return s.f.Store.RecordLookup(s.t.Context(), hand, s.id, time.Now(), operation.LookupFinding{Result: operation.LookupOne, ID: reference, Matched: "reference"})
	},
}

// TestEvidenceInEveryState: evidence of an effect confirms any open state, reopens one
// that was closed without effect, and is never dropped. It never permits a send.
func TestEvidenceInEveryState(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	quick(t, f)
	for _, state := range operation.States {
		for kind, bring := range news {
			t.Run(fmt.Sprintf("%s/%s", state, kind), func(t *testing.T) {
				s := &stand{f: f, t: t, id: coupon(t, f)()}
				ways[state](s)
				if got := f.State(t, s.id); got != state {
					t.Fatalf("the preparation led to %s", got)
				}
				if kind == "LateReport" && s.last.Attempt == "" {
					return // without an attempt nobody can report
				}
				r := race{f: f, t: t, id: s.id}
				sent, kept := r.sent(), r.count(`evidence WHERE operation_id = $1`)
				s.must(bring(s, ref(s.id)))
				want := operation.Confirmed
				if state.WithoutEffect() {
					want = operation.Review
				}
				if got := r.state(); got != want {
					t.Errorf("%s, want %s", got, want)
				}
				if n := r.count(`evidence WHERE operation_id = $1`); n != kept+1 {
					t.Errorf("%d pieces of evidence, want %d", n, kept+1)
				}
				if r.claim() == nil || r.sent() != sent {
					t.Error("evidence of an effect permitted a send")
				}
				if want == operation.Confirmed && (r.count(`operations WHERE id = $1 AND target_reference = '`+ref(s.id)+`' AND duplicate = '' AND request_id IS NULL AND open_attempt IS NULL`) != 1 ||
					r.count(`attempts WHERE operation_id = $1 AND (outcome IS NULL OR outcome = 'unknown' AND settled IS NULL)`) != 0) {
					t.Error("confirmed, and something is still open")
				}
				r.whole()
			})
		}
	}
}

// TestSecondEffect: a second effect of a confirmed operation is a suspected duplicate
// with open work for somebody, however it becomes known.
func TestSecondEffect(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	for kind, bring := range news {
		t.Run(kind, func(t *testing.T) {
			s := &stand{f: f, t: t, id: coupon(t, f)()}
			ways[operation.Confirmed](s)
			s.must(bring(s, "another-"+string(s.id)))
			r := race{f: f, t: t, id: s.id}
			if r.count(`operations WHERE id = $1 AND state = 'confirmed' AND duplicate = 'suspected' AND remedy = 'duplicate' AND next_kind = 'remedy'`) != 1 {
				t.Error("the second effect is not shown to anybody")
			}
			r.whole()
		})
	}
}

// TestSomebodyElsesEffect: a reference that another operation holds is a candidate for
// a person and confirms nothing.
func TestSomebodyElsesEffect(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	for kind, bring := range news {
		t.Run(kind, func(t *testing.T) {
			other := &stand{f: f, t: t, id: coupon(t, f)()}
			ways[operation.Confirmed](other)
			s := &stand{f: f, t: t, id: coupon(t, f)()}
			ways[operation.Unknown](s)
			s.must(bring(s, ref(other.id)))
			r := race{f: f, t: t, id: s.id}
			if got := r.state(); got != operation.Unknown && got != operation.Review {
				t.Errorf("another operation's effect led to %s", got)
			}
			if n := r.count(`target_references WHERE operation_id = $1`); n != 0 {
				t.Error("two operations claim one effect")
			}
			if kind == "Lookup" && r.count(`operations WHERE id = $1 AND state = 'review' AND lookup_at > updated_at`) != 1 {
				t.Error("it is looked for again at once, or nobody is asked")
			}
			r.whole()
		})
	}
}

// TestStopAfterDispatch: what a person withdraws or cancels once a request may have
// left gets no further attempt, and its outcome is still looked up.
func TestStopAfterDispatch(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	for name, stop := range map[string]func(*stand) error{
		"Withdraw": func(s *stand) error { return f.Decide(s.t, s.id, "lead", operation.Withdraw) },
		"Cancel":   func(s *stand) error { return f.Store.Cancel(s.t.Context(), f.As("ops"), s.shown("no longer wanted")) },
	} {
		t.Run(name+"WhileUnknown", func(t *testing.T) {
			s := &stand{f: f, t: t, id: coupon(t, f)()}
			ways[operation.Unknown](s)
			s.must(stop(s))
			s.nothingFollows()
		})
		t.Run(name+"InFlight", func(t *testing.T) {
			s := &stand{f: f, t: t, id: coupon(t, f)()}
			ways[operation.InProgress](s)
			s.must(stop(s))
			if f.Count(t, `operations WHERE id = $1 AND next_kind = 'finish' AND next_at > clock_timestamp()`, string(s.id)) != 1 {
				t.Error("the attempt in flight lost the time by which it must end")
			}
			s.report(lost)
			s.nothingFollows()
		})
	}
}

// nothingFollows checks an unknown operation of which a person wants no repeat.
func (s *stand) nothingFollows() {
	s.t.Helper()
	r := race{f: s.f, t: s.t, id: s.id}
	if r.state() != operation.Unknown {
		s.t.Fatalf("%s, want unknown", r.state())
	}
	if r.count(`operations WHERE id = $1 AND stopped AND retry_at IS NULL AND lookup_at IS NOT NULL`) != 1 {
		s.t.Error("the outcome is no longer looked up, or a repeat is still planned")
	}
	if _, err := s.f.Store.SweepStuck(s.t.Context(), store.System("job")); err != nil {
		s.t.Error(err)
	}
	for range 3 {
		s.must(s.f.Store.RecordLookup(s.t.Context(), hand, s.id, time.Now(), operation.LookupFinding{Result: operation.LookupNone}))
	}
	if r.state() != operation.Review {
		s.t.Errorf("after three misses %s, want review", r.state())
	}
	if r.claim() == nil || r.sent() != 1 {
		s.t.Error("it was sent again")
	}
	r.whole()
}
