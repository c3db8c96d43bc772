package drill

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"holdpoint/operation"
	"holdpoint/operation/definition"
	"holdpoint/store"
)

// acceptPace is how fast an acceptance runs what profiles document in minutes and hours.
var acceptPace = definition.Pace{Retention: 3 * time.Second, Settle: 300 * time.Millisecond, Retry: 200 * time.Millisecond, Lag: 200 * time.Millisecond}

// acceptLimit is how long one case may take for one stage.
const acceptLimit = 40 * time.Second

// acceptance is a rig with the definitions under acceptance in it.
type acceptance struct {
	*rig
	plan      operation.AcceptancePlan
	flow      *definition.Flow
	dests     map[string]*destination
	everybody []store.Actor // the declared test people
	names     []string
	changed   []operation.AcceptanceChange
	patience  time.Duration // see stuckAfter
}

// destination is one destination of the flow, as the rehearsal runs it.
type destination struct {
	profile *definition.Profile
	gate    *gate
	part    string // of the sandbox that plays it; "" = the test destination itself
}

// lag is how far the lookups of the test destination itself may be behind; the sandbox's
// ledger never is.
func (d *destination) lag(action string) time.Duration {
	if d.part != "" {
		return 0
	}
	a, err := d.profile.Action(action)
	if err != nil {
		return 0
	}
	return a.Protection().LookupLag
}

// Accept runs the six cases with the flow and the profiles of a plan, in an installation
// of their own. note is told of each case that ended. The error concerns the run itself;
// a case that failed is on the sheet.
func Accept(ctx context.Context, o Options, program string, plan operation.AcceptancePlan, note func(operation.AcceptanceCase)) (operation.AcceptanceSheet, error) {
	sheet := operation.AcceptanceSheet{Format: operation.AcceptanceFormat, ID: plan.ID, Program: program, Input: plan.Input,
		Flow: withoutSource(plan.Flow), Began: time.Now().UTC(), Changed: []operation.AcceptanceChange{}}
	for _, d := range plan.Destinations {
		sheet.Destinations = append(sheet.Destinations, withoutSource(d))
	}
	a, err := startAcceptance(ctx, o, plan)
	defer a.close()
	if ctx.Err() != nil {
		return sheet, ctx.Err()
	}
	if err != nil {
		return sheet, err
	}
	sheet.Changed, sheet.People = append(sheet.Changed, a.changed...), a.names
	for _, c := range acceptCases {
		res := a.try(ctx, c)
		if ctx.Err() != nil {
			return sheet, ctx.Err()
		}
		sheet.Cases = append(sheet.Cases, res)
		note(res)
	}
	sheet.Ended = time.Now().UTC()
	return sheet, nil
}

func withoutSource(f operation.AcceptanceFile) operation.AcceptanceFile {
	f.Source = ""
	return f
}

// startAcceptance brings everything up. What it gives must be closed, also with an error.
func startAcceptance(ctx context.Context, o Options, plan operation.AcceptancePlan) (*acceptance, error) {
	a := &acceptance{plan: plan, dests: map[string]*destination{}, patience: stuckAfter}
	if err := a.checkPlan(); err != nil {
		return a, err
	}
	r, err := raise(ctx, o)
	a.rig = r
	if err != nil {
		return a, err
	}
	for _, part := range []string{"billing", "mail"} {
		if err := a.box.retention(ctx, part, acceptPace.Retention.String()); err != nil {
			return a, err
		}
	}
	for _, part := range []string{"crm", "billing", "mail"} {
		if err := a.box.behind(ctx, part, "0s"); err != nil {
			return a, err
		}
	}
	files, err := a.definitions()
	if err != nil {
		return a, err
	}
	if err := a.migrate(ctx); err != nil {
		return a, err
	}
	if err := a.invite(ctx); err != nil {
		return a, err
	}
	if _, err := a.store.Apply(ctx, store.System("command"), files); err != nil {
		return a, fmt.Errorf("apply the definitions under acceptance: %w", err)
	}
	if err := a.serve(ctx); err != nil {
		return a, err
	}
	return a, a.work(2)
}

// checkPlan refuses bytes that are not those the plan names.
func (a *acceptance) checkPlan() (err error) {
	for _, f := range append([]operation.AcceptanceFile{a.plan.Flow}, a.plan.Destinations...) {
		sum := sha256.Sum256([]byte(f.Source))
		if hex.EncodeToString(sum[:]) != f.Hash {
			return fmt.Errorf("%s: these are not the bytes of version %d", f.Name, f.Version)
		}
	}
	if len(a.plan.Destinations) == 0 {
		return errors.New("the plan names no destination")
	}
	if a.flow, err = definition.ParseFlow(a.plan.Flow.Name, []byte(a.plan.Flow.Source)); err != nil {
		return err
	}
	for _, st := range a.flow.Stages {
		if st.ForEach != nil {
			return fmt.Errorf("stage %s makes a batch of a list (for_each): the six cases are about one operation for each stage; run them with a copy of the flow whose stage stands without for_each", st.Key)
		}
	}
	return nil
}

