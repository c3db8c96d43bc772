// Command holdpoint is the hold point of an automation: nothing with an effect on a
// customer passes it unless the operation's state and a person's approval permit it.
//
// It wires all rooms of the product together and may import all of them.
package main

import (
	"errors"
	"fmt"
	"os"
	"time"

	"holdpoint/operation/definition"
	"holdpoint/store"
	"holdpoint/views"
	"holdpoint/views/text"

	"github.com/alecthomas/kong"
)

//go:generate go run . config-doc ../../docs/configuration.md

// commands is the one list of commands.
type commands struct {
	Settings

	Serve      serveCmd      `cmd:"" help:"Serve pages, API and intake, and work on jobs."`
	Work       workCmd       `cmd:"" help:"Perform effects and lookups; any number may run."`
	Migrate    migrateCmd    `cmd:"" help:"Bring the database's schema to this program's version."`
	Apply      applyCmd      `cmd:"" help:"Take flows, destination profiles and sources into use."`
	User       userCmd       `cmd:"" help:"Manage people."`
	Profile    profileCmd    `cmd:"" help:"Check, probe and show destination profiles."`
	Run        runCmd        `cmd:"" help:"Run a command under the gate: for cron jobs and scripts."`
	Token      tokenCmd      `cmd:"" help:"Manage API tokens."`
	Figures    figuresCmd    `cmd:"" help:"Check or rebuild what the figures have counted ahead."`
	Verify     verifyCmd     `cmd:"" help:"Check the history against its chains and the signed checkpoints; prove that an operation is in one."`
	Erase      eraseCmd      `cmd:"" help:"Take the contents and attachments of one closed operation away, for a person's request."`
	Drill      drillCmd      `cmd:"" help:"Run the six acceptance cases with real processes and show the sheet."`
	Bench      benchCmds     `cmd:"" help:"Measure on a PostgreSQL of its own."`
	Checkpoint checkpointCmd `cmd:"" help:"Manage the key that signs checkpoints of the history."`
	Version    versionCmd    `cmd:"" help:"Say which version this is."`

	ConfigDoc configDocCmd `cmd:"" hidden:"" help:"Write docs/configuration.md."`
}

func main() {
	var c commands
	k := newParser(&c)
	ctx, err := k.Parse(os.Args[1:])
	k.FatalIfErrorf(err)
	if err := ctx.Run(&c.Settings, k); err != nil {
		var silent exit
		if errors.As(err, &silent) {
			os.Exit(silent.ExitCode())
		}
		fmt.Fprintln(os.Stderr, "holdpoint:", explain(err))
		os.Exit(exitCode(err))
	}
}

// exitCode is 1 for an error, unless the error has a code of its own.
func exitCode(err error) int {
	var own interface{ ExitCode() int }
	if errors.As(err, &own) {
		return own.ExitCode()
	}
	return 1
}

func newParser(c *commands) *kong.Kong {
	return kong.Must(c, kong.Name("holdpoint"), kong.UsageOnError(), kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.Description("The hold point of an automation. Every flag can be set by the environment variable that its help names."))
}

// explain says an error in the words of the command line.
func explain(err error) string {
	var invalid *store.Invalid
	var problems definition.Problems
	switch {
	case errors.As(err, &invalid):
		return sentence(invalid)
	case errors.As(err, &problems):
		return problems.Error()
	case errors.Is(err, store.ErrNotFound):
		return "not found: check the address, name or ID"
	}
	return err.Error()
}

// sentence says what is wrong with what was given.
func sentence(i *store.Invalid) string {
	if s := map[string]string{
		"email_malformed": "that is not a mail address",
		"email_taken":     "there is an account with this address already",
		"name_missing":    "a name is needed",
		"role_unknown":    "there is no such role; the roles are author, approver, ops_owner, auditor and admin",
		"scope_missing":   "at least one --scope is needed",
		"scope_unknown":   "there is no such scope; the scopes are events, operations, claims, callbacks and read",
	}[i.Code]; s != "" {
		return s
	}
	return i.Field + ": " + views.Invalid(i.Code, i.Limit).In(text.New("en", time.Local, time.Now()))
}
