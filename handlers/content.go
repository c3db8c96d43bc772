package handlers

import (
	"encoding/json"
	"fmt"
	"math/big"
	"net/url"
	"slices"
	"sort"
	"strconv"
	"strings"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/views"
)

// firstFields stand first, in this order; the others follow by name.
var firstFields = []string{"to", "cc", "subject", "title", "name", "code", "customer", "contact", "description", "lines", "amount", "currency", "due", "text", "html", "note"}

// leaf is one value of content with its place: keys and indexes joined by dots. money is
// set for an amount in minor units beside whose currency it stands.
type leaf struct {
	path  string
	value any
	money *views.Money
}

// leaves lists the values of content in the order in which people read them.
func leaves(v any, path string) []leaf { return leavesIn(v, path, "", "") }

func leavesIn(v any, path, key, currency string) []leaf {
	switch x := v.(type) {
	case map[string]any:
		currency = currencyIn(x, currency)
		var out []leaf
		for _, k := range ordered(x) {
			out = append(out, leavesIn(x[k], under(path, k), k, currency)...)
		}
		return out
	case []any:
		var out []leaf
		for i, e := range x {
			out = append(out, leavesIn(e, under(path, strconv.Itoa(i)), key, currency)...)
		}
		return out
	}
	return []leaf{{path, v, moneyIn(key, v, currency)}}
}

