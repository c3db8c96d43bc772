package handlers

import (
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/views"
	"holdpoint/web"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"
	"github.com/labstack/echo/v4"
)

// Passkeys are asked for by a script: there is no other way to a browser's keys. Its two
// requests, start and finish, are JSON under the same protection as every form.

// passkeyAnswer is what the script sends when the browser has answered.
type passkeyAnswer struct {
	Credential json.RawMessage `json:"credential"`
	Name       string          `json:"name"`   // of a new passkey
	Return     string          `json:"return"` // where to go on to
}

// passkeyLimit bounds the script's requests, in bytes.
const passkeyLimit = 64 << 10

// passkeyBody reads what the script sent.
func passkeyBody(c echo.Context) (passkeyAnswer, error) {
	var a passkeyAnswer
	kind, _, err := mime.ParseMediaType(c.Request().Header.Get(echo.HeaderContentType))
	if err != nil || kind != echo.MIMEApplicationJSON {
		return a, echo.NewHTTPError(http.StatusUnsupportedMediaType)
	}
	raw, err := io.ReadAll(http.MaxBytesReader(c.Response(), c.Request().Body, passkeyLimit))
	if err != nil {
		return a, echo.NewHTTPError(http.StatusRequestEntityTooLarge).SetInternal(err)
	}
	if err := json.Unmarshal(raw, &a); err != nil {
		return a, echo.NewHTTPError(http.StatusBadRequest).SetInternal(err)
	}
	if !web.IsText(a.Name) || !web.IsText(a.Return) {
		return a, echo.NewHTTPError(http.StatusUnprocessableEntity)
	}
	return a, nil
}

// sayJSON answers the script with a sentence for the person.
func (s *site) sayJSON(c echo.Context, status int, key string, args ...any) error {
	return c.JSON(status, map[string]string{"error": views.Sentence(key, args...).In(web.VisitOf(c).Printer())})
}

// goJSON tells the script where to go on to.
func goJSON(c echo.Context, to string) error {
	return c.JSON(http.StatusOK, map[string]string{"to": to})
}

// passkeyFailed answers an answer that proved nothing; another error stays one.
func (s *site) passkeyFailed(c echo.Context, err error) error {
	if !errors.Is(err, errPasskey) {
		return err
	}
	s.Log.Warn("passkey refused", "id", web.RequestID(c), "why", err.Error())
	return s.sayJSON(c, http.StatusForbidden, views.ErrorPasskeyRefused)
}

// startSignIn asks for any passkey of this installation.
func (s *site) startSignIn(c echo.Context) error { return s.askPasskey(c, nil) }

// signInByPasskey signs the person in whom the passkey names: it is both factors at once,
// something that they have and, by the device, something that they know or are.
func (s *site) signInByPasskey(c echo.Context) error {
	a, err := passkeyBody(c)
	if err != nil {
		return err
	}
	u, err := s.checkPasskey(c, "", a.Credential)
	if err != nil {
		return s.passkeyFailed(c, err)
	}
	if !s.Provider.local(u.Email) {
		return s.sayJSON(c, http.StatusForbidden, views.ErrorProviderOnly, "Name", s.Provider.name())
	}
	to, err := s.proven(c, u, store.ByPasskey, false, s.back(a.Return))
	if err != nil {
		return err
	}
	return goJSON(c, to)
}

// startFactor asks whoever owes the second factor for one of their passkeys.
func (s *site) startFactor(c echo.Context) error {
	u := web.VisitOf(c).Pending
	if u == nil {
		return s.sayJSON(c, http.StatusForbidden, views.ErrorSignInAnew)
	}
	return s.askPasskeyOf(c, u.ID)
}

func (s *site) askPasskeyOf(c echo.Context, id operation.UserID) error {
	u, keys, err := s.Store.FindPasskeys(c.Request().Context(), id)
	if err != nil {
		return err
	}
	return s.askPasskey(c, &keyHolder{u, keys})
}

