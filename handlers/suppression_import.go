package handlers

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"holdpoint/operation"
	"holdpoint/operation/definition"
	"holdpoint/store"
	"holdpoint/views"
	"holdpoint/web"

	"github.com/labstack/echo/v4"
)

// How many rows the preview of an import shows.
const (
	importFirst = 10
	importWrong = 20
)

// addressColumns are headers under which an address is looked for, and fields of JSON: in
// small letters, without anything between words.
var addressColumns = []string{"email", "emailaddress", "mail", "address", "recipient", "to", "phone", "value"}

func isAddressColumn(name string) bool {
	return slices.Contains(addressColumns, strings.ToLower(strings.ReplaceAll(definition.ColumnField(name), "_", "")))
}

// uploadSuppressions keeps a file of addresses to be looked at.
func (s *site) uploadSuppressions(c echo.Context) error {
	fields, files, err := web.PostFiles(c, web.UploadLimits{File: store.MaxSuppressionFile, All: store.MaxSuppressionFile, Count: 1})
	if err != nil {
		return err
	}
	t, err := typedBy(c, fields)
	if err != nil {
		return err
	}
	v := web.VisitOf(c)
	switch {
	case t.ofAnother(v.User.ID):
		return web.ErrFormOfAnother
	case len(files) == 0:
		t.wrong("file", views.Sentence("suppression.file_none"))
	case files[0].Large:
		t.wrong("file", tableSentence(&definition.TableError{Code: "large", Limit: store.MaxSuppressionFile}))
	case len(files[0].Data) == 0:
		t.wrong("file", tableSentence(&definition.TableError{Code: "empty"}))
	}
	if len(t.errors) > 0 {
		return s.showSuppressions(c, http.StatusUnprocessableEntity, t)
	}
	id, err := s.Store.StageSuppressions(c.Request().Context(), v.Actor(), t.val("form_id"), files[0].Name, files[0].Data)
	if err != nil {
		return err
	}
	if err := web.DropKept(c); err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, views.PathSuppressions+"/imports/"+id)
}

// importReading is how a file of addresses is read, as its form or address says.
type importReading struct {
	encoding, separator, column, reason, channel string

	mails bool // the channel's recipients are mail addresses
}

func importReadingOf(value func(string) string) importReading {
	r := importReading{encoding: value("encoding"), separator: separatorCalled(value("separator")), column: value("column"), reason: value("reason"), channel: value("channel")}
	if !operation.SuppressionReason(r.reason).Valid() {
		r.reason = string(operation.SuppressedUnsubscribed)
	}
	if !slices.Contains(definition.Encodings, r.encoding) {
		r.encoding = ""
	}
	return r
}

// channelOf says how the recipients of the chosen channel are called.
func (s *site) channelOf(ctx context.Context, r *importReading) (err error) {
	scope, channel := chosenChannel(r.channel)
	r.mails, err = s.Store.SuppressesMails(ctx, scope, channel)
	return err
}

// importRead is what was found in a file.
type importRead struct {
	list  *definition.List
	scope operation.SuppressionScope
	rows  []store.NewSuppression // each address once
	total int
	twice int
	wrong []views.SuppressionWrong
	// column is the one with the address, from 1; header is false where the first line is an
	// address already.
	column int
	header bool
}

