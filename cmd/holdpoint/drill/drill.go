package drill

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// Options say with which programs the drill runs.
type Options struct {
	Binary   string       // the holdpoint program; "" = this one
	Sandbox  string       // the sandbox program; "" = beside the binary, or built from the checkout
	Log      io.Writer    // gets what the processes write; nil = nothing
	Progress func(Result) // called after each case; may be nil
}

// Report is the sheet of one drill.
type Report struct {
	Passed bool     `json:"passed"`
	Took   float64  `json:"seconds"`
	Cases  []Result `json:"cases"`
}

// Case is one acceptance case.
type Case struct {
	Name  string // AC1_normal_success …
	Title string // one line for people
	run   func(*trial) error
}

// Cases lists the acceptance cases in their order.
var Cases = []Case{
	{"AC1_normal_success", "Normal success", normalSuccess},
	{"AC2_same_event_redelivered", "The same event is delivered again", redelivered},
	{"AC3_timeout_after_success", "Time-out after the effect took place", timeoutAfterSuccess},
	{"AC4_two_attempts_at_once", "Two attempts at once", twoAtOnce},
	{"AC5_resume_after_approval", "Resume after a later approval", resumeAfterApproval},
	{"AC6a_reexecution_lookup_finds_it", "Re-execution after the key's retention; a lookup finds the effect", expiredWithLookup},
	{"AC6b_reexecution_without_lookup", "Re-execution after the key's retention; nothing can be looked up", expiredWithoutLookup},
}

// caseLimit is how long one case may take before it counts as failed.
const caseLimit = 40 * time.Second

// Run runs all cases and cleans up, also when ctx ends first. The error concerns the
// drill itself; a case that failed is in the report.
func Run(ctx context.Context, o Options) (Report, error) {
	began := time.Now()
	r, err := start(ctx, o)
	if ctx.Err() != nil {
		err = ctx.Err() // whatever it broke off
	}
	if err != nil {
		r.close()
		return Report{}, err
	}
	defer r.close()
	rep := Report{Passed: true}
	for _, c := range Cases {
		if ctx.Err() != nil {
			return rep, ctx.Err()
		}
		res := r.try(ctx, c)
		rep.Cases = append(rep.Cases, res)
		rep.Passed = rep.Passed && res.Passed
		if o.Progress != nil {
			o.Progress(res)
		}
	}
	rep.Took = time.Since(began).Round(time.Millisecond).Seconds()
	return rep, ctx.Err()
}

// withDefaults finds the programs.
func (o Options) withDefaults(ctx context.Context, dir string) (Options, error) {
	if o.Log == nil {
		o.Log = io.Discard
	}
	var err error
	if o.Binary == "" {
		if o.Binary, err = os.Executable(); err != nil {
			return o, err
		}
	}
	if o.Binary, err = filepath.Abs(o.Binary); err != nil {
		return o, err
	}
	if o.Sandbox, err = findSandbox(ctx, o.Sandbox, o.Binary, dir); err != nil {
		return o, fmt.Errorf("sandbox: %w", err)
	}
	return o, nil
}

// try runs one case. What it cannot finish is a failure of the case.
func (r *rig) try(ctx context.Context, c Case) Result {
	ctx, cancel := context.WithTimeout(ctx, caseLimit)
	defer cancel()
	t := &trial{rig: r, ctx: ctx, Result: Result{Case: c.Name, Title: c.Title, Done: []string{}, Operations: []Seen{}, Failures: []string{}}}
	began := time.Now()
	err := c.run(t)
	err = errors.Join(err, r.whole(), r.box.calm(context.WithoutCancel(ctx)))
	if err != nil {
		t.Failures = append(t.Failures, err.Error())
	}
	t.Took, t.Passed = time.Since(began).Round(time.Millisecond).Seconds(), len(t.Failures) == 0
	return t.Result
}