// giveFactorByPasskey takes a passkey as the second factor.
func (s *site) giveFactorByPasskey(c echo.Context) error {
	a, err := passkeyBody(c)
	if err != nil {
		return err
	}
	p := web.VisitOf(c).Pending
	if p == nil {
		return s.sayJSON(c, http.StatusForbidden, views.ErrorSignInAnew)
	}
	u, err := s.checkPasskey(c, p.ID, a.Credential)
	if err != nil {
		return s.passkeyFailed(c, err)
	}
	to, err := s.enter(c, u, store.ByPasskey, s.back(a.Return))
	if err != nil {
		return err
	}
	return goJSON(c, to)
}

// startConfirm asks the person who is signed in for one of their passkeys, to confirm
// who they are.
func (s *site) startConfirm(c echo.Context) error {
	return s.askPasskeyOf(c, web.VisitOf(c).Self().ID)
}

// confirmByPasskey goes on in the same session, as just proven.
func (s *site) confirmByPasskey(c echo.Context) error {
	a, err := passkeyBody(c)
	if err != nil {
		return err
	}
	if _, err := s.checkPasskey(c, web.VisitOf(c).Self().ID, a.Credential); err != nil {
		return s.passkeyFailed(c, err)
	}
	to, err := s.confirmedTo(c, a.Return)
	if err != nil {
		return err
	}
	return goJSON(c, to)
}

// startPasskey begins to make a new passkey. It asks for a fresh proof first: whoever
// finds a browser open adds no key of theirs.
func (s *site) startPasskey(c echo.Context) error {
	if !web.Proven(c) {
		return goJSON(c, views.PathConfirm+"?return="+url.QueryEscape(views.PathFactors))
	}
	rp, err := party(c)
	if err != nil {
		return echo.NewHTTPError(http.StatusNotFound).SetInternal(err)
	}
	u, keys, err := s.Store.FindPasskeys(c.Request().Context(), web.VisitOf(c).Self().ID)
	if err != nil {
		return err
	}
	h := keyHolder{u, keys}
	var known []protocol.CredentialDescriptor
	for _, x := range h.WebAuthnCredentials() {
		known = append(known, x.Descriptor())
	}
	options, session, err := rp.BeginRegistration(h, webauthn.WithExclusions(known))
	if err != nil {
		return err
	}
	return ask(c, "passkey_add", options, session)
}

// addPasskey keeps the new passkey with all that later sign-ins are checked against.
func (s *site) addPasskey(c echo.Context) error {
	a, err := passkeyBody(c)
	if err != nil {
		return err
	}
	rp, err := party(c)
	if err != nil {
		return echo.NewHTTPError(http.StatusNotFound).SetInternal(err)
	}
	session, err := answered(c, "passkey_add")
	if errors.Is(err, store.ErrNotFound) {
		return s.sayJSON(c, http.StatusForbidden, views.ErrorPasskeyLate)
	}
	if err != nil {
		return err
	}
	v := web.VisitOf(c)
	parsed, err := protocol.ParseCredentialCreationResponseBytes(a.Credential)
	var x *webauthn.Credential
	if err == nil {
		x, err = rp.CreateCredential(keyHolder{User: *v.Self()}, session, parsed)
	}
	if err != nil {
		s.Log.Warn("new passkey refused", "id", web.RequestID(c), "why", err.Error())
		return s.sayJSON(c, http.StatusForbidden, views.ErrorPasskeyRefused)
	}
	raw, err := json.Marshal(x)
	if err != nil {
		return err
	}
	_, err = s.Store.AddPasskey(c.Request().Context(), v.SelfActor(), store.Passkey{CredentialID: x.ID, Name: a.Name, Credential: string(raw)})
	if _, say, ok := invalidOf(err); ok {
		return c.JSON(http.StatusUnprocessableEntity, map[string]string{"error": say.In(v.Printer())})
	}
	if errors.Is(err, store.ErrConfirm) {
		return goJSON(c, views.PathConfirm+"?return="+url.QueryEscape(views.PathFactors))
	}
	if err != nil {
		return err
	}
	if err := web.Flash(c, views.FlashDone, views.FlashPasskeyAdded); err != nil {
		return err
	}
	return goJSON(c, views.PathFactors)
}
