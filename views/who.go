package views

import (
	"holdpoint/operation"
	"holdpoint/views/text"
)

// WhoKind says what kind of somebody is named.
type WhoKind string

// The kinds of somebody.
const (
	WhoPerson WhoKind = "person"
	WhoRole   WhoKind = "role"
	WhoSystem WhoKind = "system"
	WhoJob    WhoKind = "job"
	WhoToken  WhoKind = "token" // a service
	WhoModel  WhoKind = "model" // an AI that wrote a draft
)

// Who names somebody on a page. The zero value names nobody.
type Who struct {
	Kind WhoKind
	Name string // of a person, token, job or model
	Role operation.Role
	You  bool // it is the viewer
	// Another says that the viewer holds the role but cannot be the one.
	Another bool
	// For is the name of the person for whom they acted, by a delegation.
	For string
	// Gone says that the name was removed under a term.
	Gone bool
}

// PersonWho names a person.
func PersonWho(name string, you bool) Who { return Who{Kind: WhoPerson, Name: name, You: you} }

// RoleWho names all holders of a role; you says that the viewer is one.
func RoleWho(r operation.Role, you bool) Who { return Who{Kind: WhoRole, Role: r, You: you} }

// SystemWho names the system itself.
func SystemWho() Who { return Who{Kind: WhoSystem} }

// In names them in the reader's language.
func (w Who) In(p *text.Printer) string {
	if w.For != "" {
		principal := w.For
		w.For = ""
		return p.T("who.for", "Name", w.In(p), "For", principal)
	}
	switch {
	case w.Gone && w.Kind == WhoToken:
		return p.T("who.gone.token")
	case w.Gone:
		return p.T("who.gone.person")
	case w.Kind == WhoSystem:
		return p.T("who.system")
	case w.Kind == WhoModel:
		return p.T("who.model", "Name", w.Name)
	case w.You && w.Name == "" && w.Role == "":
		return p.T("who.you")
	case w.Name != "" && w.You:
		return p.T("who.name_you", "Name", w.Name)
	case w.Name != "":
		return w.Name
	case w.Role != "" && w.Another:
		return p.T("who.another", "Name", p.T("role."+string(w.Role)))
	case w.Role != "" && w.You:
		return p.T("who.name_you", "Name", p.T("role."+string(w.Role)))
	case w.Role != "":
		return p.T("role." + string(w.Role))
	}
	return p.T("who.nobody")
}
