package callback

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"holdpoint/connector/outbound"
	"holdpoint/handlers/intake"
	"holdpoint/operation"
	"holdpoint/operation/definition"
	"holdpoint/operation/signature"
	"holdpoint/store"
)

// read reads at most the profile's limit. What is signed are these bytes: nothing is
// decompressed.
func (k *knock) read() ([]byte, *intake.Refused) {
	body, no := intake.ReadLimited(k.request.Body, k.rules.Body)
	if no == nil && intake.Encoding(k.request.Header) != "" {
		no = &intake.Refused{Status: http.StatusUnsupportedMediaType, Code: "content_encoding", Detail: "compressed bodies are not accepted"}
	}
	return body, no
}

// believe checks the proof and gives the decoded body; nil = it was about the callbacks
// themselves and is done.
func (k *knock) believe(ctx context.Context) (any, error) {
	secrets, err := k.secrets()
	if err != nil {
		return nil, err
	}
	var sns signature.SNSMessage
	if k.rules.Rule.Scheme == signature.SNS {
		if sns, secrets, err = k.amazon(ctx, secrets); err != nil {
			return nil, err
		}
	}
	m := signature.Message{Method: k.request.Method, URL: k.url, Header: k.request.Header, Bodies: [][]byte{k.body}}
	signed, err := signature.Verify(k.rules.Rule, secrets, m, k.Now())
	k.at, k.token = signed.At, signed.Token
	var no *signature.Error
	if errors.As(err, &no) {
		if no.Code == signature.CodeSecret {
			return nil, k.ourFault()
		}
		return nil, refuse(http.StatusUnauthorized, no.Code, no.Detail)
	}
	if k.rules.Rule.Scheme == signature.SNS {
		return k.unwrap(ctx, sns)
	}
	v, err := decode(signed.Body)
	if err == nil {
		return v, nil
	}
	if list, broken := readable(signed.Body); len(list) > 0 {
		k.broken, k.why = broken, err
		return list, nil
	}
	return nil, err
}

// decode reads JSON that reads in one way only and can be stored.
func decode(raw []byte) (any, error) {
	v, err := definition.DecodeJSON(raw)
	if err != nil {
		return nil, refuse(http.StatusOK, "syntax", intake.Clip("the body is not JSON that reads in one way only: "+err.Error(), detailLength))
	}
	if v == nil || intake.HasNUL(v) {
		return nil, refuse(http.StatusOK, "nul", "the body holds nothing, or a character that cannot be stored")
	}
	return v, nil
}

// readable gives the entries of a bare list that can be read, and how many cannot.
func readable(raw []byte) (list []any, broken int) {
	for _, part := range intake.BareList(raw) {
		if v, err := decode(part); err == nil {
			list = append(list, v)
		} else {
			broken++
		}
	}
	return list, broken
}

func (k *knock) ourFault() error {
	k.Log.Error("no secret of the callbacks can be used", "destination", k.profile.Destination)
	return refuse(http.StatusServiceUnavailable, "secret", "the secret of these callbacks is not set")
}

// secrets reads the secrets anew, so that a rotation needs no restart. One that cannot be
// read is left out: the others are still valid.
func (k *knock) secrets() ([]string, error) {
	var out []string
	for _, ref := range k.rules.Secrets {
		v, err := intake.ReadSecret(ref, k.Env)
		if err != nil {
			k.Log.Warn("secret cannot be read", "destination", k.profile.Destination, "secret", ref.Name())
		}
		if v = strings.TrimRight(v, "\r\n"); v != "" {
			out = append(out, v)
		}
	}
	if len(out) == 0 && len(k.rules.Secrets) > 0 {
		return nil, k.ourFault()
	}
	return out, nil
}

// amazon gives the envelope and the certificate that must have signed it. Nothing is
// fetched for a topic that the profile does not name. Certificates that the profile pins
// are used as they are.
func (k *knock) amazon(ctx context.Context, pinned []string) (signature.SNSMessage, []string, error) {
	m, err := signature.ParseSNS(k.body)
	if err != nil {
		return m, nil, refuse(http.StatusUnauthorized, signature.CodeMissing, "it is no message of Amazon SNS")
	}
	switch {
	case !slices.Contains(k.rules.Topics, m.TopicARN):
		return m, nil, refuse(http.StatusUnauthorized, "topic", "the topic is not one of this destination's")
	case len(pinned) > 0:
		return m, pinned, nil
	case m.CertURL == "":
		return m, nil, refuse(http.StatusUnauthorized, "certificate", "the certificate is not at an address of Amazon SNS")
	}
	text, err := k.certificates.get(ctx, m.CertURL, k.Fetch)
	if err != nil {
		k.Log.Warn("certificate of Amazon SNS not fetched", "destination", k.profile.Destination, "error", err)
		return m, nil, refuse(http.StatusServiceUnavailable, "certificate", "the certificate could not be fetched")
	}
	return m, []string{text}, nil
}

// unwrap gives what a notification carries. A subscription is confirmed by a request to
// Amazon's own host.
func (k *knock) unwrap(ctx context.Context, m signature.SNSMessage) (any, error) {
	switch m.Type {
	case signature.SNSNotification:
		return definition.UnwrapSNS(m.Message), nil
	case signature.SNSConfirmation:
		if !signature.SNSAddress(m.SubscribeURL) {
			return nil, refuse(http.StatusUnauthorized, "subscribe_url", "the subscription is not confirmed at an address of Amazon SNS")
		}
		if _, err := k.Fetch(ctx, m.SubscribeURL); err != nil {
			k.Log.Warn("subscription not confirmed", "destination", k.profile.Destination, "topic", m.TopicARN, "error", err)
			return nil, refuse(http.StatusServiceUnavailable, "subscription", "the subscription could not be confirmed")
		}
		return nil, k.Store.ConfirmedTopic(ctx, store.System("api"), k.profile.Destination, m.TopicARN)
	}
	return nil, refuse(http.StatusOK, "unsubscribed", "the topic's subscription was ended")
}

// certificates keeps fetched certificates. Their addresses are Amazon's own only.
type certificates struct {
	mu   sync.Mutex
	have map[string]kept
}

type kept struct {
	text  string
	until time.Time
}

// keptFor is how long a fetched certificate is used, maxKept how many there can be.
const (
	keptFor = 24 * time.Hour
	maxKept = 32
)

func (c *certificates) get(ctx context.Context, address string, fetch func(context.Context, string) ([]byte, error)) (string, error) {
	c.mu.Lock()
	k, ok := c.have[address]
	c.mu.Unlock()
	if ok && time.Now().Before(k.until) {
		return k.text, nil
	}
	raw, err := fetch(ctx, address)
	if err != nil {
		return "", err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.have == nil || len(c.have) >= maxKept {
		c.have = map[string]kept{}
	}
	c.have[address] = kept{string(raw), time.Now().Add(keptFor)}
	return string(raw), nil
}

// fetch gets a document through the guarded client: public addresses only, no redirect.
func fetch(ctx context.Context, address string) ([]byte, error) {
	if !signature.SNSAddress(address) {
		return nil, errors.New("the address is not one of Amazon SNS")
	}
	a := outbound.Do(ctx, outbound.Call{Request: operation.Request{Kind: operation.RequestHTTP, Method: http.MethodGet, URL: address}, Timeout: 3 * time.Second, BodyLimit: 64 << 10})
	if !a.Whole() || a.Status != http.StatusOK || a.Truncated {
		return nil, errors.New("no document: " + a.Code + " " + http.StatusText(a.Status))
	}
	return a.Body, nil
}
