package handlers

import (
	"errors"
	"net/http"
	"net/url"
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
		{post, "/operations/:id/erase", admins.again(), "/operations/:id", s.about(s.erase)},
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
		if text != "" && (err != nil || n < k.Min() || n > store.RetentionMax) {
			t.wrong(string(k), views.Invalid("retention_days", k.Min()))
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
	titles, err := s.Store.FilterNames(ctx, v.Actor())
	if err != nil {
		return err
	}
	for _, r := range rows {
		line := views.RetentionLine{Kind: string(r.Kind), By: r.ChangedBy, At: timeOr(r.ChangedAt), Days: r.Days, Operations: r.Preview.Operations, Batches: r.Preview.Batches,
			Deliveries: r.Preview.Deliveries, Events: r.Preview.Events, Oldest: timeOr(r.Preview.Oldest), Newest: timeOr(r.Preview.Newest)}
		if d, ok := days[r.Kind]; ok {
			line.Days = d
		}
		if h := r.History; h != nil {
			line.History = &views.RetentionHistory{First: int(h.First), Entries: h.Entries, Open: h.Open, Never: h.Never, More: h.More}
			for _, m := range h.Months {
				line.History.Months = append(line.History.Months, views.RetentionMonth{Month: m.Month, Entries: m.Entries})
			}
		}
		if r.Days > 0 {
			line.Typed = strconv.Itoa(r.Days)
		}
		line.Typed = t.or(string(r.Kind), line.Typed)
		for _, name := range r.Preview.Names() {
			of := views.Link{Label: placeTitles([]string{name}, titles.Flows, v.Printer())[0], URL: pathFlow(name)}
			if r.Kind == store.RetainDeliveries {
				of.Label = placeTitles([]string{name}, titles.Sources, v.Printer())[0]
				of.URL = views.PathDeliveries + "?source=" + url.QueryEscape(name)
			}
			line.Of = append(line.Of, of)
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

// erase takes the bodies of one closed operation away.
func (s *site) erase(c echo.Context, at *operationAt, t typed) error {
	if !t.yes("confirm") {
		t.wrong("confirm", views.Sentence(views.ErrorConfirm))
		return s.showAgain(c, at.p, t)
	}
	went, err := s.Store.EraseOperation(at.ctx, at.actor, at.p.ID, t.text("reason"))
	if err != nil {
		return s.answer(c, at.p, t, err, "")
	}
	if len(went) == 0 {
		return calm(c, backFrom(at.p, t), "keeping.nothing_left")
	}
	p := web.VisitOf(c).Printer()
	var words []string
	for _, kind := range went {
		words = append(words, p.T("retention.kind."+string(kind)))
	}
	return s.answer(c, at.p, t, nil, views.FlashErased, "What", strings.Join(words, p.T("list.join")))
}

// erase offers to take the bodies away to whoever administers, once the operation is
// closed, nothing about it is open and there is something left.
func (b panelOf) erase() *views.ReasonForm {
	if b.p.MayErase() != nil || !b.n.viewer.Has(operation.RoleAdmin) {
		return nil
	}
	kinds := b.p.Bodies()
	if len(kinds) == 0 {
		return nil
	}
	form, t := b.form("erase")
	out := &views.ReasonForm{Form: form, Reason: t.val("reason"), Confirm: true}
	for _, kind := range kinds {
		out.Effects = append(out.Effects, "keeping.goes."+string(kind))
	}
	out.Effects = append(out.Effects, "keeping.stays")
	return out
}

// erasureOf says when, by whom and why the bodies of a kind went; nil = they did not.
func erasureOf(p *store.OperationPage, n names, kind store.RetentionKind) *views.Erasure {
	for _, e := range p.Erasures {
		if e.Kind == kind {
			return &views.Erasure{At: e.At, By: n.person(e.ActorID), Command: e.ActorID == "command", Reason: e.Reason, Days: e.Days}
		}
	}
	return nil
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
