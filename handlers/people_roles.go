package handlers

import (
	"slices"
	"strings"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/views"

	"github.com/labstack/echo/v4"
)

// flowNames are the flows with their titles in the viewer's language, by title.
type flowNames []views.FlowChoice

func (s *site) flowNames(c echo.Context) (flowNames, error) {
	items, err := s.Store.ListFlows(c.Request().Context())
	if err != nil {
		return nil, err
	}
	var out flowNames
	for _, f := range items {
		out = append(out, views.FlowChoice{Name: f.Name, Title: titled(f.Flow.Title, lang(c), f.Name)})
	}
	slices.SortFunc(out, func(a, b views.FlowChoice) int { return strings.Compare(a.Title, b.Title) })
	return out, nil
}

// of gives a flow's title; a flow that is not there stands by its name.
func (t flowNames) of(name string) string {
	for _, f := range t {
		if f.Name == name {
			return f.Title
		}
	}
	return name
}

func (t flowNames) options(selected string) []views.Option {
	var out []views.Option
	for _, f := range t {
		out = append(out, views.Option{Value: f.Name, Label: f.Title, Selected: f.Name == selected})
	}
	return out
}

// ticked are the flows as boxes.
func (t flowNames) ticked(names []string) []views.Option {
	out := t.options("")
	for i := range out {
		out[i].Selected = slices.Contains(names, out[i].Value)
	}
	return out
}

// grants shows a person's roles.
func (t flowNames) grants(held []store.Entitlement) []views.RoleGrant {
	var out []views.RoleGrant
	for _, g := range held {
		out = append(out, views.RoleGrant{Role: g.Role, Flow: t.of(g.Flow), ByProvider: g.ByProvider})
	}
	return out
}

// choices are the boxes of a form about roles. A flow that is not there any more keeps
// its box while somebody holds a role for it.
func (t flowNames) choices(on []store.RoleGrant) []views.RoleChoice {
	all := slices.Clone(t)
	for _, g := range on {
		if g.Flow != "" && !slices.ContainsFunc(all, func(f views.FlowChoice) bool { return f.Name == g.Flow }) {
			all = append(all, views.FlowChoice{Name: g.Flow, Title: g.Flow})
		}
	}
	var out []views.RoleChoice
	for _, r := range operation.Roles {
		c := views.RoleChoice{Role: r, All: slices.Contains(on, store.RoleGrant{Role: r})}
		for _, f := range all {
			f.On = slices.Contains(on, store.RoleGrant{Role: r, Flow: f.Name})
			c.Flows = append(c.Flows, f)
		}
		out = append(out, c)
	}
	return out
}

// grantsOf reads ROLE: and ROLE:FLOW, as the boxes of a form send them.
func grantsOf(values []string) []store.RoleGrant {
	var out []store.RoleGrant
	for _, v := range values {
		role, flow, _ := strings.Cut(v, ":")
		out = append(out, store.RoleGrant{Role: operation.Role(role), Flow: flow})
	}
	return out
}

// grantValues is how a form holds roles.
func grantValues(list []store.RoleGrant) []string {
	var out []string
	for _, g := range list {
		out = append(out, string(g.Role)+":"+g.Flow)
	}
	return out
}
