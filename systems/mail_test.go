package systems_test

import (
	"context"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"time"

	"holdpoint/connector"
	"holdpoint/connector/connectortest"
	"holdpoint/operation"
	"holdpoint/operation/definition"
	"holdpoint/systems"
)

// shipped gives the harness of an action of a profile as it ships, lifted to the
// sandbox, which has no TLS. values are the profile's variables, with BASE for where the
// sandbox is; every other variable has the value of the suite's secret.
func shipped(t testing.TB, name, action string, content map[string]any, values map[string]string) connectortest.Harness {
	t.Helper()
	raw, err := fs.ReadFile(systems.Profiles(), name+".yaml")
	if err != nil {
		t.Fatal(err)
	}
	p, err := definition.ParseProfile(name+".yaml", raw)
	if err != nil {
		t.Fatal(err)
	}
	p.Local = true
	return connectortest.Harness{
		Profile: p, Action: action, Sandbox: name, Unguarded: true,
		Content: func(n int) map[string]any {
			own := map[string]any{}
			for k, v := range content {
				if s, ok := v.(string); ok {
					v = strings.ReplaceAll(s, "{n}", fmt.Sprint(n))
				}
				own[k] = v
			}
			return own
		},
		Env: func(base string) connector.Env {
			return func(variable string) (string, bool) {
				if v, ok := values[variable]; ok {
					return strings.ReplaceAll(v, "BASE", base), true
				}
				return connectortest.Secret, true
			}
		},
	}
}

// aMail has what breaks formats: another script, quotes, a lone dot, line ends, something
// like a boundary and like a hole.
var aMail = map[string]any{
	"to": "anna@customer.test", "subject": `Zażółć "gęślą" {n} & こんにちは`,
	"text": "Good day.\n.\r\n--part-0\r\nContent-Disposition: form-data; name=\"to\"\r\n\r\nother@example.test\n{operation_id}",
	"html": `<p title="a'b">Good day &amp; {n}</p>`,
}

// mails are all effects of the profiles that send mail.
func mails(t testing.TB) map[string]connectortest.Harness {
	resend := shipped(t, "resend", "send", aMail, map[string]string{"RESEND_URL": "BASE/resend"})
	resend.Unguarded = false
	sendgrid := map[string]string{"SENDGRID_URL": "BASE/sendgrid"}
	plain := shipped(t, "sendgrid", "send", aMail, sendgrid)
	searchable := shipped(t, "sendgrid", "send_searchable", aMail, sendgrid)
	plain.Bare, searchable.Bare = true, true
	smtp := shipped(t, "smtp-server", "send", aMail, map[string]string{"SMTP_ADDR": "BASE"})
	smtp.Sandbox = "smtp"
	smtp.Profile.SMTP.StartTLS, smtp.Profile.Auth = "off", definition.Auth{Scheme: definition.AuthNone}
	smtp.Profile.Limits.Timeout = 2 * time.Second
	return map[string]connectortest.Harness{
		"resend": resend, "sendgrid": plain, "sendgrid searchable": searchable, "smtp": smtp,
		"postmark": shipped(t, "postmark", "send", aMail, map[string]string{"POSTMARK_URL": "BASE/postmark", "POSTMARK_SERVER_ID": "77"}),
		"mailgun":  shipped(t, "mailgun", "send", aMail, map[string]string{"MAILGUN_URL": "BASE/mailgun/v3/mg.example.test", "MAILGUN_USER": "api"}),
		"ses":      shipped(t, "ses", "send", aMail, map[string]string{"SES_URL": "BASE/ses", "AWS_REGION": "eu-central-1", "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE"}),
	}
}

// Every fault of the wire and of the sandbox, at every mail, against the ledger.
func TestMailsUnderEveryFault(t *testing.T) {
	for name, h := range mails(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			connectortest.Run(t, h)
		})
	}
}

// actOnce sends one order after a fault, and gives the order with what is said about it.
func actOnce(t *testing.T, box *connectortest.Sandbox, h connectortest.Harness, fault string) (connector.Order, operation.Result) {
	t.Helper()
	base := h.In(box)
	if fault != "" {
		box.Fault(t, connectortest.Fault{Destination: h.Sandbox, Fault: fault})
	}
	o := h.Order(t, base)
	return o, h.Connect(t, base, nil).Act(context.Background(), o)
}

