package probe_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"holdpoint/connector/connectortest"
	"holdpoint/connector/probe"
	"holdpoint/operation"
)

func plan(t *testing.T, sb *connectortest.Sandbox, name string) probe.Plan {
	t.Helper()
	h := connectortest.Destination(t, name)
	a, err := h.Profile.Action(h.Action)
	if err != nil {
		t.Fatal(err)
	}
	return probe.Plan{Connector: h.Connect(t, h.In(sb), nil), Action: a, Env: h.Env(h.In(sb)), Content: h.Content(1), Other: h.Content(2), Patience: 30 * time.Second}
}

func shows(v probe.Verdict, step string) operation.ProbeResult {
	for _, s := range v.Steps {
		if s.Name == step {
			return s.Result
		}
	}
	return ""
}

// The ledger says how many effects there are; the probe must say the same.
func TestProbe(t *testing.T) {
	t.Parallel()
	sb := connectortest.StartSandbox(t)
	sb.Settings(t, "billing", map[string]time.Duration{"index_lag": 0})
	p := plan(t, sb, "billing")
	v, err := probe.Run(t.Context(), p)
	if err != nil || v.Result != operation.ProbeHeld || shows(v, "again") != operation.ProbeHeld || shows(v, "other") != operation.ProbeHeld {
		t.Fatalf("billing: %+v %v", v, err)
	}
	if n := len(sb.Ledger(t, "billing", "")); n != len(v.Keys) {
		t.Errorf("%d effects for %d keys", n, len(v.Keys))
	}
	for _, s := range v.Steps {
		if strings.Contains(s.Excerpt, connectortest.Secret) || s.Says == "" {
			t.Errorf("%+v", s)
		}
	}

	sb.Reset(t)
	sb.Fault(t, connectortest.Fault{Destination: "billing", Fault: "ignore_idempotency", Times: connectortest.Forever})
	v, err = probe.Run(t.Context(), p)
	if err != nil || v.Result != operation.ProbeBroken || shows(v, "again") != operation.ProbeBroken {
		t.Errorf("a destination that ignores the key: %+v %v", v, err)
	}
	if n := len(sb.Ledger(t, "billing", "")); n <= len(v.Keys) {
		t.Errorf("the ledger shows only %d effects: the test shows nothing", n)
	}

	sb.Reset(t)
	sb.Fault(t, connectortest.Fault{Destination: "billing", Fault: "drop_after_execute"})
	v, err = probe.Run(t.Context(), p)
	if err != nil || v.Result != operation.ProbeUnclear || len(v.Steps) != 1 {
		t.Errorf("no answer: %+v %v", v, err)
	}
}

func TestProbeOfAUniqueReference(t *testing.T) {
	t.Parallel()
	sb := connectortest.StartSandbox(t)
	sb.Settings(t, "crm", map[string]time.Duration{"index_lag": 0})
	v, err := probe.Run(t.Context(), plan(t, sb, "crm"))
	if h := connectortest.Destination(t, "crm"); h.Profile.Actions[h.Action].Unique == "" {
		if !errors.Is(err, probe.ErrNothing) {
			t.Errorf("nothing to probe: %+v %v", v, err)
		}
	} else if err != nil || v.Result != operation.ProbeHeld || len(sb.Ledger(t, "crm", "")) != 1 {
		t.Errorf("%+v %v", v, err)
	}
	if _, err := probe.Run(t.Context(), plan(t, sb, "plain")); !errors.Is(err, probe.ErrNothing) {
		t.Errorf("plain: %v", err)
	}
	if n := len(sb.Ledger(t, "plain", "")); n != 0 {
		t.Errorf("%d requests left although there is nothing to probe", n)
	}
}
