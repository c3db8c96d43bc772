package handlers

import (
	"encoding/hex"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/views"
	"holdpoint/web"

	"github.com/labstack/echo/v4"
)

// reportRoutes are the weekly and monthly reviews.
func (s *site) reportRoutes() []route {
	const one = views.PathReports + "/:id"
	return []route{
		{get, views.PathReports, signedIn, "", s.reports},
		{get, one, signedIn, "", s.report},
		{get, one + "/items", signedIn, "", s.reportItems},
		{get, one + "/review.csv", signedIn, "", s.reportCSV},
		{get, one + "/review.md", signedIn, "", s.reportMarkdown},
		{post, one + "/comment", writers, one, s.commentReport},
		{post, one + "/sign", deciders.again(), one, s.signReport},
	}
}

// lateAfter is how long after its due time a review counts as made late.
const lateAfter = 2 * time.Hour

// reports lists the reviews that the viewer may see.
func (s *site) reports(c echo.Context) error {
	v, ctx := web.VisitOf(c), c.Request().Context()
	q := c.QueryParams()
	f := store.ReportFilter{Cursor: q.Get("after") + q.Get("before")}
	if kind := operation.ReportKind(q.Get("kind")); kind.Valid() {
		f.Kind = kind
	}
	flow := q.Get("flow")
	switch {
	case flow == scopeWhole:
		f.Flow = new(string)
	case flow != "":
		f.Flow = &flow
	}
	list, err := s.Store.ListReports(ctx, v.Actor(), f)
	if err != nil {
		return err
	}
	names, err := s.Store.FilterNames(ctx, v.Actor())
	if err != nil {
		return err
	}
	zone := s.Store.Zone()
	m := views.ReportsModel{Kinds: pick(operation.ReportKinds, f.Kind), Active: f.Kind != "" || flow != "", Pager: pagerOf(c, list.Prev, list.Next), Zone: zone.String(),
		FirstWeek: operation.Running(operation.Weekly, v.Now, zone).To, FirstMonth: operation.Running(operation.Monthly, v.Now, zone).To}
	p := v.Printer()
	m.Flows = append([]views.Option{{Value: scopeWhole, Label: p.T("reports.whole"), Selected: flow == scopeWhole}}, options(names.Flows, flow, p)...)
	if flow == scopeWhole {
		m.Flows = append(m.Flows[:1:1], options(names.Flows, "", p)...)
	}
	for _, r := range list.Rows {
		m.Rows = append(m.Rows, reportRowView(r, titleAmong(names.Flows, r.Flow, lang(c))))
	}
	m.Frame = web.Frame(c, views.SectionReports)
	return web.Render(c, views.ReportsPage(m))
}

// scopeWhole is the filter for the reviews of the whole installation.
const scopeWhole = "*"

func pathReport(id operation.ReportID) string { return views.PathReports + "/" + string(id) }

func reportRowView(r store.ReportRow, flow string) views.ReportRowView {
	out := views.ReportRowView{ID: string(r.ID), URL: pathReport(r.ID), Kind: r.Kind, From: r.From, To: r.To, Zone: zoneNamed(r.Zone), Flow: flow, Comments: r.Comments, SignedBy: r.SignedBy,
		Stale: r.SignedBy != "" && r.Covered < r.Comments}
	open, _ := r.Number("open_at_end")
	doubt, _ := r.Number("unresolved_at_end")
	out.Open, out.Doubt = open.N, doubt.N
	return out
}

// zoneNamed gives a zone by its name; one that this machine does not know is UTC.
func zoneNamed(name string) *time.Location {
	if z, err := time.LoadLocation(name); err == nil {
		return z
	}
	return time.UTC
}

func (s *site) report(c echo.Context) error {
	t, _ := kept(c)
	return s.showReport(c, http.StatusOK, t)
}

