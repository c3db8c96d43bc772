package store

import (
	"context"
	"time"

	"holdpoint/operation"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
	"github.com/riverqueue/river"
)

// PlannedNotices says what one look for notices did.
type PlannedNotices struct {
	Planned int  // notices that were recorded
	More    bool // there is more to read: look again at once
}

// Bounds of one look.
const (
	noticeWindow = 2000 // history entries
	openWindow   = 500  // open decisions
	stepWindow   = 200  // reminders, overdue ones, escalations
	// settleFor is how long history entries may still come in below a number that was
	// seen, beyond the end of all transactions that ran then: a number is taken a moment
	// before its transaction is numbered.
	settleFor = 2 * time.Second
	// settleAtMost is how long that end is waited for: a transaction of another database
	// of the same server may run for hours, none of ours lasts as long as this.
	settleAtMost = 10 * time.Minute
)

// PlanNotices looks for what people are to be told of and records a notice for each,
// once. It reads the states of decisions, prompted by the history as it grows; all open
// decisions are gone through besides, window by window, so that none is missed for good.
// The gate's transactions do nothing for it and never wait for it. While another process
// looks, it does nothing.
func (s *Store) PlanNotices(ctx context.Context, ch NoticeChannels) (PlannedNotices, error) {
	var out PlannedNotices
	err := s.write(ctx, func(t *tx) error {
		out = PlannedNotices{}
		p := &noticePass{tx: t, channels: ch}
		if err := t.get(&p.at, readingSQL); err != nil {
			if isGone(err) {
				return errDone
			}
			return err
		}
		p.now, p.was = p.at.Now.UTC().Truncate(time.Microsecond), p.at
		if err := p.look(); err != nil {
			return err
		}
		out.Planned, out.More = p.planned, p.more
		return p.keepPlace()
	})
	return out, err
}

// readingRow is how far the record has been read.
type readingRow struct {
	ReadTo    int64      `db:"read_to"`
	Settled   int64      `db:"settled"`
	Horizon   int64      `db:"horizon"`
	HorizonX  string     `db:"horizon_x"`
	HorizonAt *time.Time `db:"horizon_at"`
	Role      string     `db:"role"`
	Kind      string     `db:"kind"`
	At        time.Time  `db:"at"`
	ID        string     `db:"id"`
	Now       time.Time  `db:"now"`
}

const readingSQL = `SELECT read_to, settled, horizon, horizon_x, horizon_at, role, kind, at, id, clock_timestamp() AS now FROM notice_reading FOR UPDATE SKIP LOCKED`

// noticePass is one look.
type noticePass struct {
	*tx
	channels NoticeChannels
	at, was  readingRow
	now      time.Time
	more     bool
	planned  int

	moved   []string // operations whose state moved
	ids     []string // operations to look at, moved ones included
	runs    []noticeFact
	alert   []noticeFact
	against []noticeFact // evidence against a person's decision
	taken   []noticeFact // cases that somebody took
	batches []string     // batches to look at
	ended   []noticeFact // batches that were closed

	flows   map[string]*flowPeople
	people  map[operation.UserID]*noticePerson
	told    []toldNotice
	jobs    []river.InsertManyParams
	decided []decisionRow
}

// noticeFact is something that happened and is told of, beside what waits.
type noticeFact struct {
	subject string
	actor   string
	at      time.Time
}

func (p *noticePass) look() error {
	if err := p.readSettled(); err != nil {
		return err
	}
	if err := p.readNew(); err != nil {
		return err
	}
	if err := p.readOpen(); err != nil {
		return err
	}
	var steps []string
	if err := p.list(&steps, `SELECT operation_id FROM notice_decisions WHERE step_at <= $1 ORDER BY step_at LIMIT $2`, p.now, stepWindow); err != nil {
		return err
	}
	p.ids = append(p.ids, steps...)
	if err := p.readOpenBatches(); err != nil {
		return err
	}
	p.splitBatches()
	if err := p.forgetDecided(); err != nil {
		return err
	}
	if err := p.planDecisions(); err != nil {
		return err
	}
	if err := p.planBatchDecisions(); err != nil {
		return err
	}
	if err := p.planFacts(); err != nil {
		return err
	}
	return p.writeNotices()
}

// noticeEntry is what a look reads of one history entry.
type noticeEntry struct {
	ID      int64     `db:"id"`
	Kind    string    `db:"subject_kind"`
	Subject string    `db:"subject_id"`
	Action  string    `db:"action"`
	Actor   string    `db:"actor_id"`
	From    string    `db:"from_state"`
	To      string    `db:"to_state"`
	At      time.Time `db:"at"`
}

