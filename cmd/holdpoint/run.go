package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"holdpoint/cmd/holdpoint/wrap"
	"holdpoint/handlers/api/client"
)

type runCmd struct {
	URL       string `env:"HOLDPOINT_URL" required:"" help:"Address of Holdpoint."`
	Token     string `env:"HOLDPOINT_TOKEN" help:"API token with the scopes claims and, to start runs, operations."`
	TokenFile string `env:"HOLDPOINT_TOKEN_FILE" type:"path" placeholder:"FILE" help:"File with the token; better than an environment that others may read."`

	Operation string `xor:"what" placeholder:"ID" help:"The operation that the command performs. Give this, or --flow with --key."`
	Flow      string `xor:"what" placeholder:"NAME" help:"The flow whose run is started, or found again by --key."`
	Key       string `help:"With --flow: your own key of the business case; the same work has the same key, also at the next call."`
	Stage     string `help:"The stage of the run. Default: the first."`
	Inputs    string `placeholder:"FILE.json" help:"Inputs of the run; - for standard input."`

	Wait     time.Duration     `default:"0" help:"How long to wait for the permit, e.g. 10m. Without it the exit code 75 says: not yet."`
	Grace    time.Duration     `default:"5s" help:"How long the command has to end when its time limit comes."`
	State    string            `env:"HOLDPOINT_RUN_STATE" type:"path" placeholder:"DIR" help:"Folder where open attempts are noted. Default: holdpoint/run in the user's state folder."`
	Worker   string            `env:"HOLDPOINT_WORKER" help:"Name of this process, for people. Default: the host's name."`
	Regexp   string            `name:"reference-regexp" help:"Finds the target reference in a line of the output: its first group. Default: lines holdpoint-reference: ID."`
	JSONPath string            `name:"reference-json" placeholder:"PATH" help:"Finds it in output that is JSON, by a dotted path."`
	Exits    map[string]string `name:"not-started-exit" placeholder:"N=CODE" help:"An exit code that proves that nothing was executed, with the code that the profile lists for it."`

	Command []string `arg:"" passthrough:"" help:"The command and its arguments, after --."`
}

// exit ends the program with a code and no further words.
type exit int

// Error is never shown: what was to be said has been said.
func (e exit) Error() string { return "exit " + strconv.Itoa(int(e)) }

// ExitCode is the code.
func (e exit) ExitCode() int { return int(e) }

// Help explains the exit codes.
func (runCmd) Help() string {
	return `Runs COMMAND once under the gate and reports what is proven. Exit codes:
0 confirmed - 65 closed without effect - 69 Holdpoint did not answer, nothing was run - 70 unknown, people settle it -
73 not started, a later run may try again - 74 it ran but could not be reported, the next run reports it -
75 not permitted yet - 77 the token, or what it names, is refused.`
}

// Run runs the command under the gate.
func (c runCmd) Run() error {
	cfg, err := c.config()
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	if code := wrap.Run(ctx, cfg); code != 0 {
		return exit(code)
	}
	return nil
}

func (c runCmd) config() (wrap.Config, error) {
	cfg := wrap.Config{Operation: c.Operation, Flow: c.Flow, Key: c.Key, Stage: c.Stage, Wait: c.Wait, Grace: c.Grace, Folder: c.State, Worker: c.Worker,
		Command: c.Command, Env: os.Environ(), Output: wrap.Output{JSON: c.JSONPath}, Exits: map[int]string{}, Stdout: os.Stdout, Stderr: os.Stderr,
		Say: func(format string, args ...any) { fmt.Fprintf(os.Stderr, "holdpoint run: "+format+"\n", args...) }}
	if len(cfg.Command) > 0 && cfg.Command[0] == "--" {
		cfg.Command = cfg.Command[1:]
	}
	token, err := c.token()
	switch {
	case err != nil:
		return cfg, err
	case len(cfg.Command) == 0:
		return cfg, errors.New("no command: holdpoint run … -- COMMAND ARGS")
	case c.Flow == "" && c.Operation == "":
		return cfg, errors.New("what for? Give --operation ID, or --flow NAME with --key KEY")
	case c.Flow != "" && c.Key == "":
		return cfg, errors.New("--flow needs --key: without a key of yours the next call would start another run")
	}
	cfg.Client = client.New(c.URL, token)
	cfg.New = client.NewOperation{Flow: c.Flow, RunKey: c.Key}
	if c.Inputs != "" {
		raw, err := readNamed(c.Inputs)
		if err != nil {
			return cfg, err
		}
		if err := json.Unmarshal(raw, &cfg.New.Inputs); err != nil {
			return cfg, fmt.Errorf("%s is not a JSON object: %w", c.Inputs, err)
		}
	}
	if c.Regexp != "" {
		if cfg.Output.Regexp, err = regexp.Compile(c.Regexp); err != nil || cfg.Output.Regexp.NumSubexp() < 1 {
			return cfg, fmt.Errorf("--reference-regexp %q is no pattern with a group", c.Regexp)
		}
	}
	for n, code := range c.Exits {
		number, err := strconv.Atoi(n)
		if err != nil || number < 1 || number > 255 || code == "" {
			return cfg, fmt.Errorf("--not-started-exit %s=%s: it takes an exit code from 1 to 255 and a code of the profile", n, code)
		}
		cfg.Exits[number] = code
	}
	if cfg.Worker == "" {
		cfg.Worker, _ = os.Hostname()
	}
	if cfg.Folder == "" {
		cfg.Folder, err = stateFolder()
	}
	return cfg, err
}

func (c runCmd) token() (string, error) {
	if c.TokenFile == "" {
		if c.Token == "" {
			return "", errors.New("no token: set HOLDPOINT_TOKEN, or HOLDPOINT_TOKEN_FILE")
		}
		return c.Token, nil
	}
	raw, err := os.ReadFile(c.TokenFile)
	return strings.TrimSpace(string(raw)), err
}

// stateFolder is where this user's open attempts are noted.
func stateFolder() (string, error) {
	if dir := os.Getenv("XDG_STATE_HOME"); dir != "" {
		return filepath.Join(dir, "holdpoint", "run"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", errors.New("no folder for open attempts: say --state DIR")
	}
	return filepath.Join(home, ".local", "state", "holdpoint", "run"), nil
}