// showReport draws one review.
func (s *site) showReport(c echo.Context, status int, t typed) error {
	p, err := s.Store.FindReport(c.Request().Context(), web.VisitOf(c).Actor(), operation.ReportID(c.Param("id")))
	if err != nil {
		return err
	}
	m, err := s.reportModel(c, p)
	if err != nil {
		return err
	}
	comment, sign := t.of("comment"), t.of("sign")
	for i := range m.Sections {
		x := &m.Sections[i]
		if !p.MayComment {
			continue
		}
		form := newForm(typed{}, pathReport(p.ID)+"/comment")
		if comment.val("section") == string(x.Section) {
			form, x.Typed = newForm(comment, pathReport(p.ID)+"/comment"), comment.val("body")
		}
		x.Form = &form
	}
	m.Sign = newForm(sign, pathReport(p.ID)+"/sign")
	m.Sign.Hash = hex.EncodeToString(p.Fingerprint[:])
	if !p.MaySign {
		m.Sign.Barred = operation.Refuse(operation.CodeNotEntitled, "role", string(operation.RoleOpsOwner)).By(operation.Responsible{Role: operation.RoleOpsOwner})
	}
	m.Frame = web.Frame(c, views.SectionReports)
	return web.RenderStatus(c, status, views.ReportPage(m))
}

// reportModel says a review for the page and its exports.
func (s *site) reportModel(c echo.Context, p *store.ReportPage) (views.ReportModel, error) {
	names, err := s.Store.FilterNames(c.Request().Context(), web.VisitOf(c).Actor())
	if err != nil {
		return views.ReportModel{}, err
	}
	at := pathReport(p.ID)
	m := views.ReportModel{ReportRowView: reportRowView(p.ReportRow, inLanguage(p.FlowTitle, lang(c))), MadeAt: p.MadeAt, Late: p.MadeAt.Sub(p.To) > lateAfter, Hash: hex.EncodeToString(p.Hash),
		CSV: at + "/review.csv", Markdown: at + "/review.md", Before: p.Before}
	for _, section := range operation.ReviewSections {
		x := views.ReportSectionView{Section: section}
		for _, l := range p.Lines {
			if l.Section == section {
				x.Lines = append(x.Lines, reportLineView(p, l, names, lang(c)))
			}
		}
		for _, said := range p.Said {
			if said.Section == section {
				x.Comments = append(x.Comments, views.ReportCommentView{Name: said.Name, Body: said.Body, At: said.At})
			}
		}
		m.Sections = append(m.Sections, x)
	}
	for _, g := range p.Signed {
		m.Signatures = append(m.Signatures, views.ReportSignatureView{Name: g.Name, Role: g.Role, At: g.At, Comments: g.Comments, Hash: hex.EncodeToString(g.Hash)})
	}
	return m, nil
}

func reportLineView(p *store.ReportPage, l operation.ReviewLine, names *store.OperationList, lang string) views.ReportLineView {
	out := views.ReportLineView{ReviewLine: l, Since: -1}
	if l.Name != "" {
		out.Name = titleAmong(names.Destinations, l.Name, lang)
	}
	if store.Listed(l) && (l.Now.N > 0 || l.Kind == operation.ReviewDuration && l.Now.Of > 0) {
		out.URL = pathReport(p.ID) + "/items?" + url.Values{"line": {l.Key()}}.Encode()
	} else if f := operation.Figure(l.Code); f.Valid() && l.Now.N > 0 {
		out.URL = figureList(f, p.Flow, p.From, p.To)
	}
	if slices.Contains(store.SettledLines, l.Code) {
		out.Since = p.Since[l.Code]
	}
	return out
}

// figureList is the list behind a figure of a stretch of time, of one flow or all.
func figureList(f operation.Figure, flow string, from, to time.Time) string {
	q := url.Values{"since": {from.UTC().Format(time.RFC3339Nano)}, "until": {to.UTC().Format(time.RFC3339Nano)}}
	if flow != "" {
		q.Set("flow", flow)
	}
	return withQuery(pathFigure(f)+"/list", q)
}

