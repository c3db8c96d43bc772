package jobs

import "context"

// markRestored works on what a restored database leaves to reconcile; most of the time
// there is none.
func (w *Worker) markRestored(ctx context.Context) {
	for {
		n, err := w.store.MarkRestored(ctx, w.actor)
		w.swept("restored", n, err)
		if err != nil || n == 0 || ctx.Err() != nil {
			return
		}
	}
}
