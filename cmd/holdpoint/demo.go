package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path"
	"slices"
	"strings"

	"holdpoint/operation"
	"holdpoint/store"
)

// demoFiles are the flows, profiles and sources of the demonstration.
//
//go:embed demo
var demoFiles embed.FS

// demoPassword opens every demo account. They exist on loopback addresses only.
const demoPassword = "hold-point-demo"

// demoSecret signs what the demonstration's senders send.
const demoSecret = "demo-secret"

// demoPeople has one account per role, and a second one where two people must decide.
var demoPeople = []struct {
	email, name string
	role        operation.Role
	what        string
}{
	{"lead@example.test", "Lena Lead", operation.RoleApprover, "marketing lead: approves"},
	{"second@example.test", "Sam Second", operation.RoleApprover, "second approver"},
	{"author@example.test", "Aki Author", operation.RoleAuthor, "writes drafts, starts runs by hand"},
	{"ops@example.test", "Olga Ops", operation.RoleOpsOwner, "ops owner: settles what is unknown"},
	{"ops2@example.test", "Oskar Ops", operation.RoleOpsOwner, "second ops owner: decides about re-executions"},
	{"auditor@example.test", "Ania Auditor", operation.RoleAuditor, "reads everything"},
	{"admin@example.test", "Adam Admin", operation.RoleAdmin, "people and set-up"},
}

// demoEnvironment sets what the demo definitions read, where it is not set.
func demoEnvironment() error {
	for name, value := range map[string]string{
		"SANDBOX_URL":            "http://" + sandboxAddr(),
		"SANDBOX_SMTP":           cmp.Or(os.Getenv("SANDBOX_SMTP_ADDR"), "127.0.0.1:7425"),
		"SANDBOX_TOKEN":          "demo-token",
		"SHOPIFY_FLOW_SECRET":    demoSecret,
		"SHOPIFY_WEBHOOK_SECRET": demoSecret,
		"FORM_SECRET":            demoSecret,
	} {
		if _, ok := os.LookupEnv(name); ok {
			continue
		}
		if err := os.Setenv(name, value); err != nil {
			return err
		}
	}
	return nil
}

func sandboxAddr() string { return cmp.Or(os.Getenv("SANDBOX_ADDR"), "127.0.0.1:7400") }

// demoAccounts makes the accounts that are missing and applies the demo definitions.
func demoAccounts(ctx context.Context, st *store.Store) error {
	admin := store.System("command")
	for _, p := range demoPeople {
		_, err := st.FindUserByEmail(ctx, p.email)
		if err == nil {
			continue
		}
		if !errors.Is(err, store.ErrNotFound) {
			return err
		}
		link, err := st.AddUser(ctx, admin, store.NewUser{Email: p.email, Name: p.name, Demo: true, Roles: []store.RoleGrant{{Role: p.role}}})
		if err != nil {
			return fmt.Errorf("demo account %s: %w", p.email, err)
		}
		if _, err := st.SetPassword(ctx, link.Secret, demoPassword); err != nil {
			return fmt.Errorf("demo account %s: %w", p.email, err)
		}
	}
	dir, err := fs.Sub(demoFiles, "demo")
	if err != nil {
		return err
	}
	files, err := definitions(dir)
	if err != nil {
		return err
	}
	if _, err := st.Apply(ctx, admin, files); err != nil {
		if !demoApplied(ctx, st) {
			return fmt.Errorf("demo definitions: %w", err)
		}
		fmt.Printf("\nWarning: the demo definitions cannot be applied as they are; those applied earlier stay in use.\n%s\nA disabled account is let in again by: holdpoint user enable EMAIL\n", explain(err))
	}
	return nil
}

// demoApplied reports whether each demo flow was taken into use earlier.
func demoApplied(ctx context.Context, st *store.Store) bool {
	have, err := st.ListFlows(ctx)
	if err != nil {
		return false
	}
	want, err := fs.Glob(demoFiles, "demo/flows/*.yaml")
	if err != nil {
		return false
	}
	for _, file := range want {
		name := strings.TrimSuffix(path.Base(file), ".yaml")
		if !slices.ContainsFunc(have, func(f store.FlowItem) bool { return f.Name == name }) {
			return false
		}
	}
	return len(want) > 0
}

