package store

import (
	"context"

	"holdpoint/operation"
)

// JudgeBatchRun looks at the list of one stage as if a run were started with it. Nothing is
// written. each gets every row; nil = nobody asks. A list that cannot be read is a
// *ListFault.
func (s *Store) JudgeBatchRun(ctx context.Context, a Actor, n NewBatchRun, stage string, each func(JudgedItem) error) (*ListJudged, error) {
	f, _, err := s.Flow(ctx, n.Flow)
	if err != nil {
		return nil, err
	}
	st, ok := f.Stage(stage)
	if !ok || st.ForEach == nil || st.ForEach.Input == "" {
		return nil, ErrNotFound
	}
	j, err := s.judgingNew(ctx, a, n, st, f, n.Shared[stage])
	if err != nil {
		return nil, err
	}
	j.each = each
	return s.judge(ctx, j, n.Lists[st.ForEach.Input].Rows)
}

// MakeBatchRun starts a run with lists that came in l, and lets go of l's bytes.
func (s *Store) MakeBatchRun(ctx context.Context, a Actor, l ListFile, n NewBatchRun) (Receipt, []operation.BatchID, error) {
	rec, batches, err := s.CreateBatchRun(ctx, a, n)
	if err != nil || len(batches) == 0 {
		return rec, batches, err
	}
	return rec, batches, s.write(ctx, func(t *tx) error { return t.endList(l.ID, batches[0]) })
}
