package handlers

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/views"
	"holdpoint/web"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"
	"github.com/labstack/echo/v4"
)

// passkeyLife is how long a browser may take to answer a challenge.
const passkeyLife = 5 * time.Minute

// party is this installation as a browser and its passkeys know it: the name in the
// public address. Passkeys belong to a name, so an address that is a number has none.
func party(c echo.Context) (*webauthn.WebAuthn, error) {
	u, err := url.Parse(web.Address(c, ""))
	if err != nil {
		return nil, err
	}
	if err := protocol.ValidateRPID(u.Hostname()); err != nil {
		return nil, fmt.Errorf("passkeys need a public address with a name: %w", err)
	}
	limit := webauthn.TimeoutConfig{Enforce: true, Timeout: passkeyLife, TimeoutUVD: passkeyLife}
	return webauthn.New(&webauthn.Config{
		RPID: u.Hostname(), RPDisplayName: "Holdpoint", RPOrigins: []string{u.Scheme + "://" + u.Host},
		AttestationPreference: protocol.PreferNoAttestation,
		AuthenticatorSelection: protocol.AuthenticatorSelection{
			ResidentKey: protocol.ResidentKeyRequirementRequired, RequireResidentKey: protocol.ResidentKeyRequired(),
			UserVerification: protocol.VerificationRequired},
		Timeouts: webauthn.TimeoutsConfig{Login: limit, Registration: limit},
		// password managers answer with extensions that nobody asked for; none is used
		ExtensionsUnsolicitedOutputPolicy: protocol.UnsolicitedOutputPolicyIgnore,
	})
}

// hasPasskeys reports whether passkeys can be used at the address that people open.
func (s *site) hasPasskeys(c echo.Context) bool {
	_, err := party(c)
	return err == nil
}

// keyHolder is a person with their passkeys, as the library wants to see them.
type keyHolder struct {
	store.User
	keys []store.Passkey
}

// WebAuthnID is the person's ID: it names nobody.
func (h keyHolder) WebAuthnID() []byte { return []byte(h.ID) }

// WebAuthnName is what the browser shows when there are several.
func (h keyHolder) WebAuthnName() string { return h.Email }

// WebAuthnDisplayName is the person's name.
func (h keyHolder) WebAuthnDisplayName() string { return h.Name }

// WebAuthnCredentials are the stored records. One that cannot be read opens nothing.
func (h keyHolder) WebAuthnCredentials() []webauthn.Credential {
	var out []webauthn.Credential
	for _, k := range h.keys {
		var x webauthn.Credential
		if json.Unmarshal([]byte(k.Credential), &x) == nil {
			out = append(out, x)
		}
	}
	return out
}

// key gives the stored passkey of a credential.
func (h keyHolder) key(credential []byte) (store.Passkey, bool) {
	for _, k := range h.keys {
		if string(k.CredentialID) == string(credential) {
			return k, true
		}
	}
	return store.Passkey{}, false
}

// ask keeps a challenge for this session and sends its options to the browser.
func ask(c echo.Context, kind string, options any, session *webauthn.SessionData) error {
	raw, err := json.Marshal(session)
	if err != nil {
		return err
	}
	if err := web.Challenge(c, kind, raw, passkeyLife); err != nil {
		return err
	}
	return c.JSON(http.StatusOK, options)
}

// answered gives the challenge that this session has to answer, once.
func answered(c echo.Context, kind string) (webauthn.SessionData, error) {
	var x webauthn.SessionData
	raw, err := web.TakeChallenge(c, kind)
	if err != nil {
		return x, err
	}
	return x, json.Unmarshal(raw, &x)
}

// askPasskey asks the browser for a passkey: of one person, or of anybody who has one
// for this installation (holder nil).
func (s *site) askPasskey(c echo.Context, holder *keyHolder) error {
	rp, err := party(c)
	if err != nil {
		return echo.NewHTTPError(http.StatusNotFound).SetInternal(err)
	}
	verify := webauthn.WithUserVerification(protocol.VerificationRequired)
	var options *protocol.CredentialAssertion
	var session *webauthn.SessionData
	if holder == nil {
		options, session, err = rp.BeginDiscoverableLogin(verify)
	} else if len(holder.WebAuthnCredentials()) == 0 {
		return s.sayJSON(c, http.StatusUnprocessableEntity, views.ErrorNoPasskey)
	} else {
		options, session, err = rp.BeginLogin(*holder, verify)
	}
	if err != nil {
		return err
	}
	return ask(c, "passkey", options, session)
}

// errPasskey is an answer that proves nothing. Why stands in the log alone.
var errPasskey = errors.New("the passkey was not accepted")

// checkPasskey checks the browser's answer to askPasskey and records the use. want is
// whose passkey it must be; "" = the person whom it names.
func (s *site) checkPasskey(c echo.Context, want operation.UserID, credential json.RawMessage) (store.User, error) {
	rp, err := party(c)
	if err != nil {
		return store.User{}, echo.NewHTTPError(http.StatusNotFound).SetInternal(err)
	}
	session, err := answered(c, "passkey")
	if errors.Is(err, store.ErrNotFound) {
		return store.User{}, fmt.Errorf("%w: nothing was asked, too long ago, or it was answered", errPasskey)
	}
	if err != nil {
		return store.User{}, err
	}
	parsed, err := protocol.ParseCredentialRequestResponseBytes(credential)
	if err != nil {
		return store.User{}, fmt.Errorf("%w: %w", errPasskey, err)
	}
	id := want
	if id == "" {
		id = operation.UserID(parsed.Response.UserHandle)
	}
	if !operation.ValidID("usr", string(id)) {
		return store.User{}, fmt.Errorf("%w: it names nobody", errPasskey)
	}
	u, keys, err := s.Store.FindPasskeys(c.Request().Context(), id)
	if errors.Is(err, store.ErrNotFound) {
		return store.User{}, fmt.Errorf("%w: it names nobody who is active", errPasskey)
	}
	if err != nil {
		return store.User{}, err
	}
	return u, s.usePasskey(c, rp, keyHolder{u, keys}, session, parsed)
}

func (s *site) usePasskey(c echo.Context, rp *webauthn.WebAuthn, h keyHolder, session webauthn.SessionData, parsed *protocol.ParsedCredentialAssertionData) error {
	var x *webauthn.Credential
	var err error
	if len(session.UserID) == 0 {
		x, err = rp.ValidateDiscoverableLogin(func(_, _ []byte) (webauthn.User, error) { return h, nil }, session, parsed)
	} else {
		x, err = rp.ValidateLogin(h, session, parsed)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", errPasskey, err)
	}
	k, ok := h.key(x.ID)
	if !ok {
		return errPasskey
	}
	cloned := x.Authenticator.CloneWarning
	raw, err := json.Marshal(x)
	if err != nil {
		return err
	}
	err = s.Store.UsePasskey(c.Request().Context(), k, string(raw), cloned)
	if errors.Is(err, store.ErrBadCode) {
		return fmt.Errorf("%w: its counter went back, or it was used meanwhile", errPasskey)
	}
	return err
}
