package connector

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestLimiterLetsSoManyInAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLimiter(3, 0, 0)
		var in, most atomic.Int32
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				release, err := l.Acquire(t.Context())
				if err != nil {
					t.Error(err)
					return
				}
				n := in.Add(1)
				for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
				}
				time.Sleep(time.Second)
				in.Add(-1)
				release()
				release() // a second time gives nothing back
			})
		}
		wg.Wait()
		if most.Load() != 3 {
			t.Errorf("%d were in at once, want 3", most.Load())
		}
	})
}

func TestLimiterSpreadsOverTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLimiter(100, 10, 1)
		start := time.Now()
		for range 11 {
			release, err := l.Acquire(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			release()
		}
		if took := time.Since(start).Round(10 * time.Millisecond); took != time.Second {
			t.Errorf("11 tokens at 10/s took %v, want 1s", took)
		}
	})
}

func TestLimiterGivesBackTheSlotWhenNoTokenComes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLimiter(1, 1, 1)
		release, ok := l.TryAcquire()
		if !ok {
			t.Fatal("the first was refused")
		}
		if _, ok := l.TryAcquire(); ok {
			t.Error("a second got in beside the first")
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if _, err := l.Acquire(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("waiting for a slot: %v", err)
		}
		release()
		if _, ok := l.TryAcquire(); ok {
			t.Error("a slot was free, but no token")
		}
		again, err := l.Acquire(t.Context())
		if err != nil {
			t.Fatalf("the slot was lost: %v", err)
		}
		again()
	})
}
