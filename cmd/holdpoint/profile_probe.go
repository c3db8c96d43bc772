package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"holdpoint/connector"
	"holdpoint/connector/probe"
	"holdpoint/operation"
	"holdpoint/operation/definition"
	"holdpoint/store"
)

type profileProbeCmd struct {
	File        string            `arg:"" help:"The profile."`
	Action      string            `required:"" help:"The action to probe."`
	Content     string            `required:"" placeholder:"FILE.json" help:"Content of the requests; its effects will exist on the test account."`
	Other       string            `placeholder:"FILE.json" help:"Other content, to see what the same key with other parameters gets."`
	TargetRef   map[string]string `placeholder:"STAGE=REFERENCE" help:"Target references of earlier stages that the request holds."`
	Environment string            `default:"test" help:"The profile's environment. Anything but test must be named here."`
	Patience    time.Duration     `default:"2m" help:"How long to wait for a lookup that is behind."`
	Yes         bool              `help:"Do not ask before the requests are sent."`
	NoRecord    bool              `help:"Do not record the result, even where there is a database."`
}

// Run probes, says what was shown, and records it where there is a database.
func (c profileProbeCmd) Run(s *Settings) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	raw, err := os.ReadFile(c.File)
	if err != nil {
		return err
	}
	p, err := definition.ParseProfile(c.File, raw)
	if err != nil {
		return err
	}
	if p.Environment != c.Environment {
		return fmt.Errorf("the profile's environment is %q: a probe makes real effects. If that is meant, say --environment %s", p.Environment, p.Environment)
	}
	plan, err := c.plan(p)
	if err != nil {
		return err
	}
	if err := c.confirm(p, os.Stdin, os.Stderr); err != nil {
		return err
	}
	v, err := probe.Run(ctx, plan)
	if err != nil {
		return err
	}
	now := time.Now().UTC()
	writeVerdict(os.Stdout, p, plan.Action, v, now)
	if err := c.record(ctx, s, p, v); err != nil {
		return err
	}
	if v.Result != operation.ProbeHeld {
		return probeEnd(v.Result)
	}
	return nil
}

// probeEnd is the end of a probe that did not show that the protection holds: exit code
// 2 if it does not hold, 3 if that is unclear.
type probeEnd operation.ProbeResult

// Error says the result.
func (e probeEnd) Error() string {
	if operation.ProbeResult(e) == operation.ProbeBroken {
		return "the protection does NOT hold"
	}
	return "nothing was shown"
}

// ExitCode tells the results apart.
func (e probeEnd) ExitCode() int {
	if operation.ProbeResult(e) == operation.ProbeBroken {
		return 2
	}
	return 3
}

func (c profileProbeCmd) plan(p *definition.Profile) (probe.Plan, error) {
	a, err := p.Action(c.Action)
	if err != nil {
		return probe.Plan{}, err
	}
	plan := probe.Plan{Action: a, Env: os.LookupEnv, References: c.TargetRef, Patience: c.Patience}
	if plan.Content, err = readContent(c.Content); err != nil {
		return plan, err
	}
	if c.Other != "" {
		if plan.Other, err = readContent(c.Other); err != nil {
			return plan, err
		}
	}
	plan.Connector, err = connector.New(p, os.LookupEnv)
	return plan, err
}

// readContent reads one strict JSON object.
func readContent(name string) (map[string]any, error) {
	raw, err := readNamed(name)
	if err != nil {
		return nil, err
	}
	v, err := definition.DecodeJSON(raw)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	m, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("%s: it is not a JSON object", name)
	}
	return m, nil
}

// confirm asks whoever sits at the terminal.
func (c profileProbeCmd) confirm(p *definition.Profile, in *os.File, out io.Writer) error {
	if c.Yes {
		return nil
	}
	if info, err := in.Stat(); err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return errors.New("this sends real requests; without a terminal say --yes")
	}
	fmt.Fprintf(out, "This sends %s to %s (account %s, environment %s) several times, and makes real effects there.\nType yes to go on: ", c.Action, p.Title.In("en"), p.Account, p.Environment)
	line, _ := bufio.NewReader(in).ReadString('\n')
	if strings.TrimSpace(line) != "yes" {
		return errors.New("nothing was sent. Where nobody sits at a terminal, say --yes")
	}
	return nil
}

// writeVerdict prints the statement and, if the protection holds, the line for the file.
func writeVerdict(w io.Writer, p *definition.Profile, a *definition.Action, v probe.Verdict, at time.Time) {
	fmt.Fprintf(w, "Probe of %s / %s on %s (account %s, environment %s, profile %x)\n\n", p.Destination, a.Name, at.Format("2006-01-02 15:04 UTC"), p.Account, p.Environment, p.Hash[:6])
	for _, s := range v.Steps {
		fmt.Fprintf(w, "  %-9s %-8s %s", s.Name, s.Result, s.Says)
		if s.Reference != "" {
			fmt.Fprintf(w, " [%d, %s]", s.Status, s.Reference)
		} else if s.Status > 0 {
			fmt.Fprintf(w, " [%d]", s.Status)
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "\nKeys used: %s\n", strings.Join(v.Keys, ", "))
	switch v.Result {
	case operation.ProbeHeld:
		fmt.Fprintf(w, "\nThe protection HELD: one effect for each key.\n")
		if a.Protection().Key {
			fmt.Fprintf(w, "Put this into the action's protection:\n\n      proven: {on: %s, by: holdpoint profile probe}\n", at.Format(time.DateOnly))
		}
	case operation.ProbeBroken:
		fmt.Fprintf(w, "\n*** NOT PROTECTED: the same key made more than one effect. ***\nTake proven out of the action's protection. A time-out must not be repeated here.\nRemove the surplus effects from the test account.\n")
	default:
		fmt.Fprintf(w, "\nUNCLEAR: it is not shown whether the protection holds. It counts as not proven.\n")
	}
}

// record stores the probe where there is a database.
func (c profileProbeCmd) record(ctx context.Context, s *Settings, p *definition.Profile, v probe.Verdict) error {
	if c.NoRecord {
		return nil
	}
	if _, err := s.findDatabase(); err != nil {
		fmt.Println("\nNot recorded: " + err.Error())
		return nil
	}
	st, err := s.record(ctx)
	if err != nil {
		return fmt.Errorf("the probe is not recorded: %w", err)
	}
	defer st.Close()
	id, err := st.AddProbe(context.WithoutCancel(ctx), store.System("command"), store.Probe{Destination: p.Destination, Action: c.Action, Account: p.Account, Environment: p.Environment,
		ProfileHash: p.Hash, Result: v.Result, Steps: v.Steps})
	if err != nil {
		return fmt.Errorf("the probe is not recorded: %w", err)
	}
	fmt.Printf("\nRecorded as %s.\n", id)
	return nil
}
