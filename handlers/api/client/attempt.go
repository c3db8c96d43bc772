package client

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"time"
)

// Claim is an attempt under a lease. It holds nothing to send.
type Claim struct {
	Attempt    string    `json:"attempt"`
	Operation  string    `json:"operation"`
	Fence      int64     `json:"fence"`
	Kind       string    `json:"kind"`
	Number     int       `json:"number"`
	LeaseUntil time.Time `json:"lease_until"`
	LeaseCap   time.Time `json:"lease_cap"`
}

// Presented is what a job says it means to send. If it is not the approved content, the
// claim ends and the call is refused with content_differs.
type Presented struct {
	ContentHash string         `json:"content_hash,omitempty"` // hex SHA-256 of the canonical JSON
	Content     map[string]any `json:"content,omitempty"`
	Request     *Request       `json:"request,omitempty"`
}

// Claim asks for a permit on one operation. worker is a name for people.
func (c *Client) Claim(ctx context.Context, operation, worker string, p Presented) (Claim, error) {
	in := struct {
		Worker string `json:"worker"`
		Presented
	}{worker, p}
	var out Claim
	return out, c.call(ctx, http.MethodPost, "/operations/"+url.PathEscape(operation)+"/claim", in, &out)
}

// Claims asks for permits on the next operations of a destination. Ask for no more than
// you execute at once.
func (c *Client) Claims(ctx context.Context, destination, worker string, max int) ([]Claim, error) {
	var out struct {
		Claims []Claim `json:"claims"`
	}
	err := c.call(ctx, http.MethodPost, "/claims", map[string]any{"destination": destination, "worker": worker, "max": max}, &out)
	return out.Claims, err
}

// Request is an exact request. It holds no credential: Permit.Credential names it.
type Request struct {
	Kind   string   `json:"kind"` // http or smtp
	Method string   `json:"method,omitempty"`
	URL    string   `json:"url,omitempty"`
	Header []Header `json:"header,omitempty"`
	Body   string   `json:"body,omitempty"`
	From   string   `json:"from,omitempty"`
	To     []string `json:"to,omitempty"`
}

// Header is one header line.
type Header struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Permit is the dispatch answer: exactly these bytes, once, while Left is above zero.
type Permit struct {
	Claim
	Destination string          `json:"destination"`
	Action      string          `json:"action"`
	Request     Request         `json:"request"`
	Key         string          `json:"key"` // the destination's idempotency key
	Credential  string          `json:"credential"`
	Content     json.RawMessage `json:"content"`
	Version     string          `json:"version"`
	SendBy      time.Time       `json:"send_by"` // on Holdpoint's clock
	BudgetMS    int64           `json:"budget_ms"`

	asked time.Time // on our clock, before the dispatch was asked for
}

// Left is how long the request may still be sent. It is measured on this machine's own
// clocks from before the dispatch call: neither a slow answer nor a clock that differs
// from Holdpoint's makes it longer. The monotonic clock counts, and the wall clock too,
// since the monotonic one may stand still while a machine sleeps.
func (p Permit) Left() time.Duration { return p.leftAt(time.Now()) }

func (p Permit) leftAt(now time.Time) time.Duration {
	passed := max(now.Sub(p.asked), now.Round(0).Sub(p.asked.Round(0)))
	return time.Duration(p.BudgetMS)*time.Millisecond - passed
}

// Dispatch takes the bytes that may be sent. When the answer is lost, ask again with the
// same claim: the same answer comes again, with what is left of the time.
func (c *Client) Dispatch(ctx context.Context, cl Claim, p Presented) (Permit, error) {
	in := struct {
		Fence int64 `json:"fence"`
		Presented
	}{cl.Fence, p}
	out := Permit{asked: time.Now()}
	if err := c.call(ctx, http.MethodPost, "/attempts/"+url.PathEscape(cl.Attempt)+"/dispatch", in, &out); err != nil {
		return Permit{}, err
	}
	out.Kind, out.Number, out.LeaseCap = cl.Kind, cl.Number, cl.LeaseCap
	return out, nil
}

// Heartbeat extends the lease, up to its cap. It does not extend the time to send.
func (c *Client) Heartbeat(ctx context.Context, cl Claim) (until time.Time, err error) {
	var out struct {
		Until time.Time `json:"lease_until"`
	}
	err = c.call(ctx, http.MethodPost, "/attempts/"+url.PathEscape(cl.Attempt)+"/heartbeat", map[string]any{"fence": cl.Fence}, &out)
	return out.Until, err
}

// Outcome is what became of an attempt. Its zero value is Unknown.
type Outcome int

// The outcomes.
const (
	Unknown    Outcome = iota // a request may have left and nobody knows
	NotStarted                // proven: nothing was executed
	Confirmed                 // proven: the effect exists
)

// String gives the API's word.
func (o Outcome) String() string {
	switch o {
	case NotStarted:
		return "not_started"
	case Confirmed:
		return "confirmed"
	}
	return "unknown"
}

// Report is what a job says about its attempt. The zero value says unknown.
type Report struct {
	Outcome         Outcome
	Code            string // for NotStarted: one that the destination's profile lists
	Status          int    // the destination's status
	Excerpt         string // of its answer; Holdpoint masks secrets and personal data
	TargetReference string // for Confirmed: the destination's own identifier
	TargetURL       string
}

// Recorded is what a report counts as.
type Recorded struct {
	Operation string `json:"operation"`
	State     string `json:"state"`
	Outcome   string `json:"outcome"`
	Late      bool   `json:"late"`   // the fence was stale; it is kept as evidence
	Code      string `json:"code"`   // why it counts as less than it claimed
	Reason    string `json:"reason"` // the same as a sentence
}

// Report reports an outcome. The same report again changes nothing: repeat the call
// until it is answered.
func (c *Client) Report(ctx context.Context, cl Claim, r Report) (Recorded, error) {
	in := map[string]any{"fence": cl.Fence, "outcome": r.Outcome.String(),
		"proof": map[string]any{"code": r.Code, "status": r.Status, "excerpt": clip(r.Excerpt, 8<<10)}}
	if r.TargetReference != "" {
		in["target_reference"] = r.TargetReference
	}
	if r.TargetURL != "" {
		in["target_url"] = r.TargetURL
	}
	var out Recorded
	return out, c.call(ctx, http.MethodPost, "/attempts/"+url.PathEscape(cl.Attempt)+"/outcome", in, &out)
}

func clip(s string, n int) string {
	r := []rune(s)
	if len(r) > n {
		return string(r[:n])
	}
	return s
}

// ReportUntilTold repeats Report until Holdpoint has answered or ctx ends. A refusal is
// an answer. What a job knows about an effect must not be lost with one connection.
func (c *Client) ReportUntilTold(ctx context.Context, cl Claim, r Report) (Recorded, error) {
	wait := 100 * time.Millisecond
	for {
		rec, err := c.Report(ctx, cl, r)
		var p *Problem
		if err == nil || errors.As(err, &p) && p.Status < 500 && p.Status != http.StatusTooManyRequests {
			return rec, err
		}
		select {
		case <-ctx.Done():
			return rec, errors.Join(err, ctx.Err())
		case <-time.After(wait):
		}
		wait = min(2*wait, 5*time.Second)
	}
}
