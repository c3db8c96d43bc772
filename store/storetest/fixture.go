package storetest

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
)

// Secret is the installation's secret of every fixture.
var Secret = []byte("a secret of tests only, 32 bytes or more")

// Fixture is a store with the demonstration's definitions applied and people in every
// role, in a database of its own.
type Fixture struct {
	Store            *store.Store
	OwnerURL, AppURL string
	// Owner is connected as the schema's owner: for counting rows and for disturbing.
	Owner *sql.DB
	// Users by short name: author, author2, lead, second, ops, ops2, auditor, admin.
	// Their addresses are NAME@example.test; none has a password yet.
	Users map[string]operation.UserID
}

// cast is who there is: their name and roles.
var cast = []struct {
	short, name string
	roles       []operation.Role
}{
	{"admin", "Ada Admin", []operation.Role{operation.RoleAdmin}},
	{"author", "Ann Author", []operation.Role{operation.RoleAuthor}},
	{"author2", "Abe Author", []operation.Role{operation.RoleAuthor}},
	{"lead", "Lea Lead", []operation.Role{operation.RoleApprover}},
	{"second", "Sam Second", []operation.Role{operation.RoleApprover}},
	{"ops", "Oli Ops", []operation.Role{operation.RoleOpsOwner}},
	{"ops2", "Ona Ops", []operation.Role{operation.RoleOpsOwner}},
	{"auditor", "Aud Auditor", []operation.Role{operation.RoleAuditor}},
}

// environment is what the demonstration's definitions ask for. A test that starts a
// sandbox sets its own values before; the default address answers nobody.
var environment = map[string]string{
	"SANDBOX_URL": "http://127.0.0.1:9", "SANDBOX_SMTP": "127.0.0.1:9", "SANDBOX_TOKEN": "sandbox",
	"SHOPIFY_FLOW_SECRET": "flow-secret", "SHOPIFY_WEBHOOK_SECRET": "webhook-secret", "FORM_SECRET": "form-secret",
}

var setEnvironment = sync.OnceFunc(func() {
	for k, v := range environment {
		if os.Getenv(k) == "" {
			_ = os.Setenv(k, v)
		}
	}
})

// DemoFiles gives the demonstration's definition files.
func DemoFiles() ([]store.File, error) {
	_, here, _, _ := runtime.Caller(0)
	root := filepath.Join(filepath.Dir(here), "..", "..", "cmd", "holdpoint", "demo")
	var files []store.File
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".yaml" {
			return err
		}
		src, err := os.ReadFile(path)
		files = append(files, store.File{Name: filepath.Base(path), Source: src})
		return err
	})
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("no definitions in %s", root)
	}
	return files, err
}

// populatedSchema is the current schema with people and definitions in it.
var populatedSchema = sync.OnceValues(func() (schema, error) {
	setEnvironment()
	files, err := DemoFiles()
	if err != nil {
		return schema{}, err
	}
	h := sha256.New()
	fmt.Fprintln(h, "fixture 1", migrationsKey(), cast)
	for _, f := range files {
		fmt.Fprintf(h, "%s %d\n%s", f.Name, len(f.Source), f.Source)
	}
	return schema{key: "full_" + hex.EncodeToString(h.Sum(nil)[:8]), migrate: func(ctx context.Context, ownerURL string) error {
		if err := currentSchema().migrate(ctx, ownerURL); err != nil {
			return err
		}
		return populate(ctx, ownerURL, files)
	}}, nil
})

func populate(ctx context.Context, ownerURL string, files []store.File) error {
	s, err := store.Open(ctx, store.Config{URL: ownerURL, Secret: Secret})
	if err != nil {
		return err
	}
	defer s.Close()
	system := store.System("command")
	for _, c := range cast {
		n := store.NewUser{Email: c.short + "@example.test", Name: c.name}
		for _, r := range c.roles {
			n.Roles = append(n.Roles, store.RoleGrant{Role: r})
		}
		if _, err := s.AddUser(ctx, system, n); err != nil {
			return fmt.Errorf("add %s: %w", c.short, err)
		}
	}
	if _, err := s.Apply(ctx, system, files); err != nil {
		return fmt.Errorf("apply the demonstration's definitions: %w", err)
	}
	return nil
}