const entriesSQL = `SELECT id, subject_kind, subject_id, action, actor_id, from_state, to_state, at FROM history WHERE id > $1 AND id <= $2 ORDER BY id LIMIT $3`

// take notes what one entry is about.
func (p *noticePass) take(e noticeEntry) {
	switch {
	case e.Kind == string(operation.SubjectOperation) && e.Action == actionContradicted:
		p.against = append(p.against, noticeFact{e.Subject, e.Actor, e.At})
	case e.Kind == string(operation.SubjectOperation) && e.Action == "take_case":
		p.taken = append(p.taken, noticeFact{e.Subject, e.Actor, e.At})
	case e.Kind == string(operation.SubjectOperation) && e.From != e.To:
		p.moved, p.ids = append(p.moved, e.Subject), append(p.ids, e.Subject)
	case e.Kind == string(operation.SubjectBatch):
		p.takeBatch(e)
	case e.Kind == string(operation.SubjectRun) && e.Action == "run_"+string(operation.RunCompleted):
		p.runs = append(p.runs, noticeFact{e.Subject, e.Actor, e.At})
	case e.Kind == string(operation.SubjectSystem) && e.Action == "pause":
		p.alert = append(p.alert, noticeFact{e.Subject, e.Actor, e.At})
	}
}

// readSettled reads once more what was read before all of it was committed. An entry's
// number is taken before its commit, so lower ones may appear later; when every
// transaction that ran at the first reading has ended, none can come any more.
func (p *noticePass) readSettled() error {
	a := &p.at
	if a.Horizon <= a.Settled || a.HorizonAt == nil || p.now.Sub(*a.HorizonAt) < settleFor {
		return nil
	}
	var passed bool
	if err := p.get(&passed, `SELECT pg_snapshot_xmin(pg_current_snapshot()) >= CAST(CAST($1 AS text) AS xid8)`, a.HorizonX); err != nil {
		return err
	}
	if !passed && p.now.Sub(*a.HorizonAt) < settleAtMost {
		return nil
	}
	var rows []noticeEntry
	if err := p.list(&rows, entriesSQL, a.Settled, a.Horizon, noticeWindow); err != nil {
		return err
	}
	for _, e := range rows {
		p.take(e)
	}
	if len(rows) < noticeWindow {
		a.Settled = a.Horizon
	} else {
		a.Settled, p.more = rows[len(rows)-1].ID, true
	}
	return nil
}

// readNew reads the entries that came since the last look, and sets the next horizon.
func (p *noticePass) readNew() error {
	a := &p.at
	var rows []noticeEntry
	if err := p.list(&rows, entriesSQL, a.ReadTo, int64(1)<<62, noticeWindow); err != nil {
		return err
	}
	for _, e := range rows {
		p.take(e)
	}
	if n := len(rows); n > 0 {
		a.ReadTo = rows[n-1].ID
		p.more = p.more || n == noticeWindow
	}
	if a.Horizon > a.Settled || a.ReadTo <= a.Settled {
		return nil
	}
	// After the reading: whoever held a lower number then has begun before this.
	if err := p.get(&a.HorizonX, `SELECT CAST(pg_snapshot_xmax(pg_current_snapshot()) AS text)`); err != nil {
		return err
	}
	a.Horizon, a.HorizonAt = a.ReadTo, &p.now
	return nil
}

const openSQL = `WITH w AS MATERIALIZED (SELECT o.id, o.next_role, o.next_kind, o.next_at, o.next_since FROM operations o
	WHERE o.next_kind <> '' AND NOT o.next_system AND (o.next_role, o.next_kind, o.next_at, o.id) > ($1, $2, $3, $4) ORDER BY o.next_role, o.next_kind, o.next_at, o.id LIMIT $5)
SELECT w.id, w.next_role, w.next_kind, w.next_at, (d.operation_id IS NULL OR d.kind <> w.next_kind OR d.since <> w.next_since) AND w.next_kind <> 'earlier_stage' AND w.next_since IS NOT NULL AS new
FROM w LEFT JOIN notice_decisions d ON d.operation_id = w.id ORDER BY w.next_role, w.next_kind, w.next_at, w.id`

// readOpen goes through one window of all open decisions and notes those that nobody has
// been told of.
func (p *noticePass) readOpen() error {
	a := &p.at
	var rows []struct {
		ID   string    `db:"id"`
		Role string    `db:"next_role"`
		Kind string    `db:"next_kind"`
		At   time.Time `db:"next_at"`
		New  bool      `db:"new"`
	}
	if err := p.list(&rows, openSQL, a.Role, a.Kind, a.At, a.ID, openWindow); err != nil {
		return err
	}
	for _, r := range rows {
		if r.New {
			p.ids = append(p.ids, r.ID)
		}
	}
	a.Role, a.Kind, a.At, a.ID = "", "", time.Unix(0, 0).UTC(), ""
	if n := len(rows); n == openWindow {
		r := rows[n-1]
		a.Role, a.Kind, a.At, a.ID = r.Role, r.Kind, r.At, r.ID
	}
	return nil
}

