package outbound

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"os"
	"syscall"
)

// Why an answer is not whole. The first group proves that no byte of the request left,
// as long as Written is zero; the second leaves the outcome open.
const (
	CodeBadRequest   = "bad_request"        // our request cannot be sent as it is
	CodeLate         = "send_by_passed"     // the time to send had passed
	CodeBlocked      = "blocked_address"    // our guard refused the address
	CodeDNS          = "dns"                // the name was not found
	CodeRefused      = "refused_connection" // nobody listens there
	CodeTLS          = "tls"                // the TLS handshake failed
	CodeNotConnected = "not_connected"      // no connection for another reason

	CodeTimeout   = "timeout"       // bytes left, the answer did not come in time
	CodeReset     = "reset"         // bytes left, the connection was reset
	CodeNoAnswer  = "no_answer"     // bytes left, closed or unreadable before a status
	CodeCutBody   = "cut_body"      // a status came, the body broke off
	CodeBodyLimit = "body_limit"    // a status came, the body is too long
	CodeEncoding  = "body_encoding" // a status came, the body is encoded unasked
)

// tlsError marks a failed handshake: no byte of the request was written.
type tlsError struct{ err error }

func (e *tlsError) Error() string { return "TLS handshake: " + e.err.Error() }
func (e *tlsError) Unwrap() error { return e.err }

func timedOut(err error) bool {
	var ne net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) ||
		errors.As(err, &ne) && ne.Timeout()
}

// explain names why no status came. The sentences are fixed: an error's own text may
// contain what must not be shown.
func explain(err error, sent bool) (code, detail string) {
	if !sent {
		return explainUnsent(err)
	}
	switch {
	case timedOut(err):
		return CodeTimeout, "The request was sent; no answer came in time."
	case errors.Is(err, context.Canceled):
		return CodeTimeout, "The request was sent; waiting for the answer was stopped."
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return CodeReset, "The request was sent; the connection was reset before an answer came."
	}
	return CodeNoAnswer, "The request was sent; the connection ended without a readable answer."
}

func explainUnsent(err error) (code, detail string) {
	var dns *net.DNSError
	var secured *tlsError
	switch {
	case errors.Is(err, ErrBlocked):
		return CodeBlocked, "The destination's address is not allowed: it is private, local or reserved."
	case errors.Is(err, ErrLate):
		return CodeLate, "The time to send had passed."
	case errors.As(err, &dns):
		return CodeDNS, "The destination's name could not be resolved."
	case errors.Is(err, syscall.ECONNREFUSED):
		return CodeRefused, "The destination refused the connection."
	case errors.As(err, &secured):
		return CodeTLS, "The encrypted connection could not be made: " + tlsReason(secured.err) + "."
	case timedOut(err):
		return CodeNotConnected, "The connection could not be opened in time."
	}
	return CodeNotConnected, "The connection could not be opened, or ended before a byte of the request was written."
}

func tlsReason(err error) string {
	var authority x509.UnknownAuthorityError
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	var verify *tls.CertificateVerificationError
	switch {
	case errors.As(err, &authority):
		return "the certificate's issuer is not known"
	case errors.As(err, &name):
		return "the certificate is for another name"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "the certificate has expired"
	case errors.As(err, &verify):
		return "the certificate is not valid"
	case timedOut(err):
		return "no answer in time"
	}
	return "the handshake failed"
}

// explainBody names why the body is not whole.
func explainBody(err error) (code, detail string) {
	switch {
	case errors.Is(err, errEncoding):
		return CodeEncoding, "The answer's body is encoded in a way that was not asked for."
	case timedOut(err), errors.Is(err, context.Canceled):
		return CodeTimeout, "Status and headers came; the body did not end in time."
	case errors.Is(err, io.ErrUnexpectedEOF):
		return CodeCutBody, "Status and headers came; the body broke off."
	case errors.Is(err, syscall.ECONNRESET):
		return CodeCutBody, "Status and headers came; the connection was reset within the body."
	}
	return CodeCutBody, "Status and headers came; the body could not be read."
}
