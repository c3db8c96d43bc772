package bench

import (
	"context"
	"os"
	"testing"
	"time"
)

func TestQuick(t *testing.T) {
	ctx := context.Background()
	h, err := build(ctx, 12, os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	defer h.close()
	for _, n := range []int{1, 8} {
		s, err := timed(ctx, n, 3*time.Second, h.cycle)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%d workers: %.0f ops/s foreign %.2f", n, s.perSecond, s.foreign)
		i, err := timed(ctx, n, 2*time.Second, func(ctx context.Context) error { _, err := h.intake(ctx); return err })
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%d workers: intake %.0f/s foreign %.2f", n, i.perSecond, i.foreign)
	}
}
