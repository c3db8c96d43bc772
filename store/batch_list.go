package store

import (
	"context"
	"sort"
	"strconv"
	"time"

	"holdpoint/operation"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
)

// ListBatches lists what the viewer may see, newest first, by keyset.
func (s *Store) ListBatches(ctx context.Context, viewer Actor, f BatchFilter) (*BatchList, error) {
	v, err := s.FindViewer(ctx, viewer)
	if err != nil {
		return nil, err
	}
	if f.Limit <= 0 || f.Limit > 100 {
		f.Limit = 50
	}
	out := &BatchList{}
	text, args := f.sql(v)
	err = s.snapshot(ctx, func(t *tx) error {
		*out = BatchList{}
		if err := t.get(&out.Now, `SELECT clock_timestamp()`); err != nil {
			return err
		}
		var rows []Batch
		if err := t.list(&rows, text, args...); err != nil {
			return err
		}
		rows, out.Next, out.Prev = keysetPage(rows, f.Limit, f.Cursor, func(b Batch) cursor { return cursor{At: b.CreatedAt, ID: operation.ID(b.ID)} })
		out.Rows, err = t.batchRows(rows, out.Now)
		return err
	})
	if err != nil {
		return nil, err
	}
	names := &OperationList{}
	err = s.filterNames(ctx, v, names)
	out.Flows = names.Flows
	return out, err
}

// sql is the statement of one page.
func (f BatchFilter) sql(v Viewer) (string, []any) {
	var c conditions
	if all, flows := v.seenFlows(); !all {
		c.add("b.flow = ANY(?)", pq.Array(flows))
	}
	if len(v.destinations) > 0 {
		c.add("b.destination = ANY(?)", pq.Array(v.destinations))
	}
	if f.Flow != "" {
		c.add("b.flow = ?", f.Flow)
	}
	switch {
	case f.State.Valid():
		c.where = append(c.where, "b.state = '"+string(f.State)+"'")
	case f.Open:
		c.where = append(c.where, "b.state NOT IN ('closed', 'rejected', 'cancelled')")
	}
	order, cmp := "DESC", "<"
	if at, ok := decodeCursor(f.Cursor); ok {
		if at.Back {
			order, cmp = "ASC", ">"
		}
		c.add("(b.created_at, b.id) "+cmp+" (?, ?)", storedTime(at.At), string(at.ID))
	}
	return `SELECT ` + batchColumns + ` FROM batches b` + c.sql() + ` ORDER BY b.created_at ` + order + `, b.id ` + order + ` LIMIT ` + strconv.Itoa(f.Limit+1), c.args
}

// batchRows reads what lists show of batches besides their rows.
func (t *tx) batchRows(list []Batch, now time.Time) ([]BatchRow, error) {
	if len(list) == 0 {
		return nil, nil
	}
	ids := make([]string, len(list))
	for i, b := range list {
		ids[i] = string(b.ID)
	}
	var given []struct {
		ID       operation.BatchID `db:"id"`
		Given    int               `db:"given"`
		Required int               `db:"required"`
	}
	if err := t.list(&given, `SELECT b.id, (SELECT count(DISTINCT p.approval_id) FROM batch_approval_people p WHERE p.batch_id = b.id AND p.number = b.number AND p.round = b.round
			AND p.phase = CASE WHEN b.cleared > 0 THEN 'rest' ELSE 'first' END) AS given,
		COALESCE((SELECT (v.policy::json->>'required')::int FROM batch_versions v WHERE v.batch_id = b.id AND v.number = b.number), 0) AS required
		FROM batches b WHERE b.id = ANY($1) AND b.state IN ('pending_approval', 'canary_review')`, pq.Array(ids)); err != nil {
		return nil, err
	}
	turns, err := t.turnsOf(list)
	if err != nil {
		return nil, err
	}
	out := make([]BatchRow, len(list))
	for i, b := range list {
		out[i] = BatchRow{Batch: b, Counts: turns.counts[b.ID], Turn: turns.of[b.ID], Late: turns.of[b.ID].Overdue(now)}
		for _, g := range given {
			if g.ID == b.ID {
				out[i].Given, out[i].Required = g.Given, g.Required
			}
		}
		f, err := t.s.flowVersion(t.ctx, t.Tx, b.Flow, b.FlowVersion)
		if err != nil {
			return nil, err
		}
		out[i].FlowTitle = f.Title
		if st, ok := f.Stage(b.Stage); ok {
			out[i].StageTitle = st.Title
		}
	}
	return out, nil
}

// batchTakenSQL leaves out what one of these people has approved already or, where that keeps
// them from it, had a part in.
func batchTakenSQL(people, where string) string {
	return ` NOT (b.state IN ('pending_approval', 'canary_review') AND EXISTS (SELECT 1 FROM batch_approval_people p JOIN users u ON u.id IN (` + people + `) AND p.user_id = COALESCE(u.same_as, u.id)
		WHERE p.batch_id = b.id AND p.number = b.number AND p.round = b.round AND p.phase = CASE WHEN b.cleared > 0 THEN 'rest' ELSE 'first' END))
	AND NOT (b.state IN ('pending_approval', 'canary_review') AND EXISTS (SELECT 1 FROM batch_versions v WHERE v.batch_id = b.id AND (v.author_id IN (` + people + `) OR v.prompted_by IN (` + people + `))) AND ` + where + `)`
}

