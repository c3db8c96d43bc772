package api

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"holdpoint/handlers/intake"
	"holdpoint/operation"
	"holdpoint/operation/definition"
	"holdpoint/store"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/labstack/echo/v4"
)

// maxBody bounds a request's body; the operations take far less.
const maxBody = 1 << 20

// call is what a handler knows of the request beside its typed form.
type call struct {
	actor   store.Actor
	request *http.Request
	echo    echo.Context
	body    []byte       // as received; nil for events
	about   operation.ID // the operation that the request is about, once known
}

type callKey struct{}

func callOf(ctx context.Context) *call { return ctx.Value(callKey{}).(*call) }

// guard checks one operation's requests before its handler sees them, in this order:
// token, scope, size, strict JSON, the contract. Nobody without a token learns more
// than that one is needed.
func (s *server) guard(method, path string, h echo.HandlerFunc) echo.HandlerFunc {
	specPath := specPath(path)
	item := s.spec.Paths.Find(specPath)
	op := item.GetOperation(method)
	route := &routers.Route{Spec: s.spec, Path: specPath, PathItem: item, Method: method, Operation: op}
	raw := op.RequestBody != nil && op.RequestBody.Value.Content["*/*"] != nil
	options := &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, SkipSettingDefaults: true, ExcludeRequestBody: raw}
	return func(c echo.Context) error {
		r := c.Request()
		actor, err := s.authenticate(r, op.Security)
		if err != nil {
			return err
		}
		k := &call{actor: actor, request: r, echo: c}
		if !raw && op.RequestBody != nil {
			if k.body, err = readJSON(r); err != nil {
				return err
			}
		}
		params := map[string]string{}
		for i, name := range c.ParamNames() {
			params[name] = c.ParamValues()[i]
		}
		r = r.WithContext(context.WithValue(r.Context(), callKey{}, k))
		c.SetRequest(r)
		if raw {
			// The filter closes the body of what it checks; the source reads it later.
			withoutBody := *r
			withoutBody.Body = http.NoBody
			r = &withoutBody
		}
		in := &openapi3filter.RequestValidationInput{Request: r, PathParams: params, Route: route, Options: options}
		if err := openapi3filter.ValidateRequest(r.Context(), in); err != nil {
			return invalid(err)
		}
		return h(c)
	}
}

// specPath writes echo's path as the contract does: /v1/attempts/{attempt}/dispatch.
func specPath(path string) string {
	parts := strings.Split(path, "/")
	for i, p := range parts {
		if name, ok := strings.CutPrefix(p, ":"); ok {
			parts[i] = "{" + name + "}"
		}
	}
	return strings.Join(parts, "/")
}

// authenticate finds the token's actor and checks that it has one of the scopes that
// the contract lists. Cookies are not looked at.
func (s *server) authenticate(r *http.Request, security *openapi3.SecurityRequirements) (store.Actor, error) {
	unauthorized := &fault{status: http.StatusUnauthorized, code: "unauthorized", detail: "A valid API token is needed: Authorization: Bearer …"}
	secret, ok := intake.Bearer(r.Header)
	if !ok {
		return store.Actor{}, unauthorized
	}
	actor, err := s.Store.FindToken(r.Context(), secret)
	if errors.Is(err, store.ErrNotFound) {
		return store.Actor{}, unauthorized
	}
	if err != nil {
		return store.Actor{}, err
	}
	var scopes []string
	if security != nil {
		for _, requirement := range *security {
			scopes = append(scopes, requirement["bearer"]...)
		}
	}
	if !intake.HasScope(actor, scopes...) {
		return store.Actor{}, &fault{status: http.StatusForbidden, code: "scope", detail: "The token needs one of these scopes: " + strings.Join(scopes, ", ") + "."}
	}
	return actor, nil
}

// readJSON reads a body and refuses what two readers could understand in two ways. The
// typed form is made from exactly these bytes.
func readJSON(r *http.Request) ([]byte, error) {
	if enc := r.Header.Get("Content-Encoding"); enc != "" && enc != "identity" {
		return nil, &fault{status: http.StatusUnsupportedMediaType, code: "content_encoding", detail: "Compressed bodies are not accepted."}
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	switch {
	case err != nil:
		return nil, badRequest("body_cut", "The body ended early.")
	case len(body) > maxBody:
		return nil, &fault{status: http.StatusRequestEntityTooLarge, code: "too_large", detail: fmt.Sprintf("The body is larger than %d bytes.", maxBody)}
	case len(body) == 0:
		return nil, badRequest("empty_body", "The body is empty.")
	}
	v, err := definition.DecodeJSON(body)
	var j *definition.JSONError
	if errors.As(err, &j) {
		return nil, badRequest(string(j.Code), j.Error()+".")
	}
	if err != nil {
		return nil, err
	}
	if intake.HasNUL(v) {
		return nil, badRequest("nul", "A text holds the character U+0000, which cannot be stored.")
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	return body, nil
}

// reach checks that a place lies within the token's limits. What is outside is not
// found, like what does not exist (FC-48).
func (k *call) reach(p store.Place, err error) error {
	if err != nil {
		return err
	}
	if !k.actor.Reaches(p.Flow, p.Destination) {
		return store.ErrNotFound
	}
	k.about = p.Operation
	return nil
}