// definitions gives the files to apply: the source as it is, the flow without notices,
// the profiles with a gate before each destination.
func (a *acceptance) definitions() ([]store.File, error) {
	flow, changed, err := definition.RehearseFlow(a.plan.Flow.Name, []byte(a.plan.Flow.Source))
	if err != nil {
		return nil, err
	}
	a.note(a.plan.Flow.Name, changed)
	files := []store.File{{Name: a.plan.Flow.Name, Source: flow}, {Name: a.plan.Source.Name, Source: []byte(a.plan.Source.Source)}}
	for _, d := range a.plan.Destinations {
		p, err := definition.ParseProfile(d.Name, []byte(d.Source))
		if err != nil {
			return nil, err
		}
		if !p.IsTest() || p.Kind != operation.RequestHTTP || p.PerformedBy != definition.JobsPerform {
			return nil, fmt.Errorf("destination %s: an acceptance runs with test destinations over HTTP that our jobs perform", d.Name)
		}
		base, err := p.Base(a.env)
		if err != nil {
			return nil, fmt.Errorf("destination %s: %w", d.Name, err)
		}
		g, err := openGate(base)
		if err != nil {
			return nil, err
		}
		dest := &destination{gate: g}
		a.dests[d.Name] = dest
		if rest, ok := strings.CutPrefix(base, a.box.url+"/"); ok {
			dest.part, _, _ = strings.Cut(rest, "/")
		}
		pace := acceptPace
		if dest.part == "" {
			pace.Lag = 0 // its index is as late as it is: asked sooner, it would hide an effect
		}
		src, changed, err := definition.RehearseProfile(d.Name, []byte(d.Source), g.url, pace)
		if err != nil {
			return nil, err
		}
		a.note(d.Name, changed)
		if dest.profile, err = definition.ParseProfile(d.Name, src); err != nil {
			return nil, err
		}
		files = append(files, store.File{Name: d.Name, Source: src})
	}
	return files, nil
}

func (a *acceptance) note(file string, changed []definition.Change) {
	for _, c := range changed {
		a.changed = append(a.changed, operation.AcceptanceChange{File: file, Field: c.Field, From: c.From, To: c.To})
	}
}

// env is the environment of the rehearsal: the sandbox is its own.
func (a *acceptance) env(name string) (string, bool) {
	switch name {
	case "SANDBOX_URL":
		return a.box.url, true
	case "SANDBOX_TOKEN":
		return "drill", true
	}
	return os.LookupEnv(name)
}

// invite makes the declared test people: enough of each role that every quorum can be
// reached, and one for each person whom the flow names.
func (a *acceptance) invite(ctx context.Context) error {
	need := 2
	for _, st := range a.flow.Stages {
		need = max(need, st.Approval.Required, len(st.Approval.Groups)*2)
	}
	for _, role := range []operation.Role{operation.RoleOpsOwner, operation.RoleApprover, operation.RoleAuthor, operation.RoleAdmin} {
		for n := range need + 1 {
			address := fmt.Sprintf("%s-%d@acceptance.test", strings.ReplaceAll(string(role), "_", "-"), n+1)
			if err := a.add(ctx, address, fmt.Sprintf("Test %s %d", role, n+1), role); err != nil {
				return err
			}
		}
	}
	a.people["ops"] = a.everybody[0]
	seen := map[string]bool{}
	for _, s := range a.selectors() {
		if s.User == "" || seen[s.User] {
			continue
		}
		seen[s.User] = true
		if err := a.add(ctx, s.User, "Test person for "+s.User, s.Role); err != nil {
			return err
		}
	}
	return nil
}

func (a *acceptance) add(ctx context.Context, address, name string, role operation.Role) error {
	u := store.NewUser{Email: address, Name: name}
	if role != "" {
		u.Roles = []store.RoleGrant{{Role: role}}
	}
	link, err := a.store.AddUser(ctx, store.System("command"), u)
	if err != nil {
		return fmt.Errorf("add %s: %w", name, err)
	}
	a.everybody, a.names = append(a.everybody, store.Person(link.User, name, "command")), append(a.names, name)
	return nil
}

// selectors are all places at which the flow may name a person.
func (a *acceptance) selectors() []operation.Selector {
	f := a.flow
	all := []operation.Selector{f.Owner, f.Author, f.Reviewer, f.Reexecution.Approvers}
	for _, st := range f.Stages {
		all = append(all, st.Approval.Approvers)
		for _, g := range st.Approval.Groups {
			all = append(all, g.Approvers)
		}
	}
	return all
}

// close ends everything, also what is only half there.
func (a *acceptance) close() {
	for _, d := range a.dests {
		d.gate.close()
	}
	a.rig.close()
}

// ReadPlan reads a plan from a file.
func ReadPlan(path string) (operation.AcceptancePlan, error) {
	var plan operation.AcceptancePlan
	raw, err := os.ReadFile(path)
	if err != nil {
		return plan, err
	}
	return plan, json.Unmarshal(raw, &plan)
}
