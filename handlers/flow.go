package handlers

import (
	"net/http"
	"slices"
	"sort"

	"holdpoint/operation"
	"holdpoint/operation/definition"
	"holdpoint/store"
	"holdpoint/views"
	"holdpoint/views/text"
	"holdpoint/web"

	"github.com/labstack/echo/v4"
)

// flows lists the flows that this person holds a role for.
func (s *site) flows(c echo.Context) error {
	v := web.VisitOf(c)
	items, err := s.Store.ListFlows(c.Request().Context())
	if err != nil {
		return err
	}
	who, err := s.Store.FindViewer(c.Request().Context(), v.Actor())
	if err != nil {
		return err
	}
	sources, err := s.sourceTitles(c)
	if err != nil {
		return err
	}
	items = slices.DeleteFunc(items, func(f store.FlowItem) bool { return !who.Sees(f.Name, "") })
	n := names{people: map[string]string{}}
	flows := make([]*definition.Flow, len(items))
	for i := range items {
		flows[i] = items[i].Flow
	}
	if err := s.nameFlow(c, n, flows...); err != nil {
		return err
	}
	m, lang := views.FlowsModel{}, v.Printer().Lang
	for _, f := range items {
		n.viewer = who.In(f.Name)
		row := views.FlowRow{Key: f.Name, URL: pathFlow(f.Name), Title: f.Flow.Title.In(lang), Version: f.Version, Trigger: triggerText(f, sources), Owner: n.selector(f.Flow.Owner), Paused: f.Paused != nil, Open: f.Counts.Open()}
		for _, st := range f.Flow.Stages {
			row.Stages = append(row.Stages, st.Title.In(lang))
		}
		m.Rows = append(m.Rows, row)
	}
	text.SortBy(v.Printer(), m.Rows, func(r views.FlowRow) string { return r.Title })
	m.Frame = web.Frame(c, views.SectionFlows)
	return web.Render(c, views.FlowsPage(m))
}

// triggerText is what starts a flow: the source by its title, and what it sends.
func triggerText(f store.FlowItem, sources map[string]string) string {
	t := f.Flow.Trigger
	source := t.Source
	if x := sources[source]; x != "" {
		source = x
	}
	switch {
	case t.Handle != "":
		return source + " · " + t.Handle
	case t.Topic != "":
		return source + " · " + t.Topic
	}
	return source
}

func (s *site) flow(c echo.Context) error {
	t, _ := kept(c)
	return s.showFlow(c, http.StatusOK, t)
}

// showFlow writes one flow as a readable card, with what was typed into its switch.
func (s *site) showFlow(c echo.Context, status int, t typed) error {
	ctx, v := c.Request().Context(), web.VisitOf(c)
	f, err := s.Store.FindFlow(ctx, c.Param("name"))
	if err != nil {
		return err
	}
	who, err := s.Store.FindViewer(ctx, v.Actor())
	if err != nil {
		return err
	}
	if !who.Sees(f.Name, "") {
		return store.ErrNotFound
	}
	versions, err := s.Store.ListFlowVersions(ctx, f.Name)
	if err != nil {
		return err
	}
	ids := append(authors(versions), f.AppliedBy)
	if f.Paused != nil {
		ids = append(ids, f.Paused.By)
	}
	n, err := s.names(c, f.Name, ids...)
	if err != nil {
		return err
	}
	if err := s.nameFlow(c, n, f.Flow); err != nil {
		return err
	}
	sources, err := s.sourceTitles(c)
	if err != nil {
		return err
	}
	m := flowModel(f, n, sources, v.Printer().Lang)
	if err := s.actionTitles(c, m.Stages); err != nil {
		return err
	}
	m.Versions = definitionVersions(versions, pathFlow(f.Name), n)
	barred, err := s.mayPause(c, f.Name)
	if err != nil {
		return err
	}
	m.Pause, m.Resume = pauseForms(pathFlow(f.Name), f.Paused != nil, barred, m.InFlight, t)
	if m.Acceptance, err = s.acceptanceCard(c, store.AcceptanceFilter{Flow: f.Name}); err != nil {
		return err
	}
	if m.Start, err = s.startLink(c, f.Name); err != nil {
		return err
	}
	if m.NewBatch, err = s.newBatchLink(c, f.Name); err != nil {
		return err
	}
	m.Frame = web.Frame(c, views.SectionFlows)
	return web.RenderStatus(c, status, views.FlowPage(m))
}

