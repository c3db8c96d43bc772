//go:build peers

package peers

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"holdpoint/connector"
	"holdpoint/connector/connectortest"
	"holdpoint/operation"
	"holdpoint/operation/definition"
)

// mailpit is a running Mailpit that asks for STARTTLS and a sign-in, or for neither.
type mailpit struct {
	api, smtp string
	roots     *x509.CertPool
}

func startMailpit(t *testing.T, secured bool) *mailpit {
	t.Helper()
	m := &mailpit{api: freePort(t), smtp: freePort(t)}
	args := []string{"--listen", m.api, "--smtp", m.smtp, "--enable-chaos", "--disable-version-check"}
	if secured {
		cert, roots := connectortest.Certificate(t)
		m.roots = roots
		key, err := x509.MarshalPKCS8PrivateKey(cert.PrivateKey)
		if err != nil {
			t.Fatal(err)
		}
		args = append(args, "--smtp-auth-accept-any", "--smtp-require-starttls",
			"--smtp-tls-cert", pemFile(t, "CERTIFICATE", cert.Certificate[0]), "--smtp-tls-key", pemFile(t, "PRIVATE KEY", key))
	}
	run(t, exec.Command(needed(t, "HOLDPOINT_MAILPIT"), args...))
	waitFor(t, "Mailpit", func() bool {
		c, err := net.Dial("tcp", m.smtp)
		if err == nil {
			_ = c.Close()
		}
		return err == nil && answers("http://"+m.api+"/api/v1/info")
	})
	return m
}

func pemFile(t *testing.T, kind string, der []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "part.pem")
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// run starts a program for the time of a test.
func run(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("%s:\n%s", cmd.Path, log.String())
		}
	})
}

func freePort(t *testing.T) string { return connectortest.ClosedAddr(t) }

func waitFor(t *testing.T, what string, ready func() bool) {
	t.Helper()
	for end := time.Now().Add(60 * time.Second); !ready(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s did not answer in a minute", what)
		}
	}
}

func answers(address string) bool {
	resp, err := http.Get(address)
	if err != nil {
		return false
	}
	_ = resp.Body.Close()
	return true
}

// count searches by Message-ID, as a person would, and gives how many mails have it.
func (m *mailpit) count(t *testing.T, id string) int {
	t.Helper()
	resp, err := http.Get("http://" + m.api + "/api/v1/search?query=" + url.QueryEscape("message-id:"+id))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	var found struct {
		Messages []struct{ MessageID, Subject string }
	}
	if err != nil || json.Unmarshal(raw, &found) != nil {
		t.Fatalf("%v %s", err, raw)
	}
	for _, one := range found.Messages {
		if one.MessageID != id || !strings.HasPrefix(one.Subject, "Zażółć") {
			t.Errorf("found %+v", one)
		}
	}
	return len(found.Messages)
}

// chaos refuses a share of the recipients for now.
func (m *mailpit) chaos(t *testing.T, percent int) {
	t.Helper()
	body := fmt.Sprintf(`{"Recipient":{"ErrorCode":451,"Probability":%d}}`, percent)
	req, err := http.NewRequest(http.MethodPut, "http://"+m.api+"/api/v1/chaos", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatal(resp, err)
	}
	_ = resp.Body.Close()
}

// playing gives the harness of a shipped profile with these variables; every other one
// is a secret.
func playing(t *testing.T, name, action string, content map[string]any, values map[string]string) connectortest.Harness {
	p := shipped(t, name)
	p.Limits.Timeout = 5 * time.Second
	return connectortest.Harness{
		Profile: p, Action: action, Content: func(int) map[string]any { return content },
		Env: func(base string) connector.Env {
			return func(variable string) (string, bool) {
				if v, ok := values[variable]; ok {
					return strings.ReplaceAll(v, "BASE", base), true
				}
				return connectortest.Secret, true
			}
		},
	}
}

var letter = map[string]any{"to": "anna@customer.test", "subject": "Zażółć こんにちは", "text": "Good day.\n.\nBye.", "html": "<p>Good day</p>"}

func smtpHarness(t *testing.T) connectortest.Harness {
	return playing(t, "smtp-server", "send", letter, map[string]string{"SMTP_ADDR": "BASE", "SMTP_USER": "mailer"})
}

// The profile as it ships: STARTTLS with a certificate that is checked, a sign-in, a
// refusal for now that provably took nothing, and one mail that its Message-ID finds.
func TestMailpitTakesOneMail(t *testing.T) {
	m := startMailpit(t, true)
	h := smtpHarness(t)
	o := h.Order(t, m.smtp)
	c := h.Connect(t, m.smtp, m.roots)
	m.chaos(t, 100)
	r := c.Act(context.Background(), o)
	if r.Outcome != operation.OutcomeNotStarted || r.Permanent || r.Proof.Status != 451 {
		t.Fatalf("%s %+v", r.Outcome, r.Proof)
	}
	id := string(o.Operation) + "@mail.example.test"
	if n := m.count(t, id); n != 0 {
		t.Fatalf("%d mails after a refusal", n)
	}
	m.chaos(t, 0)
	if r = c.Act(context.Background(), o); r.Outcome != operation.OutcomeConfirmed || r.TargetReference != id {
		t.Fatalf("%s %q %+v", r.Outcome, r.TargetReference, r.Proof)
	}
	if n := m.count(t, id); n != 1 {
		t.Fatalf("%d mails", n)
	}
	if r = h.Connect(t, m.smtp, nil).Act(context.Background(), h.Order(t, m.smtp)); r.Outcome != operation.OutcomeNotStarted {
		t.Errorf("with a certificate that nobody vouches for: %s %+v", r.Outcome, r.Proof)
	}
}

// The answer to the final dot is lost: unknown, and the mail is there.
func TestMailpitAndALostAnswer(t *testing.T) {
	m := startMailpit(t, false)
	h := smtpHarness(t)
	h.Profile.SMTP.StartTLS, h.Profile.Auth = "off", definition.Auth{Scheme: definition.AuthNone}
	door := cutAtDot(t, m.smtp)
	o := h.Order(t, door)
	if r := h.Connect(t, door, nil).Act(context.Background(), o); r.Outcome != operation.OutcomeUnknown || r.TargetReference != "" {
		t.Errorf("%s %+v", r.Outcome, r.Proof)
	}
	waitFor(t, "the mail", func() bool { return m.count(t, string(o.Operation)+"@mail.example.test") == 1 })
}

// cutAtDot passes one connection on, and closes the caller's side as soon as the final
// dot has passed.
func cutAtDot(t *testing.T, to string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		caller, err := l.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", to)
		if err != nil {
			return
		}
		go func() { _, _ = io.Copy(caller, server) }()
		var all []byte
		buffer := make([]byte, 4096)
		for !bytes.HasSuffix(all, []byte("\r\n.\r\n")) {
			n, err := caller.Read(buffer)
			if err != nil {
				return
			}
			all = append(all, buffer[:n]...)
			if bytes.HasSuffix(all, []byte("\r\n.\r\n")) {
				_ = caller.(*net.TCPConn).SetLinger(0)
				_ = caller.Close() // before the dot goes on, so that no answer can come back
			}
			_, _ = server.Write(buffer[:n])
		}
	}()
	return l.Addr().String()
}
