package store

import (
	"context"
	"iter"

	"holdpoint/operation"
	"holdpoint/operation/definition"

	"github.com/jmoiron/sqlx"
)

// JudgeTexts looks at a batch as if its shared text were another, with the list as it is.
// Only authors of the flow may; texts that are not given stay.
func (s *Store) JudgeTexts(ctx context.Context, a Actor, id operation.BatchID, shared map[string]string) (*ListJudged, error) {
	j, err := s.judgingAgain(ctx, ListFile{Batch: id}, shared)
	if err != nil {
		return nil, err
	}
	v, err := s.FindViewer(ctx, a)
	if err != nil {
		return nil, err
	}
	if !v.In(j.flow.Name).Has(operation.RoleAuthor) {
		return nil, operation.Refuse(operation.CodeNotEntitled, "role", string(operation.RoleAuthor)).By(operation.Responsible{Role: operation.RoleAuthor})
	}
	return s.judge(ctx, j, s.entriesOf(ctx, id, j.number))
}

// entriesOf gives the entries of a version's list, page by page.
func (s *Store) entriesOf(ctx context.Context, id operation.BatchID, number int) iter.Seq2[map[string]any, error] {
	return func(yield func(map[string]any, error) bool) {
		for after := 0; ; {
			var page []struct {
				Position int    `db:"position"`
				Item     string `db:"item"`
			}
			err := s.read(ctx, func(q *sqlx.DB) error {
				page = nil
				return q.SelectContext(ctx, &page, `SELECT position, item FROM batch_bodies WHERE batch_id = $1 AND number = $2 AND position > $3 ORDER BY position LIMIT $4`,
					string(id), number, after, entriesPage)
			})
			if err != nil {
				yield(nil, err)
				return
			}
			for _, x := range page {
				after = x.Position
				v, err := definition.DecodeJSON([]byte(x.Item))
				entry, _ := v.(map[string]any)
				if !yield(entry, err) || err != nil {
					return
				}
			}
			if len(page) < entriesPage {
				return
			}
		}
	}
}
