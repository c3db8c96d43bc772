package main

import (
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/textproto"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// The SMTP sink accepts mail and keeps it. It is written out here, and not
// taken from a library, since its faults need to strike between any two lines
// of the conversation, also inside TLS.

// smtpServer owns the listener and its open connections.
type smtpServer struct {
	sandbox  *sandbox
	listener net.Listener
	tls      *tls.Config // nil = no STARTTLS

	mu      sync.Mutex
	stopped bool
	conns   map[net.Conn]struct{}
	wg      sync.WaitGroup
}

func startSMTP(s *sandbox) (*smtpServer, error) {
	srv := &smtpServer{sandbox: s, conns: map[net.Conn]struct{}{}}
	if s.cfg.smtpTLS {
		cert, err := selfSigned()
		if err != nil {
			return nil, fmt.Errorf("make a certificate: %w", err)
		}
		srv.tls = &tls.Config{Certificates: []tls.Certificate{cert}}
	}
	var err error
	if srv.listener, err = net.Listen("tcp", s.cfg.smtpAddr); err != nil {
		return nil, err
	}
	srv.wg.Go(srv.accept)
	return srv, nil
}

func (srv *smtpServer) accept() {
	for {
		conn, err := srv.listener.Accept()
		if err != nil {
			if !errors.Is(err, net.ErrClosed) {
				srv.sandbox.failed <- fmt.Errorf("serve SMTP: %w", err)
			}
			return
		}
		if !srv.keep(conn) {
			conn.Close()
			return
		}
		srv.wg.Go(func() {
			defer srv.drop(conn)
			srv.serve(conn)
		})
	}
}

func (srv *smtpServer) keep(conn net.Conn) bool {
	srv.mu.Lock()
	defer srv.mu.Unlock()
	if !srv.stopped {
		srv.conns[conn] = struct{}{}
	}
	return !srv.stopped
}

func (srv *smtpServer) drop(conn net.Conn) {
	conn.Close()
	srv.mu.Lock()
	defer srv.mu.Unlock()
	delete(srv.conns, conn)
}

func (srv *smtpServer) stop() {
	srv.listener.Close()
	srv.mu.Lock()
	srv.stopped = true
	for conn := range srv.conns {
		conn.Close()
	}
	srv.mu.Unlock()
	srv.wg.Wait()
}

// smtpSession is one conversation.
type smtpSession struct {
	server     *smtpServer
	sandbox    *sandbox
	conn       net.Conn
	text       *textproto.Conn
	encrypted  bool
	user       string // who gave AUTH
	greeted    bool
	hasFrom    bool
	from       string
	recipients []string
}

// errHangUp ends a conversation.
var errHangUp = errors.New("hang up")

func (srv *smtpServer) serve(conn net.Conn) {
	s := srv.sandbox
	if f := s.faults.takeConnect(destSMTP, faultTarget{on: onEffect}); f != nil {
		s.requests.note(s.requests.open(request{Destination: destSMTP, Method: "SMTP", When: s.clock.now()}), func(e *request) {
			e.Fault, e.Answered = f.Fault, "no answer: connection reset before the greeting"
		})
		resetConn(conn)
		return
	}
	ss := &smtpSession{server: srv, sandbox: s, conn: conn, text: textproto.NewConn(conn)}
	ss.say(220, "sandbox.test ESMTP ready")
	for {
		line, err := ss.text.ReadLine()
		if err != nil {
			return
		}
		verb, rest, _ := strings.Cut(line, " ")
		if err := ss.command(strings.ToUpper(verb), strings.TrimSpace(rest)); err != nil {
			return
		}
	}
}

// say answers one line. A caller who has left is noticed at the next read.
func (ss *smtpSession) say(code int, words string) {
	_ = ss.text.PrintfLine("%d %s", code, words)
}

func (ss *smtpSession) command(verb, rest string) error {
	switch verb {
	case "HELO", "EHLO":
		ss.greet(verb == "EHLO")
	case "STARTTLS":
		return ss.startTLS()
	case "AUTH":
		return ss.auth(rest)
	case "MAIL":
		ss.mail(rest)
	case "RCPT":
		ss.rcpt(rest)
	case "DATA":
		return ss.data()
	case "RSET":
		ss.forget()
		ss.say(250, "2.0.0 Ok")
	case "NOOP":
		ss.say(250, "2.0.0 Ok")
	case "QUIT":
		ss.say(221, "2.0.0 Bye")
		return errHangUp
	default:
		ss.say(502, "5.5.1 Command not known")
	}
	return nil
}

// forget ends the current mail, not the conversation.
func (ss *smtpSession) forget() {
	ss.hasFrom, ss.from, ss.recipients = false, "", nil
}

func (ss *smtpSession) offersAuth() bool {
	return ss.sandbox.cfg.smtpAuth && (ss.encrypted || ss.server.tls == nil)
}

func (ss *smtpSession) greet(extended bool) {
	ss.greeted = true
	ss.forget()
	lines := []string{"sandbox.test"}
	if extended {
		lines = append(lines, "PIPELINING", "8BITMIME", "SMTPUTF8", "SIZE "+strconv.Itoa(maxMail))
		if ss.server.tls != nil && !ss.encrypted {
			lines = append(lines, "STARTTLS")
		}
		if ss.offersAuth() {
			lines = append(lines, "AUTH PLAIN")
		}
	}
	for i, line := range lines {
		mark := "-"
		if i == len(lines)-1 {
			mark = " "
		}
		_ = ss.text.PrintfLine("250%s%s", mark, line)
	}
}

func (ss *smtpSession) startTLS() error {
	if ss.server.tls == nil || ss.encrypted {
		ss.say(502, "5.5.1 STARTTLS is not offered")
		return nil
	}
	ss.say(220, "2.0.0 Ready to start TLS")
	conn := tls.Server(ss.conn, ss.server.tls)
	if err := conn.Handshake(); err != nil {
		return err
	}
	ss.conn, ss.text, ss.encrypted, ss.greeted, ss.user = conn, textproto.NewConn(conn), true, false, ""
	ss.forget()
	return nil
}

// auth takes AUTH PLAIN with any name and password that are not empty, except
// the password "wrong".
func (ss *smtpSession) auth(rest string) error {
	if !ss.offersAuth() {
		ss.say(502, "5.5.1 AUTH is not offered")
		return nil
	}
	mechanism, initial, _ := strings.Cut(rest, " ")
	if !strings.EqualFold(mechanism, "PLAIN") {
		ss.say(504, "5.5.4 Only PLAIN is offered")
		return nil
	}
	if initial == "" {
		ss.say(334, "")
		var err error
		if initial, err = ss.text.ReadLine(); err != nil {
			return err
		}
	}
	raw, err := base64.StdEncoding.DecodeString(initial)
	parts := strings.Split(string(raw), "\x00")
	if err != nil || len(parts) != 3 || parts[1] == "" || parts[2] == "" || parts[2] == "wrong" {
		ss.say(535, "5.7.8 Authentication failed")
		return nil
	}
	ss.user = parts[1]
	ss.say(235, "2.7.0 Authenticated")
	return nil
}

var (
	fromPath = regexp.MustCompile(`(?i)^FROM:\s*<([^>]*)>`)
	rcptPath = regexp.MustCompile(`(?i)^TO:\s*<([^>]+)>`)
)

func (ss *smtpSession) mail(rest string) {
	m := fromPath.FindStringSubmatch(rest)
	switch {
	case !ss.greeted:
		ss.say(503, "5.5.1 Say EHLO first")
	case ss.sandbox.cfg.smtpAuth && ss.user == "":
		ss.say(530, "5.7.0 Authentication required")
	case m == nil:
		ss.say(501, "5.5.4 Write MAIL FROM:<address>")
	case ss.hasFrom:
		ss.say(503, "5.5.1 A mail is already under way")
	default:
		ss.hasFrom, ss.from = true, m[1]
		ss.say(250, "2.1.0 Ok")
	}
}

func (ss *smtpSession) rcpt(rest string) {
	m := rcptPath.FindStringSubmatch(rest)
	switch {
	case !ss.hasFrom:
		ss.say(503, "5.5.1 Say MAIL first")
		return
	case m == nil:
		ss.say(501, "5.5.4 Write RCPT TO:<address>")
		return
	}
	s := ss.sandbox
	if f := s.faults.take(destSMTP, faultTarget{on: onRcpt, path: "/" + m[1]}, nil); f != nil {
		entry := s.requests.open(request{Destination: destSMTP, Method: "SMTP", Path: "RCPT " + m[1], When: s.clock.now()})
		s.requests.note(entry, func(e *request) {
			e.Fault, e.Status, e.Answered = f.Fault, f.Status, fmt.Sprintf("%d to RCPT", f.Status)
		})
		ss.say(f.Status, smtpRefusal(f))
		return
	}
	ss.recipients = append(ss.recipients, m[1])
	ss.say(250, "2.1.5 Ok")
}

// smtpRefusal gives the words of a refusal, with the enhanced code of its class.
func smtpRefusal(f *fault) string {
	if f.hasBody {
		return f.Body
	}
	if f.Status < 500 {
		return "4.3.0 Not now; nothing was accepted"
	}
	return "5.3.0 Refused; nothing was accepted"
}
