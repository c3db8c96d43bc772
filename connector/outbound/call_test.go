package outbound_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"holdpoint/connector/connectortest"
	"holdpoint/connector/outbound"
	"holdpoint/operation"
)

func call(url string, headers ...operation.Header) outbound.Call {
	return outbound.Call{
		Local: true, Timeout: 400 * time.Millisecond, BodyLimit: 1 << 10,
		Request: operation.Request{
			Kind: operation.RequestHTTP, Method: "POST", URL: url, Body: `{"a":1}`,
			Header: append([]operation.Header{{Name: "Content-Type", Value: "application/json"}}, headers...),
		},
	}
}

func gzipped(s string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write([]byte(s))
	_ = w.Close()
	return b.String()
}

func answer(status, headers, body string) string {
	return fmt.Sprintf("HTTP/1.1 %s\r\nContent-Length: %d\r\n%s\r\n%s", status, len(body), headers, body)
}

// Every way an exchange can end, and what is said about it.
func TestDoSaysHowFarItGot(t *testing.T) {
	t.Parallel()
	read := func(say string) func(*connectortest.Peer) {
		return func(p *connectortest.Peer) { p.Read(); p.Say(say) }
	}
	cases := []struct {
		name   string
		play   func(*connectortest.Peer)
		code   string
		phase  operation.Phase
		status int
	}{
		{"whole answer", read(answer("201 Created", "", `{"id":"x"}`)), "", operation.PhaseComplete, 201},
		{"empty body", read(answer("201 Created", "", "")), "", operation.PhaseComplete, 201},
		{"no content", read("HTTP/1.1 204 No Content\r\n\r\n"), "", operation.PhaseComplete, 204},
		{"interim answer first", read("HTTP/1.1 103 Early Hints\r\n\r\n" + answer("200 OK", "", "{}")), "", operation.PhaseComplete, 200},
		{"body until close", read("HTTP/1.1 200 OK\r\n\r\n{}"), "", operation.PhaseComplete, 200},
		{"closed without answer", func(p *connectortest.Peer) { p.Read() }, outbound.CodeNoAnswer, operation.PhaseSent, 0},
		{"reset without answer", func(p *connectortest.Peer) { p.Read(); p.Reset() }, outbound.CodeReset, operation.PhaseSent, 0},
		{"silence", func(p *connectortest.Peer) { p.Read(); p.Hold() }, outbound.CodeTimeout, operation.PhaseSent, 0},
		{"half a header, silence", func(p *connectortest.Peer) { p.Read(); p.Say("HTTP/1.1 201 Cre"); p.Hold() }, outbound.CodeTimeout, operation.PhaseSent, 0},
		{"not HTTP", read("SSH-2.0-OpenSSH\r\n"), outbound.CodeNoAnswer, operation.PhaseSent, 0},
		{"endless header", func(p *connectortest.Peer) {
			p.Read()
			p.Say("HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 1<<20))
		}, outbound.CodeNoAnswer, operation.PhaseSent, 0},
		{"cut body", read("HTTP/1.1 201 Created\r\nContent-Length: 100\r\n\r\n{\"id\":\"x\""), outbound.CodeCutBody, operation.PhaseAnswered, 201},
		{"cut chunks", read("HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{\"id\"\r\n"), outbound.CodeCutBody, operation.PhaseAnswered, 201},
		{"body stalls", func(p *connectortest.Peer) {
			p.Read()
			p.Say("HTTP/1.1 201 Created\r\nContent-Length: 100\r\n\r\n{")
			p.Hold()
		}, outbound.CodeTimeout, operation.PhaseAnswered, 201},
		{"body too long", read(answer("200 OK", "", strings.Repeat("x", 1<<10+1))), outbound.CodeBodyLimit, operation.PhaseAnswered, 200},
		{"body at the limit", read(answer("200 OK", "", strings.Repeat("x", 1<<10))), "", operation.PhaseComplete, 200},
		{"gzip unasked", read(answer("200 OK", "Content-Encoding: gzip\r\n", gzipped("{}"))), outbound.CodeEncoding, operation.PhaseAnswered, 200},
	}
	for _, c := range cases {
		for _, encrypted := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/tls=%v", c.name, encrypted), func(t *testing.T) {
				t.Parallel()
				s := connectortest.StartServer(t, encrypted, c.play)
				one := call(map[bool]string{false: "http://", true: "https://"}[encrypted] + s.Addr + "/x")
				one.Roots = s.Roots
				a := outbound.Do(context.Background(), one)
				code := a.Code
				if encrypted && c.code == outbound.CodeReset && code == outbound.CodeNoAnswer {
					code = c.code // TLS may report the reset as an end
				}
				if code != c.code || a.Phase != c.phase || a.Status != c.status {
					t.Errorf("got code %q phase %q status %d (%s)", a.Code, a.Phase, a.Status, a.Detail)
				}
				if !a.Sent() || a.Written < int64(len(one.Request.Body)) {
					t.Errorf("written %d", a.Written)
				}
				if n := s.Count("POST"); n != 1 || s.Connections() != 1 {
					t.Errorf("%d requests over %d connections arrived, want 1", n, s.Connections())
				}
				if (a.Code == "") != a.Whole() || a.Code != "" && a.Detail == "" {
					t.Errorf("whole %v, detail %q", a.Whole(), a.Detail)
				}
			})
		}
	}
}