// reportItems lists what one number counts.
func (s *site) reportItems(c echo.Context) error {
	v := web.VisitOf(c)
	after, err := strconv.Atoi(c.QueryParam("after"))
	if err != nil || after < 0 || after > 1<<30 {
		after = 0
	}
	p, items, err := s.Store.ListReportItems(c.Request().Context(), v.Actor(), operation.ReportID(c.Param("id")), c.QueryParam("line"), after)
	if err != nil {
		return err
	}
	names, err := s.Store.FilterNames(c.Request().Context(), v.Actor())
	if err != nil {
		return err
	}
	m := views.ReportItemsModel{ReportRowView: reportRowView(p.ReportRow, inLanguage(p.FlowTitle, lang(c))), Line: reportLineView(p, items.Line, names, lang(c))}
	for _, r := range items.Rows {
		m.Rows = append(m.Rows, reportItemView(r, names, v))
	}
	if items.Next > 0 {
		m.Next = pathReport(p.ID) + "/items?" + url.Values{"line": {items.Line.Key()}, "after": {strconv.Itoa(items.Next)}}.Encode()
	}
	m.Frame = web.Frame(c, views.SectionReports)
	return web.Render(c, views.ReportItemsPage(m))
}

func reportItemView(r store.ReportItem, names *store.OperationList, v *web.Visit) views.ReportItemView {
	p := v.Printer()
	out := views.ReportItemView{N: r.N, ID: r.Item, Title: r.Title, Flow: titleAmong(names.Flows, r.Flow, p.Lang), Place: titleAmong(names.Destinations, r.Place, p.Lang), State: r.State}
	number := func(key string) string { return p.T(key, "N", strconv.FormatInt(r.Number, 10)) + " " + r.Title }
	switch prefix, _, _ := strings.Cut(r.Item, "_"); prefix {
	case "att":
		out.URL, out.Attempt = pathOperation(r.Operation), r.Item
	case "inc":
		out.URL, out.Title = "/incidents/"+r.Item, number("reports.item_incident")
	case "tsk":
		out.URL, out.Title = "/tasks/"+r.Item, number("limits.task_number")
	case "brc":
		out.URL, out.Title = views.PathLimits+"/breaches/"+r.Item, r.Item
	default:
		out.URL = pathOperation(r.Operation)
	}
	if out.Title == "" {
		out.Title = string(r.Operation)
	}
	return out
}

// commentReport adds a comment to a part of a review.
func (s *site) commentReport(c echo.Context) error {
	t, err := sent(c)
	if err != nil {
		return err
	}
	id, section := operation.ReportID(c.Param("id")), operation.ReviewSection(t.text("section"))
	err = s.Store.CommentReport(c.Request().Context(), web.VisitOf(c).Actor(), id, section, t.text("body"), t.once())
	_, say, ok := invalidOf(err)
	switch {
	case err == nil:
		return done(c, pathReport(id)+"#section-"+string(section), views.FlashReportCommented)
	case ok:
		t.wrong("body", say)
		return s.showReport(c, http.StatusUnprocessableEntity, t)
	}
	return err
}

// signReport signs a review as it was shown.
func (s *site) signReport(c echo.Context) error {
	t, err := sent(c)
	if err != nil {
		return err
	}
	id := operation.ReportID(c.Param("id"))
	if !t.yes("read") {
		t.wrong("read", views.Sentence("reports.sign_tick_missing"))
		return s.showReport(c, http.StatusUnprocessableEntity, t)
	}
	err = s.Store.SignReport(c.Request().Context(), web.VisitOf(c).Actor(), id, t.val("hash"))
	switch {
	case err == nil:
		return done(c, pathReport(id)+"#signatures", views.FlashReportSigned)
	case staleLimit(err):
		t.wrong("", views.Sentence("reports.sign_changed"))
		return s.showReport(c, http.StatusConflict, t)
	}
	return err
}
