package jobs

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"holdpoint/connector/connectortest"
	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"

	_ "github.com/lib/pq" // a plain reader beside the product's own connections
)

func TestMain(m *testing.M) {
	if err := os.Setenv("HOLDPOINT_TEST_TOKEN", "test"); err != nil {
		panic(err)
	}
	if os.Getenv(childURL) != "" {
		os.Exit(child())
	}
	os.Exit(storetest.Run(m))
}

var secret = bytes.Repeat([]byte("k"), 32)

// The destinations of these tests: leases of a second or two, so that tests may wait
// for their end. %s is the sandbox.
const profiles = `
destination: crm
title: {en: CRM}
kind: http
account: crm-test
environment: test
base_url: "%[1]s"
local: true
auth: {bearer: {env: HOLDPOINT_TEST_TOKEN}}
limits: {concurrency: 8, timeout: 400ms, body: 64KiB}
settle_after: 100ms
lease: %[2]s
retry: {max: 5, base: 100ms, max_interval: 1s}
docs: {url: "https://destination.example/docs", checked: 2026-11-29}
actions:
  create_task:
    effect: task
    request: {method: POST, path: /crm/tasks, json: {subject: "${content.subject}", reference: "{operation_id}"}}
    outcome:
      - {confirmed: "${status == 201 && body.reference == operation_id}"}
      - {lookup: "${status == 409 && body.category == 'CONFLICT'}"}
      - {not_started: "${status in [401, 403, 404, 429]}", code: refused_before_execution}
    reference: {id: "${body.id}", url: "${body.url}"}
    lookup:
      request: {method: GET, path: "/crm/tasks/by-reference/{operation_id}"}
      answered: ${status in [200, 300]}
      none: ${status == 404 && body.category == "OBJECT_NOT_FOUND"}
      match: "${status == 300 ? body.results : [body]}"
      id: ${match.id}
      url: ${match.url}
      fits: ${match.subject == content.subject}
---
destination: billing
title: {en: Billing}
kind: http
account: acct_test
environment: test
base_url: "%[1]s"
local: true
auth: {bearer: {env: HOLDPOINT_TEST_TOKEN}}
limits: {concurrency: 8, timeout: 400ms, body: 64KiB}
settle_after: 100ms
lease: %[2]s
retry: {max: 5, base: 100ms, max_interval: 1s}
docs: {url: "https://destination.example/docs", checked: 2026-11-29}
actions:
  create_invoice:
    effect: invoice
    request:
      method: POST
      path: /billing/v1/invoices
      form: {customer: "${content.customer}", metadata: {operation_id: "{operation_id}"}}
    protection:
      key: {header: Idempotency-Key, value: "{key}"}
      retention: 24h
      mismatch: ${status == 400 && body.error.type == "idempotency_error"}
      in_progress: ${status == 409}
      replays_errors: true
      proven: {on: 2026-11-20, by: probe}
    outcome:
      - {confirmed: "${status == 200 && body.object == 'invoice' && body.metadata.operation_id == operation_id}"}
      - {not_started: "${status in [401, 403, 404, 429]}", code: refused_before_execution}
    reference: {id: "${body.id}"}
---
destination: plain
title: {en: Without protection}
kind: http
account: plain-test
environment: test
base_url: "%[1]s"
local: true
auth: {bearer: {env: HOLDPOINT_TEST_TOKEN}}
limits: {concurrency: 2, timeout: 400ms, body: 64KiB}
settle_after: 100ms
lease: %[2]s
retry: {max: 5, base: 100ms, max_interval: 1s}
docs: {url: "https://destination.example/docs", checked: 2026-11-29}
actions:
  create_thing:
    effect: thing
    request: {method: POST, path: /plain/things, json: {name: "${content.name}", reference: "{operation_id}"}}
    outcome:
      - {confirmed: "${status == 201 && has(body.id)}"}
      - {not_started: "${status in [401, 403, 404, 429]}", code: refused_before_execution}
    reference: {id: "${body.id}"}
`

const flow = `
flow: to-%[1]s
title: {en: To %[1]s}
owner: {role: approver}
reviewer: {role: ops_owner}
reexecution: {approvers: {role: ops_owner}, required: 1}
trigger: {source: test}
inputs: {type: object}
on_missing_data: draft
stages:
  - key: effect
    destination: %[1]s
    action: %[2]s
    content: {%[3]s: {draft: {by: author}}}
    approval: {approvers: {role: approver}, required: 1, separate_author: true, expires: 72h}
    attempts: {max: 5}
failure: "-"
`

