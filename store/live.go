package store

import (
	"context"
	"database/sql"
	"slices"
	"strconv"
	"time"

	"holdpoint/operation"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
)

// Change is one change that an open page may have to show. It names things and holds
// none of their content.
type Change struct {
	Operation operation.ID // or the ID of a batch, which stands for all of its items; "" = a change of the run itself
	Run       operation.RunID
	Revision  int64 // of the operation, as it was read after the change
	New       bool  // the operation has just come into being
	// Inbox: a decision of a person came up, was taken, or went away.
	Inbox bool

	flow, destination string
}

// SeenBy reports whether the viewer may know of what changed.
func (c Change) SeenBy(v Viewer) bool { return v.Sees(c.flow, c.destination) }

// News is what has changed since an earlier look at the history.
type News struct {
	// Mark is where to go on from: everything up to it is told. It is meant for any
	// process, after any time.
	Mark    string
	Changes []Change // one for each operation and run, oldest first
	// All: more may have changed than is listed, or something that any page may show.
	All bool
	// Access: somebody's account, roles or sessions changed. Who may see what is to be
	// read again.
	Access bool
}

// Empty reports that there is nothing to tell.
func (n News) Empty() bool { return !n.All && !n.Access && len(n.Changes) == 0 }

// Bounds of one look at the history. More than liveRows entries are told as All.
const (
	liveRows = 300
	// liveWindow is how far back the start of a page may lie for its changes to be found
	// one by one.
	liveWindow = 200
	// liveSlack is how long before a page was made its first changes are looked for: an
	// entry's time is read before it is committed.
	liveSlack = 5 * time.Second
	// gapFor is how long a missing number of the history is waited for. Numbers are taken
	// before the commit, and no statement lasts longer.
	gapFor = time.Minute
	// gapLimit bounds how many missing numbers are waited for.
	gapLimit = 1000
)

// Follower reads the history as it grows, by its numbers. A number is taken before its
// transaction commits, so that lower ones may appear later: those that are missing are
// asked for again until they are there or cannot come any more.
type Follower struct {
	s    *Store
	last int64
	gaps map[int64]time.Time // missing numbers, and since when
	all  bool                // the last look was cut: what committed late is among it
	held time.Time           // newest possible duplicate that waits
}

// Follow begins at the present end of the history.
func (s *Store) Follow(ctx context.Context) (*Follower, error) {
	f := &Follower{s: s, gaps: map[int64]time.Time{}}
	var ids []int64
	err := s.read(ctx, func(q *sqlx.DB) error {
		ids = nil
		if err := q.SelectContext(ctx, &ids, `SELECT id FROM history ORDER BY id DESC LIMIT 64`); err != nil {
			return err
		}
		return q.GetContext(ctx, &f.held, newestHeld)
	})
	if err != nil || len(ids) == 0 {
		return f, err
	}
	f.last = ids[len(ids)-1]
	slices.Reverse(ids)
	f.pass(ids, time.Now())
	return f, nil
}

// newestHeld is when the newest possible duplicate began to wait.
const newestHeld = `SELECT COALESCE(max(held_at), CAST('epoch' AS timestamptz)) FROM held_events WHERE open`

// Next tells what has changed since the last look. It reads by keys only and adds
// nothing to what the gate writes.
func (f *Follower) Next(ctx context.Context) (News, error) {
	var top sql.NullInt64
	var held time.Time
	err := f.s.read(ctx, func(q *sqlx.DB) error {
		if err := q.GetContext(ctx, &top, `SELECT max(id) FROM history`); err != nil {
			return err
		}
		return q.GetContext(ctx, &held, newestHeld)
	})
	if err != nil {
		return News{}, err
	}
	n := News{All: f.all || !held.Equal(f.held)}
	f.held, f.all = held, false
	if top.Int64 < f.last || top.Int64-f.last > liveRows {
		f.last, f.all, n.All, n.Access = top.Int64, true, true, true
		n.Mark = f.Mark()
		return n, nil
	}
	if top.Int64 > f.last || len(f.gaps) > 0 {
		rows, err := f.s.liveEntries(ctx, liveAfter, f.last, pq.Array(f.missing()))
		if err != nil {
			return News{}, err
		}
		n.add(rows)
		f.passRows(rows)
	}
	n.Mark = f.Mark()
	return n, nil
}

// missing lists the numbers that are waited for.
func (f *Follower) missing() []int64 {
	out := make([]int64, 0, len(f.gaps))
	for id := range f.gaps {
		out = append(out, id)
	}
	return out
}

func (f *Follower) passRows(rows []liveRow) {
	var ids []int64
	for _, r := range rows {
		delete(f.gaps, r.ID)
		if r.ID > f.last {
			ids = append(ids, r.ID)
		}
	}
	slices.Sort(ids)
	f.pass(ids, time.Now())
}

// pass goes on to the last of ids, which are sorted, and remembers those missing between.
func (f *Follower) pass(ids []int64, now time.Time) {
	for id, since := range f.gaps {
		if now.Sub(since) > gapFor {
			delete(f.gaps, id)
		}
	}
	for _, id := range ids {
		for m := f.last + 1; m < id; m++ {
			if len(f.gaps) >= gapLimit {
				f.all = true
				break
			}
			f.gaps[m] = now
		}
		f.last = max(f.last, id)
	}
}

// Mark is up to where everything has been told, for Store.NewsAfter.
func (f *Follower) Mark() string {
	low := f.last
	for id := range f.gaps {
		low = min(low, id-1)
	}
	return strconv.FormatInt(low, 10)
}

