package handlers

import (
	"holdpoint/operation/interrupt"
	"holdpoint/views"
)

// interruptView reads content as the answer to a paused graph; nil = it is none. The content
// says what the graph asks in interrupts, and what it is answered in answers.
func interruptView(content map[string]any) *views.InterruptView {
	requests, err := interrupt.Read(content["interrupts"])
	if err != nil {
		return nil
	}
	answers, _ := content["answers"].([]any)
	p := &views.InterruptView{}
	for _, r := range requests {
		for _, a := range r.Actions {
			var given map[string]any
			if n := len(p.Actions); n < len(answers) {
				given, _ = answers[n].(map[string]any)
			}
			p.Actions = append(p.Actions, interruptAction(a, given))
		}
	}
	return p
}

func interruptAction(a interrupt.Action, given map[string]any) views.InterruptAction {
	out := views.InterruptAction{Name: a.Name, Description: boundedText(a.Description), Takes: a.Allowed, Edit: a.Edit,
		Decision: interrupt.Decision(shownValue(given["decision"])), Message: boundedText(shownValue(given["message"]))}
	if a.Name == "" {
		for _, l := range leaves(a.Args, "") {
			out.Args = append(out.Args, views.InterruptArg{Field: views.Field{Name: l.path, Value: boundedText(shownValue(l.value))}})
		}
		return out
	}
	asked := map[string]string{}
	for _, l := range leaves(a.Args, "") {
		asked[l.path] = shownValue(l.value)
	}
	args, ok := given["args"]
	if !ok {
		args = a.Args
	}
	seen := map[string]bool{}
	for _, l := range leaves(args, "") {
		value := shownValue(l.value)
		was, there := asked[l.path]
		arg := views.InterruptArg{Field: views.Field{Name: l.path, Value: boundedText(value)}, Changed: !there || was != value}
		if arg.Changed {
			arg.Was = boundedText(was)
		}
		seen[l.path] = true
		out.Args = append(out.Args, arg)
		out.Changed = out.Changed || arg.Changed
	}
	for _, l := range leaves(a.Args, "") {
		if !seen[l.path] {
			out.Changed = true
			out.Args = append(out.Args, views.InterruptArg{Field: views.Field{Name: l.path}, Changed: true, Was: boundedText(asked[l.path])})
		}
	}
	return out
}

// boundedText cuts a text to what a page shows of one; the whole stands in the content's
// fields and their file.
func boundedText(s string) string {
	if shown, cut := views.Bound(s, views.ShownText); cut {
		return shown + " …"
	}
	return s
}
