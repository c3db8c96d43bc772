package store

import (
	"cmp"
	"context"
	"slices"
	"sort"
	"strings"
	"time"

	"holdpoint/operation"

	"github.com/lib/pq"
)

// Inbox is what waits for one person.
type Inbox struct {
	Now  time.Time
	Rows []InboxRow // overdue first, then by due time; at most InboxShown of each kind
	// Waiting is how many decisions of each kind wait, Late how many of those are overdue;
	// both up to CountLimit.
	Waiting, Late map[operation.DecisionKind]int
	Held          []HeldEvent // possible duplicates to decide, oldest first
	Next          string      // cursor of the next page; only where one kind was asked for
	// Unknown is how many outcomes are unknown but still being looked up, up to CountLimit;
	// NextCheck the next of those lookups.
	Unknown   int
	NextCheck time.Time
}

// InboxRow is one operation as the inbox and the list of operations show it.
type InboxRow struct {
	OperationSummary
	FlowTitle, StageTitle, DestinationTitle map[string]string // by language
	Source                                  string            // of the event that started the run; only in the list of operations
	Given, Required                         int               // approvals on the current version; only in the inbox
	Late                                    bool
	// For is the name of whoever it would be decided for, by a delegation; "" = by own right.
	For string
	// Blocked: an earlier stage was closed without effect, and its owner has not said
	// how the run goes on. Told of drafts and of what waits for approval.
	Blocked bool
}

// InboxShown bounds how many decisions of one kind a page of the inbox shows.
const InboxShown = 50

// CountLimit is how far decisions are counted: one more than pages show as a number.
const CountLimit = 100

// inboxKinds are the kinds of decision that a person takes. That a stage waits for an
// earlier one is decided there.
var inboxKinds = []string{string(operation.DecideComplete), string(operation.DecideApprove), string(operation.DecideResume),
	string(operation.DecideReconcile), string(operation.DecideReexecution), string(operation.DecideRemedy)}

// mineSQL says which operations wait for a person whose role and flow fit: $1 their roles,
// $2 the flow of each (empty = every flow), $3 the person. Left out is what they have
// approved already, their own request for a re-execution, and their own content where
// others must approve.
const mineSQL = ` o.next_kind <> '' AND NOT o.next_system AND o.next_kind <> 'earlier_stage' AND (o.next_user IS NULL OR o.next_user = $3 OR NOT EXISTS (SELECT 1 FROM users nu JOIN user_roles nr ON nr.user_id = nu.id
				WHERE nu.id = o.next_user AND nu.active AND nr.role = o.next_role AND nr.flow IN ('', o.flow)))
	AND NOT (o.state IN ('pending_approval', 'reexecution_requested') AND EXISTS (SELECT 1 FROM approvals a WHERE a.version_id = o.version_id AND (a.user_id = $3 OR a.for_user = $3) AND a.decision = 'approve' AND a.decided_at >= COALESCE(o.next_since, a.decided_at) AND EXISTS (SELECT 1 FROM approval_people q WHERE q.approval_id = a.id)
		AND a.request_id IS NOT DISTINCT FROM CASE WHEN o.state = 'reexecution_requested' THEN o.request_id END))
	AND NOT (o.state = 'reexecution_requested' AND EXISTS (SELECT 1 FROM reexecution_requests q WHERE q.operation_id = o.id AND q.requested_by = $3))
	AND NOT (o.state = 'pending_approval' AND EXISTS (SELECT 1 FROM content_versions cv WHERE cv.operation_id = o.id AND (cv.author_id = $3 OR cv.prompted_by = $3))
		AND COALESCE((SELECT (s.policy::json->>'separate_author')::boolean FROM submissions s WHERE s.version_id = o.version_id), false))`

// pairsSQL are a person's roles with the flow of each, and fitSQL whether one of them fits.
const (
	pairsSQL = `unnest($1::text[], $2::text[]) AS r(role, flow)`
	fitSQL   = ` o.next_role = r.role AND (r.flow = '' OR r.flow = o.flow) AND`
)

