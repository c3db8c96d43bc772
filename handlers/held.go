package handlers

import (
	"context"
	"net/http"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/views"
	"holdpoint/web"

	"github.com/labstack/echo/v4"
)

// whoDecided lists who decided about the possible duplicates among some deliveries.
func whoDecided(rows []store.DeliveryRow) []string {
	var ids []string
	for _, r := range rows {
		if r.Decided != nil {
			ids = append(ids, string(r.Decided.By))
		}
	}
	return ids
}

func heldDecision(d *store.HeldDecision, n names) *views.HeldDecision {
	if d == nil {
		return nil
	}
	return &views.HeldDecision{Released: d.Decision == store.HeldRelease, Who: n.person(string(d.By)), At: d.At, Reason: d.Reason}
}

// delivery shows one delivery; a possible duplicate is decided there.
func (s *site) delivery(c echo.Context) error {
	t, _ := kept(c)
	return s.showDelivery(c, http.StatusOK, t)
}

func (s *site) showDelivery(c echo.Context, status int, t typed) error {
	p, err := s.Store.FindDelivery(c.Request().Context(), web.VisitOf(c).Actor(), operation.DeliveryID(c.Param("id")))
	if err != nil {
		return err
	}
	if err := s.look(c, store.Look{Flow: p.Flow, Delivery: p.ID}); err != nil {
		return err
	}
	n, err := s.names(c, "", whoDecided(p.Same)...)
	if err != nil {
		return err
	}
	m := views.DeliveryModel{Row: deliveryRow(p.DeliveryRow, n)}
	for _, r := range p.Same {
		row := deliveryRow(r, n)
		row.URL = "" // this is its page
		m.Same = append(m.Same, row)
	}
	if err := s.titleDeliveries(c, m.Same); err != nil {
		return err
	}
	if p.Event != "" {
		m.Event = &views.EventSide{Key: p.EventKey, At: p.Same[len(p.Same)-1].ReceivedAt, Run: m.Row.Run, Fields: fieldsOf(p.Data)}
	}
	if p.Held != nil {
		m.Held = heldView(p, n, lang(c), t)
	}
	m.Frame = web.Frame(c, views.SectionDeliveries)
	return web.RenderStatus(c, status, views.DeliveryPage(m))
}

func heldView(p *store.DeliveryPage, n names, lang string, t typed) *views.HeldView {
	h := p.Held
	v := &views.HeldView{BusinessKey: h.Business, Decided: heldDecision(p.Decided, n), Barred: h.Barred,
		Twin: views.EventSide{Key: h.TwinKey, At: h.TwinAt, Fields: fieldsOf(p.TwinData)}}
	if h.TwinRun != "" {
		v.Twin.Run = &views.Link{Label: shortID(string(h.TwinRun)), URL: pathRun(h.TwinRun)}
	}
	v.Flows = flowTitles(*h, lang)
	if h.Open && h.Barred == nil {
		v.Release, v.Discard = heldForm(p.ID, "release", t), heldForm(p.ID, "discard", t)
	}
	return v
}

func heldForm(id operation.DeliveryID, name string, t typed) *views.ReasonForm {
	return &views.ReasonForm{Form: newForm(t.of(name), pathDelivery(id)+"/"+name), Reason: t.of(name).val("reason")}
}

func flowTitles(h store.HeldEvent, lang string) []string {
	var out []string
	for _, f := range h.Flows {
		out = append(out, titled(f.Title, lang, f.Name))
	}
	return out
}

// heldRow is a possible duplicate as the inbox shows it.
func heldRow(h store.HeldEvent, lang string) views.HeldRow {
	return views.HeldRow{ID: h.Event, URL: pathDelivery(h.Delivery), Flows: flowTitles(h, lang), Source: h.Source, Key: h.Business, TwinKey: h.TwinKey, Since: h.HeldAt}
}

// release lets a possible duplicate start what it would have started.
func (s *site) release(c echo.Context) error {
	return s.decideHeld(c, func(ctx context.Context, a store.Actor, id operation.DeliveryID, form, reason string) error {
		_, err := s.Store.ReleaseHeld(ctx, a, id, form, reason)
		return err
	}, views.FlashReleased)
}

// discard records that it is a duplicate.
func (s *site) discard(c echo.Context) error {
	return s.decideHeld(c, s.Store.DiscardHeld, views.FlashDiscarded)
}

func (s *site) decideHeld(c echo.Context, verb func(context.Context, store.Actor, operation.DeliveryID, string, string) error, flash string) error {
	t, err := sent(c)
	if err != nil {
		return err
	}
	if t.tooLong() {
		return s.showDelivery(c, http.StatusUnprocessableEntity, t)
	}
	ctx, a, id := c.Request().Context(), web.VisitOf(c).Actor(), operation.DeliveryID(c.Param("id"))
	// one that this person may not know of is not found, like a missing one
	if _, err := s.Store.FindDelivery(ctx, a, id); err != nil {
		return err
	}
	err = verb(ctx, a, id, t.val("form_id"), t.text("reason"))
	if err == nil {
		return done(c, pathDelivery(id), flash)
	}
	r := refusalOf(err)
	switch {
	case r == nil:
		return err
	case r.Code == operation.CodeAlreadyDecided:
		return calm(c, pathDelivery(id), views.FlashHeldDecided)
	case r.Code == operation.CodeReasonMissing:
		t.wrong("reason", views.Refused(r))
	case r.Code == operation.CodeContentMissing:
		t.wrong("", views.Sentence("held.cannot_start"))
	default:
		return err
	}
	return s.showDelivery(c, http.StatusUnprocessableEntity, t)
}
