package bench

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
)

// BatchOptions says how to measure batches. Zero values take the defaults.
type BatchOptions struct {
	Slices  int
	Slice   time.Duration
	Lanes   int           // processes that work at the same time; 0 = 4
	Hands   int           // free hands of each, and so the largest group; 0 = 128
	Items   int           // of one batch of the cycle; 0 = 1,000
	Clients int           // of pgbench -N; 0 = 32
	Import  int           // items of the batch that is made and approved at once; 0 = 10,000
	Large   int           // items of the batch whose memory is looked at; 0 = 100,000, below 0 = none
	Look    time.Duration // how long each of its reads is repeated; 0 = 2 s
	Profile string
	JSON    bool
	Out     io.Writer // the report
	Log     io.Writer // progress
}

// BatchReport is what was measured about batches.
type BatchReport struct {
	Machine string       `json:"machine"`
	Import  BatchImport  `json:"import"`
	Cycle   BatchCycle   `json:"cycle"`
	Large   *BatchImport `json:"large,omitempty"`
	Reads   []BatchRead  `json:"reads,omitempty"`
}

// BatchImport is a batch that was made from a list and approved.
type BatchImport struct {
	Items    int     `json:"items"`
	CreateS  float64 `json:"create_s"`
	ApproveS float64 `json:"approve_s"`
	HeapMB   float64 `json:"heap_mb"`     // the most that was in use meanwhile, above what was before
	HeapEnd  float64 `json:"heap_end_mb"` // over the last half, to see whether it grows
}

// BatchCycle is the whole way of an item, from the list to the recorded outcome, beside
// pgbench -N.
type BatchCycle struct {
	Lanes      int     `json:"lanes"`
	Hands      int     `json:"hands"`
	Clients    int     `json:"pgbench_clients"`
	ItemsPerS  float64 `json:"items_per_s"`
	PgbenchTPS float64 `json:"pgbench_tps"`
	Ratio      float64 `json:"ratio"`
	// PerCPU compares what a second of the CPU brings: neighbours change it little.
	PerCPU  float64 `json:"ratio_per_cpu_second"`
	Foreign float64 `json:"foreign_cpu"`
	Kept    int     `json:"slices_kept"`
	// Steps are the mean times of the steps in milliseconds for each item.
	Steps map[string]float64 `json:"step_ms_per_item"`
}

// BatchRead is one read of a page of the large batch.
type BatchRead struct {
	Read  string `json:"read"`
	One   Timing `json:"clients_1"`
	Eight Timing `json:"clients_8"`
}

// batchGoal is what PERFORMANCE wants of batch items, as a part of pgbench -N.
const batchGoal = 1.2

// RunBatch measures batches and writes the report.
func RunBatch(ctx context.Context, o BatchOptions) error {
	orInt := func(n *int, d int) {
		if *n == 0 {
			*n = d
		}
	}
	orInt(&o.Slices, 5)
	orInt(&o.Lanes, 4)
	orInt(&o.Hands, 128)
	orInt(&o.Items, 1000)
	orInt(&o.Clients, 32)
	orInt(&o.Import, 10_000)
	orInt(&o.Large, 100_000)
	if o.Slice == 0 {
		o.Slice = 6 * time.Second
	}
	if o.Look == 0 {
		o.Look = 2 * time.Second
	}
	h, err := build(ctx, 16, o.Log)
	if err != nil {
		return err
	}
	defer h.close()
	ref, err := h.reference(ctx)
	if err != nil {
		return err
	}
	b := &batchBench{house: h, o: o, steps: map[string]time.Duration{}}
	r := BatchReport{Machine: fmt.Sprintf("%d CPUs, %s", runtime.NumCPU(), runtime.Version())}
	if err := b.wholeBatch(ctx, 200); err != nil { // prepare the statements
		return err
	}
	if r.Import, _, err = b.importOf(ctx, o.Import); err != nil {
		return err
	}
	fmt.Fprintf(o.Log, "import of %d items: %.2f s, approved in %.3f s\n", o.Import, r.Import.CreateS, r.Import.ApproveS)
	stop, err := profile(o.Profile)
	if err != nil {
		return err
	}
	r.Cycle, err = b.cycle(ctx, ref)
	stop()
	if err != nil {
		return err
	}
	if o.Large > 0 {
		large, id, err := b.importOf(ctx, o.Large)
		if err != nil {
			return err
		}
		r.Large = &large
		if r.Reads, err = b.reads(ctx, id); err != nil {
			return err
		}
	}
	return r.write(o)
}

// batchBench measures batches in a house.
type batchBench struct {
	*house
	o     BatchOptions
	mu    sync.Mutex
	steps map[string]time.Duration
	// recorded counts the items whose outcome is recorded.
	recorded atomic.Int64
}

// step notes how long a step took.
func (b *batchBench) step(name string, since time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.steps[name] += time.Since(since)
}

// list is a list of n customers that are all different.
func list(n int) store.List {
	return store.List{Name: "customers.csv", Rows: func(yield func(map[string]any, error) bool) {
		for i := range n {
			if !yield(map[string]any{"id": fmt.Sprintf("c-%07d", i), "name": fmt.Sprintf("Customer %d", i)}, nil) {
				return
			}
		}
	}}
}

func (b *batchBench) create(ctx context.Context, n int) (operation.BatchID, error) {
	defer b.step("create", time.Now())
	_, ids, err := b.st.CreateBatchRun(ctx, store.System("api"), store.NewBatchRun{Flow: "bench-list", RunKey: rand.Text(), Lists: map[string]store.List{"customers": list(n)},
		Author: store.Author{Kind: "token", ID: "tok_bench"}})
	if err != nil {
		return "", fmt.Errorf("create: %w", err)
	}
	return ids[0], nil
}

