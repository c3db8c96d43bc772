package api

import (
	"context"
	"fmt"
	"strings"

	"holdpoint/operation"
	"holdpoint/store"
)

// batch finds a batch within the token's limits.
func (s *server) batch(ctx context.Context, id string) (*store.BatchPage, error) {
	if !operation.ValidID("bat", id) {
		return nil, store.ErrNotFound
	}
	k := callOf(ctx)
	b, err := s.Store.FindBatch(ctx, k.actor, operation.BatchID(id))
	if err == nil && !k.actor.Reaches(b.Flow, b.Destination) {
		err = store.ErrNotFound
	}
	return b, err
}

// GetBatch reads a batch.
func (s *server) GetBatch(ctx context.Context, r GetBatchRequestObject) (GetBatchResponseObject, error) {
	b, err := s.batch(ctx, r.Batch)
	if err != nil {
		return nil, err
	}
	return GetBatch200JSONResponse(s.shownBatch(b)), nil
}

// GetBatchItems reads a page of items.
func (s *server) GetBatchItems(ctx context.Context, r GetBatchItemsRequestObject) (GetBatchItemsResponseObject, error) {
	b, err := s.batch(ctx, r.Batch)
	if err != nil {
		return nil, err
	}
	q := store.BatchQuery{Batch: b.ID, Number: b.Number, Limit: 100}
	if p := r.Params; p.State != nil {
		q.State = operation.State(*p.State)
	}
	if r.Params.Search != nil {
		q.Search = *r.Params.Search
	}
	if r.Params.After != nil {
		q.After = *r.Params.After
	}
	if r.Params.Limit != nil {
		q.Limit = *r.Params.Limit
	}
	if r.Params.Only != nil {
		switch *r.Params.Only {
		case "waiting":
			q.Waiting = true
		case "excluded":
			q.Excluded = true
		case "duplicate", "suppressed":
			q.Excluded, q.Why = true, operation.Exclusion(*r.Params.Only)
		case "problem":
			q.Problem = true
		case "open":
			q.Open = true
		}
	}
	page, err := s.Store.BatchItems(ctx, callOf(ctx).actor, q)
	if err != nil {
		return nil, err
	}
	out := BatchItems{Items: []BatchItem{}}
	for _, x := range page.Items {
		out.Items = append(out.Items, s.shownItem(x))
	}
	if page.Next > 0 {
		out.Next = &page.Next
	}
	return GetBatchItems200JSONResponse(out), nil
}

func (s *server) shownItem(x store.BatchItem) BatchItem {
	out := BatchItem{Position: x.Position, Key: x.Key, Recipient: optional(x.Recipient), Title: optional(x.Title), Excluded: optional(string(x.Excluded)),
		Operation: optional(string(x.Operation)), State: optional(string(x.State)), Delivery: optional(x.Delivery)}
	if x.Operation != "" {
		out.Link = optional(s.link(x.Operation))
	}
	if list := x.Problems(); len(list) > 0 {
		problems := make([]ItemProblem, len(list))
		for i, p := range list {
			problems[i] = ItemProblem{Code: p.Code, Field: p.Field}
		}
		out.Problems = &problems
	}
	return out
}

// shownBatch puts a batch into the API's form.
func (s *server) shownBatch(b *store.BatchPage) Batch {
	out := Batch{Id: string(b.ID), Run: string(b.RunID), Flow: b.Flow, FlowVersion: b.FlowVersion, Stage: b.Stage, Destination: b.Destination, Action: b.Action,
		Account: b.Account, Environment: b.Environment, Title: optional(b.Title), State: string(b.State), Revision: b.Revision, Number: b.Number, Hash: optional(b.Version.HashHex()),
		Cleared: &b.Cleared, Released: &b.Released, Problems: &b.Version.Problems, Paused: b.Paused(), Stopped: b.Stopped(), StopReason: optional(b.StoppedWhy),
		Decisions: []BatchDecision{}, NextDecision: nextDecision(b.Turn.Next), Link: s.batchLink(b.ID), CreatedAt: b.CreatedAt.UTC(), UpdatedAt: b.UpdatedAt.UTC(), ClosedAt: utc(b.ClosedAt)}
	if missing := b.Version.Missing(); len(missing) > 0 {
		out.Missing = &missing
	}
	if b.Paused() {
		out.pausedAs(b.Batch)
	}
	if b.Rate > 0 {
		out.Rate = &b.Rate
	}
	if !b.End.IsZero() {
		end := b.End.UTC()
		out.EndsAt = &end
	}
	c := b.Counts
	out.Counts = BatchCounts{Total: c.Total, Duplicates: c.Duplicates, Suppressed: c.Suppressed, Waiting: c.Waiting, GivenUp: c.GivenUp, States: map[string]int{}}
	for state, n := range c.States {
		out.Counts.States[string(state)] = n
	}
	for _, d := range b.Approvals {
		out.Decisions = append(out.Decisions, BatchDecision{Decision: string(d.Decision), Phase: string(d.Phase), Number: d.Number, User: string(d.User), At: d.At.UTC(), Reason: optional(d.Reason)})
	}
	return out
}

