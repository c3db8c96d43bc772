package handlers

import (
	"encoding/csv"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/views"
	"holdpoint/web"

	"github.com/labstack/echo/v4"
)

// suppressionRoutes are the suppression list.
func (s *site) suppressionRoutes() []route {
	const list = views.PathSuppressions
	const file, one = list + "/imports/:id", list + "/:id"
	return []route{
		{get, list, signedIn, "", s.suppressions},
		{get, list + "/export.csv", signedIn, "", s.exportSuppressions},
		{post, list + "/add", writers, list, s.addSuppression},
		{post, list + "/import", writers, list, s.uploadSuppressions},
		{get, file, writers, "", s.suppressionFile},
		{post, file + "/begin", writers, file, s.importSuppressions},
		{post, file + "/drop", writers, file, s.dropSuppressions},
		{get, one, signedIn, "", s.suppression},
		{post, one + "/lift", stoppers, one, s.liftSuppression},
	}
}

func pathSuppression(id store.SuppressionID) string {
	return views.PathSuppressions + "/" + string(id)
}

func (s *site) suppressions(c echo.Context) error {
	t, _ := kept(c)
	return s.showSuppressions(c, http.StatusOK, t)
}

func suppressionFilter(q url.Values) store.SuppressionFilter {
	f := store.SuppressionFilter{Search: q.Get("q"), Reason: operation.SuppressionReason(q.Get("reason")), Lifted: q.Get("lifted") == "yes", Cursor: q.Get("after") + q.Get("before")}
	_, f.Channel = chosenChannel(q.Get("channel"))
	return f
}

// suppressionQuery gives the filters alone, for the address of the file.
func suppressionQuery(q url.Values) string {
	out := url.Values{}
	for _, name := range []string{"q", "reason", "channel", "lifted"} {
		if x := q.Get(name); x != "" {
			out.Set(name, x)
		}
	}
	return out.Encode()
}

// chosenChannel reads what a choice of the channel says: "effect:email", "destination:mail",
// or nothing for everything.
func chosenChannel(value string) (operation.SuppressionScope, string) {
	scope, name, ok := strings.Cut(value, ":")
	if !ok {
		return operation.SuppressAll, ""
	}
	return operation.SuppressionScope(scope), name
}

func (s *site) showSuppressions(c echo.Context, status int, t typed) error {
	v, ctx, q := web.VisitOf(c), c.Request().Context(), c.QueryParams()
	f := suppressionFilter(q)
	l, err := s.Store.ListSuppressions(ctx, v.Actor(), f)
	if err != nil {
		return err
	}
	names, err := s.channelNames(c, l.Effects, l.Places)
	if err != nil {
		return err
	}
	m := views.SuppressionsModel{Q: f.Search, Reasons: pick(operation.SuppressionReasons, f.Reason), Channels: names.options(q.Get("channel")), Lifted: f.Lifted,
		Active: f.Search != "" || f.Reason.Valid() || f.Channel != "" || f.Lifted, Pager: pagerOf(c, l.Prev, l.Next), Rows100k: store.MaxSuppressions, MiB: store.MaxSuppressionFile >> 20}
	for _, r := range l.Rows {
		m.Rows = append(m.Rows, names.line(r, l.Now))
	}
	m.ExportURL = views.PathSuppressions + "/export.csv"
	if x := suppressionQuery(q); x != "" {
		m.ExportURL += "?" + x
	}
	who, err := s.Store.FindViewer(ctx, v.Actor())
	if err != nil {
		return err
	}
	if store.MayAddSuppression(who) {
		add, up := t.of("add"), shownTo(newForm(t.of("import"), views.PathSuppressions+"/import"), v.User.ID)
		reason := operation.SuppressionReason(add.or("reason", string(operation.SuppressedUnsubscribed)))
		m.Add = &views.SuppressionForm{Form: shownTo(newForm(add, views.PathSuppressions+"/add"), v.User.ID), Address: add.val("address"), Note: add.val("note"), Until: add.val("until"),
			Reasons: pick(operation.SuppressionReasons, reason), Channels: names.options(add.val("channel"))}
		m.Upload = &up
	}
	m.Frame = web.Frame(c, views.SectionOperations)
	return web.RenderStatus(c, status, views.SuppressionsPage(m))
}

