package outbound

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
)

// Dial opens one guarded TCP connection, for protocols that are not HTTP. The error,
// if any, is explained by Explain.
func Dial(ctx context.Context, addr string, local bool) (net.Conn, error) {
	return Dialer(local).DialContext(ctx, "tcp", addr)
}

// Secure does a TLS client handshake over conn for the server name. roots nil means
// the system's.
func Secure(ctx context.Context, conn net.Conn, name string, roots *x509.CertPool) (net.Conn, error) {
	secured := tls.Client(conn, &tls.Config{ServerName: name, RootCAs: roots, MinVersion: tls.VersionTLS12})
	if err := secured.HandshakeContext(ctx); err != nil {
		return nil, &tlsError{err}
	}
	return secured, nil
}

// Explain names why a connection did not come about: a code and a sentence for people.
func Explain(err error) (code, detail string) { return explainUnsent(err) }
