package intake_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"holdpoint/handlers/intake"
	"holdpoint/operation"
	"holdpoint/store"
)

const listSource = `source: list
title: {en: List}
kind: json
account: demo
environment: test
secrets: [{env: FORM_SECRET}]
signature: {scheme: hmac_sha256, header: X-Form-Signature}
items: ${body.events}
event_key: ${item.id}
business_key: ${item.?ticket.orValue("")}
subscription: ${item.?via.orValue("")}
account_of: ${item.?tenant.orValue("")}
topic: ${item.type}
data: ${item.fields}
volatile: [attempt]
answer: 200
`

// noteFlow starts a run for each notification of topic note.
func noteFlow(source string) string {
	return `flow: listed-note
title: {en: Listed note}
owner: {role: approver}
reviewer: {role: ops_owner}
reexecution: {approvers: {role: ops_owner}, required: 1}
trigger: {source: ` + source + `, topic: note}
inputs:
  type: object
  required: [note]
  properties: {note: {type: string, minLength: 1}}
on_missing_data: refuse
stages:
  - key: note
    title: {en: Note}
    destination: plain
    action: create_thing
    content: {topic: "Listed", text: ${inputs.note}}
    approval: {approvers: {role: approver}, required: 1, expires: 72h}
    attempts: {max: 3}
    satisfied_by: confirmed
`
}

type itemsReply struct {
	Items []struct {
		Item, Status                           int
		Delivery, Event, Verdict, Code, Reason string
		Operations                             []string
	}
	Counts map[string]int
}

// list posts several notifications in one signed body.
func (h *house) list(url, body string) (reply, itemsReply) {
	h.t.Helper()
	r := h.send(url+"/in/list", []byte(body), "X-Form-Signature", hexMAC("form", []byte(body)))
	var out itemsReply
	_ = json.Unmarshal([]byte(r.raw), &out)
	return r, out
}

func verdicts(r itemsReply) string {
	var out []string
	for _, i := range r.Items {
		out = append(out, fmt.Sprintf("%s %d", i.Verdict, i.Status))
	}
	return strings.Join(out, ", ")
}

func item(id, more string) string {
	return `{"id":"` + id + `","type":"note","attempt":0,"fields":{"note":"n ` + id + `"}` + more + `}`
}

func listHouse(t *testing.T) *house {
	h := newHouse(t)
	h.apply(listSource)
	h.apply(noteFlow("list"))
	return h
}

// Each notification of one POST has its own delivery, verdict and run; a broken one
// loses nothing, and the POST as a whole can come again.
func TestItems(t *testing.T) {
	t.Parallel()
	h := listHouse(t)
	body := `{"events":[` + strings.Join([]string{item("a", `,"ticket":"T1"`), `{"id":null,"type":"note"}`, item("b", `,"ticket":"T1"`), item("c", `,"tenant":"other"`),
		item("a", `,"ticket":"T1"`), `{"id":"d","type":"note","fields":{}}`, `7`, item("e", "")}, ",") + `]}`
	r, out := h.list(h.url, body)
	h.want(r, 200)
	if got := verdicts(out); got != "accepted 200, refused 400, held 200, ignored 200, repeated 200, refused 422, refused 400, accepted 200" {
		t.Fatalf("first: %s", got)
	}
	if n := h.Count(t, "runs WHERE flow = 'listed-note'"); n != 2 {
		t.Fatalf("%d runs", n)
	}
	if n := h.Count(t, "deliveries WHERE source = 'list'"); n != 8 {
		t.Errorf("%d deliveries, want one for each", n)
	}
	if n := h.Count(t, "(SELECT post_id FROM deliveries WHERE source = 'list' GROUP BY post_id HAVING array_agg(item ORDER BY item) = '{1,2,3,4,5,6,7,8}') x"); n != 1 {
		t.Error("the deliveries of one POST do not hang together")
	}
	var kept string
	if err := h.Owner.QueryRowContext(t.Context(), `SELECT convert_from(b.body, 'UTF8') FROM event_bodies b JOIN events e ON e.id = b.event_id WHERE e.event_key = 'e'`).Scan(&kept); err != nil || kept != item("e", "") {
		t.Errorf("an item is not kept as received: %s %v", kept, err)
	}
	again, same := h.list(h.url, strings.ReplaceAll(body, `"attempt":0`, `"attempt":1`))
	h.want(again, 200)
	if got := verdicts(same); got != "repeated 200, refused 400, held 200, ignored 200, repeated 200, refused 422, refused 400, repeated 200" {
		t.Fatalf("the same POST again: %s", got)
	}
	if same.Items[0].Operations[0] != out.Items[0].Operations[0] || same.Counts["repeated"] != 3 {
		t.Errorf("not the same operation: %s", again.raw)
	}
	_, other := h.list(h.url, `{"events":[`+strings.Replace(item("a", ""), "n a", "changed", 1)+`]}`)
	if got := verdicts(other); got != "conflict 200" {
		t.Errorf("another payload: %s", got)
	}
	if n := h.Count(t, "runs WHERE flow = 'listed-note'"); n != 2 {
		t.Errorf("%d runs after the repetition", n)
	}
}

