package connector_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"holdpoint/connector"
	"holdpoint/connector/connectortest"
	"holdpoint/operation"
	"holdpoint/operation/definition"
)

const mailRule = `- {confirmed: "${status == 250}"}`

// mailWith parses the suite's mail profile with another outcome rule and a link.
func mailWith(t *testing.T, rule string) connectortest.Harness {
	t.Helper()
	h := connectortest.Destination(t, "smtp")
	src := bytes.Replace(h.Profile.Source, []byte(mailRule), []byte(rule), 1)
	src = append(src, "    reference: {id: \"${operation_id}\", url: \"${'https://log.example/?q=' + operation_id}\"}\n"...)
	p, err := definition.ParseProfile("smtp.yaml", src)
	if err != nil {
		t.Fatal(err)
	}
	h.Profile = p
	return h
}

func TestMailRulesMayOnlyBeStricter(t *testing.T) {
	t.Parallel()
	box := connectortest.StartSandbox(t)
	act := func(rule string) (connector.Order, operation.Result) {
		h := mailWith(t, rule)
		o := h.Order(t, box.SMTP)
		return o, h.Connect(t, box.SMTP, nil).Act(context.Background(), o)
	}
	o, r := act(mailRule)
	if r.Outcome != operation.OutcomeConfirmed || r.TargetURL != "https://log.example/?q="+string(o.Operation) || r.TargetReference != string(o.Operation)+"@sender.test" {
		t.Errorf("a plain 250: %+v", r)
	}
	if _, r = act(`- {confirmed: "${status == 250 && body.contains('delivered')}"}`); r.Outcome != operation.OutcomeUnknown || r.TargetReference != "" {
		t.Errorf("a 250 that the profile does not take: %+v", r)
	}
	box.Fault(t, connectortest.Fault{Destination: "smtp", Fault: "drop_after_execute"})
	if _, r = act(`- {confirmed: "${true}"}`); r.Outcome != operation.OutcomeUnknown {
		t.Errorf("a rule confirmed without an answer: %+v", r)
	}
}

func TestNewRefusesAPlaceThatIsMissing(t *testing.T) {
	t.Parallel()
	h := connectortest.Destination(t, "smtp")
	none := func(string) (string, bool) { return "", false }
	if _, err := connector.New(h.Profile, none); err == nil || !strings.Contains(err.Error(), "smtp") {
		t.Errorf("error %v", err)
	}
	other := *h.Profile
	other.Kind = "ftp"
	if _, err := connector.New(&other, none); err == nil {
		t.Error("a kind that does not exist was accepted")
	}
}
