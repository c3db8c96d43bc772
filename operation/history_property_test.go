package operation

import (
	"flag"
	"maps"
	"os"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// The default run is long enough to be worth something and short enough for every
// change; -rapid.checks and -rapid.steps make it longer.
func TestMain(m *testing.M) {
	flag.Parse()
	set := map[string]bool{}
	flag.Visit(func(f *flag.Flag) { set[f.Name] = true })
	for name, value := range map[string]string{"rapid.checks": "2500", "rapid.steps": "40"} {
		if !set[name] {
			_ = flag.Set(name, value)
		}
	}
	os.Exit(m.Run())
}

// TestHistories drives random histories of one operation against a model destination
// and asserts MODEL §10 after every step, with the destination's ledger as the oracle.
// "everything" lets people do all they may; "in doubt" stays where answers get lost.
func TestHistories(t *testing.T) {
	inDoubt := []string{"work", "work more", "go on", "claim", "dispatch", "dispatch", "send", "sleeper", "sleeper", "sleeper", "report", "crash", "sweep", "look up", "answer", "not done",
		"request", "second", "recheck", "profile", "clock", "clock step", "due", "due again", "expire"}
	for name, doubt := range map[string]bool{"everything": false, "in doubt": true} {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				m := newMachine(t, doubt)
				approval := approval
				approval.Required = 1 + below(t, "required", 2)
				m.begin(approval, doubt)
				acts := m.actions(approval)
				names := slices.Sorted(maps.Keys(acts))
				if doubt {
					names = inDoubt
				}
				t.Repeat(map[string]func(*rapid.T){"": func(*rapid.T) { m.check() }, "step": func(t *rapid.T) {
					for range 12 { // until one applies
						was, act := m.state, oneOf(t, "act", names...)
						if acts[act]() {
							t.Logf("%s %s: %s → %s", m.now.Format("02 15:04:05.000"), act, was, m.state)
							return
						}
					}
				}})
				m.drain(approval)
			})
		})
	}
}

// actions are everything that people, workers, the destination and time can do. Each
// reports whether it applied.
func (m *machine) actions(p Policy) map[string]func() bool {
	return map[string]func() bool{
		"submit":   func() bool { return m.submit() },
		"edit":     func() bool { return m.edit() },
		"approve":  func() bool { return m.approve(p) },
		"withdraw": func() bool { return m.withdraw(p) },
		"cancel":   func() bool { return m.cancel() },
		"stop":     func() bool { return m.stop() },
		"reject":   func() bool { return m.reject(p) },
		"claim":    func() bool { m.claim(); return true },
		"dispatch": func() bool {
			if a := m.open(); a != nil && a.dispatchedAt.IsZero() {
				m.dispatch(a)
				return true
			}
			return false
		},
		"work":      func() bool { return m.work() },
		"work more": func() bool { return m.toDue() && m.work() },
		"go on":     func() bool { return m.state == Unknown && m.toDue() && m.work() },
		"send": func() bool {
			a := m.pick(func(a *try) bool { return !a.dispatchedAt.IsZero() && !a.sent && !a.dead && m.now.Before(a.sendBy) })
			if a != nil {
				m.send(a)
			}
			return a != nil
		},
		"sleeper": func() bool { return m.sleeper() },
		"report": func() bool {
			a := m.pick(func(a *try) bool { return a.sent && !a.dead })
			if a != nil {
				m.report(a)
			}
			return a != nil
		},
		"crash": func() bool {
			a := m.pick(func(a *try) bool { return !a.dead })
			if a != nil && odds(m.t, "rare", 3) {
				a.dead = true
			}
			return a != nil
		},
		"sweep":    func() bool { return m.sweep() },
		"expire":   func() bool { return m.expire() },
		"look up":  func() bool { return m.lookIfMay() },
		"callback": func() bool { return m.callback() },
		"answer":   func() bool { return m.answer() },
		"not done": func() bool { return m.notDone() },
		"done":     func() bool { return m.done() },
		"request":  func() bool { return m.requestReexecution() },
		"second":   func() bool { return m.second() },
		"refuse second": func() bool {
			if m.state == ReexecutionRequested && odds(m.t, "rare", 4) {
				m.move(EvRefuseReexecution)
				return true
			}
			return false
		},
		"recheck":    func() bool { return m.recheck() },
		"grant":      func() bool { return m.grant() },
		"close":      func() bool { return m.close() },
		"dispute":    func() bool { return m.dispute() },
		"pause":      func() bool { m.paused = !m.paused && odds(m.t, "rare", 3); return true },
		"stage":      func() bool { return m.stage() },
		"entitle":    func() bool { m.gone["usr_b"] = !m.gone["usr_b"] && odds(m.t, "rare", 3); return true },
		"profile":    func() bool { m.current.Proven = m.w.doc.Proven && !odds(m.t, "rare", 3); return true },
		"clock":      func() bool { m.jump(); return true },
		"clock step": func() bool { m.advance(time.Second); return true },
		"due":        func() bool { return m.toDue() },
		"due again":  func() bool { return m.toDue() },
	}
}

