package connectortest

import (
	"context"
	"strings"
	"testing"
	"time"

	"holdpoint/connector"
	"holdpoint/connector/outbound"
	"holdpoint/operation"
)

// Same key, other content, a stored error, a request that still runs.
func TestFieldCase29_SameKeyOtherContentAndReplayedErrors(t *testing.T) {
	t.Parallel()
	h := Destination(t, "billing")
	box := StartSandbox(t)
	base := h.In(box)
	c := h.Connect(t, base, nil)

	t.Run("same key and bytes give the same effect, labelled", func(t *testing.T) {
		o := h.Order(t, base)
		first, second := send(t, box, h, c, o), send(t, box, h, c, o)
		if first.Outcome != confirmed || first.Replayed || second.Outcome != confirmed || !second.Replayed || first.TargetReference != second.TargetReference {
			t.Errorf("first %+v, second %+v", first, second)
		}
		if n := len(box.Ledger(t, "billing", Reference(o))); n != 1 {
			t.Errorf("%d effects", n)
		}
	})
	t.Run("other content under the key stops", func(t *testing.T) {
		o := h.Order(t, base)
		send(t, box, h, c, o)
		o.Request.Body = strings.Replace(o.Request.Body, "Campaign", "Other+campaign", 1)
		if r := send(t, box, h, c, o); r.Outcome != unknown || !r.Mismatch {
			t.Errorf("%s %+v", r.Outcome, r)
		}
		if n := len(box.Ledger(t, "billing", Reference(o))); n != 1 {
			t.Errorf("%d effects", n)
		}
	})
	t.Run("a stored 500 is no new failure", func(t *testing.T) {
		o := h.Order(t, base)
		box.Fault(t, Fault{Destination: "billing", Fault: "status_after_execute", Status: 500})
		first := send(t, box, h, c, o)
		for range 2 {
			if r := send(t, box, h, c, o); r.Outcome != unknown || !r.Replayed || r.Proof.Status != 500 {
				t.Errorf("replay %+v", r)
			}
		}
		if first.Outcome != unknown || first.Replayed {
			t.Errorf("first %+v", first)
		}
		if f := ask(c, o); f.Result != operation.LookupOne {
			t.Errorf("lookup %+v", f)
		}
	})
	t.Run("the first still runs", func(t *testing.T) {
		o := h.Order(t, base)
		box.Fault(t, Fault{Destination: "billing", Fault: "slow", Delay: 1200 * time.Millisecond})
		first := send(t, box, h, h.Impatient().Connect(t, base, nil), o) // leaves early
		second := send(t, box, h, c, o)
		if first.Outcome != unknown || second.Outcome != unknown || !second.InProgress {
			t.Errorf("first %+v, second %+v", first, second)
		}
		if !box.WaitEffects(t, "billing", Reference(o), 1, 5*time.Second) || len(box.Ledger(t, "billing", Reference(o))) != 1 {
			t.Error("the effect did not come, or came twice")
		}
	})
	t.Run("a key that is too long is refused there, never cut here", func(t *testing.T) {
		o := h.Order(t, base)
		long := strings.Repeat("k", 256)
		for i := range o.Request.Header {
			if o.Request.Header[i].Name == "Idempotency-Key" {
				o.Request.Header[i].Value = long
			}
		}
		r := send(t, box, h, c, o)
		if r.Outcome != notStarted || !r.Permanent || len(box.Ledger(t, "billing", Reference(o))) != 0 {
			t.Errorf("%s %+v", r.Outcome, r)
		}
		all := box.Requests(t, "billing")
		if got := all[len(all)-1].Headers.Get("Idempotency-Key"); got != long {
			t.Errorf("the destination saw a key of %d characters", len(got))
		}
	})
}

