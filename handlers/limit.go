package handlers

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/views"
	"holdpoint/web"

	"github.com/labstack/echo/v4"
)

// limitRoutes are the limits of figures.
func (s *site) limitRoutes() []route {
	const one = views.PathLimits + "/:id"
	return []route{
		{get, views.PathLimits, signedIn, "", s.limits},
		{get, views.PathLimits + "/new", stoppers, "", s.newLimit},
		{post, views.PathLimits + "/new/set", stoppers, views.PathLimits + "/new", s.setLimit},
		{get, views.PathLimits + "/breaches/:id", signedIn, "", s.breach},
		{get, one, signedIn, "", s.limit},
		{get, one + "/change", stoppers, "", s.changeLimitPage},
		{post, one + "/change", stoppers, one + "/change", s.changeLimit},
		{post, one + "/end", stoppers, one, s.endLimit},
	}
}

// limits lists the limits of what the viewer may see.
func (s *site) limits(c echo.Context) error {
	v, ctx := web.VisitOf(c), c.Request().Context()
	ended := c.QueryParam("ended") == "yes"
	rows, err := s.Store.ListLimits(ctx, v.Actor(), ended)
	if err != nil {
		return err
	}
	names, err := s.Store.FilterNames(ctx, v.Actor())
	if err != nil {
		return err
	}
	m := views.LimitsModel{Ended: ended, May: v.Has(operation.RoleOpsOwner, operation.RoleAdmin)}
	for _, l := range rows {
		m.Rows = append(m.Rows, limitView(l, names, lang(c)))
	}
	m.Frame = web.Frame(c, sectionFigures)
	return web.Render(c, views.LimitsPage(m))
}

// sectionFigures is where limits stand in the navigation.
const sectionFigures = views.Section("figures")

// breach leads from a notice to the limit that it tells of.
func (s *site) breach(c echo.Context) error {
	id, err := s.Store.FindBreach(c.Request().Context(), web.VisitOf(c).Actor(), operation.BreachID(c.Param("id")))
	if err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, pathLimit(id))
}

func pathLimit(id operation.LimitID) string { return views.PathLimits + "/" + string(id) }

func (s *site) limit(c echo.Context) error {
	t, _ := kept(c)
	return s.showLimit(c, http.StatusOK, t)
}

// showLimit draws the page of one limit.
func (s *site) showLimit(c echo.Context, status int, t typed) error {
	v, ctx := web.VisitOf(c), c.Request().Context()
	p, err := s.Store.FindLimit(ctx, v.Actor(), operation.LimitID(c.Param("id")))
	if err != nil {
		return err
	}
	names, err := s.Store.FilterNames(ctx, v.Actor())
	if err != nil {
		return err
	}
	m := views.LimitModel{LimitView: limitView(p.LimitSeen, names, lang(c))}
	for _, b := range p.Breaches {
		m.Breaches = append(m.Breaches, breachView(b, p.Figure, v))
	}
	for _, x := range p.Versions {
		m.Versions = append(m.Versions, views.LimitVersionView{LimitRule: limitRule(x.LimitSettings, nil, names, lang(c)), Version: x.Version, By: x.By, At: x.At})
	}
	m.LimitView.Breach = nil
	if p.Breach != nil {
		b := breachView(*p.Breach, p.Figure, v)
		m.LimitView.Breach = &b
	}
	m.DrillURL = limitDrill(p.LimitSeen)
	if p.May && p.EndedAt.IsZero() {
		end := t.of("end")
		m.ChangeURL = pathLimit(p.ID) + "/change"
		m.End = &views.ReasonForm{Form: newForm(end, pathLimit(p.ID)+"/end"), Reason: end.val("reason")}
	}
	m.Frame = web.Frame(c, sectionFigures)
	return web.RenderStatus(c, status, views.LimitPage(m))
}

// limitDrill leads to the list behind the newest measurement; "" = there is none: figures
// know no sources.
func limitDrill(l store.LimitSeen) string {
	if l.At.IsZero() || l.Source != "" {
		return ""
	}
	q := url.Values{"since": {l.At.Add(-time.Duration(max(l.SpanHours, 24)) * time.Hour).UTC().Format(time.RFC3339Nano)}, "until": {l.At.UTC().Format(time.RFC3339Nano)}}
	for name, value := range map[string]string{"flow": l.Flow, "destination": l.Destination} {
		if value != "" {
			q.Set(name, value)
		}
	}
	return withQuery(pathFigure(l.Figure)+"/list", q)
}

