package handlers

import (
	"net/url"
	"os"
	"time"

	"holdpoint/handlers/intake"
	"holdpoint/operation/definition"
	"holdpoint/store"
	"holdpoint/views"
	"holdpoint/views/text"
	"holdpoint/web"

	"github.com/labstack/echo/v4"
)

// sourceRoutes are the pages of the sources.
func (s *site) sourceRoutes() []route {
	return []route{
		{get, views.PathSources, signedIn, "", s.sources},
		{get, views.PathSources + "/:name", signedIn, "", s.source},
	}
}

func pathSource(name string) string { return views.PathSources + "/" + name }

// sources lists who tells us that something happened.
func (s *site) sources(c echo.Context) error {
	list, err := s.Store.ListSourceStates(c.Request().Context())
	if err != nil {
		return err
	}
	m, p := views.SourcesModel{}, web.VisitOf(c).Printer()
	for _, i := range list {
		m.Rows = append(m.Rows, views.SourceLine{Key: i.Source.Name, URL: pathSource(i.Source.Name), Title: i.Source.Title.In(p.Lang), Kind: i.Source.Kind,
			Account: i.Source.Account, Environment: i.Source.Environment, LastAt: timeAt(i.LastAt), Silent: i.Silent()})
	}
	text.SortBy(p, m.Rows, func(r views.SourceLine) string { return r.Title })
	m.Frame = web.Frame(c, views.SectionDeliveries)
	return web.Render(c, views.SourcesPage(m))
}

func timeAt(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return *t
}

// source shows one source. Its refused deliveries and what its events told belong to no
// flow: they are for people with a role for every flow.
func (s *site) source(c echo.Context) error {
	ctx, v := c.Request().Context(), web.VisitOf(c)
	i, err := s.Store.FindSourceState(ctx, c.Param("name"))
	if err != nil {
		return err
	}
	src, p := i.Source, v.Printer()
	m := views.SourcePageModel{Key: src.Name, Title: src.Title.In(p.Lang), Kind: src.Kind, Account: src.Account, Environment: src.Environment, Scheme: src.Signature.Scheme, Answer: src.Answer,
		Version: i.Version, AppliedAt: i.AppliedAt, LastAt: timeAt(i.LastAt), LastNew: timeAt(i.LastNew), Silence: src.Silence, Tolerance: src.Tolerance, Days: int(store.SourceWindow / (24 * time.Hour))}
	if src.Kind != definition.KindStarter {
		m.Address = "/in/" + src.Name
	}
	if i.Silent() {
		m.SilentSince = i.SilentSince()
		if i.Silence != nil {
			m.Task = &views.Link{URL: pathTask(i.Silence.Task)}
		}
	}
	who, err := s.Store.FindViewer(ctx, v.Actor())
	if err != nil {
		return err
	}
	if err := s.sourceFlows(c, &m, src, who); err != nil {
		return err
	}
	if who.Sees("", "") {
		f, err := s.Store.FindSourceFacts(ctx, src.Name)
		if err != nil {
			return err
		}
		fillSource(&m, src, f, i.Now)
	}
	m.Frame = web.Frame(c, views.SectionDeliveries)
	return web.Render(c, views.SourcePage(m))
}

// sourceFlows names the flows that a source starts and that the viewer sees.
func (s *site) sourceFlows(c echo.Context, m *views.SourcePageModel, src *definition.Source, who store.Viewer) error {
	items, err := s.Store.ListFlows(c.Request().Context())
	if err != nil {
		return err
	}
	for _, f := range items {
		if src.Starts(f.Flow) && who.Sees(f.Name, "") {
			m.Flows = append(m.Flows, views.Link{Label: f.Flow.Title.In(lang(c)), URL: pathFlow(f.Name)})
		}
	}
	return nil
}

// spareAfter is how long a secret is unused before it is said that it can be removed.
const spareAfter = 7 * 24 * time.Hour

func fillSource(m *views.SourcePageModel, src *definition.Source, f store.SourceFacts, now time.Time) {
	if m.SkewMeasured = f.Measured; f.Measured > 0 {
		m.Skew, m.SkewMedian, m.SkewAt = millis(f.Skew), millis(f.SkewMedian), timeAt(f.SkewAt)
		m.SkewFar = src.Signature.Stamped() && m.SkewMedian.Abs() > src.Tolerance/2
	}
	var newest time.Time
	for _, at := range f.Secrets {
		if at.After(newest) {
			newest = at
		}
	}
	for _, ref := range src.Secrets {
		line := views.SecretLine{Reference: ref.Name(), Readable: intake.Readable(ref, os.LookupEnv), UsedAt: f.Secrets[ref.Name()]}
		line.Spare = len(src.Secrets) > 1 && !line.UsedAt.IsZero() && newest.Sub(line.UsedAt) > spareAfter && now.Sub(line.UsedAt) > spareAfter
		m.Secrets = append(m.Secrets, line)
	}
	for _, r := range f.Refused {
		m.Refused = append(m.Refused, views.RefusedLine{Code: r.Code, N: r.N, Last: r.Last})
	}
	m.RefusedURL = views.PathDeliveries + "?" + url.Values{"source": {src.Name}, "result": {string(views.DeliveryRefused)}}.Encode()
	for _, d := range f.Doubles {
		m.Doubles = append(m.Doubles, views.DoubleLine{Topic: d.Topic, First: d.First, Other: d.Other, Event: d.Event, N: d.N, Last: d.Last,
			URL: views.PathDeliveries + "?" + url.Values{"source": {src.Name}, "q": {d.Event}}.Encode()})
	}
}

func millis(ms *int64) time.Duration {
	if ms == nil {
		return 0
	}
	return time.Duration(*ms) * time.Millisecond
}
