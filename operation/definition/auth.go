package definition

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"holdpoint/operation"
)

// Schemes of a credential.
const (
	AuthNone   = "none"
	AuthBearer = "bearer" // Authorization: Bearer …
	AuthBasic  = "basic"  // Authorization: Basic …
	AuthHeader = "header" // a header of its own
	AuthPlain  = "plain"  // SMTP: AUTH PLAIN
	AuthSigV4  = "sigv4"  // AWS Signature Version 4, made when the request leaves
	AuthURL    = "url"    // the whole address is the secret, as with a chat's webhook
)

// Auth is the credential of a destination, by reference.
type Auth struct {
	Scheme string // one of the Auth constants
	Header string // for AuthHeader
	Secret SecretRef
	User   SecretRef // for AuthBasic and AuthPlain; for AuthSigV4 the access key's ID

	// Service is the name of the service in the scope of a signature. AuthSigV4 only.
	Service string
	// Session is the session token of temporary credentials; zero = none. AuthSigV4 only.
	Session SecretRef
}

// Name is the credential's name, pinned in every version: "bearer env:BILLING_KEY".
// It never holds a value.
func (a Auth) Name() string {
	parts := []string{or(a.Scheme, AuthNone)}
	for _, s := range []string{a.Header, a.Service, a.User.Name(), a.Secret.Name(), a.Session.Name()} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	return strings.Join(parts, " ")
}

type rawAuth struct {
	Bearer *SecretRef `json:"bearer"`
	Basic  *rawUser   `json:"basic"`
	Plain  *rawUser   `json:"plain"`
	Header *struct {
		Name   string    `json:"name"`
		Secret SecretRef `json:"secret"`
	} `json:"header"`
	SigV4 *rawSigV4  `json:"sigv4"`
	URL   *SecretRef `json:"url"`
	None  bool       `json:"none"`
}

type rawUser struct {
	User   SecretRef `json:"user"`
	Secret SecretRef `json:"secret"`
}

type rawSigV4 struct {
	Region    string    `json:"region"`
	Service   string    `json:"service"`
	AccessKey SecretRef `json:"access_key"`
	Secret    SecretRef `json:"secret"`
	Session   SecretRef `json:"session_token"`
}

func (a rawAuth) auth() Auth {
	switch {
	case a.Bearer != nil:
		return Auth{Scheme: AuthBearer, Secret: *a.Bearer}
	case a.Basic != nil:
		return Auth{Scheme: AuthBasic, User: a.Basic.User, Secret: a.Basic.Secret}
	case a.Plain != nil:
		return Auth{Scheme: AuthPlain, User: a.Plain.User, Secret: a.Plain.Secret}
	case a.Header != nil:
		return Auth{Scheme: AuthHeader, Header: a.Header.Name, Secret: a.Header.Secret}
	case a.SigV4 != nil:
		return Auth{Scheme: AuthSigV4, Service: a.SigV4.Service, User: a.SigV4.AccessKey, Secret: a.SigV4.Secret, Session: a.SigV4.Session}
	case a.URL != nil:
		return Auth{Scheme: AuthURL, Secret: *a.URL}
	}
	return Auth{Scheme: AuthNone}
}

// enter checks that the credential is one of the destination's kind, and what only one
// scheme needs.
func (pr *Profile) enter(raw rawProfile, p *problems) {
	smtp := pr.Kind == operation.RequestSMTP
	switch scheme := pr.Auth.Scheme; {
	case smtp && scheme != AuthPlain && scheme != AuthNone:
		p.add("auth", "SMTP takes plain or none, not %s", scheme)
	case !smtp && scheme == AuthPlain:
		p.add("auth", "plain is for SMTP; HTTP takes bearer, basic, header, sigv4, url or none")
	case scheme == AuthURL:
		pr.checkSecretAddress(raw, p)
	case scheme == AuthSigV4:
		pr.region = compileText(scopePlace, raw.Auth.SigV4.Region, "auth.sigv4.region", asWritten, p)
		if _, fixed := pr.region.(literal); fixed {
			if _, err := pr.Region(nil); err != nil {
				p.add("auth.sigv4.region", "%s", err)
			}
		}
	}
}

// checkSecretAddress: where the whole address is a secret, nothing of it can be written
// in the file, and nobody can search there.
func (pr *Profile) checkSecretAddress(raw rawProfile, p *problems) {
	for name, a := range raw.Actions {
		at := join("actions", name)
		if a.Request != nil && (a.Request.Path != "/" || a.Request.Query != nil) {
			p.add(join(at, "request.path"), "the whole address is a secret (auth.url): the path is /, and there is no query")
		}
		if a.Lookup != nil {
			p.add(join(at, "lookup"), "a destination whose address is a secret (auth.url) cannot be searched")
		}
	}
}

var regionPattern = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,40}$`)

// Region is the region in the scope of a signature (AuthSigV4). The error names what is
// missing.
func (pr *Profile) Region(env Env) (string, error) {
	if pr.region == nil {
		return "", errors.New("the profile names no region")
	}
	text, err := placeText(pr.region, env)
	if err != nil {
		return "", err
	}
	if !regionPattern.MatchString(text) {
		return "", fmt.Errorf("%q is no region, such as eu-central-1", text)
	}
	return text, nil
}
