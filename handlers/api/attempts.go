package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"regexp"

	"holdpoint/connector/outbound"
	"holdpoint/operation"
	"holdpoint/store"
)

// ClaimOperation asks the gate for a permit.
func (s *server) ClaimOperation(ctx context.Context, r ClaimOperationRequestObject) (ClaimOperationResponseObject, error) {
	k := callOf(ctx)
	id := operation.ID(r.Operation)
	if err := k.reach(s.Store.PlaceOf(ctx, id)); err != nil {
		return nil, err
	}
	c, err := s.Store.ClaimPresenting(ctx, k.actor, id, r.Body.Worker, presented(r.Body.ContentHash, r.Body.Content, r.Body.Request))
	return ClaimOperation200JSONResponse(claimShown(c)), err
}

// ClaimNext claims the next operations of a destination that the gate permits.
func (s *server) ClaimNext(ctx context.Context, r ClaimNextRequestObject) (ClaimNextResponseObject, error) {
	k := callOf(ctx)
	b := r.Body
	if _, _, err := s.Store.Profile(ctx, b.Destination); err != nil {
		return nil, err
	}
	if len(k.actor.Destinations) > 0 && !k.actor.Reaches(first(k.actor.Flows), b.Destination) {
		return nil, store.ErrNotFound
	}
	most := 1
	if b.Max != nil {
		most = *b.Max
	}
	ids, err := s.Store.ListPermitted(ctx, k.actor, b.Destination, 4*most)
	if err != nil {
		return nil, err
	}
	out := Claims{Claims: []Claim{}}
	for _, id := range ids {
		if len(out.Claims) == most {
			break
		}
		c, err := s.Store.Claim(ctx, k.actor, id, b.Worker)
		var refusal *operation.Refusal
		switch {
		case errors.As(err, &refusal):
			continue // somebody else was faster, or the gate says no
		case err != nil && len(out.Claims) > 0:
			s.Log.Error("claims", "operation", id, "error", err)
			return ClaimNext200JSONResponse(out), nil // what is claimed must be told
		case err != nil:
			return nil, err
		}
		out.Claims = append(out.Claims, claimShown(c))
	}
	return ClaimNext200JSONResponse(out), nil
}

func first(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[0]
}

// DispatchAttempt hands out the resolved bytes: the only answer that does.
func (s *server) DispatchAttempt(ctx context.Context, r DispatchAttemptRequestObject) (DispatchAttemptResponseObject, error) {
	k := callOf(ctx)
	id := operation.AttemptID(r.Attempt)
	if err := k.reach(s.Store.PlaceOfAttempt(ctx, id)); err != nil {
		return nil, err
	}
	d, err := s.Store.DispatchPresenting(ctx, k.actor, id, r.Body.Fence, presented(r.Body.ContentHash, r.Body.Content, r.Body.Request))
	if err != nil {
		return nil, err
	}
	content, err := json.Marshal(d.Content)
	return DispatchAttempt200JSONResponse{
		Attempt: string(d.Attempt), Operation: string(d.Operation), Fence: d.Fence, Destination: d.Destination, Action: d.Action,
		Request: requestShown(d.Request), Key: d.Key, Credential: d.Credential, Content: content, Version: string(d.Version),
		DispatchedAt: d.DispatchedAt.UTC(), SendBy: d.SendBy.UTC(), BudgetMs: d.Budget.Milliseconds(), LeaseUntil: d.LeaseUntil.UTC(),
	}, err
}

// HeartbeatAttempt extends the lease.
func (s *server) HeartbeatAttempt(ctx context.Context, r HeartbeatAttemptRequestObject) (HeartbeatAttemptResponseObject, error) {
	k := callOf(ctx)
	id := operation.AttemptID(r.Attempt)
	if err := k.reach(s.Store.PlaceOfAttempt(ctx, id)); err != nil {
		return nil, err
	}
	until, err := s.Store.Heartbeat(ctx, k.actor, id, r.Body.Fence)
	return HeartbeatAttempt200JSONResponse{LeaseUntil: until.UTC()}, err
}

var referencePattern = regexp.MustCompile(`^[^\s\p{C}]{1,255}$`)

// ReportOutcome records what a client says became of its attempt.
func (s *server) ReportOutcome(ctx context.Context, r ReportOutcomeRequestObject) (ReportOutcomeResponseObject, error) {
	k := callOf(ctx)
	id := operation.AttemptID(r.Attempt)
	if err := k.reach(s.Store.PlaceOfAttempt(ctx, id)); err != nil {
		return nil, err
	}
	b := r.Body
	rep := store.Report{Outcome: outcomeOf(b.Outcome), TargetReference: b.TargetReference, TargetURL: safeLink(b.TargetUrl)}
	if b.TargetReference != "" && !referencePattern.MatchString(b.TargetReference) {
		return nil, badRequest("target_reference", "A target reference has no spaces and no control characters.")
	}
	if b.Proof != nil {
		rep.Proof = operation.Proof{Code: outbound.Mask(b.Proof.Code), Status: b.Proof.Status, Excerpt: outbound.Excerpt([]byte(b.Proof.Excerpt))}
	}
	rec, err := s.Store.ReportOutcome(ctx, k.actor, id, b.Fence, rep)
	if err != nil {
		return nil, err
	}
	out := ReportOutcome200JSONResponse{Operation: string(rec.Operation), State: string(rec.State), Outcome: rec.Outcome.String(), Late: rec.Late}
	if rec.Refused != nil {
		out.Code, out.Reason = optional(string(rec.Refused.Code)), optional(sentence(k.request, rec.Refused))
	}
	return out, nil
}

func outcomeOf(s string) operation.Outcome {
	switch s {
	case "confirmed":
		return operation.OutcomeConfirmed
	case "not_started":
		return operation.OutcomeNotStarted
	}
	return operation.OutcomeUnknown
}

// safeLink gives a link that a person can open, or "".
func safeLink(s string) string {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil {
		return ""
	}
	return u.String()
}
