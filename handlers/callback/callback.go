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
	"holdpoint/handlers/intake"
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
	// Patience is how long one callback may take, and each transaction beyond the first,
	// before its sender is told to come again; 0 = 5 s.
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

// refuse says why a callback was not taken. status is what the sender is told.
func refuse(status int, code, detail string) *intake.Refused {
	return &intake.Refused{Status: status, Code: code, Detail: detail}
}

// detailLength is how much of a detail is kept, in bytes.
const detailLength = 300

// answer is what the sender is told about its entries.
type answer struct {
	Recorded   int `json:"recorded"`   // new
	Repeated   int `json:"repeated"`   // came before
	Waiting    int `json:"waiting"`    // of the new ones: their operation is not known yet
	Ignored    int `json:"ignored"`    // not ours, or nothing that is recorded
	Unreadable int `json:"unreadable"` // genuine, and not as the profile describes it
}

func (h handler) receive(c echo.Context) error {
	ctx := c.Request().Context()
	p, _, err := h.Store.Profile(ctx, c.Param("destination"))
	if errors.Is(err, store.ErrNotFound) || err == nil && p.Callbacks == nil {
		return problem(c, http.StatusNotFound, "not_found", "There is no such destination, or it has no callbacks.")
	}
	if err != nil {
		return h.failed(c, err)
	}
	k := &knock{handler: h, profile: p, rules: p.Callbacks, request: c.Request(), url: h.Base + c.Request().URL.RequestURI()}
	out, err := k.take(ctx)
	var no *intake.Refused
	switch {
	case errors.As(err, &no):
		return k.refused(ctx, c, no, out)
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

// take believes, reads and writes one callback. A *intake.Refused with status 200 is recorded and
// acknowledged: its bytes are genuine, and a refusal would make the sender come again for
// ever or switch itself off (FC-10).
func (k *knock) take(ctx context.Context) (answer, error) {
	var no *intake.Refused
	if k.body, no = k.read(); no != nil {
		return answer{}, no
	}
	first, cancel := context.WithTimeout(ctx, k.Patience)
	defer cancel()
	body, err := k.believe(first)
	if err != nil || body == nil {
		return answer{}, err
	}
	items, err := k.rules.Entries(k.request.Header, body)
	if err != nil {
		return answer{}, refuse(http.StatusOK, "items", intake.Clip(err.Error(), detailLength))
	}
	return k.record(ctx, items)
}

// postEntries is how many entries are written in one transaction. A callback may hold more:
// a sender that hears a refusal would bring the same ones for ever.
const postEntries = 2000

// record writes the entries, each judged by itself. When the sender goes away, what is written
// stays: it comes again with all of them, and these are found.
func (k *knock) record(ctx context.Context, items *definition.Entries) (answer, error) {
	out, wrong := answer{Unreadable: k.broken}, k.why
	post := store.NewsPost{Destination: k.profile.Destination, Account: k.profile.Account, Token: k.token,
		TokenUntil: k.Now().Add(2*k.rules.Rule.Tolerance + time.Hour), Body: k.body}
	var ids []store.NewsID
	for i := range items.Len() {
		n, err := items.Read(i, k.Env)
		switch {
		case ctx.Err() != nil:
			return answer{}, ctx.Err()
		case err != nil:
			out.Unreadable++
			if wrong == nil {
				wrong = refuse(http.StatusOK, "entry", intake.Clip("entry "+strconv.Itoa(i+1)+": "+err.Error(), detailLength))
			}
		case n.Kind == operation.NewsIgnored:
			out.Ignored++
		default:
			n.Item = outbound.Excerpt([]byte(n.Item))
			post.Entries = append(post.Entries, n)
		}
		if len(post.Entries) < postEntries && i+1 < items.Len() {
			continue
		}
		fresh, err := k.write(ctx, post)
		if err != nil {
			return answer{}, err
		}
		out.Recorded, out.Repeated = out.Recorded+len(fresh), out.Repeated+len(post.Entries)-len(fresh)
		ids, post.Entries = append(ids, fresh...), nil
	}
	out.Waiting = len(ids) - k.tie(ctx, ids)
	return out, wrong
}

// write writes what one transaction takes.
func (k *knock) write(ctx context.Context, post store.NewsPost) ([]store.NewsID, error) {
	ctx, cancel := context.WithTimeout(ctx, k.Patience)
	defer cancel()
	fresh, err := k.Store.ReceiveNews(ctx, post)
	if errors.Is(err, store.ErrTokenUsed) {
		return nil, refuse(http.StatusUnauthorized, "token_used", "the token came before with another body")
	}
	return fresh, err
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

// refused records a refusal and tells the sender. No sender without a proof learns anything
// about what was understood.
func (k *knock) refused(ctx context.Context, c echo.Context, no *intake.Refused, out answer) error {
	in := store.RefusedCallback{Destination: k.profile.Destination, Code: no.Code, Detail: no.Detail, Status: no.Status, Size: len(k.body)}
	if !k.at.IsZero() {
		ms := k.Now().Sub(k.at).Milliseconds()
		in.SkewMillis = &ms
	}
	k.Log.Info("callback not taken", "destination", in.Destination, "code", no.Code, "status", no.Status)
	if no.Status < http.StatusInternalServerError {
		ctx, cancel := context.WithTimeout(ctx, k.Patience)
		defer cancel()
		if err := k.Store.RefuseCallback(ctx, in, k.body); err != nil {
			return k.failed(c, err)
		}
	}
	switch no.Status {
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
	return problem(c, no.Status, no.Code, "The callback was refused: "+no.Detail+".")
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
