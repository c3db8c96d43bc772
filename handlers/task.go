package handlers

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/views"
	"holdpoint/web"

	"github.com/labstack/echo/v4"
)

// taskRoutes are the improvement tasks.
func (s *site) taskRoutes() []route {
	const one = views.PathTasks + "/:id"
	return []route{
		{get, views.PathTasks, signedIn, "", s.tasks},
		{post, views.PathTasks + "/open", owners, views.PathTasks, s.openTask},
		{get, one, signedIn, "", s.task},
		{post, one + "/edit", signedIn, one, s.editTask},
		{post, one + "/close", signedIn, one, s.closeTask},
		{post, one + "/reopen", signedIn, one, s.reopenTask},
	}
}

func pathTask(id operation.TaskID) string { return views.PathTasks + "/" + string(id) }

func (s *site) tasks(c echo.Context) error {
	t, _ := kept(c)
	return s.showTasks(c, http.StatusOK, t)
}

// showTasks lists tasks; without filters, the open ones.
func (s *site) showTasks(c echo.Context, status int, t typed) error {
	v, ctx, q := web.VisitOf(c), c.Request().Context(), c.QueryParams()
	f := store.TaskFilter{Overdue: q.Get("overdue") == "yes", Mine: q.Get("mine") == "yes", Flow: q.Get("flow"), Of: q.Get("of"), Cursor: q.Get("after") + q.Get("before")}
	if x := operation.TaskState(q.Get("state")); x.Valid() {
		f.State = x
	} else if !q.Has("state") {
		f.State = operation.TaskOpen
	}
	if x := operation.TaskOrigin(q.Get("origin")); x.Valid() {
		f.Origin = x
	}
	list, err := s.Store.ListTasks(ctx, v.Actor(), f)
	if err != nil {
		return err
	}
	names, err := s.Store.FilterNames(ctx, v.Actor())
	if err != nil {
		return err
	}
	m := views.TasksModel{States: pick(operation.TaskStates, f.State), Origins: pick(operation.TaskOrigins, f.Origin), Flows: options(names.Flows, f.Flow, v.Printer()),
		Overdue: f.Overdue, Mine: f.Mine, Active: c.Request().URL.RawQuery != "", Open: list.Open, Late: list.Late, Pager: pagerOf(c, list.Prev, list.Next)}
	for _, r := range list.Rows {
		m.Rows = append(m.Rows, taskView(c, r, list.Now))
	}
	if v.Has(owners.roles...) {
		form := s.taskForm(c, t.of("open"), views.PathTasks+"/open", names, store.TaskRow{Due: v.Now.AddDate(0, 0, 14)})
		form.Flows = options(names.Flows, t.of("open").val("flow"), v.Printer())
		m.New = &form
	}
	m.Frame = web.Frame(c, views.SectionReports)
	return web.RenderStatus(c, status, views.TasksPage(m))
}

// taskView is a task as lists and pages show it.
func taskView(c echo.Context, r store.TaskRow, now time.Time) views.TaskView {
	p := web.VisitOf(c).Printer()
	me := web.VisitOf(c).User.ID
	out := views.TaskView{ID: string(r.ID), Number: "T-" + strconv.FormatInt(r.Number, 10), URL: pathTask(r.ID), Title: r.Title, Why: r.Why, OwnerGone: r.OwnerGone, Role: r.OwnerRole,
		Due: r.Due, Late: r.Late(now), State: r.State, Word: r.Word, Closed: timeOf(r.ClosedAt), Origin: r.Origin()}
	if r.OwnerID != "" {
		out.Owner = views.PersonWho(r.OwnerName, r.OwnerID == me)
	}
	switch out.Origin {
	case operation.FromIncident:
		out.From = views.Link{Label: incidentNumber(r.IncidentNo), URL: pathIncident(r.IncidentID)}
	case operation.FromReport:
		out.From = views.Link{Label: p.T("tasks.origin.report"), URL: views.PathReports + "/" + r.ReportID}
	}
	return out
}

// taskForm offers what a task needs. Shown for the first time, it holds what stands in row.
func (s *site) taskForm(c echo.Context, t typed, action string, names *store.OperationList, row store.TaskRow) views.TaskForm {
	v := web.VisitOf(c)
	f := views.TaskForm{Form: shownTo(newForm(t, action), v.User.ID), ID: "task-", Title: t.or("title", row.Title), Why: t.or("why", row.Why),
		Due: t.or("due", row.Due.In(v.Printer().Zone).Format(inputTime)), Reason: t.val("reason")}
	owner, role := t.or("owner", string(row.OwnerID)), t.or("role", string(row.OwnerRole))
	for _, p := range names.People {
		f.People = append(f.People, views.Option{Value: string(p.ID), Label: p.Name, Selected: string(p.ID) == owner})
	}
	f.Roles = pick(operation.Roles, operation.Role(role))
	return f
}