// readAddresses reads a file; the error is a *definition.TableError.
func readAddresses(raw []byte, r importReading) (*importRead, error) {
	enc := r.encoding
	if enc == "" {
		var err error
		if enc, err = definition.DetectEncoding(bytes.NewReader(raw)); err != nil {
			return nil, err
		}
	}
	list, err := definition.OpenList(bytes.NewReader(raw), enc, r.separator)
	if err != nil {
		return nil, err
	}
	scope, channel := chosenChannel(r.channel)
	x := &importRead{list: list, header: true, scope: scope}
	x.columns(r.column)
	seen := map[string]bool{}
	add := func(number int, cell string) {
		x.total++
		address := operation.OneAddress(cell)
		switch {
		case !operation.IsAddress(address, scope, r.mails):
			x.wrong = append(x.wrong, views.SuppressionWrong{Number: number, Cell: cell})
		case seen[address]:
			x.twice++
		default:
			seen[address] = true
			x.rows = append(x.rows, store.NewSuppression{Address: address, Scope: scope, Channel: channel, Reason: operation.SuppressionReason(r.reason)})
		}
	}
	if !x.header {
		add(0, list.Header[x.column-1])
	}
	for row, err := range list.Rows() {
		if err != nil {
			return nil, err
		}
		cell := row.Cell(x.column)
		if row.Entry != nil {
			cell = addressIn(row.Entry)
		}
		if slices.ContainsFunc(row.Extra, func(x string) bool { return strings.Contains(x, "@") }) { // another address, which no column would take
			cell = strings.Join(append([]string{cell}, row.Extra...), list.Separator+" ")
		}
		if add(row.Number, cell); x.total > store.MaxSuppressions {
			return nil, &definition.TableError{Code: "rows", Limit: store.MaxSuppressions}
		}
	}
	return x, nil
}

// columns finds the column with the address: the chosen one, one of that name, one that holds
// an address in its first line already, else the first.
func (x *importRead) columns(chosen string) {
	if x.list.Kind != definition.ListCSV {
		return
	}
	h := x.list.Header
	x.column, _ = strconv.Atoi(chosen)
	if x.column < 1 || x.column > len(h) {
		x.column = 1 + slices.IndexFunc(h, isAddressColumn)
	}
	if x.column < 1 {
		x.column = max(1, 1+slices.IndexFunc(h, func(c string) bool { return strings.Contains(c, "@") }))
	}
	x.header = !strings.Contains(h[x.column-1], "@")
}

func addressIn(entry map[string]any) string {
	for _, name := range slices.Sorted(maps.Keys(entry)) {
		if s, ok := entry[name].(string); ok && isAddressColumn(name) {
			return s
		}
	}
	return ""
}

// suppressionFile shows what the import of a file would do.
func (s *site) suppressionFile(c echo.Context) error {
	t, _ := kept(c)
	return s.showImport(c, http.StatusOK, t)
}

func (s *site) showImport(c echo.Context, status int, t typed) error {
	v, ctx := web.VisitOf(c), c.Request().Context()
	file, err := s.Store.FindSuppressionFile(ctx, v.Actor(), c.Param("id"))
	if err != nil {
		return err
	}
	r := importReadingOf(c.QueryParam)
	if t.fields != nil {
		r = importReadingOf(t.val)
	}
	l, err := s.Store.ListSuppressions(ctx, v.Actor(), store.SuppressionFilter{Limit: 1})
	if err != nil {
		return err
	}
	names, err := s.channelNames(c, l.Effects, l.Places)
	if err != nil {
		return err
	}
	at := views.PathSuppressions + "/imports/" + file.ID
	m := views.SuppressionImportModel{URL: at, Name: file.Name, Reasons: pick(operation.SuppressionReasons, operation.SuppressionReason(r.reason)), Channels: names.options(r.channel), Note: t.val("note"),
		Begin: shownTo(newForm(t.of("begin"), at+"/begin"), v.User.ID), Drop: shownTo(newForm(typed{}, at+"/drop"), v.User.ID)}
	if err := s.channelOf(ctx, &r); err != nil {
		return err
	}
	x, err := readAddresses(file.Body, r)
	var bad *definition.TableError
	switch {
	case errors.As(err, &bad):
		m.Broken = importSentence(bad)
	case err != nil:
		return err
	default:
		known, err := s.Store.KnownSuppressions(ctx, v.Actor(), x.rows)
		if err != nil {
			return err
		}
		x.fill(&m, known)
	}
	if x != nil {
		r.encoding, r.separator, r.column = x.list.Encoding, x.list.Separator, strconv.Itoa(x.column)
	}
	m.Encodings = encodingOptions(r.encoding)
	if x == nil || x.list.Kind == definition.ListCSV {
		m.Separators = separatorOptions(r.separator)
	}
	m.Chosen = [][2]string{{"encoding", r.encoding}, {"separator", separatorNames[r.separator]}, {"column", r.column}, {"reason", r.reason}, {"channel", r.channel}}
	m.Frame = web.Frame(c, views.SectionOperations)
	return web.RenderStatus(c, status, views.SuppressionImportPage(m))
}

