package handlers

import (
	"encoding/hex"
	"net/http"
	"strconv"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/views"
	"holdpoint/web"

	"github.com/labstack/echo/v4"
)

func (s *site) incident(c echo.Context) error {
	t, _ := kept(c)
	return s.showIncident(c, http.StatusOK, t)
}

// opsShown is how many operations an incident's page lists unless all are asked for.
const opsShown = 50

// showIncident draws one incident with the form that comes back.
func (s *site) showIncident(c echo.Context, status int, t typed) error {
	v, ctx := web.VisitOf(c), c.Request().Context()
	in, err := s.Store.FindIncident(ctx, v.Actor(), operation.IncidentID(c.Param("id")))
	if err != nil {
		return err
	}
	m, names, err := s.incidentModel(c, in)
	if err != nil {
		return err
	}
	if n := len(m.Ops); n > opsShown && c.QueryParam("all") != "operations" {
		m.Ops, m.OpsShown, m.AllOps = m.Ops[:opsShown], n, m.URL+"?all=operations#scope"
	}
	s.incidentForms(c, &m, in, names, t)
	m.Frame = web.Frame(c, views.SectionReports)
	return web.RenderStatus(c, status, views.IncidentPage(m))
}

// incidentModel is an incident as its page and its export show it.
func (s *site) incidentModel(c echo.Context, in *store.Incident) (views.IncidentModel, *store.OperationList, error) {
	v, ctx := web.VisitOf(c), c.Request().Context()
	var m views.IncidentModel
	names, err := s.Store.FilterNames(ctx, v.Actor())
	if err != nil {
		return m, nil, err
	}
	n, err := s.names(c, "")
	if err != nil {
		return m, nil, err
	}
	titles, err := s.flowTitles(c)
	if err != nil {
		return m, nil, err
	}
	m = views.IncidentModel{
		IncidentView: views.IncidentView{ID: string(in.ID), Number: incidentNumber(in.Number), URL: pathIncident(in.ID), Title: in.Title, State: in.State, Class: in.Class, Pattern: in.Pattern,
			Destinations: placeTitles(in.Destinations, names.Destinations, v.Printer()), Operations: in.Scope.Operations},
		Revision: in.Revision, Opened: in.CreatedAt, Changed: in.UpdatedAt, OpenedBy: views.PersonWho(in.CreatedName, in.CreatedBy == v.User.ID), Summary: in.Summary, Cause: in.Cause,
		Response: in.Response, Prevention: in.Prevention, Scope: in.Scope, Hidden: in.Hidden, Whole: in.Whole, Hash: in.Hash, SignedText: in.Text, Omitted: len(in.Omitted),
		Unsettled: in.Scope.Effects[operation.EffectDoubtful] > 0, History: historyOf(in.History, n, in.Broken == 0), Markdown: pathIncident(in.ID) + "/incident.md",
		EditURL: pathIncident(in.ID) + "/edit", TimelineURL: pathIncident(in.ID) + "/timeline",
	}
	if in.OwnerID != "" {
		m.Owner = views.PersonWho(in.OwnerName, in.OwnerID == v.User.ID)
	}
	m.Library, m.Times = libraryPattern(in.Library, names.Destinations, v.Printer()), incidentTimes(in)
	for _, f := range in.Flows {
		if titles[f] == "" {
			m.HiddenFlows++
			continue
		}
		m.Flows = append(m.Flows, titles[f])
	}
	for _, o := range in.Operations {
		m.Ops = append(m.Ops, views.IncidentOp{OperationRow: operationRow(o.InboxRow, n, lang(c)), Effect: o.Effect})
	}
	for _, l := range in.Timeline {
		m.Lines = append(m.Lines, timelineLine(l))
	}
	for _, k := range in.Tasks {
		m.Tasks = append(m.Tasks, taskView(c, k, in.Now))
	}
	for i, g := range in.Signatures {
		m.Signatures = append(m.Signatures, views.SignatureView{Revision: g.Revision, By: g.By, Role: g.Role, At: g.At, Comment: g.Comment, Hash: hex.EncodeToString(g.Hash), Text: g.Says})
		if i == 0 {
			m.Signed = &in.Signatures[0].Scope
		}
	}
	for _, r := range in.Similar {
		m.Similar = append(m.Similar, incidentView(r, v, names.Destinations))
	}
	return m, names, nil
}

