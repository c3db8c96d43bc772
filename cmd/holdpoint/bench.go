package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"holdpoint/cmd/holdpoint/bench"
)

// benchCmds are what is measured; the gate when nothing is named.
type benchCmds struct {
	Gate  benchCmd      `cmd:"" default:"withargs" help:"Measure the gate against pgbench on a PostgreSQL of its own. It is measured when nothing is named."`
	Pages benchPagesCmd `cmd:"" help:"Measure lists and pages over HTTP with many operations, on a PostgreSQL of its own."`
}

type benchPagesCmd struct {
	JSON  bool          `name:"json" help:"Write only JSON to standard output."`
	Rows  int           `default:"1000000" help:"How many operations are loaded first."`
	Slice time.Duration `default:"2s" help:"How long each page is measured, with one client and with eight."`
	Only  string        `help:"Measure pages whose names begin so, such as \"inbox\"."`

	Dir     string `type:"path" help:"Keep the loaded database in this folder and use it again in the next run."`
	Profile string `type:"path" help:"Write a CPU profile of what is measured into this file."`
}

// Run loads the rows and measures the pages.
func (c benchPagesCmd) Run() error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if c.Rows < 1000 {
		return fmt.Errorf("--rows: at least 1000, not %d", c.Rows)
	}
	return bench.RunPages(ctx, bench.PageOptions{Rows: c.Rows, Slice: c.Slice, Only: c.Only, Dir: c.Dir, Profile: c.Profile, JSON: c.JSON, Out: os.Stdout, Log: os.Stderr})
}

type benchCmd struct {
	JSON    bool          `name:"json" help:"Write only JSON to standard output."`
	Slices  int           `default:"5" help:"Slices of each kind that must count."`
	Slice   time.Duration `default:"6s" help:"Length of one slice."`
	Workers string        `default:"1,8,32" help:"Worker counts, separated by commas."`
}

// Run measures the gate against pgbench on a PostgreSQL of its own.
func (c benchCmd) Run() error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var workers []int
	for w := range strings.SplitSeq(c.Workers, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(w))
		if err != nil || n < 1 || n > 256 {
			return fmt.Errorf("--workers: %q is not a number from 1 to 256", w)
		}
		workers = append(workers, n)
	}
	var log io.Writer = os.Stderr
	return bench.Run(ctx, bench.Options{Slices: c.Slices, Slice: c.Slice, Workers: workers, JSON: c.JSON, Out: os.Stdout, Log: log})
}