// channelNames says in words what suppressions cover.
type channelNames struct {
	effects, places []string
	titles          map[string]string // "effect:email" → what people read
}

func (s *site) channelNames(c echo.Context, effects, places []string) (*channelNames, error) {
	p := web.VisitOf(c).Printer()
	n := &channelNames{effects: effects, places: places, titles: map[string]string{}}
	for _, e := range effects {
		n.titles["effect:"+e] = p.T("suppression.scope.effect", "Name", views.EffectText(p, e))
	}
	for _, d := range places {
		title, err := s.destinationTitle(c, d)
		if err != nil {
			return nil, err
		}
		n.titles["destination:"+d] = p.T("suppression.scope.destination", "Name", title)
	}
	return n, nil
}

func (s *site) destinationTitle(c echo.Context, name string) (string, error) {
	d, err := s.Store.FindDestination(c.Request().Context(), name)
	if errors.Is(err, store.ErrNotFound) {
		return name, nil
	}
	if err != nil {
		return "", err
	}
	return titled(d.Profile.Title, lang(c), name), nil
}

func (n *channelNames) options(selected string) []views.Option {
	var out []views.Option
	add := func(kind string, names []string) {
		for _, x := range names {
			value := kind + ":" + x
			out = append(out, views.Option{Value: value, Label: n.titles[value], Selected: value == selected})
		}
	}
	add("effect", n.effects)
	add("destination", n.places)
	return out
}

func (n *channelNames) line(r store.Suppression, now time.Time) views.SuppressionLine {
	l := views.SuppressionLine{ID: string(r.ID), URL: pathSuppression(r.ID), Address: r.Address, Reason: r.Reason, Scope: r.Scope, Note: r.Note, Since: r.Since, Until: timeOf(r.Until),
		Source: r.Source, By: r.AddedName, LiftedAt: timeOf(r.LiftedAt), LiftedBy: r.LiftName, LiftedWhy: r.LiftedWhy, Over: r.Until != nil && !r.Until.After(now)}
	if r.Channel != "" {
		if l.Channel = n.titles[string(r.Scope)+":"+r.Channel]; l.Channel == "" {
			l.Channel = r.Channel
		}
	}
	if r.Operation != "" {
		l.Operation = &views.Link{Label: shortID(string(r.Operation)), URL: pathOperation(r.Operation)}
	}
	return l
}

// addSuppression puts one address on the list.
func (s *site) addSuppression(c echo.Context) error {
	t, err := sent(c)
	if err != nil {
		return err
	}
	v := web.VisitOf(c)
	if t.ofAnother(v.User.ID) {
		return web.ErrFormOfAnother
	}
	scope, channel := chosenChannel(t.val("channel"))
	n := store.NewSuppression{Address: t.text("address"), Scope: scope, Channel: channel, Reason: operation.SuppressionReason(t.val("reason")), Note: t.text("note"), Until: localTime(c, &t, "until")}
	if len(t.errors) > 0 {
		return s.showSuppressions(c, http.StatusUnprocessableEntity, t)
	}
	got, err := s.Store.AddSuppressions(c.Request().Context(), v.Actor(), store.Suppressing{FormID: t.val("form_id"), Note: n.Note}, []store.NewSuppression{n})
	switch {
	case err == nil && got.Added+got.Extended == 0:
		return calm(c, views.PathSuppressions, "flash.suppression_known")
	case err == nil:
		return done(c, views.PathSuppressions, "flash.suppression_added")
	case !wrongOf(&t, err):
		return err
	}
	return s.showSuppressions(c, http.StatusUnprocessableEntity, t)
}

func (s *site) suppression(c echo.Context) error {
	t, _ := kept(c)
	return s.showSuppression(c, http.StatusOK, t)
}

