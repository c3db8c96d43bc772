package operation

import "time"

// What people do in the model. They are honest: a person looks into the destination's
// ledger and answers what stands there at that moment.

// begin starts many histories where the interesting part starts: approved, or sent and
// not answered.
func (m *machine) begin(p Policy, doubt bool) {
	if !doubt && odds(m.t, "from the draft", 4) {
		return
	}
	m.submit()
	for range 20 {
		if m.state != Ready {
			m.approve(p)
		}
	}
	if m.state == Ready && !odds(m.t, "unsent", 4) {
		m.work()
		m.advance(modelLease)
		m.sweep()
	}
}

func (m *machine) submit() bool {
	if m.state != Draft {
		return false
	}
	m.move(EvSubmit)
	return true
}

func (m *machine) edit() bool {
	if !odds(m.t, "rare", 12) || MayEditAgain(m.facts(), m.unproven) != nil || m.version > 100 {
		return false
	}
	switch m.state {
	case Draft:
	case Review:
		m.move(EvCorrect)
	default:
		m.move(EvEdit)
	}
	m.version++
	m.given, m.clearance, m.request, m.retryAt = nil, nil, nil, time.Time{}
	return true
}

func (m *machine) approver(u UserID) Person {
	return Person{ID: u, Active: !m.gone[u], Roles: []Role{RoleApprover}}
}

func (m *machine) approve(p Policy) bool {
	u := oneOf[UserID](m.t, "approver", "usr_b", "usr_c", "usr_d")
	if MayDecide(m.state, p, author, []UserID{author.ID}, m.given, Approve) == nil {
		m.t.Fatal("the author may approve")
	}
	if MayDecide(m.state, p, m.approver(u), []UserID{author.ID}, m.given, Approve) != nil {
		return false
	}
	m.given = append(m.given, Given{User: u, Decision: Approve})
	if !QuorumReached(p, m.given) {
		return true
	}
	f := m.facts()
	m.clearance = &Clearance{ID: "clr", Kind: ClearContent, VersionID: f.Version.ID, Hash: f.Version.Hash, ExpiresAt: m.now.Add(p.Expires), Required: p.Required}
	for _, g := range m.given {
		m.clearance.Approvers = append(m.clearance.Approvers, Approver{User: g.User})
	}
	m.misses = 0
	if m.earlierOpen {
		m.move(EvClearToWait)
	} else {
		m.move(EvClear)
	}
	return true
}

func (m *machine) reject(p Policy) bool {
	if !odds(m.t, "rare", 12) || MayDecide(m.state, p, m.approver("usr_d"), nil, m.given, Reject) != nil {
		return false
	}
	m.given, m.clearance = nil, nil
	m.move(EvReject)
	return true
}

func (m *machine) withdraw(p Policy) bool {
	if len(m.given) == 0 || !odds(m.t, "rare", 6) {
		return false
	}
	u := m.given[0].User
	if MayDecide(m.state, p, m.approver(u), nil, m.given, Withdraw) != nil {
		return false
	}
	a := m.open()
	dispatched := a != nil && !a.dispatchedAt.IsZero()
	events := AfterWithdraw(m.facts(), dispatched)
	if a != nil && !dispatched {
		m.release()
	}
	m.given = m.given[1:]
	if m.state != PendingApproval && !(m.clearance != nil && m.clearance.Kind == ClearReexecution) {
		m.clearance = nil
	}
	m.move(events...)
	if m.state == Unknown {
		a := PlanUnknown(m.facts(), policy, m.now, 0)
		m.apply(a)
	}
	return true
}

func (m *machine) cancel() bool {
	a := m.open()
	dispatched := a != nil && !a.dispatchedAt.IsZero()
	if !odds(m.t, "rare", 12) || MayCancel(m.facts(), dispatched) != nil {
		return false
	}
	m.release()
	m.move(EvCancel)
	return true
}

func (m *machine) stop() bool {
	a := m.open()
	if !odds(m.t, "rare", 12) || MayStop(m.facts(), a != nil && !a.dispatchedAt.IsZero()) != nil {
		return false
	}
	m.stopped = true
	return true
}

