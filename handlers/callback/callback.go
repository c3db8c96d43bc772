package callback

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"holdpoint/connector/outbound"
	"holdpoint/operation"
	"holdpoint/operation/definition"
	"holdpoint/store"

	"github.com/labstack/echo/v4"
)

// Deps is what callbacks need.
type Deps struct {
	Store *store.Store
	Log   *slog.Logger
	// Env reads the variables in which secrets of profiles are; nil = os.LookupEnv.
	Env func(string) (string, bool)
	// Base is our public address without a path, as senders know it: HubSpot signs it.
	Base string
	// Now is the clock that signed time stamps are compared with; nil = time.Now.
	Now func() time.Time
	// Fetch gets a document of Amazon SNS; nil = through the guarded client.
	Fetch func(ctx context.Context, address string) ([]byte, error)
	// Patience is how long one callback may take before its sender is told to come again;
	// 0 = 5 s.
	Patience time.Duration
	// Tying is how long the sender waits for its news to act; 0 = 700 ms. What is left
	// is done by a sweep.
	Tying time.Duration
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
	if d.Fetch == nil {
		d.Fetch = fetch
	}
	if d.Patience == 0 {
		d.Patience = 5 * time.Second
	}
	if d.Tying == 0 {
		d.Tying = 700 * time.Millisecond
	}
	d.Base = strings.TrimRight(d.Base, "/")
	return d
}

// Path is where the destination's callbacks are sent to.
func Path(destination string) string { return "/cb/" + destination }

// Register adds POST /cb/{destination}, with and without a slash at the end. The group must
// not sit behind sessions or cross-origin checks.
func Register(g *echo.Group, d Deps) {
	h := handler{Deps: d.withDefaults(), certificates: &certificates{}}
	for _, path := range []string{"/cb/:destination", "/cb/:destination/"} {
		g.Any(path, h.otherMethod)
		g.POST(path, h.receive)
	}
}

type handler struct {
	Deps
	certificates *certificates
}

func (h handler) otherMethod(c echo.Context) error {
	c.Response().Header().Set("Allow", http.MethodPost)
	return problem(c, http.StatusMethodNotAllowed, "method_not_allowed", "Callbacks are sent by POST.")
}

// refused says why a callback was not taken. status is what the sender is told.
type refused struct {
	status       int
	code, detail string
}

// Error gives code and detail.
func (r *refused) Error() string { return r.code + ": " + r.detail }

// answer is what the sender is told about its entries.
type answer struct {
	Recorded   int `json:"recorded"`   // new
	Repeated   int `json:"repeated"`   // came before
	Waiting    int `json:"waiting"`    // of the new ones: their operation is not known yet
	Ignored    int `json:"ignored"`    // not ours, or nothing that is recorded
	Unreadable int `json:"unreadable"` // genuine, and not as the profile describes it
}

func (h handler) receive(c echo.Context) error {
	ctx, cancel := context.WithTimeout(c.Request().Context(), h.Patience)
	defer cancel()
	p, _, err := h.Store.Profile(ctx, c.Param("destination"))
	if errors.Is(err, store.ErrNotFound) || err == nil && p.Callbacks == nil {
		return problem(c, http.StatusNotFound, "not_found", "There is no such destination, or it has no callbacks.")
	}
	if err != nil {
		return h.failed(c, err)
	}
	k := &knock{handler: h, profile: p, rules: p.Callbacks, request: c.Request(), url: h.Base + c.Request().URL.RequestURI()}
	out, err := k.take(ctx)
	var no *refused
	switch {
	case errors.As(err, &no):
		return k.refuse(ctx, c, no, out)
	case err != nil:
		return h.failed(c, err)
	}
	return c.JSON(http.StatusOK, out)
}

// knock is one callback on its way.
type knock struct {
	handler
	profile *definition.Profile
	rules   *definition.Callbacks
	request *http.Request
	url     string
	body    []byte
	at      time.Time // signed; zero = none
	token   string
	broken  int   // entries of a list that cannot be read
	why     error // what is wrong with the first of them
}

// take believes, reads and writes one callback. A *refused with status 200 is recorded and
// acknowledged: its bytes are genuine, and a refusal would make the sender come again for
// ever or switch itself off (FC-10).
func (k *knock) take(ctx context.Context) (answer, error) {
	var err error
	if k.body, err = k.read(); err != nil {
		return answer{}, err
	}
	body, err := k.believe(ctx)
	if err != nil || body == nil {
		return answer{}, err
	}
	items, err := k.rules.Entries(k.request.Header, body)
	if err != nil {
		return answer{}, &refused{http.StatusOK, "items", clip(err.Error())}
	}
	if items.Len() > maxEntries {
		return answer{}, &refused{http.StatusRequestEntityTooLarge, "too_many", "the callback holds more than " + strconv.Itoa(maxEntries) + " entries"}
	}
	return k.record(ctx, items)
}