// fill says in the page what was found; known of the rows are on the list already.
func (x *importRead) fill(m *views.SuppressionImportModel, known int) {
	m.Total, m.New, m.Known, m.Twice, m.Wrong = x.total, len(x.rows)-known, known, x.twice, len(x.wrong)
	for _, r := range x.rows[:min(importFirst, len(x.rows))] {
		m.First = append(m.First, r.Address)
	}
	m.WrongRows = x.wrong[:min(importWrong, len(x.wrong))]
	m.Accepted = views.Invalid("address_form", 0)
	if x.scope == operation.SuppressAll {
		m.Accepted = views.Invalid("address_all", 0)
	}
	for i, h := range x.list.Header {
		m.Columns = append(m.Columns, views.Option{Value: strconv.Itoa(i + 1), Label: strconv.Itoa(i+1) + ": " + h, Selected: i+1 == x.column})
	}
}

func importSentence(e *definition.TableError) views.Say {
	if e.Code == "json" {
		return views.Sentence("suppression.broken_json", "Line", e.Line)
	}
	return faultSentence(&store.ListFault{Code: e.Code, Line: e.Line, Limit: e.Limit, Key: e.Key})
}

// importSuppressions adds the addresses of a file, exactly as its preview read them.
func (s *site) importSuppressions(c echo.Context) error {
	t, err := sent(c)
	if err != nil {
		return err
	}
	v, ctx := web.VisitOf(c), c.Request().Context()
	if t.ofAnother(v.User.ID) {
		return web.ErrFormOfAnother
	}
	if t.tooLong() {
		return s.showImport(c, http.StatusUnprocessableEntity, t)
	}
	file, err := s.Store.FindSuppressionFile(ctx, v.Actor(), c.Param("id"))
	if errors.Is(err, store.ErrNotFound) { // a double click, or dropped elsewhere
		return c.Redirect(http.StatusSeeOther, views.PathSuppressions)
	}
	if err != nil {
		return err
	}
	r := importReadingOf(t.val)
	if err := s.channelOf(ctx, &r); err != nil {
		return err
	}
	x, err := readAddresses(file.Body, r)
	var bad *definition.TableError
	if errors.As(err, &bad) {
		t.wrong("", importSentence(bad))
		return s.showImport(c, http.StatusUnprocessableEntity, t)
	}
	if err != nil {
		return err
	}
	for i := range x.rows {
		x.rows[i].Note = t.text("note")
	}
	_, err = s.Store.AddSuppressions(ctx, v.Actor(), store.Suppressing{FormID: file.ID, Note: t.text("note"), File: file.HashHex()}, x.rows)
	if err != nil {
		if field, say, ok := invalidOf(err); ok {
			if field != "note" {
				field = ""
			}
			t.wrong(field, say)
			return s.showImport(c, http.StatusUnprocessableEntity, t)
		}
		return err
	}
	if err := s.Store.DropSuppressionFile(ctx, v.Actor(), file.ID); err != nil {
		return err
	}
	return done(c, views.PathSuppressions, "flash.suppressions_imported")
}

// dropSuppressions lets a file go.
func (s *site) dropSuppressions(c echo.Context) error {
	t, err := sent(c)
	if err != nil {
		return err
	}
	v := web.VisitOf(c)
	if t.ofAnother(v.User.ID) {
		return web.ErrFormOfAnother
	}
	if err := s.Store.DropSuppressionFile(c.Request().Context(), v.Actor(), c.Param("id")); err != nil {
		return err
	}
	return calm(c, views.PathSuppressions, "flash.suppression_dropped")
}