func incidentTimes(in *store.Incident) []views.IncidentTime {
	t, by := in.Times, in.Corrected
	return []views.IncidentTime{{Key: "first", At: t.First, Corrected: !by.First.IsZero()}, {Key: "last", At: t.Last, Corrected: !by.Last.IsZero()},
		{Key: "detected", At: t.Detected, Corrected: !by.Detected.IsZero()}, {Key: "settled", At: t.Settled, Corrected: !by.Settled.IsZero()}}
}

// linkedAtMost is how many operations one line of a timeline links.
const linkedAtMost = 6

func timelineLine(l store.IncidentLine) views.TimelineLine {
	if l.Group == nil {
		return views.TimelineLine{ID: string(l.ID), At: l.At, Until: l.At, Who: l.By, Says: l.Says}
	}
	out := groupLine(*l.Group)
	out.Chosen = true
	return out
}

// groupLine is a group of history entries. Its key names its first and last entry: with
// the action and the state they stand for exactly these.
func groupLine(g operation.TimelineGroup) views.TimelineLine {
	out := views.TimelineLine{Key: lineKey(g), At: g.First.At, Until: g.Last.At, Action: g.First.Action, From: g.First.From, To: g.First.To, Count: len(g.Operations), Who: g.Actor, Says: g.Reason}
	for _, id := range g.Operations[:min(len(g.Operations), linkedAtMost)] {
		out.Operations = append(out.Operations, views.Link{Label: shortID(string(id)), URL: pathOperation(id)})
	}
	return out
}

func lineKey(g operation.TimelineGroup) string {
	return strconv.FormatInt(g.Entries[0], 10) + "-" + strconv.FormatInt(g.Entries[len(g.Entries)-1], 10) + "-" + strconv.Itoa(len(g.Entries))
}

// incidentForms puts the forms that the viewer may use onto the page.
func (s *site) incidentForms(c echo.Context, m *views.IncidentModel, in *store.Incident, names *store.OperationList, t typed) {
	v, at := web.VisitOf(c), pathIncident(in.ID)
	form := func(name string) views.Form {
		f := shownTo(newForm(t.of(name), at+"/"+name), v.User.ID)
		f.Revision = in.Rev
		return f
	}
	m.Open = in.MayWrite && in.State == operation.IncidentOpen
	if m.Open {
		m.Take, m.RemoveLine = form("take"), form("remove-line")
		m.AddLine = views.LineForm{Form: form("line"), At: t.of("line").or("at", v.Now.In(v.Printer().Zone).Format(inputTime)), Says: t.of("line").val("says")}
		m.AddOps = views.AddOpsForm{Form: form("operations"), Text: t.of("operations").val("operations")}
		m.AddTask = s.taskForm(c, t.of("task"), at+"/task", names, store.TaskRow{Due: v.Now.AddDate(0, 0, 14), OwnerID: in.OwnerID})
		m.AddTask.Revision = in.Rev
	}
	if in.State == operation.IncidentOpen {
		m.Sign = views.SignForm{Form: form("sign"), Comment: t.of("sign").val("comment")}
		m.Sign.Hash = in.Hash
		if in.SignRole == "" {
			m.Sign.Barred = operation.Refuse(operation.CodeNotEntitled, "role", string(operation.RoleOpsOwner)).By(operation.Responsible{Role: operation.RoleOpsOwner})
		}
	} else if in.MayWrite {
		m.Revise = &views.ReasonForm{Form: form("revise"), Reason: t.of("revise").val("reason")}
	}
}