// newTask reads the fields of a task's form; what is wrong is marked.
func newTask(c echo.Context, t *typed) store.NewTask {
	n := store.NewTask{Title: t.text("title"), Why: t.text("why"), Owner: operation.UserID(t.val("owner")), OwnerRole: operation.Role(t.val("role")), FormID: t.val("form_id")}
	if x := t.val("flow"); x != "" {
		n.Flows = []string{x}
	}
	n.Due = localTime(c, t, "due")
	for _, x := range n.Faults() {
		if t.errors[x.Field].Empty() { // what cannot be read is said as it is
			t.wrong(x.Field, views.Invalid(x.Code, x.Limit))
		}
	}
	return n
}

// reasonFor asks for a reason where one is needed and none is given.
func reasonFor(t *typed, needed bool) {
	if needed && t.text("reason") == "" {
		t.wrong("reason", views.Invalid("reason_missing", 0))
	}
}

// notPast refuses a due time that has passed; one that stood there already may stay.
func notPast(c echo.Context, t *typed, name string, at, was time.Time) {
	v := web.VisitOf(c)
	if !at.IsZero() && at.Before(v.Now) && at.Format(inputTime) != was.In(v.Printer().Zone).Format(inputTime) {
		t.wrong(name, views.Invalid("due_past", 0))
	}
}

// localTime reads a moment in the viewer's zone; zero where the field is empty.
func localTime(c echo.Context, t *typed, name string) time.Time {
	if t.text(name) == "" {
		return time.Time{}
	}
	at, err := time.ParseInLocation(inputTime, t.text(name), web.VisitOf(c).Printer().Zone)
	if err != nil || at.Year() < 2000 || at.Year() > 2199 { // a year that was not typed to its end
		t.wrong(name, views.Invalid("moment_malformed", 0))
	}
	return at
}

func (s *site) openTask(c echo.Context) error {
	t, err := sent(c)
	if err != nil {
		return err
	}
	if t.ofAnother(web.VisitOf(c).User.ID) {
		return web.ErrFormOfAnother
	}
	n := newTask(c, &t)
	notPast(c, &t, "due", n.Due, time.Time{})
	if len(t.errors) > 0 {
		return s.showTasks(c, http.StatusUnprocessableEntity, t)
	}
	id, err := s.Store.OpenTask(c.Request().Context(), web.VisitOf(c).Actor(), n)
	if err == nil {
		return done(c, pathTask(id), "flash.task_opened")
	}
	if !wrongOf(&t, err) {
		return err
	}
	return s.showTasks(c, http.StatusUnprocessableEntity, t)
}

// wrongOf marks what the store complains of; false = it is another error.
func wrongOf(t *typed, err error) bool {
	if field, say, ok := invalidOf(err); ok {
		t.wrong(field, say)
		return true
	}
	if r := refusalOf(err); r != nil && r.Code == operation.CodeNotEntitled {
		t.wrong("", views.Refused(r))
		return true
	}
	return false
}

func (s *site) task(c echo.Context) error {
	t, _ := kept(c)
	return s.showTask(c, http.StatusOK, t)
}

