package viewstest

import (
	"holdpoint/operation/interrupt"
	"holdpoint/views"
)

// graphAnswer is the answer to a paused graph that wants two things: one is run with a
// changed argument, the other is not run.
func graphAnswer() views.ContentView {
	arg := func(name, value string) views.InterruptArg {
		return views.InterruptArg{Field: views.Field{Name: name, Value: value}}
	}
	changed := arg("to", "ann.bell@buyer.example")
	changed.Changed, changed.Was = true, "ann@buyer.example"
	return views.ContentView{Interrupt: &views.InterruptView{
		Actions: []views.InterruptAction{
			{Name: "send_email", Description: "Tool execution requires approval\n\nThe order is **paid**; <b>thank</b> the customer.", Changed: true, Decision: interrupt.Approve,
				Args:  []views.InterruptArg{changed, arg("subject", "Thank you for order 10519"), arg("text", "Your kettle is on its way.\nMay we call you about it?")},
				Takes: []interrupt.Decision{interrupt.Approve, interrupt.Reject}, Edit: true},
			{Name: "delete_draft", Decision: interrupt.Reject, Message: "Keep the draft until the customer has answered.",
				Args: []views.InterruptArg{arg("id", "draft-88")}, Takes: []interrupt.Decision{interrupt.Approve, interrupt.Reject}},
			{Description: "", Args: []views.InterruptArg{arg("question", "Which of her two addresses is the right one?")}, Takes: []interrupt.Decision{interrupt.Respond}},
		},
		Whole: []views.Field{{Name: "assistant", Value: "campaign"}, {Name: "checkpoint", Value: "1f1ec792-c911-66a0-8000-85cc7328c876"}, {Name: "thread", Value: "campaign-10519"},
			{Name: "answers.0.decision", Value: "approve"}, {Name: "answers.0.args.to", Value: "ann.bell@buyer.example"}},
	}}
}

// interruptPage is an answer to a paused graph that waits for its approval.
func interruptPage() views.OperationModel {
	m := mailPage()
	v := *taskVersion()
	v.Content = graphAnswer()
	m.Head.Title, m.Approved = "Answer to thread campaign-10519", views.Approved{Version: &v, View: views.ViewContent, Required: 1}
	m.Panel.Decide.Recipients, m.Panel.Decide.Required, m.Panel.Decide.Given = 0, 1, 0
	return m
}