func under(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// ordered gives an object's keys as people read them.
func ordered(x map[string]any) []string {
	keys := make([]string, 0, len(x))
	for k := range x {
		keys = append(keys, k)
	}
	sort.Slice(keys, func(i, j int) bool { return fieldBefore(keys[i], keys[j]) })
	return keys
}

func fieldBefore(a, b string) bool {
	i, j := slices.Index(firstFields, a), slices.Index(firstFields, b)
	switch {
	case i >= 0 && j >= 0:
		return i < j
	case i >= 0 || j >= 0:
		return i >= 0
	}
	return a < b
}

// currencyIn is the currency that an object names, else the one around it.
func currencyIn(x map[string]any, around string) string {
	if s, _ := x["currency"].(string); len(s) == 3 {
		return s
	}
	return around
}

// moneyFields are the keys under which an integer is an amount in minor units, as payment
// services have it.
var moneyFields = []string{"amount", "total", "subtotal", "tax", "shipping", "discount", "price", "unit_price", "unit_amount", "amount_off", "fee", "net", "gross", "balance"}

// moneyIn reads an amount: only an integer, and only where a currency is named. Its digits
// are kept as they are.
func moneyIn(key string, v any, currency string) *views.Money {
	n, is := v.(json.Number)
	if !is || currency == "" || !slices.Contains(moneyFields, key) || strings.ContainsAny(n.String(), ".eE+") {
		return nil
	}
	return &views.Money{Minor: n.String(), Currency: currency}
}

// shownValue writes one value as people read it.
func shownValue(v any) string {
	switch x := v.(type) {
	case nil:
		return ""
	case string:
		return x
	case bool:
		return strconv.FormatBool(x)
	case json.Number:
		return x.String()
	}
	return fmt.Sprint(v)
}

// fieldsOf lists content as fields, whole. The first text that says what it is about is
// marked.
func fieldsOf(content map[string]any) []views.Field {
	var out []views.Field
	main := mainField(content)
	for _, l := range leaves(content, "") {
		out = append(out, views.Field{Name: l.path, Value: shownValue(l.value), Main: l.path == main, Money: l.money})
	}
	return out
}

func mainField(content map[string]any) string {
	for _, k := range []string{"subject", "title", "name", "description", "note", "text", "code"} {
		if s, _ := content[k].(string); s != "" {
			return k
		}
	}
	return ""
}

// fieldPage lists content as fields that fit a page: long texts and long lists are cut,
// and lead to the whole at url. Lists of like entries become tables.
type fieldPage struct {
	url  string
	room int // bytes that are left for values
	main string
	out  []views.Field
	left int // fields that found no room
}

func shownFields(content map[string]any, url string) (fields []views.Field, cut views.Cut) {
	p := &fieldPage{url: url, room: views.ShownContent, main: mainField(content)}
	p.add("", "", content, "")
	if p.left > 0 {
		cut = views.Cut{Shown: len(p.out), Total: len(p.out) + p.left, URL: url}
	}
	return p.out, cut
}

func (p *fieldPage) add(path, key string, v any, currency string) {
	switch x := v.(type) {
	case map[string]any:
		currency = currencyIn(x, currency)
		for _, k := range ordered(x) {
			p.add(under(path, k), k, x[k], currency)
		}
		return
	case []any:
		if t := p.table(x, currency); t != nil {
			p.put(views.Field{Name: path, Table: t})
			return
		}
		if text, ok := listText(x); ok {
			p.put(p.text(path, text))
			return
		}
		for i, e := range x {
			p.add(under(path, strconv.Itoa(i)), key, e, currency)
		}
		return
	}
	if m := moneyIn(key, v, currency); m != nil {
		p.put(views.Field{Name: path, Value: shownValue(v), Money: m})
		return
	}
	p.put(p.text(path, shownValue(v)))
}

func (p *fieldPage) put(f views.Field) {
	if len(p.out) >= views.ShownRows || p.room <= 0 {
		p.left++
		return
	}
	p.out = append(p.out, f)
}

// text bounds one value by what a page takes of one text, and of all.
func (p *fieldPage) text(path, value string) views.Field {
	f := views.Field{Name: path, Value: value, Main: path == p.main}
	if shown, cut := views.Bound(value, max(min(views.ShownText, p.room), 0)); cut {
		f.Value, f.Cut = shown, views.Cut{Shown: len(shown), Total: len(value), URL: p.url}
	}
	p.room -= len(f.Value)
	return f
}

// listText writes a list of plain values, one a line.
func listText(list []any) (string, bool) {
	lines := make([]string, 0, len(list))
	for _, e := range list {
		switch e.(type) {
		case map[string]any, []any:
			return "", false
		}
		lines = append(lines, shownValue(e))
	}
	return strings.Join(lines, "\n"), true
}

// maxColumns is the most columns of a table that a page shows as one.
const maxColumns = 8

// table reads a list of objects whose values are plain; nil = it is none.
func (p *fieldPage) table(list []any, currency string) *views.Table {
	columns := tableColumns(list)
	if len(columns) == 0 {
		return nil
	}
	t := &views.Table{Columns: columns, Total: len(list)}
	sums := make([]sum, len(columns))
	for i, e := range list {
		row := e.(map[string]any) //nolint:forcetypeassert // tableColumns has looked at every entry
		around := currencyIn(row, currency)
		var cells []views.Cell
		for c, k := range columns {
			m := moneyIn(k, row[k], around)
			sums[c].add(m)
			value, _ := views.Bound(shownValue(row[k]), 400)
			cells = append(cells, views.Cell{Value: value, Money: m})
		}
		if i < views.ShownRows && p.room > 0 {
			t.Rows = append(t.Rows, cells)
			for _, c := range cells {
				p.room -= len(c.Value)
			}
		}
	}
	t.Sum = sums[len(columns)-1].money()
	return t
}

// tableColumns gives the keys of a list of plain objects; the line's amount stands last.
func tableColumns(list []any) []string {
	all := map[string]any{}
	for _, e := range list {
		row, ok := e.(map[string]any)
		if !ok {
			return nil
		}
		for k, v := range row {
			switch v.(type) {
			case map[string]any, []any:
				return nil
			}
			all[k] = v
		}
	}
	if len(all) > maxColumns {
		return nil
	}
	keys := ordered(all)
	for _, last := range []string{"total", "amount"} {
		if i := slices.Index(keys, last); i >= 0 {
			return append(slices.Delete(keys, i, i+1), last)
		}
	}
	return keys
}

// sum adds amounts of one currency; one that is missing or of another spoils it.
type sum struct {
	total    big.Int
	currency string
	entries  int
	spoilt   bool
}

func (s *sum) add(m *views.Money) {
	var n big.Int
	if m == nil || s.entries > 0 && !strings.EqualFold(m.Currency, s.currency) {
		s.spoilt = true
		return
	}
	if _, ok := n.SetString(m.Minor, 10); !ok {
		s.spoilt = true
		return
	}
	s.currency, s.entries = m.Currency, s.entries+1
	s.total.Add(&s.total, &n)
}

func (s *sum) money() *views.Money {
	if s.spoilt || s.entries == 0 {
		return nil
	}
	return &views.Money{Minor: s.total.String(), Currency: s.currency}
}

// contentView shows a version's content: a mail as a mail, anything else as fields.
func contentView(id operation.ID, v store.VersionRow) views.ContentView {
	content := v.Content()
	switch {
	case v.ContentText == "":
		return views.ContentView{Erased: true}
	case isMail(content):
		return views.ContentView{Mail: mailView(id, v, content)}
	}
	fields, cut := shownFields(content, pathVersion(id, v.ID)+"/content")
	if p := interruptView(content); p != nil {
		p.Whole, p.Cut = fields, cut
		return views.ContentView{Interrupt: p}
	}
	return views.ContentView{Fields: fields, Cut: cut}
}

// safeURL keeps an address that a person may open; everything else becomes "".
func safeURL(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.User != nil {
		return ""
	}
	return raw
}
