package drill

import (
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

// accept runs a whole plan with the programs under test.
func accept(t *testing.T, plan operation.AcceptancePlan) []operation.AcceptanceCase {
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
	if !sheet.Passed() || !sheet.Fits(plan) || !slices.Equal(told, operation.AcceptanceCases) {
		t.Errorf("the sheet passed: %v, fits: %v; told of %v\n%s", sheet.Passed(), sheet.Fits(plan), told, log.String())
	}
	if _, _, err := sheet.Encode(); err != nil {
		t.Error(err)
	}
	return sheet.Cases
}

// acceptOnly runs a few cases of a plan. It gives them, and what the rehearsal changed.
func acceptOnly(t *testing.T, plan operation.AcceptancePlan, keys ...string) ([]operation.AcceptanceCase, []operation.AcceptanceChange) {
	t.Helper()
	o, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	var log tail
	o.Log = &log
	a, err := startAcceptance(t.Context(), o, plan)
	defer a.close()
	if err != nil {
		t.Fatalf("%v\n%s", err, log.String())
	}
	a.patience = time.Second
	var out []operation.AcceptanceCase
	for _, c := range acceptCases {
		if slices.Contains(keys, c.key) {
			out = append(out, a.try(t.Context(), c))
		}
	}
	return out, a.changed
}

// TestAcceptFlows accepts one flow whole, and with the others the cases that depend on
// what their destinations offer.
func TestAcceptFlows(t *testing.T) {
	t.Parallel()
	depends := []string{"timeout_after_success", "expired_key"}
	for _, c := range []struct {
		flow         string
		destinations []string
		only         []string // nil = all
		expired      []string // attempts of the case with the expired key, of the first stage
	}{
		{"campaign-follow-up", []string{"crm", "mail"}, nil, []string{"first unknown"}},
		{"plain-note", []string{"plain"}, depends, []string{"first unknown", "reexecution confirmed"}},
		{"newsletter-coupon", []string{"billing"}, depends, []string{"first unknown"}},
	} {
		t.Run(c.flow, func(t *testing.T) {
			t.Parallel()
			plan := demoPlan(t, c.flow, c.destinations...)
			var cases []operation.AcceptanceCase
			if c.only == nil {
				cases = accept(t, plan)
			} else if cases, _ = acceptOnly(t, plan, c.only...); len(cases) != len(c.only) {
				t.Fatalf("%d cases were run", len(cases))
			}
			for _, x := range cases {
				if !x.Passed {
					t.Errorf("%s: %+v\n%+v\n%+v", x.Key, x.Failures, x.Steps, x.Found)
				}
				if len(x.Found) != len(c.destinations) {
					t.Errorf("%s: %d operations were found", x.Key, len(x.Found))
				}
				for _, f := range x.Found {
					if f.Effects != 1 || f.CountedBy != operation.CountedByLedger || f.Target == "" || f.Sent == "" || f.History == "" {
						t.Errorf("%s: %+v", x.Key, f)
					}
				}
			}
			if last := cases[len(cases)-1]; len(last.Found) == 0 || !slices.Equal(last.Found[0].Attempts, c.expired) {
				t.Errorf("with an expired key: %+v", last.Found)
			}
		})
	}
}

// changed gives a file with other words in it, each of which it must hold.
func changed(t *testing.T, f operation.AcceptanceFile, words ...string) operation.AcceptanceFile {
	t.Helper()
	for i := 0; i+1 < len(words); i += 2 {
		if !strings.Contains(f.Source, words[i]) {
			t.Fatalf("%s does not say %q", f.Name, words[i])
		}
	}
	f.Source = strings.NewReplacer(words...).Replace(f.Source)
	sum := sha256.Sum256([]byte(f.Source))
	f.Hash = hex.EncodeToString(sum[:])
	return f
}

// TestAcceptRealDestination accepts a flow whose destination is not played by the
// rehearsal's sandbox: a service with a place, a credential and an index that is behind of
// its own. Its own lookup counts the effects.
func TestAcceptRealDestination(t *testing.T) {
	t.Parallel()
	o, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	var log tail
	there, err := startBox(t.Context(), o.Sandbox, &log)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(there.kill)
	const behind = 700 * time.Millisecond // and the product asks no sooner than documented
	if err := there.behind(t.Context(), "crm", behind.String()); err != nil {
		t.Fatal(err)
	}
	plan := demoPlan(t, "partner-task", "crm")
	plan.Flow = changed(t, plan.Flow, "destination: partner", "destination: crm")
	plan.Destinations[0] = changed(t, plan.Destinations[0], `${env("SANDBOX_URL") + "/crm"}`, there.url+"/crm", "SANDBOX_TOKEN", realKeyEnv,
		`"/tasks/by-reference/{operation_id}"`, `/tasks, query: {reference: "{operation_id}"}`, `status in [200, 300]`, "status == 200",
		`${status == 404 && body.category == "OBJECT_NOT_FOUND"}`, "${body.total == 0}", "status == 300 ? body.results : [body]", "body.results", "lag: 15s", "lag: 800ms")
	keys := operation.AcceptanceCases[:5] // the sixth waits long for a silent lookup, and TestAcceptFlows has it
	cases, others := acceptOnly(t, plan, keys...)
	if len(cases) != len(keys) {
		t.Fatalf("%d cases were run", len(cases))
	}
	for _, c := range others {
		if strings.Contains(c.Field, "lag") {
			t.Errorf("its index is as late as it is, and yet: %+v", c)
		}
	}
	for _, x := range cases {
		if !x.Passed || len(x.Found) != 1 {
			t.Errorf("%s: %+v\n%+v\n%+v", x.Key, x.Failures, x.Steps, x.Found)
			continue
		}
		f := x.Found[0]
		effects, err := there.ledger(t.Context(), "crm", f.Operation)
		if err != nil || len(effects) != 1 || f.Effects != 1 || f.CountedBy != operation.CountedByLookup || f.Target != effects[0].ID || f.Sent != effects[0].RequestHash {
			t.Errorf("%s: the sheet shows %+v, the destination's ledger %+v (%v)", x.Key, f, effects, err)
		}
		sends, err := there.sends(t.Context(), "crm", f.Operation)
		if err != nil || len(sends) != 1 || sends[0].Headers.Get("Authorization") == "" {
			t.Errorf("%s: the destination received %+v (%v)", x.Key, sends, err)
		}
	}
}

// TestAcceptanceFindsABadProfile accepts a profile that does not know its destination's
// answer to a success: the sheet must say that the case does not pass, and soon.
func TestAcceptanceFindsABadProfile(t *testing.T) {
	t.Parallel()
	plan := demoPlan(t, "plain-note", "plain")
	plan.Destinations[0] = changed(t, plan.Destinations[0], "status == 201 && has(body.id)", "status == 299")
	cases, _ := acceptOnly(t, plan, "normal")
	res := cases[0]
	if res.Passed || len(res.Failures) == 0 || res.Failures[0].Code != "broke_off" && res.Failures[0].Code != "attempts" {
		t.Errorf("it passed: %+v", res)
	}
	if len(res.Found) != 1 || res.Found[0].State != operation.Review || !slices.Equal(res.Found[0].Attempts, []string{"first unknown"}) || res.Found[0].Effects != 1 {
		t.Errorf("the sheet shows %+v", res.Found)
	}
	if took := res.Ended.Sub(res.Began); took > acceptLimit {
		t.Errorf("it took %s to see that nothing more comes", took)
	}
}

func TestAcceptanceRefusesOtherBytes(t *testing.T) {
	t.Parallel()
	plan := demoPlan(t, "plain-note", "plain")
	plan.Destinations[0].Source += "\n"
	if _, err := startAcceptance(t.Context(), Options{}, plan); err == nil || !strings.Contains(err.Error(), "not the bytes") {
		t.Errorf("other bytes: %v", err)
	}
}

// A flow that fans out is refused before anything is started, with what can be done instead.
func TestAcceptanceRefusesLists(t *testing.T) {
	t.Parallel()
	plan := demoPlan(t, "spring-mailing", "mail")
	if _, err := startAcceptance(t.Context(), Options{}, plan); err == nil || !strings.Contains(err.Error(), "without for_each") {
		t.Errorf("a list: %v", err)
	}
}
