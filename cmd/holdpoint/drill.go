package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"holdpoint/cmd/holdpoint/drill"
)

type drillCmd struct {
	Sandbox string `help:"The sandbox program. Default: sandbox beside this program, or built from the checkout."`
	JSON    bool   `help:"Write only JSON to standard output."`
	Plan    string `hidden:"" help:"Run an acceptance as this file says, and write it as JSON Lines."`
	Verbose bool   `help:"Show what the processes write, on standard error."`
}

// Run runs the six acceptance cases beside everything else: on a PostgreSQL, a sandbox,
// a server and two workers of its own, which it ends and removes, also on Ctrl-C.
func (c drillCmd) Run() error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	o := drill.Options{Sandbox: c.Sandbox, Log: io.Discard, Progress: func(r drill.Result) {
		word := "passed"
		if !r.Passed {
			word = "FAILED"
		}
		fmt.Fprintf(os.Stderr, "%s %s in %.1f s\n", r.Case, word, r.Took)
	}}
	if c.Verbose {
		o.Log = os.Stderr
	}
	if c.Plan != "" {
		o.Progress = nil
		return drill.WriteAcceptance(ctx, o, programName(), c.Plan, os.Stdout)
	}
	report, err := drill.Run(ctx, o)
	if errors.Is(err, context.Canceled) {
		return errors.New("the drill was stopped; nothing of it is left")
	}
	if err != nil {
		return err
	}
	if c.JSON {
		e := json.NewEncoder(os.Stdout)
		e.SetIndent("", "  ")
		err = e.Encode(report)
	} else {
		err = drill.WriteSheet(os.Stdout, report)
	}
	if err == nil && !report.Passed {
		err = errors.New("not every case passed")
	}
	return err
}
