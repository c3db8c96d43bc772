package web

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"time"

	"holdpoint/static"
	"holdpoint/store"

	"github.com/labstack/echo/v4"
)

// Config is what the frame needs to know.
type Config struct {
	// PublicURL is the address that people open, e.g. "https://holdpoint.example.com".
	PublicURL string
	// TrustedProxies are the networks whose X-Forwarded-For is believed; empty = the
	// peer's address counts.
	TrustedProxies []netip.Prefix
	// Secure says that people reach Holdpoint by HTTPS: cookies are marked so, and
	// HSTS is sent.
	Secure bool
	Log    *slog.Logger
	Store  *store.Store
	// SessionIdle is how long a session lives without use (default 12 h), SessionMax
	// how long at all (default 7 days).
	SessionIdle, SessionMax time.Duration
	// Waiting counts the decisions that wait for a person, for the number at Inbox;
	// nil = no number.
	Waiting func(context.Context, store.User) (int, error)
	// Stopping is closed when the server begins to stop: streams end then. nil = never.
	Stopping <-chan struct{}
}

// frame is what the middleware shares.
type frame struct {
	Config
	sessions *sessionStore
	guard    *http.CrossOriginProtection
	paused   pausedCache
	keeping  keeping
	starting keeping // sessions of people who have not signed in
	live     *hub
	// uploading gives forms with files their turn.
	uploading uploading
	// streaming does so for files that are not held in memory.
	streaming uploading
}

// New sets Echo up: request IDs, recovery, access log, secure headers, static files,
// and errors as pages. Pages are added below Pages; the API adds its own routes.
func New(c Config) *echo.Echo {
	if c.Log == nil {
		c.Log = slog.Default()
	}
	if c.SessionIdle <= 0 {
		c.SessionIdle = 12 * time.Hour
	}
	if c.SessionMax <= 0 {
		c.SessionMax = 7 * 24 * time.Hour
	}
	f := &frame{Config: c, guard: http.NewCrossOriginProtection()}
	f.sessions, f.live = newSessionStore(c), newHub(c)
	f.starting.per = startedPerHour
	if origin := originOf(c.PublicURL); origin != "" {
		if err := f.guard.AddTrustedOrigin(origin); err != nil {
			c.Log.Error("public address is not an origin", "err", err)
		}
	}
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.IPExtractor = realIP(c.TrustedProxies)
	e.HTTPErrorHandler = f.handleError
	e.Pre(requestID, f.accessLog)
	e.Use(f.attach, f.recovered, f.headers)
	files := echo.WrapHandler(static.Handler())
	e.GET(static.Prefix+"*", files)
	e.HEAD(static.Prefix+"*", files)
	e.GET("/favicon.ico", func(c echo.Context) error {
		return c.Redirect(http.StatusMovedPermanently, static.Path("favicon.svg"))
	})
	return e
}

// Pages gives the group of all pages: no cross-origin posts, bounded bodies, a session,
// who looks, and the reader's language.
func Pages(e *echo.Echo) *echo.Group {
	return e.Group("", crossOrigin, limitBody, visit)
}

// attach makes the frame known to the other middleware.
func (f *frame) attach(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		c.Set(frameKey, f)
		return next(c)
	}
}

const (
	frameKey = "holdpoint/frame"
	visitKey = "holdpoint/visit"
)

func frameOf(c echo.Context) *frame { return c.Get(frameKey).(*frame) }

// crossOrigin refuses requests with an effect that another site's page sends.
func crossOrigin(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if err := frameOf(c).guard.Check(c.Request()); err != nil {
			return fmt.Errorf("%w: %w", errForeign, err)
		}
		return next(c)
	}
}

// realIP finds the caller's address: the peer's, or what trusted proxies say of it.
func realIP(trusted []netip.Prefix) echo.IPExtractor {
	if len(trusted) == 0 {
		return echo.ExtractIPDirect()
	}
	opts := []echo.TrustOption{echo.TrustLoopback(false), echo.TrustLinkLocal(false), echo.TrustPrivateNet(false)}
	for _, p := range trusted {
		opts = append(opts, echo.TrustIPRange(ipNet(p)))
	}
	return echo.ExtractIPFromXFFHeader(opts...)
}

// originOf gives scheme and host of an address; "" when it has none.
func originOf(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

// isCanceled reports that the browser went away.
func isCanceled(c echo.Context, err error) bool {
	return errors.Is(err, context.Canceled) && c.Request().Context().Err() != nil
}
