package operation

import (
	"time"

	"pgregory.net/rapid"
)

// try is one attempt of the model, with the worker that holds it.
type try struct {
	id           AttemptID
	kind         AttemptKind
	key          string
	version      int
	body         [32]byte
	leaseEnd     time.Time
	sendBy       time.Time
	dispatchedAt time.Time
	protected    bool
	clearance    *Clearance
	ended        bool
	endedAt      time.Time
	outcome      Outcome
	settled      bool // by evidence or a person
	sent, dead   bool
	answer       *Result
}

// machine drives the pure rules the way the store does: facts from what is recorded,
// one decision at a time, the answer written down.
type machine struct {
	t   *rapid.T
	w   *world
	now time.Time

	state     State
	version   int
	given     []Given
	clearance *Clearance
	request   *ReexecutionFacts
	tries     []*try
	gen       int
	keyFirst  map[string]time.Time
	retryAt   time.Time
	lookupAt  time.Time
	lookup    *LookupFact
	misses    int
	answers   []Answer
	reference string
	max       int
	used      int

	keyAnswered, stated, disputed, stopped bool
	paused, earlierOpen, unproven          bool
	gone                                   map[UserID]bool
	current                                Protection
	entries                                []Entry
	hashes                                 [][32]byte
}

var (
	policy   = RetryPolicy{Max: 5, Base: 2 * time.Second, MaxInterval: 5 * time.Minute, RespectRetryAfter: true}
	approval = Policy{Approvers: Selector{Role: RoleApprover}, SeparateAuthor: true, Expires: 72 * time.Hour}
	author   = Person{ID: "usr_a", Active: true, Roles: []Role{RoleAuthor, RoleApprover}}
	ops      = Selector{Role: RoleOpsOwner}
	opsR     = Person{ID: "usr_r", Active: true, Roles: []Role{RoleOpsOwner}}
	opsS     = Person{ID: "usr_s", Active: true, Roles: []Role{RoleOpsOwner}}
)

const modelLease = 30 * time.Second

func newMachine(t *rapid.T, trusted bool) *machine {
	w := drawWorld(t, trusted)
	m := &machine{t: t, w: w, now: t0, state: Draft, version: 1, gen: 1, max: 4,
		keyFirst: map[string]time.Time{}, gone: map[UserID]bool{}, current: w.doc}
	return m
}

func (m *machine) hash() [32]byte { return hash(byte(m.version)) }
func (m *machine) key() string    { return DestinationKey("op_1", m.gen) }

func (m *machine) open() *try {
	for _, a := range m.tries {
		if !a.ended {
			return a
		}
	}
	return nil
}

// facts is what the store reads under the row's lock.
func (m *machine) facts() Facts {
	f := Facts{ID: "op_1", State: m.state, AttemptsUsed: m.used, AttemptsMax: m.max, AttemptsEver: len(m.tries),
		Version: VersionFacts{ID: VersionID("ver_" + itoa(m.version)), Number: m.version, Hash: m.hash(), Account: "acct", Environment: "test"},
		Account: "acct", Environment: "test", Key: m.key(), KeyFirst: m.keyFirst[m.key()], RetryAt: m.retryAt, LookupAt: m.lookupAt,
		LastLookup: m.lookup, Misses: m.misses, KeyAnswered: m.keyAnswered, Stated: m.stated, Disputed: m.disputed, Stopped: m.stopped,
		PausedOperation: m.paused, Protection: m.current.Stricter(m.w.doc), ReviewRole: RoleOpsOwner}
	if m.clearance != nil {
		c := *m.clearance
		c.Approvers = nil
		for _, a := range m.clearance.Approvers {
			a.Entitled = !m.gone[a.User]
			c.Approvers = append(c.Approvers, a)
		}
		f.Clearance = &c
		if c.Kind == ClearReexecution {
			f.Reexecution = m.request
		}
	}
	if m.earlierOpen {
		f.EarlierOpen = []string{"earlier"}
	}
	for _, a := range m.tries {
		if !a.ended {
			f.OpenAttempt = a.id
		}
		if a.dispatchedAt.IsZero() {
			continue
		}
		last := a.leaseEnd
		if a.ended && a.endedAt.Before(last) {
			last = a.endedAt
		}
		f.LastSend, f.LastDispatch = later(f.LastSend, last), later(f.LastDispatch, a.dispatchedAt)
		if a.ended && a.outcome == OutcomeUnknown && !a.settled {
			f.Unsettled = append(f.Unsettled, UnsettledAttempt{ID: a.id, Key: a.key, Account: "acct", Protected: a.protected,
				DispatchedAt: a.dispatchedAt, LeaseEnd: last, ResolvedHash: a.body})
		}
	}
	return f
}

// move writes the events as entries of the chain; a forbidden one is a fault of the rules.
func (m *machine) move(events ...Event) {
	for _, ev := range events {
		to, ok := Next(m.state, ev)
		if !ok {
			m.t.Fatalf("the rules ask for %s in %s", ev, m.state)
		}
		e := Entry{SubjectKind: SubjectOperation, SubjectID: "op_1", Seq: int64(len(m.entries) + 1), At: m.now, Action: string(ev), From: m.state, To: to}
		if n := len(m.hashes); n > 0 {
			e.Prev = m.hashes[n-1]
		}
		m.entries, m.hashes = append(m.entries, e), append(m.hashes, e.Hash())
		m.state = to
		if ev == EvDispute {
			m.disputed, m.answers = true, nil
		} else if m.disputed {
			m.t.Fatalf("%s moves what is disputed, and nobody settled it", ev)
		}
		if ev == EvRefuseReexecution {
			m.clearance, m.request = nil, nil
		}
		if ev == EvExpire || ev == EvEdit || ev == EvCorrect {
			m.clearance, m.given = nil, nil
		}
	}
}

