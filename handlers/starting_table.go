package handlers

import (
	"context"
	"encoding/csv"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"holdpoint/operation"
	"holdpoint/operation/definition"
	"holdpoint/store"
	"holdpoint/views"
	"holdpoint/web"

	"github.com/labstack/echo/v4"
)

// startPatience is how long one request does rows; the jobs do what is left.
const startPatience = 8 * time.Second

// startPreviewed is how many rows are shown in any case, startShown how many at most.
const (
	startPreviewed = 20
	startShown     = 60
)

var separatorNames = map[string]string{",": "comma", ";": "semicolon", "\t": "tab", "|": "line"}

// separatorCalled gives the separator that a form calls so; "" = none is.
func separatorCalled(name string) string {
	for value, called := range separatorNames {
		if called == name {
			return value
		}
	}
	return ""
}

// startTable shows a table before it begins, and what became of it afterwards.
func (s *site) startTable(c echo.Context) error {
	t, _ := kept(c)
	return s.showTable(c, http.StatusOK, t)
}

func (s *site) showTable(c echo.Context, status int, t typed) error {
	if !operation.ValidID("sta", c.Param("id")) {
		return store.ErrNotFound
	}
	st, rows, err := s.Store.FindStart(c.Request().Context(), web.VisitOf(c).Actor(), s.startID(c))
	if err != nil {
		return err
	}
	if st.BegunAt != nil || st.EndedAt != nil || st.By != web.VisitOf(c).User.ID {
		return s.showStartResult(c, status, st, rows, t)
	}
	f, err := s.startable(c, st.Flow)
	if err != nil {
		return err
	}
	v := web.VisitOf(c)
	p := v.Printer()
	m := views.StartTableModel{FlowTitle: f.Title.In(p.Lang), FlowURL: pathFlow(f.Name), StartURL: pathStart(f.Name), Name: st.Name, Until: st.At.Add(store.StartKept)}
	for name, to := range map[string]*views.Form{"reading": &m.Reading, "begin": &m.Begin, "drop": &m.Drop} {
		*to = shownTo(newForm(t.of(name), pathTable(st.ID)+"/"+name), v.User.ID)
		to.Revision = int64(st.Rev)
	}
	m.Encodings = encodingOptions(st.Encoding)
	m.Separators = separatorOptions(st.Separator)
	table, err := st.Table()
	var bad *definition.TableError
	switch {
	case errors.As(err, &bad):
		m.Broken = tableSentence(bad)
	case err != nil:
		return err
	default:
		have, err := s.Store.StartedRows(c.Request().Context(), st, table)
		if err != nil {
			return err
		}
		fillTable(&m, f, st, table, have)
		for i, r := range m.Rows {
			m.Rows[i].Wrong = views.StartFieldNames(p, r.Wrong)
		}
	}
	m.Frame = web.Frame(c, views.SectionFlows)
	return web.RenderStatus(c, status, views.StartTablePage(m))
}

// fillTable judges each row as it would be judged. have are the rows whose run is there.
func fillTable(m *views.StartTableModel, f *definition.Flow, st store.Start, table *definition.Table, have map[int]operation.RunID) {
	columns := st.Columns()
	heads := func(chosen int) []views.Option {
		var out []views.Option
		for i, h := range table.Header {
			label := strconv.Itoa(i+1) + ": " + h
			out = append(out, views.Option{Value: strconv.Itoa(i + 1), Label: label, Selected: i+1 == chosen})
		}
		return out
	}
	for _, x := range f.InputFields() {
		m.Columns = append(m.Columns, views.StartColumn{Path: x.Path, Required: x.Required, Options: heads(columns[x.Path])})
	}
	m.Keys = heads(st.KeyColumn)
	m.Total = len(table.Rows)
	seen := map[string]bool{}
	for i, r := range table.Rows {
		texts := r.Texts(columns)
		_, wrong, err := f.ReadInputs(texts)
		row := views.StartPreview{Number: r.Number, Wrong: wrong}
		key := st.Key(r)
		run, known := have[r.Number]
		switch {
		case r.Extra != nil:
			row.Why, row.Wrong = store.StartCells, nil
		case err != nil || len(wrong) > 0:
		case key == "":
			row.Why = "key"
		case seen[key]:
			row.Why = "twice"
		case known:
			if row.Why = "known"; run != "" {
				row.Run = &views.Link{Label: shortID(string(run)), URL: pathRun(run)}
			}
		}
		seen[key] = true
		good := err == nil && len(wrong) == 0 && row.Why == ""
		switch {
		case good:
			m.Good++
		case row.Why == "known":
			m.Known++
		default:
			m.Bad++
		}
		if i < startPreviewed || !good && len(m.Rows) < startShown {
			for _, col := range m.Columns {
				row.Cells = append(row.Cells, texts[col.Path])
			}
			m.Rows = append(m.Rows, row)
		}
	}
}

// badTable is a reading that a file does not take.
type badTable struct{ *definition.TableError }

// startForm reads a form about a table, and leads to where then says: nil = to its page.
func (s *site) startForm(c echo.Context, then func() error, fn func(context.Context, store.Actor, operation.StartID, typed) error) error {
	t, err := sent(c)
	if err != nil {
		return err
	}
	v := web.VisitOf(c)
	if t.ofAnother(v.User.ID) {
		return web.ErrFormOfAnother
	}
	if !operation.ValidID("sta", c.Param("id")) {
		return store.ErrNotFound
	}
	err = fn(c.Request().Context(), v.Actor(), s.startID(c), t)
	if r := refusalOf(err); r != nil && isStale(r) {
		t.wrong("", views.Sentence("starting.stale"))
		return s.showTable(c, http.StatusConflict, t)
	}
	var bad *badTable
	if errors.As(err, &bad) {
		t.wrong("", tableSentence(bad.TableError))
		return s.showTable(c, http.StatusUnprocessableEntity, t)
	}
	if field, say, ok := invalidOf(err); ok {
		t.wrong(field, say)
		return s.showTable(c, http.StatusUnprocessableEntity, t)
	}
	if err != nil {
		return err
	}
	if then != nil {
		return then()
	}
	if err := web.DropKept(c); err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, pathTable(s.startID(c)))
}

