package store

import (
	"context"
	"time"

	"holdpoint/operation"

	"github.com/lib/pq"
)

// lentFrom finds the approvals and re-executions that a person may decide for others by
// delegations: $3 the person, $4 the lent roles, $5 the flow of each (empty = every flow),
// $6 whose they are. Left out is what either of the two has approved or had a part in.
const lentFrom = ` FROM operations o JOIN unnest($4::text[], $5::text[], $6::text[]) AS g(role, flow, person) ON o.next_role = g.role AND (g.flow = '' OR g.flow = o.flow)
	WHERE o.next_kind IN ('approve', 'decide_reexecution') AND NOT o.next_system AND (o.next_user IS NULL OR o.next_user = g.person)
	AND NOT EXISTS (SELECT 1 FROM approvals a WHERE a.version_id = o.version_id AND a.decision = 'approve' AND (a.user_id IN ($3, g.person) OR a.for_user IN ($3, g.person))
		AND a.decided_at >= COALESCE(o.next_since, a.decided_at) AND EXISTS (SELECT 1 FROM approval_people q WHERE q.approval_id = a.id)
		AND a.request_id IS NOT DISTINCT FROM CASE WHEN o.state = 'reexecution_requested' THEN o.request_id END)
	AND NOT EXISTS (SELECT 1 FROM content_versions cv WHERE cv.operation_id = o.id AND (cv.author_id IN ($3, g.person) OR cv.prompted_by IN ($3, g.person)))
	AND NOT EXISTS (SELECT 1 FROM submissions sm WHERE sm.version_id = o.version_id AND sm.submitted_by IN ($3, g.person))
	AND NOT (o.state = 'reexecution_requested' AND EXISTS (SELECT 1 FROM reexecution_requests q WHERE q.id = o.request_id AND q.requested_by IN ($3, g.person)))`

// lentArgs are the parameters $4 to $6 of lentFrom.
func (v Viewer) lentArgs() []any {
	var roles, flows, people []string
	for _, l := range v.Lent {
		roles, flows, people = append(roles, string(l.Role)), append(flows, l.Flow), append(people, string(l.For))
	}
	return []any{pq.Array(roles), pq.Array(flows), pq.Array(people)}
}

// lentName is the name of whoever a lent role belongs to.
func (v Viewer) lentName(id operation.UserID) string {
	for _, l := range v.Lent {
		if l.For == id {
			return l.Name
		}
	}
	return string(id)
}

// countAllSQL counts what waits for a person, by their own roles or by lent ones, up to a
// limit ($7).
const countAllSQL = `SELECT count(*) FROM (SELECT o.id` + inboxFrom + ` UNION SELECT o.id` + lentFrom + ` LIMIT $7) x`

// lentIDs finds the operations that wait for a person by lent roles alone, with whose
// approval each would be.
func (t *tx) lentIDs(v Viewer) (map[operation.ID]operation.UserID, error) {
	if len(v.Lent) == 0 {
		return nil, nil
	}
	var rows []struct {
		ID     operation.ID     `db:"id"`
		Person operation.UserID `db:"person"`
	}
	err := t.list(&rows, `SELECT DISTINCT ON (o.next_at, o.id) o.id, g.person`+lentFrom+` AND $1::text[] IS NOT NULL AND $2::text[] IS NOT NULL ORDER BY o.next_at, o.id, g.person LIMIT 201`,
		append([]any{pq.Array([]string{}), pq.Array([]string{}), string(v.ID)}, v.lentArgs()...)...)
	out := map[operation.ID]operation.UserID{}
	for _, r := range rows {
		out[r.ID] = r.Person
	}
	return out, err
}

// NextWaiting is the next decision of somebody's inbox.
type NextWaiting struct {
	ID    operation.ID `db:"id"`
	Title string       `db:"title"`
	Stage string       `db:"stage"`
}

// NextInInbox gives the next decision that waits for a person, approvals first, without
// the operation that they come from; nil = nothing waits.
func (s *Store) NextInInbox(ctx context.Context, viewer Actor, not operation.ID) (*NextWaiting, error) {
	v, err := s.FindViewer(ctx, viewer)
	if err != nil || !v.Active {
		return nil, err
	}
	roles, flows := v.rolePairs()
	args := append([]any{pq.Array(roles), pq.Array(flows), viewer.ID}, v.lentArgs()...)
	var rows []struct {
		NextWaiting
		Kind string     `db:"next_kind"`
		At   *time.Time `db:"next_at"`
	}
	err = s.snapshot(ctx, func(t *tx) error {
		rows = nil
		const columns = `SELECT o.id, o.title, o.stage, o.next_kind, o.next_at`
		return t.list(&rows, `SELECT * FROM (`+columns+inboxFrom+` UNION `+columns+lentFrom+`) x WHERE id <> $7 ORDER BY next_kind <> 'approve', next_at, id LIMIT 1`, append(args, string(not))...)
	})
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	next := rows[0].NextWaiting
	if next.Title == "" {
		next.Title = next.Stage
	}
	return &next, nil
}
