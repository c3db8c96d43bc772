package outbound

import (
	"crypto/tls"
	"net/http"
	"time"
)

// Guarded is a client that Client has made, named for those who carry it and make none.
type Guarded = http.Client

// Client gives an ordinary HTTP client behind the same guard, for what has no effect
// on a customer: sign-in providers, certificates of webhook senders. It follows no
// redirects and uses no proxy. local permits loopback and private networks.
//
// Effects never use it: they go through Do.
func Client(local bool) *http.Client {
	return &http.Client{
		Timeout: DefaultTimeout,
		Transport: &http.Transport{
			Proxy:                  nil,
			DialContext:            Dialer(local).DialContext,
			TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12},
			TLSHandshakeTimeout:    10 * time.Second,
			ResponseHeaderTimeout:  20 * time.Second,
			MaxResponseHeaderBytes: headerLimit,
			MaxIdleConns:           8,
			IdleConnTimeout:        30 * time.Second,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}
