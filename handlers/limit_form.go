package handlers

import (
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/views"
	"holdpoint/web"

	"github.com/labstack/echo/v4"
)

func (s *site) newLimit(c echo.Context) error {
	t, _ := kept(c)
	return s.showLimitForm(c, http.StatusOK, nil, t.of("set"))
}

func (s *site) changeLimitPage(c echo.Context) error {
	p, err := s.limitToChange(c)
	if err != nil {
		return err
	}
	t, _ := kept(c)
	return s.showLimitForm(c, http.StatusOK, p, t.of("change"))
}

// limitToChange reads the limit of the address, for whoever may change it.
func (s *site) limitToChange(c echo.Context) (*store.LimitPage, error) {
	p, err := s.Store.FindLimit(c.Request().Context(), web.VisitOf(c).Actor(), operation.LimitID(c.Param("id")))
	switch {
	case err != nil:
		return nil, err
	case !p.May:
		return nil, operation.Refuse(operation.CodeNotEntitled, "role", string(operation.RoleOpsOwner)).By(operation.Responsible{Role: operation.RoleOpsOwner})
	}
	return &p, nil
}

// firstLimit is what the form of a new limit proposes.
var firstLimit = store.LimitSettings{Figure: operation.FigureUnresolved, Side: operation.LimitOver, Value: 5, Least: 20, HoldMinutes: 15, RemindHours: 24, AgainHours: 168, DueDays: 14,
	TellRoles: []operation.Role{operation.RoleOpsOwner}}

// showLimitForm draws the form; p is the limit that is changed, nil = a new one.
func (s *site) showLimitForm(c echo.Context, status int, p *store.LimitPage, t typed) error {
	v, ctx := web.VisitOf(c), c.Request().Context()
	names, err := s.Store.FilterNames(ctx, v.Actor())
	if err != nil {
		return err
	}
	who, err := s.Store.FindViewer(ctx, v.Actor())
	if err != nil {
		return err
	}
	l, m := firstLimit, views.LimitFormModel{New: true, Form: newForm(t, views.PathLimits+"/new/set"), BackURL: views.PathLimits}
	flows, all := flowsToLimit(who, names.Flows)
	if p != nil {
		l, m.New, m.Version, m.BackURL = p.LimitSettings, false, p.Version, pathLimit(p.ID)
		m.Form, m.FlowTitle = newForm(t, pathLimit(p.ID)+"/change"), titleAmong(names.Flows, p.Flow, lang(c))
	} else if figure := operation.Figure(c.QueryParam("figure")); figure.Valid() {
		l.Figure, l.Flow, l.Destination = figure, c.QueryParam("flow"), c.QueryParam("destination")
		if l.Figure.Kind() != operation.KindLevel {
			l.SpanHours = 24
		}
	}
	kind := l.Figure.Kind()
	num := func(field string, n int64) string { return t.or(field, strconv.FormatInt(n, 10)) }
	m.Figures = pick(operation.Figures, operation.Figure(t.or("figure", string(l.Figure))))
	m.Flows, m.OneFlow = options(flows, t.or("flow", l.Flow), v.Printer()), !all
	m.Destinations = options(names.Destinations, t.or("destination", l.Destination), v.Printer())
	m.Sources = options(names.Sources, t.or("source", l.Source), v.Printer())
	m.Sides = pick([]operation.LimitSide{operation.LimitOver, operation.LimitUnder}, operation.LimitSide(t.or("side", string(l.Side))))
	m.Value, m.Margin = t.or("value", amountText(kind, l.Value)), t.or("margin", amountText(kind, l.Margin))
	span := strconv.Itoa(l.SpanHours)
	if !slices.Contains(store.LimitSpans, l.SpanHours) {
		span, m.Hours = "hours", span
	}
	m.Hours = t.or("hours", m.Hours)
	m.Spans = pick([]string{"0", "24", "168", "720", "hours"}, t.or("span", span))
	m.Least, m.Hold, m.Remind = num("least", l.Least), num("hold", int64(l.HoldMinutes)), num("remind", int64(l.RemindHours))
	m.Again, m.Due = num("again", int64(l.AgainHours/24)), num("due", int64(l.DueDays))
	m.Note, m.Reason, m.Owner = t.or("note", l.Note), t.val("reason"), l.TellOwner
	roles, users := l.TellRoles, l.TellUsers
	if t.fields != nil {
		m.Owner, roles, users = t.yes("owner"), listOf[operation.Role](t, "role"), listOf[operation.UserID](t, "user")
	}
	for _, r := range operation.Roles {
		m.Roles = append(m.Roles, views.Option{Value: string(r), Selected: slices.Contains(roles, r)})
	}
	for _, x := range names.People {
		m.People = append(m.People, views.Option{Value: string(x.ID), Label: x.Name, Selected: slices.Contains(users, x.ID)})
	}
	m.Frame = web.Frame(c, sectionFigures)
	return web.RenderStatus(c, status, views.LimitFormPage(m))
}

