package intake

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"holdpoint/operation"
	"holdpoint/operation/definition"
	"holdpoint/store"

	"github.com/labstack/echo/v4"
)

// Deps is what intake needs.
type Deps struct {
	Store *store.Store
	Log   *slog.Logger
	// Env reads the variables in which secrets of sources are; nil = os.LookupEnv.
	Env func(string) (string, bool)
	// Base is our public address without a path, as senders know it: some sign it.
	Base string
	// Now is the clock that signed time stamps are compared with; nil = time.Now.
	Now func() time.Time
	// Patience is how long one hand-over may take before the sender is told to come
	// again; 0 = 2 s. Shopify waits 5 s for a webhook, 10 s for a Flow action. A POST with
	// several notifications may take twice as long.
	Patience time.Duration
}

func (d Deps) withDefaults() Deps {
	if d.Log == nil {
		d.Log = slog.Default()
	}
	if d.Env == nil {
		d.Env = os.LookupEnv
	}
	if d.Now == nil {
		d.Now = time.Now
	}
	if d.Patience == 0 {
		d.Patience = 2 * time.Second
	}
	d.Base = strings.TrimRight(d.Base, "/")
	return d
}

// Register adds POST /in/{source}, with and without a slash at the end: a redirect
// would turn a sender's POST into a GET. OPTIONS asks for leave to deliver. The group must not sit behind sessions or
// cross-origin checks; each source proves itself by its signature or token.
func Register(g *echo.Group, d Deps) {
	h := handler{d.withDefaults()}
	for _, path := range []string{"/in/:source", "/in/:source/"} {
		g.Any(path, h.otherMethod)
		g.POST(path, h.receive)
		g.OPTIONS(path, h.leave)
	}
}

type handler struct{ Deps }

func (h handler) otherMethod(c echo.Context) error {
	c.Response().Header().Set("Allow", http.MethodPost)
	return writeProblem(c, http.StatusMethodNotAllowed, "method_not_allowed", "Notifications are sent by POST.", "")
}

func (h handler) receive(c echo.Context) error {
	ctx := c.Request().Context()
	src, err := h.source(c)
	if errors.Is(err, store.ErrNotFound) {
		return writeProblem(c, http.StatusNotFound, "not_found", "There is no such source.", "")
	}
	if err != nil {
		return h.failed(c, err)
	}
	actor := store.Actor{Kind: operation.ActorSystem, ID: "source:" + src.Name, Name: src.Name, Channel: "api"}
	if src.Signature.Scheme == definition.SchemeToken {
		if actor, err = h.token(ctx, c.Request(), src); err != nil {
			if errors.Is(err, store.ErrNotFound) {
				return h.refuse(c, src, &Refused{Status: http.StatusUnauthorized, Code: "token", Detail: "an API token with the scope events is needed"})
			}
			return h.failed(c, err)
		}
	}
	if src.HoldsSeveral(c.Request().Header.Get("Content-Type")) {
		return h.receiveAll(c, actor, src)
	}
	rec, err := Accept(ctx, h.Deps, actor, src, c.Request())
	var no *Refused
	switch {
	case errors.As(err, &no):
		return h.refused(c, no, rec)
	case err != nil:
		return h.failed(c, err)
	}
	return c.JSON(src.Answer, answerOf(rec))
}

// source finds the source that the address names. Nothing is posted to a starter.
func (h handler) source(c echo.Context) (*definition.Source, error) {
	src, err := h.Store.FindSource(c.Request().Context(), c.Param("source"))
	if err == nil && src.Kind == definition.KindStarter {
		return nil, store.ErrNotFound
	}
	return src, err
}

// receiveAll answers a POST with several notifications: what became of each.
func (h handler) receiveAll(c echo.Context, a store.Actor, src *definition.Source) error {
	list, rec, err := AcceptAll(c.Request().Context(), h.Deps, a, src, c.Request())
	var no *Refused
	switch {
	case errors.As(err, &no):
		return h.refused(c, no, rec)
	case err != nil:
		return h.failed(c, err)
	case len(list) == 0:
		return c.JSON(src.Answer, answerOf(rec))
	}
	for i, item := range list {
		if item.Err != nil {
			h.Log.Error("intake", "source", src.Name, "item", i+1, "error", item.Err)
		}
	}
	out, status := list.answer(src.Answer), list.status(src.Answer)
	if status < 300 {
		return c.JSON(status, out)
	}
	code, detail := "items", "None of the notifications was accepted; each says why."
	if list.Unfinished() {
		code, detail = "try_again", "Not all notifications could be handed over. Send all of them again: what is stored is found."
		c.Response().Header().Set("Retry-After", strconv.Itoa(5))
	}
	out.problem = &problem{"urn:holdpoint:problem:" + code, http.StatusText(status), status, detail, code, ""}
	c.Response().Header().Set(echo.HeaderContentType, "application/problem+json")
	return c.JSON(status, out)
}

