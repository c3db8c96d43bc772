package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/views"
	"holdpoint/views/text"

	"github.com/labstack/echo/v4"
)

// fault is an error of the request itself.
type fault struct {
	status       int
	code, detail string
}

// Error gives the code, for logs.
func (f *fault) Error() string { return f.code }

func badRequest(code, detail string) *fault {
	return &fault{status: http.StatusBadRequest, code: code, detail: detail}
}

func unprocessable(code, detail string) *fault {
	return &fault{status: http.StatusUnprocessableEntity, code: code, detail: detail}
}

// answering is the one place where errors become problem documents (RFC 9457).
func (s *server) answering(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		h := c.Response().Header()
		h.Set("Cache-Control", "no-store")
		err := next(c)
		if err == nil || c.Response().Committed {
			return nil
		}
		p := s.problem(c, err)
		s.logDenied(c, p)
		if p.Status == http.StatusUnauthorized {
			h.Set("WWW-Authenticate", `Bearer realm="Holdpoint"`)
		}
		if p.Status == http.StatusServiceUnavailable {
			h.Set("Retry-After", "2")
		}
		h.Set(echo.HeaderContentType, "application/problem+json")
		c.Response().WriteHeader(p.Status)
		return json.NewEncoder(c.Response()).Encode(p)
	}
}

// logDenied notes who knocked at what is not theirs; the answer does not tell (FC-48).
func (s *server) logDenied(c echo.Context, p Problem) {
	if p.Status != http.StatusUnauthorized && p.Status != http.StatusForbidden && p.Status != http.StatusNotFound {
		return
	}
	token := ""
	if k, ok := c.Request().Context().Value(callKey{}).(*call); ok {
		token = k.actor.ID
	}
	s.Log.Info("api request denied", "request_id", c.Response().Header().Get(echo.HeaderXRequestID), "path", c.Path(), "status", p.Status, "code", p.Code, "token", token)
}

func (s *server) problem(c echo.Context, err error) Problem {
	id := c.Response().Header().Get(echo.HeaderXRequestID)
	var refusal *operation.Refusal
	var lost *store.OutcomeUnknown
	var down *store.Unavailable
	var own *fault
	var rows *rowsFault
	var entry entryFault
	var he *echo.HTTPError
	switch {
	case errors.As(err, &refusal):
		return s.refusal(c, refusal)
	case errors.Is(err, store.ErrNotFound):
		return problemOf(http.StatusNotFound, "not_found", "There is nothing here that this token may see.")
	case errors.As(err, &rows):
		return rows.problem()
	case errors.As(err, &entry):
		return entry.problem(c.Request())
	case errors.As(err, &own):
		return problemOf(own.status, own.code, own.detail)
	case errors.As(err, &he) && he.Code < http.StatusInternalServerError:
		return problemOf(he.Code, "invalid", "The request does not fit the API's description.")
	case errors.Is(c.Request().Context().Err(), context.Canceled):
		// The client went away, and its queries were cancelled; nobody reads this answer.
		s.Log.Info("api client went away", "request_id", id, "path", c.Path(), "error", err)
		return problemOf(http.StatusServiceUnavailable, "outcome_unknown", "The request was broken off. Send the same request again: nothing happens twice.")
	case errors.As(err, &down):
		s.Log.Error("api", "request_id", id, "path", c.Path(), "error", err)
		p := problemOf(http.StatusServiceUnavailable, "unavailable", "The database is not available at this moment. Send the same request again: nothing happens twice.")
		p.Instance = optional(id)
		return p
	case errors.As(err, &lost), errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		s.Log.Error("api", "request_id", id, "path", c.Path(), "error", err)
		p := problemOf(http.StatusServiceUnavailable, "outcome_unknown", "It is not known whether this was stored. Send the same request again: nothing happens twice.")
		p.Instance = optional(id)
		return p
	}
	s.Log.Error("api", "request_id", id, "path", c.Path(), "error", err)
	p := problemOf(http.StatusInternalServerError, "internal", "This is our fault. The log has the details under the request's ID.")
	p.Instance = optional(id)
	return p
}

func problemOf(status int, code, detail string) Problem {
	return Problem{Type: "urn:holdpoint:problem:" + code, Title: http.StatusText(status), Status: status, Code: code, Detail: optional(detail)}
}

// refusal says no as the gate said it: why, what comes next, who is responsible, and
// where a person can look.
func (s *server) refusal(c echo.Context, r *operation.Refusal) Problem {
	status := http.StatusConflict
	if r.Code == operation.CodeKeyReused {
		status = http.StatusUnprocessableEntity // Idempotency-Key draft: same key, other payload
	}
	reason := sentence(c.Request(), r)
	p := problemOf(status, string(r.Code), reason)
	p.Reason = &reason
	if r.Who != (operation.Responsible{}) {
		p.Responsible = responsible(r.Who)
	}
	k, ok := c.Request().Context().Value(callKey{}).(*call)
	if !ok || k.about == "" {
		return p
	}
	o, err := s.Store.FindAPIOperation(c.Request().Context(), k.about)
	if err != nil {
		s.Log.Warn("operation of a refusal", "operation", k.about, "error", err)
		return p
	}
	state := string(o.State)
	p.Operation, p.State, p.Link = optional(string(o.ID)), &state, optional(s.link(o.ID))
	p.NextDecision = nextDecision(o.Next)
	if p.Responsible == nil && p.NextDecision != nil {
		p.Responsible = &p.NextDecision.Responsible
	}
	return p
}

// sentence says a refusal in the language that the client asks for.
func sentence(r *http.Request, ref *operation.Refusal) string {
	return views.RefusalText(printerOf(r), ref)
}

// printerOf speaks the language that the client asks for.
func printerOf(r *http.Request) *text.Printer {
	return text.New(text.Match("", r.Header.Get("Accept-Language")), time.UTC, time.Now())
}

func nextDecision(n operation.NextDecision) *NextDecision {
	if n.Kind == operation.DecideNothing {
		return nil
	}
	out := &NextDecision{Kind: string(n.Kind), Responsible: *responsible(n.Who)}
	if !n.At.IsZero() {
		at := n.At.UTC()
		out.At = &at
	}
	return out
}

func responsible(w operation.Responsible) *Responsible {
	switch {
	case w.System:
		return &Responsible{System: &w.System}
	case w.User != "":
		return &Responsible{User: optional(string(w.User))}
	}
	return &Responsible{Role: optional(string(w.Role))}
}

// optional gives nil for an empty text.
func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func (s *server) link(id operation.ID) string {
	return s.PublicURL + views.PathOperations + "/" + string(id)
}
