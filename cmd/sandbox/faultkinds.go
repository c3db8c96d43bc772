package main

import "time"

// faultPoint is the moment at which a fault changes the course of a request.
type faultPoint int

const (
	pointConnect  faultPoint = iota // before the body is read
	pointBefore                     // the request was read, nothing is executed
	pointModifier                   // changes how the request is executed; combines with others
	pointAfter                      // executed, then the answer is spoiled
)

// faultKind is one way to misbehave.
type faultKind struct {
	name    string
	point   faultPoint
	words   string        // what happens, for people
	delay   time.Duration // default of the fault's delay
	status  int           // default of the fault's status
	places  []string      // the destinations that know it
	lookups bool          // hits lookups instead of effects
}

const (
	faultRefuse            = "refuse"
	faultDropBefore        = "drop_before_execute"
	faultDropAfter         = "drop_after_execute"
	faultStallAfter        = "stall_after_execute"
	faultStatusBefore      = "status_before_execute"
	faultStatusAfter       = "status_after_execute"
	faultEmptyBody         = "empty_body"
	faultCutBody           = "cut_body"
	faultRedirect          = "redirect"
	faultHTML200           = "html_200"
	faultErrorIn200        = "error_in_200"
	faultRetryAfter        = "retry_after"
	faultIgnoreIdempotency = "ignore_idempotency"
	faultIndexLag          = "index_lag"
	faultSlow              = "slow"
)

var (
	everywhere = destinations
	overHTTP   = []string{destCRM, destBilling, destMail, destPlain}
)

// faultKinds lists every fault once; docs, page and checks read it.
var faultKinds = []faultKind{
	{name: faultRefuse, point: pointConnect, places: everywhere,
		words: "The connection is accepted and reset before the body is read."},
	{name: faultDropBefore, point: pointBefore, places: everywhere,
		words: "The request is read, then the connection closes. Nothing happens."},
	{name: faultStatusBefore, point: pointBefore, places: everywhere, status: 503,
		words: "An error answer. Nothing happens."},
	{name: faultRetryAfter, point: pointBefore, places: overHTTP, status: 429, delay: time.Second,
		words: "429 with Retry-After. Nothing happens."},
	{name: faultRedirect, point: pointBefore, places: overHTTP, status: 302,
		words: "A redirect to another place. Nothing happens here."},
	{name: faultHTML200, point: pointBefore, places: overHTTP, status: 200,
		words: "200 with a login page in HTML. Nothing happens."},
	{name: faultErrorIn200, point: pointBefore, places: overHTTP, status: 200,
		words: "200 with an error inside the body. Nothing happens."},
	{name: faultSlow, point: pointModifier, places: everywhere, delay: 2 * time.Second,
		words: "The effect and the answer come late; the effect comes even when the caller has left."},
	{name: faultIgnoreIdempotency, point: pointModifier, places: []string{destCRM, destBilling, destMail},
		words: "The Idempotency-Key (at the CRM: the unique reference) is ignored. A repeat makes a second effect."},
	{name: faultIndexLag, point: pointModifier, places: []string{destCRM, destBilling, destMail}, delay: time.Minute, lookups: true,
		words: "The next search does not see effects younger than the delay."},
	{name: faultStallAfter, point: pointAfter, places: everywhere, delay: time.Minute,
		words: "The effect happens, no answer comes."},
	{name: faultDropAfter, point: pointAfter, places: everywhere,
		words: "The effect happens, then the connection closes without an answer."},
	{name: faultStatusAfter, point: pointAfter, places: overHTTP, status: 500,
		words: "The effect happens, the answer is an error."},
	{name: faultEmptyBody, point: pointAfter, places: overHTTP,
		words: "The effect happens, the answer has no body."},
	{name: faultCutBody, point: pointAfter, places: overHTTP,
		words: "The effect happens, the answer breaks off in the middle."},
}

func faultKindOf(name string) (faultKind, bool) {
	for _, k := range faultKinds {
		if k.name == name {
			return k, true
		}
	}
	return faultKind{}, false
}

func faultNames() []string {
	names := make([]string, len(faultKinds))
	for i, k := range faultKinds {
		names[i] = k.name
	}
	return names
}
