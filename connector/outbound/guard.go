// Package outbound is the only way out of this program to the network: a dialer that
// refuses addresses nobody meant to reach, and a client that sends one request once
// and says how far it got. Destinations, sign-in providers and webhooks all use it.
//
// It may import operation.
package outbound

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"syscall"
	"time"
)

// ErrBlocked is wrapped by every refusal of an address. No connection was opened.
var ErrBlocked = errors.New("address is not allowed")

func prefixes(list ...string) []netip.Prefix {
	out := make([]netip.Prefix, len(list))
	for i, s := range list {
		out[i] = netip.MustParsePrefix(s)
	}
	return out
}

var (
	// localNets are one's own machine and networks. A profile with local: true may
	// reach them.
	localNets = prefixes("127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16",
		"100.64.0.0/10", "::1/128", "fc00::/7")

	// neverNets are never a destination, local or not: unspecified, link-local (cloud
	// metadata), multicast, reserved, documentation, benchmarking, and the platform
	// services that sit on other addresses.
	neverNets = prefixes("0.0.0.0/8", "169.254.0.0/16", "192.0.0.0/24", "192.0.2.0/24",
		"192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
		"224.0.0.0/4", "240.0.0.0/4", "168.63.129.16/32", "100.100.100.200/32",
		"fd00:ec2::254/128", "fd20:ce::254/128", "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")

	// globalV6 is all of IPv6 that is handed out; the rest is not a destination.
	globalV6 = netip.MustParsePrefix("2000::/3")
	// nat64 carries an IPv4 address in its last 32 bits; that one is judged.
	nat64 = netip.MustParsePrefix("64:ff9b::/96")
)

// Allowed returns nil if a connection to ip is allowed, else an error that wraps
// ErrBlocked. local permits loopback and private networks, nothing else.
func Allowed(ip netip.Addr, local bool) error {
	ip = ip.Unmap().WithZone("")
	if nat64.Contains(ip) {
		raw := ip.As16()
		ip = netip.AddrFrom4([4]byte(raw[12:]))
	}
	refuse := func(why string) error { return fmt.Errorf("%w: %s is %s", ErrBlocked, ip, why) }
	if !ip.IsValid() {
		return refuse("no address")
	}
	if within(neverNets, ip) {
		return refuse("reserved, link-local or a platform's own service")
	}
	if within(localNets, ip) {
		if local {
			return nil
		}
		return refuse("private or this machine's own")
	}
	if ip.Is6() && !globalV6.Contains(ip) {
		return refuse("not a public address")
	}
	return nil
}

func within(nets []netip.Prefix, ip netip.Addr) bool {
	for _, n := range nets {
		if n.Contains(ip) {
			return true
		}
	}
	return false
}

// Dialer gives a dialer that checks the address it is about to connect to, after name
// resolution: a name that changes its answer between check and use gains nothing.
func Dialer(local bool) *net.Dialer {
	return &net.Dialer{
		Timeout: 30 * time.Second,
		ControlContext: func(_ context.Context, network, address string, _ syscall.RawConn) error {
			if network != "tcp4" && network != "tcp6" {
				return fmt.Errorf("%w: network %s", ErrBlocked, network)
			}
			ap, err := netip.ParseAddrPort(address)
			if err != nil {
				return fmt.Errorf("%w: %q is not an address", ErrBlocked, address)
			}
			return Allowed(ap.Addr(), local)
		},
	}
}
