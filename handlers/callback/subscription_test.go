package callback_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync/atomic"
	"testing"
	"time"
)

const snsHost = "sns.eu-central-1.amazonaws.com"

// service plays Amazon SNS over TLS under its own name: it serves the certificate of its
// key, takes the confirmation of a subscription, and publishes to a confirmed one alone.
type service struct {
	sns
	server          *httptest.Server
	client          *http.Client
	down, confirmed atomic.Bool
}

func newService(t *testing.T) *service {
	t.Helper()
	s := &service{sns: *newSNS(t)}
	s.server = httptest.NewUnstartedServer(http.HandlerFunc(s.answer))
	cert, roots := servedBy(t, snsHost)
	s.server.TLS = &tls.Config{Certificates: []tls.Certificate{cert}}
	s.server.StartTLS()
	t.Cleanup(s.server.Close)
	s.client = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots},
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, s.server.Listener.Addr().String())
		}}}
	t.Cleanup(s.client.CloseIdleConnections)
	return s
}

// servedBy is a certificate for a host's name, and what trusts it.
func servedBy(t *testing.T, host string) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: host}, DNSNames: []string{host}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(parsed)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, roots
}

func (s *service) answer(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	switch {
	case s.down.Load():
		http.Error(w, "later", http.StatusServiceUnavailable)
	case r.URL.Path == "/SimpleNotificationService-1.pem":
		_, _ = w.Write(s.cert)
	case q.Get("Action") == "ConfirmSubscription" && q.Get("TopicArn") == topic && q.Get("Token") == "2336412f":
		s.confirmed.Store(true)
		_, _ = io.WriteString(w, "<ConfirmSubscriptionResponse/>")
	default:
		http.NotFound(w, r)
	}
}

func (s *service) fetch(ctx context.Context, address string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	resp, err := s.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, errors.New(resp.Status)
	}
	return io.ReadAll(resp.Body)
}

// TestSNSSubscription walks from the subscription to the mail's delivery: while Amazon
// cannot be asked the confirmation is refused, so that it comes again, and believed then.
func TestSNSSubscription(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "ses", "send", "arn:aws:sns:eu-central-1:000000000000:change-me", topic)
	amazon := newService(t)
	h.fetch = amazon.fetch
	d := h.dispatch()
	d.report("ses-1")
	all := senders(t)
	ses := all[slices.IndexFunc(all, func(s sender) bool { return s.system == "ses" })]
	confirm := func() reply {
		return h.post("/cb/ses", amazon.envelope("SubscriptionConfirmation", "You have chosen to subscribe", time.Now(), map[string]string{"Token": "2336412f",
			"SubscribeURL": "https://" + snsHost + "/?Action=ConfirmSubscription&TopicArn=" + topic + "&Token=2336412f"}), nil)
	}
	amazon.down.Store(true)
	if r := confirm(); r.status != http.StatusServiceUnavailable || amazon.confirmed.Load() {
		t.Errorf("while nothing can be fetched: %d %s", r.status, r.raw)
	}
	amazon.down.Store(false)
	if r := confirm(); r.status != http.StatusOK || !amazon.confirmed.Load() {
		t.Fatalf("not confirmed: %d %s", r.status, r.raw)
	}
	event := ses.event(ses.words[1], d.id, "ses-1", "e1")
	for range 2 {
		if r := h.post("/cb/ses", amazon.envelope("Notification", event, time.Now(), nil), http.Header{"Content-Type": {"text/plain; charset=UTF-8"}}); r.status != http.StatusOK {
			t.Errorf("the notification: %d %s", r.status, r.raw)
		}
	}
	d.want("confirmed", "delivered", "")
	if n := h.Count(t, "news"); n != 1 {
		t.Errorf("%d pieces of news of one notification that came twice", n)
	}
}
