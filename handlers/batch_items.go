package handlers

import (
	"encoding/csv"
	"encoding/hex"
	"errors"
	"net/url"
	"strings"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/views"
	"holdpoint/web"

	"github.com/labstack/echo/v4"
)

// itemStates are the states by which items are found, besides those that became operations and those to come.
var itemStates = []operation.State{operation.Confirmed, operation.InProgress, operation.Ready, operation.RetryScheduled, operation.Waiting, operation.Unknown, operation.Review,
	operation.ReexecutionRequested, operation.NotExecuted, operation.Cancelled}

// itemQuery reads the filters of an address. What it does not know finds nothing of its own
// and does not narrow.
func itemQuery(q url.Values, p *store.BatchPage) store.BatchQuery {
	out := store.BatchQuery{Batch: p.ID, Number: p.Number, Search: strings.TrimSpace(q.Get("q")), Problem: q.Get("problem") == "yes", After: numberIn(q.Get("after")), Before: numberIn(q.Get("before"))}
	if n := numberIn(q.Get("version")); n > 0 && n <= len(p.Versions) {
		out.Number = n
	}
	switch state := q.Get("state"); {
	case state == views.PartToCome || state == views.PartUnsent:
		out.Waiting = true
	case state == views.PartOperation:
		out.Released = true
	case operation.State(state).Valid():
		out.State = operation.State(state)
	}
	switch why := operation.Exclusion(q.Get("left_out")); why {
	case operation.ExcludedDuplicate, operation.ExcludedSuppressed:
		out.Excluded, out.Why = true, why
	case views.PartAny:
		out.Excluded = true
	}
	if d := q.Get("diff"); d == store.ItemAdded || d == store.ItemDropped || d == store.ItemChanged {
		out.Diff = d
	}
	return out
}

// batchItems lists the items of one version.
func (s *site) batchItems(c echo.Context) error {
	p, err := s.findBatch(c)
	if err != nil {
		return err
	}
	q := c.QueryParams()
	find := itemQuery(q, p)
	list, err := s.Store.BatchItems(c.Request().Context(), web.VisitOf(c).Actor(), find)
	if err != nil {
		return err
	}
	b := batchOf{p: p, lang: lang(c)}
	m := views.BatchItemsModel{Batch: views.Link{Label: b.title(), URL: pathBatch(p.ID)}, Number: find.Number, Current: find.Number == p.Number, Q: find.Search, Problem: find.Problem, Path: b.itemsURL(),
		ExportURL: pathBatch(p.ID) + "/items.csv?" + itemFilter(q), State: p.State, Total: p.Total}
	m.States, m.LeftOut, m.Diffs = itemOptions(q, p, find.Number)
	for _, v := range p.Versions {
		m.Versions = append(m.Versions, views.Option{Value: itoa(v.Number), Label: itoa(v.Number), Selected: v.Number == find.Number})
		if v.Number == find.Number {
			m.Total = v.Total
		}
	}
	for _, name := range []string{"q", "state", "left_out", "diff", "problem"} {
		m.Active = m.Active || q.Get(name) != ""
	}
	for _, i := range list.Items {
		m.Rows = append(m.Rows, itemLine(p, i))
	}
	m.Pager = pagerOf(c, cursorOf(list.Prev), cursorOf(list.Next))
	m.Frame = web.Frame(c, views.SectionOperations)
	return web.Render(c, views.BatchItemsPage(m))
}

func cursorOf(position int) string {
	if position == 0 {
		return ""
	}
	return itoa(position)
}

// itemFilter gives the filters of an address alone.
func itemFilter(q url.Values) string {
	out := url.Values{}
	for _, name := range []string{"version", "q", "state", "left_out", "diff", "problem"} {
		if x := q.Get(name); x != "" {
			out.Set(name, x)
		}
	}
	return out.Encode()
}

