package handlers

import (
	"errors"
	"net/http"
	"net/url"
	"slices"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/views"
	"holdpoint/views/text"
	"holdpoint/web"

	"github.com/labstack/echo/v4"
)

// pathViews is where saved views are kept.
const pathViews = "/operations/views"

// viewRoutes are the saved views of the list of operations and its export.
func (s *site) viewRoutes() []route {
	return []route{
		{get, pathExport, signedIn, "", s.export},
		{get, pathViews, signedIn, "", s.views},
		{post, pathViews + "/save", signedIn, pathViews, s.saveView},
		{post, pathViews + "/no-default", signedIn, pathViews, s.noDefaultView},
		{post, pathViews + "/:view/rename", signedIn, pathViews, s.renameView},
		{post, pathViews + "/:view/delete", signedIn, pathViews, s.deleteView},
		{post, pathViews + "/:view/default", signedIn, pathViews, s.defaultView},
	}
}

// viewURL is the list of operations with a view's filters.
func viewURL(v store.SavedView) string {
	return views.PathOperations + "?" + v.Filters + "&view=" + url.QueryEscape(string(v.ID))
}

// views shows the saved views, and the form that saves the filters of the address.
func (s *site) views(c echo.Context) error {
	t, ok := kept(c)
	filters := filterQuery(c.QueryParams())
	if ok && t.form == "save" {
		filters = t.val("filters")
	}
	return s.showViews(c, http.StatusOK, filters, "", t)
}

// showViews draws the page. about is the view whose form comes back.
func (s *site) showViews(c echo.Context, status int, filters string, about store.ViewID, t typed) error {
	v, ctx := web.VisitOf(c), c.Request().Context()
	saved, err := s.Store.ListViews(ctx, v.Actor())
	if err != nil {
		return err
	}
	who, err := s.viewer(c, "")
	if err != nil {
		return err
	}
	words, err := s.filterWords(c)
	if err != nil {
		return err
	}
	m := views.ViewsModel{}
	if q, err := url.ParseQuery(filters); err == nil && filterQuery(q) != "" {
		x := t.of("save")
		m.Save = &views.ViewForm{Form: newForm(x, pathViews+"/save"), Filters: filterQuery(q), Words: words(q), Name: x.val("name"), Shared: x.yes("shared"), Default: x.yes("default"),
			MayShare: who.Has(operation.RoleAdmin)}
	}
	for _, x := range saved {
		q, _ := url.ParseQuery(x.Filters)
		at := pathViews + "/" + string(x.ID)
		row := views.SavedView{ID: string(x.ID), Name: x.Name, URL: viewURL(x), Shared: x.Shared, Default: x.Default, Filters: words(q),
			MakeDefault: newForm(typed{}, at+"/default"), Rename: newForm(typed{}, at+"/rename"), Delete: newForm(typed{}, at+"/delete")}
		if x.ID == about && t.form == "rename" {
			row.Rename, row.Name = newForm(t, at+"/rename"), t.val("name")
		}
		if x.Shared && !who.Has(operation.RoleAdmin) {
			row.Rename.Barred = operation.Refuse(operation.CodeNotEntitled, "role", string(operation.RoleAdmin)).By(operation.Responsible{Role: operation.RoleAdmin})
		}
		if x.Default {
			f := newForm(typed{}, pathViews+"/no-default")
			m.NoDefault = &f
		}
		m.Views = append(m.Views, row)
	}
	m.Frame = web.Frame(c, views.SectionOperations)
	return web.RenderStatus(c, status, views.SavedViewsPage(m))
}