// forgetDecided drops what was known of decisions that are over, and plans the change of
// chat messages about them.
func (p *noticePass) forgetDecided() error {
	if len(p.moved) == 0 {
		return nil
	}
	if _, err := p.exec(`DELETE FROM notice_decisions d USING operations o WHERE o.id = d.operation_id AND d.operation_id = ANY($1)
		AND (o.next_kind <> d.kind OR o.next_since IS DISTINCT FROM d.since OR o.next_system)`, pq.Array(p.moved)); err != nil {
		return err
	}
	return p.planUpdates(`SELECT n.id FROM notices n JOIN operations o ON o.id = n.subject WHERE n.live AND n.subject = ANY($1)
		AND (o.next_kind <> n.decision OR o.next_since IS DISTINCT FROM n.since OR o.next_system)`, pq.Array(p.moved))
}

// planUpdates plans the change of the chat messages that a statement finds.
func (p *noticePass) planUpdates(q string, args ...any) error {
	var ids []operation.NoticeID
	if err := p.list(&ids, q, args...); err != nil {
		return err
	}
	for _, id := range ids {
		p.jobs = append(p.jobs, river.InsertManyParams{Args: NoticeUpdateArgs{id},
			InsertOpts: &river.InsertOpts{MaxAttempts: updateTries, Queue: noticeQueues[ChannelSlack], UniqueOpts: onceWhileThere}})
	}
	return nil
}

// keepPlace writes how far this look came; nothing where nothing changed.
func (p *noticePass) keepPlace() error {
	a, b := p.at, p.was
	if a.ReadTo == b.ReadTo && a.Settled == b.Settled && a.Horizon == b.Horizon && a.ID == b.ID && a.At.Equal(b.At) && p.planned+len(p.jobs)+len(p.decided) == 0 {
		return errDone
	}
	return p.one(`UPDATE notice_reading SET read_to = $1, settled = $2, horizon = $3, horizon_x = $4, horizon_at = $5, role = $6, kind = $7, at = $8, id = $9`,
		a.ReadTo, a.Settled, a.Horizon, a.HorizonX, a.HorizonAt, a.Role, a.Kind, a.At, a.ID)
}

// WakeNotices wakes what may have lost its job: notices that have been due for longer
// than grace and that nobody is sending, and chat messages whose matter is decided. It
// returns how many jobs were inserted.
func (s *Store) WakeNotices(ctx context.Context, grace time.Duration) (int, error) {
	var due []struct {
		ID       operation.NoticeID `db:"id"`
		Attempts int                `db:"attempts"`
		Channel  string             `db:"channel"`
	}
	err := s.read(ctx, func(q *sqlx.DB) error {
		due = nil
		return q.SelectContext(ctx, &due, `SELECT id, attempts, channel FROM notices WHERE state IN ('planned', 'unknown') AND planned_for < clock_timestamp() - make_interval(secs => $1)
			AND (lease_until IS NULL OR lease_until < clock_timestamp()) AND (carried_by IS NULL OR carried_by = id) ORDER BY planned_for LIMIT 500`, grace.Seconds())
	})
	if err != nil {
		return 0, err
	}
	n := 0
	err = s.write(ctx, func(t *tx) error {
		n = 0
		p := &noticePass{tx: t}
		for _, d := range due {
			p.jobs = append(p.jobs, noticeWake(d.ID, d.Attempts, d.Channel, time.Time{}))
		}
		if err := p.planUpdates(`SELECT n.id FROM notices n JOIN operations o ON o.id = n.subject WHERE n.live
			AND (o.next_kind <> n.decision OR o.next_since IS DISTINCT FROM n.since OR o.next_system) LIMIT 200`); err != nil {
			return err
		}
		if err := p.planUpdates(`SELECT n.id FROM notices n JOIN batches b ON b.id = n.subject WHERE n.live
			AND (b.next_kind <> n.decision OR b.next_since IS DISTINCT FROM n.since OR b.next_system) LIMIT 200`); err != nil {
			return err
		}
		if len(p.jobs) == 0 {
			return errDone
		}
		out, err := s.river.InsertManyTx(ctx, t.Tx.Tx, p.jobs)
		for _, r := range out {
			if !r.UniqueSkippedAsDuplicate {
				n++
			}
		}
		return err
	})
	return n, err
}
