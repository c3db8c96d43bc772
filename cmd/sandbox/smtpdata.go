package main

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/mail"
	"strings"
	"time"
)

const (
	effectMessage = "message"
	maxMail       = 10 << 20
)

// data takes one mail. Until the final dot nothing is accepted; once the mail
// is stored it exists, whatever the caller hears.
func (ss *smtpSession) data() error {
	if len(ss.recipients) == 0 {
		ss.say(503, "5.5.1 Say RCPT first")
		return nil
	}
	s := ss.sandbox
	entry := s.requests.open(request{
		Destination: destSMTP, Method: "SMTP", Path: "/" + strings.Join(ss.recipients, ","), When: s.clock.now(),
	})
	note := func(name string, status int, words string) {
		s.requests.note(entry, func(e *request) { e.Fault, e.Status, e.Answered = name, status, words })
	}
	t := faultTarget{on: onEffect, path: entry.Path}
	if f := s.faults.take(destSMTP, t, func(f *fault) bool { return f.Fault == faultDropBefore }); f != nil {
		note(f.Fault, 0, "no answer: connection closed at DATA, nothing was accepted")
		return errHangUp
	}
	ss.say(354, "End the mail with a dot on a line of its own")
	dot := ss.text.DotReader()
	body, err := io.ReadAll(io.LimitReader(dot, maxMail+1))
	if err != nil {
		note("", 0, "the caller left before the final dot; nothing was accepted")
		return err
	}
	if len(body) > maxMail {
		if _, err := io.Copy(io.Discard, dot); err != nil {
			return err
		}
		note("", 552, "552 too large")
		ss.forget()
		ss.say(552, "5.3.4 Message too large")
		return nil
	}
	t.body, t.read, t.header = body, true, mailHeader(body)
	s.requests.note(entry, func(e *request) {
		e.Headers, e.Body, e.Bytes = masked(t.header), keepBody(body), len(body)
	})
	defer ss.forget()
	return ss.accept(t, note)
}

// accept stores the mail and answers the final dot, as far as a fault lets it.
func (ss *smtpSession) accept(t faultTarget, note func(name string, status int, words string)) error {
	s := ss.sandbox
	status := t
	status.on = onData
	if f := s.faults.take(destSMTP, status, nil); f != nil {
		note(f.Fault, f.Status, "refused after the final dot; nothing was accepted")
		ss.say(f.Status, smtpRefusal(f))
		return nil
	}
	name := ""
	if f := s.faults.takeModifier(destSMTP, faultSlow, t); f != nil {
		name = f.Fault
		note(name, 0, "not yet")
		if !s.sleepByClock(f.Delay.Duration) {
			return errHangUp
		}
	}
	id := ss.store(t)
	f := s.faults.take(destSMTP, t, func(f *fault) bool { return f.point == pointAfter })
	if f == nil {
		note(name, 250, "250, queued as "+id)
		ss.say(250, "2.0.0 Ok: queued as "+id)
		return nil
	}
	if f.Fault == faultStallAfter {
		note(f.Fault, 0, "no answer: held open after the mail was stored")
		s.sleep(f.Delay.Duration, ss.leaving())
		return errHangUp
	}
	note(f.Fault, 0, "no answer: connection closed after the mail was stored")
	return errHangUp
}

// leaving is closed when the caller hangs up or speaks out of turn.
func (ss *smtpSession) leaving() <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = ss.text.R.Peek(1)
	}()
	return done
}

// store records the mail. Its reference is the Message-ID without brackets; the
// ledger finds it by the local part too.
func (ss *smtpSession) store(t faultTarget) string {
	s := ss.sandbox
	id := s.ledger.nextID("Q", "")
	e := effect{
		Destination: destSMTP, Effect: effectMessage, ID: id, RequestHash: hashOf(t.body), Time: s.clock.now(),
		Fields: map[string]any{
			"from": ss.from, "to": ss.recipients, "subject": plainHeader(t.header.Get("Subject")),
			"message_id": t.header.Get("Message-Id"), "size": len(t.body), "text": mailText(t.body),
			"tls": ss.encrypted, "user": ss.user,
		},
	}
	if raw := t.header.Get("Message-Id"); raw != "" {
		e.aliases = messageIDNames(raw)
		e.Reference = e.aliases[0]
	}
	s.ledger.add(e, uniqueNothing)
	return id
}

// mailHeader reads the header of a mail; one that cannot be read is empty.
func mailHeader(body []byte) http.Header {
	m, err := mail.ReadMessage(bytes.NewReader(body))
	if err != nil {
		return http.Header{}
	}
	return http.Header(m.Header)
}

// selfSigned makes a certificate for loopback that lives as long as the program.
func selfSigned() (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()),
		Subject:      pkix.Name{CommonName: "sandbox.test"},
		DNSNames:     []string{"localhost", "sandbox.test"},
		IPAddresses:  []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
		NotBefore:    time.Now().Add(-time.Hour),
		NotAfter:     time.Now().AddDate(1, 0, 0),
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return tls.Certificate{}, err
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, nil
}
