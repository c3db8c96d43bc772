package handlers

import (
	"net/http"
	"net/url"
	"strconv"

	"holdpoint/operation"
	"holdpoint/operation/definition"
	"holdpoint/store"
	"holdpoint/views"
	"holdpoint/web"

	"github.com/labstack/echo/v4"
)

// acceptanceRoutes are the runs of the six cases.
func (s *site) acceptanceRoutes() []route {
	const one = views.PathAcceptance + "/:id"
	return []route{
		{get, views.PathAcceptance, signedIn, "", s.acceptances},
		{get, views.PathAcceptanceNew, signedIn, "", s.newAcceptance},
		{post, views.PathAcceptanceNew, owners, views.PathAcceptanceNew, s.askAcceptance},
		{get, one, signedIn, "", s.acceptance},
		{get, one + "/sheet.json", signedIn, "", s.acceptanceJSON},
		{get, one + "/sheet.md", signedIn, "", s.acceptanceMarkdown},
		{post, one + "/cancel", owners, one, s.cancelAcceptance},
		{post, one + "/sign", owners.again(), one, s.signAcceptance},
	}
}

func pathAcceptance(id operation.AcceptanceID) string { return views.PathAcceptance + "/" + string(id) }

// acceptances lists the runs that the viewer may see.
func (s *site) acceptances(c echo.Context) error {
	v, ctx := web.VisitOf(c), c.Request().Context()
	q := c.QueryParams()
	before, _ := strconv.ParseInt(q.Get("before"), 10, 64)
	f := store.AcceptanceFilter{Flow: q.Get("flow"), Destination: q.Get("destination"), Before: before}
	rows, more, err := s.Store.ListAcceptances(ctx, v.Actor(), f)
	if err != nil {
		return err
	}
	m := views.AcceptancesModel{Start: &views.Link{URL: views.PathAcceptanceNew}}
	if f.Flow != "" || f.Destination != "" {
		m.Of = &views.Link{Label: f.Flow + f.Destination}
		m.Start.URL = acceptanceStart(f.Flow)
	}
	n, err := s.names(c, "")
	if err != nil {
		return err
	}
	for _, r := range rows {
		f, _, err := s.Store.Flow(ctx, r.Flow)
		if err != nil {
			return err
		}
		m.Rows = append(m.Rows, acceptanceLine(r, n, f.Title.In(lang(c))))
	}
	if more {
		q.Set("before", strconv.FormatInt(rows[len(rows)-1].Number, 10))
		m.Older = views.PathAcceptance + "?" + q.Encode()
	}
	m.Frame = web.Frame(c, views.SectionFlows)
	return web.Render(c, views.AcceptancesPage(m))
}

// acceptanceCard is the newest run about a flow or a destination.
func (s *site) acceptanceCard(c echo.Context, f store.AcceptanceFilter) (views.AcceptanceCard, error) {
	q := url.Values{}
	card := views.AcceptanceCard{}
	if f.Flow != "" {
		q.Set("flow", f.Flow)
		card.Start = acceptanceStart(f.Flow)
	} else {
		q.Set("destination", f.Destination)
	}
	card.All = views.PathAcceptance + "?" + q.Encode()
	f.Limit = 1
	rows, _, err := s.Store.ListAcceptances(c.Request().Context(), web.VisitOf(c).Actor(), f)
	if err != nil || len(rows) == 0 {
		return card, err
	}
	n, err := s.names(c, "")
	line := acceptanceLine(rows[0], n, rows[0].Flow)
	card.Last = &line
	return card, err
}

func acceptanceStart(flow string) string {
	if flow == "" {
		return views.PathAcceptanceNew
	}
	return views.PathAcceptanceNew + "?" + url.Values{"flow": {flow}}.Encode()
}

func acceptanceLine(r store.AcceptanceRow, n names, flow string) views.AcceptanceLine {
	return views.AcceptanceLine{ID: r.ID, Number: r.Number, URL: pathAcceptance(r.ID), Flow: flow, Version: r.FlowVersion, State: r.State,
		By: views.PersonWho(r.By, r.RequestedBy == string(n.viewer.ID)), At: r.RequestedAt, Signed: r.Signed, Stale: r.Stale}
}

func (s *site) cancelAcceptance(c echo.Context) error {
	id := operation.AcceptanceID(c.Param("id"))
	if err := s.Store.CancelAcceptance(c.Request().Context(), web.VisitOf(c).Actor(), id); err != nil {
		return err
	}
	return done(c, pathAcceptance(id), views.FlashAcceptanceCancelled)
}

func (s *site) acceptance(c echo.Context) error {
	t, _ := kept(c)
	return s.showAcceptance(c, http.StatusOK, t)
}

func (s *site) signAcceptance(c echo.Context) error {
	t, err := sent(c)
	if err != nil {
		return err
	}
	if !t.yes("read") {
		t.wrong("", views.Sentence("acceptance.sign_tick_missing"))
		return s.showAcceptance(c, http.StatusUnprocessableEntity, t)
	}
	id := operation.AcceptanceID(c.Param("id"))
	err = s.Store.SignAcceptance(c.Request().Context(), web.VisitOf(c).Actor(), id, store.Signature{Part: t.val("part"), Hash: t.val("hash"), Comment: t.val("comment")})
	if t.acceptanceRefused(err) {
		return s.showAcceptance(c, http.StatusUnprocessableEntity, t)
	}
	if err != nil {
		return err
	}
	return done(c, pathAcceptance(id)+"#signatures", views.FlashAcceptanceSigned)
}