// What is wrong with the whole POST refuses it once.
func TestItems_WholePost(t *testing.T) {
	t.Parallel()
	h := listHouse(t)
	for body, want := range map[string]string{
		`{"events":{}}`:                   "items",
		`{"events":null}`:                 "items",
		`{"other":[]}`:                    "items",
		`[]`:                              "items",
		`{"events":[{"id":1,"ID":2}]}`:    "ambiguous_key",
		`{"events":[` + item("x", ""):     "syntax",
		`{"events":[` + many(1001) + `]}`: "too_many",
	} {
		r, _ := h.list(h.url, body)
		if r.status < 400 || r.status >= 500 {
			t.Errorf("%.40s: %d %.200s", body, r.status, r.raw)
		}
		if want != "ambiguous_key" && want != "syntax" && r.body.Code != want {
			t.Errorf("%.40s: code %s, want %s", body, r.body.Code, want)
		}
	}
	if r, _ := h.list(h.url, `{"events":[]}`); r.status != 200 || r.body.Verdict != "ignored" {
		t.Errorf("an empty list: %d %s", r.status, r.raw)
	}
	r, out := h.list(h.url, `{"events":[{"id":null},{"type":"note"}]}`)
	if r.status != 400 || len(out.Items) != 2 {
		t.Errorf("nothing acceptable: %d %s", r.status, r.raw)
	}
	if h.Count(t, "events WHERE source = 'list'") != 0 {
		t.Error("something of a refused POST was taken")
	}
	bad := h.send(h.url+"/in/list", []byte(`{"events":[`+item("z", "")+`]}`), "X-Form-Signature", strings.Repeat("0", 64))
	if bad.status != 401 || h.refused("signature") != 1 {
		t.Errorf("a forged POST: %d", bad.status)
	}
}

func many(n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = "{}"
	}
	return strings.Join(list, ",")
}

// Two POSTs of one batch at once, at two processes: one run for each notification.
func TestItems_Race(t *testing.T) {
	t.Parallel()
	h := listHouse(t)
	second := h.serve(h.Store)
	var list []string
	for i := range 12 {
		list = append(list, item(fmt.Sprint("r", i), ""))
	}
	body := `{"events":[` + strings.Join(list, ",") + `]}`
	replies := make([]itemsReply, 6)
	var wg sync.WaitGroup
	for i := range replies {
		wg.Go(func() {
			r, out := h.list([]string{h.url, second}[i%2], body)
			if r.status != 200 {
				t.Errorf("status %d: %s", r.status, r.raw)
			}
			replies[i] = out
		})
	}
	wg.Wait()
	for n := range 12 {
		accepted := 0
		for _, r := range replies {
			if len(r.Items) != 12 || r.Items[n].Operations[0] != replies[0].Items[n].Operations[0] {
				t.Fatalf("item %d names another operation: %+v", n, r)
			}
			if r.Items[n].Verdict == "accepted" {
				accepted++
			}
		}
		if accepted != 1 {
			t.Errorf("item %d was accepted %d times", n, accepted)
		}
	}
	if n := h.Count(t, "runs WHERE flow = 'listed-note'"); n != 12 {
		t.Errorf("%d runs", n)
	}
	if n := h.Count(t, "deliveries WHERE source = 'list'"); n != 72 {
		t.Errorf("%d deliveries", n)
	}
}

