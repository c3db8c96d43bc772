package interrupt

import (
	"errors"
	"fmt"
	"slices"
)

// Form is the form in which an interrupt asks.
type Form string

// The forms.
const (
	Inbox     Form = "inbox"     // Agent Inbox: action_request, config, description
	LangChain Form = "langchain" // LangChain's middleware: actionRequests, reviewConfigs
	Free      Form = "free"      // anything else: a question, answered with text
)

// Decision is what a person decides about one action. A changed argument makes an
// approval an edit, so there is no word for editing here.
type Decision string

// The decisions.
const (
	Approve Decision = "approve"
	Reject  Decision = "reject"  // LangChain only
	Respond Decision = "respond" // an answer in words instead of the action
	Ignore  Decision = "ignore"  // Agent Inbox only
)

// Action is one thing that a graph wants to do.
type Action struct {
	Name        string // "" for a question in free form
	Args        any    // as asked; an object in the two known forms
	Description string // for people; Markdown by custom, never trusted
	// Allowed are the decisions that the graph takes, in the order in which people see them.
	Allowed []Decision
	Edit    bool // the arguments may be changed

	accept bool // the arguments may stay as they are
}

// Request is one pause: what an interrupt asks.
type Request struct {
	ID      string // of the interrupt
	Form    Form
	Actions []Action

	snake bool // LangChain's names in snake_case
}

// Errors of Read.
var (
	ErrNoInterrupt = errors.New("it holds no interrupt")
	errNoID        = errors.New("an interrupt needs its id")
)

// Read reads a list of interrupts as LangGraph gives them: [{id, value}, …]. An interrupt
// that names one of the known forms but does not keep to it is an error, not a question
// in free form: what is half understood is not answered.
func Read(list any) ([]Request, error) {
	items, ok := list.([]any)
	if !ok || len(items) == 0 {
		return nil, ErrNoInterrupt
	}
	out := make([]Request, 0, len(items))
	for i, item := range items {
		m, _ := item.(map[string]any)
		id, _ := m["id"].(string)
		if id == "" {
			return nil, fmt.Errorf("interrupt %d: %w", i+1, errNoID)
		}
		if slices.ContainsFunc(out, func(r Request) bool { return r.ID == id }) {
			return nil, fmt.Errorf("interrupt %s stands twice", id)
		}
		value, ok := m["value"]
		if !ok {
			return nil, fmt.Errorf("interrupt %s has no value", id)
		}
		r, err := readValue(value)
		if err != nil {
			return nil, fmt.Errorf("interrupt %s: %w", id, err)
		}
		r.ID = id
		out = append(out, r)
	}
	return out, nil
}

func readValue(value any) (Request, error) {
	switch v := value.(type) {
	case map[string]any:
		if has(v, "action_request") {
			return readInbox([]any{v})
		}
		if has(v, "actionRequests") || has(v, "action_requests") {
			return readLangChain(v)
		}
	case []any:
		if len(v) > 0 && !slices.ContainsFunc(v, func(e any) bool {
			m, _ := e.(map[string]any)
			return !has(m, "action_request")
		}) {
			return readInbox(v)
		}
	}
	return Request{Form: Free, Actions: []Action{{Args: value, Allowed: []Decision{Respond}}}}, nil
}

func readInbox(list []any) (Request, error) {
	r := Request{Form: Inbox}
	for _, e := range list {
		m, _ := e.(map[string]any)
		asked, _ := m["action_request"].(map[string]any)
		a := Action{Description: textAt(m, "description")}
		var err error
		if a.Name, a.Args, err = nameAndArgs(asked, "action"); err != nil {
			return r, err
		}
		config, _ := m["config"].(map[string]any)
		for _, c := range []struct {
			key string
			d   Decision
		}{{"allow_accept", Approve}, {"allow_respond", Respond}, {"allow_ignore", Ignore}} {
			if config[c.key] == true {
				a.Allowed = append(a.Allowed, c.d)
			}
		}
		a.editable(config["allow_edit"] == true)
		r.Actions = append(r.Actions, a)
	}
	return r, nil
}

func readLangChain(v map[string]any) (Request, error) {
	r := Request{Form: LangChain, snake: has(v, "action_requests")}
	asked, _ := either(v, "actionRequests", "action_requests").([]any)
	if len(asked) == 0 {
		return r, errors.New("it asks for no action")
	}
	configs, _ := either(v, "reviewConfigs", "review_configs").([]any)
	for _, e := range asked {
		m, _ := e.(map[string]any)
		a := Action{Description: textAt(m, "description")}
		var err error
		if a.Name, a.Args, err = nameAndArgs(m, "name"); err != nil {
			return r, err
		}
		a.allow(configs)
		r.Actions = append(r.Actions, a)
	}
	return r, nil
}

// allow takes what the review configuration of the action allows; an action without one
// allows nothing.
func (a *Action) allow(configs []any) {
	for _, c := range configs {
		m, _ := c.(map[string]any)
		if either(m, "actionName", "action_name") != a.Name {
			continue
		}
		words, _ := either(m, "allowedDecisions", "allowed_decisions").([]any)
		for _, known := range []Decision{Approve, Reject, Respond} {
			if slices.Contains(words, any(string(known))) {
				a.Allowed = append(a.Allowed, known)
			}
		}
		a.editable(slices.Contains(words, any("edit")))
		return
	}
}

// editable notes whether arguments may be changed, which is an approval too.
func (a *Action) editable(edit bool) {
	a.Edit, a.accept = edit, slices.Contains(a.Allowed, Approve)
	if edit && !a.accept {
		a.Allowed = slices.Insert(a.Allowed, 0, Approve)
	}
}

func nameAndArgs(m map[string]any, key string) (string, map[string]any, error) {
	name := textAt(m, key)
	if name == "" {
		return "", nil, errors.New("an action needs its name")
	}
	args, ok := m["args"].(map[string]any)
	if !ok {
		return "", nil, fmt.Errorf("the arguments of %s are no object", name)
	}
	return name, args, nil
}

func has(m map[string]any, key string) bool { _, ok := m[key]; return ok }

func either(m map[string]any, keys ...string) any {
	for _, k := range keys {
		if v, ok := m[k]; ok {
			return v
		}
	}
	return nil
}

func textAt(m map[string]any, key string) string { s, _ := m[key].(string); return s }
