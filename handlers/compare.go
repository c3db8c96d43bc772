package handlers

import (
	"net/mail"
	"slices"
	"strings"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/views"
)

// comparison says what changed from one version to another. Recipients and amounts stand
// on top; everything else follows field by field.
func comparison(p *store.OperationPage, old, now store.VersionRow) *views.Comparison {
	c := &views.Comparison{From: old.Number, To: now.Number, Action: pathOperation(p.ID), Erased: old.ContentText == "" || now.ContentText == ""}
	for _, v := range p.Versions {
		c.Versions = append(c.Versions, v.Number)
	}
	if c.Erased {
		return c
	}
	d := differ{c: c, before: map[string]leaf{}}
	before, after := old.Content(), now.Content()
	for _, l := range leaves(before, "") {
		d.before[l.path] = l
	}
	if c.Mail = isMail(after) && isMail(before); c.Mail {
		d.mail(old, now, before, after)
	}
	d.facts(after)
	c.Fields = views.ChangedFields(d.rest(fieldsOf(before)), d.rest(fieldsOf(after)))
	for _, f := range c.Fields {
		c.Count.Count(f.Parts)
	}
	if c.Empty() {
		if a, b := requestText(old.Request()), requestText(now.Request()); a != b {
			c.Request = views.Diff(a, b)
		}
	}
	return c
}

// differ takes fields out of the general comparison that are shown by themselves.
type differ struct {
	c      *views.Comparison
	before map[string]leaf
	own    []string // paths shown by themselves; one that ends with a dot means all below
}

// mail compares who sends and who receives, as the exact requests say it.
func (d *differ) mail(old, now store.VersionRow, before, after map[string]any) {
	a, b := mailHead(old, before), mailHead(now, after)
	for _, line := range []struct {
		name     string
		old, now []string
	}{{"from", []string{a.From}, []string{b.From}}, {"reply_to", a.ReplyTo, b.ReplyTo}, {"to", a.To, b.To}, {"cc", a.Cc, b.Cc}, {"bcc", a.Bcc, b.Bcc}} {
		d.own = append(d.own, line.name, line.name+".")
		if r, changed := views.CompareAddresses(line.name, line.old, line.now); changed {
			d.c.Recipients = append(d.c.Recipients, r)
		} else if len(line.now) > 0 && line.now[0] != "" {
			d.c.Same = append(d.c.Same, views.Field{Name: line.name, Value: strings.Join(line.now, ", ")})
		}
	}
	if shownValue(before["subject"]) == shownValue(after["subject"]) {
		d.c.Same = append(d.c.Same, views.Field{Name: "subject", Value: b.Subject})
	}
}

// facts compares amounts, and addresses in other fields.
func (d *differ) facts(after map[string]any) {
	seen := map[string]bool{}
	for _, l := range leaves(after, "") {
		seen[l.path] = true
		if was := d.before[l.path]; !d.isOwn(l.path) {
			d.fact(l.path, was, l)
		}
	}
	var gone []string
	for path := range d.before {
		if !seen[path] && !d.isOwn(path) {
			gone = append(gone, path)
		}
	}
	slices.Sort(gone)
	for _, path := range gone {
		d.fact(path, d.before[path], leaf{path: path})
	}
}

func (d *differ) fact(path string, was, is leaf) {
	a, b := cellOf(was), cellOf(is)
	if sameCell(a, b) {
		return
	}
	switch {
	case amountLike(path, was) || amountLike(path, is):
		d.c.Amounts = append(d.c.Amounts, views.AmountChange{Field: path, Old: a, Now: b})
	case isAddress(a.Value) && (b.Value == "" || isAddress(b.Value)) || a.Value == "" && isAddress(b.Value):
		r, changed := views.CompareAddresses(path, addresses(was.value), addresses(is.value))
		if !changed {
			return
		}
		d.c.Recipients = append(d.c.Recipients, r)
	default:
		return
	}
	d.own = append(d.own, path)
}

func (d *differ) isOwn(path string) bool {
	return slices.ContainsFunc(d.own, func(o string) bool { return path == o || strings.HasSuffix(o, ".") && strings.HasPrefix(path, o) })
}

func (d *differ) rest(list []views.Field) []views.Field {
	return slices.DeleteFunc(list, func(f views.Field) bool { return d.isOwn(f.Name) })
}

func cellOf(l leaf) views.Cell { return views.Cell{Value: shownValue(l.value), Money: l.money} }

func sameCell(a, b views.Cell) bool {
	if (a.Money == nil) != (b.Money == nil) || a.Value != b.Value {
		return false
	}
	return a.Money == nil || strings.EqualFold(a.Money.Currency, b.Money.Currency)
}

// amountLike reports that a quick reader must see a change of this value.
func amountLike(path string, l leaf) bool {
	if l.money != nil {
		return true
	}
	key := path[strings.LastIndexByte(path, '.')+1:]
	return slices.Contains(moneyFields, key) || slices.Contains([]string{"percent_off", "quantity", "currency"}, key)
}

func isAddress(s string) bool {
	if !strings.Contains(s, "@") || len(s) > 320 {
		return false
	}
	_, err := mail.ParseAddress(s)
	return err == nil
}

// pickVersions reads which two versions are to be compared: since and to in the address,
// else the current version with the one before it.
func pickVersions(p *store.OperationPage, since, to int) (old, now *store.VersionRow) {
	if now = versionNumber(p, to); now == nil {
		now = p.Current()
	}
	if now == nil || len(p.Versions) < 2 {
		return nil, nil
	}
	if old = versionNumber(p, since); old == nil {
		if old = versionNumber(p, now.Number-1); old == nil {
			old = versionNumber(p, now.Number+1)
		}
	}
	return old, now
}

// changes compares two versions field by field, for a page that shows both sides.
func changes(old, now store.VersionRow) []views.FieldChange {
	return views.ChangedFields(fieldsOf(old.Content()), fieldsOf(now.Content()))
}

// recipients counts who receives the current version, if it is a mail.
func recipients(p *store.OperationPage) int {
	cur := p.Current()
	if cur == nil {
		return 0
	}
	content := cur.Content()
	if !isMail(content) {
		return 0
	}
	return mailHead(*cur, content).Recipients()
}

func compareURL(id operation.ID, number int) string {
	return pathOperation(id) + "?view=changes&since=" + itoa(number)
}
