package views

import (
	"strings"
	"time"

	"holdpoint/operation"
	"holdpoint/views/text"
)

// Say is a sentence that is still to be put into the reader's language: a catalogue
// key with its parameters, or a refusal. The zero value says nothing.
type Say struct {
	Key     string
	Args    []any // names and values in turn, as text.Printer.T takes them
	Refusal *operation.Refusal
}

// Sentence makes a Say from a catalogue key and its parameters.
func Sentence(key string, args ...any) Say { return Say{Key: key, Args: args} }

// Refused makes a Say from a refusal.
func Refused(r *operation.Refusal) Say { return Say{Refusal: r} }

// Empty reports whether there is nothing to say.
func (s Say) Empty() bool { return s.Key == "" && s.Refusal == nil }

// In puts the sentence into the printer's language.
func (s Say) In(p *text.Printer) string {
	switch {
	case s.Refusal != nil:
		return RefusalText(p, s.Refusal)
	case s.Key != "":
		return p.T(s.Key, s.Args...)
	}
	return ""
}

// RefusalText says a refusal in one or two sentences: why not, who can, what would
// help. Times become the reader's, states and roles their words.
func RefusalText(p *text.Printer, r *operation.Refusal) string {
	args := []any{"Who", whoCan(p, r)}
	for _, name := range []string{"at", "state", "role", "stage", "limit", "item", "count", "was", "is", "attempt", "who"} {
		args = append(args, refusalParam[name], refusalValue(p, name, r.Params[name]))
	}
	return p.T("refusal."+string(r.Code), args...)
}

// refusalParam gives the catalogue's name of a refusal's parameter.
var refusalParam = map[string]string{"at": "At", "state": "State", "role": "Role", "stage": "Stage", "limit": "Limit",
	"item": "Item", "count": "Count", "was": "Was", "is": "Is", "attempt": "Attempt", "who": "Person"}

func refusalValue(p *text.Printer, name, v string) string {
	if v == "" {
		return "–"
	}
	switch name {
	case "at":
		if t, err := time.Parse(time.RFC3339, v); err == nil {
			return p.Short(t)
		}
	case "state":
		if operation.State(v).Valid() {
			return p.T("state." + v)
		}
		if k := "batch.state." + v; text.Has(k) {
			return p.T(k)
		}
	case "role":
		if operation.Role(v).Valid() {
			return p.T("role." + v)
		}
	case "item":
		if k := "checklist." + v; text.Has(k) {
			return p.T(k)
		}
	}
	return v
}

// whoCan names who can help: as the refusal says, else the role it asks for, else
// whoever the flow names.
func whoCan(p *text.Printer, r *operation.Refusal) string {
	role := r.Who.Role
	if role == "" {
		role = operation.Role(r.Params["role"])
	}
	switch {
	case r.Who.System:
		return p.T("who.system")
	case r.Params["roles"] != "":
		return everybody(p, r)
	case role.Valid():
		return p.T("role." + string(role))
	case r.Params["name"] != "":
		return Plain(r.Params["name"])
	case r.Who.User != "":
		return p.T("who.named")
	}
	return p.T("who.flow")
}

// everybody names the person and every role that can help.
func everybody(p *text.Printer, r *operation.Refusal) string {
	var list []string
	if name := r.Params["name"]; name != "" {
		list = append(list, Plain(name))
	}
	for _, role := range strings.Fields(r.Params["roles"]) {
		list = append(list, p.T("role."+role))
	}
	return strings.Join(list, p.T("list.join"))
}
