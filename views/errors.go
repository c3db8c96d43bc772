package views

import "net/http"

// ErrorModel is the page for something that could not be done: what happened, what
// was saved, what to do.
type ErrorModel struct {
	Frame
	Status    int
	Kind      string // ErrorForeign or ErrorOfAnother: a form that is refused for where it comes from
	RequestID string // named in the log; people quote it
	Refusal   Say    // the reason in words, where there is one
	// Saved is a catalogue key: ErrorNothingSaved (the default), ErrorNothingDecided
	// (the database is away) or ErrorOutcomeUnknown (its answer to a COMMIT was lost).
	Saved string
	Back  Link // where to go on; zero = the inbox
}

// What was saved when something went wrong.
const (
	ErrorNothingSaved   = "error.saved.nothing"
	ErrorNothingDecided = "error.saved.undecided"
	ErrorOutcomeUnknown = "error.saved.unknown"
)

// Forms that are refused for where they come from.
const (
	ErrorForeign   = "cross" // from another site
	ErrorOfAnother = "other" // shown to another person
)

// errorKey gives the part of the catalogue for a status.
func (m ErrorModel) errorKey() string {
	if m.Kind != "" {
		return "error." + m.Kind
	}
	switch m.Status {
	case http.StatusForbidden:
		return "error.403"
	case http.StatusNotFound:
		return "error.404"
	case http.StatusMethodNotAllowed:
		return "error.405"
	case http.StatusConflict:
		return "error.409"
	case http.StatusRequestEntityTooLarge:
		return "error.413"
	case http.StatusUnprocessableEntity, http.StatusBadRequest:
		return "error.422"
	case http.StatusTooManyRequests:
		return "error.429"
	case http.StatusServiceUnavailable:
		return "error.503"
	}
	return "error.500"
}

// errorStatuses lists the statuses that have a page of their own.
var errorStatuses = []int{403, 404, 405, 409, 413, 422, 429, 500, 503}
