package store

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"holdpoint/operation"

	"github.com/jmoiron/sqlx"
)

// LimitTitle says in one line of a language that a limit is broken: the title of its
// improvement task. The record itself speaks none.
type LimitTitle func(l LimitSeen, language string) string

// JudgeLimits measures the figures of all limits that nobody has measured for the time
// every, and writes what follows: a breach, its end or a reminder, with its history, its
// notices and its improvement task in one transaction. It returns how many of them there
// were. Two processes that judge at once write each of them once.
func (s *Store) JudgeLimits(ctx context.Context, ch NoticeChannels, every time.Duration, title LimitTitle) (int, error) {
	var rows []limitRow
	var asOf time.Time
	err := s.read(ctx, func(q *sqlx.DB) error {
		rows = nil
		if err := q.GetContext(ctx, &asOf, `SELECT clock_timestamp()`); err != nil {
			return err
		}
		return q.SelectContext(ctx, &rows, limitSelect+` WHERE l.ended_at IS NULL AND (r.measured_at IS NULL OR r.measured_at <= $1) ORDER BY r.measured_at NULLS FIRST, l.id`, asOf.Add(-every))
	})
	moves := 0
	for _, r := range rows {
		moved, e := s.judgeLimit(ctx, ch, r.seen(), title)
		if e != nil && ctx.Err() != nil {
			return moves, e
		}
		err = errors.Join(err, e) // the others are judged all the same
		if moved {
			moves++
		}
	}
	return moves, err
}

func (s *Store) judgeLimit(ctx context.Context, ch NoticeChannels, l LimitSeen, title LimitTitle) (bool, error) {
	var asOf time.Time
	if err := s.read(ctx, func(q *sqlx.DB) error { return q.GetContext(ctx, &asOf, `SELECT clock_timestamp()`) }); err != nil {
		return false, err
	}
	asOf = asOf.UTC().Truncate(time.Microsecond)
	m, err := s.measureLimit(ctx, l.LimitSettings, asOf)
	if err != nil {
		return false, err
	}
	return s.writeJudgement(ctx, ch, l, m, asOf, title)
}

// limitPass is the judging of one limit in its transaction.
type limitPass struct {
	*noticePass
	limit  LimitSeen
	m      operation.Measure
	breach openBreach
	title  LimitTitle
}

// openBreach is the breach that is open now; ID "" = none.
type openBreach struct {
	ID         operation.BreachID `db:"id"`
	Worst      int64              `db:"worst"`
	WorstParts int64              `db:"worst_parts"`
	OpenedAt   time.Time          `db:"opened_at"`
	Within     *time.Time         `db:"within_since"`
	ToldAt     time.Time          `db:"told_at"`
	Task       operation.TaskID   `db:"task_id"`
}

// writeJudgement writes what follows from a measurement as of a moment. A limit that was
// changed since, or measured since by another process, is left to the next look.
func (s *Store) writeJudgement(ctx context.Context, ch NoticeChannels, l LimitSeen, m operation.Measure, asOf time.Time, title LimitTitle) (moved bool, err error) {
	err = s.write(ctx, func(t *tx) error {
		moved = false
		var now struct {
			Version int        `db:"version"`
			Ended   *time.Time `db:"ended_at"`
		}
		if err := t.get(&now, `SELECT version, ended_at FROM limits WHERE id = $1 FOR UPDATE`, string(l.ID)); err != nil {
			return err
		}
		if now.Version != l.Version || now.Ended != nil {
			return errDone
		}
		n, err := t.exec(`INSERT INTO limit_readings AS r (limit_id, measured, parts, measured_at) VALUES ($1, $2, $3, $4)
			ON CONFLICT (limit_id) DO UPDATE SET measured = EXCLUDED.measured, parts = EXCLUDED.parts, measured_at = EXCLUDED.measured_at WHERE r.measured_at < EXCLUDED.measured_at`,
			string(l.ID), m.N, m.Of, asOf)
		if err != nil {
			return err
		}
		if n == 0 {
			return errDone
		}
		p := &limitPass{noticePass: &noticePass{tx: t, channels: ch, now: asOf}, limit: l, m: m, title: title}
		if err := t.get(&p.breach, `SELECT id, worst, worst_parts, opened_at, within_since, told_at, COALESCE(task_id, '') AS task_id FROM limit_breaches WHERE limit_id = $1 AND closed_at IS NULL`, string(l.ID)); err != nil && !isGone(err) {
			return err
		}
		move, err := p.judge()
		moved = move != operation.LimitStays
		return err
	})
	return moved, err
}

func (p *limitPass) judge() (operation.LimitMove, error) {
	b := p.breach
	was := operation.BreachState{Open: b.ID != "", WithinSince: timeOf(b.Within), ToldAt: b.ToldAt}
	move, state := p.limit.Rule().Judge(p.m, was, p.now)
	var err error
	switch {
	case move == operation.LimitBreaks:
		err = p.open()
	case move == operation.LimitBack:
		err = p.back()
	case b.ID != "":
		err = p.goesOn(move, state)
	}
	if err != nil || move == operation.LimitStays {
		return move, err
	}
	return move, p.writeNotices()
}

// open begins a breach, with its improvement task.
func (p *limitPass) open() error {
	id, l := operation.BreachID(newID("brc")), p.limit
	who, flow, err := p.addressees()
	if err != nil {
		return err
	}
	task, err := p.task(id, flow)
	if err != nil {
		return err
	}
	if _, err := p.exec(`INSERT INTO limit_breaches (id, limit_id, version, measured, parts, worst, worst_parts, opened_at, told_at, task_id) VALUES ($1, $2, $3, $4, $5, $4, $5, $6, $6, $7)`,
		string(id), string(l.ID), l.Version, p.m.N, p.m.Of, p.now, string(task)); err != nil {
		return err
	}
	p.tellOf(id, operation.NoticeLimit, flow, who)
	return p.enterLimit("limit_broken", id, "task", string(task))
}

