package systems_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"holdpoint/connector"
	"holdpoint/connector/connectortest"
	"holdpoint/operation"
	"holdpoint/operation/definition"
)

const (
	notStarted = operation.OutcomeNotStarted
	confirmed  = operation.OutcomeConfirmed
	unknown    = operation.OutcomeUnknown
)

// post makes one form-encoded call and gives the answer's fields.
func post(t testing.TB, at string, form url.Values) map[string]any {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, at, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Authorization", "Bearer "+connectortest.Secret)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatalf("%s: %s", at, raw)
	}
	return out
}

// prepareStripe makes what a stage finds: the draft, the finalized invoice, the coupon
// behind a promotion code. Where no sandbox answers, a name of the right form will do.
func prepareStripe(t testing.TB, base, action string) map[string]string {
	t.Helper()
	if !connectortest.IsSandbox(base) {
		return map[string]string{"invoice": "in_1"}
	}
	v1 := base + "/stripe/v1/"
	switch action {
	case "invoice_item", "invoice_finalize", "invoice_send":
		draft := post(t, v1+"invoices", url.Values{"customer": {"cus_1"}, "currency": {"eur"}})
		id, _ := draft["id"].(string)
		post(t, v1+"invoiceitems", url.Values{"customer": {"cus_1"}, "invoice": {id}, "amount": {"1200"}, "currency": {"eur"}})
		if action == "invoice_send" {
			post(t, v1+"invoices/"+id+"/finalize", url.Values{"auto_advance": {"false"}})
		}
		return map[string]string{"invoice": id}
	case "promotion_code":
		post(t, v1+"coupons", url.Values{"id": {"base"}, "percent_off": {"10"}})
	}
	return nil
}

// act makes one attempt, and look asks for its effect.
func act(c connector.Connector, o connector.Order) operation.Result {
	return c.Act(context.Background(), o)
}

func look(c connector.Connector, o connector.Order) operation.LookupFinding {
	return c.Lookup(context.Background(), connectortest.Lookup(o))
}

// effects counts what the ledger has of an order.
func effects(t testing.TB, box *connectortest.Sandbox, h connectortest.Harness, o connector.Order) int {
	t.Helper()
	return len(box.Ledger(t, h.Sandbox, connectortest.Reference(o)))
}

// The four stages of an invoice, each with the reference of the first in its request.
func TestStripeInvoiceInFourStages(t *testing.T) {
	t.Parallel()
	box := connectortest.StartSandbox(t)
	invoice := ""
	for _, action := range []string{"invoice_create", "invoice_item", "invoice_finalize", "invoice_send"} {
		h := stripe(t, action)
		h.Prepare = func(testing.TB, string) map[string]string { return map[string]string{"invoice": invoice} }
		c := h.Connect(t, box.URL, nil)
		o := h.Order(t, box.URL)
		box.Fault(t, connectortest.Fault{Destination: "stripe", Fault: "drop_after_execute"})
		if r := act(c, o); r.Outcome != unknown {
			t.Fatalf("%s: %+v", action, r)
		}
		found := look(c, o)
		if found.Result != operation.LookupOne || effects(t, box, h, o) != 1 {
			t.Fatalf("%s: lookup %+v, %d effects", action, found, effects(t, box, h, o))
		}
		if action == "invoice_create" {
			invoice = found.ID
		} else if action != "invoice_item" && found.ID != invoice {
			t.Errorf("%s is about %s, not %s", action, found.ID, invoice)
		}
		if !strings.Contains(found.URL, "/test/invoices/"+invoice) {
			t.Errorf("%s leads to %s", action, found.URL)
		}
		// The same key and bytes again: the recorded answer, no second effect.
		if r := act(c, o); r.Outcome != confirmed || !r.Replayed || r.TargetReference != found.ID || effects(t, box, h, o) != 1 {
			t.Errorf("%s again: %+v", action, r)
		}
	}
	got := box.Ledger(t, "stripe", "")
	if len(got) != 4 || got[2].Fields["status"] != "open" || got[2].Fields["total"] != got[1].Fields["amount"] {
		t.Errorf("ledger %+v", got)
	}
}

