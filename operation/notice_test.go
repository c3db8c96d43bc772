package operation

import (
	"testing"
	"time"
)

func clock(t *testing.T, zone, s string) (time.Time, *time.Location) {
	t.Helper()
	z, err := time.LoadLocation(zone)
	if err != nil {
		t.Fatal(err)
	}
	at, err := time.ParseInLocation("2006-01-02 15:04", s, z)
	if err != nil {
		t.Fatal(err)
	}
	return at, z
}

func TestQuietHours(t *testing.T) {
	t.Parallel()
	night := Quiet{From: 22 * 60, To: 7 * 60}
	for _, c := range []struct {
		name, zone, now string
		q               Quiet
		end             string // UTC, "" = not quiet
	}{
		{"before midnight", "Europe/Warsaw", "2026-01-10 23:30", night, "2026-01-11 06:00"},
		{"after midnight", "Europe/Warsaw", "2026-01-10 03:00", night, "2026-01-10 06:00"},
		{"begins on the minute", "Asia/Tokyo", "2026-01-10 22:00", night, "2026-01-10 22:00"},
		{"ends on the minute", "Asia/Tokyo", "2026-01-10 07:00", night, ""},
		{"by day", "Asia/Tokyo", "2026-01-10 12:00", night, ""},
		{"within one day", "UTC", "2026-01-10 12:30", Quiet{12 * 60, 13 * 60}, "2026-01-10 13:00"},
		{"none", "UTC", "2026-01-10 12:30", Quiet{600, 600}, ""},
		{"clocks go forward in the night", "Europe/Warsaw", "2026-03-28 23:00", night, "2026-03-29 05:00"},
		{"clocks go back in the night", "Europe/Warsaw", "2026-10-24 23:00", night, "2026-10-25 06:00"},
		{"the end is left out", "Europe/Warsaw", "2026-03-29 01:30", Quiet{0, 2*60 + 30}, "2026-03-29 01:30"},
	} {
		now, zone := clock(t, c.zone, c.now)
		end, ok := c.q.Until(now, zone)
		if got := end.UTC().Format("2006-01-02 15:04"); ok != (c.end != "") || ok && got != c.end {
			t.Errorf("%s: %v %s, want %q", c.name, ok, got, c.end)
		}
	}
}

func TestNextClockIsAlwaysLater(t *testing.T) {
	t.Parallel()
	for _, zone := range []string{"UTC", "Europe/Warsaw", "America/Los_Angeles", "Asia/Tokyo", "Australia/Lord_Howe"} {
		now, z := clock(t, zone, "2026-03-01 00:00")
		for range 24 * 365 {
			for _, minute := range []int{0, 150, 480, 1439} {
				at := NextClock(minute, now, z)
				if !at.After(now) || at.Sub(now) > 26*time.Hour {
					t.Fatalf("%s: minute %d after %s is %s", zone, minute, now, at)
				}
			}
			now = now.Add(time.Hour)
		}
	}
}

func TestStepsOfADecision(t *testing.T) {
	t.Parallel()
	since := time.Date(2026, 4, 16, 8, 0, 0, 0, time.UTC)
	due := since.Add(4 * time.Hour)
	walk := func(p NoticePolicy) string {
		out := ""
		for done := StepAsk; ; {
			step, at, ok := p.NextStep(done, since, due)
			if !ok {
				return out
			}
			out += string(rune('0'+step)) + "@" + at.Sub(since).String() + " "
			done = step
		}
	}
	for want, p := range map[string]NoticePolicy{
		"2@4h0m0s 3@8h0m0s ":           {},
		"1@2h0m0s 2@4h0m0s 3@24h0m0s ": {Remind: 2 * time.Hour, Escalate: 24 * time.Hour},
		"2@4h0m0s 3@4h0m0s ":           {Remind: 4 * time.Hour, Escalate: time.Hour},
	} {
		if got := walk(p); got != want {
			t.Errorf("%+v: %q, want %q", p, got, want)
		}
	}
}

func TestNoticeKindsFollowTheDecision(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		d    DecisionKind
		last string
		want NoticeKind
	}{
		{DecideApprove, "submit", NoticeApproval}, {DecideApprove, "expire", NoticeExpired}, {DecideComplete, "create", NoticeWork},
		{DecideComplete, "request_changes", NoticeChanges}, {DecideComplete, "correct", NoticeChanges}, {DecideReconcile, "escalate", NoticeUnknown},
		{DecideReexecution, "request_reexecution", NoticeReexecution}, {DecideResume, "pause", NoticeWork}, {DecideRemedy, "effect", NoticeWork},
		{DecideStage, "clear_to_wait", ""}, {DecideTake, "clear", ""}, {DecideNothing, "effect", ""}, {DecideCheck, "unknown", ""},
	} {
		if got := NoticeFor(c.d, c.last); got != c.want {
			t.Errorf("%s after %s: %q, want %q", c.d, c.last, got, c.want)
		}
	}
	for _, k := range NoticeKinds {
		if !k.Allows(k.Default()) || !k.Allows(NoticeOff) || k.Allows("hourly") {
			t.Errorf("%s: its default or its modes do not fit", k)
		}
	}
	if NoticeDigest.Allows(NoticeNow) || NoticeKind("x").Allows(NoticeNow) {
		t.Error("a mode that cannot be is allowed")
	}
}
