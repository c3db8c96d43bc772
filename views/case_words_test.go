package views

import "holdpoint/operation"

// caseFamilies are the keys of recovery cases that are put together from a prefix and a
// word of the model.
func caseFamilies() map[string][]string {
	gates := []string{"version", "earlier", "attempt", "pauses", "permission"}
	return map[string][]string{
		"cases.request_state.":  {"requested", "approved", "refused", "void", "done"},
		"cases.gate.":           gates,
		"cases.time.corrected.": names([]operation.CaseClock{operation.ClockInHand, operation.ClockActive}),
		"cases.whose.":          {"mine", "untaken"},
		"cases.age.":            {"1h", "24h", "168h"},
		"cases.became.":         {"take", "lookup", "refused"},
		"cases.result.":         {"take", "lookup"},
		"cases.queue.done.":     names([]operation.QueueDone{operation.QueueSettled, operation.QueueRequested, operation.QueueHeld}),
	}
}