// itemOptions are what the list can be narrowed to. States are of the version that was sent.
func itemOptions(q url.Values, p *store.BatchPage, number int) (states, leftOut, diffs []views.Option) {
	if number == p.Number && p.Cleared > 0 {
		states = append(states, views.Option{Value: views.PartOperation, Selected: q.Get("state") == views.PartOperation})
		for _, x := range itemStates {
			states = append(states, views.Option{Value: string(x), Selected: q.Get("state") == string(x)})
		}
		rest := views.PartToCome
		if p.Stopped() || p.State.Closed() {
			rest = views.PartUnsent
		}
		states = append(states, views.Option{Value: rest, Selected: q.Get("state") == rest})
	}
	for _, x := range []operation.Exclusion{operation.ExcludedDuplicate, operation.ExcludedSuppressed} {
		leftOut = append(leftOut, views.Option{Value: string(x), Selected: q.Get("left_out") == string(x)})
	}
	leftOut = append(leftOut, views.Option{Value: views.PartAny, Selected: q.Get("left_out") == views.PartAny})
	if number > 1 {
		for _, x := range []string{store.ItemAdded, store.ItemDropped, store.ItemChanged} {
			diffs = append(diffs, views.Option{Value: x, Selected: q.Get("diff") == x})
		}
	}
	return states, leftOut, diffs
}

// itemColumns are the columns of the file. The names and the codes in it are stable;
// docs/batches.md says what they mean.
var itemColumns = []string{"row", "key", "recipient", "title", "left_out", "problems", "hash", "operation_id", "state", "delivery"}

// batchCSV writes the items that the filters find, row by row as they are read.
func (s *site) batchCSV(c echo.Context) error {
	p, err := s.findBatch(c)
	if err != nil {
		return err
	}
	v, q := web.VisitOf(c), c.QueryParams()
	find := itemQuery(q, p)
	find.After, find.Before = 0, 0
	filter := url.Values{"batch": {string(p.ID)}, "version": {itoa(find.Number)}}.Encode()
	if f := itemFilter(q); f != "" {
		filter += "&" + f
	}
	return s.exporting(c, store.Export{What: "batch", Format: "csv", Filter: filter}, func(o *outgoing) error {
		w := csv.NewWriter(o)
		begin := func() error {
			if c.Response().Committed {
				return nil
			}
			fileHead(c, "text/csv; charset=utf-8; header=present", "batch", ".csv")
			if _, err := o.Write([]byte(byteOrderMark)); err != nil {
				return err
			}
			return w.Write(itemColumns)
		}
		err := s.Store.EachBatchItem(c.Request().Context(), v.Actor(), find, func(i store.BatchItem) error {
			o.rows++
			return errors.Join(begin(), w.Write(itemCells(i)))
		})
		if err == nil {
			err = begin()
		}
		w.Flush()
		return errors.Join(err, w.Error())
	})
}

func itemCells(i store.BatchItem) []string {
	var problems []string
	for _, x := range i.Problems() {
		problems = append(problems, x.Code+":"+x.Field)
	}
	row := []string{itoa(i.Position), i.Key, i.Recipient, i.Title, string(i.Excluded), strings.Join(problems, " "), hex.EncodeToString(i.Hash), string(i.Operation), string(i.State), i.Delivery}
	for n, cell := range row {
		row[n] = guarded(cell)
	}
	return row
}

// findItem reads one item of the address with its body. The version is the current one
// unless the address names another.
func (s *site) findItem(c echo.Context) (*store.BatchPage, store.BatchItem, error) {
	p, err := s.findBatch(c)
	if err != nil {
		return nil, store.BatchItem{}, err
	}
	number, position := p.Number, numberIn(c.Param("no"))
	if n := numberIn(c.QueryParam("version")); n > 0 {
		number = n
	}
	if position < 1 {
		return nil, store.BatchItem{}, store.ErrNotFound
	}
	list, err := s.Store.BatchPicks(c.Request().Context(), web.VisitOf(c).Actor(), p.ID, number, []int{position})
	if err == nil && len(list) == 0 {
		err = store.ErrNotFound
	}
	if err != nil {
		return nil, store.BatchItem{}, err
	}
	list[0].Number = number
	return p, list[0], nil
}