func (b *batchBench) approveBatch(ctx context.Context, id operation.BatchID) error {
	defer b.step("approve", time.Now())
	p, err := b.st.FindBatch(ctx, b.approver, id)
	if err != nil {
		return fmt.Errorf("find: %w", err)
	}
	err = b.st.DecideBatch(ctx, b.approver, store.BatchDecided{Batch: id, Number: p.Number, Hash: hex.EncodeToString(p.Version.Hash), Revision: p.Revision, Phase: operation.PhaseFirst,
		Decision: operation.Approve, FormID: rand.Text()})
	if err != nil {
		return fmt.Errorf("approve: %w", err)
	}
	return nil
}

// importOf makes and approves one batch, and looks at the heap meanwhile.
func (b *batchBench) importOf(ctx context.Context, n int) (BatchImport, operation.BatchID, error) {
	r := BatchImport{Items: n}
	heap := watchHeap()
	t := time.Now()
	id, err := b.create(ctx, n)
	r.CreateS = time.Since(t).Seconds()
	r.HeapMB, r.HeapEnd = heap()
	if err != nil {
		return r, id, err
	}
	t = time.Now()
	err = b.approveBatch(ctx, id)
	r.ApproveS = time.Since(t).Seconds()
	return r, id, err
}

// watchHeap samples the heap in use until the function that it returns is called: the most
// above the beginning, in megabytes, and the most of the second half.
func watchHeap() func() (most, end float64) {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	before := m.HeapAlloc
	over := make(chan struct{})
	var samples []float64
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-over:
				return
			case <-time.After(20 * time.Millisecond):
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				samples = append(samples, float64(int64(m.HeapAlloc)-int64(before))/1e6)
			}
		}
	})
	return func() (most, end float64) {
		close(over)
		wg.Wait()
		for i, s := range samples {
			most = max(most, s)
			if i >= len(samples)/2 {
				end = max(end, s)
			}
		}
		return most, end
	}
}

// reads times the reads behind the batch's pages.
func (b *batchBench) reads(ctx context.Context, id operation.BatchID) ([]BatchRead, error) {
	var out []BatchRead
	for _, x := range []struct {
		name string
		read func(context.Context) error
	}{
		{"batch page", func(ctx context.Context) error { _, err := b.st.FindBatch(ctx, b.approver, id); return err }},
		{"items, first page", func(ctx context.Context) error {
			_, err := b.st.BatchItems(ctx, b.approver, store.BatchQuery{Batch: id})
			return err
		}},
		{"items, middle page", func(ctx context.Context) error {
			_, err := b.st.BatchItems(ctx, b.approver, store.BatchQuery{Batch: id, After: b.o.Large / 2})
			return err
		}},
		{"list of batches", func(ctx context.Context) error {
			_, err := b.st.ListBatches(ctx, b.approver, store.BatchFilter{})
			return err
		}},
	} {
		r := BatchRead{Read: x.name}
		for _, n := range []int{1, 8} {
			s, err := timed(ctx, n, b.o.Look, x.read)
			if err != nil {
				return out, fmt.Errorf("%s: %w", x.name, err)
			}
			t := Timing{Count: len(s.latencies), P50: quantile(s.latencies, 0.50), P99: quantile(s.latencies, 0.99)}
			if n == 1 {
				r.One = t
			} else {
				r.Eight = t
			}
		}
		fmt.Fprintf(b.o.Log, "%s: p99 %.1f ms at 1, %.1f ms at 8\n", r.Read, r.One.P99, r.Eight.P99)
		out = append(out, r)
	}
	return out, nil
}

func (r BatchReport) write(o BatchOptions) error {
	if o.JSON {
		e := json.NewEncoder(o.Out)
		e.SetIndent("", "  ")
		return e.Encode(r)
	}
	fmt.Fprintf(o.Out, "\n%s\nbatch of %d items: made in %.2f s, approved in %.3f s, heap at most %.0f MB more\n", r.Machine, r.Import.Items, r.Import.CreateS, r.Import.ApproveS, r.Import.HeapMB)
	c := r.Cycle
	fmt.Fprintf(o.Out, "items the whole way, %d lanes of %d hands: %.0f/s against pgbench -N %.0f/s at %d clients, ratio %.2f (goal %.1f), by the CPU that each used %.2f, %d slices, others' CPU at most %.0f %%\n",
		c.Lanes, c.Hands, c.ItemsPerS, c.PgbenchTPS, c.Clients, c.Ratio, batchGoal, c.PerCPU, c.Kept, c.Foreign*100)
	for _, s := range []string{"create", "approve", "claim", "record", "advance"} {
		fmt.Fprintf(o.Out, "  %-8s %.3f ms an item\n", s, c.Steps[s])
	}
	if r.Large != nil {
		fmt.Fprintf(o.Out, "batch of %d items: made in %.1f s, approved in %.3f s, heap at most %.0f MB more, in the second half %.0f MB\n", r.Large.Items, r.Large.CreateS, r.Large.ApproveS, r.Large.HeapMB, r.Large.HeapEnd)
	}
	for _, x := range r.Reads {
		fmt.Fprintf(o.Out, "  %-20s p50 %.1f, p99 %.1f ms at 1 client; p99 %.1f ms at 8\n", x.Read, x.One.P50, x.One.P99, x.Eight.P99)
	}
	return nil
}
