package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// deliveryEvents is what can become of an accepted mail.
var deliveryEvents = []string{"sent", "delivered", "delivery_delayed", "bounced", "complained", "failed"}

// callback is one notice about a mail, and what became of the notice.
type callback struct {
	ID     string         `json:"id"`
	URL    string         `json:"url,omitempty"` // empty: no callback URL is set, nothing was posted
	Body   map[string]any `json:"body"`
	When   time.Time      `json:"when"`
	Status int            `json:"status,omitempty"`
	Error  string         `json:"error,omitempty"`
}

// callbacks posts what became of mails to the callback URL.
type callbacks struct {
	sandbox *sandbox
	client  *http.Client

	mu    sync.Mutex
	url   string
	token string
	sent  []callback
	due   map[string]time.Time // mails that will be delivered by themselves, on the sandbox's clock
}

func newCallbacks(s *sandbox) *callbacks {
	return &callbacks{
		sandbox: s, url: s.cfg.callbackURL, token: s.cfg.callbackToken, due: map[string]time.Time{},
		client: &http.Client{
			Timeout:       5 * time.Second,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
}

// aim changes where callbacks go; nil leaves a part as it is.
func (cb *callbacks) aim(url, token *string) {
	cb.mu.Lock()
	defer cb.mu.Unlock()
	if url != nil {
		cb.url = *url
	}
	if token != nil {
		cb.token = *token
	}
}

// target is the callback URL and its token; "mail" is added unless it is the
// URL's last part.
func (cb *callbacks) target() (url, token string) {
	cb.mu.Lock()
	defer cb.mu.Unlock()
	url = strings.TrimSuffix(cb.url, "/")
	if url == "" || strings.HasSuffix(url, "/"+destMail) {
		return url, cb.token
	}
	return url + "/" + destMail, cb.token
}

// deliver says what became of a mail and posts the callback.
func (cb *callbacks) deliver(ctx context.Context, id, event string) (callback, error) {
	if !slices.Contains(deliveryEvents, event) {
		return callback{}, fmt.Errorf("event %q is not known; it is one of %s", event, strings.Join(deliveryEvents, ", "))
	}
	s := cb.sandbox
	e, ok := s.ledger.update(destMail, effectEmail, id, func(e *effect) { e.Fields["last_event"] = event })
	if !ok {
		return callback{}, fmt.Errorf("there is no mail %q", id)
	}
	tags := map[string]string{}
	list, _ := e.Fields["tags"].([]mailTag)
	for _, t := range list {
		tags[t.Name] = t.Value
	}
	now := s.clock.now()
	url, token := cb.target()
	c := callback{ID: s.ledger.nextID("msg", "_"), URL: url, When: now, Body: map[string]any{
		"type": "email." + event, "created_at": now.Format(time.RFC3339Nano),
		"data": map[string]any{
			"email_id": id, "tags": tags, "to": e.Fields["to"], "subject": e.Fields["subject"], "message_id": e.Fields["message_id"],
		},
	}}
	if c.URL != "" {
		cb.post(ctx, &c, token)
	}
	cb.mu.Lock()
	defer cb.mu.Unlock()
	cb.sent = append(cb.sent, c)
	return c, nil
}

// post sends the notice once. The header svix-id names it, so that a receiver
// can tell a repeat from a second notice.
func (cb *callbacks) post(ctx context.Context, c *callback, token string) {
	status, err := cb.send(ctx, *c, token)
	if err != nil {
		c.Error = err.Error()
		cb.sandbox.log.Warn("callback failed", "id", c.ID, "error", err)
	}
	c.Status = status
}

func (cb *callbacks) send(ctx context.Context, c callback, token string) (int, error) {
	body, err := json.Marshal(c.Body)
	if err != nil {
		return 0, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.URL, bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Svix-Id", c.ID)
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := cb.client.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	return resp.StatusCode, nil
}

// schedule plans the automatic delivery of a mail, if it is switched on.
func (cb *callbacks) schedule(id string) {
	after := cb.sandbox.settings.of(destMail).AutoDeliver.Duration
	if after <= 0 {
		return
	}
	cb.mu.Lock()
	cb.due[id] = cb.sandbox.clock.now().Add(after)
	cb.mu.Unlock()
	go func() {
		if cb.sandbox.sleep(after, nil) {
			cb.deliverDue()
		}
	}()
}

// deliverDue delivers the mails whose time has come; also after the clock was advanced.
func (cb *callbacks) deliverDue() {
	now := cb.sandbox.clock.now()
	var ids []string
	cb.mu.Lock()
	for id, at := range cb.due {
		if !at.After(now) {
			ids = append(ids, id)
			delete(cb.due, id)
		}
	}
	cb.mu.Unlock()
	slices.Sort(ids)
	for _, id := range ids {
		if _, err := cb.deliver(context.Background(), id, "delivered"); err != nil {
			cb.sandbox.log.Warn("automatic delivery", "error", err)
		}
	}
}

func (cb *callbacks) all() []callback {
	cb.mu.Lock()
	defer cb.mu.Unlock()
	return append([]callback{}, cb.sent...)
}

func (cb *callbacks) clear() {
	cb.mu.Lock()
	defer cb.mu.Unlock()
	cb.sent, cb.due = nil, map[string]time.Time{}
}
