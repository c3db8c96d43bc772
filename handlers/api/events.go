package api

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"holdpoint/handlers/intake"
	"holdpoint/operation/definition"
	"holdpoint/store"
)

// PostEvent enters a CloudEvent, or plain JSON of a configured source.
func (s *server) PostEvent(ctx context.Context, r PostEventRequestObject) (PostEventResponseObject, error) {
	k := callOf(ctx)
	src, err := s.source(ctx, k, r.Params.Source)
	if err != nil {
		return nil, err
	}
	rec, err := intake.Accept(ctx, s.Intake, k.actor, src, k.request)
	var no *intake.Refused
	if errors.As(err, &no) {
		return nil, &fault{status: no.Status, code: no.Code, detail: no.Sentence()}
	}
	if err != nil {
		return nil, err
	}
	out := Receipt{Delivery: string(rec.Delivery), Event: optional(string(rec.Event)), Verdict: string(rec.Verdict), Reason: optional(rec.Reason),
		Runs: texts(rec.Runs), Operations: texts(rec.Operations)}
	if src.Answer == http.StatusAccepted {
		return PostEvent202JSONResponse(out), nil
	}
	return PostEvent200JSONResponse(out), nil
}

// source finds the source that the caller names, or the only one that fits the form.
// One outside the token's limits is not found.
func (s *server) source(ctx context.Context, k *call, name *string) (*definition.Source, error) {
	if name != nil {
		src, err := s.Store.FindSource(ctx, *name)
		if err != nil {
			return nil, err
		}
		ok, err := intake.MayEnter(ctx, s.Store, k.actor, src.Name)
		if err == nil && !ok {
			err = store.ErrNotFound
		}
		return src, err
	}
	all, err := s.Store.ListSources(ctx)
	if err != nil {
		return nil, err
	}
	kind := definition.KindJSON
	if h := k.request.Header; h.Get("Ce-Specversion") != "" || strings.HasPrefix(strings.ToLower(h.Get("Content-Type")), "application/cloudevents") {
		kind = definition.KindCloudEvents
	}
	var fit []*definition.Source
	for _, src := range all {
		if src.Kind != kind || src.Signature.Scheme != definition.SchemeToken {
			continue
		}
		ok, err := intake.MayEnter(ctx, s.Store, k.actor, src.Name)
		if err != nil {
			return nil, err
		}
		if ok {
			fit = append(fit, src)
		}
	}
	if len(fit) != 1 {
		names := make([]string, len(fit))
		for i, src := range fit {
			names[i] = src.Name
		}
		slices.Sort(names)
		return nil, badRequest("source", "Say which source this is, with ?source=NAME. Sources that fit: "+or(strings.Join(names, ", "), "none")+".")
	}
	return fit[0], nil
}

func texts[T ~string](in []T) []string {
	out := make([]string, len(in))
	for i, v := range in {
		out[i] = string(v)
	}
	return out
}

func or(s, fallback string) string {
	if s == "" {
		return fallback
	}
	return s
}