// What the provider holds is what was approved, whatever the content.
func TestMailsArriveAsApproved(t *testing.T) {
	for name, h := range mails(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			box := connectortest.StartSandbox(t)
			o, r := actOnce(t, box, h, "")
			if r.Outcome != operation.OutcomeConfirmed {
				t.Fatalf("%s %+v", r.Outcome, r.Proof)
			}
			ledger := box.Ledger(t, h.Sandbox, string(o.Operation))
			if len(ledger) != 1 {
				t.Fatalf("%d effects", len(ledger))
			}
			got := ledger[0].Fields
			if subject := got["subject"]; h.Sandbox != "smtp" && subject != o.Content["subject"] {
				t.Errorf("subject %q", subject)
			}
			if body := got["text"]; h.Sandbox != "smtp" && body != o.Content["text"] {
				t.Errorf("text %q", body)
			}
			if to := fmt.Sprint(got["to"]); !strings.Contains(to, "anna@customer.test") || strings.Contains(to, "other@") {
				t.Errorf("to %s", to)
			}
			if h.Sandbox != "smtp" && got["html"] != o.Content["html"] {
				t.Errorf("html %q", got["html"])
			}
		})
	}
}

// Without the optional part the request is whole all the same.
func TestMailsWithoutHTML(t *testing.T) {
	for name, h := range mails(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			box := connectortest.StartSandbox(t)
			content := h.Content
			h.Content = func(n int) map[string]any {
				c := content(n)
				delete(c, "html")
				return c
			}
			o, r := actOnce(t, box, h, "")
			if r.Outcome != operation.OutcomeConfirmed || strings.Contains(strings.ToLower(o.Request.Body), "text/html") {
				t.Errorf("%s %+v", r.Outcome, r.Proof)
			}
		})
	}
}

// A lost answer is found again by our own reference, but not before the index has it.
func TestLostMailsAreFoundAgain(t *testing.T) {
	for name, h := range mails(t) {
		a, err := h.Profile.Action(h.Action)
		if err != nil {
			t.Fatal(err)
		}
		if !a.HasLookup() {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			findAgain(t, h, a.Protection().LookupLag)
		})
	}
}

// findAgain loses an answer, and looks before and after the lag.
func findAgain(t *testing.T, h connectortest.Harness, lag time.Duration) {
	t.Helper()
	box := connectortest.StartSandbox(t)
	box.Settings(t, h.Sandbox, map[string]time.Duration{"index_lag": lag})
	other, r := actOnce(t, box, h, "") // somebody else's, in the same place
	if r.Outcome != operation.OutcomeConfirmed {
		t.Fatalf("%s %+v", r.Outcome, r.Proof)
	}
	o, r := actOnce(t, box, h, "drop_after_execute")
	if r.Outcome != operation.OutcomeUnknown {
		t.Fatalf("%s %+v", r.Outcome, r.Proof)
	}
	c := h.Connect(t, h.In(box), nil)
	if f := c.Lookup(context.Background(), connectortest.Lookup(o)); f.Result != operation.LookupNone {
		t.Errorf("before the lag: %+v", f)
	}
	box.Advance(t, lag+time.Second)
	f := c.Lookup(context.Background(), connectortest.Lookup(o))
	ledger := box.Ledger(t, h.Sandbox, string(o.Operation))
	if f.Result != operation.LookupOne || len(ledger) != 1 || f.ID != ledger[0].ID {
		t.Errorf("after the lag: %+v, ledger %+v", f, ledger)
	}
	if f := c.Lookup(context.Background(), connectortest.Lookup(other)); f.Result != operation.LookupOne || f.ID == ledger[0].ID {
		t.Errorf("the other's: %+v", f)
	}
	if f := c.Lookup(context.Background(), connector.LookupOrder{Operation: "op_00000000000000000000000000", Action: h.Action, Content: o.Content}); f.Result != operation.LookupNone {
		t.Errorf("of nobody: %+v", f)
	}
}

// Only Resend has a key: the same bytes give the same mail, and other bytes are refused.
// Everywhere else a repeat is a second mail, and the profile says so.
func TestOnlyResendIsProtected(t *testing.T) {
	for name, h := range mails(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			box := connectortest.StartSandbox(t)
			a, err := h.Profile.Action(h.Action)
			if err != nil {
				t.Fatal(err)
			}
			o, first := actOnce(t, box, h, "drop_after_execute")
			c := h.Connect(t, h.In(box), nil)
			again := c.Act(context.Background(), o)
			n := len(box.Ledger(t, h.Sandbox, string(o.Operation)))
			if first.Outcome != operation.OutcomeUnknown || again.Outcome != operation.OutcomeConfirmed {
				t.Errorf("%s, then %s %+v", first.Outcome, again.Outcome, again.Proof)
			}
			if h.Unguarded {
				if p := a.Protection(); p.Key || n != 2 {
					t.Errorf("%+v, %d effects", p, n)
				}
				return
			}
			if p := a.Protection(); !p.Key || p.Retention != 24*time.Hour || p.Proven || !p.Concurrency || n != 1 {
				t.Errorf("%+v, %d effects", p, n)
			}
			o.Request.Body = strings.Replace(o.Request.Body, "Good", "Bad", 1)
			if r := c.Act(context.Background(), o); r.Outcome != operation.OutcomeUnknown || !r.Mismatch {
				t.Errorf("other bytes with the same key: %s %+v", r.Outcome, r.Proof)
			}
		})
	}
}
