package handlers

import (
	"strings"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/views"
)

// names says who somebody is on a page for one viewer.
type names struct {
	people map[string]string // ID → name
	viewer operation.Person
}

// person names somebody by their ID.
func (n names) person(id string) views.Who {
	switch {
	case strings.HasPrefix(id, "usr_"):
		return views.PersonWho(n.name(id), id == string(n.viewer.ID))
	case strings.HasPrefix(id, "tok_"):
		return views.Who{Kind: views.WhoToken, Name: n.name(id)}
	case id == "" || id == "system" || id == "worker":
		return views.SystemWho()
	}
	return views.Who{Kind: views.WhoJob, Name: id}
}

func (n names) name(id string) string {
	if s := n.people[id]; s != "" {
		return s
	}
	return id
}

// responsible names who must act.
func (n names) responsible(r operation.Responsible) views.Who {
	switch {
	case r.System:
		return views.SystemWho()
	case r.User != "":
		return n.person(string(r.User))
	}
	return views.RoleWho(r.Role, n.viewer.Has(r.Role))
}

// selector names the people of a role, or one person by their address.
func (n names) selector(s operation.Selector) views.Who {
	if s.User != "" {
		return views.PersonWho(s.User, strings.EqualFold(s.User, n.viewer.Email))
	}
	return views.RoleWho(s.Role, n.viewer.Has(s.Role))
}

// author names who wrote a version.
func (n names) author(v store.VersionRow) views.Who {
	switch v.AuthorKind {
	case "person":
		return n.person(v.AuthorID)
	case "model":
		return views.Who{Kind: views.WhoModel, Name: v.Model}
	case "token":
		return views.Who{Kind: views.WhoToken, Name: n.name(v.AuthorID)}
	}
	return views.SystemWho()
}

// actor names who made a history entry.
func (n names) actor(h store.HistoryRow) views.Who {
	switch h.ActorKind {
	case operation.ActorPerson:
		return views.PersonWho(h.ActorName, h.ActorID == string(n.viewer.ID))
	case operation.ActorToken:
		return views.Who{Kind: views.WhoToken, Name: h.ActorName}
	case operation.ActorJob:
		return views.Who{Kind: views.WhoJob, Name: h.ActorName}
	}
	return views.SystemWho()
}

// myTurn reports whether the viewer is the one who must act.
func (n names) myTurn(r operation.Responsible) bool {
	switch {
	case r.System:
		return false
	case r.User != "":
		return r.User == n.viewer.ID
	}
	return n.viewer.Has(r.Role)
}
