package handlers

import (
	"encoding/hex"
	"strconv"

	"holdpoint/store"
	"holdpoint/views"
	"holdpoint/web"

	"github.com/labstack/echo/v4"
)

// flowVersion shows one version of a flow as its file was applied.
func (s *site) flowVersion(c echo.Context) error {
	ctx := c.Request().Context()
	f, err := s.Store.FindFlow(ctx, c.Param("name"))
	if err != nil {
		return err
	}
	who, err := s.Store.FindViewer(ctx, web.VisitOf(c).Actor())
	if err != nil {
		return err
	}
	if !who.Sees(f.Name, "") {
		return store.ErrNotFound
	}
	list, err := s.Store.ListFlowVersions(ctx, f.Name)
	if err != nil {
		return err
	}
	p := web.VisitOf(c).Printer()
	return s.showDefinition(c, views.SectionFlows, f.Name, list, views.DefinitionModel{
		Up: views.Link{Label: p.T("nav.flows"), URL: views.PathFlows}, Of: views.Link{Label: f.Flow.Title.In(p.Lang), URL: pathFlow(f.Name)}})
}

// destinationVersion shows one version of a destination's profile as it was applied.
func (s *site) destinationVersion(c echo.Context) error {
	d, err := s.Store.FindDestination(c.Request().Context(), c.Param("name"))
	if err != nil {
		return err
	}
	list, err := s.Store.ListDestinationVersions(c.Request().Context(), d.Name)
	if err != nil {
		return err
	}
	p := web.VisitOf(c).Printer()
	return s.showDefinition(c, views.SectionDestinations, "", list, views.DefinitionModel{
		Up: views.Link{Label: p.T("nav.destinations"), URL: views.PathDestinations}, Of: views.Link{Label: d.Profile.Title.In(p.Lang), URL: pathDestination(d.Name)}})
}

// showDefinition writes the page of the version that the address names, out of all
// versions, newest first.
func (s *site) showDefinition(c echo.Context, section views.Section, flow string, list []store.DefinitionVersion, m views.DefinitionModel) error {
	number, err := strconv.Atoi(c.Param("version"))
	if err != nil {
		return store.ErrNotFound
	}
	at := -1
	for i, v := range list {
		if v.Version == number {
			at = i
		}
	}
	if at < 0 {
		return store.ErrNotFound
	}
	v := list[at]
	n, err := s.names(c, flow, v.CreatedBy)
	if err != nil {
		return err
	}
	m.Number, m.Current, m.At, m.By, m.Hash, m.Text = v.Version, at == 0, v.CreatedAt, n.person(v.CreatedBy), hex.EncodeToString(v.Hash), v.Source
	if at > 0 {
		m.Newer = versionPath(m.Of.URL, list[at-1].Version)
	}
	if at+1 < len(list) {
		before := list[at+1]
		m.Older, m.Since = versionPath(m.Of.URL, before.Version), before.Version
		if before.Source != v.Source {
			m.Changes = views.Diff(before.Source, v.Source)
		}
	}
	m.Frame = web.Frame(c, section)
	return web.Render(c, views.DefinitionPage(m))
}

func versionPath(of string, number int) string { return of + "/versions/" + strconv.Itoa(number) }

// definitionVersions lists versions for the page of their flow or destination.
func definitionVersions(list []store.DefinitionVersion, of string, n names) []views.DefinitionVersion {
	var out []views.DefinitionVersion
	for _, v := range list {
		out = append(out, views.DefinitionVersion{Number: v.Version, URL: versionPath(of, v.Version), At: v.CreatedAt, By: n.person(v.CreatedBy)})
	}
	return out
}

// authors are the people who applied these versions.
func authors(list []store.DefinitionVersion) []string {
	var ids []string
	for _, v := range list {
		ids = append(ids, v.CreatedBy)
	}
	return ids
}

// healthView is how the newest attempts ended.
func healthView(h store.Health, waiting int) views.HealthView {
	return views.HealthView{Attempts: h.Attempts, Outcomes: h.Outcomes, Open: h.Open, Slowest: h.Slowest, LastConfirmed: h.LastConfirmed, LastUnknown: h.LastUnknown, Waiting: waiting}
}