func limitRule(l store.LimitSettings, people []string, names *store.OperationList, lang string) views.LimitRule {
	return views.LimitRule{Figure: l.Figure, Flow: titleAmong(names.Flows, l.Flow, lang), Destination: titleAmong(names.Destinations, l.Destination, lang), Source: l.Source,
		Under: l.Side == operation.LimitUnder, Value: l.Value, Hours: l.SpanHours, Least: l.Least, Margin: l.Margin, Hold: time.Duration(l.HoldMinutes) * time.Minute,
		Remind: time.Duration(l.RemindHours) * time.Hour, Again: time.Duration(l.AgainHours) * time.Hour, DueDays: l.DueDays, People: people, Roles: l.TellRoles, Owner: l.TellOwner, Note: l.Note}
}

// titleAmong is a flow's or destination's title, or its name where it has none here.
func titleAmong(list []store.Named, name, lang string) string {
	for _, n := range list {
		if n.Name == name {
			if title := inLanguage(n.Title, lang); title != "" {
				return title
			}
		}
	}
	return name
}

func limitView(l store.LimitSeen, names *store.OperationList, lang string) views.LimitView {
	out := views.LimitView{LimitRule: limitRule(l.LimitSettings, l.Names, names, lang), ID: string(l.ID), URL: pathLimit(l.ID), Measured: l.Measured, At: l.At, Ended: l.EndedAt,
		Version: l.Version, ChangedBy: l.ChangedBy, ChangedAt: l.ChangedAt}
	if l.Breach != nil {
		out.Breach = &views.BreachView{Since: l.Breach.OpenedAt, Within: timeOr(l.Breach.Within)}
	}
	return out
}

func timeOr(at *time.Time) time.Time {
	if at == nil {
		return time.Time{}
	}
	return *at
}

func breachView(b store.BreachSeen, f operation.Figure, v *web.Visit) views.BreachView {
	out := views.BreachView{Since: b.OpenedAt, Within: timeOr(b.Within), Closed: timeOr(b.ClosedAt), Why: b.Why, Began: b.Began(f), Peak: b.Peak(f), TaskState: b.TaskState, Told: b.Told, ToldAt: b.ToldAt,
		Reminders: b.Reminders}
	if m, ok := b.End(f); ok {
		out.End = &m
	}
	if b.Task != "" {
		out.Task = &views.Link{URL: "/tasks/" + string(b.Task), Label: v.Printer().T("limits.task_number", "N", strconv.FormatInt(b.TaskNumber, 10))}
	}
	return out
}

// endLimit stops watching.
func (s *site) endLimit(c echo.Context) error {
	t, err := sent(c)
	if err != nil {
		return err
	}
	id := operation.LimitID(c.Param("id"))
	err = s.Store.EndLimit(c.Request().Context(), web.VisitOf(c).Actor(), id, t.limitVersion(), t.text("reason"))
	switch field, say, ok := invalidOf(err); {
	case err == nil:
		return done(c, pathLimit(id), views.FlashLimitEnded)
	case ok:
		t.wrong(field, say)
		return s.showLimit(c, http.StatusUnprocessableEntity, t)
	case staleLimit(err):
		return calm(c, pathLimit(id), "limits.stale")
	}
	return err
}

// limitVersion is the version that a form about a limit was shown with.
func (t typed) limitVersion() int {
	n, err := strconv.Atoi(t.val("limit_version"))
	if err != nil {
		return -1 // never current
	}
	return n
}

func staleLimit(err error) bool {
	r := refusalOf(err)
	return r != nil && isStale(r)
}

// flowsToLimit are the flows for which the viewer may set limits, and whether they may
// for all together.
func flowsToLimit(v store.Viewer, flows []store.Named) (out []store.Named, all bool) {
	all = v.MaySetLimits("")
	return slices.DeleteFunc(slices.Clone(flows), func(n store.Named) bool { return !v.MaySetLimits(n.Name) }), all
}
