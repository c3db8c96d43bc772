package operation

import (
	"testing"
	"time"
)

// TestWhyAsked: of a request whose outcome is unknown, what is said first is what makes a
// repeat of it impossible, not that its approval is used up or expired meanwhile.
func TestWhyAsked(t *testing.T) {
	month := t0.Add(30 * 24 * time.Hour)
	for _, c := range []struct {
		name string
		turn func(*Facts)
		want Code
	}{
		{"its key expired, and its approval too", func(*Facts) {}, CodeKeyExpired},
		{"nothing protects it", func(f *Facts) { f.Protection = Protection{} }, CodeUnprotected},
		{"the one attempt that was permitted is used up", func(f *Facts) { f.Protection, f.Clearance.Spent = Protection{}, true }, CodeUnprotected},
		{"its account was changed", func(f *Facts) { f.Protection, f.Clearance.ExpiresAt, f.Account = Protection{}, time.Time{}, "other" }, CodeAccountChanged},
		{"all sends are paused", func(f *Facts) { f.PausedAll = true }, CodeKeyExpired},
		{"what it replaces has the effect", func(f *Facts) { f.OriginalDone = true }, CodeOriginalConfirmed},
		{"its replacement has the effect", func(f *Facts) { f.ReplacementDone = true }, CodeReplacementConfirmed},
		{"nothing was sent that is not settled", func(f *Facts) { f.Unsettled = nil }, CodeApprovalExpired},
		{"its key lasts longer than its approval", func(f *Facts) { f.Protection.Retention = 365 * 24 * time.Hour }, CodeApprovalExpired},
	} {
		f := unknownFacts()
		f.State = Review
		c.turn(&f)
		r := WhyAsked(f, month)
		if r == nil || r.Code != c.want {
			t.Errorf("%s: %v, want %s", c.name, r, c.want)
		}
	}
	f := readyFacts()
	f.State = Review
	if r := WhyAsked(f, t0); r != nil {
		t.Errorf("nothing is in the way: %v", r)
	}
}
