package handlers

import (
	"errors"
	"net/http"
	"strconv"
	"strings"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/views"
	"holdpoint/web"

	"github.com/labstack/echo/v4"
)

// retentionRoutes are the terms of keeping.
func (s *site) retentionRoutes() []route {
	return []route{
		{get, views.PathRetention, readers, "", s.retention},
		{post, views.PathRetention, admins.again(), views.PathRetention, s.setRetention},
	}
}

// retention shows the terms and what they take away now; with ?preview=1 those that were
// typed, which are not saved.
func (s *site) retention(c echo.Context) error {
	t, again := kept(c)
	if !again && c.QueryParam("preview") != "" {
		t = typed{form: "retention", fields: c.QueryParams()}
	}
	return s.showRetention(c, http.StatusOK, t)
}

// typedDays reads the terms as they were typed; an empty one is for ever.
func (t *typed) typedDays() map[store.RetentionKind]int {
	days := map[store.RetentionKind]int{}
	for _, k := range store.RetentionKinds {
		text := strings.TrimSpace(t.val(string(k)))
		n, err := strconv.Atoi(text)
		if text != "" && (err != nil || n < store.RetentionMin || n > store.RetentionMax) {
			t.wrong(string(k), views.Invalid("retention_days", store.RetentionMin))
			continue
		}
		days[k] = n
	}
	return days
}

func (s *site) showRetention(c echo.Context, status int, t typed) error {
	v, ctx := web.VisitOf(c), c.Request().Context()
	m := views.RetentionModel{Preview: t.fields != nil}
	var days map[store.RetentionKind]int
	if m.Preview {
		days = t.typedDays()
	}
	rows, err := s.Store.FindRetention(ctx, v.Actor(), days)
	if err != nil {
		return err
	}
	for _, r := range rows {
		line := views.RetentionLine{Kind: string(r.Kind), By: r.ChangedBy, At: timeOr(r.ChangedAt), Days: r.Days, Operations: r.Preview.Operations, Oldest: timeOr(r.Preview.Oldest), Newest: timeOr(r.Preview.Newest)}
		if d, ok := days[r.Kind]; ok {
			line.Days = d
		}
		if r.Days > 0 {
			line.Typed = strconv.Itoa(r.Days)
		}
		line.Typed = t.or(string(r.Kind), line.Typed)
		for _, f := range r.Preview.Flows() {
			line.Flows = append(line.Flows, views.Link{Label: f, URL: pathFlow(f)})
		}
		m.Rows = append(m.Rows, line)
	}
	m.Form = newForm(t, views.PathRetention)
	if v.User == nil || !v.Has(operation.RoleAdmin) {
		m.Form.Barred = operation.Refuse(operation.CodeNotEntitled, "role", string(operation.RoleAdmin)).By(operation.Responsible{Role: operation.RoleAdmin})
	}
	m.Frame = web.Frame(c, "")
	return web.RenderStatus(c, status, views.RetentionPage(m))
}

// setRetention saves the terms that were shown with their preview.
func (s *site) setRetention(c echo.Context) error {
	t, err := sent(c)
	if err != nil {
		return err
	}
	days := t.typedDays()
	if len(t.errors) > 0 {
		return s.showRetention(c, http.StatusUnprocessableEntity, t)
	}
	err = s.Store.SetRetention(c.Request().Context(), web.VisitOf(c).Actor(), days)
	var no *store.Invalid
	if errors.As(err, &no) {
		t.wrong(no.Field, views.Invalid(no.Code, no.Limit))
		return s.showRetention(c, http.StatusUnprocessableEntity, t)
	}
	if err != nil {
		return err
	}
	return done(c, views.PathRetention, views.FlashRetention)
}
