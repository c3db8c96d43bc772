// Package assist asks a language model for a suggestion, over any endpoint that speaks the
// chat protocol of OpenAI. It is asked once for each press of a button, what it says is
// only text, and nothing follows from it: the callers show it, and a person decides.
//
// It may import operation and connector/outbound.
package assist

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"holdpoint/connector/outbound"
	"holdpoint/operation"
)

// Purpose says what is asked for.
type Purpose string

// The purposes.
const (
	ForClass  Purpose = "class"  // which class a stop belongs to
	ForNote   Purpose = "note"   // a draft of a comment about a stop
	ForReport Purpose = "report" // a draft of a paragraph of an incident or a report
)

// Valid reports whether p is one of the purposes.
func (p Purpose) Valid() bool { return p == ForClass || p == ForNote || p == ForReport }

// Limits on what goes and what comes.
const (
	DefaultTimeout = 20 * time.Second
	bodyLimit      = 128 << 10 // bytes of the whole answer
	wordsLimit     = 2000      // characters of a suggestion
	factLimit      = 600       // characters of one fact
	contentLimit   = 6000      // characters of an operation's content
	together       = 2         // questions at the same time
)

// Fact is one line that the model is given.
type Fact struct{ Name, Value string }

// Ask is one question. Content is what was to be sent to a customer; it goes along only
// where the settings allow it.
type Ask struct {
	Purpose  Purpose
	Language string // of the suggestion, in English: "Japanese"
	Facts    []Fact
	Content  string
}

// Message is one message of the conversation, as it is sent.
type Message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// Suggestion is what came back, checked.
type Suggestion struct {
	Class operation.CauseClass // for ForClass
	Words string               // why, or the draft; plain text
	Model string               // the one that was asked, by the settings
	Took  time.Duration
}

// Trouble is why there is no suggestion.
type Trouble string

// The kinds of trouble.
const (
	Busy    Trouble = "busy"    // too many questions at once
	Away    Trouble = "away"    // no whole answer came
	Refused Trouble = "refused" // it answered with an error, or led elsewhere
	Unfit   Trouble = "unfit"   // what it answered is not what was asked for
)

// Error is trouble with the model; Detail is for the log and holds no secret.
type Error struct {
	Trouble Trouble
	Detail  string
}

// Error says both.
func (e *Error) Error() string { return "language model " + string(e.Trouble) + ": " + e.Detail }

// Client asks one model.
type Client struct {
	url     string
	model   string
	key     func() (string, error) // nil = none
	timeout time.Duration
	local   bool
	content bool
	slots   chan struct{}
}

// Settings say which model is asked, and what it may be given.
type Settings struct {
	URL     string                 // base address, such as https://models.example/v1
	Model   string                 // as the endpoint names it
	Key     func() (string, error) // read at each use; nil = none
	Timeout time.Duration          // 0 = DefaultTimeout
	Local   bool                   // the endpoint may be on this machine or in a private network, and without TLS
	Content bool                   // content of operations may be sent
}

// New checks the settings.
func New(s Settings) (*Client, error) {
	u, err := url.Parse(s.URL)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http":
		return nil, errors.New("the address of the language model is not an http or https address")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("the address of the language model may hold no credential, query or fragment")
	case u.Scheme == "http" && !s.Local:
		return nil, errors.New("the language model is reached without TLS only where it may be local")
	case strings.TrimSpace(s.Model) == "" || len(s.Model) > 200:
		return nil, errors.New("the language model has no name")
	case s.Timeout < 0 || s.Timeout > 2*time.Minute:
		return nil, errors.New("the time that a language model may take is at most two minutes")
	}
	if s.Timeout == 0 {
		s.Timeout = DefaultTimeout
	}
	return &Client{url: strings.TrimSuffix(s.URL, "/") + "/chat/completions", model: s.Model, key: s.Key, timeout: s.Timeout, local: s.Local, content: s.Content,
		slots: make(chan struct{}, together)}, nil
}

// Model is the model's name.
func (c *Client) Model() string { return c.model }

// Host is where the questions go.
func (c *Client) Host() string {
	u, err := url.Parse(c.url)
	if err != nil {
		return ""
	}
	return u.Host
}

// SendsContent reports whether content of operations goes along.
func (c *Client) SendsContent() bool { return c.content }

// Suggest asks once. The answer is checked; whatever does not fit is an *Error.
func (c *Client) Suggest(ctx context.Context, a Ask) (Suggestion, error) {
	select {
	case c.slots <- struct{}{}:
		defer func() { <-c.slots }()
	default:
		return Suggestion{}, &Error{Busy, "two questions are being asked already"}
	}
	secret := ""
	if c.key != nil {
		var err error
		if secret, err = c.key(); err != nil {
			return Suggestion{}, &Error{Refused, err.Error()}
		}
	}
	body, err := json.Marshal(map[string]any{"model": c.model, "messages": c.Messages(a), "temperature": 0, "max_tokens": 800, "stream": false})
	if err != nil {
		return Suggestion{}, err
	}
	answer := outbound.Do(ctx, outbound.Call{
		Request: operation.Request{Kind: operation.RequestHTTP, Method: http.MethodPost, URL: c.url, Body: string(body),
			Header: []operation.Header{{Name: "Content-Type", Value: "application/json"}, {Name: "Accept", Value: "application/json"}}},
		Authorize: func(h http.Header) {
			if secret != "" {
				h.Set("Authorization", "Bearer "+secret)
			}
		},
		Timeout: c.timeout, BodyLimit: bodyLimit, Local: c.local,
	})
	s, err := c.read(a.Purpose, answer)
	s.Model, s.Took = c.model, answer.Took
	return s, err
}

// read checks an answer of the wire.
func (c *Client) read(p Purpose, a outbound.Answer) (Suggestion, error) {
	switch {
	case a.Truncated:
		return Suggestion{}, &Error{Unfit, "the answer is too long"}
	case !a.Whole():
		return Suggestion{}, &Error{Away, a.Code}
	case a.Status != http.StatusOK:
		return Suggestion{}, &Error{Refused, fmt.Sprintf("status %d", a.Status)}
	}
	var x struct {
		Choices []struct {
			Message struct {
				Content *string `json:"content"`
			} `json:"message"`
		} `json:"choices"`
	}
	if err := json.Unmarshal(a.Body, &x); err != nil || len(x.Choices) == 0 || x.Choices[0].Message.Content == nil {
		return Suggestion{}, &Error{Unfit, "the answer is not one of the protocol"}
	}
	return Check(p, *x.Choices[0].Message.Content)
}
