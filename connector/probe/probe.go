// Package probe shows on a test account whether a destination's protection holds: it
// sends two equal requests with one key and sees whether there is one effect. It makes
// effects, one for each key it uses, and belongs to no operation.
//
// It may import operation, operation/definition and connector/order.
package probe

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"holdpoint/connector/order"
	"holdpoint/operation"
	"holdpoint/operation/definition"
)

// ErrNothing says that an action has nothing to be probed.
var ErrNothing = errors.New("the action takes no key and its profile names no unique reference: there is no protection to probe")

// Plan is what is to be probed.
type Plan struct {
	Connector order.Connector
	Action    *definition.Action
	Env       order.Env
	Content   map[string]any
	// Other is a second content, for the key with other parameters; nil = not tried.
	Other map[string]any
	// References fill the holes for the target references of earlier stages, by stage.
	References map[string]string
	// Patience bounds the waiting for the lookup's lag.
	Patience time.Duration
}

// Verdict is what a probe has shown.
type Verdict struct {
	Result operation.ProbeResult
	Steps  []operation.ProbeStep
	Keys   []string // the keys that were used: one effect each is what a protection promises
}

// Run probes. The error says that nothing was sent; what goes wrong later is a step.
func Run(ctx context.Context, p Plan) (Verdict, error) {
	m := p.Action.Meaning()
	if !m.Protection.Key && m.Unique == "" {
		return Verdict{}, ErrNothing
	}
	r := &running{Plan: p, meaning: m}
	one, err := r.prepare(p.Content)
	if err != nil {
		return Verdict{}, err
	}
	var other, twin order.Order
	if p.Other != nil && m.MismatchKnown {
		if other, err = r.render(one.Operation, p.Other); err != nil {
			return Verdict{}, fmt.Errorf("the other content: %w", err)
		}
	}
	if m.Protection.Concurrency {
		if twin, err = r.prepare(p.Content); err != nil {
			return Verdict{}, err
		}
	}
	if r.equal(ctx, one) {
		if m.MismatchKnown {
			r.other(ctx, other)
		}
		if m.Protection.Concurrency {
			r.together(ctx, twin)
		}
	}
	return r.verdict(), nil
}

type running struct {
	Plan
	meaning definition.Meaning
	first   operation.Result
	out     Verdict
}

// prepare renders a request of its own: a new operation, a new key.
func (r *running) prepare(content map[string]any) (order.Order, error) {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[0] &= 0x7f
	id := operation.ID(operation.FormatID("op", b))
	return r.render(id, content)
}

func (r *running) render(id operation.ID, content map[string]any) (order.Order, error) {
	now := time.Now()
	v, err := r.Action.Render(content, r.Env, now)
	if err != nil {
		return order.Order{}, err
	}
	key := operation.DestinationKey(id, 1)
	holes := map[string]string{operation.HoleOperationID: string(id), operation.HoleKey: key}
	for stage, reference := range r.References {
		holes[operation.HoleTargetRef(stage)] = reference
	}
	for _, name := range v.Request.Holes() {
		if _, ok := holes[name]; !ok {
			return order.Order{}, fmt.Errorf("the request needs {%s}: give it with --target-ref STAGE=REFERENCE", name)
		}
	}
	resolved, err := v.Request.Resolve(holes)
	return order.Order{Operation: id, Attempt: "att_probe", Fence: 1, Action: r.Action.Name, Request: resolved, Key: key, Content: content, DispatchedAt: now}, err
}

func (r *running) act(ctx context.Context, o order.Order) operation.Result {
	if !slices.Contains(r.out.Keys, o.Key) {
		r.out.Keys = append(r.out.Keys, o.Key)
	}
	return r.Connector.Act(ctx, o)
}

// step records what was done and what it shows.
func (r *running) step(name string, shows operation.ProbeResult, res operation.Result, format string, args ...any) {
	r.out.Steps = append(r.out.Steps, operation.ProbeStep{Name: name, Result: shows, Says: fmt.Sprintf(format, args...),
		Status: res.Proof.Status, Code: res.Proof.Code, Reference: res.TargetReference, Excerpt: res.Proof.Excerpt})
}