// welcome sends the first event through the front door, so that the inbox is not empty,
// and says where everything is.
func welcome(ctx context.Context, url string, door http.Handler, st *store.Store, log *slog.Logger) {
	if err := errors.Join(demoEvent(ctx, door), demoWork(ctx, st), demoBatch(ctx, st)); err != nil {
		log.Error("demo event", "error", err)
	}
	fmt.Printf("\nHoldpoint  %s\nSandbox    http://%s   (inject faults, see what really happened)\n           Mails to people arrive there too, as messages to smtp.\n\nSign in with the password %s as\n", url, sandboxAddr(), demoPassword)
	for _, p := range demoPeople {
		fmt.Printf("  %-22s %s\n", p.email, p.what)
	}
	fmt.Printf(`
Another campaign request, as Shopify Flow would send it:
  body='{"shop_id":1,"shopify_domain":"demo-shop.myshopify.com","action_run_id":"run-'$(date +%%s)'","handle":"campaign-request","properties":{"customer_ref":"C-2","email":"ben@customer.test","campaign":"Spring"}}'
  curl -sS %s/in/shopify-flow -H 'Content-Type: application/json' -d "$body" \
    -H "X-Shopify-Hmac-Sha256: $(printf %%s "$body" | openssl dgst -sha256 -hmac "%s" -binary | base64)"

Ctrl-C stops everything.
`, url, os.Getenv("SHOPIFY_FLOW_SECRET"))
}

// demoEvent is the same event at every start: repeated, it starts nothing anew.
func demoEvent(ctx context.Context, door http.Handler) error {
	body := []byte(`{"shop_id":1,"shopify_domain":"demo-shop.myshopify.com","action_run_id":"demo-first-request","handle":"campaign-request",` +
		`"properties":{"customer_ref":"C-1042","email":"anna@customer.test","campaign":"Spring"}}`)
	m := hmac.New(sha256.New, []byte(os.Getenv("SHOPIFY_FLOW_SECRET")))
	m.Write(body)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://localhost/in/shopify-flow", bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.RequestURI, req.RemoteAddr = "/in/shopify-flow", "127.0.0.1:0"
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Shopify-Hmac-Sha256", base64.StdEncoding.EncodeToString(m.Sum(nil)))
	w := answer{header: http.Header{}, status: http.StatusOK}
	door.ServeHTTP(&w, req)
	if w.status != http.StatusOK {
		return fmt.Errorf("the first event was answered %d", w.status)
	}
	return nil
}

// demoWork starts one run of each of the other flows, so that every kind of recovery can
// be seen. The keys are fixed: repeated at the next start, they start nothing anew.
func demoWork(ctx context.Context, st *store.Store) error {
	var all error
	for _, e := range []struct {
		topic string
		data  map[string]any
	}{
		{"note.requested", map[string]any{"topic": "Flowers for the spring opening"}},
		{"goodwill.requested", map[string]any{"customer": "cus_C1042", "email": "anna@customer.test", "amount": 4800, "currency": "eur", "reason": "damaged teapot"}},
		{"newsletter.coupon", map[string]any{"code": "SPRING-10", "percent_off": 10, "name": "Spring letter"}},
		{"partner.task", map[string]any{"subject": "Pack the spring boxes"}},
	} {
		body, err := json.Marshal(e.data)
		if err != nil {
			return err
		}
		_, err = st.Receive(ctx, store.System("command"), store.Received{Source: "api", Account: "demo", Topic: e.topic, EventKey: "demo-first-" + e.topic,
			DeliveryKey: "demo-first-" + e.topic, Body: body, Data: e.data, Status: http.StatusAccepted})
		all = errors.Join(all, err)
	}
	return all
}

// answer keeps the status of a request that is served in process.
type answer struct {
	header http.Header
	status int
}

// Header gives the headers of the answer.
func (a *answer) Header() http.Header { return a.header }

// Write drops the body.
func (a *answer) Write(b []byte) (int, error) { return len(b), nil }

// WriteHeader keeps the status.
func (a *answer) WriteHeader(status int) { a.status = status }
