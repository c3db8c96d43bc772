package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"holdpoint/operation"
	"holdpoint/operation/definition"
	"holdpoint/store"
)

// CreateOperation starts a run of a flow under the caller's key.
func (s *server) CreateOperation(ctx context.Context, r CreateOperationRequestObject) (CreateOperationResponseObject, error) {
	k := callOf(ctx)
	key, err := idempotencyKey(r.Params.IdempotencyKey)
	if err != nil {
		return nil, err
	}
	flow, _, err := s.Store.Flow(ctx, r.Body.Flow)
	if err != nil {
		return nil, err
	}
	for _, st := range flow.Stages {
		if !k.actor.Reaches(flow.Name, st.Destination) {
			return nil, store.ErrNotFound
		}
	}
	in := store.Received{Source: store.JobSource, Topic: flow.Name, DeliveryKey: key, Body: k.body, Flow: flow.Name, Status: http.StatusCreated,
		StatusOf: map[store.Verdict]int{store.VerdictRepeated: http.StatusOK, store.VerdictConflict: http.StatusUnprocessableEntity}}
	in.RunKey = k.actor.ID + "/" + key
	if r.Body.RunKey != nil {
		if in.RunKey = *r.Body.RunKey; strings.TrimSpace(in.RunKey) == "" {
			return nil, badRequest("run_key", "The run key is blank.")
		}
	}
	in.EventKey = in.RunKey
	if err := s.fill(ctx, k, flow, r.Body, &in); err != nil {
		return nil, err
	}
	rec, err := s.Store.CreateOperation(ctx, k.actor, in, key)
	if err != nil {
		return nil, contentFault(err)
	}
	out := Created{Operation: string(rec.First()), Operations: texts(rec.Operations), Run: string(rec.Runs[0]), Repeated: rec.Verdict != store.VerdictAccepted, Link: s.link(rec.First())}
	if out.Repeated {
		return CreateOperation200JSONResponse(out), nil
	}
	return CreateOperation201JSONResponse(out), nil
}

// fill takes inputs, content and author out of the body, exactly as they were sent.
func (s *server) fill(ctx context.Context, k *call, flow *definition.Flow, b *NewOperation, in *store.Received) error {
	in.Data, in.Inputs = map[string]any{}, map[string]any{}
	if b.Inputs != nil {
		v, err := object(b.Inputs)
		if err != nil {
			return err
		}
		in.Data, in.Inputs = v, v
	}
	if b.Content != nil {
		v, err := object(b.Content)
		if err != nil {
			return err
		}
		in.Content = map[string]map[string]any{}
		for stage, c := range v {
			content, ok := c.(map[string]any)
			if _, known := flow.Stage(stage); !known || !ok {
				return unprocessable("stage", "The flow has no stage "+strings.ToValidUTF8(stage, "?")+", or its content is no object.")
			}
			in.Content[stage] = content
		}
	}
	var err error
	in.Author, err = s.author(ctx, k, b.Author, b.Note)
	return err
}

// author is the token, or a model that the token names, with the person behind it.
func (s *server) author(ctx context.Context, k *call, a *Author, note *string) (store.Author, error) {
	text := ""
	if note != nil {
		text = *note
	}
	if a == nil {
		return store.Author{Kind: "token", ID: k.actor.ID, Note: text}, nil
	}
	by := ""
	if a.PromptedBy != nil {
		by = *a.PromptedBy
	}
	out, err := s.Store.ModelAuthor(ctx, a.Model, by, text)
	if errors.Is(err, store.ErrNotFound) {
		return out, unprocessable("prompted_by", "The person who prompted the model has no account here.")
	}
	return out, err
}

// idempotencyKey reads the key, quoted as the draft wants it or bare as callers send it.
func idempotencyKey(v string) (string, error) {
	key := strings.TrimSpace(v)
	if len(key) >= 2 && key[0] == '"' && key[len(key)-1] == '"' {
		key = strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(key[1 : len(key)-1])
	}
	if key == "" || len(key) > 200 || strings.ContainsFunc(key, func(c rune) bool { return c < 0x20 || c > 0x7e }) {
		return "", badRequest("idempotency_key", "The header Idempotency-Key needs 1 to 200 printable ASCII characters.")
	}
	return key, nil
}

