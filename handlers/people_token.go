package handlers

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/views"
	"holdpoint/web"

	"github.com/labstack/echo/v4"
)

func (s *site) tokens(c echo.Context) error {
	t, _ := kept(c)
	return s.showTokens(c, http.StatusOK, t)
}

func (s *site) showTokens(c echo.Context, status int, t typed) error {
	viewer, err := s.overall(c)
	if err != nil {
		return err
	}
	l, err := s.tokenLists(c)
	if err != nil {
		return err
	}
	m := views.TokensModel{New: l.form(t.of("add")), Barred: barredToken(viewer)}
	for _, k := range l.tokens {
		m.Rows = append(m.Rows, l.row(k, web.VisitOf(c).Now))
	}
	if m.Secret, err = web.TakeOnce(c); err != nil {
		return err
	}
	m.Frame = web.Frame(c, views.SectionPeople)
	m.Path = views.PathTokens
	return web.RenderStatus(c, status, views.TokensPage(m))
}

func barredToken(viewer operation.Person) views.Say {
	if !viewer.Has(operation.RoleAdmin) {
		return views.Sentence(views.BarredRole)
	}
	return views.Say{}
}

// tokenLists are the tokens and what their pages name.
type tokenLists struct {
	tokens       []store.Token
	flows        flowNames
	destinations flowNames // likewise
	names        names
	active       map[string]bool // by operation.UserID
}

func (s *site) tokenLists(c echo.Context) (l tokenLists, err error) {
	ctx := c.Request().Context()
	if l.tokens, err = s.Store.ListTokens(ctx); err != nil {
		return l, err
	}
	if l.flows, err = s.flowNames(c); err != nil {
		return l, err
	}
	dests, err := s.Store.ListDestinations(ctx)
	if err != nil {
		return l, err
	}
	for _, d := range dests {
		l.destinations = append(l.destinations, views.FlowChoice{Name: d.Name, Title: titled(d.Profile.Title, lang(c), d.Name)})
	}
	users, err := s.Store.ListUsers(ctx)
	if err != nil {
		return l, err
	}
	l.active, l.names = map[string]bool{}, names{people: map[string]string{}, viewer: operation.Person{ID: web.VisitOf(c).User.ID}}
	for _, u := range users {
		l.active[string(u.ID)], l.names.people[string(u.ID)] = u.Active, u.Name
	}
	return l, nil
}

func (l tokenLists) row(k store.Token, now time.Time) views.TokenRow {
	r := views.TokenRow{ID: k.ID, URL: views.PathTokens + "/" + string(k.ID), Name: k.Name, Scopes: k.Scopes, By: l.names.person(k.CreatedBy),
		At: k.CreatedAt, Expires: timeOf(k.ExpiresAt), Used: timeOf(k.LastUsedAt), State: views.TokenHolds}
	for _, f := range k.Flows {
		r.Limits = append(r.Limits, l.flows.of(f))
	}
	for _, d := range k.Destinations {
		r.Limits = append(r.Limits, l.destinations.of(d))
	}
	switch {
	case k.RevokedAt != nil:
		r.State = views.TokenRevoked
	case k.ExpiresAt != nil && !k.ExpiresAt.After(now):
		r.State = views.TokenExpired
	case strings.HasPrefix(k.CreatedBy, "usr_") && !l.active[k.CreatedBy]:
		r.State = views.TokenOrphan
	}
	return r
}

func (l tokenLists) form(t typed) views.TokenForm {
	return views.TokenForm{Form: newForm(t, views.PathTokens+"/add"), Name: t.val("name"), Scopes: views.ScopeOptions(t.fields["scope"]),
		Flows: l.flows.ticked(t.fields["flow"]), Destinations: l.destinations.ticked(t.fields["destination"]), Lives: views.LifeOptions(t.or("life", "90d"))}
}

// lifeOf gives when a new token ends; the zero time = never.
func lifeOf(word string, now time.Time) (time.Time, bool) {
	days := map[string]int{"30d": 30, "90d": 90, "365d": 365}
	if word == "never" {
		return time.Time{}, true
	}
	n, ok := days[word]
	return now.AddDate(0, 0, n), ok
}

// addToken makes a token, which the next page shows once.
func (s *site) addToken(c echo.Context) error {
	t, err := sent(c)
	if err != nil {
		return err
	}
	v := web.VisitOf(c)
	end, ok := lifeOf(t.val("life"), v.Now)
	if !ok {
		t.wrong("life", views.Sentence(views.ErrorRequired))
		return s.showTokens(c, http.StatusUnprocessableEntity, t)
	}
	n := store.NewToken{Name: t.text("name"), Scopes: t.fields["scope"], Flows: t.fields["flow"], Destinations: t.fields["destination"], Expires: end, FormID: t.val("form_id")}
	_, secret, err := s.Store.AddToken(c.Request().Context(), v.Actor(), n)
	if errors.Is(err, store.ErrFormUsed) {
		return calm(c, views.PathTokens, views.FlashTokenTwice)
	}
	if field, say, ok := invalidOf(err); ok {
		t.wrong(field, say)
		return s.showTokens(c, http.StatusUnprocessableEntity, t)
	}
	if err != nil {
		return err
	}
	if err := web.ShowOnce(c, views.PathTokens, n.FormID, secret); err != nil {
		return err
	}
	return done(c, views.PathTokens, views.FlashTokenMade)
}

func (s *site) token(c echo.Context) error {
	t, _ := kept(c)
	return s.showToken(c, http.StatusOK, t)
}

func (s *site) showToken(c echo.Context, status int, t typed) error {
	viewer, err := s.overall(c)
	if err != nil {
		return err
	}
	l, err := s.tokenLists(c)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(l.tokens, func(k store.Token) bool { return string(k.ID) == c.Param("id") })
	if i < 0 {
		return store.ErrNotFound
	}
	m := views.TokenModel{Token: l.row(l.tokens[i], web.VisitOf(c).Now), Barred: barredToken(viewer)}
	if m.Token.State != views.TokenRevoked {
		mine := t.of("revoke")
		m.Revoke = &views.ReasonForm{Form: newForm(mine, m.Token.URL+"/revoke"), Reason: mine.val("reason")}
	}
	m.Frame = web.Frame(c, views.SectionPeople)
	return web.RenderStatus(c, status, views.TokenPage(m))
}

func (s *site) revokeToken(c echo.Context) error {
	id := operation.TokenID(c.Param("id"))
	t, err := sent(c)
	if err != nil {
		return err
	}
	if t.text("reason") == "" {
		t.wrong("reason", views.Invalid("reason_missing", 0))
	}
	if t.tooLong() || len(t.errors) > 0 {
		return s.showToken(c, http.StatusUnprocessableEntity, t)
	}
	if err := s.Store.RevokeToken(c.Request().Context(), web.VisitOf(c).Actor(), id, t.text("reason")); err != nil {
		return err
	}
	return done(c, views.PathTokens+"/"+string(id), views.FlashTokenRevoked)
}