func (s *site) startReading(c echo.Context) error {
	return s.startForm(c, nil, func(ctx context.Context, a store.Actor, id operation.StartID, t typed) error {
		r := store.StartReading{Encoding: t.val("encoding"), Separator: separatorCalled(t.val("separator")), Columns: map[string]int{}}
		for name := range t.fields {
			if path, ok := strings.CutPrefix(name, "column."); ok {
				r.Columns[path], _ = strconv.Atoi(t.val(name))
			}
		}
		r.KeyColumn, _ = strconv.Atoi(t.val("key"))
		err := s.Store.SetStart(ctx, a, id, int(t.revision()), r)
		var bad *definition.TableError
		if errors.As(err, &bad) { // the file cannot be read so: it stays as it was read
			return &badTable{bad}
		}
		return err
	})
}

func (s *site) startBegin(c echo.Context) error {
	return s.startForm(c, nil, func(ctx context.Context, a store.Actor, id operation.StartID, t typed) error {
		if err := s.Store.BeginStart(ctx, a, id, int(t.revision())); err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(ctx, startPatience)
		defer cancel()
		if _, err := s.Store.RunStart(ctx, id); err != nil && ctx.Err() == nil {
			return err
		}
		return nil
	})
}

// startDrop removes a file that has not begun, and leads back to where another is chosen.
func (s *site) startDrop(c echo.Context) error {
	var flow string
	then := func() error { return done(c, pathStart(flow), views.FlashStartDropped) }
	return s.startForm(c, then, func(ctx context.Context, a store.Actor, id operation.StartID, _ typed) error {
		st, _, err := s.Store.FindStart(ctx, a, id)
		if err != nil {
			return err
		}
		flow = st.Flow
		return s.Store.DropStart(ctx, a, id)
	})
}

// showStartResult says what became of each row.
func (s *site) showStartResult(c echo.Context, status int, st store.Start, rows []store.StartRow, t typed) error {
	v := web.VisitOf(c)
	f, _, err := s.Store.Flow(c.Request().Context(), st.Flow)
	if err != nil {
		return err
	}
	n, err := s.names(c, st.Flow, string(st.By))
	if err != nil {
		return err
	}
	p := v.Printer()
	m := views.StartResultModel{FlowTitle: f.Title.In(p.Lang), FlowURL: pathFlow(st.Flow), StartURL: pathStart(st.Flow), Name: st.Name, By: n.person(string(st.By)), At: st.At,
		Total: st.Rows, Dropped: startState(st) == "dropped", Waiting: startState(st) == "waiting", Note: t.errors[""], CSV: pathTable(st.ID) + "/results.csv"}
	if startState(st) == "going" {
		if m.Left = st.Rows - len(rows); st.By == v.User.ID {
			m.GoOn = shownTo(newForm(typed{}, pathTable(st.ID)+"/begin"), v.User.ID)
			m.GoOn.Revision = int64(st.Rev)
		}
	}
	counts := map[store.StartResult]int{}
	for _, r := range rows {
		counts[r.Result]++
		row := views.StartResultRow{Number: r.Row, Result: string(r.Result), Why: r.Reason}
		if r.Fields != "" {
			row.Fields = views.StartFieldNames(p, strings.Split(r.Fields, ","))
		}
		if r.Run != "" {
			row.Run = &views.Link{Label: shortID(string(r.Run)), URL: pathRun(r.Run)}
		}
		m.Rows = append(m.Rows, row)
	}
	for _, k := range []store.StartResult{store.StartStarted, store.StartKnown, store.StartConflict, store.StartHeld, store.StartRefused} {
		if counts[k] > 0 {
			m.Counts = append(m.Counts, views.StartCount{Result: string(k), N: counts[k]})
		}
	}
	m.Frame = web.Frame(c, views.SectionFlows)
	return web.RenderStatus(c, status, views.StartResultPage(m))
}

// startResults gives the rows' results as CSV. What stood in the table is not in it.
func (s *site) startResults(c echo.Context) error {
	if !operation.ValidID("sta", c.Param("id")) {
		return store.ErrNotFound
	}
	st, rows, err := s.Store.FindStart(c.Request().Context(), web.VisitOf(c).Actor(), s.startID(c))
	if err != nil {
		return err
	}
	return s.exporting(c, store.Export{What: "start", Format: "csv", Filter: "id=" + string(st.ID)}, func(o *outgoing) error {
		fileHead(c, "text/csv; charset=utf-8; header=present", "rows", ".csv")
		if _, err := o.Write([]byte(byteOrderMark)); err != nil {
			return err
		}
		w := csv.NewWriter(o)
		err := w.Write([]string{"file", "row", "result", "reason", "fields", "run_id", "at"})
		for _, r := range rows {
			cells := []string{st.Name, strconv.Itoa(r.Row), string(r.Result), r.Reason, strings.ReplaceAll(r.Fields, ",", " "), string(r.Run), isoTime(r.At)}
			for i, cell := range cells {
				cells[i] = guarded(cell)
			}
			o.rows++
			err = errors.Join(err, w.Write(cells))
		}
		w.Flush()
		return errors.Join(err, w.Error())
	})
}
