package bench

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"runtime"
	"runtime/pprof"
	"strings"
	"sync/atomic"
	"time"

	"holdpoint/handlers"
	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/web"
)

// PageOptions says how to measure pages. Zero values take the defaults.
type PageOptions struct {
	Rows  int           // operations in the database; 0 = 1,000,000
	Slice time.Duration // of each page and number of clients; 0 = 2 s
	Only  string        // measure pages whose names begin so; "" = all
	// Dir keeps the filled database for the next run; "" = it is thrown away.
	Dir string
	// Profile is a file for the CPU profile of what is measured; "" = none.
	Profile string
	JSON    bool
	Out     io.Writer // the report
	Log     io.Writer // progress
}

// PageReport is what was measured: whole pages over HTTP, of signed-in people.
type PageReport struct {
	Machine string       `json:"machine"`
	Rows    int          `json:"operations"`
	Loaded  float64      `json:"load_seconds"`
	Goal1   float64      `json:"goal_p99_ms_1_client"`
	Goal8   float64      `json:"goal_p99_ms_8_clients"`
	Pages   []PageFigure `json:"pages"`
}

// PageFigure is one page.
type PageFigure struct {
	Page   string `json:"page"`
	Person string `json:"person"`
	Bytes  int    `json:"bytes"` // as sent, packed
	// CPU is the processor time of one page at one client in milliseconds: server, database
	// and the client that asks. Neighbours make it longer by little.
	CPU     float64 `json:"cpu_ms"`
	One     Timing  `json:"clients_1"`
	Eight   Timing  `json:"clients_8"`
	Foreign float64 `json:"foreign_cpu"` // the share of the CPU that others used meanwhile
}

// Timing are the times of one page at one number of clients, in milliseconds.
type Timing struct {
	Count int     `json:"count"`
	P50   float64 `json:"p50_ms"`
	P99   float64 `json:"p99_ms"`
}

// The goals of PERFORMANCE for a whole page over HTTP.
const (
	pageGoal1 = 15.0
	pageGoal8 = 60.0
)

// RunPages fills a database of its own and measures the lists and one operation's page.
func RunPages(ctx context.Context, o PageOptions) error {
	if o.Rows == 0 {
		o.Rows = 1_000_000
	}
	if o.Slice == 0 {
		o.Slice = 2 * time.Second
	}
	h, err := buildIn(ctx, o.Dir, 12, o.Log)
	if err != nil {
		return err
	}
	defer h.close()
	start := time.Now()
	town, err := h.town(ctx, o.Rows)
	if err != nil {
		return err
	}
	r := PageReport{Machine: fmt.Sprintf("%d CPUs, %s", runtime.NumCPU(), runtime.Version()), Rows: o.Rows, Loaded: time.Since(start).Seconds(), Goal1: pageGoal1, Goal8: pageGoal8}
	fmt.Fprintf(o.Log, "%d operations loaded in %.0f s\n", o.Rows, r.Loaded)
	if err := h.countFigures(ctx); err != nil {
		return err
	}
	s, err := h.open()
	if err != nil {
		return err
	}
	defer s.close()
	stop, err := profile(o.Profile)
	if err != nil {
		return err
	}
	defer stop()
	for _, p := range town.pages() {
		if !strings.HasPrefix(p.name, o.Only) {
			continue
		}
		f, err := s.measure(ctx, p, o.Slice)
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		fmt.Fprintf(o.Log, "%-44s %-9s CPU %5.1f ms, p99 %6.1f ms at 1, %6.1f ms at 8, others' CPU %.0f %%\n", f.Page, f.Person, f.CPU, f.One.P99, f.Eight.P99, f.Foreign*100)
		r.Pages = append(r.Pages, f)
	}
	return r.write(o)
}

// profile writes a CPU profile into a file until it is stopped; "" = none.
func profile(name string) (stop func(), err error) {
	if name == "" {
		return func() {}, nil
	}
	f, err := os.Create(name)
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return nil, err
	}
	return func() { pprof.StopCPUProfile(); _ = f.Close() }, nil
}

// page is one address to measure, or several in turn.
type page struct {
	name, person string
	paths        []string
}

// site is the product's pages on a port of this machine.
type site struct {
	h    *house
	srv  *http.Server
	base string
	port string
	http *http.Client
	as   map[string]string // person → cookie
}

