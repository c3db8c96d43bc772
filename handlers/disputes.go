package handlers

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/views"
	"holdpoint/web"

	"github.com/labstack/echo/v4"
)

// queryAll is the mark in an address that ticks all that are listed.
const queryAll = "all"

// disputes lists the confirmed effects that the filters of the list of operations find, to
// be disputed together.
func (s *site) disputes(c echo.Context) error {
	t, _ := kept(c)
	return s.showDisputes(c, http.StatusOK, t)
}

func (s *site) showDisputes(c echo.Context, status int, t typed) error {
	v, q := web.VisitOf(c), c.QueryParams()
	if t.fields != nil {
		if kept, err := url.ParseQuery(t.val("filters")); err == nil {
			q = kept
		}
	}
	filters := filterQuery(q)
	list, err := s.Store.ListDisputable(c.Request().Context(), v.Actor(), operationFilter(q, v))
	if err != nil {
		return err
	}
	m := views.DisputesModel{Form: shownTo(newForm(t, views.PathDisputes), v.User.ID), More: list.More, Left: list.Left, Filters: filters,
		Back: views.PathOperations + "?" + filters, Evidence: t.val("evidence"), Link: t.val("link")}
	if filters == "" {
		m.Back = views.PathOperations + "?view=all"
	}
	all := t.fields == nil && q.Get(queryAll) == "yes"
	if all {
		m.None = views.PathDisputes + "?" + filters
	} else {
		m.All = views.PathDisputes + "?" + strings.TrimPrefix(filters+"&"+queryAll+"=yes", "&")
	}
	for _, r := range list.Rows {
		x := views.DisputeItem{ID: r.ID, URL: pathOperation(r.ID), Title: r.Title, Flow: titled(r.FlowTitle, v.Printer().Lang, r.Flow), Destination: titled(r.DestinationTitle, v.Printer().Lang, r.Destination),
			Reference: views.Link{Label: r.TargetReference, URL: r.TargetURL}, ConfirmedBy: views.ConfirmedBy(r.ConfirmedBy), At: r.UpdatedAt, Revision: r.Revision, Picked: all}
		if x.Title == "" {
			x.Title = titled(r.StageTitle, v.Printer().Lang, r.Stage)
		}
		if t.fields != nil {
			x.Picked = picked(t, r.ID)
		}
		m.Items = append(m.Items, x)
	}
	m.Frame = web.Frame(c, views.SectionOperations)
	return web.RenderStatus(c, status, views.DisputesPage(m))
}

// disputeSet disputes each ticked effect alone and leads to the report.
func (s *site) disputeSet(c echo.Context) error {
	t, err := sentFiles(c)
	if err != nil {
		return err
	}
	v := web.VisitOf(c)
	picks := t.fields["pick"]
	switch {
	case t.ofAnother(v.User.ID):
		return web.ErrFormOfAnother
	case t.old(v.Now):
		t.wrong("", views.Sentence("settling.form_old"))
	case t.val("form_id") == "" || len(picks) == 0:
		t.wrong("", views.Sentence("dispute.pick"))
	case len(picks) > store.DisputeLimit:
		t.wrong("", views.Sentence("dispute.too_many", "Limit", store.DisputeLimit))
	}
	if t.text("evidence") == "" {
		t.wrong("evidence", views.Refused(operation.Refuse(operation.CodeEvidenceMissing)))
	} else if utf8.RuneCountInString(t.text("evidence")) > textLimit {
		t.wrong("evidence", views.Sentence(views.ErrorTooLong, "Limit", textLimit))
	}
	checkLinks(&t, "link")
	if len(t.errors) > 0 {
		return s.showDisputes(c, http.StatusUnprocessableEntity, t)
	}
	var list []store.DisputeOne
	for _, id := range picks {
		one := typed{fields: url.Values{"revision": {t.val("revision." + id)}}}
		list = append(list, store.DisputeOne{Operation: operation.ID(id), Revision: one.revision()})
	}
	with := store.DisputedWith{Evidence: t.text("evidence"), Link: t.text("link"), Files: t.attached("files").Evidence}
	err = s.Store.DisputeSet(c.Request().Context(), v.Actor(), t.val("form_id"), with, list)
	var invalid *store.Invalid
	if errors.As(err, &invalid) {
		if invalid.Field == "files" {
			t.wrong("files", views.Invalid(invalid.Code, invalid.Limit))
		} else {
			t.wrong("", views.Sentence("dispute.too_many", "Limit", invalid.Limit))
		}
		return s.showDisputes(c, http.StatusUnprocessableEntity, t)
	}
	if err != nil {
		return err
	}
	if err := web.DropKept(c); err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, views.PathDisputes+"/result?"+url.Values{"form": {t.val("form_id")}, "filters": {t.val("filters")}}.Encode())
}

// disputeResult reports what became of each operation of one's own set.
func (s *site) disputeResult(c echo.Context) error {
	rows, err := s.Store.ListTogetherResults(c.Request().Context(), web.VisitOf(c).Actor(), c.QueryParam("form"))
	if err != nil {
		return err
	}
	m := views.DisputeResultModel{Again: views.PathDisputes}
	if filters, err := url.ParseQuery(c.QueryParam("filters")); err == nil && len(filters) > 0 {
		m.Again += "?" + filterQuery(filters)
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
	m.Frame = web.Frame(c, views.SectionOperations)
	return web.Render(c, views.DisputeResultPage(m))
}