// answer fills the whole checklist; the search at the destination is answered honestly.
func (m *machine) answer() bool {
	if !m.state.Unresolved() {
		return false
	}
	for _, i := range Checklist {
		m.answers = append(m.answers, Answer{Item: i, Yes: i != CheckDestination || len(m.w.ledger) == 0, User: opsR.ID, At: m.now})
	}
	return true
}

func (m *machine) says(n int) Statement {
	return Statement{Who: opsR, Reviewer: ops, Reason: "seen", Evidence: n}
}

func (m *machine) notDone() bool {
	f := m.facts()
	if MayReconcile(m.state, ops, opsR) != nil || MayConfirmNotDone(f, m.answers, nil, m.now) != nil {
		return false
	}
	if len(m.w.ledger) > 0 || len(m.w.inFlight) > 0 {
		m.t.Fatal("an honest person could say \"not done\" though the effect exists or is under way")
	}
	if m.state == Unknown {
		m.move(EvEscalate)
	}
	m.settle()
	m.stated = m.stated || m.disputed || len(f.Unsettled) > 0
	m.disputed = false
	return true
}

func (m *machine) settle() {
	for _, a := range m.tries {
		if a.ended && a.outcome == OutcomeUnknown {
			a.settled = true
		}
	}
}

func (m *machine) done() bool {
	if len(m.w.ledger) == 0 || MayConfirmDone(m.state, m.says(1), m.w.ledger[0].ref, false) != nil {
		return false
	}
	m.reference, m.disputed = m.w.ledger[0].ref, false
	m.move(EvEffect)
	return true
}

func (m *machine) requestReexecution() bool {
	if MayRequestReexecution(m.facts(), m.says(0)) != nil {
		return false
	}
	m.move(EvRequestReexecution)
	return true
}

func (m *machine) second() bool {
	parties := []UserID{author.ID, opsR.ID}
	if MayDecideReexecution(m.state, ops, opsR, parties) == nil {
		m.t.Fatal("a party may give the second decision")
	}
	if MayDecideReexecution(m.state, ops, opsS, parties) != nil {
		return false
	}
	f := m.facts()
	stored := m.keyAnswered
	if g := NextGeneration(m.gen, f.Protection, f.KeyFirst, stored, m.now); g != m.gen {
		m.gen, m.keyAnswered = g, false
	}
	m.clearance = &Clearance{ID: "clr", Kind: ClearReexecution, VersionID: f.Version.ID, Hash: f.Version.Hash,
		ExpiresAt: m.now.Add(8 * time.Hour), Required: 1, Approvers: []Approver{{User: opsS.ID}}}
	m.request = &ReexecutionFacts{Request: "req_1", HasLookup: m.w.doc.HasLookup}
	m.move(EvApproveReexecution)
	return true
}

// recheck answers the checklist anew right before a re-execution.
func (m *machine) recheck() bool {
	if m.request == nil || len(m.w.ledger) > 0 {
		return false
	}
	m.request.CheckedAt = m.now
	return true
}

func (m *machine) grant() bool {
	if MayGrantAttempts(m.facts(), m.says(0), 2) != nil || m.unproven || m.clearance == nil || m.clearance.Kind != ClearContent {
		return false
	}
	m.max += 2
	m.move(EvGrantAttempts)
	return true
}

func (m *machine) close() bool {
	if !odds(m.t, "rare", 12) || MayCloseNotExecuted(m.facts(), m.says(0)) != nil {
		return false
	}
	if len(m.w.ledger) > 0 {
		m.t.Fatal("closed as not executed though the effect exists")
	}
	m.move(EvCloseNotExecuted)
	return true
}

func (m *machine) dispute() bool {
	if !odds(m.t, "rare", 12) || MayDispute(m.state, m.says(1)) != nil {
		return false
	}
	m.move(EvDispute)
	m.cancelUnsent()
	return true
}

func (m *machine) stage() bool {
	m.earlierOpen = !m.earlierOpen && odds(m.t, "rare", 3)
	switch ev, ok := StageReopened(m.facts()); {
	case m.earlierOpen && ok:
		m.move(ev)
	case !m.earlierOpen && m.state == Waiting:
		m.move(EvClear)
	}
	return true
}