// An event beyond the first page is found; beyond the last page that is read, nothing
// is concluded.
func TestStripeEventOnALaterPage(t *testing.T) {
	t.Parallel()
	h := stripe(t, "invoice_create")
	box := connectortest.StartSandbox(t)
	c := h.Connect(t, box.URL, nil)
	o := h.Order(t, box.URL)
	box.Fault(t, connectortest.Fault{Destination: "stripe", Fault: "drop_after_execute"})
	act(c, o)
	for range 130 {
		post(t, box.URL+"/stripe/v1/invoices", url.Values{"customer": {"cus_2"}})
	}
	before := len(box.Requests(t, "stripe"))
	if f := look(c, o); f.Result != operation.LookupOne || f.ID != box.Ledger(t, "stripe", connectortest.Reference(o))[0].ID {
		t.Errorf("on the second page: %+v", f)
	}
	if n := len(box.Requests(t, "stripe")) - before; n != 2 {
		t.Errorf("%d pages were read", n)
	}
	// An order that was never sent: a miss at the end of all pages, and no proof.
	if f := look(c, h.Order(t, box.URL)); f.Result != operation.LookupNone {
		t.Errorf("never sent: %+v", f)
	}
	box.Fault(t, connectortest.Fault{Destination: "stripe", Fault: "status_before_execute", Status: 503, On: "lookup", Match: "/stripe/v1/events?limit=100&starting_after"})
	if f := look(c, h.Order(t, box.URL)); f.Result != operation.LookupUnreachable {
		t.Errorf("the second page failed: %+v", f)
	}
}

// Past 24 h the key is pruned: the same request is a second effect, and the lookup says so.
func TestStripeKeyIsPruned(t *testing.T) {
	t.Parallel()
	h := stripe(t, "invoice_create")
	box := connectortest.StartSandbox(t)
	c := h.Connect(t, box.URL, nil)
	o := h.Order(t, box.URL)
	first := act(c, o)
	box.Advance(t, 25*60*60*1e9)
	if r := act(c, o); r.Outcome != confirmed || r.Replayed || r.TargetReference == first.TargetReference {
		t.Errorf("past the retention: %+v", r)
	}
	if f := look(c, o); f.Result != operation.LookupMany || len(f.Found) != 2 || effects(t, box, h, o) != 2 {
		t.Errorf("lookup %+v", f)
	}
	a, _ := h.Profile.Action(h.Action)
	if p := a.Protection(); p.Retention.Hours() != 24 || p.Margin.Hours() != 1 || p.Proven {
		t.Errorf("%+v", p)
	}
	// A coupon's own ID holds longer than the key.
	coupon := stripe(t, "coupon")
	cc := coupon.Connect(t, box.URL, nil)
	co := coupon.Order(t, box.URL)
	act(cc, co)
	box.Advance(t, 25*60*60*1e9)
	if r := act(cc, co); r.Outcome != unknown || !r.Lookup {
		t.Errorf("coupon past the retention: %+v", r)
	}
	if f := look(cc, co); f.Result != operation.LookupOne || effects(t, box, coupon, co) != 1 {
		t.Errorf("coupon: %+v", f)
	}
}

