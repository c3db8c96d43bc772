package handlers

import (
	"errors"
	"net/http"
	"strings"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/views"
	"holdpoint/web"

	"github.com/labstack/echo/v4"
)

// newsRoutes are the news whose operation is not known.
func (s *site) newsRoutes() []route {
	const item = views.PathNews + "/:id"
	return []route{
		{get, views.PathNews, signedIn, "", s.newsList},
		{get, item, signedIn, "", s.newsItem},
		{post, item + "/tie", owners, item, s.tieNews},
		{post, item + "/aside", stoppers, item, s.putNewsAside},
	}
}

func pathNews(id store.NewsID) string { return views.PathNews + "/" + string(id) }

// newsList lists what destinations told: first what waits for its operation.
func (s *site) newsList(c echo.Context) error {
	v, q := web.VisitOf(c), c.QueryParams()
	f := store.NewsFilter{State: store.NewsState(known(views.NewsStates, q.Get("state"))), Destination: q.Get("destination"), Kind: operation.NewsKind(q.Get("kind")),
		Search: strings.TrimSpace(q.Get("q")), Cursor: q.Get("after") + q.Get("before")}
	list, err := s.Store.ListNews(c.Request().Context(), v.Actor(), f)
	if err != nil {
		return err
	}
	choices, err := s.Store.FilterNames(c.Request().Context(), v.Actor())
	if err != nil {
		return err
	}
	m := views.NewsModel{Q: f.Search, Waiting: list.Waiting, More: list.Waiting >= store.CountedNews, Pager: pagerOf(c, list.Prev, list.Next),
		Active:       f.Destination != "" || f.Kind != "" || f.Search != "" || f.State != "" && f.State != store.NewsWaiting,
		Destinations: options(choices.Destinations, f.Destination, v.Printer())}
	for _, x := range views.NewsStates {
		m.States = append(m.States, views.Option{Value: x, Selected: x == string(f.State)})
	}
	for _, k := range operation.NewsKinds {
		m.Kinds = append(m.Kinds, views.Option{Value: string(k), Selected: k == f.Kind})
	}
	n, err := s.names(c, "", settledBy(list.Rows)...)
	if err != nil {
		return err
	}
	for _, r := range list.Rows {
		m.Rows = append(m.Rows, newsRow(r, n))
	}
	m.Frame = web.Frame(c, views.SectionDestinations)
	return web.Render(c, views.NewsPage(m))
}

func known(words []string, word string) string {
	for _, w := range words {
		if w == word {
			return w
		}
	}
	return ""
}

func settledBy(rows []store.NewsItem) []string {
	var ids []string
	for _, r := range rows {
		if r.SettledBy != "" {
			ids = append(ids, string(r.SettledBy))
		}
	}
	return ids
}

func newsRow(r store.NewsItem, n names) views.NewsRow {
	out := views.NewsRow{ID: string(r.ID), URL: pathNews(r.ID), Kind: r.Kind, Destination: r.Destination, Account: r.Account, Names: string(r.Names), Reference: r.Reference, Key: r.Key,
		ReceivedAt: r.ReceivedAt, Repeats: r.Repeats, State: string(r.State)}
	if r.HappenedAt != nil {
		out.At = *r.HappenedAt
	}
	if r.Operation != "" {
		out.Operation = &views.Link{Label: shortID(string(r.Operation)), URL: views.PathOperations + "/" + string(r.Operation)}
	}
	if r.SettledBy != "" && r.SettledAt != nil {
		out.Settled = &views.NewsSettled{Who: n.person(string(r.SettledBy)), At: *r.SettledAt, Reason: r.Reason}
	}
	return out
}

func (s *site) newsItem(c echo.Context) error {
	t, _ := kept(c)
	return s.showNews(c, http.StatusOK, t)
}

func (s *site) showNews(c echo.Context, status int, t typed) error {
	v := web.VisitOf(c)
	item, err := s.Store.FindNews(c.Request().Context(), v.Actor(), store.NewsID(c.Param("id")))
	if err != nil {
		return err
	}
	n, err := s.names(c, "", settledBy([]store.NewsItem{*item})...)
	if err != nil {
		return err
	}
	m := views.NewsPageModel{NewsRow: newsRow(*item, n), Body: item.Body, Why: newsWhy(item.Why)}
	if item.State != store.NewsTied && v.Has(owners.roles...) {
		form := t.of("tie")
		m.Tie = &views.NewsTieForm{Form: newForm(form, pathNews(item.ID)+"/tie"), Operation: form.val("operation"), Reason: form.val("reason")}
		if m.Tie.Operation == "" {
			m.Tie.Operation = string(item.Names)
		}
	}
	if item.State == store.NewsWaiting && v.Has(stoppers.roles...) {
		form := t.of("aside")
		m.Aside = &views.ReasonForm{Form: newForm(form, pathNews(item.ID)+"/aside"), Reason: form.val("reason")}
	}
	m.Frame = web.Frame(c, views.SectionDestinations)
	return web.RenderStatus(c, status, views.NewsItemPage(m))
}

