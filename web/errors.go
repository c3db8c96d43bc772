package web

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/views"
	"holdpoint/views/text"

	"github.com/labstack/echo/v4"
)

// ErrFormOfAnother is a form that was shown to somebody else, who signed out since.
var ErrFormOfAnother = errors.New("the form was shown to another person")

// errForeign is a form that did not come from a page of ours.
var errForeign = errors.New("the form came from another site")

// RefusalStatus gives the HTTP status of a refusal: 403 for who asks, 422 for what is
// missing in the form, 409 for what stands in the way now.
func RefusalStatus(code operation.Code) int {
	switch code {
	case operation.CodeNotEntitled, operation.CodeOwnContent, operation.CodeParty, operation.CodeApproverNotEntitled,
		operation.CodePartyFor, operation.CodeDelegatorNotEntitled:
		return http.StatusForbidden
	case operation.CodeReasonMissing, operation.CodeEvidenceMissing, operation.CodeReferenceMissing, operation.CodeDateMissing,
		operation.CodeChecklist, operation.CodeContentMissing, operation.CodeItemKey, operation.CodeDelegate, operation.CodeDelegationTime:
		return http.StatusUnprocessableEntity
	}
	return http.StatusConflict
}

// pageFor says which page an error is: the one place where errors become HTTP.
func pageFor(err error) (m views.ErrorModel, internal bool) {
	var refusal *operation.Refusal
	var lost *store.OutcomeUnknown
	var down *store.Unavailable
	var limited *store.LoginLimited
	var invalid *store.Invalid
	var he *echo.HTTPError
	switch {
	case errors.As(err, &refusal):
		return views.ErrorModel{Status: RefusalStatus(refusal.Code), Refusal: views.Refused(refusal)}, false
	case errors.Is(err, store.ErrNotFound):
		return views.ErrorModel{Status: http.StatusNotFound}, false
	case errors.As(err, &down):
		return views.ErrorModel{Status: http.StatusServiceUnavailable, Saved: views.ErrorNothingDecided}, true
	case errors.As(err, &lost):
		return views.ErrorModel{Status: http.StatusServiceUnavailable, Saved: views.ErrorOutcomeUnknown}, true
	case errors.As(err, &limited):
		return views.ErrorModel{Status: http.StatusTooManyRequests}, false
	case errors.As(err, &invalid):
		return views.ErrorModel{Status: http.StatusUnprocessableEntity}, false
	case errors.Is(err, ErrFormOfAnother):
		return views.ErrorModel{Status: http.StatusForbidden, Kind: views.ErrorOfAnother}, false
	case errors.Is(err, errForeign):
		return views.ErrorModel{Status: http.StatusForbidden, Kind: views.ErrorForeign}, false
	case errors.Is(err, ErrSessionGone):
		return views.ErrorModel{Status: http.StatusForbidden}, false
	case errors.As(err, &he):
		return views.ErrorModel{Status: he.Code}, he.Code >= http.StatusInternalServerError
	}
	return views.ErrorModel{Status: http.StatusInternalServerError}, true
}

// retryAfter is when to try again while the database is away, in seconds.
const retryAfter = "5"

// handleError answers with a page. Internals stand only in the log, under the request's
// ID. A page about a missing thing is the same as one about a thing of others.
func (f *frame) handleError(err error, c echo.Context) {
	if c.Response().Committed || isCanceled(c, err) {
		return
	}
	m, internal := pageFor(err)
	if m.Saved == views.ErrorNothingDecided {
		c.Response().Header().Set("Retry-After", retryAfter)
		if store.HasCommitted(c.Request().Context()) { // the database went away after the decision
			m.Saved = views.ErrorOutcomeUnknown
		}
	}
	if internal {
		m.RequestID = RequestID(c)
		f.Log.Error("request failed", "id", m.RequestID, "route", c.Path(), "status", m.Status, "err", err)
	} else if isPost(c) {
		f.Log.Warn("request refused", "id", RequestID(c), "route", c.Path(), "status", m.Status, "subject", c.Param("id"), "why", err.Error())
	}
	if c.Request().Method == http.MethodHead {
		_ = c.NoContent(m.Status)
		return
	}
	if strings.HasPrefix(c.Request().URL.Path, "/api/") {
		c.Response().Header().Set(echo.HeaderContentType, "application/problem+json")
		c.Response().WriteHeader(m.Status)
		_, _ = c.Response().Write([]byte(`{"type":"about:blank","status":` + strconv.Itoa(m.Status) + `,"title":"` + http.StatusText(m.Status) + `"}`))
		return
	}
	f.errorPage(c, m)
}

func (f *frame) errorPage(c echo.Context, m views.ErrorModel) {
	if v := visitOf(c); v != nil {
		m.Frame = Frame(c, "")
		if m.Status != http.StatusNotFound && v.User != nil {
			m.Back = backLink(c, v.printer)
		}
	} else {
		p := text.New(text.Match("", c.Request().Header.Get("Accept-Language")), time.UTC, time.Now())
		c.SetRequest(c.Request().WithContext(text.With(c.Request().Context(), p)))
	}
	if err := RenderStatus(c, m.Status, views.ErrorPage(m)); err != nil {
		f.Log.Error("error page failed", "id", RequestID(c), "err", err)
		_ = c.NoContent(m.Status)
	}
}

// backLink leads back to the operation that a refused form belongs to.
func backLink(c echo.Context, p *text.Printer) views.Link {
	if id := c.Param("id"); strings.HasPrefix(id, "op_") {
		return views.Link{Label: p.T("error.to_operation"), URL: views.PathOperations + "/" + id}
	}
	return views.Link{}
}
