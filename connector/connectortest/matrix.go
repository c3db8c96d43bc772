package connectortest

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"holdpoint/connector"
	"holdpoint/operation"
)

// fault is one row of the soundness matrix: what the sandbox does to the request, and
// what may be said about it. The ledger has the last word in any case.
type fault struct {
	Fault
	want   operation.Outcome
	smtp   operation.Outcome  // over SMTP, where the final dot proves more
	only   func(Harness) bool // where the fault exists; nil = everywhere
	stalls bool               // only a timeout ends it
}

var matrix = []fault{
	{Fault: Fault{}, want: confirmed, smtp: confirmed},
	{Fault: Fault{Fault: "refuse"}, want: unknown, smtp: notStarted},
	{Fault: Fault{Fault: "drop_before_execute"}, want: unknown, smtp: notStarted},
	{Fault: Fault{Fault: "status_before_execute", Status: 503}, want: unknown, only: overHTTP},
	{Fault: Fault{Fault: "status_before_execute", Status: 401}, want: notStarted, only: overHTTP},
	{Fault: Fault{Fault: "status_before_execute", Status: 429}, want: notStarted, only: overHTTP},
	{Fault: Fault{Fault: "status_before_execute", Status: 451, On: "rcpt"}, smtp: notStarted, only: Harness.smtp},
	{Fault: Fault{Fault: "status_before_execute", Status: 550, On: "rcpt"}, smtp: notStarted, only: Harness.smtp},
	{Fault: Fault{Fault: "status_before_execute", Status: 451, On: "data"}, smtp: notStarted, only: Harness.smtp},
	{Fault: Fault{Fault: "status_before_execute", Status: 554, On: "data"}, smtp: notStarted, only: Harness.smtp},
	{Fault: Fault{Fault: "retry_after", Delay: 7 * time.Second}, want: notStarted, only: overHTTP},
	{Fault: Fault{Fault: "redirect", Status: 301}, want: unknown, only: overHTTP},
	{Fault: Fault{Fault: "redirect", Status: 303}, want: unknown, only: overHTTP},
	{Fault: Fault{Fault: "redirect", Status: 307}, want: unknown, only: overHTTP},
	{Fault: Fault{Fault: "redirect", Status: 308}, want: unknown, only: overHTTP},
	{Fault: Fault{Fault: "html_200"}, want: unknown, only: overHTTP},
	{Fault: Fault{Fault: "error_in_200"}, want: unknown, only: overHTTP},
	{Fault: Fault{Fault: "slow", Delay: 700 * time.Millisecond}, want: unknown, smtp: unknown, stalls: true},
	{Fault: Fault{Fault: "slow", Delay: 20 * time.Millisecond}, want: confirmed, smtp: confirmed},
	{Fault: Fault{Fault: "stall_after_execute"}, want: unknown, smtp: unknown, stalls: true},
	{Fault: Fault{Fault: "drop_after_execute"}, want: unknown, smtp: unknown},
	{Fault: Fault{Fault: "status_after_execute", Status: 500}, want: unknown, only: overHTTP},
	{Fault: Fault{Fault: "status_after_execute", Status: 502, Body: "<h1>Bad gateway</h1>"}, want: unknown, only: overHTTP},
	{Fault: Fault{Fault: "empty_body"}, want: unknown, only: overHTTP},
	{Fault: Fault{Fault: "empty_body", Status: 204}, want: unknown, only: overHTTP},
	{Fault: Fault{Fault: "cut_body"}, want: unknown, only: overHTTP},
	{Fault: Fault{Fault: "cut_body", Delay: time.Second}, want: unknown, only: overHTTP, stalls: true},
	{Fault: Fault{Fault: "ignore_idempotency"}, want: confirmed, only: guarded},
}

func overHTTP(h Harness) bool { return !h.smtp() }

func guarded(h Harness) bool { return !h.Unguarded }