// pick makes options that the catalogue names.
func pick[T ~string](list []T, selected T) []views.Option {
	out := make([]views.Option, len(list))
	for i, x := range list {
		out[i] = views.Option{Value: string(x), Selected: x == selected}
	}
	return out
}

// listOf gives the values of a field that may stand several times.
func listOf[T ~string](t typed, name string) []T {
	var out []T
	for _, x := range t.fields[name] {
		if x != "" && !slices.Contains(out, T(x)) {
			out = append(out, T(x))
		}
	}
	return out
}

// amountText writes a stored amount as the form shows it: percent, minutes, or a number.
func amountText(kind operation.FigureKind, v int64) string {
	switch kind {
	case operation.KindRate:
		return strconv.FormatFloat(float64(v)/100, 'f', -1, 64)
	case operation.KindDuration:
		return strconv.FormatFloat(math.Round(float64(v)/60*100)/100, 'f', -1, 64)
	}
	return strconv.FormatInt(v, 10)
}

// amountOf reads an amount as people write it, with a point or a comma.
func amountOf(kind operation.FigureKind, text string) (int64, bool) {
	text = strings.TrimSuffix(strings.ReplaceAll(strings.TrimSpace(text), ",", "."), "%")
	f, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || math.IsNaN(f) || f < 0 || f > 1e9 {
		return 0, false
	}
	switch kind {
	case operation.KindRate:
		f *= 100
	case operation.KindDuration:
		f *= 60
	default:
		if f != math.Trunc(f) {
			return 0, false
		}
	}
	return int64(math.Round(f)), true
}

// limitSettings reads the form; what is wrong with it is marked.
func (t *typed) limitSettings() store.LimitSettings {
	l := store.LimitSettings{Figure: operation.Figure(t.text("figure")), Flow: t.text("flow"), Destination: t.text("destination"), Source: t.text("source"), Side: operation.LimitSide(t.text("side")),
		TellUsers: listOf[operation.UserID](*t, "user"), TellRoles: listOf[operation.Role](*t, "role"), TellOwner: t.yes("owner"), Note: t.text("note")}
	amount := func(field string) int64 {
		n, ok := amountOf(l.Figure.Kind(), t.text(field))
		if !ok {
			t.wrong(field, views.Invalid("limit_"+field, 0))
		}
		return n
	}
	number := func(field string) int {
		n, err := strconv.Atoi(t.text(field))
		if err != nil || n < 0 {
			t.wrong(field, views.Invalid("limit_"+field, 0))
			return 0
		}
		return n
	}
	l.Value, l.Margin = amount("value"), amount("margin")
	l.Least, l.HoldMinutes, l.RemindHours, l.DueDays, l.AgainHours = int64(number("least")), number("hold"), number("remind"), number("due"), 24*number("again")
	span := t.text("span")
	if span == "hours" {
		span = t.text("hours")
	}
	var err error
	if l.SpanHours, err = strconv.Atoi(span); err != nil {
		t.wrong("span", views.Invalid("limit_span", 0))
	}
	return l
}

// setLimit sets a new limit.
func (s *site) setLimit(c echo.Context) error {
	t, err := sent(c)
	if err != nil {
		return err
	}
	if l := t.limitSettings(); len(t.errors) == 0 {
		id, err := s.Store.SetLimit(c.Request().Context(), web.VisitOf(c).Actor(), l)
		field, say, ok := invalidOf(err)
		switch {
		case err == nil:
			return done(c, pathLimit(id), views.FlashLimitSet)
		case !ok:
			return err
		}
		t.wrong(field, say)
	}
	return s.showLimitForm(c, http.StatusUnprocessableEntity, nil, t)
}

// changeLimit gives a limit other settings.
func (s *site) changeLimit(c echo.Context) error {
	t, err := sent(c)
	if err != nil {
		return err
	}
	p, err := s.limitToChange(c)
	if err != nil {
		return err
	}
	if l := t.limitSettings(); len(t.errors) == 0 {
		err := s.Store.ChangeLimit(c.Request().Context(), web.VisitOf(c).Actor(), p.ID, t.limitVersion(), l, t.text("reason"))
		field, say, ok := invalidOf(err)
		switch {
		case err == nil:
			return done(c, pathLimit(p.ID), views.FlashLimitChanged)
		case staleLimit(err): // what was typed stays, over what it is now
			t.wrong("", views.Sentence("limits.stale"))
			return s.showLimitForm(c, http.StatusConflict, p, t)
		case !ok:
			return err
		}
		t.wrong(field, say)
	}
	return s.showLimitForm(c, http.StatusUnprocessableEntity, p, t)
}
