package views

import (
	"net/mail"
	"slices"
	"strings"
)

// FieldChange is one content field whose text changed between two versions.
type FieldChange struct {
	Label string
	Parts []DiffPart
}

// Comparison is what changed between two versions of one operation.
type Comparison struct {
	From, To int // numbers of the versions
	// Versions are the numbers that can be chosen on each side, oldest first; Action is
	// where the choice is sent to.
	Versions []int
	Action   string
	// Recipients and Amounts are what a quick reader must not miss.
	Recipients []RecipientChange
	Amounts    []AmountChange
	Fields     []FieldChange
	// Same lists the fields of a mail's head that did not change.
	Same  []Field
	Mail  bool
	Count ChangeCount
	// Erased says that the text of one side was erased for privacy.
	Erased bool
	// Request is set when the content is the same but the exact request is not: the
	// destination or its profile changed.
	Request []DiffPart
}

// RecipientChange says who is added to and removed from one line of addresses.
type RecipientChange struct {
	Field          string // to, cc, bcc, reply_to, from, or another field that holds addresses
	Added, Removed []string
}

// AmountChange is an amount that changed.
type AmountChange struct {
	Field    string
	Old, Now Cell // an empty one: there was none, or is none any more
}

// Empty reports that nothing changed.
func (c Comparison) Empty() bool {
	return len(c.Fields) == 0 && len(c.Recipients) == 0 && len(c.Amounts) == 0 && len(c.Request) == 0
}

// head reports whether a field stands in the head of a mail.
func headField(name string) bool {
	return slices.Contains([]string{"from", "reply_to", "to", "cc", "bcc", "subject"}, name)
}

// Heads and Bodies split the changed fields of a mail: its head, its text, and the rest.
func (c Comparison) heads() []FieldChange {
	return slices.DeleteFunc(slices.Clone(c.Fields), func(f FieldChange) bool { return !headField(f.Label) })
}

func (c Comparison) text() []FieldChange {
	return slices.DeleteFunc(slices.Clone(c.Fields), func(f FieldChange) bool { return f.Label != "text" })
}

func (c Comparison) rest() []FieldChange {
	return slices.DeleteFunc(slices.Clone(c.Fields), func(f FieldChange) bool { return headField(f.Label) || f.Label == "text" })
}

// ChangedFields compares the fields of two versions and keeps those that changed, in
// the order of the newer one. Values are compared whole; Shorten makes them fit a page.
func ChangedFields(old, now []Field) []FieldChange {
	before := map[string]string{}
	for _, f := range old {
		before[f.Name] = f.Value
	}
	var out []FieldChange
	for _, f := range now {
		if was, there := before[f.Name]; was != f.Value || !there && f.Value != "" {
			if parts := Diff(was, f.Value); Changed(parts) {
				out = append(out, FieldChange{Label: f.Name, Parts: parts})
			}
		}
		delete(before, f.Name)
	}
	for _, f := range old {
		if v, gone := before[f.Name]; gone && v != "" {
			out = append(out, FieldChange{Label: f.Name, Parts: []DiffPart{{Op: DiffDelete, Text: v}}})
		}
	}
	return out
}

// CompareAddresses says who is new in a list of addresses and who has gone. Names beside
// the address do not count.
func CompareAddresses(field string, old, now []string) (c RecipientChange, changed bool) {
	c.Field = field
	in := func(list []string, a string) bool {
		return slices.ContainsFunc(list, func(x string) bool { return BareAddress(x) == BareAddress(a) })
	}
	for _, a := range now {
		if !in(old, a) && !in(c.Added, a) {
			c.Added = append(c.Added, a)
		}
	}
	for _, a := range old {
		if !in(now, a) && !in(c.Removed, a) {
			c.Removed = append(c.Removed, a)
		}
	}
	return c, len(c.Added)+len(c.Removed) > 0
}

// BareAddress is the address that a mail goes to, without the name beside it, as two are
// compared.
func BareAddress(s string) string {
	if a, err := mail.ParseAddress(s); err == nil {
		s = a.Address
	}
	return strings.ToLower(strings.TrimSpace(s))
}