// inboxFrom are the operations that wait for a person, in no order.
const inboxFrom = ` FROM operations o JOIN ` + pairsSQL + ` ON` + fitSQL + ` true WHERE` + mineSQL

// candidates are the operations of one role whose decision is next, as the inner side of a
// LATERAL join. For roles of single flows they are found in the index alone, which holds
// the flow, and only those that fit are read: the flow may have few of many.
func (v Viewer) candidates(more, order string) string {
	if len(v.Flows) == 1 && len(v.Flows[""]) > 0 {
		return `operations o WHERE` + fitSQL + more + mineSQL + order
	}
	return `(SELECT o.id, o.next_at FROM operations o WHERE` + fitSQL + more + ` o.next_kind <> '' AND NOT o.next_system` + order + ` OFFSET 0) h
		CROSS JOIN LATERAL (SELECT * FROM operations o WHERE o.id = h.id OFFSET 0) o WHERE` + mineSQL + strings.ReplaceAll(order, "o.", "h.")
}

// inboxSQL finds what waits for a person, each kind by its due time: $4 the kinds, $5 how
// many of each, $6 and $7 the place behind which the page begins.
func (v Viewer) inboxSQL() string {
	return `SELECT x.id, x.next_at, k.kind FROM ` + pairsSQL + ` CROSS JOIN unnest($4::text[]) AS k(kind)
	CROSS JOIN LATERAL (SELECT o.id, o.next_at FROM ` + v.candidates(` o.next_kind = k.kind AND (o.next_at, o.id) > ($6, $7) AND`, ` ORDER BY o.next_at, o.id`) + ` LIMIT $5) x
	ORDER BY x.next_at, x.id`
}

// countOwnSQL counts what waits for a person by their own roles, up to a limit ($4).
func (v Viewer) countOwnSQL() string {
	return `SELECT count(*) FROM (SELECT 1 FROM ` + pairsSQL + ` CROSS JOIN LATERAL (SELECT 1 FROM ` + v.candidates("", "") + ` LIMIT $4) x LIMIT $4) y`
}

// ListInbox lists the decisions that this person may take now: those whose role they
// hold for the flow (or that name them), without those that they may not take because
// they are a party.
func (s *Store) ListInbox(ctx context.Context, viewer Actor) (*Inbox, error) {
	return s.listInbox(ctx, viewer, inboxKinds, "")
}

// ListInboxOf lists the decisions of one kind, page by page. A kind that nobody decides is
// an empty list.
func (s *Store) ListInboxOf(ctx context.Context, viewer Actor, kind operation.DecisionKind, cursor string) (*Inbox, error) {
	var kinds []string
	if slices.Contains(inboxKinds, string(kind)) {
		kinds = []string{string(kind)}
	}
	return s.listInbox(ctx, viewer, kinds, cursor)
}

func (s *Store) listInbox(ctx context.Context, viewer Actor, kinds []string, at string) (*Inbox, error) {
	v, err := s.FindViewer(ctx, viewer)
	if err != nil {
		return nil, err
	}
	in := &Inbox{Waiting: map[operation.DecisionKind]int{}, Late: map[operation.DecisionKind]int{}}
	if !v.Active {
		return in, nil
	}
	err = s.snapshot(ctx, func(t *tx) error {
		if err := t.get(&in.Now, `SELECT clock_timestamp()`); err != nil {
			return err
		}
		if err := t.inboxRows(in, v, kinds, at); err != nil {
			return err
		}
		if len(kinds) != len(inboxKinds) {
			return nil
		}
		if in.Held, err = t.waitingHeld(v); err != nil {
			return err
		}
		in.Held = in.Held[:min(len(in.Held), CountLimit)]
		return t.stillChecked(in, v)
	})
	sort.SliceStable(in.Rows, func(i, j int) bool { return in.Rows[i].Late && !in.Rows[j].Late })
	return in, err
}

