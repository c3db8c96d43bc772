package jobs

import (
	"context"
	"math/rand/v2"
	"time"
)

// rollupEvery is how often figures are counted ahead. All processes try; the record lets
// one of them count at a time.
const rollupEvery = 10 * time.Second

// rollup counts figures ahead until the worker stops. What is not counted yet is counted
// by whoever asks, so that a late one makes pages slower and never wrong.
func (w *Worker) rollup() {
	for wait := rand.N(rollupEvery / 10); ; wait = rollupEvery*9/10 + rand.N(rollupEvery/5) {
		select {
		case <-w.stopping.Done():
			return
		case <-time.After(wait):
		}
		ctx, cancel := context.WithTimeout(w.stopping, 10*time.Minute)
		w.rollupOnce(ctx)
		cancel()
	}
}

// rollupOnce counts what can be counted now.
func (w *Worker) rollupOnce(ctx context.Context) {
	for {
		p, err := w.store.CountFigures(ctx)
		if err != nil {
			w.swept("figures", 0, err)
			return
		}
		if p.Behind && !p.Busy {
			w.log.Info("counting figures ahead", "until", p.Until, "facts", p.Facts)
			continue
		}
		return
	}
}