// equal sends one request twice. It reports whether the first one was confirmed, so that
// more can be shown.
func (r *running) equal(ctx context.Context, o order.Order) bool {
	r.first = r.act(ctx, o)
	if r.first.Outcome != operation.OutcomeConfirmed {
		r.step("first", operation.ProbeUnclear, r.first, "The first request was not confirmed (%s), so nothing can be shown. Look at the test account before you try again.", r.first.Proof.Code)
		return false
	}
	r.step("first", operation.ProbeHeld, r.first, "The first request was confirmed.")
	again := r.act(ctx, o)
	refused := false
	switch {
	case again.Outcome == operation.OutcomeConfirmed && again.TargetReference != r.first.TargetReference:
		r.step("again", operation.ProbeBroken, again, "The same request with the same key made a SECOND effect: %s and %s.", r.first.TargetReference, again.TargetReference)
	case again.Outcome == operation.OutcomeConfirmed && again.Replayed:
		r.step("again", operation.ProbeHeld, again, "The same request with the same key got the stored answer again, and said so.")
	case again.Outcome == operation.OutcomeConfirmed && r.theirs(o, again.TargetReference):
		r.step("again", operation.ProbeHeld, again, "The same request with the same key names the same effect.")
	case again.Outcome == operation.OutcomeConfirmed:
		r.step("again", operation.ProbeUnclear, again, "The second answer names the same reference, but it is one that we gave ourselves: it does not tell one effect from two.")
	default:
		refused = again.Lookup
		r.step("again", operation.ProbeUnclear, again, "The second request was not confirmed (%s).", again.Proof.Code)
	}
	r.lookUp(ctx, o, refused)
	return true
}

// theirs reports that a reference is the destination's own: no part of what we sent.
func (r *running) theirs(o order.Order, reference string) bool {
	if reference == "" || r.meaning.Reference != definition.ReferenceTheirs {
		return false
	}
	sent := o.Request.URL + "\n" + o.Request.Body
	for _, h := range o.Request.Header {
		sent += "\n" + h.Value
	}
	return !strings.Contains(sent, reference)
}

// other sends other parameters with the used key.
func (r *running) other(ctx context.Context, o order.Order) {
	if r.Other == nil {
		r.step("other", operation.ProbeUnclear, operation.Result{}, "Other parameters with the same key were not tried: no other content was given.")
		return
	}
	res := r.act(ctx, o)
	switch {
	case res.Mismatch:
		r.step("other", operation.ProbeHeld, res, "Other parameters with the same key are refused, as documented.")
	case res.Outcome == operation.OutcomeConfirmed && res.TargetReference != r.first.TargetReference:
		r.step("other", operation.ProbeBroken, res, "Other parameters with the same key made a SECOND effect: %s.", res.TargetReference)
	default:
		r.step("other", operation.ProbeUnclear, res, "Other parameters with the same key are not refused as the profile says (%s); no second effect is shown.", res.Proof.Code)
	}
}

// together sends one request of its own twice at once.
func (r *running) together(ctx context.Context, o order.Order) {
	r.out.Keys = append(r.out.Keys, o.Key)
	answers := make(chan operation.Result, 2)
	for range 2 {
		go func() { answers <- r.Connector.Act(ctx, o) }()
	}
	a, b := <-answers, <-answers
	if a.Outcome != operation.OutcomeConfirmed {
		a, b = b, a
	}
	both := a.Outcome == operation.OutcomeConfirmed && b.Outcome == operation.OutcomeConfirmed
	switch {
	case both && a.TargetReference != b.TargetReference:
		r.step("together", operation.ProbeBroken, b, "Two requests at once with the same key made TWO effects: %s and %s.", a.TargetReference, b.TargetReference)
	case both && (r.theirs(o, a.TargetReference) || a.Replayed || b.Replayed):
		r.step("together", operation.ProbeHeld, b, "Two requests at once with the same key name the same effect.")
	case a.Outcome == operation.OutcomeConfirmed && b.InProgress:
		r.step("together", operation.ProbeHeld, b, "Of two requests at once with the same key one was confirmed; the other was told that the first still runs.")
	default:
		r.step("together", operation.ProbeUnclear, b, "Two requests at once with the same key do not tell one effect from two (%s, %s).", a.Proof.Code, b.Proof.Code)
	}
}

// verdict adds the steps up: one that shows two effects decides; else what the equal
// requests have shown.
func (r *running) verdict() Verdict {
	r.out.Result = operation.ProbeUnclear
	for _, s := range r.out.Steps {
		if s.Result == operation.ProbeHeld && s.Name == "again" || s.Result == operation.ProbeHeld && s.Name == "lookup" {
			r.out.Result = operation.ProbeHeld
		}
	}
	for _, s := range r.out.Steps {
		if s.Result == operation.ProbeBroken {
			r.out.Result = operation.ProbeBroken
		}
	}
	return r.out
}
