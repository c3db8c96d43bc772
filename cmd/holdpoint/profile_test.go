package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"holdpoint/connector/connectortest"
	"holdpoint/store/storetest"
	"holdpoint/systems"
)

func TestProfileCheck(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	billing := filepath.Join("demo", "profiles", "billing.yaml")
	out := h.must("profile", "check", billing)
	for _, want := range []string{"billing.yaml is valid", "create_coupon", "create_invoice", "repeated with the same key for 23 h (24 h published", "A miss is not a proof"} {
		if !strings.Contains(strings.Join(strings.Fields(out), " "), want) {
			t.Errorf("%q is missing in\n%s", want, out)
		}
	}
	for line := range strings.Lines(out) {
		if strings.HasPrefix(line, "  ") && len(line) > 110 {
			t.Errorf("a line of %d: %s", len(line), line)
		}
	}
	bad := filepath.Join(t.TempDir(), "bad.yaml")
	raw, err := os.ReadFile(billing)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(bad, []byte(strings.Replace(string(raw), "retention: 24h", "retention: 24h\n      retentoin: 1h", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	out, errs, code := h.run("profile", "check", bad, billing)
	if code != 1 || !strings.Contains(errs, "bad.yaml:") || !strings.Contains(errs, "retentoin") || !strings.Contains(out, "billing.yaml is valid") {
		t.Errorf("%d\n%s\n%s", code, errs, out)
	}
}

func TestProfileCheckNamesAnAddressThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	raw, err := fs.ReadFile(systems.Profiles(), "resend.yaml")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "resend.yaml")
	plain := strings.Replace(string(raw), `base_url: ${env("RESEND_URL")}`, "base_url: http://${env(\"RESEND_HOST\")}", 1)
	if plain == string(raw) {
		t.Fatal("the profile has another base_url")
	}
	if err := os.WriteFile(file, []byte(plain), 0o600); err != nil {
		t.Fatal(err)
	}
	out, errs, code := h.run("profile", "check", file)
	line := strconv.Itoa(1 + strings.Count(plain[:strings.Index(plain, "\nbase_url:")+1], "\n"))
	if code != 1 || !strings.Contains(errs, "resend.yaml:"+line+": base_url: ") || !strings.Contains(errs, "local: true") || strings.Contains(out, "is valid") {
		t.Errorf("%d\n%s\n%s", code, errs, out)
	}
}

func TestProfileListAndShow(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	list := h.must("profile", "list")
	said := map[string]bool{}
	for line := range strings.Lines(list) {
		kind, says := line[:12], line[34:]
		if said[kind+says] {
			t.Errorf("two have the same words: %s", line)
		}
		said[kind+says] = true
	}
	names, err := fs.Glob(systems.Profiles(), "*.yaml")
	if err != nil || len(names) < 3 {
		t.Fatalf("%v %v", names, err)
	}
	for _, n := range names {
		name := strings.TrimSuffix(n, ".yaml")
		if !strings.Contains(list, " "+name+" ") {
			t.Errorf("%s is not listed:\n%s", name, list)
		}
		want, err := fs.ReadFile(systems.Profiles(), n)
		if err != nil {
			t.Fatal(err)
		}
		if got := h.must("profile", "show", name); got != string(want) {
			t.Errorf("%s is not shown as it is", name)
		}
	}
	if _, errs, code := h.run("profile", "show", "../profile"); code != 1 || !strings.Contains(errs, "profile list") {
		t.Errorf("%d %s", code, errs)
	}
}

// The probe says what the ledger says, asks before it sends, and is recorded.
func TestProfileProbe(t *testing.T) {
	t.Parallel()
	sb := connectortest.StartSandbox(t)
	owner, app := storetest.NewDB(t)
	_ = owner
	h := newHouse(t, "DATABASE_URL="+app, "SANDBOX_URL="+sb.URL, "SANDBOX_TOKEN=demo")
	dir := t.TempDir()
	content := filepath.Join(dir, "content.json")
	if err := os.WriteFile(content, []byte(`{"customer": "cus_1", "amount": 500, "currency": "eur", "description": "Probe"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	billing := filepath.Join("demo", "profiles", "billing.yaml")
	args := []string{"profile", "probe", billing, "--action", "create_invoice", "--content", content}
	if _, errs, code := h.run(args...); code != 1 || !strings.Contains(errs, "--yes") {
		t.Errorf("without asking: %d %s", code, errs)
	}
	raw, err := os.ReadFile(billing)
	if err != nil {
		t.Fatal(err)
	}
	live := filepath.Join(dir, "live.yaml")
	if err := os.WriteFile(live, []byte(strings.Replace(string(raw), "environment: test", "environment: production", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, errs, code := h.run("profile", "probe", live, "--action", "create_invoice", "--content", content, "--yes"); code != 1 || !strings.Contains(errs, "--environment production") {
		t.Errorf("production: %d %s", code, errs)
	}
	if n := len(sb.Ledger(t, "billing", "")); n != 0 {
		t.Fatalf("%d effects before anybody agreed", n)
	}
	out, errs, code := h.run(append(args, "--yes")...)
	if code != 0 || !strings.Contains(out, "HELD") || !strings.Contains(out, "proven: {on: 20") || !strings.Contains(out, "Recorded as prb_") {
		t.Errorf("%d %s %s", code, out, errs)
	}
	sb.Fault(t, connectortest.Fault{Destination: "billing", Fault: "ignore_idempotency", Times: connectortest.Forever})
	out, errs, code = h.run(append(args, "--yes")...)
	if code != 2 || !strings.Contains(out, "NOT PROTECTED") || strings.Contains(out, "proven: {on") {
		t.Errorf("%d %s %s", code, out, errs)
	}
	if out, _, code = h.run(append(args, "--yes", "--no-record")...); code != 2 || strings.Contains(out, "Recorded") {
		t.Errorf("%d %s", code, out)
	}
}