// batchItem shows one item whole.
func (s *site) batchItem(c echo.Context) error {
	p, i, err := s.findItem(c)
	if err != nil {
		return err
	}
	b := batchOf{p: p, lang: lang(c)}
	m := views.BatchItemModel{Batch: views.Link{Label: b.title(), URL: pathBatch(p.ID)}, Number: i.Number, Item: itemLine(p, i), Content: itemContent(p, i), Request: itemRequest(p, i), All: b.itemsURL()}
	if i.Number != p.Number {
		m.All += "?version=" + itoa(i.Number)
	}
	if len(i.Hash) > 0 {
		m.Hash = hex.EncodeToString(i.Hash)
	}
	if i.Position > 1 {
		m.Prev = pathItem(p.ID, i.Number, i.Position-1)
	}
	for _, v := range p.Versions {
		if v.Number == i.Number && i.Position < v.Total {
			m.Next = pathItem(p.ID, i.Number, i.Position+1)
		}
	}
	m.Frame = web.Frame(c, views.SectionOperations)
	return web.Render(c, views.BatchItemPage(m))
}

// itemVersion is an item in the form of an operation's version, so that it is shown alike.
func itemVersion(i store.BatchItem) store.VersionRow {
	return store.VersionRow{Number: i.Number, ContentText: i.ContentText, RequestText: i.RequestText, Hash: i.Hash}
}

// itemContent shows an item's content: a mail as a mail, anything else as fields. What it
// leads to lies at the item's own addresses.
func itemContent(p *store.BatchPage, i store.BatchItem) views.ContentView {
	v := contentView("", itemVersion(i))
	page, query, _ := strings.Cut(pathItem(p.ID, max(i.Number, p.Number), i.Position), "?")
	at := func(name, field string) string { return page + "/" + name + "?" + query + "&field=" + field }
	if v.Mail != nil {
		if v.Mail.HTMLFrame != "" {
			v.Mail.HTMLFrame, v.Mail.HTMLURL = page+"/preview?"+query, at("content", "html")
		}
		if v.Mail.TextCut.URL != "" {
			v.Mail.TextCut.URL = at("content", "text")
		}
	}
	if v.Cut.URL != "" {
		v.Cut.URL = page + "/content?" + query
	}
	for n := range v.Fields {
		if v.Fields[n].Cut.URL != "" {
			v.Fields[n].Cut.URL = at("content", url.QueryEscape(v.Fields[n].Name))
		}
	}
	return v
}

func itemRequest(p *store.BatchPage, i store.BatchItem) views.RequestView {
	v := itemVersion(i)
	v.Credential, v.Account = p.Version.Credential, p.Account
	r := requestView(&store.OperationPage{}, v)
	r.URL = ""
	if r.Cut.URL != "" {
		page, query, _ := strings.Cut(pathItem(p.ID, i.Number, i.Position), "?")
		r.URL, r.Cut.URL = page+"/content?"+query+"&part=request", page+"/content?"+query+"&part=request"
	}
	return r
}

// batchItemPreview gives the HTML part of an item's mail, for a sandboxed frame.
func (s *site) batchItemPreview(c echo.Context) error {
	_, i, err := s.findItem(c)
	if err != nil {
		return err
	}
	v := itemVersion(i)
	return s.showPreview(c, shownValue(v.Content()["html"]))
}

// batchItemContent gives an item's content as it is stored, one text of it, or its request.
func (s *site) batchItemContent(c echo.Context) error {
	p, i, err := s.findItem(c)
	if err != nil {
		return err
	}
	if i.ContentText == "" {
		return store.ErrNotFound
	}
	v, name := itemVersion(i), string(p.ID)+"-"+itoa(i.Position)
	switch field := c.QueryParam("field"); {
	case c.QueryParam("part") == "request":
		return web.TextFile(c, name+"-request.txt", operation.ShowHoles(requestText(v.Request())))
	case field == "":
		return web.TextFile(c, name+"-content.json.txt", i.ContentText)
	default:
		x, ok := v.Content()[field]
		if !ok {
			return store.ErrNotFound
		}
		return web.TextFile(c, name+"-"+field+".txt", shownValue(x))
	}
}
