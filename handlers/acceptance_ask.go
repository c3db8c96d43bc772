package handlers

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"holdpoint/operation"
	"holdpoint/operation/definition"
	"holdpoint/store"
	"holdpoint/views"
	"holdpoint/views/text"
	"holdpoint/web"

	"github.com/labstack/echo/v4"
)

func (s *site) newAcceptance(c echo.Context) error {
	t, _ := kept(c)
	return s.showNewAcceptance(c, http.StatusOK, t)
}

// showNewAcceptance shows the form that starts a run, with what was typed into it.
func (s *site) showNewAcceptance(c echo.Context, status int, t typed) error {
	v, ctx := web.VisitOf(c), c.Request().Context()
	flow := t.or("flow", c.QueryParam("flow"))
	who, err := s.Store.FindViewer(ctx, v.Actor())
	if err != nil {
		return err
	}
	items, err := s.Store.ListFlows(ctx)
	if err != nil {
		return err
	}
	m := views.AcceptanceNewModel{Frame: web.Frame(c, views.SectionFlows)}
	var chosen *store.FlowItem
	for _, f := range items {
		if !who.Sees(f.Name, "") {
			continue
		}
		m.Flows = append(m.Flows, views.Option{Value: f.Name, Label: f.Flow.Title.In(lang(c)), Selected: f.Name == flow})
		if f.Name == flow {
			chosen = &f
		}
	}
	text.SortBy(v.Printer(), m.Flows, func(o views.Option) string { return o.Label })
	if flow != "" {
		if chosen == nil {
			return store.ErrNotFound
		}
		if err := s.fillNewAcceptance(c, &m, *chosen, who, t); err != nil {
			return err
		}
	}
	return web.RenderStatus(c, status, views.AcceptanceNewPage(m))
}

func (s *site) fillNewAcceptance(c echo.Context, m *views.AcceptanceNewModel, f store.FlowItem, who store.Viewer, t typed) error {
	ctx, v := c.Request().Context(), web.VisitOf(c)
	m.Flow, m.Title = f.Name, f.Flow.Title.In(lang(c))
	versions, err := s.Store.ListFlowVersions(ctx, f.Name)
	if err != nil {
		return err
	}
	version := t.or("version", strconv.Itoa(f.Version))
	for _, x := range versions {
		no := strconv.Itoa(x.Version)
		m.Versions = append(m.Versions, views.Option{Value: no, Label: v.Printer().T("flow.version", "Number", x.Version), Selected: no == version})
	}
	seen := map[string]bool{}
	for _, st := range f.Flow.Stages {
		if seen[st.Destination] {
			continue
		}
		seen[st.Destination] = true
		d, err := s.Store.FindDestination(ctx, st.Destination)
		if err != nil {
			return err
		}
		m.Destinations = append(m.Destinations, views.AcceptanceTarget{Name: d.Name, URL: pathDestination(d.Name), Version: d.Version, Environment: d.Profile.Environment, Sandbox: d.Profile.IsSandbox()})
	}
	bars, err := s.Store.FindAcceptanceBars(ctx, f.Name, f.Version)
	if err != nil {
		return err
	}
	for _, b := range bars {
		if st, ok := f.Flow.Stage(b.Stage); ok {
			b.Stage = st.Title.In(lang(c))
		}
		m.Bars = append(m.Bars, views.AcceptanceBar(b))
	}
	rows, _, err := s.Store.ListAcceptances(ctx, v.Actor(), store.AcceptanceFilter{Flow: f.Name, Limit: 1})
	if err != nil {
		return err
	}
	if len(rows) > 0 {
		n, err := s.names(c, f.Name)
		if err != nil {
			return err
		}
		line := acceptanceLine(rows[0], n, m.Title)
		m.Last = &line
	}
	sample, err := s.sampleInput(c, f)
	if err != nil {
		return err
	}
	m.Input, m.Form = t.or("input", sample), newForm(t, views.PathAcceptanceNew)
	if p := who.In(f.Name); !f.Flow.Owner.Matches(p) && !p.Has(operation.RoleOpsOwner) && !p.Has(operation.RoleAdmin) {
		m.Form.Barred = operation.Refuse(operation.CodeNotEntitled, "role", string(operation.RoleOpsOwner)).By(operation.Responsible{Role: operation.RoleOpsOwner})
	}
	return nil
}

// sampleInput is test data that a person may start from: what the flow's schema asks
// for, and the parts that somebody writes.
func (s *site) sampleInput(c echo.Context, f store.FlowItem) (string, error) {
	in := operation.AcceptanceInput{Content: map[string]map[string]any{}}
	in.Inputs, _ = definition.Sample(f.Flow.Inputs).(map[string]any)
	for _, st := range f.Flow.Stages {
		d, err := s.Store.FindDestination(c.Request().Context(), st.Destination)
		if err != nil {
			return "", err
		}
		act, err := d.Profile.Action(st.Action)
		if err != nil {
			continue // the bars say so
		}
		sample := act.Sample()
		for _, x := range st.Drafts {
			if strings.ContainsAny(x.Path, ".[") {
				continue
			}
			if in.Content[st.Key] == nil {
				in.Content[st.Key] = map[string]any{}
			}
			in.Content[st.Key][x.Path] = "Acceptance test {n}"
			if v, ok := sample[x.Path]; ok {
				in.Content[st.Key][x.Path] = v
			}
		}
	}
	raw, err := json.MarshalIndent(in, "", "  ")
	return string(raw), err
}

// askAcceptance asks for a run.
func (s *site) askAcceptance(c echo.Context) error {
	t, err := sent(c)
	if err != nil {
		return err
	}
	version, _ := strconv.Atoi(t.val("version"))
	id, err := s.Store.AskAcceptance(c.Request().Context(), web.VisitOf(c).Actor(), store.NewAcceptance{Flow: t.val("flow"), Version: version, Input: t.val("input")})
	if t.acceptanceRefused(err) {
		return s.showNewAcceptance(c, http.StatusUnprocessableEntity, t)
	}
	if err != nil {
		return err
	}
	return done(c, pathAcceptance(id), views.FlashAcceptanceAsked)
}

// acceptanceRefused says at its field what can be corrected.
func (t *typed) acceptanceRefused(err error) bool {
	var no *store.Invalid
	if !errors.As(err, &no) {
		return false
	}
	field := ""
	if no.Field == "input" || no.Field == "comment" {
		field = no.Field
	}
	t.wrong(field, views.Invalid(no.Code, no.Limit))
	return true
}