func newsWhy(code string) views.Say {
	switch code {
	case "":
		return views.Say{}
	case "not_found":
		return views.Sentence("news.why.not_found")
	}
	return views.Sentence("news.why.refused")
}

// tieNews ties news to the operation that a person names.
func (s *site) tieNews(c echo.Context) error {
	t, err := sent(c)
	if err != nil {
		return err
	}
	ctx, a, id := c.Request().Context(), web.VisitOf(c).Actor(), store.NewsID(c.Param("id"))
	if _, err := s.Store.FindNews(ctx, a, id); err != nil {
		return err
	}
	op := operation.FindID(t.text("operation"))
	err = s.Store.TieNewsByHand(ctx, a, id, op, t.val("form_id"), t.text("reason"))
	if errors.Is(err, store.ErrNotFound) {
		t.wrong("operation", views.Sentence("news.unknown_operation"))
		return s.showNews(c, http.StatusUnprocessableEntity, t)
	}
	return s.newsDecided(c, t, err, views.FlashNewsTied)
}

// putNewsAside ends the waiting of news that belongs to no operation here.
func (s *site) putNewsAside(c echo.Context) error {
	t, err := sent(c)
	if err != nil {
		return err
	}
	ctx, a, id := c.Request().Context(), web.VisitOf(c).Actor(), store.NewsID(c.Param("id"))
	if _, err := s.Store.FindNews(ctx, a, id); err != nil {
		return err
	}
	return s.newsDecided(c, t, s.Store.PutNewsAside(ctx, a, id, t.val("form_id"), t.text("reason")), views.FlashNewsAside)
}

func (s *site) newsDecided(c echo.Context, t typed, err error, flash string) error {
	page := pathNews(store.NewsID(c.Param("id")))
	if err == nil {
		return done(c, page, flash)
	}
	r := refusalOf(err)
	switch {
	case r == nil:
		return err
	case r.Code == operation.CodeAlreadyDecided:
		return calm(c, page, views.FlashNewsDecided)
	case r.Code == operation.CodeReasonMissing:
		t.wrong("reason", views.Refused(r))
	default:
		t.wrong("", views.Refused(r))
	}
	return s.showNews(c, http.StatusUnprocessableEntity, t)
}

// newsSteps is what the destination told about an operation.
func (s *site) newsSteps(c echo.Context, id operation.ID) ([]views.NewsStep, error) {
	rows, err := s.Store.NewsOf(c.Request().Context(), id)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	n, err := s.names(c, "", settledBy(rows)...)
	if err != nil {
		return nil, err
	}
	var out []views.NewsStep
	for _, r := range rows {
		step := views.NewsStep{Kind: r.Kind, At: r.ReceivedAt, Received: r.ReceivedAt, Reference: r.Reference, Repeats: r.Repeats}
		if r.HappenedAt != nil {
			step.At = *r.HappenedAt
		}
		if u := safeURL(r.URL); u != "" {
			step.Link = &views.Link{Label: r.Reference, URL: u}
		}
		if r.SettledBy != "" {
			step.By = n.person(string(r.SettledBy))
		}
		out = append(out, step)
	}
	return out, nil
}

// callbackCard says how a destination's callbacks come in.
func (s *site) callbackCard(c echo.Context, d store.DestinationItem) (views.CallbackCard, error) {
	rules := d.Profile.Callbacks
	if rules == nil {
		return views.CallbackCard{}, nil
	}
	h, err := s.Store.FindCallbackHealth(c.Request().Context(), d.Name)
	if err != nil {
		return views.CallbackCard{}, err
	}
	m := views.CallbackCard{Address: web.Address(c, "/cb/"+d.Name), Scheme: string(rules.Rule.Scheme), Last: h.Last, Waiting: h.Waiting, NewsURL: views.PathNews + "?destination=" + d.Name}
	for _, r := range h.Refused {
		x := views.CallbackRefusal{At: r.At, Code: r.Code, Status: r.Status}
		if r.Code == "entry" || r.Code == "items" || r.Code == "syntax" {
			x.Detail = r.Detail
		}
		if r.SkewMillis != nil {
			x.Skew = time.Duration(max(*r.SkewMillis, -*r.SkewMillis)) * time.Millisecond
		}
		m.Refused = append(m.Refused, x)
	}
	return m, nil
}
