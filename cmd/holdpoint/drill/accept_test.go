package drill

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"holdpoint/operation"
	"holdpoint/operation/definition"
)

// demoFile reads a definition of the demo.
func demoFile(t *testing.T, kind, name string) operation.AcceptanceFile {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "demo", kind, name+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(raw)
	return operation.AcceptanceFile{Name: name, Version: 1, Hash: hex.EncodeToString(sum[:]), Environment: "test", Source: string(raw)}
}

// demoPlan is the plan of an acceptance with a flow of the demo.
func demoPlan(t *testing.T, flow string, destinations ...string) operation.AcceptancePlan {
	t.Helper()
	p := operation.AcceptancePlan{ID: "acc_test", Flow: demoFile(t, "flows", flow)}
	p.Flow.Environment = ""
	f, err := definition.ParseFlow(flow, []byte(p.Flow.Source))
	if err != nil {
		t.Fatal(err)
	}
	p.Source = demoFile(t, "sources", f.Trigger.Source)
	for _, d := range destinations {
		p.Destinations = append(p.Destinations, demoFile(t, "profiles", d))
	}
	p.Input.Inputs, _ = definition.Sample(f.Inputs).(map[string]any)
	return p
}

// accept runs a plan with the programs under test.
func accept(t *testing.T, plan operation.AcceptancePlan) operation.AcceptanceSheet {
	t.Helper()
	o, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	var log tail
	o.Log = &log
	var told []string
	sheet, err := Accept(t.Context(), o, "test", plan, func(c operation.AcceptanceCase) { told = append(told, c.Key) })
	if err != nil {
		t.Fatalf("%v\n%s", err, log.String())
	}
	if !slices.Equal(told, operation.AcceptanceCases) {
		t.Errorf("told of %v", told)
	}
	for _, c := range sheet.Cases {
		t.Logf("%s took %s", c.Key, c.Ended.Sub(c.Began).Round(time.Millisecond))
	}
	if t.Failed() {
		t.Log(log.String())
	}
	return sheet
}

func TestAcceptFlows(t *testing.T) {
	for _, c := range []struct {
		flow         string
		destinations []string
		expired      []string // attempts of the case with the expired key, of the first stage
	}{
		{"plain-note", []string{"plain"}, []string{"first unknown", "reexecution confirmed"}},
		{"newsletter-coupon", []string{"billing"}, []string{"first unknown"}},
		{"campaign-follow-up", []string{"crm", "mail"}, []string{"first unknown"}},
	} {
		t.Run(c.flow, func(t *testing.T) {
			t.Parallel()
			plan := demoPlan(t, c.flow, c.destinations...)
			sheet := accept(t, plan)
			if !sheet.Passed() || !sheet.Fits(plan) {
				for _, x := range sheet.Cases {
					if !x.Passed {
						t.Errorf("%s: %+v", x.Key, x.Failures)
						t.Logf("%+v\n%+v", x.Steps, x.Found)
					}
				}
				t.Fatal("not every case passed")
			}
			for _, x := range sheet.Cases {
				for _, f := range x.Found {
					if f.Effects != 1 || f.CountedBy != operation.CountedByLedger || f.Target == "" || f.Sent == "" || f.History == "" {
						t.Errorf("%s: %+v", x.Key, f)
					}
				}
			}
			last := sheet.Cases[5].Found[0]
			if !slices.Equal(last.Attempts, c.expired) {
				t.Errorf("with an expired key: %v", last.Attempts)
			}
			if _, _, err := sheet.Encode(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestAcceptanceFindsABadProfile accepts a profile that calls a lost answer "nothing
// happened": the sheet must say that it does not pass.
func TestAcceptanceFindsABadProfile(t *testing.T) {
	plan := demoPlan(t, "plain-note", "plain")
	d := &plan.Destinations[0]
	d.Source = strings.Replace(d.Source, "status == 201 && has(body.id)", "status == 299", 1)
	sum := sha256.Sum256([]byte(d.Source))
	d.Hash = hex.EncodeToString(sum[:])
	o, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	a, err := startAcceptance(t.Context(), o, plan)
	defer a.close()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	res := a.try(ctx, acceptCases[0])
	if res.Passed || len(res.Failures) == 0 {
		t.Errorf("it passed: %+v", res)
	}
}

func TestAcceptanceRefusesOtherBytes(t *testing.T) {
	plan := demoPlan(t, "plain-note", "plain")
	plan.Destinations[0].Source += "\n"
	if _, err := startAcceptance(t.Context(), Options{}, plan); err == nil || !strings.Contains(err.Error(), "not the bytes") {
		t.Errorf("other bytes: %v", err)
	}
}
