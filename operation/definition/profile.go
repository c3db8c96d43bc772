package definition

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/mail"
	"sort"
	"strings"
	"time"

	"holdpoint/operation"
)

// Profile is one version of a destination: where it is, what it documents, and how
// its answers are to be read. It is read-only after ParseProfile and safe for
// concurrent use.
type Profile struct {
	Destination string
	Title       Text
	Kind        operation.RequestKind
	Account     string // pinned into every version
	Environment string
	BaseURL     string // as written; may use ${env("NAME")}; see Base
	Local       bool   // lifts the guard against private addresses; shown on the page
	Auth        Auth
	Limits      Limits
	PerformedBy string        // JobsPerform, or ClientsPerform: programs that ask the job API for a permit
	SettleAfter time.Duration // a received request may still take effect this long
	Retry       operation.RetryPolicy
	Lease       time.Duration // of an attempt
	LeaseCap    time.Duration // absolute limit of all its extensions
	Docs        Docs
	Actions     map[string]*Action
	SMTP        *SMTP      // for Kind smtp
	Callbacks   *Callbacks // nil = it tells nothing later

	Source []byte   // the file as applied
	Hash   [32]byte // SHA-256 of Source

	base    template
	placeAt Problem  // where the file says where the destination is
	region  template // in the scope of a signature; nil = the credential makes none
}

// Who performs the effects of a destination. Lookups are always made by our own jobs.
const (
	JobsPerform    = "jobs"    // our own background jobs; the default
	ClientsPerform = "clients" // other engines through the job API; our jobs take none
)

// Defaults of a profile.
const (
	DefaultLease       = time.Minute
	DefaultLeaseCap    = 15 * time.Minute
	DefaultTimeout     = 10 * time.Second
	DefaultBody        = 256 << 10
	DefaultConcurrency = 4
)

// Limits bound the work at one destination.
type Limits struct {
	Concurrency int
	Rate        float64 // requests per second; 0 = no limit
	Burst       int
	Timeout     time.Duration // of one request, as a whole
	Body        int64         // bytes of an answer that are read
}

// Docs says where the destination documents what the profile claims.
type Docs struct {
	URL     string `json:"url"`
	Checked string `json:"checked"` // date, YYYY-MM-DD
}

// SMTP says how mail is handed over.
type SMTP struct {
	Addr            string // host:port as written; may use ${env("NAME")}; see Profile.Base
	StartTLS        string // "required" (default), "optional" or "off"
	From            string // "Name <address>"
	MessageIDDomain string
}

// Action gives an action by name.
func (p *Profile) Action(name string) (*Action, error) {
	if a, ok := p.Actions[name]; ok {
		return a, nil
	}
	return nil, fmt.Errorf("destination %s has no action %q", p.Destination, name)
}

type rawProfile struct {
	Destination string                `json:"destination"`
	Title       Text                  `json:"title"`
	Kind        operation.RequestKind `json:"kind"`
	Account     string                `json:"account"`
	Environment string                `json:"environment"`
	BaseURL     string                `json:"base_url"`
	Local       bool                  `json:"local"`
	Auth        rawAuth               `json:"auth"`
	SMTP        *rawSMTP              `json:"smtp"`
	Limits      struct {
		Concurrency int      `json:"concurrency"`
		Rate        rate     `json:"rate"`
		Timeout     duration `json:"timeout"`
		Body        size     `json:"body"`
	} `json:"limits"`
	PerformedBy string   `json:"performed_by"`
	SettleAfter duration `json:"settle_after"`
	Lease       duration `json:"lease"`
	LeaseCap    duration `json:"lease_cap"`
	Retry       struct {
		Max               int      `json:"max"`
		Base              duration `json:"base"`
		MaxInterval       duration `json:"max_interval"`
		RespectRetryAfter *bool    `json:"respect_retry_after"`
	} `json:"retry"`
	Docs    Docs                 `json:"docs"`
	Actions map[string]rawAction `json:"actions"`

	Callbacks *rawCallbacks `json:"callbacks"`
}

type rawSMTP struct {
	Addr            string `json:"addr"`
	StartTLS        string `json:"starttls"`
	From            string `json:"from"`
	MessageIDDomain string `json:"message_id_domain"`
}

