package handlers

import (
	"context"
	"log/slog"
	"net/http"

	"holdpoint/connector/assist"
	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/views"
	"holdpoint/web"

	"github.com/labstack/echo/v4"
)

// Deps is what the pages need.
type Deps struct {
	Store *store.Store
	Log   *slog.Logger
	// Provider is the sign-in provider; nil = none.
	Provider *Provider
	// Told says by what people can be told.
	Told store.NoticeChannels
	// Assist asks a language model for suggestions; nil = off.
	Assist *assist.Client
}

// site holds what all pages share.
type site struct {
	Deps
	provider *providerClient
}

// Register adds all pages below web.Pages.
func Register(e *echo.Echo, d Deps) {
	if d.Log == nil {
		d.Log = slog.Default()
	}
	s := &site{Deps: d, provider: &providerClient{Provider: d.Provider}}
	g, opened := web.Pages(e), map[string]bool{}
	for _, r := range s.routes() {
		opened[r.path] = opened[r.path] || r.method == http.MethodGet
	}
	for _, r := range s.routes() {
		g.Add(r.method, r.path, r.guarded())
		if r.page != "" && !opened[r.path] {
			g.GET(r.path, r.back)
		}
	}
}

// Waiting counts the decisions that wait for a person, for the number at Inbox.
func Waiting(st *store.Store) func(context.Context, store.User) (int, error) {
	return func(ctx context.Context, u store.User) (int, error) { return st.CountInbox(ctx, u.Actor("web")) }
}

// lang is the reader's language.
func lang(c echo.Context) string { return web.VisitOf(c).Printer().Lang }

// find reads the operation of the address. One of a flow that the person has no role
// for is not found, like a missing one.
func (s *site) find(c echo.Context) (*store.OperationPage, error) {
	return s.findBy(c, s.Store.FindOperation)
}

func (s *site) findBy(c echo.Context, read func(context.Context, store.Actor, operation.ID) (*store.OperationPage, error)) (*store.OperationPage, error) {
	id := c.Param("id")
	if !operation.ValidID("op", id) {
		return nil, store.ErrNotFound
	}
	p, err := read(c.Request().Context(), web.VisitOf(c).Actor(), operation.ID(id))
	if err != nil {
		return nil, err
	}
	return p, s.lookAt(c, p)
}

// viewer is the signed-in person with the roles that they hold for a flow.
func (s *site) viewer(c echo.Context, flow string) (operation.Person, error) {
	v, err := s.Store.FindViewer(c.Request().Context(), web.VisitOf(c).Actor())
	return v.In(flow), err
}

// The addresses of what pages link to.
func pathOperation(id operation.ID) string { return views.PathOperations + "/" + string(id) }
func pathRun(id operation.RunID) string    { return "/runs/" + string(id) }
func pathFlow(name string) string          { return views.PathFlows + "/" + name }
func pathDelivery(id operation.DeliveryID) string {
	return views.PathDeliveries + "/" + string(id)
}
func pathPerson(id operation.UserID) string { return views.PathPeople + "/" + string(id) }
func pathDestination(name string) string    { return views.PathDestinations + "/" + name }