// actionTitles says what the stages do in the viewer's language, where the destination's
// current profile still knows the action.
func (s *site) actionTitles(c echo.Context, stages []views.FlowStage) error {
	for i := range stages {
		p, _, err := s.Store.Profile(c.Request().Context(), stages[i].Destination.Label)
		if err != nil {
			return err
		}
		stages[i].Destination.Label = titled(p.Title, lang(c), stages[i].Destination.Label)
		if a, err := p.Action(stages[i].Action); err == nil {
			stages[i].Action = a.Title.In(lang(c))
		}
	}
	return nil
}

func flowModel(f store.FlowItem, n names, sources map[string]string, lang string) views.FlowModel {
	d := f.Flow
	m := views.FlowModel{
		Key: f.Name, Title: d.Title.In(lang), Version: f.Version, AppliedAt: f.AppliedAt, AppliedBy: n.person(f.AppliedBy),
		Trigger: triggerText(f, sources), RunKey: d.RunKey, Owner: n.selector(d.Owner), Reviewer: n.selector(d.Reviewer),
		ReexecutionBy: n.selector(d.Reexecution.Approvers), ReexecutionNeed: d.Reexecution.Required, OnMissing: d.OnMissingData, Failure: d.Failure,
		Inputs: flowInputs(d.Inputs), Outputs: d.Outputs, Runbook: d.Runbook, TestCases: d.TestCases,
		Paused: pausedBy(views.PauseFlow, f.Paused, n), InFlight: f.Counts.InFlight(),
	}
	for _, x := range d.ChecklistExtra {
		m.ChecklistExtra = append(m.ChecklistExtra, x.Ask.In(lang))
	}
	for i, st := range d.Stages {
		stage := views.FlowStage{Number: i + 1, Key: st.Key, Title: st.Title.In(lang), Destination: views.Link{Label: st.Destination, URL: pathDestination(st.Destination)},
			Action: st.Action, Approvers: n.selector(st.Approval.Approvers), Required: max(st.Approval.Required, 1), SeparateAuthor: st.Approval.SeparateAuthor,
			Expires: st.Approval.Expires, Due: st.Approval.Due, AttemptsMax: st.MaxAttempts, SatisfiedBy: st.SatisfiedBy, Groups: flowGroups(st.Approval, n, lang)}
		for _, x := range st.Drafts {
			stage.Drafted = append(stage.Drafted, views.FlowDraft{Name: x.Path, Brief: x.Brief})
		}
		stage.FanOut = fanOutOf(d, st.ForEach, lang)
		m.Stages = append(m.Stages, stage)
	}
	return m
}

// fanOutOf says how a stage fans out; nil = it does not.
func fanOutOf(f *definition.Flow, x *definition.ForEach, lang string) *views.FlowFanOut {
	if x == nil {
		return nil
	}
	out := &views.FlowFanOut{In: x.In, Key: x.Key, Required: x.Required, Canary: x.Canary, Last: x.PauseWhen.Last, Errors: x.PauseWhen.Errors, Unknown: x.PauseWhen.Unknown, Bounced: x.PauseWhen.Bounced,
		Total: x.Total, Currency: x.Currency}
	if st, ok := f.Stage(x.Follows); ok {
		out.After = st.Title.In(lang)
	}
	return out
}

// flowInputs reads the inputs out of their JSON Schema.
func flowInputs(schema map[string]any) []views.FlowInput {
	props, _ := schema["properties"].(map[string]any)
	required := map[string]bool{}
	if list, ok := schema["required"].([]any); ok {
		for _, x := range list {
			required[shownValue(x)] = true
		}
	}
	var out []views.FlowInput
	for name, x := range props {
		p, _ := x.(map[string]any)
		in := views.FlowInput{Name: name, Type: shownValue(p["type"]), Required: required[name]}
		if f := shownValue(p["format"]); f != "" {
			in.Type = f
		}
		out = append(out, in)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out
}

// inFlightOf lists the operations of a destination that a job holds.
func (s *site) inFlightOf(c echo.Context, destination string) ([]views.InFlight, error) {
	list, err := s.Store.ListOperations(c.Request().Context(), web.VisitOf(c).Actor(), store.OperationFilter{State: operation.InProgress, Destination: destination, Limit: 100})
	if err != nil {
		return nil, err
	}
	var out []views.InFlight
	for _, r := range list.Rows {
		out = append(out, views.InFlight{Operation: views.Link{Label: shortID(string(r.ID)), URL: pathOperation(r.ID)}, Attempt: r.OpenAttempt, LeaseEnd: timeOf(r.NextAt)})
	}
	return out, nil
}
