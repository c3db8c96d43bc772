package api

import (
	"context"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"time"

	"holdpoint/operation"
	"holdpoint/operation/definition"
	"holdpoint/store"
	"holdpoint/views"
)

// rowsNamed is how many rows of a list a refusal names.
const rowsNamed = 100

// streamPatience is how long a list may take to come.
const streamPatience = 10 * time.Minute

// rowsFault is a list with rows that cannot go out.
type rowsFault struct {
	rows  []store.JudgedItem
	total int
}

// Error gives the code, for logs.
func (f *rowsFault) Error() string { return "rows" }

// problem names the rows.
func (f *rowsFault) problem() Problem {
	p := problemOf(http.StatusUnprocessableEntity, "rows", "Rows of the list cannot go out. Nothing was stored. Correct them, or send problems: draft.")
	rows := make([]ListRow, len(f.rows))
	for i, x := range f.rows {
		rows[i] = ListRow{Row: x.Position, Key: optional(x.Key), Problems: []ItemProblem{}}
		for _, y := range x.Problems {
			rows[i].Problems = append(rows[i].Problems, ItemProblem{Code: y.Code, Field: y.Field})
		}
	}
	p.Rows, p.RowsTotal = &rows, &f.total
	return p
}

// CreateBatch keeps the list as it comes, looks at it, and makes a batch of it.
func (s *server) CreateBatch(ctx context.Context, r CreateBatchRequestObject) (CreateBatchResponseObject, error) {
	k := callOf(ctx)
	key, err := idempotencyKey(r.Params.IdempotencyKey)
	if err != nil {
		return nil, err
	}
	if enc := k.request.Header.Get("Content-Encoding"); enc != "" && enc != "identity" {
		return nil, &fault{status: http.StatusUnsupportedMediaType, code: "content_encoding", detail: "Compressed bodies are not accepted."}
	}
	if kind, _, err := mime.ParseMediaType(k.request.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return nil, &fault{status: http.StatusUnsupportedMediaType, code: "invalid", detail: "The body is one JSON object: Content-Type: application/json."}
	}
	_ = http.NewResponseController(k.echo.Response()).SetReadDeadline(time.Now().Add(streamPatience))
	// Where the request says what it wants before its list, nothing is kept of what cannot be.
	head, body, err := readBatchHead(k.request.Body)
	if err != nil {
		return nil, err
	}
	flow, stage, err := s.fanned(ctx, k, head)
	if err != nil {
		return nil, err
	}
	l, err := s.Store.AddList(ctx, k.actor, store.NewList{Flow: flow.Name, Stage: stage.Key, FormID: key, Name: head.Name, Request: true}, body)
	if err != nil {
		return nil, listFault(err)
	}
	if l.Made != "" {
		return s.batchKnown(ctx, k, l.Made)
	}
	out, err := s.makeBatch(ctx, k, l, head, flow, stage, key)
	if errors.Is(err, store.ErrListEnded) {
		return s.madeMeanwhile(ctx, k, l.ID)
	}
	return out, err
}

// madeMeanwhile answers a request whose list another one with the same key brought to its
// end: with the batch, if one came of it.
func (s *server) madeMeanwhile(ctx context.Context, k *call, id operation.ListID) (CreateBatchResponseObject, error) {
	l, err := s.Store.FindList(ctx, k.actor, id)
	if err != nil {
		return nil, err
	}
	if l.Made == "" {
		return nil, &fault{status: http.StatusServiceUnavailable, code: "outcome_unknown", detail: "Another request with the same key ended meanwhile, and made nothing. Send the same request again: nothing happens twice."}
	}
	return s.batchKnown(ctx, k, l.Made)
}

// fanned finds the flow and the stage of a list. What lies outside the token's limits is
// not found.
func (s *server) fanned(ctx context.Context, k *call, head *batchHead) (*definition.Flow, *definition.Stage, error) {
	flow, _, err := s.Store.Flow(ctx, head.Flow)
	if err != nil {
		return nil, nil, err
	}
	var stage *definition.Stage
	lists := 0
	for i := range flow.Stages {
		st := &flow.Stages[i]
		if !k.actor.Reaches(flow.Name, st.Destination) {
			return nil, nil, store.ErrNotFound
		}
		if st.ForEach == nil || st.ForEach.Input == "" {
			continue
		}
		lists++
		if head.Stage == "" || head.Stage == st.Key {
			stage = st
		}
	}
	switch {
	case stage == nil:
		return nil, nil, unprocessable("stage", "The flow has no stage of that name whose list can come by itself.")
	case lists > 1 && head.Stage == "":
		return nil, nil, unprocessable("stage", "The flow has several lists: say for which stage this one is.")
	}
	return flow, stage, nil
}

