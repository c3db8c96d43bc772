package store

import (
	"context"
	"time"

	"holdpoint/operation"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
)

// TogetherLimit bounds how many versions are shown, and decided, together.
const TogetherLimit = 50

// TogetherItem is one pending version of a list that a person may approve.
type TogetherItem struct {
	OperationSummary
	Version  VersionRow
	Policy   operation.Policy
	Standing []ApprovalRow // with the fields that a signature shows
	For      operation.UserID
	ForName  string // on whose behalf it would be; "" = their own
}

// TogetherList are the pending versions of one flow and stage that a person may approve.
type TogetherList struct {
	Items []TogetherItem
	More  bool // there are more than TogetherLimit
	// Left counts those that were looked at and that this person may not approve.
	Left int
}

// ListTogether lists what a person may approve of one flow and stage, by the same rule
// that decides, the most urgent first.
func (s *Store) ListTogether(ctx context.Context, viewer Actor, flow, stage string) (*TogetherList, error) {
	v, err := s.FindViewer(ctx, viewer)
	if err != nil {
		return nil, err
	}
	who := v.In(flow)
	received, err := s.ListReceived(ctx, who, flow)
	if err != nil {
		return nil, err
	}
	out := &TogetherList{}
	err = s.snapshot(ctx, func(t *tx) error {
		*out = TogetherList{}
		var ids []operation.ID
		if err := t.list(&ids, `SELECT id FROM operations WHERE state = 'pending_approval' AND flow = $1 AND stage = $2 ORDER BY next_at, id LIMIT $3`, flow, stage, 4*TogetherLimit); err != nil {
			return err
		}
		for _, id := range ids {
			u, err := t.peek(viewer, id)
			if err != nil {
				return err
			}
			if !v.Sees(u.op.Flow, u.op.Destination) {
				continue
			}
			item, err := u.together(who, received)
			switch {
			case err != nil:
				return err
			case item == nil:
				out.Left++
			case len(out.Items) == TogetherLimit:
				out.More = true
				return nil
			default:
				out.Items = append(out.Items, *item)
			}
		}
		out.More = len(ids) == 4*TogetherLimit
		return t.togetherBodies(out.Items)
	})
	return out, err
}

// together gives what the person may approve with others; nil = they may not.
func (u *unit) together(who operation.Person, received []ActsFor) (*TogetherItem, error) {
	if err := u.readApprovals(); err != nil {
		return nil, err
	}
	p, parties, stand, _, err := u.approvalFacts()
	if err != nil {
		return nil, err
	}
	if p, err = u.presentPolicy(p); err != nil {
		return nil, err
	}
	if lapsed(p, stand, u.now) {
		stand = nil
	}
	if err := u.fitGroups(p, stand); err != nil {
		return nil, err
	}
	facts, err := u.togetherFacts()
	if err != nil {
		return nil, err
	}
	if operation.MayDecideTogether(facts, operation.Approve) != nil {
		return nil, nil
	}
	item := &TogetherItem{OperationSummary: OperationSummary{*u.op}, Policy: p}
	for _, g := range stand {
		item.Standing = append(item.Standing, ApprovalRow{ID: g.ID, User: g.User, For: g.For, Decision: g.Decision, At: g.At})
	}
	if operation.MayDecide(u.op.State, p, who, parties, givenOf(stand), operation.Approve) == nil {
		return item, nil
	}
	for _, r := range received {
		if operation.MayDecideAs(u.op.State, p, r.Capacity, parties, givenOf(stand), operation.Approve) == nil {
			item.For, item.ForName = r.For.ID, r.Name
			return item, nil
		}
	}
	return nil, nil
}

func (u *unit) togetherFacts() (operation.Together, error) {
	f := operation.Together{State: u.op.State, Unsettled: u.op.Unsettled, Request: u.op.RequestID != ""}
	var err error
	if f.Second, err = u.second(); err != nil {
		return f, err
	}
	stopped, err := u.suppressedPeople()
	f.Suppressed = len(stopped) > 0
	return f, err
}

// second reports that something that the operation replaces, or that stands before that in
// its lineage, was sent: a second effect.
func (u *unit) second() (bool, error) {
	if u.op.Replaces == "" {
		return false, nil
	}
	line, err := u.readLineage()
	return line.sentBefore(u.op.Replacement), err
}

// mayDecideTogether is the store's side of a list: nothing changed since it was shown, and
// it is nothing that needs its own page.
func (u *unit) mayDecideTogether(d Decided) error {
	facts, err := u.togetherFacts()
	if err != nil {
		return err
	}
	if r := operation.MayDecideTogether(facts, d.Decision); r != nil {
		return r
	}
	if d.Revision != u.op.Revision {
		return operation.Refuse(operation.CodeStaleRevision)
	}
	return nil
}

