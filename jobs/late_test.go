package jobs

import (
	"context"
	"testing"
	"time"

	"holdpoint/connector/connectortest"
	"holdpoint/operation"
	"holdpoint/store"
)

// late is a world in which an effect comes after a person decided that there is none. The
// destination's ledger says what really happened.
type late struct {
	*told
	on   *testing.T
	id   operation.ID
	dest string
}

// longAfter is how late an effect comes by the sandbox's clock, which only the test advances.
const longAfter = time.Hour

// newLate sends an operation whose effect comes when the caller is long gone, and waits
// until a person has to decide. The worker goes on, and sends mails.
func newLate(t *testing.T, dest string) *late {
	x := &late{told: newTold(t), on: t, dest: dest}
	x.box.Fault(t, connectortest.Fault{Destination: dest, Fault: "slow", Delay: longAfter})
	x.start(t)
	x.id = x.ready(dest)
	x.untilState(x.id, operation.Review)
	x.effects(dest, x.id, 0)
	return x
}

// arrives lets the late effect come, and the destination tell of it.
func (x *late) arrives(n int, which func([]connectortest.Effect) connectortest.Effect) connectortest.Effect {
	x.t.Helper()
	x.box.Advance(x.t, longAfter)
	if !x.box.WaitEffects(x.t, x.dest, string(x.id), n, 15*time.Second) {
		x.t.Fatal("the late effect did not come")
	}
	e := which(x.box.Ledger(x.t, x.dest, string(x.id)))
	if err := x.store.RecordCallback(context.Background(), store.System("api"), store.Callback{Operation: x.id, Destination: x.dest, Kind: "effect", Reference: e.ID, Body: `{"id":"` + e.ID + `"}`}); err != nil {
		x.t.Fatal(err)
	}
	return e
}

// alarm waits until the reviewers have the mail about the contradiction, and checks that
// nothing held it back.
func (x *late) alarm(decision string) {
	x.t.Helper()
	if n := x.history(x.id, "contradicted"); n != 1 {
		x.t.Errorf("the contradiction stands %d times in the history", n)
	}
	var named string
	if err := x.db.QueryRow(`SELECT links::jsonb->>'decision' FROM history WHERE subject_id = $1 AND action = 'contradicted'`, string(x.id)).Scan(&named); err != nil || named != decision {
		x.t.Errorf("it contradicts %q, %v; want %q", named, err, decision)
	}
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		var sent int
		var waited float64
		if err := x.db.QueryRow(`SELECT count(*) FILTER (WHERE state = 'sent'), COALESCE(max(EXTRACT(EPOCH FROM planned_for - since)), 0) FROM notices WHERE kind = 'contradiction' AND subject = $1 AND channel = 'mail'`,
			string(x.id)).Scan(&sent, &waited); err != nil {
			x.t.Fatal(err)
		}
		if sent == 2 { // both ops owners: the reviewers, and who decided
			if waited > 30 {
				x.t.Errorf("the alarm was held back for %v s", waited)
			}
			return
		}
		if time.Now().After(end) {
			x.t.Fatalf("%d of 2 reviewers were told\n%s", sent, x.told.notices(x.on))
		}
	}
}

// cases gives how many recovery cases the operation had, and how many are open.
func (x *late) cases() (all, open int) {
	x.t.Helper()
	if err := x.db.QueryRow(`SELECT count(*), count(*) FILTER (WHERE closed_at IS NULL) FROM recovery_cases WHERE operation_id = $1`, string(x.id)).Scan(&all, &open); err != nil {
		x.t.Fatal(err)
	}
	return all, open
}

