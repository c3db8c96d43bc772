package outbound

import (
	"context"
	"errors"
	"net/netip"
	"testing"
)

func TestAllowed(t *testing.T) {
	t.Parallel()
	cases := []struct {
		ip            string
		public, local bool // allowed without and with local: true
	}{
		{"8.8.8.8", true, true},
		{"2606:4700::1111", true, true},
		{"64:ff9b::808:808", true, true},
		{"127.0.0.1", false, true},
		{"127.9.9.9", false, true},
		{"::1", false, true},
		{"::ffff:127.0.0.1", false, true},
		{"::ffff:10.0.0.1", false, true},
		{"64:ff9b::a00:1", false, true},
		{"10.1.2.3", false, true},
		{"172.31.255.255", false, true},
		{"172.32.0.1", true, true},
		{"192.168.1.1", false, true},
		{"100.64.0.1", false, true},
		{"fd12::1", false, true},
		{"0.0.0.0", false, false},
		{"::", false, false},
		{"169.254.169.254", false, false},
		{"::ffff:169.254.169.254", false, false},
		{"64:ff9b::a9fe:a9fe", false, false},
		{"168.63.129.16", false, false},
		{"100.100.100.200", false, false},
		{"fd00:ec2::254", false, false},
		{"fe80::1", false, false},
		{"fe80::1%eth0", false, false},
		{"fec0::1", false, false},
		{"ff02::1", false, false},
		{"224.0.0.1", false, false},
		{"255.255.255.255", false, false},
		{"192.0.2.1", false, false},
		{"198.18.0.1", false, false},
		{"2001:db8::1", false, false},
		{"2001:0:1::1", false, false},
		{"2002:7f00:1::", false, false},
		{"::7f00:1", false, false},
		{"64:ff9b:1::1", false, false},
		{"100::1", false, false},
	}
	for _, c := range cases {
		ip := netip.MustParseAddr(c.ip)
		for local, want := range map[bool]bool{false: c.public, true: c.local} {
			err := Allowed(ip, local)
			if (err == nil) != want {
				t.Errorf("%s, local %v: allowed %v, want %v", c.ip, local, err == nil, want)
			}
			if err != nil && !errors.Is(err, ErrBlocked) {
				t.Errorf("%s: the refusal does not wrap ErrBlocked", c.ip)
			}
		}
	}
	if Allowed(netip.Addr{}, true) == nil {
		t.Error("no address at all was allowed")
	}
}

func TestDialerChecksTheAddressAfterResolution(t *testing.T) {
	t.Parallel()
	for _, addr := range []string{"localhost:9", "127.0.0.1:9", "[::1]:9", "0.0.0.0:9", "2130706433:9"} {
		conn, err := Dial(context.Background(), addr, false)
		if err == nil {
			conn.Close()
			t.Fatalf("%s: connected", addr)
		}
		if code, _ := Explain(err); code != CodeBlocked && code != CodeDNS {
			t.Errorf("%s: code %s (%v), want %s", addr, code, err, CodeBlocked)
		}
	}
}
