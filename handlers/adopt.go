package handlers

import (
	"net/http"
	"strings"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/views"
	"holdpoint/web"

	"github.com/labstack/echo/v4"
)

func (s *site) adoptPage(c echo.Context) error {
	t, _ := kept(c)
	return s.showAdopt(c, http.StatusOK, t)
}

func (s *site) showAdopt(c echo.Context, status int, t typed) error {
	v := web.VisitOf(c)
	who, err := s.Store.FindViewer(c.Request().Context(), v.Actor())
	if err != nil {
		return err
	}
	items, err := s.Store.ListFlows(c.Request().Context())
	if err != nil {
		return err
	}
	m := views.AdoptModel{Form: newForm(t, views.PathAdopt), EvidenceFields: evidenceFields(t, ""), Title: t.val("title"), Reference: t.val("reference"),
		Key: t.val("key"), HappenedAt: t.val("happened_at"), Content: t.val("content")}
	may := false
	for _, f := range items {
		if !who.Sees(f.Name, "") {
			continue
		}
		may = may || who.In(f.Name).Has(operation.RoleOpsOwner)
		for _, st := range f.Flow.Stages {
			value := f.Name + "/" + st.Key
			m.Targets = append(m.Targets, views.Option{Value: value, Label: f.Flow.Title.In(v.Printer().Lang) + " · " + st.Title.In(v.Printer().Lang), Selected: value == t.val("target")})
		}
	}
	if !may {
		m.Barred = operation.Refuse(operation.CodeNotEntitled, "role", string(operation.RoleOpsOwner)).By(operation.Responsible{Role: operation.RoleOpsOwner})
	}
	m.Frame = web.Frame(c, views.SectionOperations)
	return web.RenderStatus(c, status, views.AdoptPage(m))
}

// adopt enters a stopped job of another system. Nothing is sent for it before a person
// has settled it.
func (s *site) adopt(c echo.Context) error {
	t, err := sent(c)
	if err != nil {
		return err
	}
	if t.tooLong() {
		return s.showAdopt(c, http.StatusUnprocessableEntity, t)
	}
	job, ok := adoptedJob(&t, web.VisitOf(c))
	if !ok {
		return s.showAdopt(c, http.StatusUnprocessableEntity, t)
	}
	who, err := s.Store.FindViewer(c.Request().Context(), web.VisitOf(c).Actor())
	if err != nil {
		return err
	}
	if !who.Sees(job.Flow, "") {
		return store.ErrNotFound
	}
	id, err := s.Store.Adopt(c.Request().Context(), web.VisitOf(c).Actor(), job)
	if err == nil {
		return done(c, pathOperation(id), views.FlashAdopted)
	}
	if r := refusalOf(err); r != nil && web.RefusalStatus(r.Code) != http.StatusForbidden {
		field := ""
		switch r.Code {
		case operation.CodeReasonMissing:
			field = "evidence"
		case operation.CodeDateMissing:
			field = "happened_at"
		}
		t.wrong(field, views.Refused(r))
		return s.showAdopt(c, web.RefusalStatus(r.Code), t)
	}
	return err
}

// adoptedJob reads the form. A job that its system did not name is named by what is
// known of it, so that entering it twice is still one operation.
func adoptedJob(t *typed, v *web.Visit) (store.AdoptedJob, bool) {
	var j store.AdoptedJob
	j.Flow, j.Stage, _ = strings.Cut(t.val("target"), "/")
	if j.Flow == "" || j.Stage == "" {
		t.wrong("target", views.Sentence(views.ErrorRequired))
	}
	title := t.text("title")
	if title == "" {
		t.wrong("title", views.Sentence(views.ErrorRequired))
	}
	at, err := time.ParseInLocation("2006-01-02T15:04", t.text("happened_at"), v.Printer().Zone)
	if err != nil {
		t.wrong("happened_at", views.Sentence(views.ErrorInvalid))
	}
	checkLinks(t, "link")
	j.System, j.ItsID, j.StoppedAt, j.Reason = "by hand", t.text("reference"), at, t.text("evidence")
	if key := t.text("key"); key != "" {
		j.ItsID = strings.TrimSpace(j.ItsID + " " + key)
	}
	if j.ItsID == "" {
		j.ItsID = title + " " + t.text("happened_at")
	}
	if link := t.text("link"); link != "" && j.Reason != "" {
		j.Reason += "\n" + link
	}
	j.Content = map[string]any{"title": title}
	if x := t.text("content"); x != "" {
		j.Content["note"] = x
	}
	return j, len(t.errors) == 0
}
