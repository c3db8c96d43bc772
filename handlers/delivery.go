package handlers

import (
	"strings"

	"holdpoint/store"
	"holdpoint/views"
	"holdpoint/web"

	"github.com/labstack/echo/v4"
)

// deliveries lists receipts of notifications, refused ones and why.
func (s *site) deliveries(c echo.Context) error {
	v, q := web.VisitOf(c), c.QueryParams()
	result := views.DeliveryResult(q.Get("result"))
	list, err := s.Store.ListDeliveries(c.Request().Context(), v.Actor(), store.DeliveryFilter{Source: q.Get("source"), Verdict: verdictOf(result), Cursor: q.Get("after") + q.Get("before")})
	if err != nil {
		return err
	}
	m := views.DeliveriesModel{Pager: pagerOf(c, list.Prev, list.Next)}
	sources, err := s.Store.ListSources(c.Request().Context())
	if err != nil {
		return err
	}
	for _, x := range sources {
		m.Sources = append(m.Sources, views.Option{Value: x.Name, Label: x.Title.In(v.Printer().Lang), Selected: x.Name == q.Get("source")})
	}
	for _, r := range views.DeliveryResults {
		m.Results = append(m.Results, views.Option{Value: string(r), Selected: r == result})
	}
	n, err := s.names(c, "", whoDecided(list.Rows)...)
	if err != nil {
		return err
	}
	for _, r := range list.Rows {
		m.Rows = append(m.Rows, deliveryRow(r, n))
	}
	m.Frame = web.Frame(c, views.SectionDeliveries)
	return web.Render(c, views.DeliveriesPage(m))
}

// resultOf says what was done with a delivery.
func resultOf(v store.Verdict) views.DeliveryResult {
	switch v {
	case store.VerdictAccepted:
		return views.DeliveryRecorded
	case store.VerdictRepeated:
		return views.DeliveryRedelivery
	case store.VerdictHeld:
		return views.DeliveryHeld
	case store.VerdictConflict:
		return views.DeliveryConflict
	}
	return views.DeliveryRefused
}

func verdictOf(r views.DeliveryResult) store.Verdict {
	switch r {
	case views.DeliveryRecorded:
		return store.VerdictAccepted
	case views.DeliveryRedelivery:
		return store.VerdictRepeated
	case views.DeliveryHeld:
		return store.VerdictHeld
	case views.DeliveryConflict:
		return store.VerdictConflict
	case views.DeliveryRefused:
		return store.VerdictRefused
	}
	return ""
}

func deliveryRow(r store.DeliveryRow, n names) views.DeliveryRow {
	out := views.DeliveryRow{ID: r.ID, At: r.ReceivedAt, Source: r.Source, Topic: r.Topic, Key: r.DeliveryKey, EventKey: r.EventKey,
		Result: resultOf(r.Verdict), Detail: r.Reason, Status: r.Status}
	if code, detail, ok := strings.Cut(r.Reason, ": "); ok {
		out.Why, out.Detail = code, detail
	}
	switch r.Verdict {
	case store.VerdictConflict:
		out.Why, out.Detail = "conflict", ""
	case store.VerdictHeld:
		out.Detail = ""
		if h := r.Held; h != nil {
			out.URL, out.Twin, out.MayHeld, out.Decided = pathDelivery(r.ID), h.TwinKey, h.Open && h.Barred == nil, heldDecision(r.Decided, n)
		}
		if out.Decided == nil {
			out.Why = "held"
		}
	}
	if r.Run != "" {
		out.Run = &views.Link{Label: shortID(string(r.Run)), URL: pathRun(r.Run)}
	}
	return out
}