// acceptanceJSON gives exactly the bytes that are signed.
func (s *site) acceptanceJSON(c echo.Context) error {
	p, err := s.sheetOf(c)
	if err != nil {
		return err
	}
	return s.exportDocument(c, store.Export{What: "acceptance", Format: "json", Filter: "id=" + string(p.ID)}, "application/json; charset=utf-8", sheetFile(p)+".json", []byte(p.SheetText))
}

func (s *site) sheetOf(c echo.Context) (*store.AcceptancePage, error) {
	p, err := s.Store.FindAcceptance(c.Request().Context(), web.VisitOf(c).Actor(), operation.AcceptanceID(c.Param("id")))
	if err == nil && p.Sheet == nil {
		err = store.ErrNotFound
	}
	return p, err
}

func sheetFile(p *store.AcceptancePage) string {
	return "holdpoint-acceptance-" + strconv.FormatInt(p.Number, 10)
}

func (s *site) acceptanceMarkdown(c echo.Context) error {
	p, err := s.sheetOf(c)
	if err != nil {
		return err
	}
	m, err := s.acceptanceModel(c, p, typed{})
	if err != nil {
		return err
	}
	return s.exportDocument(c, store.Export{What: "acceptance", Format: "markdown", Filter: "id=" + string(p.ID)}, markdownType, sheetFile(p)+".md",
		[]byte(views.AcceptanceMarkdown(web.VisitOf(c).Printer(), m)))
}

// showAcceptance shows one run, with what was typed into its forms.
func (s *site) showAcceptance(c echo.Context, status int, t typed) error {
	p, err := s.Store.FindAcceptance(c.Request().Context(), web.VisitOf(c).Actor(), operation.AcceptanceID(c.Param("id")))
	if err != nil {
		return err
	}
	m, err := s.acceptanceModel(c, p, t)
	if err != nil {
		return err
	}
	return web.RenderStatus(c, status, views.AcceptancePage(m))
}

func (s *site) acceptanceModel(c echo.Context, p *store.AcceptancePage, t typed) (views.AcceptanceModel, error) {
	var m views.AcceptanceModel
	f, err := s.Store.FindFlow(c.Request().Context(), p.Flow)
	if err != nil {
		return m, err
	}
	n, err := s.names(c, p.Flow)
	if err != nil {
		return m, err
	}
	m = views.AcceptanceModel{Frame: web.Frame(c, views.SectionFlows), AcceptanceLine: acceptanceLine(p.AcceptanceRow, n, f.Flow.Title.In(lang(c))), FlowURL: pathFlow(p.Flow),
		Current: p.CurrentVersion, Started: timeOr(p.StartedAt), Ended: timeOr(p.EndedAt), Cases: p.Progress, Input: p.Input, Failure: p.Failure, Hash: p.HashHex(),
		Canceling: p.Cancelling && p.State.Open(), History: historyOf(p.History, n, p.ChainOK)}
	for _, d := range p.Destinations {
		m.Targets = append(m.Targets, views.AcceptanceTarget{Name: d.Name, URL: pathDestination(d.Name), Version: d.Version, Current: d.Current, Environment: d.Environment})
	}
	if p.Sheet != nil {
		sheetInto(&m, p)
	}
	mayRun := f.Flow.Owner.Matches(n.viewer) || n.viewer.Has(operation.RoleOpsOwner) || n.viewer.Has(operation.RoleAdmin)
	if p.State.Open() && !m.Canceling && mayRun {
		form := newForm(t.of("cancel"), pathAcceptance(p.ID)+"/cancel")
		m.Cancel = &form
	}
	if p.Sheet != nil {
		m.Signs = s.acceptanceSigns(p, f.Flow, n, t.of("sign"))
	}
	return m, nil
}

func sheetInto(m *views.AcceptanceModel, p *store.AcceptancePage) {
	sheet := p.Sheet
	m.Cases, m.Changed, m.People, m.Program, m.FlowHash = sheet.Cases, sheet.Changed, sheet.People, sheet.Program, sheet.Flow.Hash
	m.JSON, m.Markdown = pathAcceptance(p.ID)+"/sheet.json", pathAcceptance(p.ID)+"/sheet.md"
	byLedger := map[string]bool{}
	for _, x := range sheet.Cases {
		for _, f := range x.Found {
			byLedger[f.Destination] = f.CountedBy == operation.CountedByLedger
		}
	}
	for i, d := range sheet.Destinations {
		if i < len(m.Targets) && m.Targets[i].Name == d.Name {
			m.Targets[i].Hash, m.Targets[i].Sandbox = d.Hash, byLedger[d.Name]
		}
	}
}

// acceptanceSigns are the two agreements, given or to be given.
func (s *site) acceptanceSigns(p *store.AcceptancePage, f *definition.Flow, n names, t typed) []views.AcceptanceSign {
	var out []views.AcceptanceSign
	for _, part := range views.AcceptanceParts {
		need := f.Owner
		if part == operation.SignedByImplementer {
			need = operation.Selector{Role: operation.RoleAdmin}
		}
		sign := views.AcceptanceSign{Part: part, Role: need.Role}
		if by := p.SignedBy(part); by != nil {
			sign.By, sign.At, sign.Comment = views.PersonWho(by.Name, by.UserID == string(n.viewer.ID)), by.At, by.Comment
		} else if p.State == operation.AcceptancePassed && !p.Stale && need.Matches(n.viewer) {
			mine := t
			if t.val("part") != part {
				mine = typed{}
			}
			form := newForm(mine, pathAcceptance(p.ID)+"/sign")
			form.Hash, sign.Typed = p.HashHex(), mine.val("comment")
			sign.Form = &form
		}
		out = append(out, sign)
	}
	return out
}