func (s *site) showSuppression(c echo.Context, status int, t typed) error {
	v, ctx := web.VisitOf(c), c.Request().Context()
	if !operation.ValidID("sup", c.Param("id")) {
		return store.ErrNotFound
	}
	r, err := s.Store.FindSuppression(ctx, v.Actor(), store.SuppressionID(c.Param("id")))
	if err != nil {
		return err
	}
	var effects, places []string
	switch r.Scope {
	case operation.SuppressEffect:
		effects = []string{r.Channel}
	case operation.SuppressDestination:
		places = []string{r.Channel}
	}
	names, err := s.channelNames(c, effects, places)
	if err != nil {
		return err
	}
	m := views.SuppressionModel{SuppressionLine: names.line(r, v.Now), Reason: t.val("reason")}
	who, err := s.Store.FindViewer(ctx, v.Actor())
	if err != nil {
		return err
	}
	if store.MayLiftSuppression(who) && r.LiftedAt == nil {
		f := shownTo(newForm(t, pathSuppression(r.ID)+"/lift"), v.User.ID)
		f.Revision = r.Revision
		m.Lift = &f
	}
	m.Frame = web.Frame(c, views.SectionOperations)
	return web.RenderStatus(c, status, views.SuppressionPage(m))
}

// liftSuppression takes an address off the list.
func (s *site) liftSuppression(c echo.Context) error {
	t, err := sent(c)
	if err != nil {
		return err
	}
	v := web.VisitOf(c)
	if t.ofAnother(v.User.ID) {
		return web.ErrFormOfAnother
	}
	if t.tooLong() {
		return s.showSuppression(c, http.StatusUnprocessableEntity, t)
	}
	if t.text("reason") == "" {
		t.wrong("reason", views.Sentence(views.ErrorRequired))
		return s.showSuppression(c, http.StatusUnprocessableEntity, t)
	}
	id := store.SuppressionID(c.Param("id"))
	err = s.Store.LiftSuppression(c.Request().Context(), v.Actor(), id, t.revision(), t.val("form_id"), t.text("reason"))
	switch {
	case err == nil:
		return done(c, pathSuppression(id), "flash.suppression_lifted")
	case errors.Is(err, store.ErrChanged):
		t.wrong("", views.Sentence("starting.stale"))
		return s.showSuppression(c, http.StatusConflict, t)
	case !wrongOf(&t, err):
		return err
	}
	return s.showSuppression(c, http.StatusUnprocessableEntity, t)
}

// suppressionColumns are the columns of the list as a file. They are stable.
var suppressionColumns = []string{"id", "address", "scope", "channel", "reason", "note", "since", "until", "source", "operation_id", "added_by", "added", "lifted", "lifted_by", "lifted_why"}

// exportSuppressions writes the filtered list as CSV. The export is recorded.
func (s *site) exportSuppressions(c echo.Context) error {
	v, q := web.VisitOf(c), c.QueryParams()
	return s.exporting(c, store.Export{What: "suppressions", Format: "csv", Filter: suppressionQuery(q)}, func(o *outgoing) error {
		w := csv.NewWriter(o)
		begin := func() error {
			if c.Response().Committed {
				return nil
			}
			fileHead(c, "text/csv; charset=utf-8; header=present", "suppressions", ".csv")
			if _, err := o.Write([]byte(byteOrderMark)); err != nil {
				return err
			}
			return w.Write(suppressionColumns)
		}
		err := s.Store.EachSuppression(c.Request().Context(), v.Actor(), suppressionFilter(q), func(r store.Suppression) error {
			o.rows++
			row := []string{string(r.ID), r.Address, string(r.Scope), r.Channel, string(r.Reason), r.Note, isoTime(r.Since), isoTime(timeOf(r.Until)), r.Source, string(r.Operation), r.AddedName,
				isoTime(r.CreatedAt), isoTime(timeOf(r.LiftedAt)), r.LiftName, r.LiftedWhy}
			for i, cell := range row {
				row[i] = guarded(cell)
			}
			return errors.Join(begin(), w.Write(row))
		})
		if err == nil {
			err = begin()
		}
		w.Flush()
		return errors.Join(err, w.Error())
	})
}
