package drill

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"holdpoint/operation"
)

// stalePause is how long somebody waits before they look again.
const stalePause = 50 * time.Millisecond

// event is one business fact, as a CloudEvent.
type event struct {
	SpecVersion string         `json:"specversion"`
	ID          string         `json:"id"`
	Source      string         `json:"source"`
	Type        string         `json:"type"`
	Time        time.Time      `json:"time"`
	Data        map[string]any `json:"data"`
}

// receipt is what the server answers to a delivery.
type receipt struct {
	Verdict    string         `json:"verdict"`
	Operations []operation.ID `json:"operations"`
}

// newEvent is an event that starts a flow of the drill.
func (r *rig) newEvent(flow string) event {
	r.serial++
	return event{SpecVersion: "1.0", ID: fmt.Sprintf("event-%d", r.serial), Source: "drill", Type: flow, Time: time.Now().UTC().Truncate(time.Second),
		Data: map[string]any{"name": fmt.Sprintf("customer %d", r.serial)}}
}

// deliver hands an event in over HTTP, at one of the servers.
func (r *rig) deliver(ctx context.Context, e event, n int) (receipt, error) {
	var out receipt
	s := r.servers[n%len(r.servers)]
	err := callJSON(ctx, http.MethodPost, s.url+"/api/v1/events?source=drill", "application/cloudevents+json", r.token, e, &out)
	return out, err
}

// begin delivers a new event of a flow and gives its operations, one per stage.
func (t *trial) begin(flow string, stages int) ([]operation.ID, error) {
	rec, err := t.deliver(t.ctx, t.newEvent(flow), 0)
	if err != nil {
		return nil, fmt.Errorf("deliver the event: %w", err)
	}
	if rec.Verdict != "accepted" || len(rec.Operations) != stages {
		return nil, fmt.Errorf("the event was %s and started %d operations, expected %d", rec.Verdict, len(rec.Operations), stages)
	}
	t.did("An event of flow %s arrives.", flow)
	return rec.Operations, nil
}

// granted is the answer to a claim.
type granted struct {
	Attempt string `json:"attempt"`
	Fence   int64  `json:"fence"`
}

// permission is the dispatch answer: what may be sent, once.
type permission struct {
	Request struct {
		Method string `json:"method"`
		URL    string `json:"url"`
		Body   string `json:"body"`
		Header []struct {
			Name  string `json:"name"`
			Value string `json:"value"`
		} `json:"header"`
	} `json:"request"`
	BudgetMS int64 `json:"budget_ms"`
}

// race asks for the operation over the job API until somebody has it or ctx ends, and
// performs the attempt when the gate permits it. It reports whether this client had it.
func (r *rig) race(ctx context.Context, id operation.ID, name string) (won bool, refusals int, err error) {
	api := r.servers[0].url + "/api/v1"
	for {
		var g granted
		err := r.ask(ctx, api+"/operations/"+string(id)+"/claim", map[string]any{"worker": name}, &g)
		switch {
		case err == nil:
			return true, refusals, r.act(ctx, api, g)
		case ctx.Err() != nil:
			return false, refusals, nil
		case !refusedByAPI(err, operation.CodeAttemptOpen, operation.CodeNotApproved, operation.CodeClosed, operation.CodeNotDue, operation.CodeNotReady, operation.CodeLocked):
			return false, refusals, fmt.Errorf("claim: %w", err)
		}
		refusals++
		if refusedByAPI(err, operation.CodeClosed) {
			return false, refusals, nil
		}
	}
}

func (r *rig) ask(ctx context.Context, address string, in, out any) error {
	return callJSON(ctx, http.MethodPost, address, "application/json", r.token, in, out)
}

// act takes the bytes, sends them once and reports, as a client on another engine does.
func (r *rig) act(ctx context.Context, api string, g granted) error {
	began := time.Now()
	var p permission
	if err := r.ask(ctx, api+"/attempts/"+g.Attempt+"/dispatch", map[string]any{"fence": g.Fence}, &p); err != nil {
		return fmt.Errorf("dispatch: %w", err)
	}
	sendCtx, cancel := context.WithDeadline(ctx, began.Add(time.Duration(p.BudgetMS)*time.Millisecond))
	defer cancel()
	report := map[string]any{"fence": g.Fence, "outcome": "unknown"}
	if ref := r.send(sendCtx, p); ref != "" {
		report["outcome"], report["target_reference"] = "confirmed", ref
	}
	if err := r.ask(ctx, api+"/attempts/"+g.Attempt+"/outcome", report, nil); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	return nil
}

// send makes the one request and gives the task's identifier, "" when it is not known.
func (r *rig) send(ctx context.Context, p permission) string {
	req, err := http.NewRequestWithContext(ctx, p.Request.Method, p.Request.URL, strings.NewReader(p.Request.Body))
	if err != nil {
		return ""
	}
	req.GetBody = nil // a transport that may repeat the body would send twice (FC-23)
	for _, h := range p.Request.Header {
		req.Header.Add(h.Name, h.Value)
	}
	req.Header.Set("Authorization", "Bearer drill")
	resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req)
	if err != nil {
		return ""
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusCreated {
		return ""
	}
	return idIn(raw)
}

// refused reports that err is a refusal with one of these codes.
func refused(err error, codes ...operation.Code) bool {
	var no *operation.Refusal
	return errors.As(err, &no) && slices.Contains(codes, no.Code)
}

// refusedByAPI is refused for an answer of the job API.
func refusedByAPI(err error, codes ...operation.Code) bool {
	var a *answered
	return errors.As(err, &a) && a.status == http.StatusConflict && slices.Contains(codes, operation.Code(a.Code))
}