func (m *machine) apply(a After) {
	m.move(a.Events...)
	m.retryAt, m.lookupAt = a.RetryAt, a.LookupAt
	m.keyAnswered = m.keyAnswered || a.KeyAnswered
	if a.DuplicateSuspected {
		m.t.Fatal("a duplicate is suspected though the ledger never held two effects")
	}
	if m.state.Closed() {
		m.retryAt = time.Time{}
	}
}

// record ends an attempt under its own fence.
func (m *machine) record(a *try, r Result) {
	a.ended, a.endedAt, a.outcome = true, m.now, r.Outcome
	if r.Outcome == OutcomeConfirmed {
		m.reference = r.TargetReference
	}
	if r.Outcome == OutcomeUnknown {
		m.unproven = true
	}
	m.apply(AfterResult(m.facts(), r, a.kind, policy, m.now))
	m.cancelUnsent()
}

// release ends an open attempt that was not dispatched and now never will be.
func (m *machine) release() {
	if a := m.open(); a != nil && a.dispatchedAt.IsZero() {
		a.ended, a.endedAt, a.outcome, a.dead = true, m.now, OutcomeNotStarted, true
	}
}

// cancelUnsent makes sure that nothing stays open beside a state that has no attempt.
func (m *machine) cancelUnsent() {
	a := m.open()
	if a == nil || m.state == InProgress {
		return
	}
	if a.dispatchedAt.IsZero() {
		m.release()
		return
	}
	a.ended, a.endedAt, a.outcome = true, a.leaseEnd, OutcomeUnknown // its own report will be late
	m.unproven = true
}

// claim asks the gate and opens an attempt.
func (m *machine) claim() {
	f := m.facts()
	p, r := Permit(f, m.now)
	if r != nil {
		if m.open() == nil && !m.state.Closed() {
			m.apply(AfterRefusal(f, r, policy, m.now))
		}
		return
	}
	m.move(EvClaim)
	a := &try{id: AttemptID("att_" + itoa(len(m.tries)+1)), kind: p.Kind, key: m.key(), version: m.version, body: m.hash(),
		leaseEnd: m.now.Add(modelLease), clearance: m.clearance}
	a.sendBy = SendBy(p, a.leaseEnd)
	if p.Kind != AttemptReexecution {
		m.used++
	}
	m.tries = append(m.tries, a)
}

// dispatch asks the gate again; a refusal ends the attempt with nothing sent.
func (m *machine) dispatch(a *try) {
	f := m.facts()
	p, r := PermitDispatch(f, a.id, m.now, a.sendBy)
	if r == nil {
		r = CheckResolved(f, a.body)
	}
	if r != nil {
		if r.Code != CodeStaleFence {
			m.record(a, Result{Outcome: OutcomeNotStarted, Proof: Proof{Code: string(r.Code), Phase: PhaseBlocked}})
		}
		return
	}
	a.kind, a.dispatchedAt = p.Kind, m.now
	a.sendBy = SendBy(p, a.leaseEnd)
	a.protected = f.Protection.Key && f.Protection.Proven
	if m.keyFirst[a.key].IsZero() {
		m.keyFirst[a.key] = m.now
	}
	if p.Kind == AttemptReexecution {
		m.clearance.Spent = true
	}
	m.misses = 0
}

// send is the worker's request: only after dispatch, only before send_by.
func (m *machine) send(a *try) {
	m.checkSend(a)
	a.sent = true
	if r, ok := m.w.arrive(m.t, m.now, a.key, a.body); ok {
		a.answer = &r
	}
}

// report is what the worker tells: under a live fence the outcome, under a stale one
// evidence.
func (m *machine) report(a *try) {
	r := Result{Proof: Proof{Code: "timeout", Phase: PhaseSent}}
	if a.answer != nil {
		r = *a.answer
	}
	a.dead = true
	if m.open() == a && m.now.Before(a.leaseEnd) {
		m.record(a, r)
		return
	}
	m.evidence(r)
}

// evidence arrives late, from a worker without a fence or from a callback.
func (m *machine) evidence(r Result) {
	before := m.facts()
	after := AfterLateReport(before, r, m.reference, m.now)
	if r.Outcome != OutcomeConfirmed && (len(after.Events) > 0 || after.RetryAt != before.RetryAt) {
		m.t.Fatalf("a late report without an effect did something: %+v", after)
	}
	m.apply(after)
	if r.Outcome == OutcomeConfirmed && before.State != Confirmed && m.state == Confirmed {
		m.reference = r.TargetReference
	}
	m.cancelUnsent()
}

// look makes one lookup.
func (m *machine) look() {
	l := m.w.lookup(m.t, m.now)
	m.lookup = &LookupFact{Result: l.Result, At: m.now}
	if l.Result != LookupOne {
		m.misses++
	}
	f := m.facts()
	if f.State.Closed() {
		a := AfterLookupClosed(f, l, m.reference, policy, m.now)
		m.apply(a)
		return
	}
	m.apply(AfterLookup(f, l, policy, m.now))
	if m.state == Confirmed {
		m.reference = l.ID
	}
	m.cancelUnsent()
}
