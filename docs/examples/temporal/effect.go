// Package temporal is an example of Temporal workflows under Holdpoint's gate: a workflow
// that starts an operation, waits for people, and lets an activity perform the effect
// once. Copy it, and replace Act by what your destination documents.
//
// Temporal repeats activities and replays workflows; nothing here relies on that it does
// not. Whether the effect may be sent is decided by the gate alone: a second claim of the
// same operation is refused.
package temporal

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"holdpoint/handlers/api/client"
)

// Decided is the signal that says: look at the operation again. It carries nothing and
// permits nothing, so it does not matter who sends it, how often, or when.
const Decided = "holdpoint-decided"

// In is one business case. Key names it: the same work has the same key, whichever
// workflow and run asks. Do not use a run's ID.
type In struct {
	Flow   string
	Key    string
	Inputs map[string]any
}

// Standing is how an operation stands.
type Standing struct {
	Operation string
	State     string
	Revision  int64
	Reference string // of the target system; only when confirmed
	Link      string
}

// over reports that nothing more will happen.
func (s Standing) over() bool {
	switch s.State {
	case "confirmed", "rejected", "cancelled", "not_executed":
		return true
	}
	return false
}

// Effect is the workflow: one business case, one effect, or a closed operation without.
func Effect(ctx workflow.Context, in In) (Standing, error) {
	var a *Activities
	short := workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: time.Minute})
	var s Standing
	if err := workflow.ExecuteActivity(short, a.Ask, in).Get(ctx, &s); err != nil {
		return s, err
	}
	for !s.over() {
		if s.State == "ready" || s.State == "retry_scheduled" {
			// The heartbeat tells a dead worker early; retrying is safe at any time.
			performing := workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: 20 * time.Minute, HeartbeatTimeout: 15 * time.Second})
			if err := workflow.ExecuteActivity(performing, a.Perform, s.Operation).Get(ctx, &s); err != nil {
				return s, err
			}
			if s.over() {
				break
			}
		}
		if err := wait(ctx, a, &s); err != nil {
			return s, err
		}
	}
	if s.State != "confirmed" {
		return s, temporal.NewNonRetryableApplicationError("the operation was closed without effect: "+s.State, "ClosedWithoutEffect", nil)
	}
	return s, nil
}

// wait waits for the signal, which our own bridge, the activity Watch, sends as soon as
// the operation stands differently.
func wait(ctx workflow.Context, a *Activities, s *Standing) error {
	watching, stop := workflow.WithCancel(workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: 30 * 24 * time.Hour, HeartbeatTimeout: 2 * time.Minute}))
	defer stop()
	bridge := workflow.ExecuteActivity(watching, a.Watch, *s)
	var err error
	done := workflow.NewSelector(ctx)
	done.AddReceive(workflow.GetSignalChannel(ctx, Decided), func(c workflow.ReceiveChannel, _ bool) { c.Receive(ctx, nil) })
	done.AddFuture(bridge, func(f workflow.Future) { err = f.Get(ctx, nil) })
	done.Select(ctx)
	if err != nil {
		return err
	}
	short := workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: time.Minute})
	return workflow.ExecuteActivity(short, a.Look, s.Operation).Get(ctx, s)
}

// Signaller sends a signal; Temporal's client is one.
type Signaller interface {
	SignalWorkflow(ctx context.Context, workflowID, runID, name string, arg any) error
}

// Activities is what the worker does.
type Activities struct {
	Holdpoint *client.Client
	Signals   Signaller
	Worker    string // a name for people
	// Act sends the permitted request once and judges the answer, as in the go-client
	// example. It runs only under a permit.
	Act func(context.Context, client.Permit) client.Report
}

// Ask starts the operation, or finds it again by its key.
func (a *Activities) Ask(ctx context.Context, in In) (Standing, error) {
	made, err := a.Holdpoint.Create(ctx, in.Key, client.NewOperation{Flow: in.Flow, RunKey: in.Key, Inputs: in.Inputs})
	if err != nil {
		return Standing{}, final(err)
	}
	return a.Look(ctx, made.Operation)
}

// Look reads how an operation stands.
func (a *Activities) Look(ctx context.Context, operation string) (Standing, error) {
	o, err := a.Holdpoint.Get(ctx, operation)
	return Standing{Operation: o.ID, State: o.State, Revision: o.Revision, Reference: o.TargetReference, Link: o.Link}, final(err)
}

