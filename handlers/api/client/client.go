package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Client calls the job API. It is safe for concurrent use.
type Client struct {
	base, token string
	// HTTP sends the requests to Holdpoint (not to destinations). It follows no redirect.
	HTTP *http.Client
}

// New makes a client for the address that people open, e.g. "https://hold.example.com".
func New(base, token string) *Client {
	return &Client{base: strings.TrimSuffix(base, "/") + "/api/v1", token: token, HTTP: &http.Client{
		Timeout:       90 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Problem is an error that Holdpoint answered. A refusal of the gate has Status 409, and
// says what must happen next and who is responsible.
type Problem struct {
	Status       int           `json:"status"`
	Code         string        `json:"code"`
	Title        string        `json:"title"`
	Detail       string        `json:"detail"`
	Reason       string        `json:"reason"`
	Operation    string        `json:"operation"`
	State        string        `json:"state"`
	NextDecision *NextDecision `json:"next_decision"`
	Responsible  *Responsible  `json:"responsible"`
	Link         string        `json:"link"`
	Rows         []ListRow     `json:"rows"`       // with code rows: the first of them
	RowsTotal    int           `json:"rows_total"` // how many there are
	Entry        int           `json:"entry"`      // of a list of entries that is refused: the place of the first wrong one, from 1
	Field        string        `json:"field"`      // what of that entry is wrong
}

// Error gives status, code and the sentence for people.
func (p *Problem) Error() string {
	say := p.Reason
	if say == "" {
		say = p.Detail
	}
	return fmt.Sprintf("holdpoint: %d %s: %s", p.Status, p.Code, say)
}

// Refused reports whether the gate said no (and nothing broke), and with which code.
func Refused(err error) (code string, ok bool) {
	var p *Problem
	if errors.As(err, &p) && p.Status == http.StatusConflict {
		return p.Code, true
	}
	return "", false
}

// NextDecision is the one thing that must happen next to an operation.
type NextDecision struct {
	Kind        string      `json:"kind"`
	Responsible Responsible `json:"responsible"`
	At          time.Time   `json:"at"`
}

// Responsible is who must act: one of the three.
type Responsible struct {
	User   string `json:"user"`
	Role   string `json:"role"`
	System bool   `json:"system"`
}

// Operation is one intended external effect. States are those of Holdpoint's model.
type Operation struct {
	ID              string        `json:"id"`
	Run             string        `json:"run"`
	Flow            string        `json:"flow"`
	Stage           string        `json:"stage"`
	Destination     string        `json:"destination"`
	Action          string        `json:"action"`
	State           string        `json:"state"`
	Revision        int64         `json:"revision"`
	Version         *Version      `json:"version"`
	NextDecision    *NextDecision `json:"next_decision"`
	TargetReference string        `json:"target_reference"`
	TargetURL       string        `json:"target_url"`
	Link            string        `json:"link"`
}

// Version is an operation's current content.
type Version struct {
	ID          string          `json:"id"`
	Number      int             `json:"number"`
	Content     json.RawMessage `json:"content"`
	Missing     []string        `json:"missing"`
	ContentHash string          `json:"content_hash"`
}

// NewOperation starts one run of a flow.
type NewOperation struct {
	Flow    string                    `json:"flow"`
	RunKey  string                    `json:"run_key,omitempty"` // default: the idempotency key of this token
	Inputs  map[string]any            `json:"inputs,omitempty"`
	Content map[string]map[string]any `json:"content,omitempty"` // by stage; replaces the flow's draft
	Author  *Model                    `json:"author,omitempty"`  // when a model wrote Content
}

// Model is the author of content that a model wrote; the person who prompted it (a mail
// address) becomes a party and cannot approve it.
type Model struct {
	Model      string `json:"model"`
	PromptedBy string `json:"prompted_by,omitempty"`
}

// Created names what a call of Create started or found.
type Created struct {
	Operation  string   `json:"operation"`  // of the first stage
	Operations []string `json:"operations"` // of all stages, in order
	Run        string   `json:"run"`
	Repeated   bool     `json:"repeated"`
	Link       string   `json:"link"`
}

// Create starts a run under the caller's own key. The same key with the same content
// gives the same operations: repeat the call until it is answered.
func (c *Client) Create(ctx context.Context, key string, n NewOperation) (Created, error) {
	var out Created
	err := c.call(ctx, http.MethodPost, "/operations", n, &out, "Idempotency-Key", strconv.Quote(key))
	return out, err
}

// Get reads an operation.
func (c *Client) Get(ctx context.Context, id string) (Operation, error) {
	var out Operation
	return out, c.call(ctx, http.MethodGet, "/operations/"+url.PathEscape(id), nil, &out)
}

// Wait gives the operation as soon as its revision differs from the known one, or as it
// is when the time is over (60 s at most).
func (c *Client) Wait(ctx context.Context, id string, revision int64, wait time.Duration) (Operation, error) {
	var out Operation
	path := fmt.Sprintf("/operations/%s?wait=%dms&revision=%d", url.PathEscape(id), min(wait, time.Minute).Milliseconds(), revision)
	return out, c.call(ctx, http.MethodGet, path, nil, &out)
}

// AddVersion writes new content and puts it up for approval. revision is the one on
// which it was written; 0 = any.
func (c *Client) AddVersion(ctx context.Context, id string, revision int64, content map[string]any, author *Model) (Operation, error) {
	in := map[string]any{"content": content}
	if revision > 0 {
		in["revision"] = revision
	}
	if author != nil {
		in["author"] = author
	}
	var out Operation
	return out, c.call(ctx, http.MethodPost, "/operations/"+url.PathEscape(id)+"/versions", in, &out)
}

// Receipt says what became of an event.
type Receipt struct {
	Delivery   string   `json:"delivery"`
	Event      string   `json:"event"`
	Verdict    string   `json:"verdict"`
	Operations []string `json:"operations"`
}

// Event is a CloudEvent 1.0.
type Event struct {
	ID     string    // unique within Source; the same on every repeat
	Source string    // who says it, a URI reference
	Type   string    // what happened
	Time   time.Time // zero = not said
	Data   any
}

// PostEvent enters an event; source names the configured source, "" = the only one.
func (c *Client) PostEvent(ctx context.Context, source string, e Event) (Receipt, error) {
	in := map[string]any{"specversion": "1.0", "id": e.ID, "source": e.Source, "type": e.Type, "data": e.Data}
	if !e.Time.IsZero() {
		in["time"] = e.Time.UTC().Format(time.RFC3339Nano)
	}
	path := "/events"
	if source != "" {
		path += "?source=" + url.QueryEscape(source)
	}
	var out Receipt
	return out, c.call(ctx, http.MethodPost, path, in, &out, "Content-Type", "application/cloudevents+json")
}

// maxAnswer bounds what is read of an answer.
const maxAnswer = 8 << 20

// call sends one request; headers are names and values in turn.
func (c *Client) call(ctx context.Context, method, path string, in, out any, headers ...string) error {
	var body io.Reader
	if in != nil {
		raw, err := json.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(raw)
	}
	return c.send(ctx, method, path, body, out, headers...)
}

// send is call for a body that is written already, or comes as it is read.
func (c *Client) send(ctx context.Context, method, path string, body io.Reader, out any, headers ...string) error {
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, body)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+c.token)
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := c.HTTP.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return fmt.Errorf("holdpoint: the answer was cut: %w", err)
	}
	if resp.StatusCode >= 300 {
		p := &Problem{}
		if json.Unmarshal(raw, p) != nil || p.Code == "" {
			p = &Problem{Code: "no_problem_document", Title: resp.Status}
		}
		p.Status = resp.StatusCode
		return p
	}
	if resp.StatusCode == http.StatusNoContent {
		return nil
	}
	if err := json.Unmarshal(raw, out); err != nil {
		return fmt.Errorf("holdpoint: the answer cannot be read: %w", err)
	}
	return nil
}
