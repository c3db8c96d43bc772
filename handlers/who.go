package handlers

import (
	"maps"
	"strings"

	"holdpoint/operation"
	"holdpoint/operation/definition"
	"holdpoint/store"
	"holdpoint/views"

	"github.com/labstack/echo/v4"
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
		return views.PersonWho(n.name(strings.ToLower(s.User)), strings.EqualFold(s.User, n.viewer.Email))
	}
	return views.RoleWho(s.Role, n.viewer.Has(s.Role))
}

// nameFlow adds the names of the people whom flows name by their address.
func (s *site) nameFlow(c echo.Context, n names, flows ...*definition.Flow) error {
	var emails []string
	for _, f := range flows {
		for _, x := range flowSelectors(f) {
			if x.User != "" {
				emails = append(emails, x.User)
			}
		}
	}
	known, err := s.Store.NamesByEmail(c.Request().Context(), emails)
	maps.Copy(n.people, known)
	return err
}

// flowSelectors lists everybody whom a flow names.
func flowSelectors(f *definition.Flow) []operation.Selector {
	list := []operation.Selector{f.Owner, f.Author, f.Reviewer, f.Reexecution.Approvers}
	for _, st := range f.Stages {
		list = append(list, st.Approval.Selectors()...)
	}
	return list
}

// refused puts a refusal into the words of a flow's readers: its stages by their titles,
// people by their names.
func refused(r *operation.Refusal, f *definition.Flow, lang string, people map[string]string) views.Say {
	return views.Refused(inWords(r, f, lang, people))
}

func inWords(r *operation.Refusal, f *definition.Flow, lang string, people map[string]string) *operation.Refusal {
	if r == nil {
		return nil
	}
	out := *r
	if out.Params = maps.Clone(r.Params); out.Params == nil {
		out.Params = map[string]string{}
	}
	if st, ok := f.Stage(r.Params["stage"]); ok {
		out.Params["stage"] = st.Title.In(lang)
	}
	for _, param := range []string{"who", "user"} {
		if name := people[r.Params[param]]; name != "" {
			out.Params[param] = name
		}
	}
	if name := people[string(r.Who.User)]; name != "" {
		out.Params["name"] = name
	}
	return &out
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
	if !h.WordsGone().IsZero() {
		return goneWho(h.ActorKind)
	}
	switch h.ActorKind {
	case operation.ActorPerson:
		who := views.PersonWho(h.ActorName, h.ActorID == string(n.viewer.ID))
		who.For = h.Links()["for_name"]
		return who
	case operation.ActorToken:
		return views.Who{Kind: views.WhoToken, Name: h.ActorName}
	case operation.ActorJob:
		return views.Who{Kind: views.WhoJob, Name: h.ActorName}
	}
	return views.SystemWho()
}

// goneWho names what kind of somebody acted, where the name was removed.
func goneWho(kind operation.ActorKind) views.Who {
	switch kind {
	case operation.ActorPerson:
		return views.Who{Kind: views.WhoPerson, Gone: true}
	case operation.ActorToken:
		return views.Who{Kind: views.WhoToken, Gone: true}
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