// filterWords gives what says filters in words, as the viewer knows flows, destinations,
// sources and people.
func (s *site) filterWords(c echo.Context) (func(url.Values) []views.FilterWord, error) {
	v := web.VisitOf(c)
	names, err := s.Store.FilterNames(c.Request().Context(), v.Actor())
	if err != nil {
		return nil, err
	}
	p := v.Printer()
	return func(q url.Values) []views.FilterWord {
		f := operationsFilter(operationFilter(q, v), names, v)
		var out []views.FilterWord
		for _, x := range []struct {
			label   string
			options []views.Option
		}{{"col.state", stateWords(f.States, p)}, {"col.flow", f.Flows}, {"col.destination", f.Destinations}, {"event.source", f.Sources}, {"op.responsible", f.Responsible}} {
			for _, o := range x.options {
				if o.Selected {
					out = append(out, views.FilterWord{Label: p.T(x.label), Value: o.Label})
				}
			}
		}
		for _, x := range []views.FilterWord{{Label: "views.search", Value: f.Q}, {Label: "operations.from", Value: f.From}, {Label: "operations.to", Value: f.To}} {
			if x.Value != "" {
				out = append(out, views.FilterWord{Label: p.T(x.Label), Value: x.Value})
			}
		}
		if f.Overdue {
			out = append(out, views.FilterWord{Label: p.T("views.overdue")})
		}
		if f.Duplicate {
			out = append(out, views.FilterWord{Label: p.T("operations.duplicate")})
		}
		return out
	}, nil
}

func stateWords(in []views.Option, p *text.Printer) []views.Option {
	out := slices.Clone(in)
	for i := range out {
		out[i].Label = p.T("state." + out[i].Value)
	}
	return out
}

// saveView keeps the filters of the list under a name, and leads back to the list.
func (s *site) saveView(c echo.Context) error {
	t, err := sent(c)
	if err != nil {
		return err
	}
	q, err := url.ParseQuery(t.val("filters"))
	if err != nil {
		q = url.Values{}
	}
	n := store.NewView{Name: t.text("name"), Filters: filterQuery(q), Shared: t.yes("shared"), Default: t.yes("default")}
	id, err := s.Store.SaveView(c.Request().Context(), web.VisitOf(c).Actor(), n)
	if err == nil {
		return done(c, viewURL(store.SavedView{ID: id, Filters: n.Filters}), views.FlashViewSaved)
	}
	return s.viewRefused(c, err, n.Filters, "", t)
}

func (s *site) renameView(c echo.Context) error {
	return s.aboutView(c, func(id store.ViewID, t typed) error {
		return s.Store.RenameView(c.Request().Context(), web.VisitOf(c).Actor(), id, t.text("name"))
	}, views.FlashViewRenamed)
}

func (s *site) deleteView(c echo.Context) error {
	return s.aboutView(c, func(id store.ViewID, _ typed) error {
		return s.Store.DeleteView(c.Request().Context(), web.VisitOf(c).Actor(), id)
	}, views.FlashViewDeleted)
}

func (s *site) defaultView(c echo.Context) error {
	return s.aboutView(c, func(id store.ViewID, _ typed) error {
		return s.Store.SetDefaultView(c.Request().Context(), web.VisitOf(c).Actor(), id)
	}, views.FlashViewDefault)
}

// noDefaultView lets the list open with all operations again.
func (s *site) noDefaultView(c echo.Context) error {
	if _, err := sent(c); err != nil {
		return err
	}
	if err := s.Store.SetDefaultView(c.Request().Context(), web.VisitOf(c).Actor(), ""); err != nil {
		return err
	}
	return done(c, pathViews, views.FlashViewNoDefault)
}

// aboutView carries out something about one view. Somebody else's is not found.
func (s *site) aboutView(c echo.Context, verb func(store.ViewID, typed) error, flash string) error {
	id := c.Param("view")
	if !operation.ValidID("viw", id) {
		return store.ErrNotFound
	}
	t, err := sent(c)
	if err != nil {
		return err
	}
	if err := verb(store.ViewID(id), t); err != nil {
		return s.viewRefused(c, err, "", store.ViewID(id), t)
	}
	return done(c, pathViews, flash)
}

// viewRefused shows the form again with what is wrong; other errors have their pages.
func (s *site) viewRefused(c echo.Context, err error, filters string, about store.ViewID, t typed) error {
	field, say, ok := invalidOf(err)
	var refused *operation.Refusal
	switch {
	case ok && field == "filters":
		field = "" // it has no place of its own
	case errors.As(err, &refused) && t.form == "save":
		field, say = "", views.Refused(refused)
	case !ok:
		return err
	}
	t.wrong(field, say)
	return s.showViews(c, http.StatusUnprocessableEntity, filters, about, t)
}