// When the time runs out, the sender is told to come again; what is stored is found then.
func TestItems_Unfinished(t *testing.T) {
	t.Parallel()
	h := listHouse(t)
	if _, err := h.Owner.ExecContext(t.Context(), `CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
		IF NEW.event_key = 'stuck' THEN RAISE EXCEPTION 'the disk is full'; END IF; RETURN NEW; END $$;
		CREATE TRIGGER slow BEFORE INSERT ON events FOR EACH ROW EXECUTE FUNCTION slow()`); err != nil {
		t.Fatal(err)
	}
	body := `{"events":[` + strings.Join([]string{item("one", ""), item("stuck", ""), item("two", "")}, ",") + `]}`
	r := h.send(h.url+"/in/list", []byte(body), "X-Form-Signature", hexMAC("form", []byte(body)), "X-Unfinished", "1")
	if r.status != http.StatusServiceUnavailable || r.header.Get("Retry-After") == "" {
		t.Fatalf("unfinished: %d %s", r.status, r.raw)
	}
	var out itemsReply
	_ = json.Unmarshal([]byte(r.raw), &out)
	if got := verdicts(out); got != "accepted 200, unfinished 503, accepted 200" {
		t.Fatalf("first: %s", got)
	}
	if _, err := h.Owner.ExecContext(t.Context(), `DROP TRIGGER slow ON events`); err != nil {
		t.Fatal(err)
	}
	_, again := h.list(h.url, body)
	if got := verdicts(again); got != "repeated 200, accepted 200, repeated 200" {
		t.Errorf("again: %s", got)
	}
}

// The time for one POST is bounded, and each repetition gets further.
func TestItems_Patience(t *testing.T) {
	t.Parallel()
	h := listHouse(t)
	var list []string
	for i := range 30 {
		list = append(list, item(fmt.Sprint("p", i), ""))
	}
	body := `{"events":[` + strings.Join(list, ",") + `]}`
	src, err := h.Store.FindSource(t.Context(), "list")
	if err != nil {
		t.Fatal(err)
	}
	deps := intake.Deps{Store: h.Store, Env: func(n string) (string, bool) { v, ok := secrets[n]; return v, ok }}
	actor := store.Actor{Kind: operation.ActorSystem, ID: "source:list", Name: "list", Channel: "api"}
	done := 0
	for range 40 {
		ctx, cancel := context.WithCancel(t.Context())
		go func() { // the process is asked to stop in the middle
			tick := time.NewTicker(time.Millisecond)
			defer tick.Stop()
			for range tick.C {
				var n int
				if err := h.Owner.QueryRowContext(t.Context(), `SELECT count(*) FROM events WHERE source = 'list'`).Scan(&n); err != nil || n > done+2 || n == 30 {
					cancel()
					return
				}
			}
		}()
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, h.url+"/in/list", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("X-Form-Signature", hexMAC("form", []byte(body)))
		items, _, err := intake.AcceptAll(ctx, deps, actor, src, req)
		cancel()
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		n := h.Count(t, "events WHERE source = 'list'")
		if n == done && n < 30 {
			t.Fatalf("a repetition got no further than %d", n)
		}
		if done = n; done == 30 && !items.Unfinished() {
			break
		}
	}
	if n := h.Count(t, "runs WHERE flow = 'listed-note'"); n != 30 || done != 30 {
		t.Errorf("%d runs of %d events", n, done)
	}
}
