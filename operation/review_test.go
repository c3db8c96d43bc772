package operation_test

import (
	"testing"
	"time"

	"holdpoint/operation"
)

func zoneOf(t *testing.T, name string) *time.Location {
	t.Helper()
	z, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

// TestPeriodBoundaries: periods are whole days of the zone, also where a day has 23 or 25
// hours, where midnight does not exist, and where it exists twice.
func TestPeriodBoundaries(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		kind                        operation.ReportKind
		zone, now, key, from, until string
	}{
		{operation.Weekly, "Europe/Warsaw", "2026-04-16T07:42:00Z", "2026-W15", "2026-04-05T22:00:00Z", "2026-04-12T22:00:00Z"},
		{operation.Weekly, "Europe/Warsaw", "2026-03-30T10:00:00Z", "2026-W13", "2026-03-22T23:00:00Z", "2026-03-29T22:00:00Z"}, // 167 hours
		{operation.Weekly, "Europe/Warsaw", "2026-10-26T10:00:00Z", "2026-W43", "2026-10-18T22:00:00Z", "2026-10-25T23:00:00Z"}, // 169 hours
		{operation.Monthly, "Europe/Warsaw", "2026-04-16T07:42:00Z", "2026-03", "2026-02-28T23:00:00Z", "2026-03-31T22:00:00Z"},
		{operation.Monthly, "Asia/Tokyo", "2026-01-01T00:00:00Z", "2025-12", "2025-11-30T15:00:00Z", "2025-12-31T15:00:00Z"},
		{operation.Weekly, "UTC", "2027-01-04T00:00:00Z", "2026-W53", "2026-12-28T00:00:00Z", "2027-01-04T00:00:00Z"},
		{operation.Weekly, "UTC", "2027-01-03T23:59:59Z", "2026-W52", "2026-12-21T00:00:00Z", "2026-12-28T00:00:00Z"},
		{operation.Monthly, "America/Sao_Paulo", "2018-12-10T12:00:00Z", "2018-11", "2018-11-01T03:00:00Z", "2018-12-01T02:00:00Z"},
		{operation.Monthly, "Africa/Cairo", "2014-09-10T12:00:00Z", "2014-08", "2014-07-31T22:00:00Z", "2014-08-31T21:00:00Z"}, // midnight of 1 August comes twice
		{operation.Weekly, "Asia/Beirut", "2021-03-30T12:00:00Z", "2021-W12", "2021-03-21T22:00:00Z", "2021-03-28T21:00:00Z"},
		{operation.Weekly, "America/Havana", "2020-03-17T12:00:00Z", "2020-W11", "2020-03-09T04:00:00Z", "2020-03-16T04:00:00Z"},
	} {
		now, err := time.Parse(time.RFC3339, x.now)
		if err != nil {
			t.Fatal(err)
		}
		p := operation.LastPeriod(x.kind, now, zoneOf(t, x.zone))
		if p.Key != x.key || p.From.Format(time.RFC3339) != x.from || p.To.Format(time.RFC3339) != x.until {
			t.Errorf("%s %s at %s: %s %s – %s, want %s %s – %s", x.kind, x.zone, x.now, p.Key, p.From.Format(time.RFC3339), p.To.Format(time.RFC3339), x.key, x.from, x.until)
		}
	}
}

// TestPeriodsFollow: for ten years of zones with odd clocks, periods follow one another
// without gap or overlap, and each moment lies in the running one.
func TestPeriodsFollow(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"UTC", "Europe/Warsaw", "Asia/Tokyo", "America/Sao_Paulo", "Asia/Beirut", "Africa/Cairo", "America/Havana", "Pacific/Apia", "Asia/Tehran", "Australia/Lord_Howe", "America/St_Johns"} {
		zone := zoneOf(t, name)
		for _, k := range operation.ReportKinds {
			p := operation.Running(k, time.Date(2010, 1, 1, 12, 0, 0, 0, time.UTC), zone)
			keys := map[string]bool{}
			for p.From.Year() < 2020 {
				next := p.Next(zone)
				if !next.From.Equal(p.To) || !next.Before.Equal(p.From) || keys[p.Key] {
					t.Fatalf("%s: %s %v – %v, then %s %v", name, p.Key, p.From, p.To, next.Key, next.From)
				}
				for _, at := range []time.Time{p.From, p.To.Add(-time.Microsecond)} {
					if r := operation.Running(k, at, zone); r != p {
						t.Fatalf("%s: %v lies in %s, not %s", name, at, r.Key, p.Key)
					}
				}
				if last := operation.LastPeriod(k, p.To, zone); last != p {
					t.Fatalf("%s: at its end %s is not over", name, p.Key)
				}
				if h, m, s := p.From.In(zone).Clock(); h > 1 || m+s != 0 {
					t.Fatalf("%s: %s begins at %v", name, p.Key, p.From.In(zone))
				}
				keys[p.Key] = true
				p = next
			}
		}
	}
}

func TestReviewHash(t *testing.T) {
	t.Parallel()
	f := operation.ReviewFacts{Format: 1, Kind: operation.Weekly, Period: "2026-W15", Zone: "Europe/Warsaw",
		Lines: []operation.ReviewLine{{Section: operation.ReviewOpen, Code: "open_at_end", Kind: operation.ReviewCount, Now: operation.ReviewNumber{N: 7}}}}
	b, err := f.Canonical()
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"before":"","flow":"","format":1,"from":"","kind":"weekly","lines":[{"before":{"n":0,"of":0},"code":"open_at_end","kind":"count","name":"","now":{"n":7,"of":0},"section":"open"}],"made_at":"","period":"2026-W15","to":"","zone":"Europe/Warsaw"}`
	if string(b) != want {
		t.Errorf("canonical form %s", b)
	}
	one := operation.ReviewComment{Number: 1, Section: operation.ReviewOpen, User: "usr_1", At: "2026-04-13T08:00:00Z", Body: "An outage. 障害 ✓"}
	hashes := map[[32]byte]bool{}
	two := one
	two.Body = "An outage."
	for _, c := range [][]operation.ReviewComment{nil, {one}, {two}, {one, two}, {two, one}} {
		for _, facts := range [][32]byte{{}, {1}} {
			h, err := operation.ReviewHash(facts, c)
			if err != nil {
				t.Fatal(err)
			}
			hashes[h] = true
		}
	}
	if len(hashes) != 10 {
		t.Errorf("%d hashes of 10 contents", len(hashes))
	}
}