// "Already exists" leads to a lookup, and only our own reference confirms.
func TestFieldCase36_AlreadyExistsIsLookedUp(t *testing.T) {
	t.Parallel()
	box := StartSandbox(t)
	crm, billing := Destination(t, "crm"), Destination(t, "billing")
	tasks, bills := crm.Connect(t, box.URL, nil), billing.Connect(t, box.URL, nil)
	coupon := func(code string) connector.Order {
		return billing.OrderOf(t, box.URL, "create_coupon", map[string]any{"code": code, "percent_off": "10"})
	}

	t.Run("500 after saving, then a conflict: ours", func(t *testing.T) {
		o := crm.Order(t, box.URL)
		box.Fault(t, Fault{Destination: "crm", Fault: "status_after_execute", Status: 500})
		first, second := send(t, box, crm, tasks, o), send(t, box, crm, tasks, o)
		if first.Outcome != unknown || second.Outcome != unknown || !second.Lookup || second.TargetReference != "" {
			t.Errorf("first %+v, second %+v", first, second)
		}
		effects := box.Ledger(t, "crm", Reference(o))
		if f := ask(tasks, o); len(effects) != 1 || f.Result != operation.LookupOne || f.ID != effects[0].ID {
			t.Errorf("lookup %+v, ledger %+v", f, effects)
		}
	})
	t.Run("a record of last month: not ours", func(t *testing.T) {
		theirs, ours := coupon("SPRING10"), coupon("SPRING10")
		if r := send(t, box, billing, bills, theirs); r.Outcome != confirmed {
			t.Fatalf("%+v", r)
		}
		if r := send(t, box, billing, bills, ours); r.Outcome != unknown || !r.Lookup {
			t.Errorf("%+v", r)
		}
		if f := ask(bills, ours); f.Result == operation.LookupOne || f.Result == operation.LookupMany {
			t.Errorf("someone else's coupon was adopted: %+v", f)
		}
		if f := ask(bills, theirs); f.Result != operation.LookupOne || f.ID != "SPRING10" {
			t.Errorf("the owner's own lookup: %+v", f)
		}
	})
	t.Run("in the trash, its ID only in the message", func(t *testing.T) {
		o := crm.Order(t, box.URL)
		first := send(t, box, crm, tasks, o)
		trash := o
		trash.Request = operation.Request{Kind: operation.RequestHTTP, Method: "DELETE", URL: box.URL + "/crm/tasks/" + first.TargetReference}
		tasks.Act(context.Background(), trash)
		r := send(t, box, crm, tasks, o)
		if r.Outcome != unknown || !r.Lookup || r.TargetReference != "" || !strings.Contains(r.Proof.Excerpt, first.TargetReference) {
			t.Errorf("conflict with a trashed task: %+v", r)
		}
		if f := ask(tasks, o); f.Result != operation.LookupNone {
			t.Errorf("lookup %+v", f)
		}
		if effects := box.Ledger(t, "crm", Reference(o)); len(effects) != 1 || !effects[0].Deleted {
			t.Errorf("ledger %+v", effects)
		}
	})
}

// A destination that ignores its own protection: both effects come to light.
func TestFieldCase37_IgnoredIdempotencyComesToLight(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"crm", "billing", "mail"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := Destination(t, name)
			box := StartSandbox(t)
			c := h.Connect(t, h.In(box), nil)
			o := h.Order(t, h.In(box))
			box.Fault(t, Fault{Destination: name, Fault: "ignore_idempotency", Times: Forever})
			first, second := send(t, box, h, c, o), send(t, box, h, c, o)
			effects := box.Ledger(t, name, Reference(o))
			if len(effects) != 2 || first.TargetReference == second.TargetReference || second.Replayed {
				t.Fatalf("%d effects; first %+v, second %+v", len(effects), first, second)
			}
			if f := ask(c, o); f.Result != operation.LookupMany || len(f.Found) != 2 {
				t.Errorf("lookup %+v", f)
			}
			key := ""
			for _, r := range effectRequests(box.Requests(t, name)) {
				key = r.Headers.Get("Idempotency-Key")
			}
			if a, _ := h.Profile.Action(h.Action); a.Protection().Key && key != o.Key {
				t.Errorf("the key arrived as %q, want %q", key, o.Key)
			}
		})
	}
}

// Within the retention the key protects; past it the destination starts anew, so that
// nothing may be sent any more: the order's deadline ends before.
func TestFieldCase38_KeyPastItsRetention(t *testing.T) {
	t.Parallel()
	h := Destination(t, "billing")
	box := StartSandbox(t)
	c := h.Connect(t, h.In(box), nil)
	o := h.Order(t, h.In(box))
	first := send(t, box, h, c, o)
	box.Advance(t, 23*time.Hour+59*time.Minute)
	if r := send(t, box, h, c, o); r.TargetReference != first.TargetReference || !r.Replayed {
		t.Errorf("within the retention: %+v", r)
	}
	box.Advance(t, 2*time.Minute)
	before := len(box.Requests(t, "billing"))
	for name, late := range map[string]connector.Order{
		"monotonic": func() connector.Order { l := o; l.Deadline = time.Now().Add(-time.Nanosecond); return l }(),
		"wall":      func() connector.Order { l := o; l.WallDeadline = time.Now().Add(-time.Nanosecond).Round(0); return l }(),
	} {
		if r := c.Act(context.Background(), late); r.Outcome != notStarted || r.Proof.Code != outbound.CodeLate || r.Proof.Written != 0 {
			t.Errorf("%s: %s %+v", name, r.Outcome, r.Proof)
		}
	}
	if n := len(box.Requests(t, "billing")) - before; n != 0 {
		t.Errorf("%d requests arrived after the deadline", n)
	}
	if n := len(box.Ledger(t, "billing", Reference(o))); n != 1 {
		t.Errorf("%d effects", n)
	}
	// What the deadline keeps away: the same key makes a second effect, and the answer
	// does not tell. The lookup does.
	if r := send(t, box, h, c, o); r.Outcome != confirmed || r.Replayed || r.TargetReference == first.TargetReference {
		t.Errorf("past the retention: %+v", r)
	}
	if f := ask(c, o); f.Result != operation.LookupMany {
		t.Errorf("lookup %+v", f)
	}
}
