package handlers

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"

	"holdpoint/store"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

// providerAway is a provider that did not answer, or not as providers do.
type providerAway struct{ cause error }

// Error says so.
func (e *providerAway) Error() string {
	return "the sign-in provider did not answer: " + e.cause.Error()
}

// Unwrap gives the cause.
func (e *providerAway) Unwrap() error { return e.cause }

// errProviderAnswer is an answer of the provider that proves nothing. Why stands in the
// log alone.
var errProviderAnswer = errors.New("the sign-in provider's answer does not fit")

const (
	// discoveryLife is how long the provider's own description is believed.
	discoveryLife = time.Hour
	// providerWait bounds each conversation with the provider.
	providerWait = 15 * time.Second
	// providerLimit bounds what is read of an answer, in bytes.
	providerLimit = 1 << 20
)

// providerClient talks to the provider. Its description is read at the first sign-in: an
// installation starts, and its local accounts sign in, while the provider is away.
type providerClient struct {
	*Provider
	mu    sync.Mutex
	found *oidc.Provider
	at    time.Time
}

// bounded limits what is read of each answer.
type bounded struct{ next http.RoundTripper }

// RoundTrip passes the request on.
func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := b.next.RoundTrip(r)
	if err == nil {
		res.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(res.Body, providerLimit), res.Body}
	}
	return res, err
}

// talk gives a context in which the provider is reached by the guarded client alone.
func (p *providerClient) talk(ctx context.Context) (context.Context, context.CancelFunc) {
	client := *p.HTTP
	client.Transport = bounded{p.HTTP.Transport}
	ctx, cancel := context.WithTimeout(ctx, providerWait)
	return oidc.ClientContext(ctx, &client), cancel
}

// discover gives the provider as it describes itself. While it is away, an older
// description is as good as none: the sign-in would fail a step later.
func (p *providerClient) discover(ctx context.Context) (*oidc.Provider, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.found != nil && time.Since(p.at) < discoveryLife {
		return p.found, nil
	}
	found, err := oidc.NewProvider(ctx, p.Issuer)
	if err != nil {
		return nil, &providerAway{err}
	}
	p.found, p.at = found, time.Now()
	return found, nil
}

func (p *providerClient) config(found *oidc.Provider, back string) (oauth2.Config, error) {
	c := oauth2.Config{ClientID: p.ClientID, Endpoint: found.Endpoint(), RedirectURL: back, Scopes: append([]string{oidc.ScopeOpenID}, p.Scopes...)}
	if p.Secret == nil {
		return c, nil
	}
	var err error
	c.ClientSecret, err = p.Secret()
	return c, err
}

// journey is one way to the provider and back, as the session keeps it on the server.
type journey struct {
	State, Nonce, Verifier string
	Return                 string
	Confirm                bool // of a person who is signed in, to confirm who they are
	At                     time.Time
}

// begin gives the address at the provider that a journey starts with.
func (p *providerClient) begin(ctx context.Context, j journey, back string) (string, error) {
	ctx, cancel := p.talk(ctx)
	defer cancel()
	found, err := p.discover(ctx)
	if err != nil {
		return "", err
	}
	c, err := p.config(found, back)
	if err != nil {
		return "", err
	}
	opts := []oauth2.AuthCodeOption{oidc.Nonce(j.Nonce), oauth2.S256ChallengeOption(j.Verifier)}
	if j.Confirm {
		opts = append(opts, oauth2.SetAuthURLParam("prompt", "login"), oauth2.SetAuthURLParam("max_age", "0"))
	}
	return c.AuthCodeURL(j.State, opts...), nil
}

// word is what a provider says of a person in claims. Some write a truth as text.
type word struct {
	Email         string          `json:"email"`
	EmailVerified any             `json:"email_verified"`
	Name          string          `json:"name"`
	Preferred     string          `json:"preferred_username"`
	AuthTime      int64           `json:"auth_time"`
	Party         string          `json:"azp"`
	Methods       []string        `json:"amr"`
	raw           json.RawMessage // all claims, for the groups
}

// identity is who came back from the provider.
type identity struct {
	store.ProviderClaims
	Strong bool      // the provider has asked for a second factor
	At     time.Time // when they proved who they are there; zero = it does not say
}