// runMatrix compares every classification with the ledger.
func runMatrix(t *testing.T, h Harness) {
	box := StartSandbox(t)
	base := h.In(box)
	patient, impatient := h.Connect(t, base, nil), h.Impatient().Connect(t, base, nil)
	for _, f := range matrix {
		if f.only != nil && !f.only(h) {
			continue
		}
		o := h.Order(t, base)
		before := len(effectRequests(box.Requests(t, h.Sandbox))) // Prepare may have made some
		name := f.Fault.Fault
		if name != "" {
			f.Destination = h.Sandbox
			box.Fault(t, f.Fault)
		}
		c := patient
		if f.stalls {
			c = impatient
		}
		r := c.Act(context.Background(), o)
		if f.stalls { // the effect may come late; see what it is in the end
			box.WaitEffects(t, h.Sandbox, Reference(o), 1, 5*time.Second)
		}
		if seen := len(effectRequests(box.Requests(t, h.Sandbox))) - before; seen != 1 && (name != "refuse" || !h.smtp()) {
			t.Fatalf("%s %d: %d requests arrived for one attempt", name, f.Status, seen)
		}
		want := f.want
		switch {
		case h.smtp():
			want = f.smtp
		case h.Bare && (name == "cut_body" || name == "empty_body" && f.Status == 0):
			want = confirmed
		}
		effects := box.Ledger(t, h.Sandbox, Reference(o))
		CheckSound(t, r, effects)
		if r.Outcome != want {
			t.Errorf("%s %d: %s, want %s: %+v", name, f.Status, r.Outcome, want, r.Proof)
		}
		checkProof(t, r.Proof)
		if name == "retry_after" && r.RetryAfter != f.Delay {
			t.Errorf("retry after %v, want %v", r.RetryAfter, f.Delay)
		}
		checkLookup(t, patient.Lookup(context.Background(), Lookup(o)), effects, h)
	}
	if n := len(box.Requests(t, "elsewhere")); n != 0 {
		t.Errorf("%d requests followed a redirect", n)
	}
}

// effectRequests leaves out lookups.
func effectRequests(all []Request) []Request {
	return slices.DeleteFunc(all, func(r Request) bool { return r.Lookup })
}

// Reference is what the sandbox's ledger knows an order's effect by: the operation's
// ID, or the Message-ID's local part, which is the same.
func Reference(o connector.Order) string { return string(o.Operation) }

// CheckSound compares what is said about one attempt with what exists: confirmed needs
// an effect, and exactly that one; not_started needs none.
func CheckSound(t testing.TB, r operation.Result, effects []Effect) {
	t.Helper()
	switch r.Outcome {
	case confirmed:
		if len(effects) == 0 {
			t.Errorf("confirmed without an effect: %+v", r)
			return
		}
		e := effects[len(effects)-1]
		if r.TargetReference != e.ID && r.TargetReference != e.Reference {
			t.Errorf("confirmed as %q, the ledger has %q", r.TargetReference, e.ID)
		}
	case notStarted:
		if len(effects) != 0 {
			t.Errorf("not_started with %d effects: %+v", len(effects), r)
		}
	}
}

// checkLookup compares a lookup with what exists. A miss is not a proof, so none may
// come with an effect only where the index lags; one and many never without.
func checkLookup(t testing.TB, f operation.LookupFinding, effects []Effect, h Harness) {
	t.Helper()
	checkProof(t, f.Proof)
	switch f.Result {
	case operation.LookupOne:
		if len(effects) != 1 || effects[0].ID != f.ID {
			t.Errorf("lookup found %q, the ledger has %d effects", f.ID, len(effects))
		}
	case operation.LookupMany:
		if len(effects) < 2 {
			t.Errorf("lookup found many, the ledger has %d effects", len(effects))
		}
	case operation.LookupUnreachable:
		a, err := h.Profile.Action(h.Action)
		if err != nil || a.HasLookup() {
			t.Errorf("lookup unreachable: %+v", f.Proof)
		}
	case operation.LookupNone:
		if len(effects) != 0 {
			t.Errorf("lookup by our reference missed %d effects", len(effects))
		}
	case operation.LookupMismatch:
		t.Errorf("lookup by our own reference gave a mismatch: %+v", f)
	}
	if f.Result != operation.LookupOne && strings.TrimSpace(f.ID) != "" {
		t.Errorf("%s with an ID %q", f.Result, f.ID)
	}
}