// Watch is the bridge: it waits until the operation stands differently than known, and
// signals the workflow. It ends when the workflow has been told by somebody else.
func (a *Activities) Watch(ctx context.Context, known Standing) error {
	for ctx.Err() == nil {
		o, err := a.Holdpoint.Wait(ctx, known.Operation, known.Revision, 30*time.Second)
		if err != nil {
			return final(err)
		}
		if o.Revision != known.Revision {
			w := activity.GetInfo(ctx).WorkflowExecution
			return a.Signals.SignalWorkflow(ctx, w.ID, w.RunID, Decided, nil)
		}
		if o.State == "retry_scheduled" { // becoming due changes no revision
			return nil
		}
		activity.RecordHeartbeat(ctx)
	}
	return ctx.Err()
}

// open is what a later try of the activity knows of an earlier one.
type open struct {
	Claim  client.Claim
	Report *client.Report // nil = the effect may or may not have been made
}

// Perform asks for a permit, acts once, and reports. Retried after a crash, it tells what
// it knows of the attempt that it left open, and never acts again under the old permit.
func (a *Activities) Perform(ctx context.Context, operation string) (Standing, error) {
	var left open
	if activity.HasHeartbeatDetails(ctx) && activity.GetHeartbeatDetails(ctx, &left) == nil && left.Claim.Attempt != "" {
		report := client.Report{Code: "worker_crashed"} // unknown
		if left.Report != nil {
			report = *left.Report
		}
		if _, err := a.Holdpoint.Report(ctx, left.Claim, report); err != nil && !answered(err) {
			return Standing{}, err
		}
		return a.Look(ctx, operation)
	}
	cl, err := a.Holdpoint.Claim(ctx, operation, a.Worker, client.Presented{})
	if _, refused := client.Refused(err); refused {
		return a.Look(ctx, operation) // not permitted (any more): how does it stand?
	}
	if err != nil {
		return Standing{}, final(err)
	}
	know, stop := beat(ctx, open{Claim: cl})
	_, err = a.Holdpoint.Carry(ctx, cl, func(acting context.Context, p client.Permit) client.Report {
		r := a.Act(acting, p)
		know(open{cl, &r})
		return r
	})
	stop()
	if _, refused := client.Refused(err); err != nil && !refused {
		return Standing{}, err
	}
	return a.Look(ctx, operation)
}

// beat tells Temporal that the worker lives, and what it knows; know changes that.
func beat(ctx context.Context, held open) (know func(open), stop func()) {
	news, end := make(chan open), make(chan struct{})
	activity.RecordHeartbeat(ctx, held)
	go func() {
		tick := time.NewTicker(5 * time.Second)
		defer tick.Stop()
		for {
			select {
			case <-end:
				return
			case held = <-news:
			case <-tick.C:
			}
			activity.RecordHeartbeat(ctx, held)
		}
	}()
	return func(o open) { news <- o }, func() { close(end) }
}

// answered reports that Holdpoint has answered, though with a refusal.
func answered(err error) bool {
	var p *client.Problem
	return errors.As(err, &p) && p.Status < 500
}

// final keeps Temporal from repeating what a repeat does not mend.
func final(err error) error {
	var p *client.Problem
	if errors.As(err, &p) && p.Status >= 400 && p.Status < 500 && p.Status != http.StatusConflict && p.Status != http.StatusTooManyRequests {
		return temporal.NewNonRetryableApplicationError(p.Error(), p.Code, err)
	}
	return err
}

// Judge says confirmed only for an answer that names the effect. Replace it by what your
// destination documents.
func Judge(status int, body []byte) client.Report {
	r := client.Report{Status: status, Excerpt: string(body), Code: "unrecognised_answer"}
	var answer struct {
		ID string `json:"id"`
	}
	switch {
	case status == http.StatusCreated && json.Unmarshal(body, &answer) == nil && answer.ID != "":
		r.Outcome, r.Code, r.TargetReference = client.Confirmed, "created", answer.ID
	case status == http.StatusTooManyRequests:
		r.Outcome, r.Code = client.NotStarted, "rate_limited"
	}
	return r
}