// figures compares figures of the flow with what they have to be, before and after they
// are counted ahead.
func (x *late) figures(want map[operation.Figure]int64) {
	x.t.Helper()
	read := func(when string) {
		b, err := x.store.FindFigureBoard(context.Background(), x.ops[0], store.FigureQuery{Flow: "to-" + x.dest, From: time.Now().Add(-time.Hour)})
		if err != nil {
			x.t.Fatal(err)
		}
		for f, n := range want {
			if got := b.Series[f].Total.N; got != n {
				x.t.Errorf("%s, %s: %d, want %d", f, when, got, n)
			}
			list, err := x.store.ListFigure(context.Background(), x.ops[0], store.FigureListQuery{FigureQuery: b.Query, Figure: f})
			if err != nil || int64(len(list.Rows)) != n {
				x.t.Errorf("%s, %s: %d rows behind it, %v; want %d", f, when, len(list.Rows), err, n)
			}
		}
	}
	read("at once")
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		p, err := x.store.CountFigures(context.Background())
		if err != nil {
			x.t.Fatal(err)
		}
		var last time.Time
		if err := x.db.QueryRow(`SELECT max(at) FROM history`).Scan(&last); err != nil {
			x.t.Fatal(err)
		}
		if p.Until.After(last) || time.Now().After(end) {
			break
		}
	}
	read("counted ahead")
}

// TestLateEffect: an effect that comes after a person decided against it reopens what was
// closed, alarms at once, and ledger and figures agree.
func TestLateEffect(t *testing.T) {
	t.Run("AfterItDidNotHappen", func(t *testing.T) {
		t.Parallel()
		x := newLate(t, "crm")
		x.nothingHappened(x.id, false)
		x.untilState(x.id, operation.NotExecuted)
		x.effects("crm", x.id, 0)
		if all, open := x.cases(); all != 1 || open != 0 {
			t.Errorf("%d cases, %d open after the decision", all, open)
		}

		e := x.arrives(1, func(l []connectortest.Effect) connectortest.Effect { return l[0] })
		if s := x.see(x.id); s.State != string(operation.Review) {
			t.Errorf("it is %+v", s)
		}
		if all, open := x.cases(); all != 2 || open != 1 {
			t.Errorf("%d cases, %d open after the effect came", all, open)
		}
		x.alarm("close_not_executed")
		if err := x.store.ConfirmDone(context.Background(), x.ops[0], x.shown(x.id), store.Reference{ID: e.ID}); err != nil {
			t.Fatal(err)
		}
		if s := x.see(x.id); s.State != string(operation.Confirmed) || s.Reference != e.ID || s.ConfirmedBy != "person" {
			t.Errorf("%+v", s)
		}
		x.effects("crm", x.id, 1)
		x.figures(map[operation.Figure]int64{operation.FigureAttempts: 1, operation.FigureEffectsPerson: 1, operation.FigureEffectsDestination: 0, operation.FigureUnresolvedOccurred: 2, operation.FigureUnresolved: 0,
			operation.FigureDuplicatesSuspected: 0, operation.FigureDuplicatesConfirmed: 0})
	})

	t.Run("AfterTheReexecution", func(t *testing.T) {
		t.Parallel()
		x := newLate(t, "plain")
		x.nothingHappened(x.id, true)
		x.age(x.id)
		x.permitAgain(x.id)
		s := x.untilState(x.id, operation.Confirmed)
		x.effects("plain", x.id, 1)

		first := x.arrives(2, func(l []connectortest.Effect) connectortest.Effect {
			if l[0].ID == s.Reference {
				return l[1]
			}
			return l[0]
		})
		if n := x.count(`id = '` + string(x.id) + `' AND duplicate = 'suspected' AND next_kind = 'remedy'`); n != 1 {
			t.Errorf("the second effect is nobody's work: %+v", x.see(x.id))
		}
		x.alarm("approve_reexecution")
		for _, verb := range []func() error{
			func() error { return x.store.Dispute(context.Background(), x.ops[0], x.shown(x.id), "") },
			func() error {
				return x.store.RecordDuplicate(context.Background(), x.ops[0], x.shown(x.id), []store.Reference{{ID: s.Reference}, {ID: first.ID}})
			},
		} {
			if err := verb(); err != nil {
				t.Fatal(err)
			}
		}
		// The ledger holds one effect more than there should be, and so do the figures.
		x.effects("plain", x.id, 2)
		x.figures(map[operation.Figure]int64{operation.FigureAttempts: 2, operation.FigureDuplicatesSuspected: 1, operation.FigureDuplicatesConfirmed: 1, operation.FigureReexecutionErrors: 1, operation.FigureUnresolved: 0})
	})
}