// makeBatch makes a batch of a list that has come, unless rows of it cannot go out.
func (s *server) makeBatch(ctx context.Context, k *call, l store.ListFile, head *batchHead, flow *definition.Flow, stage *definition.Stage, key string) (CreateBatchResponseObject, error) {
	author, err := s.author(ctx, k, head.Author, head.Note)
	if err != nil {
		return nil, err
	}
	n := store.NewBatchRun{Flow: flow.Name, RunKey: k.actor.ID + "/" + key, FormID: key, Inputs: head.Inputs, Author: author,
		Lists:  map[string]store.List{stage.ForEach.Input: {Name: head.Name, Rows: s.itemsOf(ctx, l)}},
		Shared: map[string]map[string]string{stage.Key: head.Shared}}
	if head.RunKey != "" {
		n.RunKey = head.RunKey
	}
	if wrong, err := flow.CheckInputs(n.Inputs, flow.ListInputs()...); err != nil || len(wrong) > 0 {
		return nil, errors.Join(err, s.dropped(ctx, k, l), unprocessable(string(operation.CodeContentMissing), fmt.Sprintf("The inputs are missing or do not fit: %v.", wrong)))
	}
	if !head.Draft {
		if err := s.refuseRows(ctx, k, l, n, stage.Key); err != nil {
			return nil, err
		}
	}
	rec, batches, err := s.Store.MakeBatchRun(ctx, k.actor, l, n)
	if err != nil {
		return nil, s.listRefused(ctx, k, l, err)
	}
	if rec.Verdict == store.VerdictConflict || len(batches) == 0 {
		return nil, errors.Join(s.dropped(ctx, k, l), operation.Refuse(operation.CodeKeyReused, "key", n.RunKey))
	}
	out, err := s.created(ctx, k, batches[0])
	if err != nil {
		return nil, err
	}
	if out.Batches = texts(batches); rec.Verdict != store.VerdictAccepted {
		out.Repeated = true
		return CreateBatch200JSONResponse(out), nil
	}
	return CreateBatch201JSONResponse(out), nil
}

// dropped lets go of a list of which nothing is made, so that the same key can bring it
// corrected.
func (s *server) dropped(ctx context.Context, k *call, l store.ListFile) error {
	return s.Store.DropList(ctx, k.actor, l.ID)
}

// listRefused lets go of a list that is at fault itself. One that the store could not read,
// or not make a batch of, stays: the same request again finds it.
func (s *server) listRefused(ctx context.Context, k *call, l store.ListFile, err error) error {
	said := listFault(err)
	var own *fault
	if !errors.As(said, &own) {
		return err
	}
	return errors.Join(s.dropped(ctx, k, l), said)
}

// refuseRows looks at the list first: a row that cannot go out refuses all of it.
func (s *server) refuseRows(ctx context.Context, k *call, l store.ListFile, n store.NewBatchRun, stage string) error {
	var bad rowsFault
	found, err := s.Store.JudgeBatchRun(ctx, k.actor, n, stage, func(x store.JudgedItem) error {
		if len(x.Problems) > 0 {
			if bad.total++; len(bad.rows) < rowsNamed {
				bad.rows = append(bad.rows, x)
			}
		}
		return nil
	})
	if err != nil {
		return s.listRefused(ctx, k, l, err)
	}
	if bad.total > 0 {
		return errors.Join(s.dropped(ctx, k, l), &bad)
	}
	if found.Included == 0 {
		return errors.Join(s.dropped(ctx, k, l), unprocessable("nothing", "No row of the list is to be sent."))
	}
	return nil
}

// listFault turns a list that cannot be read into a problem that says where.
func listFault(err error) error {
	var bad *store.ListFault
	var table *definition.TableError
	var long *store.Invalid
	if errors.As(err, &bad) {
		table = &definition.TableError{Code: bad.Code, Line: bad.Line, Limit: bad.Limit, Key: bad.Key}
	} else if !errors.As(err, &table) {
		table = nil
	}
	switch {
	case errors.Is(err, store.ErrListLarge):
		return &fault{status: http.StatusRequestEntityTooLarge, code: "too_large", detail: fmt.Sprintf("The body is larger than %d bytes.", store.MaxListBytes)}
	case table != nil && table.Code == "rows", errors.As(err, &long) && long.Code == "list_rows":
		return unprocessable("too_many", fmt.Sprintf("The list has more than %d items.", definition.MaxListItems))
	case table != nil:
		return itemProblem(table)
	}
	return err
}

// itemProblem says which item cannot be read, and why.
func itemProblem(e *definition.TableError) error {
	switch e.Code {
	case "entry":
		return &fault{status: http.StatusRequestEntityTooLarge, code: "item_too_large", detail: fmt.Sprintf("Item %d is larger than %d bytes.", e.Line, e.Limit)}
	case "twice":
		return badRequest("duplicate_key", fmt.Sprintf("Item %d holds the member %q twice; upper and lower case count as the same.", e.Line, e.Key))
	case "nul":
		return badRequest("nul", fmt.Sprintf("Item %d holds the character U+0000 in %q, which cannot be stored.", e.Line, e.Key))
	case "deep":
		return badRequest("nested_too_deeply", fmt.Sprintf("Item %d is nested deeper than %d levels.", e.Line, e.Limit))
	case "encoding":
		return badRequest("encoding", fmt.Sprintf("Item %d is not UTF-8, or holds half of a surrogate pair.", e.Line))
	}
	return badRequest("syntax", fmt.Sprintf("Item %d is no JSON value that can be read.", e.Line))
}

func (s *server) batchKnown(ctx context.Context, k *call, id operation.BatchID) (CreateBatchResponseObject, error) {
	out, err := s.created(ctx, k, id)
	out.Repeated = true
	return CreateBatch200JSONResponse(out), err
}

// created names what a list became.
func (s *server) created(ctx context.Context, k *call, id operation.BatchID) (BatchCreated, error) {
	b, err := s.Store.FindBatch(ctx, k.actor, id)
	if err != nil {
		return BatchCreated{}, err
	}
	out := BatchCreated{Batch: string(id), Batches: []string{string(id)}, Run: string(b.RunID), State: string(b.State), Total: b.Version.Total, Included: b.Version.Included,
		Duplicates: b.Version.Duplicates, Suppressed: b.Version.Suppressed, Problems: b.Version.Problems, Missing: b.Version.Missing(), Link: s.batchLink(id)}
	if out.Missing == nil {
		out.Missing = []string{}
	}
	return out, nil
}

func (s *server) batchLink(id operation.BatchID) string {
	return s.PublicURL + views.PathBatches + "/" + string(id)
}