func TestDoProvesThatNothingWasSent(t *testing.T) {
	t.Parallel()
	untrusted := connectortest.StartServer(t, true, func(p *connectortest.Peer) { p.Read() })
	plain := connectortest.StartServer(t, false, func(p *connectortest.Peer) { p.Hold() })
	gone := connectortest.StartServer(t, false, func(p *connectortest.Peer) {})
	cases := []struct {
		name string
		edit func(*outbound.Call)
		code string
	}{
		{"nobody listens", func(c *outbound.Call) { c.Request.URL = "http://" + connectortest.ClosedAddr(t) }, outbound.CodeRefused},
		{"unknown name", func(c *outbound.Call) { c.Request.URL = "http://destination.invalid/" }, outbound.CodeDNS},
		{"blocked address", func(c *outbound.Call) { c.Local = false }, outbound.CodeBlocked},
		{"metadata address, even if local", func(c *outbound.Call) { c.Request.URL = "http://169.254.169.254/" }, outbound.CodeBlocked},
		{"certificate not trusted", func(c *outbound.Call) { c.Request.URL = "https://" + untrusted.Addr }, outbound.CodeTLS},
		{"handshake stalls", func(c *outbound.Call) { c.Request.URL = "https://" + plain.Addr }, outbound.CodeNotConnected},
		{"handshake cut", func(c *outbound.Call) { c.Request.URL = "https://" + gone.Addr }, outbound.CodeTLS},
		{"late from the start", func(c *outbound.Call) { c.Late = func() bool { return true } }, outbound.CodeLate},
		{"credentials in the URL", func(c *outbound.Call) { c.Request.URL = "http://u:p@" + plain.Addr }, outbound.CodeBadRequest},
		{"no such scheme", func(c *outbound.Call) { c.Request.URL = "file:///etc/passwd" }, outbound.CodeBadRequest},
		{"open hole", func(c *outbound.Call) { c.Request.Body = operation.MarkHole("key") }, outbound.CodeBadRequest},
		{"line break in a header", func(c *outbound.Call) {
			c.Request.Header = []operation.Header{{Name: "X-A", Value: "1\r\nX-B: 2"}}
		}, outbound.CodeBadRequest},
		{"header of the connection", func(c *outbound.Call) {
			c.Request.Header = []operation.Header{{Name: "transfer-encoding", Value: "chunked"}}
		}, outbound.CodeBadRequest},
		{"a mail", func(c *outbound.Call) { c.Request.Kind = operation.RequestSMTP }, outbound.CodeBadRequest},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			one := call("http://" + plain.Addr)
			one.Authorize = func(h http.Header) { h.Set("Authorization", "Bearer hush-hush") }
			c.edit(&one)
			a := outbound.Do(context.Background(), one)
			if a.Code != c.code || a.Sent() || a.Written != 0 || a.Status != 0 {
				t.Errorf("got %+v, want code %s", a, c.code)
			}
			if strings.Contains(a.Detail, "hush") || strings.Contains(a.Detail, "u:p") {
				t.Errorf("detail shows a secret: %s", a.Detail)
			}
		})
	}
	t.Cleanup(func() {
		if n := len(plain.Seen()) + len(untrusted.Seen()); n != 0 {
			t.Errorf("%d requests arrived", n)
		}
	})
}

// The deadline passes while the connection is being made: the first write is refused.
func TestDoChecksTheTimeRightBeforeTheFirstByte(t *testing.T) {
	t.Parallel()
	for _, encrypted := range []bool{false, true} {
		s := connectortest.StartServer(t, encrypted, func(p *connectortest.Peer) { p.Read(); p.Say(answer("200 OK", "", "{}")) })
		one := call(map[bool]string{false: "http://", true: "https://"}[encrypted] + s.Addr)
		one.Roots = s.Roots
		var asked atomic.Int32
		one.Late = func() bool { return asked.Add(1) > 1 }
		a := outbound.Do(context.Background(), one)
		if a.Code != outbound.CodeLate || a.Sent() || len(s.Seen()) != 0 {
			t.Errorf("tls %v: %+v, %d requests arrived", encrypted, a, len(s.Seen()))
		}
		if s.Connections() != 1 || asked.Load() < 2 {
			t.Errorf("tls %v: the check did not run on an open connection", encrypted)
		}
	}
}