// contentFault turns a refusal of the content itself into 422: no operation is there to
// which a next decision could belong.
func contentFault(err error) error {
	var r *operation.Refusal
	if errors.As(err, &r) && r.Code == operation.CodeContentMissing {
		return unprocessable(string(r.Code), "The content or the inputs do not fit: "+r.Params["field"]+".")
	}
	return err
}

// object decodes a JSON object strictly; numbers keep their exact text.
func object(raw json.RawMessage) (map[string]any, error) {
	v, err := definition.DecodeJSON(raw)
	if err != nil {
		return nil, badRequest("syntax", err.Error()+".")
	}
	m, ok := v.(map[string]any)
	if !ok {
		return nil, badRequest("invalid", "An object is needed.")
	}
	if err := operation.CheckNumbers(raw); err != nil {
		return nil, unprocessable("number", err.Error()+".")
	}
	return m, nil
}

// AddVersion writes a new content version.
func (s *server) AddVersion(ctx context.Context, r AddVersionRequestObject) (AddVersionResponseObject, error) {
	k := callOf(ctx)
	id := operation.ID(r.Operation)
	if err := k.reach(s.Store.PlaceOf(ctx, id)); err != nil {
		return nil, err
	}
	content, err := object(r.Body.Content)
	if err != nil {
		return nil, err
	}
	author, err := s.author(ctx, k, r.Body.Author, r.Body.Note)
	if err != nil {
		return nil, err
	}
	n := store.NewVersion{Operation: id, Content: content, Author: author, Submit: r.Body.Submit == nil || *r.Body.Submit}
	if r.Body.Revision != nil {
		n.Revision = *r.Body.Revision
	}
	if err := s.Store.AddVersion(ctx, k.actor, n); err != nil {
		var r *operation.Refusal
		if errors.As(err, &r) && r.Code == operation.CodeContentMissing {
			err = operation.Refuse(r.Code, "field", "/content/"+strings.NewReplacer(", ", ", /content/", ".", "/", "[", "/", "]", "").Replace(r.Params["field"]))
		}
		return nil, contentFault(err)
	}
	o, err := s.operation(ctx, id)
	return AddVersion200JSONResponse(o), err
}

// The limits of waiting for a change, and how often the revision is read meanwhile.
const (
	maxWait   = 60 * time.Second
	pollEvery = 250 * time.Millisecond
)

// GetOperation reads an operation, or waits until its revision is another one.
func (s *server) GetOperation(ctx context.Context, r GetOperationRequestObject) (GetOperationResponseObject, error) {
	k := callOf(ctx)
	id := operation.ID(r.Operation)
	if err := k.reach(s.Store.PlaceOf(ctx, id)); err != nil {
		return nil, err
	}
	if r.Params.Wait != nil {
		wait, err := time.ParseDuration(*r.Params.Wait)
		if err != nil {
			return nil, badRequest("wait", "wait is a duration such as 30s.")
		}
		if err := s.await(ctx, k, id, r.Params.Revision, min(wait, maxWait)); err != nil {
			return nil, err
		}
	}
	o, err := s.operation(ctx, id)
	return GetOperation200JSONResponse(o), err
}

// await returns when the revision differs from the known one, when the time is over or
// the server stops. No transaction and no connection is held meanwhile.
func (s *server) await(ctx context.Context, k *call, id operation.ID, known *int64, wait time.Duration) error {
	_ = http.NewResponseController(k.echo.Response()).SetWriteDeadline(time.Now().Add(wait + 10*time.Second))
	rev, err := s.Store.Revision(ctx, id)
	if err != nil {
		return err
	}
	if known == nil {
		known = &rev
	}
	end := time.NewTimer(wait)
	defer end.Stop()
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for rev == *known {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-s.Stopping:
			return nil
		case <-end.C:
			return nil
		case <-tick.C:
		}
		if rev, err = s.Store.Revision(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

// operation reads an operation and puts it into the API's form.
func (s *server) operation(ctx context.Context, id operation.ID) (Operation, error) {
	o, err := s.Store.FindAPIOperation(ctx, id)
	if err != nil {
		return Operation{}, err
	}
	return s.shown(o), nil
}
