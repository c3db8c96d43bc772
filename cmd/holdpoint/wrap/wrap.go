// Package wrap runs one command under the gate, for cron jobs and scripts: it asks the
// job API for a permit, runs the command once with the operation's data in its
// environment, and reports what is proven. What is not proven is unknown.
//
// It may import handlers/api/client only.
package wrap

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"

	"holdpoint/handlers/api/client"
)

// The exit codes of holdpoint run. Those above 63 are those of sysexits.h where one fits.
const (
	Confirmed   = 0  // proven: the effect exists, now or since an earlier run
	Closed      = 65 // closed without effect: rejected, cancelled, or not executed
	Unavailable = 69 // Holdpoint did not answer; nothing was run
	Unknown     = 70 // the outcome is unknown: people settle it; the command is not run again
	NotStarted  = 73 // proven: nothing was executed; a later run may try again
	Untold      = 74 // it ran, but Holdpoint was not reached: the next run reports it
	NotYet      = 75 // not permitted yet: run again later
	NoAccess    = 77 // the token, or what it names, is refused
)

// Config is one call of holdpoint run.
type Config struct {
	Client    *client.Client
	Operation string // its ID; or a run is started by Flow and Key
	Stage     string // of the run; "" = the first
	Flow, Key string
	New       client.NewOperation
	Wait      time.Duration // how long to wait for the permit
	Grace     time.Duration // between SIGTERM and SIGKILL at the time limit
	Folder    string        // where open attempts are noted
	Worker    string
	Command   []string
	Env       []string // what the command inherits
	Output    Output
	Exits     map[int]string // exit codes that prove that nothing was executed, with the profile's code

	Stdout, Stderr io.Writer
	Say            func(format string, args ...any) // to people
}

// Output says how the destination's reference is found in what the command prints.
type Output struct {
	Regexp *regexp.Regexp // its first group, in a line; nil = lines "holdpoint-reference: ID"
	JSON   string         // dotted path in the whole output as JSON; "" = none
}

// Run carries the call out and gives the exit code. ctx ends the waiting only.
func Run(ctx context.Context, c Config) int {
	path, err := exec.LookPath(c.Command[0])
	if err != nil {
		c.Say("the command cannot be run, so no permit was asked for: %v", err)
		return NotStarted
	}
	r := &running{Config: c, path: path}
	if err := r.find(ctx); err != nil {
		return r.failed(err, Unavailable)
	}
	j, err := openJournal(c.Folder, r.Operation)
	if err != nil {
		c.Say("%v", err)
		return NotYet
	}
	defer j.close()
	r.journal = j
	if code, done := r.resume(ctx); done {
		return code
	}
	return r.permitted(ctx)
}

type running struct {
	Config
	path    string
	journal *journal
}

// find starts the run or finds it again, and names its operation.
func (r *running) find(ctx context.Context) error {
	if r.Operation != "" {
		return nil
	}
	made, err := r.Client.Create(ctx, r.Key, r.New)
	if err != nil {
		return err
	}
	r.Operation = made.Operation
	if r.Stage == "" {
		return nil
	}
	for _, id := range made.Operations {
		op, err := r.Client.Get(ctx, id)
		if err != nil {
			return err
		}
		if op.Stage == r.Stage {
			r.Operation = id
			return nil
		}
	}
	return &client.Problem{Status: http.StatusNotFound, Code: "no_such_stage", Detail: "the flow has no stage " + r.Stage}
}

// resume tells Holdpoint what became of an attempt that an earlier process of ours left open.
func (r *running) resume(ctx context.Context) (code int, done bool) {
	open, ok := r.journal.read()
	if !ok {
		return 0, false
	}
	if open.Claim.Attempt == "" { // the note cannot be read: Holdpoint knows what is open
		r.journal.forget()
		return 0, false
	}
	report := client.Report{Code: "wrapper_ended", Excerpt: "The process that ran the command ended before it could report."}
	switch {
	case open.Report != nil:
		report = *open.Report
	case !open.Started:
		report = client.Report{Outcome: client.NotStarted, Code: "wrapper_ended"}
	}
	r.Say("an earlier run left attempt %s open; it is reported as %s", open.Claim.Attempt, report.Outcome)
	rec, err := r.Client.ReportUntilTold(ctx, open.Claim, report)
	var p *client.Problem
	if err != nil && (!errors.As(err, &p) || p.Status >= 500) {
		return r.failed(err, Untold), true
	}
	r.journal.forget()
	if err != nil {
		return r.failed(err, Unknown), true
	}
	if rec.Outcome == client.NotStarted.String() && open.Report == nil {
		return 0, false // nothing was run: ask for the next permit
	}
	return r.ended(rec), true
}

