package handlers

import (
	"errors"
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
	f := store.DeliveryFilter{Source: q.Get("source"), Verdict: verdictOf(result), Search: strings.TrimSpace(q.Get("q")), Cursor: q.Get("after") + q.Get("before"),
		From: day0(q.Get("from"), 0, v), To: day0(q.Get("to"), 1, v)}
	list, err := s.Store.ListDeliveries(c.Request().Context(), v.Actor(), f)
	if err != nil {
		return err
	}
	m := views.DeliveriesModel{Pager: pagerOf(c, list.Prev, list.Next), Q: f.Search, From: dayText(f.From, 0, v), To: dayText(f.To, -1, v)}
	m.Active = f.Source != "" || f.Verdict != "" || f.Search != "" || !f.From.IsZero() || !f.To.IsZero()
	sources, err := s.Store.SourceNames(c.Request().Context())
	if err != nil {
		return err
	}
	m.Sources = options(sources, f.Source, v.Printer())
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
	if err := s.titleDeliveries(c, m.Rows); err != nil {
		return err
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
	case store.VerdictIgnored:
		return views.DeliveryIgnored
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
	case views.DeliveryIgnored:
		return store.VerdictIgnored
	}
	return ""
}

func deliveryRow(r store.DeliveryRow, n names) views.DeliveryRow {
	out := views.DeliveryRow{ID: r.ID, At: r.ReceivedAt, Source: r.Source, Topic: r.Topic, Key: r.DeliveryKey, EventKey: r.EventKey,
		Result: resultOf(r.Verdict), Detail: r.Reason, Status: r.Status, ErasedAt: timeOr(r.ErasedAt)}
	if code, detail, ok := strings.Cut(r.Reason, ": "); ok {
		if out.Why = code; views.ShowsDetail(code) {
			out.Detail = detail
		} else {
			out.Detail = ""
		}
	}
	switch r.Verdict {
	case store.VerdictRepeated:
		out.Why, out.Detail = repeatedWhy[r.Reason], ""
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

// repeatedWhy gives the word for why a delivery started nothing.
var repeatedWhy = map[string]string{store.RunKnown: "run_known", store.Discarded: "discarded"}

// titleDeliveries names sources, and the flows that clients of the job API start, as
// people know them.
func (s *site) titleDeliveries(c echo.Context, rows []views.DeliveryRow) error {
	titles, err := s.sourceTitles(c)
	if err != nil {
		return err
	}
	p, flows := web.VisitOf(c).Printer(), map[string]string{}
	for i, r := range rows {
		if r.Source == store.JobSource && r.Topic != "" {
			if _, ok := flows[r.Topic]; !ok {
				if flows[r.Topic], err = s.flowTitle(c, r.Topic, p.Lang); err != nil {
					return err
				}
			}
			rows[i].Topic = flows[r.Topic]
		}
		if x := titles[r.Source]; x != "" {
			rows[i].Source = x
		}
	}
	return nil
}

// sourceTitles gives the sources' titles by name.
func (s *site) sourceTitles(c echo.Context) (map[string]string, error) {
	list, err := s.Store.SourceNames(c.Request().Context())
	titles := map[string]string{}
	for _, n := range list {
		titles[n.Name] = namedTitle(n, web.VisitOf(c).Printer())
	}
	return titles, err
}

// flowTitle is a flow's title, or its name where no such flow is applied any more.
func (s *site) flowTitle(c echo.Context, name, lang string) (string, error) {
	f, _, err := s.Store.Flow(c.Request().Context(), name)
	if errors.Is(err, store.ErrNotFound) {
		return name, nil
	}
	if err != nil {
		return "", err
	}
	return titled(f.Title, lang, name), nil
}
