package operation

import (
	"time"

	"pgregory.net/rapid"
)

// What time and the background jobs do in the model.

func (m *machine) pick(fits func(*try) bool) *try {
	for _, a := range m.tries {
		if fits(a) {
			return a
		}
	}
	return nil
}

// advance lets time pass for the destination and for us.
func (m *machine) advance(d time.Duration) {
	m.now = m.now.Add(d)
	m.w.tick(m.now)
}

func (m *machine) jump() {
	m.advance(oneOf(m.t, "pass", time.Millisecond, 2*time.Second, 9*time.Second, 29*time.Second, 31*time.Second,
		2*time.Minute, 11*time.Minute, time.Hour, 23*time.Hour, 25*time.Hour, 80*time.Hour))
}

// toDue goes to the next moment that something is planned for.
func (m *machine) toDue() bool {
	times := []time.Time{m.retryAt, m.lookupAt, m.facts().quietAt()}
	if a := m.open(); a != nil {
		times = append(times, a.leaseEnd)
	}
	var at time.Time
	for _, x := range times {
		if x.After(m.now) && (at.IsZero() || x.Before(at)) {
			at = x
		}
	}
	if at.IsZero() {
		return false
	}
	m.advance(at.Sub(m.now))
	return true
}

// work is the built-in job: claim, dispatch, send, perhaps report.
func (m *machine) work() bool {
	if m.open() != nil {
		return false
	}
	m.claim()
	a := m.open()
	if a == nil {
		return true
	}
	m.dispatch(a)
	if a.ended {
		return true
	}
	m.send(a)
	if rapid.Bool().Draw(m.t, "reports") {
		m.report(a)
	}
	return true
}

// sleeper is a job whose worker sleeps from dispatch until just before send_by and then
// sends: the latest that an attempt can still take effect.
func (m *machine) sleeper() bool {
	if m.open() == nil {
		m.claim()
	}
	a := m.open()
	if a == nil || a.sent || a.dead {
		return false
	}
	if a.dispatchedAt.IsZero() {
		m.dispatch(a)
	}
	if a.ended || !m.now.Before(a.sendBy) {
		return true
	}
	m.advance(a.sendBy.Sub(m.now) - time.Millisecond)
	m.send(a)
	m.advance(time.Millisecond)
	m.sweep()
	return true
}

// sweep ends attempts whose lease has run out.
func (m *machine) sweep() bool {
	a := m.open()
	if a == nil || m.now.Before(a.leaseEnd) {
		return false
	}
	m.record(a, LeaseEnded(!a.dispatchedAt.IsZero()))
	return true
}

func (m *machine) expire() bool {
	ev, r := ExpiryDue(m.facts(), m.now)
	if ev == "" {
		return false
	}
	if r == nil {
		m.t.Fatalf("%s without a reason", ev)
	}
	lookupAt := m.lookupAt
	m.move(ev)
	m.retryAt = time.Time{}
	m.lookupAt = lookupAt
	return true
}

func (m *machine) lookIfMay() bool {
	asked := m.state.Unresolved() || isReexecution(m.facts())
	if !m.w.doc.HasLookup || (!asked && (len(m.tries) == 0 || (m.state != Confirmed && m.state != InProgress))) {
		return false
	}
	m.look()
	return true
}

// callback is the destination's own word that the effect exists.
func (m *machine) callback() bool {
	if len(m.w.ledger) == 0 || !odds(m.t, "rare", 5) {
		return false
	}
	m.evidence(Result{Outcome: OutcomeConfirmed, TargetReference: m.w.ledger[0].ref})
	return true
}

// drain lets everybody do their part with nothing in the way: the operation must reach
// a closed state. Nothing stays stuck.
func (m *machine) drain(p Policy) {
	m.paused, m.earlierOpen, m.gone, m.current = false, false, map[UserID]bool{}, m.w.doc
	for range 400 {
		if m.state.Closed() {
			return
		}
		m.advance(20 * time.Second)
		m.drainStep(p)
		m.check()
	}
	m.t.Fatalf("stuck in %s: %+v", m.state, m.facts())
}

func (m *machine) drainStep(p Policy) {
	m.sweep()
	m.expire()
	switch m.state {
	case Draft:
		m.submit()
	case PendingApproval:
		m.approve(p)
	case Waiting:
		m.move(EvClear)
	case Ready, RetryScheduled:
		if isReexecution(m.facts()) {
			m.lookIfMay()
			m.recheck()
		}
		m.work()
	case Unknown:
		m.lookIfMay()
		m.claim()
		m.toDue()
	case InProgress:
		m.advance(modelLease)
	case Review, ReexecutionRequested:
		m.answer()
		if !m.done() && m.state == Review {
			_ = m.notDone()
			if MayCloseNotExecuted(m.facts(), m.says(0)) == nil {
				m.move(EvCloseNotExecuted)
			}
		} else if m.state == ReexecutionRequested {
			m.second()
		}
	}
}
