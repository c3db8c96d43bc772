// Package connector is where effects leave: it turns a destination's profile into a
// Connector, and limits how fast one process uses it. What an order permits is in
// connector/order, the wire in connector/outbound, the two kinds of destination in
// connector/httpapi and connector/smtp.
//
// It may import operation, operation/definition and its own folders.
package connector

import (
	"crypto/x509"
	"fmt"
	"net/mail"
	"strings"

	"holdpoint/connector/httpapi"
	"holdpoint/connector/order"
	"holdpoint/connector/smtp"
	"holdpoint/operation"
	"holdpoint/operation/definition"
)

// Order is what the dispatch answer permits: exactly these bytes, once, before the
// deadline.
type Order = order.Order

// LookupOrder asks whether the effect of an operation exists.
type LookupOrder = order.Lookup

// Connector reaches one destination.
type Connector = order.Connector

// Env gives the value of an environment variable, as os.LookupEnv does.
type Env = order.Env

// New gives the connector for a profile. Credentials are read through env at each use,
// and so are places that name a variable. It is safe for concurrent use.
func New(p *definition.Profile, env Env) (Connector, error) { return NewTrusting(p, env, nil) }

// NewTrusting is New with the certificates to trust instead of the system's.
func NewTrusting(p *definition.Profile, env Env, roots *x509.CertPool) (Connector, error) {
	switch p.Kind {
	case operation.RequestHTTP:
		return httpapi.New(p, env, roots), nil
	case operation.RequestSMTP:
		return newSMTP(p, env, roots)
	}
	return nil, fmt.Errorf("destination %s: there is no connector of kind %q", p.Destination, p.Kind)
}

func newSMTP(p *definition.Profile, env Env, roots *x509.CertPool) (Connector, error) {
	base, err := p.Base(env)
	if err != nil {
		return nil, fmt.Errorf("destination %s: %w", p.Destination, err)
	}
	cfg := smtp.Config{
		Addr: strings.TrimPrefix(base, "smtp://"), StartTLS: smtp.StartTLS(p.SMTP.StartTLS),
		Hello: p.SMTP.MessageIDDomain, Timeout: p.Limits.Timeout, Local: p.Local, Roots: roots,
	}
	if from, err := mail.ParseAddress(p.SMTP.From); err == nil && cfg.Hello == "" {
		_, cfg.Hello, _ = strings.Cut(from.Address, "@")
	}
	if p.Auth.Scheme == "plain" {
		cfg.Auth = &smtp.Auth{User: order.Ref(p.Auth.User), Password: order.Ref(p.Auth.Secret)}
	}
	server, err := smtp.New(cfg, env)
	if err != nil {
		return nil, fmt.Errorf("destination %s: %w", p.Destination, err)
	}
	return mailServer{server, p, env}, nil
}

// NewLimiterFor gives the limiter of a profile's limits.
func NewLimiterFor(p *definition.Profile) *Limiter {
	return NewLimiter(p.Limits.Concurrency, p.Limits.Rate, p.Limits.Burst)
}
