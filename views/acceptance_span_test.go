package views

import (
	"testing"
	"time"

	"holdpoint/operation"
	"holdpoint/views/text"
)

// A case that took less than a second is not said to have taken none, and one that was not
// measured says nothing.
func TestSpanOfACase(t *testing.T) {
	t.Parallel()
	began := time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)
	p := text.New("en", time.UTC, began)
	for took, want := range map[time.Duration]string{0: "", 900 * time.Microsecond: "", -time.Second: "", 3 * time.Millisecond: "3 ms", 480*time.Millisecond + 700*time.Microsecond: "480 ms",
		999600 * time.Microsecond: "999 ms", 1400 * time.Millisecond: "1 s", 8700 * time.Millisecond: "9 s", 61200 * time.Millisecond: "1 min 1 s"} {
		said := ""
		if d := spanOf(operation.AcceptanceCase{Began: began, Ended: began.Add(took)}); d > 0 {
			said = p.Duration(d)
		}
		if said != want {
			t.Errorf("%s is said as %q, not %q", took, said, want)
		}
	}
	for _, c := range []operation.AcceptanceCase{{}, {Began: began}, {Ended: began}} {
		if d := spanOf(c); d != 0 {
			t.Errorf("%+v took %s", c, d)
		}
	}
}