// maxEntries is how many entries one callback may hold.
const maxEntries = 5000

func (k *knock) record(ctx context.Context, items *definition.Entries) (answer, error) {
	out, wrong := answer{Unreadable: k.broken}, k.why
	post := store.NewsPost{Destination: k.profile.Destination, Account: k.profile.Account, Token: k.token,
		TokenUntil: k.Now().Add(2*k.rules.Rule.Tolerance + time.Hour), Body: k.body}
	for i := range items.Len() {
		n, err := items.Read(i, k.Env)
		switch {
		case err != nil:
			out.Unreadable++
			if wrong == nil {
				wrong = &refused{http.StatusOK, "entry", clip("entry " + strconv.Itoa(i+1) + ": " + err.Error())}
			}
		case n.Kind == operation.NewsIgnored:
			out.Ignored++
		default:
			n.Item = outbound.Excerpt([]byte(n.Item))
			post.Entries = append(post.Entries, n)
		}
	}
	ids, err := k.Store.ReceiveNews(ctx, post)
	if errors.Is(err, store.ErrTokenUsed) {
		return answer{}, &refused{http.StatusUnauthorized, "token_used", "the token came before with another body"}
	}
	if err != nil {
		return answer{}, err
	}
	out.Recorded, out.Repeated = len(ids), len(post.Entries)-len(ids)
	out.Waiting = len(ids) - k.tie(ctx, ids)
	return out, wrong
}

// tie lets new news act, as long as the sender can wait. It is written already: whatever
// fails here is done by a sweep.
func (k *knock) tie(ctx context.Context, ids []store.NewsID) int {
	ctx, cancel := context.WithTimeout(ctx, k.Tying)
	defer cancel()
	name := k.profile.Destination
	done, err := k.Store.TieNews(ctx, store.Actor{Kind: operation.ActorSystem, ID: "destination:" + name, Name: name, Channel: "api"}, ids)
	if err != nil {
		k.Log.Warn("news is tied later", "destination", name, "error", err)
	}
	return len(done)
}

// refuse records a refusal and tells the sender. No sender without a proof learns anything
// about what was understood.
func (k *knock) refuse(ctx context.Context, c echo.Context, no *refused, out answer) error {
	in := store.RefusedCallback{Destination: k.profile.Destination, Code: no.code, Detail: no.detail, Status: no.status, Size: len(k.body)}
	if !k.at.IsZero() {
		ms := k.Now().Sub(k.at).Milliseconds()
		in.SkewMillis = &ms
	}
	k.Log.Info("callback not taken", "destination", in.Destination, "code", no.code, "status", no.status)
	if no.status < http.StatusInternalServerError {
		if err := k.Store.RefuseCallback(ctx, in, k.body); err != nil {
			return k.failed(c, err)
		}
	}
	switch no.status {
	case http.StatusOK:
		if out == (answer{}) {
			out.Unreadable = 1
		}
		return c.JSON(http.StatusOK, out)
	case http.StatusUnauthorized:
		c.Response().Header().Set("WWW-Authenticate", `Basic realm="callbacks"`)
	case http.StatusServiceUnavailable:
		c.Response().Header().Set("Retry-After", "30")
	}
	return problem(c, no.status, no.code, "The callback was refused: "+no.detail+".")
}

// failed is our own fault, or it is not known whether the news was stored: the sender is
// told to come again. Nothing is lost by that, and nothing is done twice.
func (h handler) failed(c echo.Context, err error) error {
	level := slog.LevelError
	if errors.Is(c.Request().Context().Err(), context.Canceled) {
		level = slog.LevelInfo // the sender went away; it comes again by itself
	}
	h.Log.Log(c.Request().Context(), level, "callback", "destination", c.Param("destination"), "request_id", c.Response().Header().Get(echo.HeaderXRequestID), "error", err)
	c.Response().Header().Set("Retry-After", "5")
	return problem(c, http.StatusServiceUnavailable, "try_again", "The callback could not be stored. Send it again.")
}

func problem(c echo.Context, status int, code, detail string) error {
	raw, err := json.Marshal(map[string]any{"type": "about:blank", "title": http.StatusText(status), "status": status, "code": code, "detail": detail})
	if err != nil {
		return err
	}
	return c.Blob(status, "application/problem+json", raw)
}

func clip(s string) string {
	if len(s) <= 300 {
		return s
	}
	return strings.ToValidUTF8(s[:297], "") + "…"
}