// What the same key brings: the mismatch, the request that still runs, the stored error,
// and the refusals that are none of the key's.
func TestStripeAnswersOfTheKey(t *testing.T) {
	t.Parallel()
	h := stripe(t, "invoice_create")
	box := connectortest.StartSandbox(t)
	c := h.Connect(t, box.URL, nil)

	o := h.Order(t, box.URL)
	act(c, o)
	other := o
	other.Request.Body = strings.Replace(o.Request.Body, "Goodwill", "Other", 1)
	if r := act(c, other); r.Outcome != unknown || !r.Mismatch {
		t.Errorf("mismatch: %+v", r)
	}

	o = h.Order(t, box.URL)
	box.Fault(t, connectortest.Fault{Destination: "stripe", Fault: "slow", Delay: 600e6})
	if r := act(h.Impatient().Connect(t, box.URL, nil), o); r.Outcome != unknown {
		t.Errorf("left early: %+v", r)
	}
	if r := act(c, o); r.Outcome != unknown || !r.InProgress {
		t.Errorf("in use: %+v", r)
	}
	box.WaitEffects(t, "stripe", connectortest.Reference(o), 1, 5e9)

	o = h.Order(t, box.URL)
	box.Fault(t, connectortest.Fault{Destination: "stripe", Fault: "status_after_execute", Status: 500})
	act(c, o)
	if r := act(c, o); r.Outcome != unknown || !r.Replayed || r.Proof.Status != 500 {
		t.Errorf("stored error: %+v", r)
	}
	if f := look(c, o); f.Result != operation.LookupOne {
		t.Errorf("after a stored error: %+v", f)
	}

	for name, c429 := range map[string]struct {
		status int
		body   string
		want   operation.Outcome
		code   string
	}{
		"object lock": {429, `{"error":{"type":"invalid_request_error","code":"lock_timeout"}}`, notStarted, "object_locked"},
		"rate limit":  {429, `{"error":{"type":"invalid_request_error","code":"rate_limit"}}`, notStarted, "rate_limited"},
		"card":        {402, `{"error":{"type":"card_error","code":"card_declined"}}`, unknown, ""},
		"server":      {500, `{"error":{"type":"api_error"}}`, unknown, ""},
		"conflict":    {409, `{"error":{"type":"invalid_request_error","code":"other"}}`, unknown, ""},
	} {
		o := h.Order(t, box.URL)
		box.Fault(t, connectortest.Fault{Destination: "stripe", Fault: "status_before_execute", Status: c429.status, Body: c429.body})
		if r := act(c, o); r.Outcome != c429.want || c429.code != "" && r.Proof.Code != c429.code {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// A coupon and a promotion code of somebody else: shown as what blocks, never adopted.
func TestStripeNameTakenBySomebodyElse(t *testing.T) {
	t.Parallel()
	for _, action := range []string{"coupon", "promotion_code"} {
		h := stripe(t, action)
		box := connectortest.StartSandbox(t)
		c := h.Connect(t, box.URL, nil)
		content := h.Content(1)
		theirs, ours := h.OrderOf(t, box.URL, action, content), h.OrderOf(t, box.URL, action, content)
		if r := act(c, theirs); r.Outcome != confirmed {
			t.Fatalf("%s: %+v", action, r)
		}
		if r := act(c, ours); r.Outcome != unknown || !r.Lookup {
			t.Errorf("%s: %+v", action, r)
		}
		if f := look(c, ours); f.Result != operation.LookupMismatch || f.ID == "" {
			t.Errorf("%s: somebody else's: %+v", action, f)
		}
		if f := look(c, theirs); f.Result != operation.LookupOne {
			t.Errorf("%s: the owner's own: %+v", action, f)
		}
		if n := effects(t, box, h, ours); n != 0 {
			t.Errorf("%s: %d effects of ours", action, n)
		}
	}
}

// The search by metadata lags, so no profile rests on it.
func TestStripeSearchIsNoLookup(t *testing.T) {
	t.Parallel()
	for _, action := range []string{"invoice_create", "invoice_item", "invoice_finalize", "invoice_send"} {
		h := stripe(t, action)
		a, err := h.Profile.Action(action)
		if err != nil {
			t.Fatal(err)
		}
		if a.Authoritative || strings.Contains(string(h.Profile.Source), "/search") {
			t.Errorf("%s rests on a lookup that lags", action)
		}
	}
}

// Events that Stripe causes itself name no request, and no key: they are nobody's.
func TestStripeEventsWithoutARequest(t *testing.T) {
	t.Parallel()
	h := stripe(t, "invoice_create")
	a, err := h.Profile.Action(h.Action)
	if err != nil {
		t.Fatal(err)
	}
	const id = "op_01234567890123456789012345"
	about := definition.Context{Key: id, OperationID: id, Content: h.Content(1)}
	ours := `{"id":"evt_2","livemode":true,"request":{"id":"req_1","idempotency_key":"` + id + `"},"data":{"object":{"id":"in_1","customer":"cus_1","metadata":{"operation_id":"` + id + `"}}}}`
	others := `{"id":"evt_1","request":null,"data":{"object":{"id":"in_9"}}},{"id":"evt_3","request":{"id":null,"idempotency_key":null},"data":{}},{"id":"evt_4"}`
	for body, want := range map[string]operation.LookupResult{
		`{"has_more":false,"data":[` + others + `]}`:              operation.LookupNone,
		`{"has_more":false,"data":[` + others + `,` + ours + `]}`: operation.LookupOne,
		`{"has_more":true,"data":[` + others + `]}`:               operation.LookupUnreachable,
		`{"error":{"type":"api_error"}}`:                          operation.LookupUnreachable,
	} {
		f := a.ReadLookup(about, definition.Answer{Status: 200, Body: []byte(body)})
		if f.Result != want {
			t.Errorf("%s: %+v", body, f)
		}
		if want == operation.LookupOne && (f.ID != "in_1" || f.URL != "https://dashboard.stripe.com/invoices/in_1") {
			t.Errorf("%+v", f)
		}
	}
}