// open serves the pages, as holdpoint serve does.
func (h *house) open() (*site, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &site{h: h, base: "http://" + l.Addr().String(), as: map[string]string{}}
	_, s.port, _ = net.SplitHostPort(l.Addr().String())
	quiet := slog.New(slog.DiscardHandler)
	e := web.New(web.Config{PublicURL: s.base, Log: quiet, Store: h.st, Waiting: handlers.Waiting(h.st)})
	handlers.Register(e, handlers.Deps{Store: h.st, Log: quiet})
	s.srv = &http.Server{Handler: e, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = s.srv.Serve(l) }()
	// the body is read as it is sent: unpacking it is the browser's work
	s.http = &http.Client{Timeout: time.Minute, Transport: &http.Transport{MaxIdleConnsPerHost: 16, DisableCompression: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return s, nil
}

func (s *site) close() { _ = s.srv.Close() }

// signIn gives the cookie of a person's session.
func (s *site) signIn(ctx context.Context, person string) (string, error) {
	if c := s.as[person]; c != "" {
		return c, nil
	}
	u, err := s.h.st.FindUserByEmail(ctx, person+"@bench.test")
	if err != nil {
		return "", err
	}
	token := rand.Text()
	sum := sha256.Sum256([]byte(token))
	err = s.h.st.SaveSession(ctx, store.Session{TokenHash: sum[:], UserID: u.ID, Data: []byte("{}"), Expires: time.Now().Add(12 * time.Hour)})
	s.as[person] = "holdpoint_" + s.port + "=" + token
	return s.as[person], err
}

// get opens a page whole and gives its size.
func (s *site) get(ctx context.Context, cookie, path string) (int, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.base+path, nil)
	if err != nil {
		return 0, err
	}
	req.Header.Set("Cookie", cookie)
	req.Header.Set("Accept-Encoding", "gzip")
	req.Header.Set("Accept-Language", "en")
	res, err := s.http.Do(req)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	n, err := io.Copy(io.Discard, res.Body)
	if err == nil && (res.StatusCode != http.StatusOK || n == 0) {
		err = fmt.Errorf("%s: status %d, %d bytes", path, res.StatusCode, n)
	}
	return int(n), err
}

// measure opens a page for a time with one client, then with eight.
func (s *site) measure(ctx context.Context, p page, d time.Duration) (PageFigure, error) {
	f := PageFigure{Page: p.name, Person: p.person}
	cookie, err := s.signIn(ctx, p.person)
	if err != nil {
		return f, err
	}
	var turn atomic.Int64
	open := func(ctx context.Context) error {
		_, err := s.get(ctx, cookie, p.paths[int(turn.Add(1))%len(p.paths)])
		return err
	}
	for range 20 { // statements are prepared and pages of the table read once
		if f.Bytes, err = s.get(ctx, cookie, p.paths[int(turn.Add(1))%len(p.paths)]); err != nil {
			return f, err
		}
	}
	own := ownTicks()
	x, err := timed(ctx, 1, d, open)
	if err != nil {
		return f, err
	}
	f.CPU = (ownTicks() - own) / ticksPerMS / float64(max(1, len(x.latencies)))
	f.One, f.Foreign = timing(x.latencies), x.foreign
	if x, err = timed(ctx, 8, d, open); err != nil {
		return f, err
	}
	f.Eight, f.Foreign = timing(x.latencies), max(f.Foreign, x.foreign)
	return f, nil
}

// ticksPerMS is how many of /proc's ticks a millisecond has: a hundred a second, on Linux.
const ticksPerMS = 0.1

func timing(d []time.Duration) Timing {
	return Timing{Count: len(d), P50: quantile(d, 0.50), P99: quantile(d, 0.99)}
}

// missed reports a page that is slower than the goals.
func (f PageFigure) missed() bool { return f.One.P99 > pageGoal1 || f.Eight.P99 > pageGoal8 }

func (r PageReport) write(o PageOptions) error {
	if o.JSON {
		e := json.NewEncoder(o.Out)
		e.SetIndent("", "  ")
		return e.Encode(r)
	}
	fmt.Fprintf(o.Out, "\n%s, %d operations; whole pages over HTTP, packed; goals p99 %.0f ms at 1 client, %.0f ms at 8\n\n", r.Machine, r.Rows, r.Goal1, r.Goal8)
	fmt.Fprintf(o.Out, "%-44s %-9s %8s %7s %9s %9s %9s %9s %8s\n", "page", "person", "bytes", "CPU ms", "p50 at 1", "p99 at 1", "p50 at 8", "p99 at 8", "others")
	for _, f := range r.Pages {
		mark := ""
		if f.missed() {
			mark = "  over"
		}
		fmt.Fprintf(o.Out, "%-44s %-9s %8d %7.1f %9.1f %9.1f %9.1f %9.1f %7.0f%%%s\n", f.Page, f.Person, f.Bytes, f.CPU, f.One.P50, f.One.P99, f.Eight.P50, f.Eight.P99, f.Foreign*100, mark)
	}
	return nil
}

// pages lists what is measured: the inbox's tabs, the list with every filter that it
// offers, one operation's page, the deliveries.
func (t *town) pages() []page {
	one := func(name, person string, paths ...string) page { return page{name, person, paths} }
	list := []page{one("inbox", "approver", "/inbox"), one("inbox", "ops", "/inbox"), one("inbox, one group", "approver", "/inbox?group=approval"),
		one("inbox, waiting on others", "approver", "/inbox?tab=others"), one("inbox, changes requested", "approver", "/inbox?tab=changes"), one("inbox, done by me", "approver", "/inbox?tab=done"),
		one("inbox, one flow's approver", "limited", "/inbox"), one("operation", "ops", t.opPaths()...), one("operations", "ops", "/operations"), one("operations, one flow's approver", "limited", "/operations")}
	for _, s := range append([]operation.State{"open", "closed"}, operation.States...) {
		list = append(list, one("operations, state "+string(s), "ops", "/operations?state="+string(s)))
	}
	for _, r := range append([]operation.Role{"me", "system"}, operation.Roles...) {
		list = append(list, one("operations, responsible "+string(r), "ops", "/operations?responsible="+string(r)))
	}
	for _, x := range [][2]string{{"flow", "flow=bench-3"}, {"flow of few", "flow=rare"}, {"flow of none", "flow=nothing"}, {"destination", "destination=dest-2"}, {"destination of none", "destination=nothing"},
		{"source", "source=src-1"}, {"source of none", "source=nothing"}, {"duplicate", "duplicate=yes"}, {"overdue", "overdue=yes"}, {"one day", "from=" + t.day + "&to=" + t.day},
		{"flow and destination of none", "flow=bench-3&destination=dest-4"}, {"source and state", "source=src-1&state=review"}, {"flow, state and day", "flow=bench-3&state=confirmed&to=" + t.day},
		{"role and flow", "responsible=approver&flow=bench-3"}, {"overdue, duplicate and open", "overdue=yes&duplicate=yes&state=open"}, {"destination and closed", "destination=dest-2&state=closed"},
		{"search: operation", "q=" + string(t.ops[0])}, {"search: event key", "q=key-4711"}, {"search: reference", "q=T-4711"}, {"search: nothing", "q=nothing"}} {
		list = append(list, one("operations, "+x[0], "ops", "/operations?"+x[1]))
	}
	return append(list, one("saved views", "ops", "/operations/views?state=review"), one("deliveries", "ops", "/deliveries"), one("deliveries, source", "ops", "/deliveries?source=src-1"), one("deliveries, refused", "ops", "/deliveries?result=refused"),
		one("deliveries, source and result of none", "ops", "/deliveries?source=src-2&result=conflict"), one("deliveries, search", "ops", "/deliveries?q=key-4711"), one("deliveries, search nothing", "ops", "/deliveries?q=nothing"),
		one("cases", "ops", "/cases"), one("history", "ops", "/history"), one("figures, 30 days", "ops", "/figures?span=30"), one("figures, a year", "ops", "/figures?span=365"),
		one("figures, a year, one flow's approver", "limited", "/figures?span=365"), one("figures, one, a year by weeks", "ops", "/figures/events?span=365&step=week"),
		one("figures, behind one of a year", "ops", "/figures/effects_destination/list?span=365"), one("figures, behind unresolved", "ops", "/figures/unresolved/list?span=365"))
}

// countFigures counts everything into the running totals, as the jobs do every few seconds.
func (h *house) countFigures(ctx context.Context) error {
	start := time.Now()
	for facts := int64(0); ; {
		p, err := h.st.CountFigures(ctx)
		if err != nil {
			return fmt.Errorf("count the figures: %w", err)
		}
		if facts += p.Facts; !p.Behind {
			fmt.Fprintf(h.log, "%d facts counted for the figures in %.0f s\n", facts, time.Since(start).Seconds())
			return nil
		}
	}
}

func (t *town) opPaths() []string {
	var out []string
	for _, id := range t.ops {
		out = append(out, "/operations/"+string(id))
	}
	return out
}
