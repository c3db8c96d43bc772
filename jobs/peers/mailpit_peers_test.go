//go:build peers

package peers

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// mailpit is a running Mailpit.
type mailpit struct {
	api, smtp string
}

func startMailpit(t *testing.T) *mailpit {
	t.Helper()
	bin := os.Getenv("HOLDPOINT_MAILPIT")
	if bin == "" {
		t.Fatal("HOLDPOINT_MAILPIT does not name Mailpit's binary: run `make peers`")
	}
	m := &mailpit{api: free(t), smtp: free(t)}
	var log bytes.Buffer
	cmd := exec.Command(bin, "--listen", m.api, "--smtp", m.smtp, "--enable-chaos", "--disable-version-check")
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("Mailpit:\n%s", log.String())
		}
	})
	until(t, "Mailpit listens", func() bool {
		c, err := net.Dial("tcp", m.smtp)
		if err == nil {
			_ = c.Close()
		}
		resp, err2 := http.Get("http://" + m.api + "/api/v1/info")
		if err2 == nil {
			_ = resp.Body.Close()
		}
		return err == nil && err2 == nil
	})
	return m
}

func free(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(60 * time.Second); !ok(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("it did not come to that: %s", what)
		}
	}
}

// message is one mail as Mailpit's API gives it.
type message struct {
	ID, MessageID, Subject, Text, HTML string
	To                                 []struct{ Name, Address string }
}

func (m *mailpit) get(t *testing.T, path string, into any) {
	t.Helper()
	resp, err := http.Get("http://" + m.api + path)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d %v %s", path, resp.StatusCode, err, raw)
	}
	if b, ok := into.(*[]byte); ok {
		*b = raw
		return
	}
	if err := json.Unmarshal(raw, into); err != nil {
		t.Fatal(err)
	}
}

// find gives the mails that a search finds.
func (m *mailpit) find(t *testing.T, query string) []message {
	t.Helper()
	var list struct{ Messages []message }
	m.get(t, "/api/v1/search?query="+url.QueryEscape(query), &list)
	return list.Messages
}

// chaos lets a share of the recipients be refused for now.
func (m *mailpit) chaos(t *testing.T, percent int) {
	t.Helper()
	body := fmt.Sprintf(`{"Recipient":{"ErrorCode":451,"Probability":%d}}`, percent)
	req, err := http.NewRequest(http.MethodPut, "http://"+m.api+"/api/v1/chaos", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("chaos: %v %v", err, resp)
	}
	_ = resp.Body.Close()
}

// gate is a mail server's door that tests can shut: it passes connections on, lets them
// hang, or cuts them at the final dot.
type gate struct {
	addr string
	mode atomic.Value // "open", "hang", "cut"
}

func newGate(t *testing.T, to string) *gate {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	g := &gate{addr: l.Addr().String()}
	g.mode.Store("open")
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go g.pass(c, to)
		}
	}()
	return g
}

func (g *gate) pass(c net.Conn, to string) {
	defer c.Close()
	mode := g.mode.Load().(string)
	if mode == "hang" {
		_, _ = io.Copy(io.Discard, c)
		return
	}
	out, err := net.Dial("tcp", to)
	if err != nil {
		return
	}
	defer out.Close()
	go func() { _, _ = io.Copy(out, c) }()
	if mode == "open" {
		_, _ = io.Copy(c, out)
		return
	}
	var said bytes.Buffer // "cut": all answers but the one to the final dot
	buf := make([]byte, 4096)
	for {
		n, err := out.Read(buf)
		if err != nil {
			return
		}
		said.Write(buf[:n])
		if bytes.Contains(said.Bytes(), []byte("queued as")) {
			return
		}
		if _, err := c.Write(buf[:n]); err != nil {
			return
		}
	}
}
