package handlers

import (
	"encoding/hex"
	"strconv"

	"holdpoint/operation/definition"
	"holdpoint/store"
	"holdpoint/views"
	"holdpoint/web"

	"github.com/labstack/echo/v4"
)

// sheetRoutes is the flow sheet.
func (s *site) sheetRoutes() []route {
	return []route{{get, views.PathFlows + "/:name/versions/:version/sheet", signedIn, "", s.flowSheet}}
}

// flowSheet shows one version of a flow as a sheet for people: to be printed, agreed on
// and signed on paper.
func (s *site) flowSheet(c echo.Context) error {
	ctx, v := c.Request().Context(), web.VisitOf(c)
	version, err := strconv.Atoi(c.Param("version"))
	if err != nil {
		return store.ErrNotFound
	}
	sh, err := s.Store.FindFlowSheet(ctx, v.Actor(), c.Param("name"), version)
	if err != nil {
		return err
	}
	n, err := s.names(c, sh.Name, sh.AppliedBy)
	if err != nil {
		return err
	}
	if err := s.nameFlow(c, n, sh.Flow); err != nil {
		return err
	}
	sources, err := s.sourceTitles(c)
	if err != nil {
		return err
	}
	probes, err := s.probesOf(c, sh.FlowItem.Flow)
	if err != nil {
		return err
	}
	m := sheetModel(sh, probes, flowModel(sh.FlowItem, n, sources, lang(c)), lang(c))
	m.Frame = web.Frame(c, views.SectionFlows)
	return web.Render(c, views.SheetPage(m))
}

// probesOf gives what probes have shown of a flow's destinations, by destination and action.
func (s *site) probesOf(c echo.Context, f *definition.Flow) (map[string]map[string]store.ActionProbes, error) {
	out := map[string]map[string]store.ActionProbes{}
	for _, st := range f.Stages {
		if out[st.Destination] != nil {
			continue
		}
		known, err := s.Store.FindProbes(c.Request().Context(), st.Destination)
		if err != nil {
			return nil, err
		}
		out[st.Destination] = known
	}
	return out, nil
}

func sheetModel(sh *store.FlowSheet, probes map[string]map[string]store.ActionProbes, f views.FlowModel, lang string) views.SheetModel {
	m := views.SheetModel{Flow: f, URL: versionPath(pathFlow(sh.Name), sh.Version), Current: sh.Current, Hash: hex.EncodeToString(sh.Hash[:]), Introduction: sh.FlowItem.Flow.Introduction.In(lang)}
	d := sh.FlowItem.Flow
	for _, o := range d.OutputsOf {
		m.Outputs = append(m.Outputs, views.SheetNamed{Key: o.Name, Says: o.Title.In(lang)})
	}
	for _, p := range d.Briefs {
		m.Prompts = append(m.Prompts, views.SheetPrompt{Name: p.Name, Version: p.Version, Text: p.Text})
	}
	for _, x := range d.Cases {
		m.Cases = append(m.Cases, views.SheetCase{Name: x.Name, Title: x.Title.In(lang), Given: x.Given.In(lang), Expect: x.Expect.In(lang)})
	}
	for i, st := range d.Stages {
		m.Flow.Stages[i].Destination.Label = st.Destination
		x := views.SheetStage{FlowStage: m.Flow.Stages[i]}
		if p := sh.Profiles[st.Destination]; p != nil {
			x.Destination.Label = titled(p.Title, lang, st.Destination)
			x.Account, x.Environment, x.SettleAfter = p.Account, p.Environment, p.SettleAfter
			if a, err := p.Action(st.Action); err == nil {
				x.Action = a.Title.In(lang)
				x.Protection = sheetProtection(a)
				x.Protection.Broken = brokenSince(a, probes[st.Destination][st.Action])
			}
		}
		m.Stages = append(m.Stages, x)
	}
	return m
}

// sheetProtection is what the destination documents against a second effect.
func sheetProtection(a *definition.Action) views.SheetProtection {
	p := a.Protection()
	return views.SheetProtection{Key: p.Key, Header: a.KeyHeader(), Retention: p.Retention, Proven: day(a.Proven.On), ReplaysErrors: a.ReplaysErrors(), Unique: a.Unique, Overwrites: p.Overwrites,
		Lookup: a.HasLookup(), Lag: p.LookupLag, Authoritative: a.Authoritative}
}