// pausedAs says who or what paused the batch, and why.
func (out *Batch) pausedAs(b store.Batch) {
	out.PausedBy, out.PauseReason = optional(b.PausedBy), optional(b.PausedWhy)
	if b.PausedAuto == "" {
		return
	}
	out.PausedBy = optional(b.PausedAuto)
	if a, ok := operation.ReadBatchAlarm(b.PausedWhy); ok {
		out.PauseMeasured, out.PauseReason = shownAlarm(a), optional(alarmText(a))
	}
}

// shownAlarm puts the measurement of an automatic pause into the API's form.
func shownAlarm(a operation.BatchAlarm) *BatchAlarm {
	out := &BatchAlarm{Kind: a.Kind, Count: a.Count, Of: a.Of}
	if a.Limit >= 0 {
		limit := float64(a.Limit) / 10
		out.Limit = &limit
	}
	return out
}

func alarmText(a operation.BatchAlarm) string {
	text := map[string]string{operation.AlarmErrors: "%d of the last %d attempts failed", operation.AlarmUnknown: "The outcome of %d of the last %d attempts is unknown",
		operation.AlarmBounced: "%d of the last %d mails did not arrive"}[a.Kind]
	text = fmt.Sprintf(text, a.Count, a.Of)
	if a.Limit >= 0 {
		text += fmt.Sprintf("; the limit is %g %%", float64(a.Limit)/10)
	}
	return text + "."
}

// halting reads what a request wants to change: the batch as it is, at the revision that
// the caller knows or at the one that was read.
func (s *server) halting(ctx context.Context, id string, r *BatchReason) (*store.BatchPage, store.BatchShown, error) {
	b, err := s.batch(ctx, id)
	if err != nil {
		return nil, store.BatchShown{}, err
	}
	reason := strings.TrimSpace(r.Reason)
	if reason == "" {
		return nil, store.BatchShown{}, badRequest("invalid", "The reason is blank.")
	}
	sh := store.BatchShown{Batch: b.ID, Reason: reason}
	if r.Revision != nil {
		sh.Revision = *r.Revision
	}
	return b, sh, nil
}

// PauseBatch begins no more of a batch.
func (s *server) PauseBatch(ctx context.Context, r PauseBatchRequestObject) (PauseBatchResponseObject, error) {
	b, sh, err := s.halting(ctx, r.Batch, r.Body)
	if err == nil {
		_, err = s.Store.PauseBatch(ctx, callOf(ctx).actor, sh)
	}
	if err == nil {
		b, err = s.batch(ctx, r.Batch)
	}
	if err != nil {
		return nil, err
	}
	return PauseBatch200JSONResponse(s.shownBatch(b)), nil
}

// ResumeBatch lets a batch go on that a token paused. Whatever a person paused, or the
// batch's own limits, is a person's to end.
func (s *server) ResumeBatch(ctx context.Context, r ResumeBatchRequestObject) (ResumeBatchResponseObject, error) {
	b, sh, err := s.halting(ctx, r.Batch, r.Body)
	if err != nil {
		return nil, err
	}
	if b.Paused() && (b.PausedAuto != "" || !operation.ValidID("tok", b.PausedBy)) {
		return nil, &fault{status: 403, code: "persons_decision", detail: "A person, or the batch's own limit, paused this batch. A person lets it go on, on its page."}
	}
	if sh.Revision == 0 {
		sh.Revision = b.Revision // nothing else than this pause is ended
	}
	if err = s.Store.ResumeBatch(ctx, callOf(ctx).actor, sh); err == nil {
		b, err = s.batch(ctx, r.Batch)
	}
	if err != nil {
		return nil, err
	}
	return ResumeBatch200JSONResponse(s.shownBatch(b)), nil
}

// StopBatch gives the unsent rest up for good.
func (s *server) StopBatch(ctx context.Context, r StopBatchRequestObject) (StopBatchResponseObject, error) {
	b, sh, err := s.halting(ctx, r.Batch, r.Body)
	if err == nil {
		_, err = s.Store.StopBatch(ctx, callOf(ctx).actor, sh)
	}
	if err == nil {
		b, err = s.batch(ctx, r.Batch)
	}
	if err != nil {
		return nil, err
	}
	return StopBatch200JSONResponse(s.shownBatch(b)), nil
}
