package handlers

import (
	"encoding/csv"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strconv"

	"holdpoint/operation"
	"holdpoint/operation/definition"
	"holdpoint/store"
	"holdpoint/views"
	"holdpoint/web"

	"github.com/labstack/echo/v4"
)

func columnOf(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > definition.MaxTableColumns {
		return 0
	}
	return n
}

func (s *site) listPage(c echo.Context) error {
	t, _ := kept(c)
	return s.showList(c, http.StatusOK, t)
}

// findList finds a list that the viewer handed in and that is still there. Of one that was
// made into a batch, the batch is shown.
func (s *site) findList(c echo.Context) (store.ListFile, error) {
	if !operation.ValidID("lst", c.Param("id")) {
		return store.ListFile{}, store.ErrNotFound
	}
	l, err := s.Store.FindList(c.Request().Context(), web.VisitOf(c).Actor(), s.listID(c))
	if err == nil && l.ActorID != string(web.VisitOf(c).User.ID) {
		err = store.ErrNotFound
	}
	if err == nil {
		err = s.mayAuthor(c, l.Flow)
	}
	return l, err
}

func (s *site) showList(c echo.Context, status int, t typed) error {
	l, err := s.findList(c)
	switch {
	case err != nil:
		return err
	case l.Made != "":
		return c.Redirect(http.StatusSeeOther, pathOneBatch(l.Made))
	case l.EndedAt != nil:
		return calm(c, pathNewBatch(l.Flow), views.FlashListDropped)
	}
	f, _, err := s.Store.Flow(c.Request().Context(), l.Flow)
	if err != nil {
		return err
	}
	v := web.VisitOf(c)
	p := v.Printer()
	m := views.ListModel{FlowTitle: f.Title.In(p.Lang), FlowURL: pathFlow(l.Flow), BackURL: pathNewBatch(l.Flow), Name: l.Name, CSV: l.Kind == store.ListCSV, Until: l.At.Add(store.ListKept),
		Create: pathList(l.ID) + "/create", Again: t.val("again") == "yes"}
	m.Form = shownTo(newForm(t, pathList(l.ID)+"/look"), v.User.ID)
	m.Drop = shownTo(newForm(typed{}, pathList(l.ID)+"/drop"), v.User.ID)
	m.Form.Revision = int64(l.Rev)
	if l.Batch != "" {
		if err := s.listOfBatch(c, l, &m); err != nil {
			return err
		}
	}
	found := l.Found()
	if err := s.fillReading(c, f, l, found, t, &m); err != nil {
		return err
	}
	switch {
	case found == nil:
	case found.Fault != nil:
		m.Broken = faultSentence(found.Fault)
	default:
		m.Preview = previewOf(found)
		if len(found.Odd) > 0 {
			m.Preview.ProblemsCSV = pathList(l.ID) + "/problems.csv"
		}
	}
	m.Frame = web.Frame(c, views.SectionFlows)
	return web.RenderStatus(c, status, views.ListPage(m))
}

// listOfBatch says whose list it is to replace.
func (s *site) listOfBatch(c echo.Context, l store.ListFile, m *views.ListModel) error {
	b, err := s.Store.FindBatch(c.Request().Context(), web.VisitOf(c).Actor(), l.Batch)
	if err != nil {
		return err
	}
	m.Batch, m.Number, m.BackURL = &views.Link{Label: batchLabel(b, web.VisitOf(c).Printer().Lang), URL: pathOneBatch(l.Batch)}, b.Number, pathOneBatch(l.Batch)+"/revise"
	return nil
}

// batchLabel is what a batch is called: its title, else its stage's.
func batchLabel(b *store.BatchPage, lang string) string {
	if b.Title != "" {
		return b.Title
	}
	return b.Stage2.Title.In(lang)
}

