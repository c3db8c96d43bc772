package systems_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"holdpoint/connector/connectortest"
	"holdpoint/operation"
	"holdpoint/operation/definition"
	"holdpoint/operation/signature"
)

// told is one callback as a receiver got it.
type told struct {
	header http.Header
	body   []byte
}

// teller has one mail at a provider, and lets the provider tell of it.
type teller struct {
	box      *connectortest.Sandbox
	h        connectortest.Harness
	id       string // the operation
	ref      string // the provider's
	secret   string
	received chan told
	to       string
}

func newTeller(t *testing.T, h connectortest.Harness) *teller {
	t.Helper()
	box := connectortest.StartSandbox(t)
	o, r := actOnce(t, box, h, "")
	if r.Outcome != operation.OutcomeConfirmed {
		t.Fatalf("%s %+v", r.Outcome, r.Proof)
	}
	te := &teller{box: box, h: h, id: string(o.Operation), ref: r.TargetReference, received: make(chan told, 10)}
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		raw, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		te.received <- told{r.Header, raw}
	}))
	t.Cleanup(s.Close)
	te.to = s.URL + "/cb/" + h.Profile.Destination
	var given struct{ Secret string }
	te.control(t, http.MethodGet, nil, &given)
	te.secret = given.Secret
	return te
}

func (te *teller) control(t *testing.T, method string, order map[string]any, into any) {
	t.Helper()
	raw, err := json.Marshal(order)
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequest(method, te.box.URL+"/_control/callbacks/"+te.h.Sandbox, bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%d %s %v", resp.StatusCode, answer, err)
	}
	if err := json.Unmarshal(answer, into); err != nil {
		t.Fatal(err)
	}
}

// tell lets the provider tell of an event, and gives what arrived first.
func (te *teller) tell(t *testing.T, order map[string]any) told {
	t.Helper()
	order["to"], order["reference"] = te.to, te.id
	var done struct{ Posted []struct{ Status int } }
	te.control(t, http.MethodPost, order, &done)
	for _, p := range done.Posted {
		if p.Status != http.StatusOK {
			t.Fatalf("posted with %d", p.Status)
		}
	}
	return <-te.received
}

func (te *teller) verify(c told) (signature.Result, error) {
	return signature.Verify(te.h.Profile.Callbacks.Rule, []string{te.secret}, signature.Message{
		Method: http.MethodPost, URL: te.to, Header: c.header, Bodies: [][]byte{c.body},
	}, time.Now())
}

// read gives the news of a callback that was believed.
func (te *teller) read(t *testing.T, body []byte, header http.Header) definition.News {
	t.Helper()
	value, err := definition.DecodeJSON(body)
	if err != nil {
		t.Fatal(err)
	}
	if te.h.Profile.Callbacks.Rule.Scheme == signature.SNS {
		envelope, err := signature.ParseSNS(body)
		if err != nil {
			t.Fatal(err)
		}
		value = definition.UnwrapSNS(envelope.Message)
	}
	entries, err := te.h.Profile.Callbacks.Entries(header, value)
	if err != nil || entries.Len() != 1 {
		t.Fatalf("%v: %s", err, body)
	}
	n, err := entries.Read(0, nil)
	if err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	return n
}

// What each provider tells is believed by its signature, and read as what it is: of which
// operation, of which mail, and what became of it.
func TestProvidersTellWhatBecameOfAMail(t *testing.T) {
	all := map[string]operation.NewsKind{
		"accepted": operation.NewsAccepted, "delivered": operation.NewsDelivered, "deferred": operation.NewsDeferred,
		"bounced": operation.NewsBounced, "dropped": operation.NewsDropped, "complained": operation.NewsComplained,
	}
	for name, h := range mails(t) {
		if h.Profile.Callbacks == nil || name == "sendgrid searchable" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			te := newTeller(t, h)
			for event, want := range all {
				if h.Sandbox == "postmark" && (event == "accepted" || event == "dropped") {
					continue // Postmark does not tell
				}
				c := te.tell(t, map[string]any{"event": event, "times": 1})
				got, err := te.verify(c)
				if err != nil {
					t.Fatalf("%s: %v", event, err)
				}
				if n := te.read(t, got.Body, c.header); n.Kind != want || string(n.Operation) != te.id || n.Reference != te.ref || n.Key == "" || n.At.IsZero() {
					t.Errorf("%s: %+v, want %s of %s, %s", event, n, want, te.id, te.ref)
				}
			}
		})
	}
}

// What was changed on its way, or is too old, is not believed where the provider signs it.
func TestProvidersNewsThatIsNotBelieved(t *testing.T) {
	for name, h := range mails(t) {
		c := h.Profile.Callbacks
		if c == nil || name == "sendgrid searchable" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			te := newTeller(t, h)
			same := te.tell(t, map[string]any{"event": "delivered", "times": 2})
			if again := <-te.received; !bytes.Equal(same.body, again.body) || te.read(t, same.body, same.header).Key != te.read(t, again.body, again.header).Key {
				t.Error("told twice, it is not the same")
			}
			forged := te.tell(t, map[string]any{"event": "delivered", "forged": true, "times": 1})
			got, err := te.verify(forged)
			if !strings.Contains(string(forged.body), "other@example.test") || got.Content && err == nil {
				t.Errorf("forged: %+v %v: %s", got, err, forged.body)
			}
			te.secret = "another-secret"
			if _, err := te.verify(same); err == nil {
				t.Error("another secret was taken")
			}
			if c.Rule.Scheme == signature.Basic {
				return // Postmark signs nothing, and no time
			}
			te = newTeller(t, h)
			old := te.tell(t, map[string]any{"event": "delivered", "age": (c.Rule.Tolerance + time.Hour).String(), "times": 1})
			if _, err := te.verify(old); err == nil {
				t.Errorf("older than %s, it was taken", c.Rule.Tolerance)
			}
		})
	}
}
