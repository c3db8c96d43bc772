package operation

import "testing"

// TestTurnOf: a batch that cannot go on by itself is never the system's.
func TestTurnOf(t *testing.T) {
	people := People{Owner: Responsible{Role: RoleApprover}, Reviewer: Responsible{Role: RoleOpsOwner}, Reexecute: Responsible{Role: RoleAdmin}}
	system := NextDecision{Kind: DecideTake, Who: Responsible{System: true}}
	reviewed := BatchTurn{Kind: TurnSettle, N: 1, Next: NextDecision{Kind: DecideReconcile, Who: people.Reviewer}}
	whole := &BatchHolder{Stage: "first", Turn: reviewed}
	items := &BatchHolder{Stage: "first", Turn: reviewed, Items: true}
	resume := BatchTurn{Kind: TurnResume, Next: NextDecision{Kind: DecideResume, Who: Responsible{Role: RoleAdmin}}, AllFlows: true}
	type states = map[State]int
	for name, tt := range map[string]struct {
		b    BatchStand
		kind BatchTurnKind
		n    int
		next DecisionKind
		who  Responsible
	}{
		"runs":                  {BatchStand{State: BatchRunning, ToCome: 3, States: states{Review: 2}}, TurnRecorded, 0, DecideTake, system.Who},
		"held":                  {BatchStand{State: BatchRunning, ToCome: 3, Holder: whole}, TurnHeld, 0, DecideStage, people.Reviewer},
		"held while one is out": {BatchStand{State: BatchRunning, ToCome: 3, States: states{InProgress: 1}, Holder: whole}, TurnRecorded, 0, DecideTake, system.Who},
		"held canary":           {BatchStand{State: BatchCanary, States: states{Ready: 2}, Holder: whole}, TurnHeld, 0, DecideStage, people.Reviewer},
		"held, but all is out":  {BatchStand{State: BatchRunning, States: states{Review: 4}, Holder: whole}, TurnSettle, 4, DecideReconcile, people.Reviewer},
		"items wait":            {BatchStand{State: BatchRunning, States: states{Waiting: 1, Confirmed: 5}, Holder: items}, TurnHeld, 0, DecideStage, people.Reviewer},
		"items wait, others go": {BatchStand{State: BatchRunning, States: states{Waiting: 1, Ready: 5}, Holder: items}, TurnRecorded, 0, DecideTake, system.Who},
		"held, paused":          {BatchStand{State: BatchRunning, ToCome: 3, Paused: true, Holder: whole}, TurnRecorded, 0, DecideTake, system.Who},
		"reviews are left":      {BatchStand{State: BatchRunning, States: states{Confirmed: 9, Review: 2, Unknown: 1}}, TurnSettle, 2, DecideReconcile, people.Reviewer},
		"unknowns are left":     {BatchStand{State: BatchRunning, States: states{Unknown: 1}}, TurnRecorded, 0, DecideTake, system.Who},
		"re-executions":         {BatchStand{State: BatchRunning, States: states{ReexecutionRequested: 2}}, TurnReexecution, 2, DecideReexecution, people.Reexecute},
		"stopped, a review":     {BatchStand{State: BatchRunning, Stopped: true, States: states{Review: 2}}, TurnSettle, 2, DecideReconcile, people.Reviewer},
		"closed, disputed":      {BatchStand{State: BatchClosed, States: states{Review: 5}}, TurnSettle, 5, DecideReconcile, people.Reviewer},
		"closed, not satisfied": {BatchStand{State: BatchClosed, Later: true, States: states{NotExecuted: 1}}, TurnGoOn, 0, DecideRemedy, people.Owner},
		"closed, a replacement or dispute is open, and later stages wait": {BatchStand{State: BatchClosed, Later: true, States: states{Review: 1}}, TurnSettle, 1, DecideReconcile, people.Reviewer},
		"rejected":                     {BatchStand{State: BatchRejected, Later: true}, TurnGoOn, 0, DecideRemedy, people.Owner},
		"closed, waived":               {BatchStand{State: BatchClosed, Later: true, Waived: true}, TurnRecorded, 0, DecideTake, system.Who},
		"closed, satisfied":            {BatchStand{State: BatchClosed, Later: true, Satisfied: true}, TurnRecorded, 0, DecideTake, system.Who},
		"the last stage":               {BatchStand{State: BatchClosed}, TurnRecorded, 0, DecideTake, system.Who},
		"canary in review":             {BatchStand{State: BatchCanary, States: states{Review: 2, Unknown: 1}}, TurnSettle, 2, DecideReconcile, people.Reviewer},
		"canary in review, held":       {BatchStand{State: BatchCanary, States: states{Review: 3}, Holder: whole}, TurnSettle, 3, DecideReconcile, people.Reviewer},
		"canary to be decided again":   {BatchStand{State: BatchCanary, States: states{Confirmed: 2, ReexecutionRequested: 1}}, TurnReexecution, 1, DecideReexecution, people.Reexecute},
		"canary goes out":              {BatchStand{State: BatchCanary, ToCome: 1, States: states{Review: 2}}, TurnRecorded, 0, DecideTake, system.Who},
		"halted":                       {BatchStand{State: BatchRunning, Halted: resume, ToCome: 3, States: states{InProgress: 1, Review: 1}}, TurnResume, 0, DecideResume, resume.Next.Who},
		"halted, a retry":              {BatchStand{State: BatchCanary, Halted: resume, States: states{RetryScheduled: 1}}, TurnResume, 0, DecideResume, resume.Next.Who},
		"halted, held":                 {BatchStand{State: BatchRunning, Halted: resume, States: states{Waiting: 1}, Holder: items}, TurnResume, 0, DecideResume, resume.Next.Who},
		"halted, all is out":           {BatchStand{State: BatchRunning, Halted: resume, States: states{InProgress: 1}}, TurnRecorded, 0, DecideTake, system.Who},
		"halted, reviews are left":     {BatchStand{State: BatchRunning, Halted: resume, States: states{Review: 1}}, TurnSettle, 1, DecideReconcile, people.Reviewer},
		"halted, and paused itself":    {BatchStand{State: BatchRunning, Halted: resume, Paused: true, ToCome: 3}, TurnRecorded, 0, DecideTake, system.Who},
		"halted, to be approved":       {BatchStand{State: BatchPendingApproval, Halted: resume, ToCome: 3}, TurnRecorded, 0, DecideTake, system.Who},
		"halted, the rest is approved": {BatchStand{State: BatchCanaryReview, Halted: resume}, TurnRecorded, 0, DecideTake, system.Who},
		"halted, closed":               {BatchStand{State: BatchClosed, Halted: resume}, TurnRecorded, 0, DecideTake, system.Who},
		"to be approved":               {BatchStand{State: BatchPendingApproval, ToCome: 3, Holder: whole}, TurnRecorded, 0, DecideTake, system.Who},
	} {
		tt.b.People, tt.b.Next = people, system
		got := TurnOf(tt.b)
		if want := tt.b.State.Closed() && tt.b.Later && !tt.b.Satisfied && !tt.b.Waived; got.Unmet != want {
			t.Errorf("%s: a run may go on without it: %v", name, got.Unmet)
		}
		if got.Kind != tt.kind || got.N != tt.n || got.Next.Kind != tt.next || got.Next.Who != tt.who || (got.Holder != nil) != (tt.kind == TurnHeld) {
			t.Errorf("%s: %+v", name, got)
		}
		if got.AllFlows != (tt.kind == TurnResume) {
			t.Errorf("%s: for all flows: %v", name, got.AllFlows)
		}
	}
}

// TestRestLapsed: an approval that holds no longer is no canary.
func TestRestLapsed(t *testing.T) {
	for _, c := range []struct {
		state             BatchState
		released, cleared int
		want              bool
	}{{BatchCanaryReview, 3, 3, false}, {BatchCanaryReview, 87, 200, true}, {BatchCanaryReview, 1, 3, true}, {BatchRunning, 87, 200, false}, {BatchCanary, 1, 3, false}, {BatchPendingApproval, 0, 0, false}} {
		if got := RestLapsed(c.state, c.released, c.cleared); got != c.want {
			t.Errorf("%s, %d of %d: %v", c.state, c.released, c.cleared, got)
		}
	}
}