// fillReading fills in what can be changed: as it was typed, or as it is kept.
func (s *site) fillReading(c echo.Context, f *definition.Flow, l store.ListFile, found *store.ListJudged, t typed, m *views.ListModel) error {
	r := l.Reading()
	if t.fields != nil {
		if typed := readingOf(t, l); typed.Columns != nil {
			r = typed
		}
	}
	m.Encodings = encodingOptions(r.Encoding)
	m.Separators = separatorOptions(r.Separator)
	fields := f.ItemFields(l.Stage)
	if m.CSV && found != nil {
		m.Columns, m.Unused = listColumns(fields, r.Columns, found.Header)
	}
	m.Offered = offered(fields, r.Columns)
	if l.Batch == "" {
		for _, x := range f.InputFields() {
			m.Inputs = append(m.Inputs, prefixed(draftField{path: x.Path, schema: x.Schema, need: x.Required}.view(r.Inputs[x.Path], nil), "in."))
		}
		if found != nil && t.fields == nil {
			m.Form.Errors = inputErrors(found.Wrong, r.Inputs)
		}
		ids, err := s.Store.BatchesOfFile(c.Request().Context(), l)
		if err != nil {
			return err
		}
		for _, id := range ids {
			m.Known = append(m.Known, views.Link{Label: shortID(string(id)), URL: pathOneBatch(id)})
		}
	}
	if st, ok := f.Stage(l.Stage); ok && l.Batch == "" {
		var err error
		m.Texts, err = s.sharedFields(c, st, r.Shared)
		return err
	}
	return nil
}

// inputErrors marks the flow's inputs that keep the batch from being made.
func inputErrors(wrong []string, texts map[string]string) map[string]views.Say {
	out := map[string]views.Say{}
	for _, path := range wrong {
		out[typedInput+path] = views.Sentence(views.ErrorInvalid)
		if texts[path] == "" {
			out[typedInput+path] = views.Sentence(views.ErrorRequired)
		}
	}
	return out
}

// prefixed gives a field another beginning of its name in the form.
func prefixed(e views.EditField, prefix string) views.EditField {
	e.Path = prefix + e.Path
	return e
}

// sharedFields are the texts that are written once for all items.
func (s *site) sharedFields(c echo.Context, st *definition.Stage, texts map[string]string) ([]views.EditField, error) {
	p, _, err := s.Store.Profile(c.Request().Context(), st.Destination)
	if err != nil {
		return nil, err
	}
	act, err := p.Action(st.Action)
	if err != nil {
		return nil, err
	}
	var out []views.EditField
	for _, d := range st.Drafts {
		x := draftField{path: d.Path, schema: schemaAt(act.Content, d.Path), need: true, brief: d.Brief, edited: true}
		out = append(out, prefixed(x.view(texts[d.Path], nil), "text."))
	}
	return out, nil
}

func listColumns(fields []definition.InputField, columns map[string]int, header []string) (out []views.StartColumn, unused []string) {
	used := map[int]bool{}
	for _, x := range fields {
		col := views.StartColumn{Path: x.Path, Required: x.Required}
		for i, h := range header {
			col.Options = append(col.Options, views.Option{Value: strconv.Itoa(i + 1), Label: strconv.Itoa(i+1) + ": " + h, Selected: columns[x.Path] == i+1})
		}
		used[columns[x.Path]] = true
		out = append(out, col)
	}
	if len(fields) > 0 {
		for i, h := range header {
			if !used[i+1] && h != "" {
				unused = append(unused, h)
			}
		}
	}
	return out, unused
}

// offered are the fields of an entry that a shared text may name.
func offered(fields []definition.InputField, columns map[string]int) []string {
	var out []string
	for _, x := range fields {
		out = append(out, x.Path)
	}
	if len(fields) == 0 {
		out = slices.Sorted(maps.Keys(columns))
	}
	return out
}

// listForm reads a form about a list.
func (s *site) listForm(c echo.Context, fn func(store.ListFile, typed) error) error {
	t, err := sentMarked(c)
	if err != nil {
		return err
	}
	v := web.VisitOf(c)
	if t.ofAnother(v.User.ID) {
		return web.ErrFormOfAnother
	}
	l, err := s.findList(c)
	if err != nil {
		return err
	}
	if len(t.errors) > 0 {
		return s.showList(c, http.StatusUnprocessableEntity, t)
	}
	err = fn(l, t)
	r := refusalOf(err)
	switch {
	case r != nil && isStale(r):
		t.wrong("", views.Sentence("newbatch.stale"))
		return s.showList(c, http.StatusConflict, t)
	case r != nil && (r.Code == operation.CodeContentMissing || l.Batch != ""):
		t.wrong("", views.Refused(r))
		return s.showList(c, http.StatusUnprocessableEntity, t)
	}
	if say, ok := listSentence(err); ok {
		t.wrong("", say)
		return s.showList(c, http.StatusUnprocessableEntity, t)
	}
	return err
}

