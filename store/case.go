package store

import (
	"time"

	"holdpoint/operation"
)

// CaseRow is one recovery case. It opens and closes with its operation's state, by a
// trigger: no verb can forget it.
type CaseRow struct {
	ID          operation.CaseID `db:"id"`
	Number      int64            `db:"number"` // operation.CaseNumber
	Operation   operation.ID     `db:"operation_id"`
	Flow        string           `db:"flow"`
	Destination string           `db:"destination"`
	Round       int              `db:"round"` // of the checklist's answers
	OpenedAt    time.Time        `db:"opened_at"`
	OpenedAs    operation.State  `db:"opened_as"`
	ClosedAt    *time.Time       `db:"closed_at"` // nil = open
	ClosedAs    operation.State  `db:"closed_as"` // the operation's state then, "" = open
	TakenBy     operation.UserID `db:"taken_by"`  // who has it in hand, "" = nobody
	TakenAt     *time.Time       `db:"taken_at"`
	SameSince   int64            `db:"same_since"`
	SameUntil   int64            `db:"same_until"`
}

const caseColumns = `c.id, c.number, c.operation_id, c.flow, c.destination, c.round, c.opened_at, c.opened_as, c.closed_at, COALESCE(c.closed_as, '') AS closed_as,
	COALESCE(c.taken_by, '') AS taken_by, c.taken_at, c.same_since, c.same_until`

// Open reports that the operation is still in doubt.
func (c CaseRow) Open() bool { return c.ClosedAt == nil }

// Hold is the case as the rules of taking see it.
func (c CaseRow) Hold() operation.CaseHold {
	return operation.CaseHold{Closed: !c.Open(), TakenBy: c.TakenBy, Since: timeOf(c.TakenAt)}
}

// TakenSince is since when somebody has it in hand, as refusals carry times; "" = nobody.
func (c CaseRow) TakenSince() string {
	if c.TakenAt == nil {
		return ""
	}
	return c.TakenAt.UTC().Format(time.RFC3339)
}

// Same reports whether a form that was shown with a revision of the operation is not out
// of date at the current one: what happened since was done to the case alone.
func (c *CaseRow) Same(shown, current int64) bool {
	return shown == current || c != nil && c.SameUntil == current && c.SameSince <= shown && shown < current
}

// openCase reads the open case of the locked operation; nil = it has none.
func (u *unit) openCase() (*CaseRow, error) {
	var rows []CaseRow
	if err := u.list(&rows, `SELECT `+caseColumns+` FROM recovery_cases c WHERE c.operation_id = $1 AND c.closed_at IS NULL`, string(u.op.ID)); err != nil || len(rows) == 0 {
		return nil, err
	}
	return &rows[0], nil
}

// fresh refuses a form that was shown before something changed that it is about. That
// somebody took the case, or gave it back, is no such thing.
func (u *unit) fresh(shown int64) error {
	if shown == u.op.Revision {
		return nil
	}
	c, err := u.openCase()
	if err != nil {
		return err
	}
	if !c.Same(shown, u.op.Revision) {
		return operation.Refuse(operation.CodeStaleRevision)
	}
	return nil
}

// workOn lets a person work on the operation's case when nobody else has it in hand, and
// puts it into their hands when nobody has. Without a case there is nothing to take.
func (u *unit) workOn() error {
	c, err := u.openCase()
	if err != nil || c == nil {
		return err
	}
	if r := operation.MayWorkOnCase(c.Hold(), u.actor.UserID()); r != nil {
		return r
	}
	if c.TakenBy == "" {
		return u.takeCase(c, "")
	}
	return nil
}

// takeCase puts the case into the actor's hands, with an entry in the operation's history.
func (u *unit) takeCase(c *CaseRow, reason string) error {
	if _, err := u.exec(`UPDATE recovery_cases SET taken_by = $2, taken_at = $3, changed_at = $3 WHERE id = $1`, string(c.ID), u.actor.ID, u.now); err != nil {
		return err
	}
	u.note(u.op, "take_case", reason, "case", string(c.ID), "from_person", string(c.TakenBy), "role", string(u.reviewer().Role))
	return nil
}

// aside records that what this decision changes is the case's alone: forms about the
// operation that are open elsewhere stay good.
func (u *unit) aside(c *CaseRow) error {
	since := u.op.Revision
	if c.SameUntil == u.op.Revision {
		since = c.SameSince
	}
	_, err := u.exec(`UPDATE recovery_cases SET same_since = $2, same_until = $3 WHERE id = $1`, string(c.ID), since, u.op.Revision+1)
	return err
}

// dealtWith marks the operation's case in the person's own queues. What follows from the
// decision for the case itself, the trigger does.
func (u *unit) dealtWith(how operation.QueueDone) error {
	_, err := u.exec(`UPDATE case_queue_items i SET done_at = $3, done_as = $4 FROM recovery_cases c, case_queues q
		WHERE c.operation_id = $1 AND c.closed_at IS NULL AND i.case_id = c.id AND i.done_at IS NULL AND q.id = i.queue_id AND q.user_id = $2`,
		string(u.op.ID), u.actor.ID, u.now, string(how))
	return err
}