// token gives the actor of a request to a source that is entered with a token of ours.
func (h handler) token(ctx context.Context, r *http.Request, src *definition.Source) (store.Actor, error) {
	secret, ok := Bearer(r.Header)
	if !ok {
		return store.Actor{}, store.ErrNotFound
	}
	a, err := h.Store.FindToken(ctx, secret)
	if err != nil {
		return a, err
	}
	if ok, err := MayEnter(ctx, h.Store, a, src.Name); err != nil || !ok {
		return a, errors.Join(err, notUnless(ok))
	}
	return a, nil
}

func notUnless(ok bool) error {
	if ok {
		return nil
	}
	return store.ErrNotFound
}

// Bearer takes the token out of an Authorization header. Nothing else counts: no
// cookie, no query.
func Bearer(h http.Header) (string, bool) {
	values := h.Values("Authorization")
	if len(values) != 1 {
		return "", false
	}
	scheme, token, ok := strings.Cut(values[0], " ")
	token = strings.TrimSpace(token)
	return token, ok && strings.EqualFold(scheme, "Bearer") && token != ""
}

// MayEnter reports whether a token may enter events of a source: it has the scope, and
// every flow that the source can start lies within its limits.
func MayEnter(ctx context.Context, s *store.Store, a store.Actor, source string) (bool, error) {
	if !HasScope(a, "events") {
		return false, nil
	}
	if len(a.Flows) == 0 && len(a.Destinations) == 0 {
		return true, nil
	}
	flows, err := s.TriggeredFlows(ctx, source)
	if err != nil {
		return false, err
	}
	for _, f := range flows {
		if !ReachesFlow(a, f) {
			return false, nil
		}
	}
	return len(flows) > 0, nil
}

// HasScope reports whether a token has one of the scopes.
func HasScope(a store.Actor, any ...string) bool {
	for _, want := range any {
		for _, have := range a.Scopes {
			if have == want {
				return true
			}
		}
	}
	return false
}

// ReachesFlow reports whether a flow with all its destinations lies within a token's limits.
func ReachesFlow(a store.Actor, f *definition.Flow) bool {
	for _, st := range f.Stages {
		if !a.Reaches(f.Name, st.Destination) {
			return false
		}
	}
	return true
}

// refuse records a delivery that was refused before its content was looked at.
func (h handler) refuse(c echo.Context, src *definition.Source, no *Refused) error {
	k := newKnock(h.Deps, store.Actor{}, src, c.Request())
	id, err := k.record(c.Request().Context(), part{}, store.VerdictRefused, no)
	if err != nil {
		return h.failed(c, err)
	}
	return h.refused(c, no, store.Receipt{Delivery: id})
}

func (h handler) refused(c echo.Context, no *Refused, rec store.Receipt) error {
	if no.Status == http.StatusUnauthorized {
		c.Response().Header().Set("WWW-Authenticate", "Bearer")
	}
	return writeProblem(c, no.Status, no.Code, no.Sentence(), string(rec.Delivery))
}

// failed is our own fault, or it is not known whether the notification was stored: the
// sender is told to come again. Nothing is lost by that, and nothing is done twice.
func (h handler) failed(c echo.Context, err error) error {
	level := slog.LevelError
	if errors.Is(c.Request().Context().Err(), context.Canceled) {
		level = slog.LevelInfo // the sender went away; it comes again by itself
	}
	h.Log.Log(c.Request().Context(), level, "intake", "source", c.Param("source"), "request_id", c.Response().Header().Get(echo.HeaderXRequestID), "error", err)
	c.Response().Header().Set("Retry-After", strconv.Itoa(5))
	return writeProblem(c, http.StatusServiceUnavailable, "try_again", "The notification could not be handed over. Send it again.", "")
}

// answer is what a sender gets: FC-01, every caller is told the same operations.
type answer struct {
	Delivery   operation.DeliveryID `json:"delivery"`
	Event      operation.EventID    `json:"event,omitempty"`
	Verdict    store.Verdict        `json:"verdict"`
	Reason     string               `json:"reason,omitempty"`
	Operations []operation.ID       `json:"operations"`
}

func answerOf(r store.Receipt) answer {
	a := answer{r.Delivery, r.Event, r.Verdict, r.Reason, r.Operations}
	if a.Operations == nil {
		a.Operations = []operation.ID{}
	}
	return a
}

// problem is the RFC 9457 form of a refusal.
type problem struct {
	Type     string `json:"type"`
	Title    string `json:"title"`
	Status   int    `json:"status"`
	Detail   string `json:"detail"`
	Code     string `json:"code"`
	Delivery string `json:"delivery,omitempty"`
}

func writeProblem(c echo.Context, status int, code, detail, delivery string) error {
	c.Response().Header().Set(echo.HeaderContentType, "application/problem+json")
	return c.JSON(status, problem{"urn:holdpoint:problem:" + code, http.StatusText(status), status, detail, code, delivery})
}
