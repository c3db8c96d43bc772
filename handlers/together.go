package handlers

import (
	"net/http"
	"net/url"
	"strings"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/views"
	"holdpoint/web"

	"github.com/labstack/echo/v4"
)

// decidingRoutes are what is decided beside an operation's own page.
func (s *site) decidingRoutes() []route {
	return []route{
		{get, views.PathTogether, deciders, "", s.together},
		{post, views.PathTogether, deciders, views.PathTogether, s.approveTogether},
		{get, views.PathTogether + "/result", deciders, "", s.togetherResult},
		{get, views.PathDelegations, signedIn, "", s.delegations},
		{post, views.PathDelegations, deciders, views.PathDelegations, s.delegate},
		{post, views.PathDelegations + "/:id/revoke", signedIn, views.PathDelegations, s.endDelegation},
		{get, views.PathAllDelegations, readers, "", s.allDelegations},
	}
}

func togetherURL(flow, stage string) string {
	return views.PathTogether + "?" + url.Values{"flow": {flow}, "stage": {stage}}.Encode()
}

// together shows what this person may approve of one flow and stage, to be reviewed.
func (s *site) together(c echo.Context) error {
	t, _ := kept(c)
	return s.showTogether(c, http.StatusOK, t)
}

func (s *site) showTogether(c echo.Context, status int, t typed) error {
	flow, stage := c.QueryParam("flow"), c.QueryParam("stage")
	if t.fields != nil {
		flow, stage = t.val("flow"), t.val("stage")
	}
	v := web.VisitOf(c)
	m := views.TogetherModel{Flow: flow, Stage: stage}
	var list store.TogetherList
	if flow != "" {
		if err := s.fillTogether(c, &m, &list); err != nil {
			return err
		}
	}
	for _, x := range list.Items {
		if !v.Has(operation.RoleAuditor) {
			break
		}
		if err := s.look(c, store.Look{Operation: x.ID, Flow: flow, Version: x.VersionID}); err != nil {
			return err
		}
	}
	m.Form = shownTo(newForm(t, views.PathTogether), v.User.ID)
	m.Items, m.Shared = togetherItems(list.Items, t, v.Now)
	m.Mails, m.Recipients, m.Money = togetherSums(list.Items)
	m.Frame = web.Frame(c, views.SectionInbox)
	return web.RenderStatus(c, status, views.TogetherPage(m))
}

// fillTogether reads the list and what it is about. A flow that the viewer may not know of
// is like one that does not exist.
func (s *site) fillTogether(c echo.Context, m *views.TogetherModel, list *store.TogetherList) error {
	v, ctx := web.VisitOf(c), c.Request().Context()
	who, err := s.Store.FindViewer(ctx, v.Actor())
	if err != nil {
		return err
	}
	if !who.Sees(m.Flow, "") {
		return store.ErrNotFound
	}
	f, err := s.Store.FindFlow(ctx, m.Flow)
	if err != nil {
		return err
	}
	found, err := s.Store.ListTogether(ctx, v.Actor(), m.Flow, m.Stage)
	if err != nil {
		return err
	}
	*list = *found
	lang := v.Printer().Lang
	m.FlowTitle, m.StageTitle, m.Left, m.More = f.Flow.Title.In(lang), m.Stage, found.Left, found.More
	for i, st := range f.Flow.Stages {
		if st.Key != m.Stage {
			continue
		}
		m.StageTitle = st.Title.In(lang)
		if i+1 < len(f.Flow.Stages) {
			m.NextStage = f.Flow.Stages[i+1].Title.In(lang)
		}
	}
	if len(found.Items) == 0 {
		return nil
	}
	d, err := s.Store.FindDestination(ctx, found.Items[0].Destination)
	if err == nil {
		m.Destination = d.Profile.Title.In(lang)
	}
	return err
}

// approveTogether approves each ticked version alone and leads to the report.
func (s *site) approveTogether(c echo.Context) error {
	t, err := sent(c)
	if err != nil {
		return err
	}
	v := web.VisitOf(c)
	switch {
	case t.ofAnother(v.User.ID):
		return web.ErrFormOfAnother
	case t.old(v.Now):
		t.wrong("", views.Sentence("settling.form_old"))
	case t.tooLong():
	case t.val("form_id") == "" || len(t.fields["pick"]) == 0:
		t.wrong("", views.Sentence("together.pick"))
	}
	if len(t.errors) > 0 {
		return s.showTogether(c, http.StatusUnprocessableEntity, t)
	}
	picked := t.fields["pick"]
	if len(picked) > store.TogetherLimit {
		picked = picked[:store.TogetherLimit]
	}
	var list []store.Decided
	for _, id := range picked {
		one := typed{fields: url.Values{"revision": {t.val("revision." + id)}}}
		list = append(list, store.Decided{Operation: operation.ID(id), Version: operation.VersionID(t.val("version." + id)), Hash: t.val("hash." + id),
			Revision: one.revision(), For: operation.UserID(t.val("for." + id)), Reason: t.text("comment")})
	}
	if err := s.Store.DecideTogether(c.Request().Context(), v.Actor(), t.val("form_id"), t.val("flow"), t.val("stage"), list); err != nil {
		return err
	}
	if err := web.DropKept(c); err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, views.PathTogether+"/result?"+url.Values{"form": {t.val("form_id")}, "flow": {t.val("flow")}, "stage": {t.val("stage")}}.Encode())
}

// togetherResult reports what became of each operation of one's own list.
func (s *site) togetherResult(c echo.Context) error {
	v := web.VisitOf(c)
	rows, err := s.Store.ListTogetherResults(c.Request().Context(), v.Actor(), c.QueryParam("form"))
	if err != nil {
		return err
	}
	m := views.TogetherResultModel{Again: views.PathInbox}
	if len(rows) > 0 {
		m.Again = togetherURL(rows[0].Flow, rows[0].Stage)
	}
	for _, r := range rows {
		line := views.TogetherResult{Title: r.Title, URL: pathOperation(r.Operation), State: r.State}
		if line.Title == "" {
			line.Title = shortID(string(r.Operation))
		}
		if r.Code != operation.CodeOK {
			line.Refusal = operation.Refuse(r.Code, "state", string(r.State))
		}
		m.Rows = append(m.Rows, line)
	}
	if next := s.nextWaiting(c, v.Actor(), ""); next != nil && next.URL != "" {
		m.Next = next
	}
	m.Frame = web.Frame(c, views.SectionInbox)
	return web.Render(c, views.TogetherResultPage(m))
}

// picked reports whether an operation is ticked: all are until a form came back.
func picked(t typed, id operation.ID) bool {
	if t.fields == nil {
		return true
	}
	return strings.Contains("\n"+strings.Join(t.fields["pick"], "\n")+"\n", "\n"+string(id)+"\n")
}
