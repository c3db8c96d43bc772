package handlers

import (
	"encoding/json"
	"net/http"

	"holdpoint/operation"
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
	who, err := s.viewer(c, p.Flow.Name)
	if err != nil {
		return err
	}
	lang, n := v.Printer().Lang, names{p.People, who}
	m := views.RunModel{ID: p.ID, Title: p.Label, Flow: views.Link{Label: p.Flow.Title.In(lang), URL: pathFlow(p.Flow.Name)}, FlowVersion: p.FlowVersion,
		Key: p.Label, State: p.State, StartedAt: p.CreatedAt, Owner: n.selector(p.Flow.Owner)}
	if m.Title == "" {
		m.Title = m.Flow.Label
	}
	m.Stages = runStages(p, n, lang, t)
	if len(p.Events) > 0 {
		e := p.Events[0]
		m.Event = views.EventView{ID: e.ID, Source: e.Source, Account: e.Account, Topic: e.Topic, Key: e.Key, At: e.ReceivedAt}
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
	if json.Unmarshal([]byte(p.InputsText), &inputs) == nil {
		m.Inputs = fieldsOf(inputs)
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
		stages[i].Destination = titled(p.Title, lang(c), st.Destination)
	}
	return nil
}

// runStages is the track: one line for each operation of the run, and one for each
// stage that has none.
func runStages(p *store.RunPage, n names, lang string, t typed) []views.RunStage {
	var out []views.RunStage
	for i, st := range p.Flow.Stages {
		found := false
		for _, o := range p.Operations {
			if o.Stage == st.Key {
				found = true
				out = append(out, runStage(p, n, o, i+1, lang, t))
			}
		}
		if !found && len(p.Operations) > 0 && !p.Operations[0].Adopted {
			out = append(out, views.RunStage{Number: i + 1, Key: st.Key, Title: st.Title.In(lang), Mark: views.MarkLater, Destination: st.Destination})
		}
	}
	return out
}

func runStage(p *store.RunPage, n names, o store.OperationSummary, number int, lang string, t typed) views.RunStage {
	title := stageTitle(p, o.Stage, lang)
	s := views.RunStage{Number: number, Key: o.Stage, Title: title, Operation: o.ID, URL: pathOperation(o.ID), State: o.State, Destination: o.Destination, Mark: views.MarkNext}
	w, waived := p.Waived[o.Stage]
	switch {
	case o.State == operation.Confirmed:
		s.Mark = views.MarkKept
		s.Reference = &views.Reference{ID: o.TargetReference, URL: safeURL(o.TargetURL), Effect: o.EffectType, At: o.UpdatedAt}
	case waived:
		s.Mark = views.MarkKept
		s.WentOn = &views.Signature{Given: true, Who: n.person(w.By), At: w.At, Comment: w.Reason}
	case o.State.WithoutEffect():
		s.Mark = views.MarkBlocked
		if !replaced(p, o) {
			s.GoOn = goOnForm(p, n, o, title, t)
		}
		if s.GoOn != nil && s.GoOn.Barred == nil {
			s.ReplaceURL = pathOperation(o.ID) + "/replace"
		}
		if s.GoOn != nil && o.Remedy == store.RemedyBlocked {
			s.LeaveURL = pathOperation(o.ID) + "#decision"
		}
	case o.State == operation.Review || o.State == operation.ReexecutionRequested || o.State == operation.Unknown:
		s.Mark = views.MarkBlocked
	case len(p.EarlierOpen[o.ID]) > 0:
		s.Mark = views.MarkLater
		first := p.EarlierOpen[o.ID][0]
		if s.Why = views.Refused(operation.Refuse(operation.CodeEarlierStage, "stage", stageTitle(p, first, lang))); closedWithout(p, first) {
			s.Why = views.Sentence("run.earlier_closed", "Stage", stageTitle(p, first, lang))
		}
	}
	if o.ClearanceID != "" {
		s.Version = o.VersionNo
	}
	return s
}

func stageTitle(p *store.RunPage, key, lang string) string {
	if st, ok := p.Flow.Stage(key); ok {
		return st.Title.In(lang)
	}
	return key
}

// closedWithout reports that a stage is closed without effect and nothing replaces it.
func closedWithout(p *store.RunPage, stage string) bool {
	found := false
	for _, o := range p.Operations {
		if o.Stage != stage {
			continue
		}
		if found = o.State.WithoutEffect(); !found {
			return false
		}
	}
	return found
}

func replaced(p *store.RunPage, o store.OperationSummary) bool {
	for _, x := range p.Operations {
		if x.Replaces == string(o.ID) {
			return true
		}
	}
	return false
}

// goOnForm lets the owner go on without a stage that closed without an effect.
func goOnForm(p *store.RunPage, n names, o store.OperationSummary, title string, t typed) *views.GoOnForm {
	mine := t.of("go-on")
	if mine.val("version") != string(o.VersionID) {
		mine = typed{}
	}
	f := &views.GoOnForm{Form: newForm(mine, pathOperation(o.ID)+"/go-on"), Stage: title, Reason: mine.val("reason")}
	f.Revision, f.Version = o.Revision, o.VersionID
	b := panelOf{p: &store.OperationPage{OperationSummary: o, Flow2: p.Flow}, n: n}
	if st, ok := p.Flow.Stage(o.Stage); ok {
		b.p.Stage2 = *st
	}
	f.Barred = b.manages()
	return f
}
