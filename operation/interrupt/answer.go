package interrupt

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
)

// Answers drafts the answers to a pause: one entry for each action, with the arguments
// as asked and the first decision that the graph takes. An entry has the members
// interrupt, action, decision, args and, for an answer in words, message.
//
// A question in free form has no args, and its message is missing: somebody writes it.
func Answers(requests []Request) []any {
	var out []any
	for _, r := range requests {
		for _, a := range r.Actions {
			e := map[string]any{"interrupt": r.ID}
			if r.Form != Free {
				e["action"], e["args"] = a.Name, a.Args
			}
			if len(a.Allowed) > 0 {
				e["decision"] = string(a.Allowed[0])
			}
			out = append(out, e)
		}
	}
	return out
}

// Resume gives what the graph goes on with: for each interrupt, by its id, the value of
// its form. It refuses answers that do not fit: another number or order of them, another
// action, a decision that the graph does not take, a changed argument where it takes
// none, an answer in words without words.
func Resume(requests []Request, answers any) (map[string]any, error) {
	list, ok := answers.([]any)
	if !ok {
		return nil, errors.New("the answers are no list")
	}
	out := make(map[string]any, len(requests))
	for _, r := range requests {
		n := len(r.Actions)
		if len(list) < n {
			return nil, errors.New("an answer is missing")
		}
		values := make([]any, n)
		for i, a := range r.Actions {
			v, err := r.answer(a, list[i])
			if err != nil {
				return nil, err
			}
			values[i] = v
		}
		list = list[n:]
		switch r.Form {
		case LangChain:
			out[r.ID] = map[string]any{"decisions": values}
		case Inbox:
			out[r.ID] = values
		default:
			out[r.ID] = values[0]
		}
	}
	if len(list) > 0 {
		return nil, errors.New("there are more answers than actions")
	}
	return out, nil
}

// answer gives the value of one answer in the form of its request.
func (r Request) answer(a Action, entry any) (any, error) {
	m, ok := entry.(map[string]any)
	if !ok {
		return nil, errors.New("an answer is no object")
	}
	for key := range m {
		if !slices.Contains([]string{"interrupt", "action", "decision", "args", "message"}, key) {
			return nil, fmt.Errorf("an answer has no member %q", key)
		}
	}
	if textAt(m, "interrupt") != r.ID || textAt(m, "action") != a.Name {
		return nil, fmt.Errorf("the answer for %s of interrupt %s stands in another place", a.Name, r.ID)
	}
	d, message := Decision(textAt(m, "decision")), textAt(m, "message")
	if !slices.Contains(a.Allowed, d) {
		return nil, fmt.Errorf("the graph does not take %q for %s", d, a.Name)
	}
	if d == Respond && message == "" {
		return nil, errors.New("the answer has no words")
	}
	if d == Approve && message != "" || d == Ignore && message != "" {
		return nil, fmt.Errorf("%q carries no message to the graph", d)
	}
	if r.Form == Free {
		return message, nil
	}
	args, ok := m["args"].(map[string]any)
	if !ok {
		return nil, fmt.Errorf("the arguments of %s are no object", a.Name)
	}
	changed := !same(args, a.Args)
	if changed && (d != Approve || !a.Edit) {
		return nil, fmt.Errorf("the arguments of %s may not be changed here", a.Name)
	}
	// A graph that takes edits only gets the unchanged arguments as an edit: it says the same.
	edit := d == Approve && (changed || !a.accept)
	if r.Form == Inbox {
		return inboxValue(a.Name, d, args, message, edit), nil
	}
	return r.langChainValue(a.Name, d, args, message, edit), nil
}

func inboxValue(action string, d Decision, args map[string]any, message string, edit bool) any {
	request := map[string]any{"action": action, "args": args}
	switch {
	case d == Ignore:
		return map[string]any{"type": "ignore", "args": nil}
	case d == Respond:
		return map[string]any{"type": "response", "args": message}
	case edit:
		return map[string]any{"type": "edit", "args": request}
	}
	return map[string]any{"type": "accept", "args": request}
}

func (r Request) langChainValue(action string, d Decision, args map[string]any, message string, edit bool) any {
	switch {
	case edit:
		name := "editedAction"
		if r.snake {
			name = "edited_action"
		}
		return map[string]any{"type": "edit", name: map[string]any{"name": action, "args": args}}
	case message != "":
		return map[string]any{"type": string(d), "message": message}
	}
	return map[string]any{"type": string(d)}
}

// same compares two JSON values; numbers count by their value.
func same(a, b any) bool {
	ra, errA := json.Marshal(a)
	rb, errB := json.Marshal(b)
	if errA != nil || errB != nil {
		return false
	}
	var va, vb any
	return json.Unmarshal(ra, &va) == nil && json.Unmarshal(rb, &vb) == nil && reflect.DeepEqual(va, vb)
}