func (t *tx) inboxRows(in *Inbox, v Viewer, kinds []string, at string) error {
	var keys []struct {
		ID   string                 `db:"id"`
		At   time.Time              `db:"next_at"`
		Kind operation.DecisionKind `db:"kind"`
	}
	roles, flows := v.rolePairs()
	c, paged := decodeCursor(at)
	if !paged {
		c.At = time.Time{}
	}
	if err := t.list(&keys, v.inboxSQL(), pq.Array(roles), pq.Array(flows), string(v.Person.ID), pq.Array(kinds), CountLimit, storedTime(c.At), string(c.ID)); err != nil {
		return err
	}
	var ids []string
	own := map[string]bool{}
	for _, k := range keys {
		own[k.ID] = true
		if !in.count(k.Kind, k.At.Before(in.Now)) {
			continue
		}
		ids = append(ids, k.ID)
		in.Next = cursor{At: k.At, ID: operation.ID(k.ID)}.encode()
	}
	if len(kinds) != 1 || in.Waiting[operation.DecisionKind(kinds[0])] <= InboxShown {
		in.Next = ""
	}
	var err error
	if in.Rows, err = t.rowsOf(ids, in.Now); err != nil || paged {
		return err
	}
	return t.lentRows(in, v, kinds, own)
}

// count counts a decision that waits, and says whether it is among those that are shown.
func (in *Inbox) count(kind operation.DecisionKind, late bool) bool {
	if in.Waiting[kind] == CountLimit {
		return false
	}
	if in.Waiting[kind]++; late {
		in.Late[kind]++
	}
	return in.Waiting[kind] <= InboxShown
}

// lentRows adds what the person may decide for others by delegations, where their own
// rights are not enough.
func (t *tx) lentRows(in *Inbox, v Viewer, kinds []string, own map[string]bool) error {
	lent, err := t.lentIDs(v)
	if err != nil || len(lent) == 0 {
		return err
	}
	var ids []string
	for id := range lent {
		if !own[string(id)] {
			ids = append(ids, string(id))
		}
	}
	rows, err := t.rowsOf(ids, in.Now)
	if err != nil {
		return err
	}
	byDue := func(a, b InboxRow) int {
		return cmp.Or(timeOf(a.NextAt).Compare(timeOf(b.NextAt)), cmp.Compare(a.ID, b.ID))
	}
	slices.SortFunc(rows, byDue)
	for _, r := range rows {
		if slices.Contains(kinds, r.NextKind) && in.count(operation.DecisionKind(r.NextKind), r.Late) {
			r.For = v.lentName(lent[r.ID])
			in.Rows = append(in.Rows, r)
		}
	}
	slices.SortStableFunc(in.Rows, byDue)
	return nil
}

