package handlers

import (
	"slices"

	"holdpoint/operation"
	"holdpoint/operation/definition"
	"holdpoint/views"
)

// groupSignatures lists the places of each group, filled or open, then whatever stands that
// is a decision against it. An approval whose right has ended since fills no place.
func (b panelOf) groupSignatures() []views.Signature {
	p := b.p
	var out []views.Signature
	var shown []int
	for _, f := range p.Policy.Fill(p.Given()) {
		title := groupTitle(f.Group, b.lang)
		for _, i := range f.By {
			s := signature(b.n, p.Standing[i])
			s.Group, shown = title, append(shown, i)
			out = append(out, s)
		}
		if p.State != operation.PendingApproval {
			continue
		}
		for range f.Open() {
			out = append(out, views.Signature{Who: b.turn(b.n.selector(f.Group.Approvers)), Since: timeOf(p.NextSince), Group: title})
		}
	}
	for i, a := range p.Standing {
		if a.Decision != operation.Approve && !slices.Contains(shown, i) {
			out = append(out, signature(b.n, a))
		}
	}
	return out
}

// groupTitle is a group's title in a language, else its key.
func groupTitle(g operation.Group, lang string) string {
	if s := definition.Text(g.Title).In(lang); s != "" {
		return s
	}
	return g.Key
}

// flowGroups are the groups of a stage's approvers.
func flowGroups(p operation.Policy, n names, lang string) []views.FlowGroup {
	var out []views.FlowGroup
	for _, g := range p.Groups {
		out = append(out, views.FlowGroup{Title: groupTitle(g, lang), Approvers: n.selector(g.Approvers), Required: g.Required})
	}
	return out
}
