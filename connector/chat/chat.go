// Package chat posts short messages to a chat: by Slack's API with a bot token, by an
// incoming webhook of Slack or a compatible server, or by a webhook of Microsoft Teams.
// It tells people that something waits; nothing is ever decided through it.
//
// A message that may have arrived is posted again after a while: a notice may be seen
// twice, an effect never happens twice. What is not known is said, and recorded.
//
// It may import operation, connector/order and connector/outbound.
package chat

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"holdpoint/connector/order"
	"holdpoint/connector/outbound"
	"holdpoint/operation"
)

// DefaultSlack is Slack's API.
const DefaultSlack = "https://slack.com/api"

// timeout is how long a chat may take: nobody waits for it, but others queue behind.
const timeout = 10 * time.Second

// Message is one message: a heading, lines of plain text, and a link. Nothing in it is
// read as markup, whatever people wrote into a title.
type Message struct {
	Heading string
	Lines   []string
	Link    string // https address of the page; "" = none
	Open    string // the link's words
	Done    bool   // the matter is decided: the heading is struck through where that can be shown
}

// Place is where a message goes.
type Place struct {
	Kind    string    // slack, slack_hook or teams
	Channel string    // of slack: a channel, or a member's ID
	Secret  order.Ref // the bot token, or the webhook's whole address
	Local   bool      // loopback and private networks may be reached
}

// Result is what is known after one try. Neither Sent nor Unknown: it provably did not
// arrive.
type Result struct {
	Sent       bool
	Unknown    bool          // bytes left, and no readable answer came
	Permanent  bool          // the same message will never be taken
	RetryAfter time.Duration // how long the chat asks everybody to wait; 0 = it does not say
	Code       string        // stable
	Detail     string        // for people; no secrets
	Remote     string        // where the chat keeps it, for Update; "" = it cannot be changed
}

// Client posts to chats. It is safe for concurrent use.
type Client struct {
	Env   order.Env
	Slack string         // address of the Slack API; "" = DefaultSlack
	Local bool           // that address may be on loopback or a private network
	Roots *x509.CertPool // nil = the system's
}

// Codes of a try, beside those of outbound and the words of Slack itself.
const (
	CodePosted     = "posted"             // the chat says that it has it
	CodeAccepted   = "accepted"           // the chat took it for later: that is not yet proof that people see it
	CodeCredential = "credential_missing" // a reference leads to nothing
	CodeRefused    = "refused"            // the chat refused it
	CodeBusy       = "rate_limited"       // the chat asks to wait
	CodeOddAnswer  = "answer_not_expected"
	codeNoPlace    = "no_such_place"
)

// Post posts a message once.
func (c *Client) Post(ctx context.Context, p Place, m Message) Result {
	return c.send(ctx, p, m, "")
}

// Update changes a message that Post gave as Remote. Only Slack's API can.
func (c *Client) Update(ctx context.Context, p Place, remote string, m Message) Result {
	if p.Kind != "slack" || remote == "" {
		return Result{Permanent: true, Code: codeNoPlace, Detail: "This chat cannot change a message."}
	}
	return c.send(ctx, p, m, remote)
}

func (c *Client) send(ctx context.Context, p Place, m Message, remote string) Result {
	secret, err := p.Secret.Read(c.Env)
	if err != nil {
		return Result{Code: CodeCredential, Detail: sentence(err.Error())}
	}
	switch p.Kind {
	case "slack":
		return c.slack(ctx, p, m, remote, secret)
	case "slack_hook":
		return hookResult(c.postJSON(ctx, secret, slackBody(m), p.Local), secret)
	case "teams":
		return teamsResult(c.postJSON(ctx, secret, teamsBody(m), p.Local), secret)
	}
	return Result{Permanent: true, Code: codeNoPlace, Detail: "There is no chat of this kind."}
}

// postJSON sends one JSON document, at most once.
func (c *Client) postJSON(ctx context.Context, url string, body any, local bool) outbound.Answer {
	raw, err := json.Marshal(body)
	if err != nil {
		return outbound.Answer{Phase: operation.PhaseBlocked, Code: outbound.CodeBadRequest, Detail: "The message cannot be written as JSON."}
	}
	return c.post(ctx, url, "application/json", string(raw), local, nil)
}

// post sends one body, at most once.
func (c *Client) post(ctx context.Context, url, kind, body string, local bool, authorize func(http.Header)) outbound.Answer {
	return outbound.Do(ctx, outbound.Call{
		Request: operation.Request{Kind: operation.RequestHTTP, Method: http.MethodPost, URL: url, Body: body,
			Header: []operation.Header{{Name: "Content-Type", Value: kind + "; charset=utf-8"}}},
		Authorize: authorize, Timeout: timeout, BodyLimit: 64 << 10, Local: local, Roots: c.Roots,
	})
}

// general says what every kind of chat means by an answer; ok is false when the body
// has to be read.
func general(a outbound.Answer, secrets ...string) (r Result, ok bool) {
	r = Result{Code: a.Code, Detail: outbound.Mask(a.Detail, secrets...)}
	switch {
	case a.Status == http.StatusTooManyRequests:
		r.Code, r.RetryAfter = CodeBusy, retryAfter(a.Header)
		r.Detail = "The chat asks to wait (429)."
	case !a.Sent():
	case a.Status >= 500, a.Status == http.StatusRequestTimeout:
		r.Unknown, r.Code, r.Detail = true, "status_"+strconv.Itoa(a.Status), fmt.Sprintf("The chat answered %d.", a.Status)
	case a.Status == 0:
		r.Unknown = true
	case a.Status >= 300:
		r.Code = "status_" + strconv.Itoa(a.Status)
		r.Detail = fmt.Sprintf("The chat answered %d: %s", a.Status, outbound.Excerpt(a.Body, secrets...))
		// 400, 404 and 410 say that this message or this place is wrong; a wrong credential
		// may be put right while the notice waits.
		r.Permanent = a.Status == http.StatusBadRequest || a.Status == http.StatusNotFound || a.Status == http.StatusGone || a.Status == http.StatusRequestEntityTooLarge
	case !a.Whole():
		r.Unknown = true
	default:
		return Result{}, false
	}
	return r, true
}

// retryAfter reads the header: seconds, at most an hour.
func retryAfter(h http.Header) time.Duration {
	n, err := strconv.Atoi(strings.TrimSpace(h.Get("Retry-After")))
	if err != nil || n < 0 {
		return 0
	}
	return min(time.Duration(n)*time.Second, time.Hour)
}

// sentence begins with a capital letter and ends with a full stop.
func sentence(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:] + "."
}
