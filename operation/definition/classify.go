package definition

import (
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"holdpoint/operation"
)

// Answer is what a destination said. For SMTP, Status is the reply code and Body the
// reply text.
type Answer struct {
	Status    int
	Header    http.Header
	Body      []byte
	Truncated bool // the body was cut: by the peer, by the limit, or by a time-out
}

// Context is what is known of the attempt that an answer belongs to.
type Context struct {
	Content      map[string]any // of the version that was sent
	Key          string         // the idempotency key that was sent
	OperationID  string
	DispatchedAt time.Time
	// Env gives what the profile's links take from the environment; nil = nothing, and
	// links that need it are left out.
	Env Env
}

// Codes of a proof that Classify gives where the profile's rule names none.
const (
	CodeConfirmed        = "confirmed_by_answer"
	CodeExists           = "already_exists"
	CodeUnrecognised     = "unrecognised_answer" // no rule holds
	CodeRuleError        = "rule_error"          // a rule could not be evaluated
	CodeReferenceMissing = "reference_missing"   // confirmed, but without a usable reference
	CodeKeyMismatch      = "key_mismatch"        // the key was used with other parameters
	CodeKeyInProgress    = "key_in_progress"     // an earlier request with the key still runs
	CodeBodyCut          = "body_cut"
	CodeRedirect         = "redirect"
)

// maxRetryAfter bounds what a destination may ask for.
const maxRetryAfter = 24 * time.Hour

// variables are the names that outcome rules know. A body that is not strict JSON is
// its text.
func (in Context) variables(ans Answer) map[string]any {
	content := plain(in.Content)
	if in.Content == nil {
		content = map[string]any{}
	}
	vars := map[string]any{
		"content": content, "key": in.Key, "operation_id": in.OperationID,
		"status": int64(ans.Status), "header": lowerHeader(ans.Header), "body": string(ans.Body),
	}
	if v, err := DecodeJSON(ans.Body); err == nil {
		vars["body"] = plain(v)
	}
	return vars
}

// Classify reads the answer to an attempt. The first outcome rule that holds decides;
// a rule that cannot be evaluated ends the search, and the outcome is unknown then,
// as it is when no rule holds, when the body was cut, and for a redirect. Confirmed
// needs the target reference where the profile names one.
func (a *Action) Classify(in Context, ans Answer) operation.Result {
	r := operation.Result{Proof: operation.Proof{Status: ans.Status, Code: CodeUnrecognised}}
	r.RetryAfter = retryAfter(ans.Header, in.DispatchedAt)
	unknown := func(code, detail string) operation.Result {
		r.Outcome, r.Proof.Code, r.Proof.Detail = operation.OutcomeUnknown, code, detail
		return r
	}
	overHTTP := a.profile.Kind == operation.RequestHTTP
	switch {
	case overHTTP && isRedirect(ans.Status):
		r.Proof.Location = ans.Header.Get("Location")
		return unknown(CodeRedirect, "The destination answered with a redirect; it was not followed.")
	case ans.Truncated:
		return unknown(CodeBodyCut, "The answer was cut before its end.")
	}
	vars := in.variables(ans)
	for _, special := range []struct {
		rule *expr
		flag *bool
		code string
	}{{a.protection.replay, &r.Replayed, ""}, {a.protection.mismatch, &r.Mismatch, CodeKeyMismatch}, {a.protection.inProgress, &r.InProgress, CodeKeyInProgress}} {
		if special.rule == nil {
			continue
		}
		holds, err := special.rule.holds(vars)
		if err != nil {
			return unknown(CodeRuleError, err.Error())
		}
		*special.flag = holds
		if holds && special.code != "" {
			return unknown(special.code, "")
		}
	}
	for _, o := range a.outcomes {
		holds, err := o.rule.holds(vars)
		if err != nil {
			return unknown(CodeRuleError, err.Error())
		}
		if holds {
			return a.conclude(o, r, vars, in.Env)
		}
	}
	return unknown(CodeUnrecognised, "")
}

func (a *Action) conclude(o outcome, r operation.Result, vars map[string]any, env Env) operation.Result {
	r.Proof.Code = o.code
	switch o.kind {
	case "not_started":
		r.Outcome, r.Permanent = operation.OutcomeNotStarted, o.permanent
	case "lookup":
		r.Lookup = true
	case "confirmed":
		if a.reference == nil {
			r.Outcome = operation.OutcomeConfirmed
			return r
		}
		id, link, why := a.reference.read(vars, env)
		if why != "" {
			r.Lookup, r.Proof.Code, r.Proof.Detail = true, CodeReferenceMissing, why
			return r
		}
		r.Outcome, r.TargetReference, r.TargetURL = operation.OutcomeConfirmed, id, link
	}
	return r
}

// read takes the target reference from an answer; why says what is wrong with it.
func (rf *reference) read(vars map[string]any, env Env) (id, link, why string) {
	id, err := referenceText(rf.id, vars)
	if err != nil {
		return "", "", "The answer holds no usable target reference: " + err.Error()
	}
	if rf.fits != nil {
		if fits, err := rf.fits.holds(vars); err != nil || !fits {
			return "", "", "The answer's target reference does not fit what was sent."
		}
	}
	return id, linkText(rf.url, vars, env), ""
}

var referencePattern = regexp.MustCompile(`^[^\s\p{C}]{1,255}$`)

func referenceText(t template, vars map[string]any) (string, error) {
	ps, err := t.pieces(vars)
	if err != nil {
		return "", err
	}
	id := joinPieces(ps)
	for _, p := range ps {
		if p.value && p.text == "" {
			id = ""
		}
	}
	if !referencePattern.MatchString(id) {
		return "", errNoReference
	}
	return id, nil
}

// linkText gives a link that a person can open, or "" when there is none that is
// safe to show: http and https only.
func linkText(t template, vars map[string]any, env Env) string {
	if t == nil {
		return ""
	}
	text, err := placeWith(t, vars, env)
	if err != nil {
		return ""
	}
	return safeLink(text)
}

func safeLink(s string) string {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || len(s) > 2000 || hasControl(s) {
		return ""
	}
	return u.String()
}

func isRedirect(status int) bool {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return false
}

// retryAfter reads Retry-After: seconds, or a date seen from the answer's own Date
// (else from the dispatch). 0 when there is none; at most maxRetryAfter.
func retryAfter(h http.Header, dispatched time.Time) time.Duration {
	v := strings.TrimSpace(h.Get("Retry-After"))
	if v == "" {
		return 0
	}
	if n, err := strconv.ParseUint(v, 10, 31); err == nil {
		return min(time.Duration(n)*time.Second, maxRetryAfter)
	}
	at, err := http.ParseTime(v)
	if err != nil {
		return 0
	}
	from := dispatched
	if d, err := http.ParseTime(h.Get("Date")); err == nil {
		from = d
	}
	if from.IsZero() {
		return 0
	}
	return max(0, min(at.Sub(from), maxRetryAfter))
}

// lowerHeader gives a header with lower-case names; several values are joined.
func lowerHeader(h http.Header) map[string]string {
	out := make(map[string]string, len(h))
	for name, values := range h {
		out[strings.ToLower(name)] = strings.Join(values, ", ")
	}
	return out
}
