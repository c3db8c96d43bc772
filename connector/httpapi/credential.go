package httpapi

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"holdpoint/connector/order"
	"holdpoint/operation"
	"holdpoint/operation/definition"
)

// credential is a destination's credential, for one use. Its zero value is none.
type credential struct {
	header, value string                                       // "" = none
	sign          func(*http.Request, operation.Request) error // nil = no signature
	address       *url.URL                                     // the secret address; nil = the request's own
	secrets       []string                                     // what must never be shown
}

func (c credential) authorize(h http.Header) {
	if c.header != "" {
		h.Set(c.header, c.value)
	}
}

// credential reads the values that the profile's references lead to.
func (c *Connector) credential() (credential, error) {
	a := c.profile.Auth
	if a.Scheme == "" || a.Scheme == definition.AuthNone {
		return credential{}, nil
	}
	secret, err := order.Ref(a.Secret).Read(c.env)
	if err != nil {
		return credential{}, err
	}
	switch a.Scheme {
	case definition.AuthBearer:
		return credential{header: "Authorization", value: "Bearer " + secret, secrets: []string{secret}}, nil
	case definition.AuthHeader:
		return credential{header: a.Header, value: secret, secrets: []string{secret}}, nil
	case definition.AuthBasic:
		user, err := order.Ref(a.User).Read(c.env)
		if err != nil {
			return credential{}, err
		}
		pair := user + ":" + secret
		return credential{
			header: "Authorization", value: "Basic " + base64.StdEncoding.EncodeToString([]byte(pair)), secrets: []string{secret, pair},
		}, nil
	case definition.AuthSigV4:
		return c.signature(secret)
	case definition.AuthURL:
		return secretAddress(secret)
	}
	return credential{}, fmt.Errorf("the credential's scheme %q is not for HTTP", a.Scheme)
}

// signature signs with AWS Signature Version 4, over exactly the bytes that leave. It is
// made when they leave, so it is no part of what was approved.
func (c *Connector) signature(secret string) (credential, error) {
	a := c.profile.Auth
	region, err := c.profile.Region(c.env)
	if err != nil {
		return credential{}, err
	}
	keys := aws.Credentials{SecretAccessKey: secret}
	if keys.AccessKeyID, err = order.Ref(a.User).Read(c.env); err != nil {
		return credential{}, err
	}
	hide := []string{secret}
	if !a.Session.IsZero() {
		if keys.SessionToken, err = order.Ref(a.Session).Read(c.env); err != nil {
			return credential{}, err
		}
		hide = append(hide, keys.SessionToken)
	}
	return credential{secrets: hide, sign: func(req *http.Request, sent operation.Request) error {
		sum := sha256.Sum256([]byte(sent.Body))
		return v4.NewSigner().SignHTTP(context.Background(), keys, req, hex.EncodeToString(sum[:]), a.Service, region, time.Now().UTC())
	}}, nil
}

// leastHidden is the length from which a part of a secret address is hidden by itself.
const leastHidden = 8

// secretAddress is a webhook's whole address. Every part that could be its secret is
// hidden: path, query, and what stands between their separators.
func secretAddress(secret string) (credential, error) {
	u, err := url.Parse(secret)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.User != nil || u.Fragment != "" {
		return credential{}, errors.New("the secret address is not an http or https address")
	}
	hide := []string{secret}
	for _, part := range []string{u.RequestURI(), u.Path, u.RawQuery} {
		if len(part) >= leastHidden {
			hide = append(hide, part)
		}
	}
	for _, part := range strings.FieldsFunc(u.Path+"/"+u.RawQuery, func(r rune) bool { return strings.ContainsRune("/&=", r) }) {
		if len(part) >= leastHidden {
			hide = append(hide, part)
			if plain, err := url.QueryUnescape(part); err == nil {
				hide = append(hide, plain)
			}
		}
	}
	slices.SortStableFunc(hide, func(a, b string) int { return cmp.Compare(len(b), len(a)) }) // the longest first
	return credential{address: u, secrets: slices.Compact(hide)}, nil
}

var errElsewhere = errors.New("the secret address leads to another place than the one that was approved")

// at gives the request as it leaves: where the whole address is a secret, it takes the
// place of the approved one, and must lie at the approved place.
func (c credential) at(r operation.Request) (operation.Request, error) {
	if c.address == nil {
		return r, nil
	}
	approved, err := url.Parse(r.URL)
	if err != nil || approved.Scheme != c.address.Scheme || hostPort(approved) != hostPort(c.address) ||
		!strings.HasPrefix(c.address.Path, approved.Path) {
		return r, errElsewhere
	}
	r.URL = c.address.String()
	return r, nil
}

// hostPort is a host in lower case, with its port even where that is the scheme's own.
func hostPort(u *url.URL) string {
	port := map[string]string{"https": "443", "http": "80"}[u.Scheme]
	return strings.ToLower(u.Hostname()) + ":" + cmp.Or(u.Port(), port)
}