// ParseProfile reads a destination profile. The error is Problems, with file, line
// and field.
func ParseProfile(file string, src []byte) (*Profile, error) {
	var raw rawProfile
	d, p, err := load("profile", file, src, &raw)
	if err != nil {
		return nil, err
	}
	pr := &Profile{
		Destination: raw.Destination, Title: raw.Title, Kind: raw.Kind, Account: raw.Account, Environment: raw.Environment,
		BaseURL: raw.BaseURL, Local: raw.Local, Auth: raw.Auth.auth(), PerformedBy: cmp.Or(raw.PerformedBy, JobsPerform), SettleAfter: time.Duration(raw.SettleAfter),
		Limits: Limits{
			Concurrency: orInt(raw.Limits.Concurrency, DefaultConcurrency), Rate: raw.Limits.Rate.perSecond, Burst: raw.Limits.Rate.burst,
			Timeout: orDuration(raw.Limits.Timeout, DefaultTimeout), Body: int64(orInt(int(raw.Limits.Body), DefaultBody)),
		},
		Retry: operation.RetryPolicy{
			Max: orInt(raw.Retry.Max, DefaultAttempts), Base: orDuration(raw.Retry.Base, 2*time.Second),
			MaxInterval:       orDuration(raw.Retry.MaxInterval, 5*time.Minute),
			RespectRetryAfter: raw.Retry.RespectRetryAfter == nil || *raw.Retry.RespectRetryAfter,
		},
		Lease: orDuration(raw.Lease, DefaultLease), LeaseCap: orDuration(raw.LeaseCap, DefaultLeaseCap),
		Docs: raw.Docs, Actions: map[string]*Action{}, Source: src, Hash: d.hash(),
	}
	if pr.LeaseCap < pr.Lease {
		p.add("lease_cap", "the cap %s is shorter than the lease %s", pr.LeaseCap, pr.Lease)
	}
	if pr.Lease < 2*pr.Limits.Timeout {
		p.add("lease", "the lease %s is shorter than twice the timeout %s: an attempt could outlive it", pr.Lease, pr.Limits.Timeout)
	}
	pr.place(raw, p)
	names := make([]string, 0, len(raw.Actions))
	for name := range raw.Actions {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		pr.Actions[name] = raw.Actions[name].compile(pr, name, p)
	}
	pr.Callbacks = raw.Callbacks.compile(pr, p)
	if err := p.err(); err != nil {
		return nil, err
	}
	return pr, nil
}

// place checks where the destination is and how it is entered.
func (pr *Profile) place(raw rawProfile, p *problems) {
	smtp := pr.Kind == operation.RequestSMTP
	pr.enter(raw, p)
	if !smtp {
		if raw.BaseURL == "" {
			p.add("base_url", "this field is missing")
		}
		if raw.SMTP != nil {
			p.add("smtp", "this block is for kind smtp only")
		}
		pr.placeAt = Problem{File: p.doc.file, Line: p.doc.line("base_url"), Field: "base_url"}
		pr.base = compileText(scopePlace, raw.BaseURL, "base_url", asWritten, p)
		pr.tryPlace("base_url", p)
		return
	}
	if raw.BaseURL != "" {
		p.add("base_url", "kind smtp has smtp.addr instead")
	}
	if raw.SMTP == nil {
		p.add("smtp", "this block is missing")
		return
	}
	pr.SMTP = &SMTP{Addr: raw.SMTP.Addr, StartTLS: or(raw.SMTP.StartTLS, "required"), From: raw.SMTP.From, MessageIDDomain: raw.SMTP.MessageIDDomain}
	if a, err := mail.ParseAddress(raw.SMTP.From); err != nil || !isASCII(a.Address) || hasControl(a.Name) {
		p.add("smtp.from", "it is not a mail address with an ASCII address part")
	}
	if pr.SMTP.StartTLS == "off" && !pr.Local {
		p.add("smtp.starttls", "mail without TLS is permitted to a local destination only")
	}
	pr.placeAt = Problem{File: p.doc.file, Line: p.doc.line("smtp.addr"), Field: "smtp.addr"}
	pr.base = compileText(scopePlace, raw.SMTP.Addr, "smtp.addr", asWritten, p)
	pr.tryPlace("smtp.addr", p)
}

// tryPlace checks a place that needs no environment variable.
func (pr *Profile) tryPlace(field string, p *problems) {
	if _, fixed := pr.base.(literal); !fixed {
		return
	}
	if _, err := pr.Base(nil); err != nil && field != "" {
		p.add(field, "%s", err)
	}
}

func orInt(n, fallback int) int {
	if n == 0 {
		return fallback
	}
	return n
}

func orDuration(d duration, fallback time.Duration) time.Duration {
	if d == 0 {
		return fallback
	}
	return time.Duration(d)
}

// marshal writes JSON without escaping HTML characters and without a line end.
func marshal(v any) (string, error) {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return "", err
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}
