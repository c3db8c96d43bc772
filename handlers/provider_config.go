package handlers

import (
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"holdpoint/connector/outbound"
	"holdpoint/operation"
	"holdpoint/store"
)

// Provider is the sign-in provider of an installation (OpenID Connect); nil = none.
type Provider struct {
	Issuer, ClientID string
	// Secret gives the client's secret, read anew at every use; nil = a public client.
	Secret func() (string, error)
	Name   string   // as the button calls it
	Scopes []string // asked for besides openid
	Groups string   // claim that lists the person's groups
	// Roles gives the roles that follow from a group.
	Roles map[string][]store.RoleGrant
	// Domains are the mail domains from which people may come; empty = any.
	Domains []string
	// Only are the local accounts that may sign in past the provider; empty = all.
	Only []string
	// SecondFactor says that the provider always asks for a second factor itself.
	SecondFactor bool
	// HTTP is the guarded client by which alone the provider is reached.
	HTTP *outbound.Guarded
}

// Check refuses settings that do not fit together. local says that addresses of private
// networks, and plain HTTP, are allowed.
func (p *Provider) Check(local bool) error {
	u, err := url.Parse(p.Issuer)
	switch {
	case err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return fmt.Errorf("the issuer %q is not an address", p.Issuer)
	case u.Scheme != "https" && !(local && u.Scheme == "http"):
		return fmt.Errorf("the issuer %s must be reached by https", p.Issuer)
	case p.ClientID == "":
		return fmt.Errorf("the provider %s needs a client ID", p.Issuer)
	}
	if ip, err := netip.ParseAddr(u.Hostname()); err == nil && !local && (ip.IsLoopback() || ip.IsPrivate()) {
		return fmt.Errorf("the issuer %s is in a private network", p.Issuer)
	}
	return nil
}

// ParseGroupRoles reads the mapping of groups to roles: GROUP=ROLE or GROUP=ROLE:FLOW,
// separated by semicolons. A group may hold an equals sign, a role cannot: the last one
// divides. The same group may come several times.
func ParseGroupRoles(s string) (map[string][]store.RoleGrant, error) {
	out := map[string][]store.RoleGrant{}
	for part := range strings.SplitSeq(s, ";") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		i := strings.LastIndexByte(part, '=')
		if i <= 0 {
			return nil, fmt.Errorf("%q is not GROUP=ROLE or GROUP=ROLE:FLOW", part)
		}
		group := strings.TrimSpace(part[:i])
		role, flow, _ := strings.Cut(strings.TrimSpace(part[i+1:]), ":")
		g := store.RoleGrant{Role: operation.Role(role), Flow: flow}
		if !g.Role.Valid() || group == "" {
			return nil, fmt.Errorf("%q: there is no role %q; the roles are author, approver, ops_owner, auditor and admin", part, role)
		}
		out[group] = append(out[group], g)
	}
	return out, nil
}

// name is what the button calls the provider; "" = there is none.
func (p *Provider) name() string {
	if p == nil {
		return ""
	}
	if p.Name != "" {
		return p.Name
	}
	if u, err := url.Parse(p.Issuer); err == nil {
		return u.Hostname()
	}
	return p.Issuer
}

// only reports whether local accounts are kept for the time when the provider is away.
func (p *Provider) only() bool { return p != nil && len(p.Only) > 0 }

// local reports whether this account may sign in past the provider.
func (p *Provider) local(email string) bool {
	return !p.only() || slices.ContainsFunc(p.Only, func(o string) bool { return strings.EqualFold(strings.TrimSpace(o), email) })
}

// allows reports whether an address is of one of the domains.
func (p *Provider) allows(email string) bool {
	if len(p.Domains) == 0 {
		return true
	}
	_, domain, _ := strings.Cut(email, "@")
	return slices.ContainsFunc(p.Domains, func(d string) bool { return strings.EqualFold(strings.TrimSpace(d), domain) })
}

// grants gives the roles that follow from groups, each once.
func (p *Provider) grants(groups []string) []store.RoleGrant {
	var out []store.RoleGrant
	for _, name := range groups {
		for _, g := range p.Roles[name] {
			if !slices.Contains(out, g) {
				out = append(out, g)
			}
		}
	}
	return out
}