// batchesMineSQL finds the open batches that wait for a person: $1 their roles, $2 the flow of
// each, $3 the person, $4 to $6 the roles that were lent to them (see lentFrom).
var batchesMineSQL = `SELECT ` + batchColumns + `, '' AS person FROM batches b WHERE b.state NOT IN ('closed', 'rejected', 'cancelled') AND b.next_kind <> '' AND NOT b.next_system
	AND EXISTS (SELECT 1 FROM ` + pairsSQL + ` WHERE b.next_role = r.role AND (r.flow = '' OR r.flow = b.flow))
	AND (b.next_user IS NULL OR b.next_user = $3 OR NOT EXISTS (SELECT 1 FROM users nu JOIN user_roles nr ON nr.user_id = nu.id WHERE nu.id = b.next_user AND nu.active AND nr.role = b.next_role AND nr.flow IN ('', b.flow)))
	AND` + batchTakenSQL("$3", "COALESCE((SELECT (v.policy::json->>'separate_author')::boolean FROM batch_versions v WHERE v.batch_id = b.id AND v.number = b.number), false)") + `
	UNION ALL SELECT ` + batchColumns + `, g.person FROM batches b JOIN unnest($4::text[], $5::text[], $6::text[]) AS g(role, flow, person) ON b.next_role = g.role AND (g.flow = '' OR g.flow = b.flow)
	WHERE b.state IN ('pending_approval', 'canary_review') AND b.next_kind = 'approve' AND (b.next_user IS NULL OR b.next_user = g.person) AND` + batchTakenSQL("$3, g.person", "true")

// batchesToDecide finds the batches about which this person decides next, each once, the most
// urgent first. It leaves out those whose next decision is made elsewhere and stands in the
// inbox there: outcomes and re-executions, each with its operation, and what an earlier stage
// holds, with what that one waits for.
func (t *tx) batchesToDecide(v Viewer) ([]Batch, map[operation.BatchID]operation.UserID, error) {
	roles, flows := v.rolePairs()
	var found []struct {
		Batch
		Person operation.UserID `db:"person"`
	}
	if err := t.list(&found, batchesMineSQL, append([]any{pq.Array(roles), pq.Array(flows), string(v.Person.ID)}, v.lentArgs()...)...); err != nil {
		return nil, nil, err
	}
	var out []Batch
	whose := map[operation.BatchID]operation.UserID{}
	for _, x := range found { // their own right comes first
		if _, known := whose[x.ID]; !known {
			whose[x.ID] = x.Person
			out = append(out, x.Batch)
		}
	}
	more, err := t.batchesElsewhere(v)
	if err != nil {
		return nil, nil, err
	}
	out = append(out, more...)
	sort.SliceStable(out, func(i, j int) bool {
		a, b := timeOf(out[i].NextAt), timeOf(out[j].NextAt)
		return a.Before(b) || a.Equal(b) && out[i].ID < out[j].ID
	})
	return out, whose, nil
}

// BatchesToDecide lists the batches whose next decision this person may take, the most
// urgent first; at most CountLimit.
func (s *Store) BatchesToDecide(ctx context.Context, viewer Actor) ([]BatchRow, error) {
	v, err := s.FindViewer(ctx, viewer)
	if err != nil || !v.Active {
		return nil, err
	}
	var rows []BatchRow
	err = s.snapshot(ctx, func(t *tx) error {
		list, whose, err := t.batchesToDecide(v)
		if err != nil {
			return err
		}
		now, err := t.clock()
		if err != nil {
			return err
		}
		if rows, err = t.batchRows(list[:min(len(list), CountLimit)], now); err != nil {
			return err
		}
		for i := range rows {
			if who := whose[rows[i].ID]; who != "" {
				rows[i].For, rows[i].ForName = who, v.lentName(who)
			}
		}
		return nil
	})
	return rows, err
}

// BatchesOfRun lists the batches of a run that the viewer may see, in the order of stages.
func (s *Store) BatchesOfRun(ctx context.Context, viewer Actor, id operation.RunID) ([]Batch, error) {
	v, err := s.FindViewer(ctx, viewer)
	if err != nil {
		return nil, err
	}
	var rows, out []Batch
	err = s.read(ctx, func(q *sqlx.DB) error {
		rows = nil
		return q.SelectContext(ctx, &rows, `SELECT `+batchColumns+` FROM batches b WHERE b.run_id = $1 ORDER BY b.stage_no`, string(id))
	})
	for _, b := range rows {
		if v.Sees(b.Flow, b.Destination) {
			out = append(out, b)
		}
	}
	return out, err
}
