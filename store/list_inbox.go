package store

import (
	"context"
	"slices"
	"sort"
	"time"

	"github.com/lib/pq"
)

// Inbox is what waits for one person.
type Inbox struct {
	Now       time.Time
	Rows      []InboxRow  // overdue first, then by due time
	Held      []HeldEvent // possible duplicates to decide, oldest first
	Unknown   int         // more outcomes are unknown but still being looked up
	NextCheck time.Time
	Others    int  // operations that wait for other people
	Cut       bool // there are more rows than were read
}

// InboxRow is one decision that the person may take.
type InboxRow struct {
	OperationSummary
	FlowTitle, StageTitle, DestinationTitle map[string]string // by language
	Given, Required                         int               // approvals on the current version
	Late                                    bool
	// Blocked: an earlier stage was closed without effect, and its owner has not said
	// how the run goes on. Told of drafts and of what waits for approval.
	Blocked bool
}

// inboxLimit bounds one page of the inbox.
const inboxLimit = 200

// ListInbox lists the decisions that this person may take now: those whose role they
// hold for the flow (or that name them), without those that they may not take because
// they are a party.
func (s *Store) ListInbox(ctx context.Context, viewer Actor) (*Inbox, error) {
	v, err := s.FindViewer(ctx, viewer)
	if err != nil {
		return nil, err
	}
	in := &Inbox{}
	if !v.Active {
		return in, nil
	}
	err = s.snapshot(ctx, func(t *tx) error {
		if err := t.get(&in.Now, `SELECT clock_timestamp()`); err != nil {
			return err
		}
		var rows []struct {
			opRow
			Given    int  `db:"given"`
			Required int  `db:"required"`
			Blocked  bool `db:"blocked"`
		}
		roles, flows := v.rolePairs()
		if err := t.list(&rows, `SELECT `+opColumns+`,
			COALESCE((SELECT count(DISTINCT a.user_id) FROM approvals a WHERE a.version_id = o.version_id AND a.decision = 'approve' AND a.request_id IS NOT DISTINCT FROM CASE WHEN o.state = 'reexecution_requested' THEN o.request_id END), 0) AS given,
			COALESCE((SELECT (s.policy::json->>'required')::int FROM submissions s WHERE s.version_id = o.version_id), 0) AS required,
			o.state IN ('draft', 'pending_approval') AND o.stage_no > 0 AND EXISTS (SELECT 1 FROM runs u WHERE u.id = o.run_id AND u.state = 'blocked')
				AND EXISTS (SELECT 1 FROM operations e WHERE e.run_id = o.run_id AND e.stage_no < o.stage_no AND e.state IN ('rejected', 'cancelled', 'not_executed')
				AND NOT EXISTS (SELECT 1 FROM stage_waivers w WHERE w.run_id = e.run_id AND w.stage = e.stage)) AS blocked`+
			inboxFrom+` ORDER BY o.next_at, o.id LIMIT 201`, pq.Array(roles), pq.Array(flows), viewer.ID); err != nil {
			return err
		}
		in.Cut = len(rows) > inboxLimit
		names := s.titler(ctx, t.Tx)
		for _, r := range rows[:min(len(rows), inboxLimit)] {
			row := InboxRow{OperationSummary: OperationSummary{r.opRow}, Given: r.Given, Required: r.Required, Blocked: r.Blocked}
			row.Late = row.Overdue(in.Now)
			if err := names.fill(&row); err != nil {
				return err
			}
			in.Rows = append(in.Rows, row)
		}
		var err error
		if in.Held, err = t.waitingHeld(v); err != nil {
			return err
		}
		in.Held = in.Held[:min(len(in.Held), inboxLimit)]
		return t.inboxRest(in, v)
	})
	sort.SliceStable(in.Rows, func(i, j int) bool { return in.Rows[i].Late && !in.Rows[j].Late })
	return in, err
}

