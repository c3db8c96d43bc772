package store

import (
	"context"
	"strconv"
	"time"

	"holdpoint/operation"

	"github.com/lib/pq"
)

// CaseTimes are the two clocks of a case, corrections included.
type CaseTimes struct {
	InHand time.Duration // from taking to giving back or settling, until now while somebody has it
	Active time.Duration // pages of it visible and in use
}

type caseTimesRow struct {
	ID     operation.CaseID `db:"case_id"`
	InHand int64            `db:"in_hand_ms"`
	Active int64            `db:"active_ms"`
}

func (r caseTimesRow) times() CaseTimes {
	return CaseTimes{time.Duration(r.InHand) * time.Millisecond, time.Duration(r.Active) * time.Millisecond}
}

// caseTimes reads the clocks of some cases. The database's view case_times has the same
// for statements that add up many.
func (t *tx) caseTimes(ids ...operation.CaseID) (map[operation.CaseID]CaseTimes, error) {
	list := make([]string, len(ids))
	for i, id := range ids {
		list[i] = string(id)
	}
	var rows []caseTimesRow
	err := t.list(&rows, `SELECT case_id, in_hand_ms, active_ms FROM case_times WHERE case_id = ANY($1)`, pq.Array(list))
	out := map[operation.CaseID]CaseTimes{}
	for _, r := range rows {
		out[r.ID] = r.times()
	}
	return out, err
}

// FindCaseTimes gives the clocks of some cases, those left out that are not there.
func (s *Store) FindCaseTimes(ctx context.Context, ids []operation.CaseID) (map[operation.CaseID]CaseTimes, error) {
	var out map[operation.CaseID]CaseTimes
	err := s.snapshot(ctx, func(t *tx) (err error) {
		out, err = t.caseTimes(ids...)
		return err
	})
	return out, err
}

// Beat records that a person's page of a case was visible and in use for some time since
// its last beat. It is believed only as far as time went by since the last beat of this
// person for this case, from whichever page (operation.BeatCounts). It gives the clocks
// as they stand then. A closed case counts no more.
func (s *Store) Beat(ctx context.Context, a Actor, id operation.CaseID, claimed time.Duration) (CaseTimes, error) {
	c, err := s.visibleCase(ctx, a, id)
	if err != nil {
		return CaseTimes{}, err
	}
	var out map[operation.CaseID]CaseTimes
	err = s.write(ctx, func(t *tx) error {
		u, err := t.peek(a, c.Operation)
		if err != nil {
			return err
		}
		who, err := t.person(a, c.Flow)
		if err != nil {
			return err
		}
		if !u.reviewer().Matches(who) && !u.flow.Reexecution.Approvers.Matches(who) {
			return operation.Refuse(operation.CodeNotEntitled, "role", string(u.reviewer().Role))
		}
		if err := t.beat(a, id, claimed); err != nil {
			return err
		}
		out, err = t.caseTimes(id)
		return err
	})
	return out[id], err
}

// beat counts one beat under the lock of the person's own row.
func (t *tx) beat(a Actor, id operation.CaseID, claimed time.Duration) error {
	var open bool
	if err := t.get(&open, `SELECT closed_at IS NULL FROM recovery_cases WHERE id = $1`, string(id)); err != nil || !open {
		return err
	}
	var first []string
	if err := t.list(&first, `INSERT INTO case_active (case_id, user_id, first_beat, last_beat) SELECT $1, $2, x.now, x.now FROM (SELECT clock_timestamp() AS now) x
		ON CONFLICT (case_id, user_id) DO NOTHING RETURNING case_id`, string(id), a.ID); err != nil || len(first) > 0 {
		return err // the first only starts the clock
	}
	var last time.Time
	if err := t.get(&last, `SELECT last_beat FROM case_active WHERE case_id = $1 AND user_id = $2 FOR UPDATE`, string(id), a.ID); err != nil {
		return err
	}
	now, err := t.clock() // after the lock: never before the last beat
	if err != nil || !now.After(last) {
		return err
	}
	_, err = t.exec(`UPDATE case_active SET active_ms = active_ms + $3, last_beat = $4 WHERE case_id = $1 AND user_id = $2`,
		string(id), a.ID, operation.BeatCounts(last, now, claimed).Milliseconds(), now)
	return err
}

// CorrectCase sets one clock of a case to what it should be. What was measured stays; the
// difference is kept with who, when and why. Active time is not raised above the time in
// hand: *Invalid for the field minutes, with the whole minutes that are left.
func (s *Store) CorrectCase(ctx context.Context, a Actor, id operation.CaseID, clock operation.CaseClock, to time.Duration, reason string) error {
	return s.caseVerb(ctx, a, id, func(u *unit, who operation.Person, c *CaseRow) error {
		if r := operation.MayCorrectClock(clock, to, u.reviewer(), who, reason); r != nil {
			return r
		}
		all, err := u.caseTimes(id)
		if err != nil {
			return err
		}
		was := all[id].InHand
		if clock == operation.ClockActive {
			was = all[id].Active
		}
		if clock == operation.ClockActive && to > was && to > all[id].InHand { // less is always nearer the truth
			return &Invalid{Field: "minutes", Code: "clock_active", Limit: int(all[id].InHand / time.Minute)}
		}
		delta := to.Milliseconds() - was.Milliseconds()
		if delta == 0 {
			return errDone
		}
		if _, err := u.exec(`INSERT INTO case_corrections (case_id, clock, delta_ms, user_id, reason, at) VALUES ($1, $2, $3, $4, $5, $6)`,
			string(id), string(clock), delta, u.actor.ID, clean(reason), u.now); err != nil {
			return err
		}
		u.note(u.op, "correct_case_time", reason, "case", string(id), "clock", string(clock), "from_ms", strconv.FormatInt(was.Milliseconds(), 10),
			"to_ms", strconv.FormatInt(to.Milliseconds(), 10), "role", string(u.reviewer().Role))
		return nil
	})
}