var content = map[string]string{"crm": "subject", "billing": "customer", "plain": "name"}

// world is one database with definitions and people, and one sandbox.
type world struct {
	t      testing.TB
	store  *store.Store
	url    string
	db     *sql.DB
	box    *connectortest.Sandbox
	lead   store.Actor
	ops    [2]store.Actor
	serial atomic.Int64
}

func newWorld(t testing.TB, lease string) *world {
	t.Helper()
	_, appURL := storetest.NewDB(t)
	return worldAt(t, appURL, lease)
}

func worldAt(t testing.TB, url, lease string) *world {
	t.Helper()
	w := &world{t: t, url: url, box: connectortest.StartSandbox(t)}
	w.store = openStore(t, url)
	var err error
	if w.db, err = sql.Open("postgres", url); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.db.Close() })
	w.define(lease)
	return w
}

func openStore(t testing.TB, url string) *store.Store {
	t.Helper()
	s, err := store.Open(context.Background(), store.Config{URL: url, Secret: secret, Log: quiet(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func (w *world) define(lease string) {
	t, ctx, admin := w.t, context.Background(), store.System("command")
	for i, who := range []struct{ name, role string }{{"lead", "approver"}, {"ops", "ops_owner"}, {"ops2", "ops_owner"}, {"author", "author"}, {"admin", "admin"}} {
		link, err := w.store.AddUser(ctx, admin, store.NewUser{Email: who.name + "@example.test", Name: who.name, Roles: []store.RoleGrant{{Role: operation.Role(who.role)}}})
		if err != nil {
			t.Fatal(err)
		}
		switch i {
		case 0:
			w.lead = store.Person(link.User, who.name, "web")
		case 1, 2:
			w.ops[i-1] = store.Person(link.User, who.name, "command")
		}
	}
	var files []store.File
	for i, p := range strings.Split(fmt.Sprintf(profiles, w.box.URL, lease), "\n---\n") {
		files = append(files, store.File{Name: fmt.Sprintf("profile%d.yaml", i), Source: []byte(p)})
	}
	for name, action := range map[string]string{"crm": "create_task", "billing": "create_invoice", "plain": "create_thing"} {
		files = append(files, store.File{Name: name + ".yaml", Source: fmt.Appendf(nil, flow, name, action, content[name])})
	}
	files = append(files, store.File{Name: "source.yaml", Source: []byte("source: test\ntitle: {en: Test}\nkind: cloudevents\naccount: test\nenvironment: test\nanswer: 202\n")})
	if _, err := w.store.Apply(ctx, admin, files); err != nil {
		t.Fatalf("apply: %v", err)
	}
}

// draft makes an operation that waits for approval.
func (w *world) draft(destination string) operation.ID {
	w.t.Helper()
	n := fmt.Sprint(w.serial.Add(1))
	r, err := w.store.Receive(context.Background(), store.System("api"), store.Received{Source: "test", Account: "test", Topic: "t", EventKey: destination + n,
		DeliveryKey: n, Body: []byte("{}"), Data: map[string]any{}, Status: 202, Flow: "to-" + destination, RunKey: n,
		Content: map[string]map[string]any{"effect": {content[destination]: "case " + n}}, Author: store.Author{Kind: "token", ID: "tok_test"}})
	if err != nil || len(r.Operations) != 1 {
		w.t.Fatalf("receive: %v %+v", err, r)
	}
	return r.Operations[0]
}

// ready makes an operation and approves it.
func (w *world) ready(destination string) operation.ID {
	w.t.Helper()
	id := w.draft(destination)
	w.approve(id)
	return id
}

func (w *world) approve(id operation.ID) {
	w.t.Helper()
	var version, hash string
	var revision int64
	err := w.db.QueryRow(`SELECT v.id, encode(v.hash, 'hex'), o.revision FROM operations o JOIN content_versions v ON v.id = o.version_id WHERE o.id = $1`, string(id)).Scan(&version, &hash, &revision)
	if err != nil {
		w.t.Fatal(err)
	}
	err = w.store.Decide(context.Background(), w.lead, store.Decided{Operation: id, Version: operation.VersionID(version), Hash: hash, Revision: revision,
		Decision: operation.Approve, FormID: "form-" + string(id)})
	if err != nil {
		w.t.Fatalf("approve: %v", err)
	}
}

// seen is what the record says about an operation.
type seen struct {
	State, Reference, ConfirmedBy, Next string
	Attempts                            []string // outcomes, "open" for an open one
	Codes                               []string // of their proofs
	Lookups                             []string // results
}

func (w *world) see(id operation.ID) seen {
	w.t.Helper()
	var s seen
	var attempts, codes, lookups string
	err := w.db.QueryRow(`SELECT state, COALESCE(target_reference, ''), COALESCE(confirmed_by, ''), next_kind,
		COALESCE((SELECT string_agg(COALESCE(outcome, 'open'), ' ' ORDER BY number) FROM attempts WHERE operation_id = o.id), ''),
		COALESCE((SELECT string_agg(COALESCE(CAST(proof AS jsonb)->>'code', '-'), ' ' ORDER BY number) FROM attempts WHERE operation_id = o.id), ''),
		COALESCE((SELECT string_agg(result, ' ' ORDER BY at) FROM evidence WHERE operation_id = o.id AND kind = 'lookup'), '')
		FROM operations o WHERE id = $1`, string(id)).Scan(&s.State, &s.Reference, &s.ConfirmedBy, &s.Next, &attempts, &codes, &lookups)
	if err != nil {
		return seen{State: "unreadable: " + err.Error()}
	}
	s.Attempts, s.Codes, s.Lookups = strings.Fields(attempts), strings.Fields(codes), strings.Fields(lookups)
	return s
}

// history counts the entries of one kind about an operation.
func (w *world) history(id operation.ID, action string) (n int) {
	w.t.Helper()
	if err := w.db.QueryRow(`SELECT count(*) FROM history WHERE subject_id = $1 AND action = $2`, string(id), action).Scan(&n); err != nil {
		w.t.Fatal(err)
	}
	return n
}

// count counts operations.
func (w *world) count(where string) (n int) {
	w.t.Helper()
	if err := w.db.QueryRow(`SELECT count(*) FROM operations WHERE ` + where).Scan(&n); err != nil {
		w.t.Fatal(err)
	}
	return n
}

// until waits until the record shows something about an operation.
func (w *world) until(id operation.ID, what string, ok func(seen) bool) seen {
	w.t.Helper()
	limit := time.Now().Add(20 * time.Second)
	for {
		s := w.see(id)
		if ok(s) {
			return s
		}
		if time.Now().After(limit) {
			w.t.Fatalf("not %s after 20 s: %+v", what, s)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func (w *world) untilState(id operation.ID, state operation.State) seen {
	w.t.Helper()
	return w.until(id, string(state), func(s seen) bool { return s.State == string(state) })
}

// effects checks how many effects of an operation the destination really holds.
func (w *world) effects(destination string, id operation.ID, want int) {
	w.t.Helper()
	if got := len(w.box.Ledger(w.t, destination, string(id))); got != want {
		w.t.Errorf("the ledger of %s holds %d effects of %s, want %d", destination, got, id, want)
	}
}

// posts is how many requests with an effect the destination received.
func (w *world) posts(destination string) int {
	n := 0
	for _, r := range w.box.Requests(w.t, destination) {
		if r.Method == "POST" {
			n++
		}
	}
	return n
}

// work starts a worker and stops it when the test ends.
func (w *world) work(change ...func(*Config)) *Worker {
	w.t.Helper()
	cfg := Config{Store: w.store, Log: quiet(w.t), Sweep: 100 * time.Millisecond, Name: "test"}
	for _, f := range change {
		f(&cfg)
	}
	worker, err := New(cfg)
	if err != nil {
		w.t.Fatal(err)
	}
	if err := worker.Start(context.Background()); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		if worker.stopping.Err() == nil {
			if err := worker.Stop(context.Background()); err != nil {
				w.t.Errorf("stop: %v", err)
			}
		}
	})
	return worker
}

// loseWakes removes every wake-up, as a worker that died with them would.
func (w *world) loseWakes() {
	w.t.Helper()
	if _, err := w.db.Exec(`DELETE FROM river_job WHERE kind IN ('execute', 'lookup')`); err != nil {
		w.t.Fatal(err)
	}
}