// back ends a breach.
func (p *limitPass) back() error {
	if err := p.one(`UPDATE limit_breaches SET closed_at = $2, closed_why = 'back', back = $3, back_parts = $4, within_since = COALESCE(within_since, $2) WHERE id = $1 AND closed_at IS NULL`,
		string(p.breach.ID), p.now, p.m.N, p.m.Of); err != nil {
		return err
	}
	who, flow, err := p.addressees()
	if err != nil {
		return err
	}
	p.tellOf(p.breach.ID, operation.NoticeLimitBack, flow, who)
	return p.enterLimit("limit_back", p.breach.ID, "task", string(p.breach.Task))
}

// goesOn keeps how far an open breach goes, and since when the figure is back within.
func (p *limitPass) goesOn(move operation.LimitMove, state operation.BreachState) error {
	worst := measureOf(p.limit.Figure, p.breach.Worst, p.breach.WorstParts)
	if p.limit.Rule().Worse(p.m, worst) {
		worst = p.m
	}
	reminded := 0
	if move == operation.LimitAgain {
		reminded = 1
		who, flow, err := p.addressees()
		if err != nil {
			return err
		}
		p.tellOf(p.breach.ID, operation.NoticeLimit, flow, who)
	}
	return p.one(`UPDATE limit_breaches SET worst = $2, worst_parts = $3, within_since = $4, told_at = $5, reminders = reminders + $6 WHERE id = $1 AND closed_at IS NULL`,
		string(p.breach.ID), worst.N, worst.Of, timeOrNil(state.WithinSince), state.ToldAt, reminded)
}

func (p *limitPass) enterLimit(action string, id operation.BreachID, links ...string) error {
	all := append(limitLinks(p.limit.LimitSettings, p.limit.Version), "breach", string(id), "measured", strconv.FormatInt(p.m.N, 10))
	if p.m.Of > 0 {
		all = append(all, "of", strconv.FormatInt(p.m.Of, 10))
	}
	return p.enter(System("job"), p.now, operation.SubjectLimit, string(p.limit.ID), action, "", append(all, links...)...)
}

func (p *limitPass) tellOf(id operation.BreachID, kind operation.NoticeKind, flow *flowPeople, who []operation.UserID) {
	p.add(noticeRow{Kind: kind, Subject: string(id), Flow: p.limit.Flow, Since: p.now, Step: operation.StepAsk}, flow, who)
}

// addressees gives who is told: the named people who may see it, the holders of the
// roles, the flow's owner. Where nobody of them is there: the admins, so that an alert
// never goes to nobody.
func (p *limitPass) addressees() (who []operation.UserID, flow *flowPeople, err error) {
	l := p.limit
	people, err := p.peopleOf(l.Flow)
	if err != nil {
		return nil, nil, err
	}
	if l.Flow != "" {
		if flow, err = p.flowOf(l.Flow); err != nil {
			return nil, nil, err
		}
		if l.TellOwner {
			who = append(who, flow.selected(flow.flow.Owner)...)
		}
	}
	with := func(fits func(operation.Person) bool) {
		for _, x := range people {
			if fits(x) && !slices.Contains(who, x.ID) {
				who = append(who, x.ID)
			}
		}
	}
	with(func(x operation.Person) bool {
		return slices.Contains(l.TellUsers, x.ID) || slices.ContainsFunc(l.TellRoles, x.Has)
	})
	if len(who) == 0 {
		with(func(x operation.Person) bool { return x.Has(operation.RoleAdmin) })
	}
	return who, flow, nil
}

// task gives the improvement task of a breach: the open one of a breach not long ago, or
// a new one.
func (p *limitPass) task(breach operation.BreachID, flow *flowPeople) (operation.TaskID, error) {
	l, system := p.limit, System("job")
	var again operation.TaskID
	err := p.get(&again, `SELECT k.id FROM limit_breaches b JOIN improvement_tasks k ON k.id = b.task_id WHERE b.limit_id = $1 AND k.state = 'open'
		AND COALESCE(b.closed_at, b.opened_at) >= $2 ORDER BY b.opened_at DESC LIMIT 1`, string(l.ID), p.now.Add(-time.Duration(l.AgainHours)*time.Hour))
	switch {
	case err == nil:
		return again, p.enter(system, p.now, operation.SubjectTask, string(again), "limit_again", "", "limit", string(l.ID), "breach", string(breach))
	case !isGone(err):
		return "", err
	}
	n := NewTask{OwnerRole: operation.RoleOpsOwner, Due: p.now.AddDate(0, 0, l.DueDays), Limit: string(l.ID)}
	language := ""
	if flow != nil {
		n.Flows = []string{l.Flow}
		if r := flow.flow.Owner.Role; r.Valid() {
			n.OwnerRole = r
		}
		if owners := flow.selected(flow.flow.Owner); len(owners) == 1 {
			n.Owner = owners[0]
			if err := p.get(&language, `SELECT locale FROM users WHERE id = $1`, string(n.Owner)); err != nil {
				return "", err
			}
		}
	}
	if l.Titles, err = p.limitTitles(l.LimitSettings); err != nil {
		return "", err
	}
	l.Measured = p.m
	n.Title, n.Why = p.title(l, language), l.Note
	return p.addTask(system, p.now, n)
}
