package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/views"
)

// GetSuppressions gives a page of the suppression list.
func (s *server) GetSuppressions(ctx context.Context, r GetSuppressionsRequestObject) (GetSuppressionsResponseObject, error) {
	f := store.SuppressionFilter{Search: given(r.Params.Search), Reason: operation.SuppressionReason(given(r.Params.Reason)), Channel: given(r.Params.Channel),
		Lifted: given(r.Params.Lifted), Cursor: given(r.Params.After), Limit: given(r.Params.Limit)}
	if f.Limit == 0 {
		f.Limit = 100
	}
	l, err := s.Store.ListSuppressions(ctx, callOf(ctx).actor, f)
	if err != nil {
		return nil, err
	}
	out := Suppressions{Suppressions: make([]Suppression, len(l.Rows)), Next: optional(l.Next)}
	for i, x := range l.Rows {
		out.Suppressions[i] = Suppression{Id: string(x.ID), Address: x.Address, Scope: string(x.Scope), Channel: optional(x.Channel), Reason: string(x.Reason), Note: optional(x.Note), Since: x.Since.UTC(),
			Until: x.Until, Source: x.Source, Operation: optional(string(x.Operation)), Lifted: x.LiftedAt, LiftedWhy: optional(x.LiftedWhy)}
	}
	return GetSuppressions200JSONResponse(out), nil
}

// PostSuppressions puts addresses on the list, all or none.
func (s *server) PostSuppressions(ctx context.Context, r PostSuppressionsRequestObject) (PostSuppressionsResponseObject, error) {
	rows := make([]store.NewSuppression, len(r.Body.Entries))
	for i, x := range r.Body.Entries {
		rows[i] = store.NewSuppression{Address: x.Address, Scope: operation.SuppressionScope(given(x.Scope)), Channel: given(x.Channel), Reason: operation.SuppressionReason(x.Reason), Note: given(x.Note), Until: given(x.Until)}
	}
	got, err := s.Store.AddSuppressions(ctx, callOf(ctx).actor, store.Suppressing{Note: given(r.Body.Note)}, rows)
	var bad *store.Invalid
	if errors.As(err, &bad) {
		return nil, entryFault{*bad}
	}
	if err != nil {
		return nil, err
	}
	out := SuppressionsAdded{Added: got.Added, Extended: got.Extended, Known: got.Known, Suppressions: texts(got.IDs)}
	return PostSuppressions200JSONResponse(out), nil
}

// DeleteSuppression takes an address off the list.
func (s *server) DeleteSuppression(ctx context.Context, r DeleteSuppressionRequestObject) (DeleteSuppressionResponseObject, error) {
	err := s.Store.LiftSuppression(ctx, callOf(ctx).actor, store.SuppressionID(r.Suppression), 0, "", r.Params.Reason)
	if err != nil {
		return nil, err
	}
	return DeleteSuppression204Response{}, nil
}

// entryFault says which entry of a list cannot be stored, and what is wrong with it.
type entryFault struct{ store.Invalid }

// Error gives field and code, for logs.
func (f entryFault) Error() string { return f.Invalid.Error() }

func (f entryFault) problem(r *http.Request) Problem {
	p := problemOf(http.StatusUnprocessableEntity, f.Code, fmt.Sprintf("Entry %d, %s: %s", f.Entry, f.Field, views.Invalid(f.Code, f.Limit).In(printerOf(r))))
	p.Field = optional(f.Field)
	if f.Entry > 0 {
		p.Entry = &f.Entry
	}
	return p
}

// given is what a request says, or nothing.
func given[T any](x *T) (v T) {
	if x != nil {
		v = *x
	}
	return v
}
