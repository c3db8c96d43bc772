package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"holdpoint/connector/order"
	"holdpoint/connector/outbound"
	"holdpoint/handlers"
)

// SignIn are the settings of the sign-in provider.
type SignIn struct {
	Issuer       string   `name:"oidc-issuer" env:"HOLDPOINT_OIDC_ISSUER" help:"Address of the OpenID Connect provider by which people sign in, as its discovery document names it. Empty = passwords and passkeys only." group:"Sign-in provider"`
	ClientID     string   `name:"oidc-client-id" env:"HOLDPOINT_OIDC_CLIENT_ID" help:"Client ID of Holdpoint at the provider. Its redirect address there is HOLDPOINT_PUBLIC_URL followed by /sign-in/provider/callback." group:"Sign-in provider"`
	SecretRef    string   `name:"oidc-client-secret-ref" env:"HOLDPOINT_OIDC_CLIENT_SECRET_REF" help:"Where the client's secret is: env:NAME or file:PATH. It is read anew at every use. Empty = a public client." group:"Sign-in provider"`
	Name         string   `name:"oidc-name" env:"HOLDPOINT_OIDC_NAME" help:"The provider's name on the button. Default: its host." group:"Sign-in provider"`
	Scopes       []string `name:"oidc-scopes" env:"HOLDPOINT_OIDC_SCOPES" default:"email,profile" help:"Scopes asked for besides openid. Some providers list groups only with a scope of their own." group:"Sign-in provider"`
	Groups       string   `name:"oidc-groups-claim" env:"HOLDPOINT_OIDC_GROUPS_CLAIM" default:"groups" help:"Claim that lists a person's groups." group:"Sign-in provider"`
	Roles        string   `name:"oidc-roles" env:"HOLDPOINT_OIDC_ROLES" help:"Roles that follow from groups: GROUP=ROLE or GROUP=ROLE:FLOW, separated by semicolons. They are set anew at each sign-in; roles given by hand stay." group:"Sign-in provider"`
	Domains      []string `name:"oidc-domains" env:"HOLDPOINT_OIDC_DOMAINS" help:"Mail domains from which people may come. Empty = any." group:"Sign-in provider"`
	Only         []string `name:"oidc-only" env:"HOLDPOINT_OIDC_ONLY" help:"Only the provider signs people in, but for these local accounts (addresses, separated by commas), which are kept for the time when it is away. Empty = every account may use its password." group:"Sign-in provider"`
	SecondFactor bool     `name:"oidc-second-factor" env:"HOLDPOINT_OIDC_SECOND_FACTOR" help:"The provider always asks for a second factor itself: none is asked for here after it. Without this, a token whose amr holds mfa counts so." group:"Sign-in provider"`
	Local        bool     `name:"oidc-local" env:"HOLDPOINT_OIDC_LOCAL" help:"The provider may be in a private network, and reached without TLS." group:"Sign-in provider"`
}

// provider gives the provider of the settings; nil = none.
func (s *SignIn) provider() (*handlers.Provider, error) {
	if s.Issuer == "" {
		if s.ClientID != "" || s.Roles != "" || len(s.Only) > 0 {
			return nil, fmt.Errorf("HOLDPOINT_OIDC_ISSUER is missing: the other settings of the sign-in provider mean nothing without it")
		}
		return nil, nil
	}
	roles, err := handlers.ParseGroupRoles(s.Roles)
	if err != nil {
		return nil, fmt.Errorf("HOLDPOINT_OIDC_ROLES: %w", err)
	}
	p := &handlers.Provider{Issuer: s.Issuer, ClientID: s.ClientID, Name: s.Name, Scopes: trimmed(s.Scopes), Groups: s.Groups, Roles: roles,
		Domains: trimmed(s.Domains), Only: trimmed(s.Only), SecondFactor: s.SecondFactor, HTTP: outbound.Client(s.Local)}
	if p.Secret, err = s.secret(); err != nil {
		return nil, err
	}
	if err := p.Check(s.Local); err != nil {
		return nil, fmt.Errorf("sign-in provider: %w", err)
	}
	return p, nil
}

func trimmed(list []string) []string {
	var out []string
	for _, s := range list {
		if s = strings.TrimSpace(s); s != "" {
			out = append(out, s)
		}
	}
	return slices.Clip(out)
}

// secret gives how to read the client's secret; nil = there is none. It is read once at
// the start, so that a wrong reference shows then.
func (s *SignIn) secret() (func() (string, error), error) {
	if s.SecretRef == "" {
		return nil, nil
	}
	kind, value, ok := strings.Cut(s.SecretRef, ":")
	var ref order.Ref
	switch {
	case ok && kind == "env" && value != "":
		ref.Env = value
	case ok && kind == "file" && value != "":
		ref.File = value
	default:
		return nil, fmt.Errorf("HOLDPOINT_OIDC_CLIENT_SECRET_REF is neither env:NAME nor file:PATH")
	}
	read := func() (string, error) { return ref.Read(os.LookupEnv) }
	_, err := read()
	if err != nil {
		err = fmt.Errorf("HOLDPOINT_OIDC_CLIENT_SECRET_REF: %w", err)
	}
	return read, err
}