// listLook reads a list as the form says, and keeps that.
func (s *site) listLook(c echo.Context) error {
	return s.listForm(c, func(l store.ListFile, t typed) error {
		if _, err := s.Store.LookAtList(c.Request().Context(), web.VisitOf(c).Actor(), l.ID, int(t.revision()), readingOf(t, l)); err != nil {
			return err
		}
		if err := web.DropKept(c); err != nil {
			return err
		}
		return c.Redirect(http.StatusSeeOther, pathList(l.ID))
	})
}

// listCreate makes the batch of what was shown. What was changed in the form meanwhile is
// shown first.
func (s *site) listCreate(c echo.Context) error {
	return s.listForm(c, func(l store.ListFile, t typed) error {
		ctx, a := c.Request().Context(), web.VisitOf(c).Actor()
		if l.Made != "" {
			return calm(c, pathOneBatch(l.Made), views.FlashBatchKnown)
		}
		if r := readingOf(t, l); !sameReading(r, l.Reading()) {
			if _, err := s.Store.LookAtList(ctx, a, l.ID, int(t.revision()), r); err != nil {
				return err
			}
			return s.showList(c, http.StatusUnprocessableEntity, typed{form: "look", errors: map[string]views.Say{"": views.Sentence("newbatch.changed")}})
		}
		again := t.yes("again")
		known, err := s.Store.BatchesOfFile(ctx, l)
		if err != nil {
			return err
		}
		found := l.Found()
		if found != nil {
			for name, say := range inputErrors(found.Wrong, l.Inputs()) {
				t.wrong(name, say)
			}
		}
		if len(known) > 0 && l.Batch == "" && !again {
			t.wrong("again", views.Sentence("newbatch.again_needed"))
		}
		if len(t.errors) > 0 {
			return s.showList(c, http.StatusUnprocessableEntity, t)
		}
		id, was, err := s.Store.MakeBatch(ctx, a, l.ID, int(t.revision()), again)
		switch {
		case err != nil:
			return err
		case l.Batch != "":
			return done(c, pathOneBatch(id), views.FlashBatchRevised)
		case was:
			return calm(c, pathOneBatch(id), views.FlashBatchKnown)
		}
		return done(c, pathOneBatch(id), views.FlashBatchMade)
	})
}

func sameReading(a, b store.ListReading) bool {
	return a.Encoding == b.Encoding && a.Separator == b.Separator && a.Columns != nil && maps.Equal(a.Columns, b.Columns) && maps.Equal(a.Inputs, b.Inputs) && maps.Equal(a.Shared, b.Shared)
}

func (s *site) listDrop(c echo.Context) error {
	return s.listForm(c, func(l store.ListFile, _ typed) error {
		if err := s.Store.DropList(c.Request().Context(), web.VisitOf(c).Actor(), l.ID); err != nil {
			return err
		}
		to := pathNewBatch(l.Flow)
		if l.Batch != "" {
			to = pathOneBatch(l.Batch)
		}
		return calm(c, to, views.FlashListDropped)
	})
}

// listProblems gives every row that cannot go out.
func (s *site) listProblems(c echo.Context) error {
	l, err := s.findList(c)
	if err == nil && l.EndedAt != nil {
		err = store.ErrNotFound
	}
	if err != nil {
		return err
	}
	ctx, a := c.Request().Context(), web.VisitOf(c).Actor()
	return s.exporting(c, store.Export{What: "list", Format: "csv", Filter: "id=" + string(l.ID)}, func(o *outgoing) error {
		fileHead(c, "text/csv; charset=utf-8; header=present", "problems", ".csv")
		if _, err := o.Write([]byte(byteOrderMark)); err != nil {
			return err
		}
		w := csv.NewWriter(o)
		err := w.Write([]string{"row", "key", "recipient", "problem", "field"})
		err = errors.Join(err, s.Store.EachJudged(ctx, a, l, func(x store.JudgedItem) error {
			for _, p := range x.Problems {
				o.rows++
				if err := w.Write([]string{strconv.Itoa(x.Position), guarded(x.Key), guarded(x.Recipient), p.Code, guarded(p.Field)}); err != nil {
					return err
				}
			}
			return nil
		}))
		w.Flush()
		return errors.Join(err, w.Error())
	})
}