// NewFixture makes a store of its own for one test, in about a fifth of a second.
func NewFixture(t testing.TB) *Fixture {
	t.Helper()
	f := NewClosedFixture(t)
	f.Store = f.Open(t, f.AppURL)
	return f
}

// NewClosedFixture is NewFixture without an open Store: for tests that open their own,
// through a proxy for instance.
func NewClosedFixture(t testing.TB) *Fixture {
	t.Helper()
	full, err := populatedSchema()
	if err != nil {
		t.Fatalf("storetest: %v", err)
	}
	f := &Fixture{}
	f.OwnerURL, f.AppURL = newDB(t, full)
	if f.Owner, err = sql.Open("postgres", f.OwnerURL); err != nil {
		t.Fatalf("storetest: %v", err)
	}
	t.Cleanup(func() { f.Owner.Close() })
	f.Owner.SetMaxOpenConns(2)
	f.FindUsers(t)
	return f
}

// FindUsers fills Users from the people of the database, in place of who stood there.
func (f *Fixture) FindUsers(t testing.TB) {
	t.Helper()
	f.Users = map[string]operation.UserID{}
	rows, err := f.Owner.Query(`SELECT split_part(email, '@', 1), id FROM users`)
	if err != nil {
		t.Fatalf("storetest: %v", err)
	}
	defer rows.Close()
	for rows.Next() {
		var short string
		var id operation.UserID
		if err := rows.Scan(&short, &id); err != nil {
			t.Fatalf("storetest: %v", err)
		}
		f.Users[short] = id
	}
	if err := rows.Err(); err != nil {
		t.Fatalf("storetest: %v", err)
	}
}

