// Package httpapi carries out effects and lookups at destinations that speak HTTP, as
// their profile describes them. Before the profile's rules see an answer, this package
// settles what no rule may judge: nothing sent, nothing answered, a redirect, a body
// that is not whole.
//
// It may import operation, operation/definition, connector/order and
// connector/outbound.
package httpapi

import (
	"context"
	"crypto/x509"
	"net/http"
	"time"

	"holdpoint/connector/order"
	"holdpoint/connector/outbound"
	"holdpoint/operation"
	"holdpoint/operation/definition"
)

// Codes beside those of outbound and of the profile's rules.
const (
	CodeNoAction    = "no_such_action"     // the profile does not know the action (any more)
	CodeCredential  = "credential_missing" // the credential's reference leads to nothing
	CodeRedirect    = "redirect"           // 3xx: not followed, not judged
	CodeEarlyAnswer = "early_answer"       // confirmed before the whole request was sent
	CodeNoLookup    = "no_lookup"          // the profile has no lookup for the action
	CodeBadLookup   = "lookup_not_asked"   // the lookup's request cannot be made
)

// Connector is an order.Connector for one HTTP destination.
type Connector struct {
	profile *definition.Profile
	env     order.Env
	roots   *x509.CertPool
}

// New gives the connector of a profile. env is asked for credentials at each use.
// roots are the certificates that are trusted; nil means the system's.
func New(p *definition.Profile, env order.Env, roots *x509.CertPool) *Connector {
	return &Connector{profile: p, env: env, roots: roots}
}

// Act sends the order's request once and classifies the answer.
func (c *Connector) Act(ctx context.Context, o order.Order) operation.Result {
	action, err := c.profile.Action(o.Action)
	if err != nil {
		return notSent(CodeNoAction, err)
	}
	cred, err := c.credential()
	if err != nil {
		return notSent(CodeCredential, err)
	}
	request, err := cred.at(o.Request)
	if err != nil {
		return notSent(CodeCredential, err)
	}
	answer := outbound.Do(ctx, c.call(request, cred, func() bool { return o.Late(time.Now()) }))
	proof := answer.Proof(cred.secrets...)
	r, judged := beforeRules(answer)
	if !judged {
		r = action.Classify(definition.Context{
			Content: o.Content, Key: o.Key, OperationID: string(o.Operation), DispatchedAt: o.DispatchedAt, Env: c.env,
		}, read(answer))
		if r.Outcome == operation.OutcomeConfirmed && answer.Written < int64(len(o.Request.Body)) {
			r = operation.Result{Proof: operation.Proof{
				Code:   CodeEarlyAnswer,
				Detail: "The destination confirmed before it had the whole request.",
			}}
		}
	}
	r.Proof = merge(proof, r.Proof, cred.secrets)
	return r
}

// Lookup asks once, page by page where the profile says how to turn them. What is not a
// whole answer, or a redirect, is unreachable: it says nothing about the effect.
func (c *Connector) Lookup(ctx context.Context, o order.Lookup) operation.LookupFinding {
	action, err := c.profile.Action(o.Action)
	if err != nil {
		return unreachable(CodeNoAction, err.Error())
	}
	if !action.HasLookup() {
		return unreachable(CodeNoLookup, "The destination cannot be asked whether the effect exists.")
	}
	cred, err := c.credential()
	if err != nil {
		return unreachable(CodeCredential, err.Error())
	}
	about := definition.Context{Content: o.Content, Key: o.Key, OperationID: string(o.Operation), DispatchedAt: o.DispatchedAt, Env: c.env}
	request, err := action.LookupRequest(about, c.env)
	if err != nil {
		return unreachable(CodeBadLookup, err.Error())
	}
	var pages []operation.LookupFinding
	for more := true; more; {
		answer := outbound.Do(ctx, c.call(request, cred, nil))
		pages = append(pages, readPage(action, about, answer, cred))
		request, more = action.NextLookup(about, request, read(answer), len(pages))
	}
	return definition.AcrossPages(pages)
}

// readPage judges one answer to a lookup.
func readPage(action *definition.Action, about definition.Context, answer outbound.Answer, cred credential) operation.LookupFinding {
	proof := answer.Proof(cred.secrets...)
	if _, judged := beforeRules(answer); judged && !definedChoice(answer) {
		if answer.Whole() {
			proof.Code, proof.Detail = CodeRedirect, redirected
		}
		return operation.LookupFinding{Result: operation.LookupUnreachable, Proof: proof}
	}
	f := action.ReadLookup(about, read(answer))
	f.Proof = merge(proof, f.Proof, cred.secrets)
	return f
}

// definedChoice: 300 lists several things and leads nowhere by itself. For a lookup it
// is an answer; for an effect it is none.
func definedChoice(a outbound.Answer) bool {
	return a.Whole() && a.Status == http.StatusMultipleChoices && a.Header.Get("Location") == ""
}

func (c *Connector) call(r operation.Request, cred credential, late func() bool) outbound.Call {
	call := outbound.Call{
		Request: r, Authorize: cred.authorize, Late: late, Timeout: c.profile.Limits.Timeout,
		BodyLimit: c.profile.Limits.Body, Local: c.profile.Local, Roots: c.roots,
	}
	if cred.sign != nil {
		call.Sign = func(req *http.Request) error { return cred.sign(req, r) }
	}
	return call
}

const redirected = "The destination sent the request elsewhere. It was not followed; whether anything happened here is not known."

// beforeRules judges what no rule of a profile may judge; judged is false for a whole
// answer that is no redirect.
func beforeRules(a outbound.Answer) (r operation.Result, judged bool) {
	switch {
	case !a.Sent():
		r.Outcome = operation.OutcomeNotStarted
		r.Permanent = a.Code == outbound.CodeBadRequest || a.Code == outbound.CodeBlocked
	case !a.Whole():
	case a.Status >= 300 && a.Status <= 399:
		r.Proof.Code, r.Proof.Detail = CodeRedirect, redirected
	default:
		return operation.Result{}, false
	}
	return r, true
}

func read(a outbound.Answer) definition.Answer {
	return definition.Answer{Status: a.Status, Header: a.Header, Body: a.Body, Truncated: a.Truncated}
}

// merge takes what the wire saw and what the rules said about it.
func merge(wire, rules operation.Proof, secrets []string) operation.Proof {
	if rules.Code != "" {
		wire.Code = rules.Code
	}
	if rules.Detail != "" {
		wire.Detail = outbound.Mask(rules.Detail, secrets...)
	}
	return wire
}

func notSent(code string, err error) operation.Result {
	return operation.Result{
		Outcome: operation.OutcomeNotStarted, Permanent: true,
		Proof: operation.Proof{Code: code, Phase: operation.PhaseBlocked, Detail: err.Error()},
	}
}

func unreachable(code, detail string) operation.LookupFinding {
	return operation.LookupFinding{
		Result: operation.LookupUnreachable,
		Proof:  operation.Proof{Code: code, Phase: operation.PhaseBlocked, Detail: detail},
	}
}
