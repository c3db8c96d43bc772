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
	Batch benchBatchCmd `cmd:"" help:"Measure batches: made and approved, and their items the whole way against pgbench, on a PostgreSQL of its own."`
	Pages benchPagesCmd `cmd:"" help:"Measure lists and pages over HTTP with many operations, on a PostgreSQL of its own."`
}

type benchBatchCmd struct {
	JSON    bool          `name:"json" help:"Write only JSON to standard output."`
	Slices  int           `default:"5" help:"Slices of each kind that must count."`
	Slice   time.Duration `default:"6s" help:"Length of one slice."`
	Lanes   int           `default:"4" help:"How many processes are imitated."`
	Hands   int           `default:"128" help:"How many attempts each of them makes at once (HOLDPOINT_EFFECTS), and so the largest group."`
	Import  int           `default:"10000" help:"Items of the batch that is made and approved."`
	Large   int           `default:"100000" help:"Items of the batch whose memory and pages are looked at; below 0 there is none."`
	Profile string        `type:"path" help:"Write a CPU profile of the items' way into this file."`
}

// Run measures batches.
func (c benchBatchCmd) Run() error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return bench.RunBatch(ctx, bench.BatchOptions{Slices: c.Slices, Slice: c.Slice, Lanes: c.Lanes, Hands: c.Hands, Import: c.Import, Large: c.Large, Profile: c.Profile, JSON: c.JSON, Out: os.Stdout, Log: os.Stderr})
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