// rowsOf reads operations for the inbox, in the order of their IDs given.
func (t *tx) rowsOf(ids []string, now time.Time) ([]InboxRow, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	var rows []struct {
		opRow
		Given    int  `db:"given"`
		Required int  `db:"required"`
		Blocked  bool `db:"blocked"`
	}
	if err := t.list(&rows, `SELECT `+opColumns+`,
		COALESCE((SELECT count(*) FROM approvals a WHERE a.version_id = o.version_id AND a.decision = 'approve' AND a.decided_at >= COALESCE(o.next_since, a.decided_at) AND EXISTS (SELECT 1 FROM approval_people q WHERE q.approval_id = a.id) AND a.request_id IS NOT DISTINCT FROM CASE WHEN o.state = 'reexecution_requested' THEN o.request_id END), 0) AS given,
		COALESCE((SELECT (s.policy::json->>'required')::int FROM submissions s WHERE s.version_id = o.version_id), 0) AS required,
		o.state IN ('draft', 'pending_approval') AND o.stage_no > 0 AND EXISTS (SELECT 1 FROM runs u WHERE u.id = o.run_id AND u.state = 'blocked')
			AND EXISTS (SELECT 1 FROM operations e WHERE e.run_id = o.run_id AND e.stage_no < o.stage_no AND e.state IN ('rejected', 'cancelled', 'not_executed')
			AND NOT EXISTS (SELECT 1 FROM stage_waivers w WHERE w.run_id = e.run_id AND w.stage = e.stage)) AS blocked
		FROM unnest($1::text[]) WITH ORDINALITY AS k(id, place) JOIN operations o ON o.id = k.id ORDER BY k.place`, pq.Array(ids)); err != nil {
		return nil, err
	}
	names := t.s.titler(t.ctx, t.Tx)
	out := make([]InboxRow, 0, len(rows))
	for _, r := range rows {
		row := InboxRow{OperationSummary: OperationSummary{r.opRow}, Given: r.Given, Required: r.Required, Blocked: r.Blocked}
		row.Late = row.Overdue(now)
		if err := names.fill(&row); err != nil {
			return nil, err
		}
		out = append(out, row)
	}
	return out, nil
}

// CountInbox counts the decisions that ListInbox lists for this person, and those about
// batches, up to CountLimit.
func (s *Store) CountInbox(ctx context.Context, viewer Actor) (int, error) {
	l := lookOf(ctx, viewer)
	if n, ok := looked(l, lookWaiting, viewer); ok {
		return n, nil
	}
	v, err := s.FindViewer(ctx, viewer)
	if err != nil || !v.Active {
		return 0, err
	}
	n := 0
	err = s.snapshot(ctx, func(t *tx) error {
		n, err = t.countInbox(v)
		return err
	})
	if err == nil {
		keepLook(l, lookWaiting, viewer, n)
	}
	return n, err
}

func (t *tx) countInbox(v Viewer) (int, error) {
	var row struct {
		N    int  `db:"n"`
		Held bool `db:"held"`
	}
	roles, flows := v.rolePairs()
	counting, args := v.countOwnSQL(), []any{pq.Array(roles), pq.Array(flows), string(v.Person.ID), CountLimit}
	if len(v.Lent) > 0 {
		counting, args = countAllSQL, append(append(args[:3:3], v.lentArgs()...), CountLimit)
	}
	if err := t.get(&row, `SELECT (`+counting+`) AS n, EXISTS (SELECT 1 FROM held_events h WHERE h.open) AS held`, args...); err != nil {
		return 0, err
	}
	batches, _, err := t.batchesToDecide(v)
	if err != nil {
		return 0, err
	}
	row.N += len(batches)
	if row.Held {
		held, err := t.waitingHeld(v)
		if err != nil {
			return 0, err
		}
		row.N += len(held)
	}
	return min(row.N, CountLimit), nil
}

// rolePairs gives the viewer's roles with the flow of each. No operation fits two pairs.
func (v Viewer) rolePairs() (roles, flows []string) {
	for flow, rs := range v.Flows {
		for _, r := range rs {
			if flow == "" || !slices.Contains(v.Flows[""], r) {
				roles, flows = append(roles, string(r)), append(flows, flow)
			}
		}
	}
	return roles, flows
}

// stillChecked counts the outcomes that are unknown and that nobody needs to settle yet.
func (t *tx) stillChecked(in *Inbox, v Viewer) error {
	all, flows := v.seenFlows()
	var row struct {
		N    int        `db:"n"`
		Next *time.Time `db:"next"`
	}
	err := t.get(&row, `SELECT count(*) AS n, min(next_at) AS next FROM (SELECT o.next_at FROM operations o WHERE o.state = 'unknown' AND ($1 OR o.flow = ANY($2)) LIMIT $3) x`,
		all, pq.Array(flows), CountLimit)
	in.Unknown, in.NextCheck = row.N, timeOf(row.Next)
	return err
}
