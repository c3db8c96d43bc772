package connectortest

import (
	"crypto/x509"
	"embed"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"holdpoint/connector"
	"holdpoint/operation"
	"holdpoint/operation/definition"
)

//go:embed testdata/*.yaml
var profiles embed.FS

// Secret is the value of every test credential; nothing that is stored may show it.
const Secret = "sk_test_never-to-be-shown-1234"

// PlaceEnv and SecretEnv are the variables of the test profiles: where the destination
// is, and its credential.
const (
	PlaceEnv  = "DESTINATION_URL"
	SecretEnv = "DESTINATION_SECRET"
)

// Harness is one destination as the suite sees it: a profile, an action with content
// that is whole, and how to point the profile at a server.
type Harness struct {
	Profile *definition.Profile
	Action  string
	Content func(n int) map[string]any // differs with n
	// Env gives the variables that put the destination at base: a URL without a slash
	// at the end, or host:port for SMTP.
	Env func(base string) connector.Env
	// Sandbox is the name that the sandbox knows the destination by; "" = the sandbox
	// does not play it.
	Sandbox string
	// Prepare makes what the action needs at the destination before it can act, such as
	// the draft that is to be sent, and gives the references of the earlier stages by
	// their names. nil = it needs nothing.
	Prepare func(t testing.TB, base string) map[string]string
	// Unguarded says that the destination takes no key and has no unique field, so that
	// the fault ignore_idempotency does not exist there.
	Unguarded bool
	// Bare says that an effect is answered without a body, so that a body that is missing or
	// cut takes nothing away.
	Bare bool
}

// Of gives the harness of an action of a profile for a system that the sandbox plays.
// Its base URL must be the sandbox's URL and the system's name, by the variable that
// base names. Every other variable that the profile reads has the value Secret.
func Of(t testing.TB, raw []byte, name, action, base string, content func(n int) map[string]any) Harness {
	t.Helper()
	p, err := definition.ParseProfile(name+".yaml", raw)
	if err != nil {
		t.Fatal(err)
	}
	return Harness{
		Profile: p, Action: action, Content: content, Sandbox: name,
		Env: func(at string) connector.Env {
			return func(variable string) (string, bool) {
				if variable != base {
					return Secret, true
				}
				return at, true
			}
		},
	}
}

// Destination gives the harness of one of the sandbox's destinations with the suite's
// own profile: crm, billing, mail, plain, smtp.
func Destination(t testing.TB, name string) Harness {
	t.Helper()
	file := "testdata/" + name + ".yaml"
	raw, err := profiles.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	p, err := definition.ParseProfile(file, raw)
	if err != nil {
		t.Fatal(err)
	}
	h := Harness{Profile: p, Sandbox: name, Env: TestEnv}
	h.Unguarded = name == "plain" || name == "smtp"
	switch name {
	case "crm":
		h.Action = "create_task"
		h.Content = func(n int) map[string]any {
			return map[string]any{"subject": fmt.Sprint("Call customer ", n), "contact": "C-1"}
		}
	case "billing":
		h.Action = "create_invoice"
		h.Content = func(n int) map[string]any {
			return map[string]any{"customer": "cus_1", "description": fmt.Sprint("Campaign ", n)}
		}
	case "plain":
		h.Action = "create_thing"
		h.Content = func(n int) map[string]any { return map[string]any{"name": fmt.Sprint("Thing ", n)} }
	default:
		h.Action = "send"
		h.Content = func(n int) map[string]any {
			return map[string]any{"to": "anna@customer.test", "subject": fmt.Sprint("Hello ", n), "text": "Good day.\n.\nBye."}
		}
	}
	return h
}

// Destinations are the names that Destination knows.
var Destinations = []string{"crm", "billing", "mail", "plain", "smtp"}

// TestEnv is the environment of the suite's own profiles.
func TestEnv(base string) connector.Env {
	return func(name string) (string, bool) {
		v, ok := map[string]string{PlaceEnv: base, SecretEnv: Secret}[name]
		return v, ok
	}
}

// Impatient gives the same destination with a short timeout, for servers that stall.
func (h Harness) Impatient() Harness {
	p := *h.Profile
	p.Limits.Timeout = 200 * time.Millisecond
	h.Profile = &p
	return h
}

// Connect gives the destination's connector, pointed at base.
func (h Harness) Connect(t testing.TB, base string, roots *x509.CertPool) connector.Connector {
	t.Helper()
	c, err := connector.NewTrusting(h.Profile, h.Env(base), roots)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// serial makes every operation of a test process another one.
var serial atomic.Int64

// Order gives an order of its own operation, rendered and resolved as dispatch does.
func (h Harness) Order(t testing.TB, base string) connector.Order {
	t.Helper()
	return h.OrderOf(t, base, h.Action, h.Content(int(serial.Add(1))))
}

// OrderOf is Order for an action and a content.
func (h Harness) OrderOf(t testing.TB, base, action string, content map[string]any) connector.Order {
	t.Helper()
	a, err := h.Profile.Action(action)
	if err != nil {
		t.Fatal(err)
	}
	filled := map[string]string{}
	if h.Prepare != nil {
		for stage, reference := range h.Prepare(t, base) {
			filled["target_ref("+stage+")"] = reference
		}
	}
	now := time.Now()
	v, err := a.Render(content, h.Env(base), now)
	if err != nil {
		t.Fatalf("render: %v", err)
	}
	id := operation.DeriveID([]byte("test"), operation.Intent{Flow: t.Name(), Stage: h.Profile.Destination, ItemKey: fmt.Sprint(serial.Add(1))})
	key := operation.DestinationKey(id, 1)
	filled[operation.HoleOperationID], filled[operation.HoleKey] = string(id), key
	resolved, err := v.Request.Resolve(filled)
	if err != nil {
		t.Fatalf("resolve: %v", err)
	}
	return connector.Order{
		Operation: id, Attempt: "att_1", Fence: 1, Action: action, Request: resolved, Key: key, Content: content,
		DispatchedAt: now, Deadline: now.Add(time.Minute), WallDeadline: now.Add(time.Minute).Round(0),
	}
}

// Lookup asks for the effect of an order.
func Lookup(o connector.Order) connector.LookupOrder {
	return connector.LookupOrder{Operation: o.Operation, Action: o.Action, Key: o.Key, Content: o.Content, DispatchedAt: o.DispatchedAt}
}

// smtp tells whether the destination speaks SMTP.
func (h Harness) smtp() bool { return h.Profile.Kind == operation.RequestSMTP }

// at is where a server at addr is for this destination.
func (h Harness) at(addr string, encrypted bool) string {
	switch {
	case h.smtp():
		return addr
	case encrypted:
		return "https://" + addr
	}
	return "http://" + addr
}

// In is where the sandbox plays this destination.
func (h Harness) In(s *Sandbox) string {
	if h.smtp() {
		return s.SMTP
	}
	return s.URL
}