func (s *site) showTask(c echo.Context, status int, t typed) error {
	v, ctx := web.VisitOf(c), c.Request().Context()
	k, err := s.Store.FindTask(ctx, v.Actor(), operation.TaskID(c.Param("id")))
	if err != nil {
		return err
	}
	names, err := s.Store.FilterNames(ctx, v.Actor())
	if err != nil {
		return err
	}
	n, err := s.names(c, "")
	if err != nil {
		return err
	}
	m := views.TaskModel{TaskView: taskView(c, k.TaskRow, k.Now), Opened: k.CreatedAt, NextTold: timeOf(k.StepAt), MayChange: k.MayChange, History: historyOf(k.History, n, k.Broken == 0)}
	m.OpenedBy, m.ClosedBy = byName(k.ByName), byName(k.ClosedWho)
	titles, err := s.flowTitles(c)
	if err != nil {
		return err
	}
	for _, f := range k.Flows {
		if titles[f] != "" {
			m.Flows = append(m.Flows, titles[f])
		}
	}
	if k.MayChange {
		at := pathTask(k.ID)
		if k.State == operation.TaskOpen {
			edit := s.taskForm(c, t.of("edit"), at+"/edit", names, k.TaskRow)
			edit.ID, edit.Change, edit.Revision = "edit-", true, k.Rev
			if status == http.StatusConflict {
				edit.Now = &m.TaskView
			}
			x := t.of("close")
			m.Edit, m.Close = &edit, &views.CloseTaskForm{Form: shownTo(newForm(x, at+"/close"), v.User.ID), As: operation.TaskState(x.val("as")), Word: x.val("word")}
			m.Close.Revision = k.Rev
		} else {
			re := s.taskForm(c, t.of("reopen"), at+"/reopen", names, store.TaskRow{Due: v.Now.AddDate(0, 0, 14)})
			re.Revision = k.Rev
			m.Reopen = &re
		}
	}
	m.Frame = web.Frame(c, views.SectionReports)
	return web.RenderStatus(c, status, views.TaskPage(m))
}

// byName is a person by their name; without one, the system.
func byName(name string) views.Who {
	if name == "" {
		return views.SystemWho()
	}
	return views.PersonWho(name, false)
}

// aboutTask carries out something about one task.
func (s *site) aboutTask(c echo.Context, flash string, verb func(*typed, store.TaskShown) error) error {
	t, err := sent(c)
	if err != nil {
		return err
	}
	if t.ofAnother(web.VisitOf(c).User.ID) {
		return web.ErrFormOfAnother
	}
	id := operation.TaskID(c.Param("id"))
	err = verb(&t, store.TaskShown{ID: id, Rev: t.revision(), FormID: t.once()})
	switch {
	case len(t.errors) > 0:
		return s.showTask(c, http.StatusUnprocessableEntity, t)
	case err == nil:
		return done(c, pathTask(id), flash)
	case errors.Is(err, store.ErrChanged):
		t.wrong("", views.Sentence("incidents.changed_meanwhile"))
		return s.showTask(c, http.StatusConflict, t)
	case wrongOf(&t, err):
		return s.showTask(c, http.StatusUnprocessableEntity, t)
	}
	return err
}

func (s *site) editTask(c echo.Context) error {
	return s.aboutTask(c, "flash.task_changed", func(t *typed, sh store.TaskShown) error {
		n := newTask(c, t)
		k, err := s.Store.FindTask(c.Request().Context(), web.VisitOf(c).Actor(), sh.ID)
		if err != nil {
			return err
		}
		notPast(c, t, "due", n.Due, k.Due)
		moved := n
		if n.Due.IsZero() {
			moved.Due = k.Due // it is told already that this one is no date
		}
		if reasonFor(t, k.State == operation.TaskOpen && k.Moves(moved)); len(t.errors) > 0 {
			return nil
		}
		return s.Store.EditTask(c.Request().Context(), web.VisitOf(c).Actor(), sh, store.TaskEdit{Title: n.Title, Why: n.Why, Owner: n.Owner, OwnerRole: n.OwnerRole, Due: n.Due, Reason: t.text("reason")})
	})
}

func (s *site) closeTask(c echo.Context) error {
	return s.aboutTask(c, "flash.task_closed", func(t *typed, sh store.TaskShown) error {
		if as := operation.TaskState(t.val("as")); as != operation.TaskDone && as != operation.TaskDropped {
			t.wrong("as", views.Invalid("text_missing", 0))
		}
		if t.text("word") == "" {
			t.wrong("word", views.Invalid("text_missing", 0))
		}
		if len(t.errors) > 0 {
			return nil
		}
		return s.Store.CloseTask(c.Request().Context(), web.VisitOf(c).Actor(), sh, operation.TaskState(t.val("as")), t.text("word"))
	})
}

func (s *site) reopenTask(c echo.Context) error {
	return s.aboutTask(c, "flash.task_reopened", func(t *typed, sh store.TaskShown) error {
		due := localTime(c, t, "due")
		if notPast(c, t, "due", due, time.Time{}); due.IsZero() && t.errors["due"].Empty() {
			t.wrong("due", views.Invalid("due_missing", 0))
		}
		if reasonFor(t, true); len(t.errors) > 0 {
			return nil
		}
		return s.Store.ReopenTask(c.Request().Context(), web.VisitOf(c).Actor(), sh, due, strings.TrimSpace(t.text("reason")))
	})
}