// end exchanges the code for a proof of who it is, and checks it: signature, issuer,
// audience, nonce, age.
func (p *providerClient) end(ctx context.Context, j journey, code, back string) (identity, error) {
	ctx, cancel := p.talk(ctx)
	defer cancel()
	found, err := p.discover(ctx)
	if err != nil {
		return identity{}, err
	}
	c, err := p.config(found, back)
	if err != nil {
		return identity{}, err
	}
	token, err := c.Exchange(ctx, code, oauth2.VerifierOption(j.Verifier))
	var refused *oauth2.RetrieveError
	switch {
	case errors.As(err, &refused) && refused.Response.StatusCode < http.StatusInternalServerError:
		return identity{}, fmt.Errorf("%w: no token for the code: %s", errProviderAnswer, refused.ErrorCode)
	case err != nil:
		return identity{}, &providerAway{err}
	}
	raw, _ := token.Extra("id_token").(string)
	proof, err := found.Verifier(&oidc.Config{ClientID: p.ClientID}).Verify(ctx, raw)
	if err != nil {
		return identity{}, fmt.Errorf("%w: %w", errProviderAnswer, err)
	}
	if subtle.ConstantTimeCompare([]byte(proof.Nonce), []byte(j.Nonce)) != 1 {
		return identity{}, fmt.Errorf("%w: the nonce is another", errProviderAnswer)
	}
	w := word{}
	if err := errors.Join(proof.Claims(&w), proof.Claims(&w.raw)); err != nil {
		return identity{}, fmt.Errorf("%w: %w", errProviderAnswer, err)
	}
	if len(proof.Audience) > 1 && w.Party != p.ClientID {
		return identity{}, fmt.Errorf("%w: it is for several, and not for us", errProviderAnswer)
	}
	if proof.AccessTokenHash != "" {
		if err := proof.VerifyAccessToken(token.AccessToken); err != nil {
			return identity{}, fmt.Errorf("%w: %w", errProviderAnswer, err)
		}
	}
	groups, ok := groupsOf(w.raw, p.Groups)
	if w.Email == "" || !ok {
		if groups, err = p.ask(ctx, found, token, proof.Subject, &w, groups); err != nil {
			return identity{}, err
		}
	}
	return p.identity(proof, w, groups), nil
}

// ask reads from the provider's page about the person what the token did not say.
func (p *providerClient) ask(ctx context.Context, found *oidc.Provider, token *oauth2.Token, subject string, w *word, groups []string) ([]string, error) {
	if found.UserInfoEndpoint() == "" {
		return groups, nil
	}
	info, err := found.UserInfo(ctx, oauth2.StaticTokenSource(token))
	if err != nil {
		return nil, &providerAway{err}
	}
	if info.Subject != subject {
		return nil, fmt.Errorf("%w: its page is about somebody else", errProviderAnswer)
	}
	var more word
	if err := errors.Join(info.Claims(&more), info.Claims(&more.raw)); err != nil {
		return nil, fmt.Errorf("%w: %w", errProviderAnswer, err)
	}
	if w.Email == "" {
		w.Email, w.EmailVerified = more.Email, more.EmailVerified
	}
	if w.Name == "" {
		w.Name = more.Name
	}
	if list, ok := groupsOf(more.raw, p.Groups); ok && groups == nil {
		groups = list
	}
	return groups, nil
}

func (p *providerClient) identity(proof *oidc.IDToken, w word, groups []string) identity {
	out := identity{Strong: p.SecondFactor || slices.Contains(w.Methods, "mfa")}
	out.ProviderClaims = store.ProviderClaims{Issuer: proof.Issuer, Subject: proof.Subject, Email: w.Email,
		EmailVerified: w.EmailVerified == true || w.EmailVerified == "true", Name: w.Name, Roles: p.grants(groups)}
	if out.Name == "" {
		out.Name = w.Preferred
	}
	if w.AuthTime > 0 {
		out.At = time.Unix(w.AuthTime, 0)
	}
	return out
}

// groupsOf reads a claim that is a list of texts, or one text. ok is false where the
// claim is missing.
func groupsOf(raw json.RawMessage, claim string) (groups []string, ok bool) {
	var all map[string]json.RawMessage
	if json.Unmarshal(raw, &all) != nil || all[claim] == nil {
		return nil, false
	}
	if json.Unmarshal(all[claim], &groups) == nil {
		return groups, true
	}
	var one string
	if json.Unmarshal(all[claim], &one) == nil {
		return []string{one}, true
	}
	return nil, false
}
