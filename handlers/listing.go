package handlers

import (
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"

	"holdpoint/operation"
	"holdpoint/operation/definition"
	"holdpoint/store"
	"holdpoint/views"
	"holdpoint/web"

	"github.com/labstack/echo/v4"
)

// listingRoutes are the pages on which authors hand lists in and make batches of them.
func (s *site) listingRoutes() []route {
	const fresh, list, batch = views.PathFlows + "/:name/batches/new", "/lists/:id", views.PathBatches + "/:id"
	return []route{
		{get, fresh, starters, "", s.newBatchPage},
		{post, fresh, starters, fresh, s.newBatchUpload},
		{get, list, starters, "", s.listPage},
		{post, list + "/look", starters, list, s.listLook},
		{post, list + "/create", starters, list, s.listCreate},
		{post, list + "/drop", starters, list, s.listDrop},
		{get, list + "/problems.csv", starters, "", s.listProblems},
		{get, batch + "/revise", starters, "", s.revisePage},
		{post, batch + "/revise", starters, batch + "/revise", s.reviseText},
		{post, batch + "/list", starters, batch + "/revise", s.reviseUpload},
	}
}

func pathNewBatch(flow string) string          { return pathFlow(flow) + "/batches/new" }
func pathList(id operation.ListID) string      { return "/lists/" + string(id) }
func pathOneBatch(id operation.BatchID) string { return views.PathBatches + "/" + string(id) }
func (s *site) listID(c echo.Context) operation.ListID {
	return operation.ListID(c.Param("id"))
}

// listStages are the stages of a flow whose list may come as a file.
func listStages(f *definition.Flow) []definition.Stage {
	var out []definition.Stage
	for _, st := range f.Stages {
		if st.ForEach != nil && st.ForEach.Input != "" {
			out = append(out, st)
		}
	}
	return out
}

// mayAuthor reports who may hand lists of a flow in: its authors. Others who see the flow
// are refused, and nobody else learns that it is there.
func (s *site) mayAuthor(c echo.Context, flow string) error {
	who, err := s.Store.FindViewer(c.Request().Context(), web.VisitOf(c).Actor())
	switch {
	case err != nil:
		return err
	case !who.Sees(flow, ""):
		return store.ErrNotFound
	case !who.In(flow).Has(operation.RoleAuthor):
		return operation.Refuse(operation.CodeNotEntitled, "role", string(operation.RoleAuthor)).By(operation.Responsible{Role: operation.RoleAuthor})
	}
	return nil
}

// listable gives a flow of which the viewer may make a batch.
func (s *site) listable(c echo.Context, name string) (*definition.Flow, []definition.Stage, error) {
	f, err := s.Store.FindFlow(c.Request().Context(), name)
	if err != nil {
		return nil, nil, err
	}
	if err := s.mayAuthor(c, name); err != nil {
		return nil, nil, err
	}
	stages := listStages(f.Flow)
	if len(stages) == 0 {
		return nil, nil, store.ErrNotFound
	}
	return f.Flow, stages, nil
}

// newBatchLink is where the viewer may make a batch of a flow; "" = they may not.
func (s *site) newBatchLink(c echo.Context, name string) (string, error) {
	_, _, err := s.listable(c, name)
	if errors.Is(err, store.ErrNotFound) || refusalOf(err) != nil {
		return "", nil
	}
	return pathNewBatch(name), err
}

func (s *site) newBatchPage(c echo.Context) error {
	t, _ := kept(c)
	return s.showNewBatch(c, http.StatusOK, t)
}

func (s *site) showNewBatch(c echo.Context, status int, t typed) error {
	f, stages, err := s.listable(c, c.Param("name"))
	if err != nil {
		return err
	}
	v := web.VisitOf(c)
	lang := v.Printer().Lang
	m := views.NewBatchModel{FlowTitle: f.Title.In(lang), FlowURL: pathFlow(f.Name), Rows: definition.MaxListItems, MiB: store.MaxListBytes >> 20, Fields: listFields(f, stages[0].Key)}
	m.Upload = shownTo(newForm(t.of("new"), pathNewBatch(f.Name)), v.User.ID)
	for _, st := range stages {
		m.Stages = append(m.Stages, views.Option{Value: st.Key, Label: st.Title.In(lang), Selected: t.of("new").val("stage") == st.Key})
	}
	if m.Recent, err = s.recentLists(c, f.Name); err != nil {
		return err
	}
	m.Frame = web.Frame(c, views.SectionFlows)
	return web.RenderStatus(c, status, views.NewBatchPage(m))
}

func listFields(f *definition.Flow, stage string) []views.ListField {
	var out []views.ListField
	for _, x := range f.ItemFields(stage) {
		out = append(out, views.ListField{Path: x.Path, Required: x.Required})
	}
	return out
}

func (s *site) recentLists(c echo.Context, flow string) ([]views.ListLine, error) {
	list, err := s.Store.ListsOf(c.Request().Context(), flow, 10)
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, l := range list {
		ids = append(ids, l.ActorID)
	}
	n, err := s.names(c, flow, ids...)
	if err != nil {
		return nil, err
	}
	var out []views.ListLine
	for _, l := range list {
		line := views.ListLine{Name: l.Name, At: l.At, By: n.person(l.ActorID), State: "gone"}
		switch {
		case l.Made != "":
			line.State, line.Batch = "made", &views.Link{Label: shortID(string(l.Made)), URL: pathOneBatch(l.Made)}
		case l.EndedAt == nil:
			line.State = "waiting"
			if l.ActorID == string(web.VisitOf(c).User.ID) {
				line.URL = pathList(l.ID)
			}
		}
		out = append(out, line)
	}
	return out, nil
}