// NewsAfter tells what has changed since a mark of any process. A mark that is no mark,
// or one of a history that has been replaced, is answered with All.
func (s *Store) NewsAfter(ctx context.Context, mark string) (News, error) {
	after, err := strconv.ParseInt(mark, 10, 64)
	if err != nil || after < 0 {
		return News{All: true, Mark: mark}, nil
	}
	var top sql.NullInt64
	if err := s.read(ctx, func(q *sqlx.DB) error { return q.GetContext(ctx, &top, `SELECT max(id) FROM history`) }); err != nil {
		return News{}, err
	}
	n := News{Mark: mark}
	if top.Int64 < after || top.Int64-after > liveRows {
		n.All, n.Mark = true, strconv.FormatInt(top.Int64, 10)
		return n, nil
	}
	rows, err := s.liveEntries(ctx, liveAfter, after, pq.Array([]int64{}))
	n.add(rows)
	return n, err
}

// NewsSince tells what has changed since a page was made; at is the moment before its
// first read. What changed shortly before is told too.
func (s *Store) NewsSince(ctx context.Context, at time.Time) (News, error) {
	rows, err := s.liveEntries(ctx, liveSince, at.Add(-liveSlack).UTC(), liveWindow)
	n := News{All: len(rows) >= liveWindow}
	if !n.All {
		n.add(rows)
	}
	return n, err
}

// liveRow is an entry of the history with the operation or run that it is about.
type liveRow struct {
	ID          int64                 `db:"id"`
	Kind        operation.SubjectKind `db:"subject_kind"`
	Subject     string                `db:"subject_id"`
	From        operation.State       `db:"from_state"`
	To          operation.State       `db:"to_state"`
	Actor       operation.ActorKind   `db:"actor_kind"`
	Run         operation.RunID       `db:"run_id"`
	Flow        string                `db:"flow"`
	Destination string                `db:"destination"`
	Revision    int64                 `db:"revision"`
	Person      bool                  `db:"person"`   // a person's decision is next
	Batch       string                `db:"batch_id"` // the batch that it is about or that it is an item of; "" = none
	BatchRev    int64                 `db:"batch_revision"`
}

const liveColumns = `SELECT h.id, h.subject_kind, h.subject_id, h.from_state, h.to_state, h.actor_kind,
	COALESCE(o.run_id, r.id, b.run_id, '') AS run_id, COALESCE(o.flow, r.flow, b.flow, '') AS flow, COALESCE(o.destination, b.destination, '') AS destination, COALESCE(o.revision, 0) AS revision,
	COALESCE(o.batch_id, b.id, '') AS batch_id, COALESCE(b.revision, 0) AS batch_revision,
	COALESCE(o.next_kind <> '' AND NOT o.next_system AND o.next_kind <> 'earlier_stage', false) AS person FROM `

const liveJoins = ` h LEFT JOIN operations o ON h.subject_kind = 'operation' AND o.id = h.subject_id
	LEFT JOIN runs r ON h.subject_kind = 'run' AND r.id = h.subject_id LEFT JOIN batches b ON h.subject_kind = 'batch' AND b.id = h.subject_id ORDER BY h.id`

// liveAfter reads the entries after $1 and those numbered $2; liveSince those of the
// last $2 whose time is $1 or later.
var (
	liveAfter = liveColumns + `((SELECT * FROM history WHERE id > $1 ORDER BY id LIMIT ` + strconv.Itoa(liveRows+1) + `) UNION ALL SELECT * FROM history WHERE id = ANY($2))` + liveJoins
	liveSince = liveColumns + `(SELECT * FROM (SELECT * FROM history ORDER BY id DESC LIMIT $2) x WHERE at >= $1)` + liveJoins
)

func (s *Store) liveEntries(ctx context.Context, query string, args ...any) ([]liveRow, error) {
	var rows []liveRow
	err := s.read(ctx, func(q *sqlx.DB) error {
		rows = nil
		return q.SelectContext(ctx, &rows, query, args...)
	})
	return rows, err
}

// add turns entries into changes, one for each operation and run.
func (n *News) add(rows []liveRow) {
	at := map[string]int{}
	for _, c := range n.Changes {
		at[string(c.Operation)+string(c.Run)] = len(at)
	}
	for _, r := range rows {
		switch r.Kind {
		case operation.SubjectUser:
			n.Access = true
			continue
		case operation.SubjectOperation, operation.SubjectRun, operation.SubjectBatch:
		default: // a pause or a new definition: any page may show it
			n.All = true
			continue
		}
		c := Change{Run: r.Run, Revision: r.Revision, flow: r.Flow, destination: r.Destination}
		if r.Kind == operation.SubjectOperation {
			c.Operation = operation.ID(r.Subject)
		}
		if r.Batch != "" { // one change for a batch with all of its items: its page looks by the run
			c.Operation, c.Revision = operation.ID(r.Batch), r.BatchRev
		}
		i, ok := at[string(c.Operation)+string(c.Run)]
		if !ok {
			i = len(n.Changes)
			at[string(c.Operation)+string(c.Run)] = i
			n.Changes = append(n.Changes, c)
		}
		n.Changes[i].Revision = max(n.Changes[i].Revision, c.Revision)
		n.Changes[i].New = n.Changes[i].New || (r.Kind == operation.SubjectOperation || r.Kind == operation.SubjectBatch) && r.From == ""
		n.Changes[i].Inbox = n.Changes[i].Inbox || r.Person || r.Actor == operation.ActorPerson || decidedByPeople(r.From) || r.Kind == operation.SubjectRun || r.Kind == operation.SubjectBatch
	}
}

// decidedByPeople reports a state in which a person's decision is next.
func decidedByPeople(s operation.State) bool {
	switch s {
	case operation.Draft, operation.PendingApproval, operation.Review, operation.ReexecutionRequested:
		return true
	}
	return false
}