// permitted asks for a permit until it is given, refused for good, or the waiting is over.
func (r *running) permitted(ctx context.Context) int {
	until := time.Now().Add(r.Wait)
	for {
		cl, err := r.Client.Claim(ctx, r.Operation, r.Worker, client.Presented{})
		if err == nil {
			return r.carry(cl)
		}
		var p *client.Problem
		if !errors.As(err, &p) || p.Status != http.StatusConflict {
			return r.failed(err, Unavailable)
		}
		op, err := r.Client.Get(ctx, r.Operation)
		if err != nil {
			return r.failed(err, Unavailable)
		}
		if code, over := r.standing(op); over {
			return code
		}
		left := time.Until(until)
		if left <= 0 || ctx.Err() != nil {
			r.Say("not yet: %s %s", p.Reason, op.Link)
			return NotYet
		}
		if op.State == "retry_scheduled" { // the revision does not change when it becomes due
			pause(ctx, min(left, time.Second))
			continue
		}
		if _, err := r.Client.Wait(ctx, r.Operation, op.Revision, min(left, 20*time.Second)); err != nil && ctx.Err() == nil {
			return r.failed(err, Unavailable)
		}
	}
}

// standing gives the exit code of an operation that needs no permit any more, or whose
// outcome others must settle.
func (r *running) standing(op client.Operation) (code int, over bool) {
	switch op.State {
	case "confirmed":
		r.Say("confirmed already: %s", op.TargetReference)
		return Confirmed, true
	case "rejected", "cancelled", "not_executed":
		r.Say("closed without effect (%s): %s", op.State, op.Link)
		return Closed, true
	case "unknown", "review", "reexecution_requested":
		r.Say("the outcome is unknown; people settle it: %s", op.Link)
		return Unknown, true
	}
	return 0, false
}

// carry carries out one permitted attempt. It is not stopped half-way: a signal goes to
// the command.
func (r *running) carry(cl client.Claim) int {
	if err := r.journal.write(entry{Claim: cl}); err != nil {
		r.Say("no permit was used: %v", err)
		return Unavailable
	}
	rec, err := r.Client.Carry(context.Background(), cl, func(ctx context.Context, p client.Permit) client.Report { return r.act(ctx, cl, p) })
	if _, refused := client.Refused(err); refused {
		r.journal.forget()
		r.Say("refused at the last moment, nothing was run: %v", err)
		return NotYet
	}
	if err != nil {
		return r.failed(err, Untold)
	}
	r.journal.forget()
	return r.ended(rec)
}

// act runs the command once, noted before and after.
func (r *running) act(ctx context.Context, cl client.Claim, p client.Permit) client.Report {
	e := entry{Claim: cl, Started: true}
	if err := r.journal.write(e); err != nil {
		return client.Report{Outcome: client.NotStarted, Code: CodeExecFailed, Excerpt: err.Error()}
	}
	report := r.run(ctx, p)
	e.Report = &report
	if err := r.journal.write(e); err != nil {
		r.Say("%v", err)
	}
	return report
}

// ended says what a report counted as.
func (r *running) ended(rec client.Recorded) int {
	switch {
	case rec.State == "confirmed":
		return Confirmed
	case rec.Outcome == client.NotStarted.String():
		r.Say("not started (%s); state %s", rec.Code, rec.State)
		return NotStarted
	}
	what := strings.Join(slices.DeleteFunc([]string{rec.Code, "state " + rec.State, rec.Reason}, func(x string) bool { return x == "" }), "; ")
	r.Say("the outcome is unknown (%s); people settle it, nothing is run again meanwhile", what)
	return Unknown
}

func (r *running) failed(err error, code int) int {
	var p *client.Problem
	if errors.As(err, &p) {
		switch p.Status {
		case http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusBadRequest, http.StatusUnprocessableEntity:
			code = NoAccess
		}
	}
	r.Say("%v", err)
	return code
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// journalName is the file of an operation.
func journalName(operation string) (string, error) {
	if !operationID.MatchString(operation) {
		return "", fmt.Errorf("%q is not an operation's ID", operation)
	}
	return operation, nil
}

var operationID = regexp.MustCompile(`^op_[0-9a-z]{26}$`)
