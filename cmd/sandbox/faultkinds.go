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
	words   string            // what happens, for people
	delay   time.Duration     // default of the fault's delay
	status  int               // default of the fault's status
	knows   func(system) bool // nil = every destination knows it
	lookups bool              // hits lookups instead of effects
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

func protected(d system) bool { return d.keyed || d.unique }

func searchable(d system) bool { return d.searched }

// places lists the destinations that know this fault.
func (k faultKind) places() []string { return systemNames(k.knows) }

// faultKinds lists every fault once; docs, page and checks read it.
var faultKinds = []faultKind{
	{name: faultRefuse, point: pointConnect,
		words: "The connection is accepted and reset before the body is read."},
	{name: faultDropBefore, point: pointBefore,
		words: "The request is read, then the connection closes. Nothing happens."},
	{name: faultStatusBefore, point: pointBefore, status: 503,
		words: "An error answer. Nothing happens."},
	{name: faultRetryAfter, point: pointBefore, knows: system.byHTTP, status: 429, delay: time.Second,
		words: "429 with Retry-After. Nothing happens."},
	{name: faultRedirect, point: pointBefore, knows: system.byHTTP, status: 302,
		words: "A redirect to another place. Nothing happens here."},
	{name: faultHTML200, point: pointBefore, knows: system.byHTTP, status: 200,
		words: "200 with a login page in HTML. Nothing happens."},
	{name: faultErrorIn200, point: pointBefore, knows: system.byHTTP, status: 200,
		words: "200 with an error inside the body. Nothing happens."},
	{name: faultSlow, point: pointModifier, delay: 2 * time.Second,
		words: "The effect and the answer come late; the effect comes even when the caller has left."},
	{name: faultIgnoreIdempotency, point: pointModifier, knows: protected,
		words: "The Idempotency-Key (or the unique reference) is ignored. A repeat makes a second effect."},
	{name: faultIndexLag, point: pointModifier, knows: searchable, delay: time.Minute, lookups: true,
		words: "The next search does not see effects younger than the delay."},
	{name: faultStallAfter, point: pointAfter, delay: time.Minute,
		words: "The effect happens, no answer comes."},
	{name: faultDropAfter, point: pointAfter,
		words: "The effect happens, then the connection closes without an answer."},
	{name: faultStatusAfter, point: pointAfter, knows: system.byHTTP, status: 500,
		words: "The effect happens, the answer is an error."},
	{name: faultEmptyBody, point: pointAfter, knows: system.byHTTP,
		words: "The effect happens, the answer has no body."},
	{name: faultCutBody, point: pointAfter, knows: system.byHTTP,
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
