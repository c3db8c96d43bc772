package store

import (
	"context"

	"holdpoint/operation"

	"github.com/lib/pq"
)

// labelsSQL names subjects as people know them; one without a name of its own has none.
const labelsSQL = `SELECT s.kind, s.id, l.label FROM unnest(CAST($1 AS text[]), CAST($2 AS text[])) AS s(kind, id) CROSS JOIN LATERAL (
	SELECT title AS label FROM operations WHERE s.kind = 'operation' AND id = s.id
	UNION ALL SELECT label FROM runs WHERE s.kind = 'run' AND id = s.id
	UNION ALL SELECT name FROM users WHERE s.kind = 'user' AND id = s.id
	UNION ALL SELECT title FROM incidents WHERE s.kind = 'incident' AND id = s.id
	UNION ALL SELECT title FROM improvement_tasks WHERE s.kind = 'task' AND id = s.id) l`

// label names the subjects of these entries.
func (t *tx) label(rows []FoundEntry) error {
	kinds, ids := subjectsOf(rows)
	if len(ids) == 0 {
		return nil
	}
	var list []struct {
		Kind  operation.SubjectKind `db:"kind"`
		ID    string                `db:"id"`
		Label string                `db:"label"`
	}
	if err := t.list(&list, labelsSQL, pq.Array(kinds), pq.Array(ids)); err != nil {
		return err
	}
	labels := map[[2]string]string{}
	for _, l := range list {
		labels[[2]string{string(l.Kind), l.ID}] = l.Label
	}
	for i, r := range rows {
		rows[i].Label = labels[[2]string{string(r.SubjectKind), r.SubjectID}]
	}
	return nil
}

// HistoryChoices is what the history's filters offer.
type HistoryChoices struct {
	Actions             []string
	Flows, Destinations []Named
	People              []PersonName // at most peopleLimit, disabled ones too
	Tokens              []TokenName  // services; only for those who may see access
}

// TokenName is a service by its token.
type TokenName struct {
	ID   operation.TokenID `db:"id"`
	Name string            `db:"name"`
}

// HistoryChoices gives what the viewer may filter the history by.
func (s *Store) HistoryChoices(ctx context.Context, viewer Actor) (*HistoryChoices, error) {
	v, err := s.FindViewer(ctx, viewer)
	if err != nil {
		return nil, err
	}
	out := &HistoryChoices{}
	if out.Actions, err = s.HistoryActions(ctx, viewer); err != nil {
		return nil, err
	}
	list := &OperationList{}
	if err := s.filterNames(ctx, v, list); err != nil {
		return nil, err
	}
	out.Flows, out.Destinations = list.Flows, list.Destinations
	err = s.snapshot(ctx, func(t *tx) error {
		if err := t.list(&out.People, `SELECT id, name FROM users ORDER BY name, id LIMIT $1`, peopleLimit); err != nil || !v.seesPeople() {
			return err
		}
		return t.list(&out.Tokens, `SELECT id, name FROM api_tokens ORDER BY name, id LIMIT $1`, peopleLimit)
	})
	return out, err
}