// newBatchUpload keeps a list to be looked at.
func (s *site) newBatchUpload(c echo.Context) error {
	_, stages, err := s.listable(c, c.Param("name"))
	if err != nil {
		return err
	}
	return s.takeList(c, s.showNewBatch, func(fields url.Values) store.NewList {
		n := store.NewList{Flow: c.Param("name"), Stage: stages[0].Key}
		for _, st := range stages {
			if fields.Get("stage") == st.Key {
				n.Stage = st.Key
			}
		}
		return n
	})
}

// takeList takes the file of a form as it comes, and looks at it once.
func (s *site) takeList(c echo.Context, show func(echo.Context, int, typed) error, of func(url.Values) store.NewList) error {
	v, ctx := web.VisitOf(c), c.Request().Context()
	var t typed
	var l store.ListFile
	came := false
	fields, err := web.PostStream(c, store.MaxListBytes, func(fields url.Values, name string, r io.Reader) (err error) {
		if t, err = typedBy(c, fields); err != nil {
			return err
		}
		if t.ofAnother(v.User.ID) {
			return web.ErrFormOfAnother
		}
		came = true
		n := of(fields)
		n.FormID, n.Name = t.val("form_id"), name
		l, err = s.Store.AddList(ctx, v.Actor(), n, r)
		return err
	})
	if t.fields == nil {
		if t, err = typedBy(c, fields); err != nil {
			return err
		}
	}
	if err == nil && came {
		if l.Found() == nil && l.EndedAt == nil {
			_, err = s.Store.LookAtList(ctx, v.Actor(), l.ID, l.Rev, store.ListReading{})
		}
		if err == nil {
			if err := web.DropKept(c); err != nil {
				return err
			}
			return c.Redirect(http.StatusSeeOther, pathList(l.ID))
		}
	}
	say, ok := listSentence(err)
	switch {
	case err == nil:
		say = views.Sentence("newbatch.none")
	case !ok:
		return err
	}
	t.wrong("list", say)
	return show(c, http.StatusUnprocessableEntity, t)
}

// listSentence says why a list cannot be taken or read, or that nothing can be written for its
// destination now; ok is false when it is neither.
func listSentence(err error) (views.Say, bool) {
	var table *definition.TableError
	var fault *store.ListFault
	switch r := refusalOf(err); {
	case errors.Is(err, store.ErrListLarge):
		return views.Sentence("newbatch.large", "Limit", store.MaxListBytes>>20), true
	case errors.As(err, &table):
		return faultSentence(&store.ListFault{Code: table.Code, Line: table.Line, Limit: table.Limit, Key: table.Key}), true
	case errors.As(err, &fault):
		return faultSentence(fault), true
	case r != nil && r.Code == operation.CodeKeyReused:
		return views.Sentence("newbatch.other_form"), true
	case r != nil && r.Code == operation.CodeDestinationSetUp:
		return views.Refused(r), true
	}
	return views.Say{}, false
}

// faultSentence says why a list cannot be read.
func faultSentence(f *store.ListFault) views.Say {
	if f.Code == "nul" && f.Key == "" { // of a CSV file: the line is named
		return tableSentence(&definition.TableError{Code: f.Code, Line: f.Line})
	}
	switch f.Code {
	case "rows", "json", "no_list", "missing", "encoding", "deep", "twice", "nul":
		return views.Sentence("newbatch.bad."+f.Code, "Line", f.Line, "Limit", f.Limit, "Key", f.Key)
	case "entry":
		return views.Sentence("newbatch.bad.entry", "Line", f.Line, "Limit", f.Limit>>20)
	}
	return tableSentence(&definition.TableError{Code: f.Code, Line: f.Line, Limit: f.Limit})
}

// lists of the form's texts: their names in the form.
const (
	typedInput = "content.in."
	typedText  = "content.text."
)

// readingOf is how a form wants a list to be read. Other encodings or separators than were
// shown make other columns, which are guessed anew.
func readingOf(t typed, l store.ListFile) store.ListReading {
	r := store.ListReading{Encoding: t.or("encoding", l.Encoding), Separator: l.Separator, Columns: map[string]int{}, Inputs: map[string]string{}, Shared: map[string]string{}}
	if sep := separatorCalled(t.val("separator")); sep != "" {
		r.Separator = sep
	}
	if t.val("encoding") == "" {
		r.Encoding = l.Encoding
	}
	for name := range t.fields {
		text := strings.ReplaceAll(t.val(name), "\r\n", "\n")
		if path, ok := strings.CutPrefix(name, "column."); ok {
			if n := columnOf(text); n > 0 {
				r.Columns[path] = n
			}
		}
		if path, ok := strings.CutPrefix(name, typedInput); ok && text != "" {
			r.Inputs[path] = text
		}
		if path, ok := strings.CutPrefix(name, typedText); ok && text != "" {
			r.Shared[path] = text
		}
	}
	if r.Encoding != l.Encoding || r.Separator != l.Separator {
		r.Columns = nil
	}
	return r
}
