package web

import (
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

const (
	// keptPerHour is how many forms are kept for one address prefix in an hour.
	keptPerHour = 30
	// keptPrefixes bounds how many prefixes are counted at once.
	keptPrefixes = 4096
)

// keeping bounds how often something is kept for each address prefix. It counts in memory,
// for this process.
type keeping struct {
	per int // an hour; 0 = keptPerHour
	mu  sync.Mutex
	all map[netip.Prefix]*rate.Limiter
}

// allow takes one from the prefix's share. Where no more prefixes can be counted,
// nothing is kept.
func (k *keeping) allow(ip string, now time.Time) bool {
	p := prefixOf(ip)
	k.mu.Lock()
	defer k.mu.Unlock()
	l := k.all[p]
	if l == nil {
		if len(k.all) >= keptPrefixes {
			k.tidy(now)
		}
		if len(k.all) >= keptPrefixes {
			return false
		}
		if k.all == nil {
			k.all = map[netip.Prefix]*rate.Limiter{}
		}
		l = rate.NewLimiter(rate.Every(time.Hour/time.Duration(k.share())), k.share())
		k.all[p] = l
	}
	return l.AllowN(now, 1)
}

func (k *keeping) share() int {
	if k.per > 0 {
		return k.per
	}
	return keptPerHour
}

// tidy forgets the prefixes whose share is whole again.
func (k *keeping) tidy(now time.Time) {
	for p, l := range k.all {
		if l.TokensAt(now) >= float64(k.share()) {
			delete(k.all, p)
		}
	}
}

// prefixOf is the network that counts as one: /24 for IPv4, /64 for IPv6. The zero
// value stands for an address that cannot be read.
func prefixOf(ip string) netip.Prefix {
	a, err := netip.ParseAddr(ip)
	if err != nil {
		return netip.Prefix{}
	}
	a = a.Unmap().WithZone("")
	bits := 64
	if a.Is4() {
		bits = 24
	}
	p, err := a.Prefix(bits)
	if err != nil {
		return netip.Prefix{}
	}
	return p
}
