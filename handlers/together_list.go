package handlers

import (
	"math/big"
	"slices"
	"strings"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/views"
)

// variesLimit is the longest value, in bytes, that the line of a list shows; what is
// longer stands in the whole content.
const variesLimit = 200

// togetherItems draws the list: what is the same in all stands once, each line has what
// differs.
func togetherItems(list []store.TogetherItem, t typed, now time.Time) (out []views.TogetherItem, shared []views.Field) {
	fields := make([][]views.Field, len(list))
	for i, x := range list {
		fields[i] = fieldsOf(x.Version.Content())
	}
	same := map[string]bool{}
	for _, f := range sameFields(fields) {
		same[f.Name] = true
		shared = append(shared, boundedField(f, variesLimit*4))
	}
	for i, x := range list {
		line := views.TogetherItem{ID: x.ID, URL: pathOperation(x.ID), Title: x.Title, Version: x.VersionID, Number: x.VersionNo, Hash: x.Version.HashHex(), Revision: x.Revision,
			For: string(x.For), ForName: x.ForName, Content: contentView(x.ID, x.Version), Required: max(x.Policy.Required, 1), Due: timeOf(x.NextAt), Overdue: x.Overdue(now), Picked: picked(t, x.ID)}
		if line.Title == "" {
			line.Title = shortID(string(x.ID))
		}
		for _, g := range x.Standing {
			if g.Decision == operation.Approve {
				line.Given++
			}
		}
		for _, f := range fields[i] {
			if !same[f.Name] && f.Value != x.Title {
				line.Varies = append(line.Varies, boundedField(f, variesLimit))
			}
		}
		out = append(out, line)
	}
	return out, shared
}

// boundedField cuts a field's value to what a line of a list takes.
func boundedField(f views.Field, limit int) views.Field {
	if shown, cut := views.Bound(f.Value, limit); cut {
		f.Value, f.Cut = shown, views.Cut{Shown: len(shown), Total: len(f.Value)}
	}
	f.Main = false
	return f
}

// sameFields are the fields that every version has with the same value; of a single
// version there are none.
func sameFields(all [][]views.Field) []views.Field {
	if len(all) < 2 {
		return nil
	}
	var out []views.Field
	for _, f := range all[0] {
		everywhere := true
		for _, other := range all[1:] {
			everywhere = everywhere && slices.ContainsFunc(other, func(g views.Field) bool { return g.Name == f.Name && g.Value == f.Value })
		}
		if everywhere {
			out = append(out, f)
		}
	}
	return out
}

// togetherSums counts mails and recipients, and adds the amounts by currency: of each
// version its total or amount, whichever the content names as a whole.
func togetherSums(list []store.TogetherItem) (mails, recipients int, money []views.Money) {
	sums := map[string]*big.Int{}
	var order []string
	for _, x := range list {
		content := x.Version.Content()
		if isMail(content) {
			mails++
			recipients += mailHead(x.Version, content).Recipients()
		}
		m := wholeAmount(content)
		if m == nil {
			continue
		}
		n, ok := new(big.Int).SetString(m.Minor, 10)
		if !ok {
			continue
		}
		c := strings.ToUpper(m.Currency)
		if sums[c] == nil {
			sums[c], order = new(big.Int), append(order, c)
		}
		sums[c].Add(sums[c], n)
	}
	slices.Sort(order)
	for _, c := range order {
		money = append(money, views.Money{Minor: sums[c].String(), Currency: c})
	}
	return mails, recipients, money
}

// wholeAmount is what a version comes to, where its content says so; nil = it does not.
func wholeAmount(content map[string]any) *views.Money {
	all := leaves(content, "")
	for _, name := range []string{"total", "amount", "gross", "amount_off", "price"} {
		for _, l := range all {
			if l.path == name && l.money != nil {
				return l.money
			}
		}
	}
	return nil
}