// togetherBodies reads the versions' content.
func (t *tx) togetherBodies(items []TogetherItem) error {
	ids, at := make([]string, len(items)), map[operation.VersionID]int{}
	for i, x := range items {
		ids[i], at[x.VersionID] = string(x.VersionID), i
	}
	var rows []VersionRow
	err := t.list(&rows, `SELECT v.id, v.number, v.author_kind, v.author_id, COALESCE(v.prompted_by, '') AS prompted_by, v.model, v.note, to_json(v.missing)::text AS missing,
		COALESCE(v.hash, '') AS hash, v.account, v.environment, v.credential, v.flow_version, v.created_at, COALESCE(b.content, '') AS content, COALESCE(b.request, '') AS request,
		CAST(NULL AS timestamptz) AS submitted_at, '' AS submitted_by, '' AS policy
		FROM content_versions v LEFT JOIN version_bodies b ON b.version_id = v.id WHERE v.id = ANY($1)`, pq.Array(ids))
	for _, r := range rows {
		items[at[r.ID]].Version = r
	}
	return err
}

// TogetherResult is what became of one operation of a list.
type TogetherResult struct {
	Operation operation.ID    `db:"operation_id"`
	Title     string          `db:"title"`
	Code      operation.Code  `db:"code"` // "" = approved
	State     operation.State `db:"state"`
	Flow      string          `db:"flow"`
	Stage     string          `db:"stage"`
	At        time.Time       `db:"at"`
}

// DecideTogether approves each of a list alone, by the same decision as on its own page,
// and records what became of it. What changed meanwhile is refused alone. The same form
// again gives the same results. Operations of another flow or stage, and those that the
// person may not know of, are left out. An error that is no refusal ends it; what was
// recorded before stands, and the form can be sent again.
func (s *Store) DecideTogether(ctx context.Context, a Actor, form, flow, stage string, list []Decided) error {
	known, err := s.knownOf(ctx, a, flow, stage, list)
	if err != nil {
		return err
	}
	for i, d := range list {
		if !known[d.Operation] {
			continue
		}
		d.Together, d.Decision, d.FormID = true, operation.Approve, form+"/"+string(d.Operation)
		err := s.Decide(ctx, a, d)
		code := operation.CodeOK
		if r, no := operation.RefusalIn(err); no {
			code = r.Code
		} else if err != nil {
			return err
		}
		if err := s.noteTogether(ctx, a, form, d.Operation, i, code); err != nil {
			return err
		}
	}
	return nil
}

// knownOf gives the operations of one flow and stage that the person may know of.
func (s *Store) knownOf(ctx context.Context, a Actor, flow, stage string, list []Decided) (map[operation.ID]bool, error) {
	v, err := s.FindViewer(ctx, a)
	if err != nil {
		return nil, err
	}
	ids := make([]string, len(list))
	for i, d := range list {
		ids[i] = string(d.Operation)
	}
	var rows []struct {
		ID          operation.ID `db:"id"`
		Destination string       `db:"destination"`
	}
	err = s.read(ctx, func(q *sqlx.DB) error {
		rows = nil
		return q.SelectContext(ctx, &rows, `SELECT id, destination FROM operations WHERE id = ANY($1) AND flow = $2 AND stage = $3`, pq.Array(ids), flow, stage)
	})
	out := map[operation.ID]bool{}
	for _, r := range rows {
		out[r.ID] = v.Sees(flow, r.Destination)
	}
	return out, err
}

func (s *Store) noteTogether(ctx context.Context, a Actor, form string, id operation.ID, place int, code operation.Code) error {
	return s.write(ctx, func(t *tx) error {
		now, err := t.clock()
		if err != nil {
			return err
		}
		// an approval that a lost answer hid is found by the second sending: it corrects a refusal, never the reverse
		_, err = t.exec(`INSERT INTO decided_together (user_id, form_id, operation_id, place, code, at) VALUES ($1, $2, $3, $4, $5, $6)
			ON CONFLICT (user_id, form_id, operation_id) DO UPDATE SET code = excluded.code, at = excluded.at WHERE excluded.code = '' AND decided_together.code <> ''`,
			a.ID, form, string(id), place, string(code), now)
		return err
	})
}

// ListTogetherResults lists what became of each operation of a person's own list.
func (s *Store) ListTogetherResults(ctx context.Context, a Actor, form string) ([]TogetherResult, error) {
	var rows []TogetherResult
	err := s.read(ctx, func(q *sqlx.DB) error {
		rows = nil
		return q.SelectContext(ctx, &rows, `SELECT x.operation_id, o.title, x.code, o.state, o.flow, o.stage, x.at FROM decided_together x JOIN operations o ON o.id = x.operation_id
			WHERE x.user_id = $1 AND x.form_id = $2 ORDER BY x.place, x.operation_id`, a.ID, form)
	})
	return rows, err
}
