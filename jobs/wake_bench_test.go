package jobs

import (
	"slices"
	"sync"
	"testing"
	"time"

	"holdpoint/connector"
	"holdpoint/operation"
)

// BenchmarkApprovalToRequest measures, at about 20 approvals per second, the time from
// a committed approval to the moment at which the request leaves. Run it with
// -benchtime 100x; docs/decisions/0003-wake-up.md has results.
func BenchmarkApprovalToRequest(b *testing.B) {
	for _, way := range []struct {
		name string
		set  func(*Config)
	}{
		{"listen", func(*Config) {}},
		{"poll-50ms", func(c *Config) { c.PollOnly, c.Poll = true, 50*time.Millisecond }},
		{"poll-1s", func(c *Config) { c.PollOnly, c.Poll = true, time.Second }},
	} {
		b.Run(way.name, func(b *testing.B) {
			w := newWorld(b, "10s")
			var ids []operation.ID
			for range b.N {
				ids = append(ids, w.draft("billing"))
			}
			var mu sync.Mutex
			approved := map[operation.ID]time.Time{}
			took := make(chan time.Duration, b.N)
			w.work(way.set, func(c *Config) { c.Sweep = time.Hour }, around(func(o connector.Order) {
				now := time.Now()
				mu.Lock()
				defer mu.Unlock()
				took <- now.Sub(approved[o.Operation])
			}, nil))
			b.ResetTimer()
			for _, id := range ids {
				mu.Lock() // the request may leave before approve returns
				w.approve(id)
				approved[id] = time.Now()
				mu.Unlock()
				time.Sleep(50 * time.Millisecond)
			}
			var all []time.Duration
			for range ids {
				all = append(all, <-took)
			}
			b.StopTimer()
			slices.Sort(all)
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(all[len(all)/2].Microseconds())/1000, "p50-ms")
			b.ReportMetric(float64(all[min(len(all)-1, len(all)*99/100)].Microseconds())/1000, "p99-ms")
		})
	}
}
