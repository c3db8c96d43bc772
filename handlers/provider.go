package handlers

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"holdpoint/store"
	"holdpoint/views"
	"holdpoint/web"

	"github.com/labstack/echo/v4"
	"golang.org/x/oauth2"
)

// pathCallback is where the provider sends people back to.
const pathCallback = views.PathProvider + "/callback"

const (
	// journeyLife is how long somebody may take at the provider.
	journeyLife = 15 * time.Minute
	// clockSkew is how far the provider's clock may be off.
	clockSkew = time.Minute
)

// providerRoutes are the way to the sign-in provider and back. The way there is a link,
// not a form: a page's policy lets forms go to us alone.
func (s *site) providerRoutes() []route {
	return []route{
		{get, views.PathProvider, anyone, "", s.toProvider},
		{get, pathCallback, anyone, "", s.fromProvider},
		{get, views.PathConfirm + "/provider", selfs, "", s.confirmAtProvider},
	}
}

// toProvider leads to the provider.
func (s *site) toProvider(c echo.Context) error {
	back := s.back(c.QueryParam("return"))
	if web.VisitOf(c).User != nil {
		return c.Redirect(http.StatusSeeOther, back)
	}
	return s.leaveFor(c, journey{Return: back})
}

// confirmAtProvider leads to the provider, which asks for the person's proof anew.
func (s *site) confirmAtProvider(c echo.Context) error {
	return s.leaveFor(c, journey{Return: s.back(c.QueryParam("return")), Confirm: true})
}

func (s *site) leaveFor(c echo.Context, j journey) error {
	if s.Provider == nil {
		return echo.NewHTTPError(http.StatusNotFound)
	}
	j.State, j.Nonce, j.Verifier, j.At = rand.Text(), rand.Text(), oauth2.GenerateVerifier(), time.Now()
	to, err := s.provider.begin(c.Request().Context(), j, web.Address(c, pathCallback))
	if err != nil {
		return s.providerFailed(c, err)
	}
	raw, err := json.Marshal(j)
	if err != nil {
		return err
	}
	if err := web.Challenge(c, "provider", raw, journeyLife); err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, to)
}

// fromProvider takes who comes back: only in the session that they left from, once.
func (s *site) fromProvider(c echo.Context) error {
	if s.Provider == nil {
		return echo.NewHTTPError(http.StatusNotFound)
	}
	j, err := s.journeyOf(c)
	if err != nil {
		return s.providerFailed(c, err)
	}
	if code := c.QueryParam("error"); code != "" {
		s.Log.Warn("the sign-in provider refused", "id", web.RequestID(c), "error", code)
		if code == "temporarily_unavailable" || code == "server_error" {
			return s.showProvider(c, http.StatusServiceUnavailable, views.ProviderAway)
		}
		return s.showProvider(c, http.StatusForbidden, views.ProviderDenied)
	}
	who, err := s.provider.end(c.Request().Context(), j, c.QueryParam("code"), web.Address(c, pathCallback))
	if err != nil {
		return s.providerFailed(c, err)
	}
	if j.Confirm {
		return s.confirmedBy(c, j, who)
	}
	return s.signInBy(c, j, who)
}

// journeyOf gives the journey that this session is on, which ends with it.
func (s *site) journeyOf(c echo.Context) (journey, error) {
	var j journey
	raw, err := web.TakeChallenge(c, "provider")
	if errors.Is(err, store.ErrNotFound) {
		return j, errProviderAnswer
	}
	if err != nil {
		return j, err
	}
	if err := json.Unmarshal(raw, &j); err != nil {
		return j, err
	}
	if j.State == "" || subtle.ConstantTimeCompare([]byte(j.State), []byte(c.QueryParam("state"))) != 1 {
		return j, errProviderAnswer
	}
	if iss := c.QueryParam("iss"); iss != "" && iss != s.Provider.Issuer {
		return j, errProviderAnswer
	}
	return j, nil
}

// signInBy signs in who came back.
func (s *site) signInBy(c echo.Context, j journey, who identity) error {
	if !s.Provider.allows(who.Email) {
		return s.showProvider(c, http.StatusForbidden, views.ProviderDomain)
	}
	u, err := s.Store.SignInByProvider(c.Request().Context(), who.ProviderClaims)
	if err != nil {
		return s.providerFailed(c, err)
	}
	to, err := s.proven(c, u, store.ByProvider, who.Strong, j.Return)
	if err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, to)
}

// confirmedBy goes on in the session of the person who came back: it must be the same
// one, and the proof at the provider must be newer than the question.
func (s *site) confirmedBy(c echo.Context, j journey, who identity) error {
	u := web.VisitOf(c).Self()
	if u == nil {
		return web.AskSignIn(c, "", "")
	}
	is, err := s.Store.IsIdentityOf(c.Request().Context(), who.Issuer, who.Subject, u.ID)
	if err != nil {
		return err
	}
	if !is || who.At.Before(j.At.Add(-clockSkew)) {
		return s.showProvider(c, http.StatusForbidden, views.ProviderNotConfirmed)
	}
	return s.confirmed(c, j.Return)
}

// providerFailed shows why nobody was signed in; another error stays one.
func (s *site) providerFailed(c echo.Context, err error) error {
	var away *providerAway
	var refused *store.ProviderRefused
	switch {
	case errors.As(err, &refused):
		s.Log.Warn("sign-in by the provider refused", "id", web.RequestID(c), "why", refused.Code)
		return s.showProvider(c, http.StatusForbidden, refused.Code)
	case errors.As(err, &away):
		s.Log.Error("the sign-in provider is away", "id", web.RequestID(c), "err", err)
		return s.showProvider(c, http.StatusServiceUnavailable, views.ProviderAway)
	case errors.Is(err, errProviderAnswer):
		s.Log.Warn("the sign-in provider's answer was refused", "id", web.RequestID(c), "why", err.Error())
		return s.showProvider(c, http.StatusForbidden, views.ProviderAnswer)
	}
	return err
}

func (s *site) showProvider(c echo.Context, status int, why string) error {
	m := views.ProviderModel{Name: s.Provider.name(), Why: why, Again: views.PathProvider, Only: s.Provider.only(), SignedIn: web.VisitOf(c).Self() != nil}
	m.Frame = web.Frame(c, "")
	return web.RenderStatus(c, status, views.ProviderPage(m))
}