// Open opens one more Store on the fixture's database, as another process would.
func (f *Fixture) Open(t testing.TB, url string) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), store.Config{URL: url, Secret: Secret})
	if err != nil {
		t.Fatalf("storetest: open the store: %v", err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// As is the actor of one of the fixture's people in a browser.
func (f *Fixture) As(short string) store.Actor {
	id, ok := f.Users[short]
	if !ok {
		panic("storetest: nobody is called " + short)
	}
	return store.Person(id, short, "web")
}

// Fresh is the actor of one of the fixture's people in a browser in which they have just
// signed in: what asks for a fresh proof of the person takes it.
func (f *Fixture) Fresh(t testing.TB, short string) store.Actor {
	t.Helper()
	a := f.As(short)
	token := sha256.Sum256([]byte(store.NewFormID()))
	a.Session = token[:]
	x := store.Session{TokenHash: a.Session, UserID: a.UserID(), Data: []byte("{}"), Expires: time.Now().Add(time.Hour)}
	if err := f.Store.SaveSession(context.Background(), x); err != nil {
		t.Fatalf("storetest: session of %s: %v", short, err)
	}
	return a
}

// Count counts rows, as the owner: Count(t, "attempts WHERE operation_id = $1", id).
func (f *Fixture) Count(t testing.TB, from string, args ...any) int {
	t.Helper()
	var n int
	if err := f.Owner.QueryRowContext(t.Context(), `SELECT count(*) FROM `+from, args...).Scan(&n); err != nil {
		t.Fatalf("storetest: count %s: %v", from, err)
	}
	return n
}

var events atomic.Int64

// CouponEvent is a new event that starts flow newsletter-coupon: one stage, complete
// content, one approver.
func CouponEvent() store.Received {
	n := strconv.FormatInt(events.Add(1), 10)
	return event("newsletter.coupon", n, map[string]any{"code": "CODE-" + n, "percent_off": 10, "name": "Coupon " + n})
}

// InvoiceEvent is a new event that starts flow goodwill-invoice: an invoice, complete,
// and a letter that somebody has to write.
func InvoiceEvent() store.Received {
	n := strconv.FormatInt(events.Add(1), 10)
	return event("goodwill.requested", n, map[string]any{"customer": "cus_" + n, "email": "c" + n + "@example.test", "amount": 500, "currency": "eur"})
}

// NoteEvent is a new event that starts flow plain-note: a destination without any
// protection, a text that somebody has to write.
func NoteEvent() store.Received {
	n := strconv.FormatInt(events.Add(1), 10)
	return event("note.requested", n, map[string]any{"topic": "Topic " + n})
}

// CampaignEvent is a new event that starts flow campaign-follow-up: a CRM task,
// complete, then a mail that somebody has to write and two people approve.
func CampaignEvent() store.Received {
	n := strconv.FormatInt(events.Add(1), 10)
	in := event("campaign-request", n, map[string]any{"customer_ref": "C-" + n, "email": "c" + n + "@example.test", "campaign": "Spring"})
	in.Source, in.Account, in.Handle, in.ActionRunID = "shopify-flow", "demo-shop.myshopify.com", "campaign-request", "run-"+n
	return in
}

func event(topic, key string, data map[string]any) store.Received {
	body, err := json.Marshal(data)
	if err != nil {
		panic(err)
	}
	return store.Received{Source: "api", Account: "demo", Topic: topic, EventKey: "evt-" + key, DeliveryKey: "dlv-" + key,
		Body: body, Data: data, Status: 202, EventTime: time.Now().UTC().Truncate(time.Second)}
}

// Receive hands an event in and gives its operations, in the order of the stages.
func (f *Fixture) Receive(t testing.TB, in store.Received) []operation.ID {
	t.Helper()
	r, err := f.Store.Receive(t.Context(), store.System("api"), in)
	if err != nil {
		t.Fatalf("storetest: receive: %v", err)
	}
	if len(r.Operations) == 0 {
		t.Fatalf("storetest: the event started nothing: %s %s", r.Verdict, r.Reason)
	}
	return r.Operations
}

// Decide lets one of the people decide on the current version.
func (f *Fixture) Decide(t testing.TB, id operation.ID, short string, d operation.Decision) error {
	t.Helper()
	in := f.Decision(t, id, d)
	return f.Store.Decide(t.Context(), f.As(short), in)
}

// Decision is what a person's form would send now.
func (f *Fixture) Decision(t testing.TB, id operation.ID, d operation.Decision) store.Decided {
	t.Helper()
	in := store.Decided{Operation: id, Decision: d, FormID: store.NewFormID()}
	var hash []byte
	err := f.Owner.QueryRowContext(t.Context(), `SELECT o.revision, v.id, v.hash FROM operations o JOIN content_versions v ON v.id = o.version_id WHERE o.id = $1`,
		string(id)).Scan(&in.Revision, &in.Version, &hash)
	if err != nil {
		t.Fatalf("storetest: current version of %s: %v", id, err)
	}
	if d != operation.Approve {
		in.Reason = "as the test wants it"
	}
	in.Hash = hex.EncodeToString(hash)
	return in
}

// Approve approves the current version by each of the people, in order.
func (f *Fixture) Approve(t testing.TB, id operation.ID, shorts ...string) {
	t.Helper()
	for _, short := range shorts {
		if err := f.Decide(t, id, short, operation.Approve); err != nil {
			t.Fatalf("storetest: %s approves %s: %v", short, id, err)
		}
	}
}

// Ready gives an operation that a job may take now: a coupon, approved by lead.
func (f *Fixture) Ready(t testing.TB) operation.ID {
	t.Helper()
	id := f.Receive(t, CouponEvent())[0]
	f.Approve(t, id, "lead")
	return id
}

// State reads an operation's state.
func (f *Fixture) State(t testing.TB, id operation.ID) operation.State {
	t.Helper()
	var s string
	if err := f.Owner.QueryRowContext(t.Context(), `SELECT state FROM operations WHERE id = $1`, string(id)).Scan(&s); err != nil {
		t.Fatalf("storetest: state of %s: %v", id, err)
	}
	return operation.State(s)
}

// SetPassword gives one of the people a password, through a link as in life.
func (f *Fixture) SetPassword(t testing.TB, short, password string) {
	t.Helper()
	link, err := f.Store.ResetPassword(t.Context(), store.System("command"), f.Users[short], "")
	if err == nil {
		_, err = f.Store.SetPassword(t.Context(), link.Secret, password)
	}
	if err != nil {
		t.Fatalf("storetest: password of %s: %v", short, err)
	}
}

// Email is the address of one of the people.
func Email(short string) string { return strings.ToLower(short) + "@example.test" }
