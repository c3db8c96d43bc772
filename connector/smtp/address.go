package smtp

import (
	"errors"
	"net"
	"net/netip"
	"net/url"

	"holdpoint/connector/order"
)

// names under which the parts of an address's sign-in are asked for, inside this program.
const (
	addressUser     = "user"
	addressPassword = "password"
)

// FromURL gives the connector of the installation's own mail server:
// smtp://user:password@host:port?starttls=required. Without starttls it must be
// encrypted, except on this machine. Whoever sets it may name any network. An error
// never holds the password.
func FromURL(raw string) (*Connector, error) {
	u, err := url.Parse(raw)
	if err != nil || u.Scheme != "smtp" || u.Hostname() == "" || u.Path != "" && u.Path != "/" {
		return nil, errors.New("the mail server's address is not smtp://host:port")
	}
	port := u.Port()
	if port == "" {
		port = "587"
	}
	cfg := Config{Addr: net.JoinHostPort(u.Hostname(), port), StartTLS: TLSRequired, Local: true}
	if u.Hostname() == "localhost" || isLoopback(u.Hostname()) {
		cfg.StartTLS = TLSOptional
	}
	if s := u.Query().Get("starttls"); s != "" {
		cfg.StartTLS = StartTLS(s)
	}
	if cfg.StartTLS != TLSRequired && u.User != nil && !isLoopback(u.Hostname()) {
		return nil, errors.New("the mail server's password must not travel unencrypted: starttls=required")
	}
	values := map[string]string{}
	if u.User != nil {
		values[addressUser] = u.User.Username()
		values[addressPassword], _ = u.User.Password()
		cfg.Auth = &Auth{User: order.Ref{Env: addressUser}, Password: order.Ref{Env: addressPassword}}
	}
	return New(cfg, func(name string) (string, bool) { v, ok := values[name]; return v, ok })
}

func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}