// A request cut by the deadline has bytes on the wire: that is not a proof of nothing.
func TestDoStopsInTheMiddleAndDoesNotCallItUnsent(t *testing.T) {
	t.Parallel()
	s := connectortest.StartServer(t, false, func(p *connectortest.Peer) { p.Read() })
	one := call("http://" + s.Addr)
	one.Request.Body = strings.Repeat("x", 64<<10)
	var asked atomic.Int32
	one.Late = func() bool { return asked.Add(1) > 2 }
	a := outbound.Do(context.Background(), one)
	if a.Code != outbound.CodeLate || !a.Sent() || a.Written >= int64(len(one.Request.Body)) || len(s.Seen()) != 0 {
		t.Errorf("%+v, %d requests arrived", a, len(s.Seen()))
	}
}

func TestDoIgnoresAnAnswerToNoRequest(t *testing.T) {
	t.Parallel()
	s := connectortest.StartServer(t, true, func(p *connectortest.Peer) {
		p.Say(answer("200 OK", "", `{"id":"made-up"}`))
		p.Hold()
	})
	one := call("https://" + s.Addr)
	one.Roots = s.Roots
	one.Late = func() bool { time.Sleep(5 * time.Millisecond); return false } // let the answer be first
	if a := outbound.Do(context.Background(), one); a.Whole() && a.Written == 0 {
		t.Errorf("took %+v for an answer", a)
	}
}

func TestDoSendsWhatWasApprovedAndNothingTwice(t *testing.T) {
	t.Parallel()
	s := connectortest.StartServer(t, false, func(p *connectortest.Peer) { p.Read(); p.Say(answer("200 OK", "", "{}")) })
	one := call("http://"+s.Addr+"/v1/x?b=2&a=1", operation.Header{Name: "Idempotency-Key", Value: "op_1"}, operation.Header{Name: "X-Multi", Value: "1"}, operation.Header{Name: "x-multi", Value: "2"})
	one.Authorize = func(h http.Header) { h.Set("Authorization", "Bearer tok") }
	if a := outbound.Do(context.Background(), one); !a.Whole() {
		t.Fatalf("%+v", a)
	}
	got := s.Seen()[0]
	want := map[string]string{"User-Agent": "holdpoint", "Accept-Encoding": "identity", "Authorization": "Bearer tok", "Idempotency-Key": "op_1", "Connection": "close"}
	for name, v := range want {
		if got.Header.Get(name) != v {
			t.Errorf("%s: %q, want %q", name, got.Header.Get(name), v)
		}
	}
	if got.Path != "/v1/x?b=2&a=1" || got.Body != one.Request.Body || strings.Join(got.Header["X-Multi"], ",") != "1,2" {
		t.Errorf("arrived: %+v", got)
	}
}

func TestDoReadsGzipOnlyIfTheRequestAskedForIt(t *testing.T) {
	t.Parallel()
	whole := gzipped(`{"id":"x"}`)
	for name, c := range map[string]struct{ body, code, want string }{
		"whole":  {whole, "", `{"id":"x"}`},
		"cut":    {whole[:len(whole)-6], outbound.CodeCutBody, ""},
		"bomb":   {gzipped(strings.Repeat("x", 1<<20)), outbound.CodeBodyLimit, ""},
		"no zip": {"plain", outbound.CodeCutBody, ""},
	} {
		s := connectortest.StartServer(t, false, func(p *connectortest.Peer) {
			p.Read()
			p.Say(answer("200 OK", "Content-Encoding: gzip\r\n", c.body))
		})
		a := outbound.Do(context.Background(), call("http://"+s.Addr, operation.Header{Name: "Accept-Encoding", Value: "gzip"}))
		if a.Code != c.code || c.code == "" && string(a.Body) != c.want {
			t.Errorf("%s: code %q, body %q", name, a.Code, a.Body)
		}
	}
}

func TestClientIsGuardedAndFollowsNothing(t *testing.T) {
	t.Parallel()
	s := connectortest.StartServer(t, false, func(p *connectortest.Peer) {
		p.Read()
		p.Say(answer("302 Found", "Location: /elsewhere\r\nConnection: close\r\n", ""))
	})
	if resp, err := outbound.Client(false).Get("http://" + s.Addr); err == nil {
		resp.Body.Close()
		t.Error("a loopback address was reached without local")
	}
	resp, err := outbound.Client(true).Get("http://" + s.Addr)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != 302 || len(s.Seen()) != 1 {
		t.Errorf("status %d, %d requests", resp.StatusCode, len(s.Seen()))
	}
}
