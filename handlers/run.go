package handlers

import (
	"net/http"

	"holdpoint/operation"
	"holdpoint/operation/definition"
	"holdpoint/store"
	"holdpoint/views"
	"holdpoint/web"

	"github.com/labstack/echo/v4"
)

// run shows one run: what is kept, what comes next, what stands in the way.
func (s *site) run(c echo.Context) error {
	return s.showRun(c, http.StatusOK, operation.RunID(c.Param("id")), typed{})
}

func (s *site) showRun(c echo.Context, status int, id operation.RunID, t typed) error {
	v := web.VisitOf(c)
	p, err := s.Store.FindRun(c.Request().Context(), v.Actor(), id)
	if err != nil {
		return err
	}
	if err := s.look(c, store.Look{Flow: p.Flow.Name, Run: p.ID}); err != nil {
		return err
	}
	who, err := s.viewer(c, p.Flow.Name)
	if err != nil {
		return err
	}
	lang, n := v.Printer().Lang, names{p.People, who}
	if err := s.nameFlow(c, n, p.Flow); err != nil {
		return err
	}
	m := views.RunModel{ID: p.ID, Title: p.Label, Flow: views.Link{Label: p.Flow.Title.In(lang), URL: pathFlow(p.Flow.Name)}, FlowVersion: p.FlowVersion,
		Key: p.Label, State: p.State, StartedAt: p.CreatedAt, Owner: n.selector(p.Flow.Owner)}
	if m.Title == "" {
		m.Title = m.Flow.Label
	}
	m.Stages = runStages(p, n, lang, t)
	for i, e := range p.Events {
		event := views.EventView{ID: e.ID, Source: e.Source, Account: e.Account, Topic: e.Topic, Key: e.Key, At: e.ReceivedAt}
		if i == 0 {
			m.Event = event
		} else {
			m.MoreEvents = append(m.MoreEvents, event)
		}
	}
	for _, d := range p.Deliveries {
		m.Deliveries = append(m.Deliveries, deliveryRow(d, n))
	}
	if err := s.titleDeliveries(c, m.Deliveries); err != nil {
		return err
	}
	if len(m.Deliveries) > 0 { // all of the run's events are of one source
		m.Event.Source, m.Event.Topic = m.Deliveries[0].Source, m.Deliveries[0].Topic
	}
	if err := s.titleDestinations(c, m.Stages); err != nil {
		return err
	}
	var inputs map[string]any
	if x, err := definition.DecodeJSON([]byte(p.InputsText)); err == nil {
		inputs, _ = x.(map[string]any)
		m.Inputs, _ = shownFields(inputs, "")
	}
	m.Frame = web.Frame(c, views.SectionOperations)
	return web.RenderStatus(c, status, views.RunPage(m))
}

// titleDestinations names the stages' destinations as people know them.
func (s *site) titleDestinations(c echo.Context, stages []views.RunStage) error {
	for i, st := range stages {
		p, _, err := s.Store.Profile(c.Request().Context(), st.Destination)
		if err != nil {
			return err
		}
		stages[i].Destination, stages[i].DestURL = titled(p.Title, lang(c), st.Destination), pathDestination(st.Destination)
		stages[i].Preview = inPreview(stages[i])
	}
	return nil
}