// check asserts what must hold always.
func (m *machine) check() {
	t, f := m.t, m.facts()
	if n := len(m.w.ledger); n > 1 {
		t.Fatalf("I1: %d effects: %+v", n, m.w.ledger)
	}
	open := 0
	for _, a := range m.tries {
		if !a.ended {
			open++
		}
	}
	if open > 1 || (open == 1) != (m.state == InProgress) {
		t.Fatalf("I3: %d open attempts in %s", open, m.state)
	}
	next := NextFor(f, People{}, Due{}, Responsible{}, time.Time{}, time.Time{}, m.now)
	if m.state.Closed() != (next.Kind == DecideNothing) || (!m.state.Closed() && (next.At.IsZero() || next.Who == Responsible{})) {
		t.Fatalf("I4: %s has the next decision %+v", m.state, next)
	}
	if FirstBreak(m.entries, m.hashes) != -1 {
		t.Fatal("I7: the chain does not verify")
	}
	if _, r := Permit(f, m.now); r == nil && m.state != Ready && m.state != RetryScheduled && m.state != Unknown {
		t.Fatalf("I6: the gate lets %s through", m.state)
	}
	if m.disputed && m.state != Review {
		t.Fatalf("disputed in %s", m.state)
	}
	switch m.state {
	case Confirmed:
		if len(m.w.ledger) == 0 {
			t.Fatal("confirmed, and the ledger is empty")
		}
	case Unknown:
		if len(f.Unsettled) == 0 {
			t.Fatal("unknown without an unsettled attempt")
		}
		if m.retryAt.IsZero() && m.lookupAt.IsZero() {
			t.Fatal("unknown with no next check planned")
		}
	case Ready, RetryScheduled, Waiting, Draft, PendingApproval, Cancelled, Rejected, NotExecuted, ReexecutionRequested:
		if len(f.Unsettled) > 0 {
			t.Fatalf("%s with an unsettled attempt", m.state)
		}
	}
}

// checkSend asserts I1 and I2 at the moment bytes leave.
func (m *machine) checkSend(a *try) {
	c := a.clearance
	if c == nil || c.VersionID != VersionID("ver_"+itoa(a.version)) || c.Hash != a.body {
		m.t.Fatal("I2: bytes leave that are not those of a cleared version")
	}
	if !m.now.Before(a.sendBy) || a.sendBy.After(a.leaseEnd) {
		m.t.Fatal("I3: bytes leave after send_by")
	}
	for _, b := range m.tries {
		proven := b.ended && b.outcome == OutcomeNotStarted
		if b != a && b.dispatchedAt.Before(a.dispatchedAt) && !b.dispatchedAt.IsZero() && !proven &&
			a.kind != AttemptProtected && a.kind != AttemptReexecution {
			m.t.Fatalf("I1: %s sends as %s though %s is not proven", a.id, a.kind, b.id)
		}
	}
	if a.kind == AttemptReexecution && c.Kind != ClearReexecution {
		m.t.Fatal("I1: a re-execution without a second person's approval")
	}
	if a.kind == AttemptProtected && (!m.w.honours || !m.now.Before(m.keyFirst[a.key].Add(m.w.doc.Retention))) {
		m.t.Fatal("I1: a protected retry where nothing protects")
	}
}
