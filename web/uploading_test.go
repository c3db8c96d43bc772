package web

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"holdpoint/operation"

	"github.com/labstack/echo/v4"
)

// TestFormsWithFilesTakeTurns: however many come at once and however slowly, few are held
// in memory, and one person does not keep the others waiting.
func TestFormsWithFilesTakeTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var u uploading
		ctx := t.Context()
		for range uploadsEach {
			if err := u.enter(ctx, "ann"); err != nil {
				t.Fatal(err)
			}
		}
		start := time.Now()
		var busy *echo.HTTPError
		if err := u.enter(ctx, "ann"); !errors.As(err, &busy) || busy.Code != 503 || time.Since(start) < uploadWait {
			t.Errorf("one person's third form: %v after %s", err, time.Since(start))
		}
		for n := uploadsEach; n < uploadsAtOnce; n++ {
			if err := u.enter(ctx, operation.UserID(rune('a'+n))); err != nil {
				t.Fatal(err)
			}
		}
		gone, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		if err := u.enter(gone, "ben"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("one more than is held: %v", err)
		}
		go func() {
			time.Sleep(time.Second)
			u.leave("ann")
		}()
		if err := u.enter(ctx, "ben"); err != nil {
			t.Errorf("after another has left: %v", err)
		}
	})
}
