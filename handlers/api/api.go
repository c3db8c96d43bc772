package api

import (
	_ "embed"
	"fmt"
	"log/slog"
	"net/http"
	"strings"

	"holdpoint/handlers/intake"
	"holdpoint/store"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/labstack/echo/v4"
)

// Spec is the API's description as served at /api/openapi.yaml.
//
//go:embed openapi.yaml
var Spec []byte

// Deps is what the API needs.
type Deps struct {
	Store *store.Store
	Log   *slog.Logger
	// PublicURL is the address that people open, without a slash at the end; links to
	// operations begin with it.
	PublicURL string
	// Stopping is closed when the server stops: waiting requests then answer at once.
	// nil = never.
	Stopping <-chan struct{}
	// Intake is what the way in of events needs; its Store and Log are taken from here.
	Intake intake.Deps
}

// server implements the operations of openapi.yaml.
type server struct {
	Deps
	spec *openapi3.T
}

// Register adds the API to a group whose prefix is /api. The group must not sit behind
// sessions: the API knows bearer tokens only. There is no CORS: browsers of other sites
// have no business here. Every path is served with and without a slash at the end,
// since a redirect would turn a POST into a GET (FC-27).
func Register(g *echo.Group, d Deps) error {
	if d.Log == nil {
		d.Log = slog.Default()
	}
	d.Intake.Store, d.Intake.Log = d.Store, d.Log
	d.PublicURL = strings.TrimSuffix(d.PublicURL, "/")
	spec, err := openapi3.NewLoader().LoadFromData(Spec)
	if err != nil {
		return fmt.Errorf("openapi.yaml: %w", err)
	}
	s := &server{Deps: d, spec: spec}
	g.GET("/openapi.yaml", func(c echo.Context) error {
		return c.Blob(http.StatusOK, "application/yaml", Spec)
	})
	RegisterHandlers(&routes{group: g, server: s, methods: map[string][]string{}}, NewStrictHandler(s, nil))
	g.RouteNotFound("/*", s.answering(func(echo.Context) error { return store.ErrNotFound }))
	return nil
}

// routes adds each operation behind its guard.
type routes struct {
	EchoRouter
	group   *echo.Group
	server  *server
	methods map[string][]string // by path
}

// GET adds a reading operation.
func (r *routes) GET(path string, h echo.HandlerFunc, _ ...echo.MiddlewareFunc) *echo.Route {
	return r.add(http.MethodGet, path, h)
}

// POST adds an operation with an effect.
func (r *routes) POST(path string, h echo.HandlerFunc, _ ...echo.MiddlewareFunc) *echo.Route {
	return r.add(http.MethodPost, path, h)
}

// DELETE adds an operation that takes something back.
func (r *routes) DELETE(path string, h echo.HandlerFunc, _ ...echo.MiddlewareFunc) *echo.Route {
	return r.add(http.MethodDelete, path, h)
}

// add adds an operation; every other method of its path is refused, with those that it takes.
func (r *routes) add(method, path string, h echo.HandlerFunc) *echo.Route {
	guarded := r.server.answering(r.server.guard(method, path, h))
	other := r.server.answering(func(c echo.Context) error {
		allowed := strings.Join(r.methods[path], ", ")
		c.Response().Header().Set("Allow", allowed)
		return &fault{status: http.StatusMethodNotAllowed, code: "method_not_allowed", detail: "This path takes " + allowed + "."}
	})
	first := len(r.methods[path]) == 0
	r.methods[path] = append(r.methods[path], method)
	for _, p := range []string{path + "/", path} {
		if first {
			r.group.Any(p, other)
		}
		r.group.Add(method, p, guarded)
	}
	return nil
}
