package views

import "holdpoint/operation/interrupt"

// InterruptView is what a paused graph asks for, and the answer that it gets.
type InterruptView struct {
	Actions []InterruptAction
	// Whole is the content as fields, all of it: nothing is left out.
	Whole []Field
	Cut   Cut
}

// InterruptAction is one thing that the graph wants to do, or one question of it.
type InterruptAction struct {
	Name        string // "" = a question in free form
	Description string // the graph's own words; shown as plain text
	Args        []InterruptArg
	// Decision is the answer; "" = nothing is chosen yet.
	Decision interrupt.Decision
	Changed  bool   // an approval with arguments that are not those asked for
	Message  string // words to the graph
	// Takes are the decisions that the graph takes; Edit: arguments may be changed.
	Takes []interrupt.Decision
	Edit  bool
}

// InterruptArg is one argument, as the graph gets it.
type InterruptArg struct {
	Field
	Changed bool
	Was     string // what the graph asked for; "" = the argument was not there
}

// InterruptAnswers lists the words of an answer; each has a key "interrupt.answer.<word>".
var InterruptAnswers = []string{"approve", "edit", "reject", "respond", "ignore", "none"}

// answer gives the word of the decision that was chosen.
func (a InterruptAction) answer() string {
	switch {
	case a.Decision == "":
		return "none"
	case a.Changed:
		return "edit"
	}
	return string(a.Decision)
}

// takes gives the words of what the graph takes.
func (a InterruptAction) takes() []string {
	var words []string
	for _, d := range a.Takes {
		words = append(words, string(d))
	}
	if a.Edit {
		words = append(words, "edit")
	}
	return words
}
