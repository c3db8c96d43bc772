package views

import "holdpoint/operation"

// historyFamilies are the keys of the page of the history whose last part is a word of the
// model.
func historyFamilies() map[string][]string {
	return map[string][]string{
		"history_page.actor.":       {"any_person", "any_token", "any_job", "system"},
		"history_page.kind.":        names(operation.SubjectKinds),
		"history_page.channel.":     {"web", "api", "job", "command"},
		"history_page.object.":      {"operation", "other", "replacement", "replaces", "run", "delivery", "incident", "task", "attachment"},
		"history_page.detail.":      pageDetails,
		"history_page.timeline_of.": {"operation", "run", "incident", "person"},
	}
}
