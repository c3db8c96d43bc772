package main

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// What became of a mail, told as each provider tells it: its words, its
// signature. GET /_control/callbacks/{system} gives the secret that a receiver
// needs, POST orders one callback.

// newsOrder is the body of POST /_control/callbacks/{system}.
type newsOrder struct {
	To        string   `json:"to"`        // where it is posted
	ID        string   `json:"id"`        // the provider's ID of the mail, or
	Reference string   `json:"reference"` // ours
	Event     string   `json:"event"`     // one of newsEvents
	Age       duration `json:"age"`       // how old the signature is
	Times     int      `json:"times"`     // how often the same bytes are posted; default 1
	Forged    bool     `json:"forged"`    // the body is changed after it was signed
	Topic     string   `json:"topic"`     // of SNS; default topicARN
}

// newsEvents are the events in words of no provider.
var newsEvents = []string{"accepted", "delivered", "deferred", "bounced", "dropped", "complained"}

const topicARN = "arn:aws:sns:eu-central-1:000000000000:change-me"

// newsKeys are the secrets of one sandbox; they live as long as it does.
type newsKeys struct {
	sendgrid *ecdsa.PrivateKey
	amazon   *rsa.PrivateKey
	secrets  map[string]string // what a receiver needs, for each system
}

const (
	mailgunKey    = "sandbox-mailgun-signing-key"
	postmarkLogin = "sandbox:postmark-webhook"
)

var standardKey = []byte("sandbox-standard-webhooks-key-01")

// newNewsKeys makes the keys when they are asked for first: an RSA key takes a while.
var newNewsKeys = sync.OnceValues(func() (*newsKeys, error) {
	ec, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	public, err := x509.MarshalPKIXPublicKey(&ec.PublicKey)
	if err != nil {
		return nil, err
	}
	rs, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "sns.amazonaws.com"},
		NotBefore: time.Now().Add(-48 * time.Hour), NotAfter: time.Now().Add(365 * 24 * time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &rs.PublicKey, rs)
	if err != nil {
		return nil, err
	}
	return &newsKeys{ec, rs, map[string]string{
		destSendGrid: base64.StdEncoding.EncodeToString(public),
		destResend:   "whsec_" + base64.StdEncoding.EncodeToString(standardKey),
		destMailgun:  mailgunKey,
		destPostmark: postmarkLogin,
		destSES:      string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})),
	}}, nil
})

func (s *sandbox) routeNews(mux *http.ServeMux) {
	mux.HandleFunc("GET /_control/callbacks/{system}", s.controlNewsSecret)
	mux.HandleFunc("POST /_control/callbacks/{system}", s.controlNews)
}

func (s *sandbox) controlNewsSecret(w http.ResponseWriter, r *http.Request) {
	keys, err := newNewsKeys()
	if err != nil {
		refuseOrder(w, err)
		return
	}
	secret, ok := keys.secrets[r.PathValue("system")]
	if !ok {
		refuseOrder(w, fmt.Errorf("%q posts no signed callbacks", r.PathValue("system")))
		return
	}
	reply(w, r, http.StatusOK, map[string]any{"secret": secret, "events": newsEvents})
}

func (s *sandbox) controlNews(w http.ResponseWriter, r *http.Request) {
	order := newsOrder{Times: 1, Topic: topicARN}
	if err := readOrder(r, &order); err != nil {
		refuseOrder(w, err)
		return
	}
	posted, err := s.tell(r, r.PathValue("system"), order)
	if err != nil {
		refuseOrder(w, err)
		return
	}
	reply(w, r, http.StatusOK, map[string]any{"posted": posted})
}

// posted is one callback and the receiver's answer.
type posted struct {
	Status int    `json:"status"` // 0 = no answer
	Answer string `json:"answer"`
	Body   string `json:"body"` // as it was posted
	Error  string `json:"error,omitempty"`
}

// tell composes one callback and posts it.
func (s *sandbox) tell(r *http.Request, name string, o newsOrder) ([]posted, error) {
	keys, err := newNewsKeys()
	if err != nil {
		return nil, err
	}
	compose, ok := newsOf[name]
	switch {
	case !ok:
		return nil, fmt.Errorf("%q posts no signed callbacks", name)
	case !slices.Contains(newsEvents, o.Event):
		return nil, fmt.Errorf("event %q is not known; it is one of %s", o.Event, strings.Join(newsEvents, ", "))
	case o.To == "" || o.Times < 1:
		return nil, errors.New("say where to post (to), and how often (times) if not once")
	}
	e, ok := s.ledger.find(name, effectEmail, o.ID)
	if o.ID == "" {
		if found := s.ledger.list(name, o.Reference); o.Reference != "" && len(found) > 0 {
			e, ok = found[len(found)-1], true
		}
	}
	if !ok {
		return nil, fmt.Errorf("there is no mail with id %q or reference %q", o.ID, o.Reference)
	}
	n := news{effect: e, event: o.Event, at: time.Now().Add(-o.Age.Duration).UTC(), id: s.ledger.nextID("msg", "_"), keys: keys, topic: o.Topic}
	header := http.Header{"Content-Type": {"application/json"}}
	body, err := compose(n, header)
	if err != nil {
		return nil, err
	}
	if o.Forged {
		body = bytes.Replace(body, []byte(recipientOf(e)), []byte("other@example.test"), 1)
	}
	s.ledger.update(name, effectEmail, e.ID, func(e *effect) { e.Fields["last_event"] = o.Event })
	var out []posted
	for range o.Times {
		out = append(out, s.postNews(r, o.To, header, body))
	}
	return out, nil
}

func (s *sandbox) postNews(r *http.Request, to string, header http.Header, body []byte) posted {
	p := posted{Body: string(body)}
	req, err := http.NewRequestWithContext(r.Context(), http.MethodPost, to, bytes.NewReader(body))
	if err != nil {
		p.Error = err.Error()
		return p
	}
	req.Header = header.Clone()
	resp, err := s.callbacks.client.Do(req)
	if err != nil {
		p.Error = err.Error()
		return p
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxBody))
	if err != nil {
		p.Error = err.Error()
	}
	p.Status, p.Answer = resp.StatusCode, string(answer)
	return p
}

func recipientOf(e effect) string {
	to, _ := e.Fields["to"].([]string)
	if len(to) == 0 {
		return ""
	}
	return addressOnly(to[0])
}

// randomToken gives a token of n characters.
func randomToken(n int) string {
	raw := make([]byte, (n+1)/2)
	_, _ = rand.Read(raw) // it does not fail
	return hex.EncodeToString(raw)[:n]
}