// inboxFrom finds the operations that wait for a person: $1 their roles, $2 the flow of
// each (empty = every flow), $3 the person. Left out is what they have approved already,
// their own request for a re-execution, and their own content where others must approve.
const inboxFrom = ` FROM operations o JOIN unnest($1::text[], $2::text[]) AS r(role, flow) ON o.next_role = r.role AND (r.flow = '' OR r.flow = o.flow)
	WHERE o.next_kind <> '' AND NOT o.next_system AND o.next_kind <> 'earlier_stage' AND (o.next_user IS NULL OR o.next_user = $3 OR NOT EXISTS (SELECT 1 FROM users nu JOIN user_roles nr ON nr.user_id = nu.id
				WHERE nu.id = o.next_user AND nu.active AND nr.role = o.next_role AND nr.flow IN ('', o.flow)))
	AND NOT (o.state IN ('pending_approval', 'reexecution_requested') AND EXISTS (SELECT 1 FROM approvals a WHERE a.version_id = o.version_id AND a.user_id = $3 AND a.decision = 'approve'
		AND a.request_id IS NOT DISTINCT FROM CASE WHEN o.state = 'reexecution_requested' THEN o.request_id END))
	AND NOT (o.state = 'reexecution_requested' AND EXISTS (SELECT 1 FROM reexecution_requests q WHERE q.operation_id = o.id AND q.requested_by = $3))
	AND NOT (o.state = 'pending_approval' AND EXISTS (SELECT 1 FROM content_versions cv WHERE cv.operation_id = o.id AND (cv.author_id = $3 OR cv.prompted_by = $3))
		AND COALESCE((SELECT (s.policy::json->>'separate_author')::boolean FROM submissions s WHERE s.version_id = o.version_id), false))`

// CountLimit is how far CountInbox counts: one more than pages show as a number.
const CountLimit = 100

// CountInbox counts the decisions that ListInbox lists for this person, up to
// CountLimit. It reads no operation's row.
func (s *Store) CountInbox(ctx context.Context, viewer Actor) (int, error) {
	v, err := s.FindViewer(ctx, viewer)
	if err != nil || !v.Active {
		return 0, err
	}
	var row struct {
		N    int  `db:"n"`
		Held bool `db:"held"`
	}
	roles, flows := v.rolePairs()
	err = s.snapshot(ctx, func(t *tx) error {
		if err := t.get(&row, `SELECT (SELECT count(*) FROM (SELECT 1`+inboxFrom+` LIMIT $4) x) AS n, EXISTS (SELECT 1 FROM held_events h WHERE h.open) AS held`,
			pq.Array(roles), pq.Array(flows), viewer.ID, CountLimit); err != nil || !row.Held {
			return err
		}
		held, err := t.waitingHeld(v)
		row.N += len(held)
		return err
	})
	return min(row.N, CountLimit), err
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

// inboxRest counts what does not wait for this person.
func (t *tx) inboxRest(in *Inbox, v Viewer) error {
	all, flows := v.seenFlows()
	var row struct {
		Unknown int        `db:"unknown"`
		Next    *time.Time `db:"next"`
		Human   int        `db:"human"`
	}
	err := t.get(&row, `SELECT count(*) FILTER (WHERE state = 'unknown') AS unknown, min(next_at) FILTER (WHERE state = 'unknown') AS next,
		count(*) FILTER (WHERE next_kind <> '' AND NOT next_system AND state <> 'waiting') AS human
		FROM operations WHERE state NOT IN ('confirmed', 'rejected', 'cancelled', 'not_executed') AND ($1 OR flow = ANY($2))`, all, pq.Array(flows))
	in.Unknown, in.NextCheck, in.Others = row.Unknown, timeOf(row.Next), max(row.Human-len(in.Rows), 0)
	return err
}

// titler finds the names that people know flow, stage and destination by.
type titler struct {
	s     *Store
	ctx   context.Context
	db    getter
	dests map[string]map[string]string
}

func (s *Store) titler(ctx context.Context, db getter) *titler {
	return &titler{s: s, ctx: ctx, db: db, dests: map[string]map[string]string{}}
}

func (t *titler) fill(r *InboxRow) error {
	f, err := t.s.flowVersion(t.ctx, t.db, r.Flow, r.FlowVersion)
	if err != nil {
		return err
	}
	r.FlowTitle = f.Title
	if st, ok := stageOf(f, r.Stage); ok {
		r.StageTitle = st.Title
	}
	title, ok := t.dests[r.Destination]
	if !ok {
		var version int
		if err := t.db.GetContext(t.ctx, &version, `SELECT version FROM destinations WHERE name = $1`, r.Destination); err != nil {
			return err
		}
		p, err := t.s.profileVersion(t.ctx, t.db, r.Destination, version)
		if err != nil {
			return err
		}
		title = p.Title
		t.dests[r.Destination] = title
	}
	r.DestinationTitle = title
	return nil
}
