package views

import (
	"strings"

	"holdpoint/operation"
	"holdpoint/views/text"
)

// The places of each form's fields, in the order of the page, for the list of what is
// wrong with them.

func decidePlaces(p *text.Printer) []place {
	return []place{{"decision", "decision-approve", p.T("panel.decision")}, {"comment", "comment", p.T("decide.comment")}}
}

func reexecutionPlaces(p *text.Printer) []place {
	return []place{{"decision", "decision-approve", p.T("panel.decision")}, {"confirm", "confirm", p.T("form.confirmation")},
		{"comment", "comment", p.T("reexecution.comment")}}
}

func reconcilePlaces(p *text.Printer, f ReconcileForm) []place {
	list := []place{{"finding", "finding-done", p.T("panel.decision")},
		{"done_reference", "done-reference", p.T("form.reference")}}
	list = append(list, evidencePlaces(p, "done_", "done")...)
	list = append(list, checklistPlaces(p, f.Checklist)...)
	list = append(list, evidencePlaces(p, "not_done_", "not-done")...)
	list = append(list, place{"then", "then-request_reexecution", p.T("reconcile.then")},
		place{"not_done_reason", "not-done-reason", p.T("form.reason")}, place{"not_done_confirm", "not-done-confirm", p.T("form.confirmation")},
		place{"duplicate_references", "duplicate-references", p.T("reconcile.references")})
	list = append(list, evidencePlaces(p, "duplicate_", "duplicate")...)
	return append(list, place{"duplicate_confirm", "duplicate-confirm", p.T("form.confirmation")},
		place{"hold_until", "hold-until", p.T("reconcile.hold_until")}, place{"hold_reason", "hold-reason", p.T("form.reason")})
}

func evidencePlaces(p *text.Printer, prefix, id string) []place {
	return []place{{prefix + "evidence", id + "-evidence", p.T("form.evidence")}, {prefix + "files", id + "-files", p.T("attachment.files")},
		{prefix + "link", id + "-link", p.T("form.link")}}
}

func checklistPlaces(p *text.Printer, items []CheckItem) []place {
	var list []place
	for i, c := range items {
		list = append(list, place{"check_" + string(c.Item), checkID(c.Item) + "-yes", p.Number(i+1) + ". " + checkText(p, c)},
			place{"note_" + string(c.Item), checkID(c.Item) + "-note", p.T("check.note", "Number", i+1)},
			place{"files_" + string(c.Item), checkID(c.Item) + "-files", p.T("attachment.files_answer", "Number", i+1)})
	}
	return list
}

// checkID is a question's id on the page.
func checkID(item operation.ChecklistItem) string {
	return "check-" + strings.ReplaceAll(string(item), "_", "-")
}

func reasonPlaces(p *text.Printer, word string) []place {
	return []place{{"reason", word + "-reason", p.T("form.reason")}, {"confirm", word + "-confirm", p.T("form.confirmation")}}
}

func grantPlaces(p *text.Printer) []place {
	return append([]place{{"attempts", "grant-attempts", p.T("grant.attempts")}}, reasonPlaces(p, "grant")...)
}

func disputePlaces(p *text.Printer) []place {
	return append(evidencePlaces(p, "", "dispute"), place{"reference", "dispute-reference", p.T("form.reference")})
}

func latePlaces(p *text.Printer) []place {
	return append(evidencePlaces(p, "", "late"), place{"reference", "late-reference", p.T("form.reference")},
		place{"reference_url", "late-reference-url", p.T("form.reference_url")})
}

func editPlaces(p *text.Printer, f EditForm) []place {
	var list []place
	for _, e := range f.Fields {
		list = append(list, place{e.FormName(), e.id(), fieldWord(p, e.Name, e.Label)})
	}
	return append(list, place{"reason", "reason", p.T("form.reason")}, place{"confirm", "confirm", p.T("form.confirmation")},
		place{"note", "note", p.T("edit.note")})
}

func invitePlaces(p *text.Printer) []place {
	return []place{{"email", "email", p.T("field.email")}, {"name", "name", p.T("people.name")}, {"roles", "grants", p.T("people.roles")},
		{"reason", "reason", p.T("form.reason")}}
}

func rolesPlaces(p *text.Printer) []place {
	return []place{{"roles", "grants", p.T("people.roles")}, {"reason", "roles-reason", p.T("form.reason")}}
}

func tokenPlaces(p *text.Printer) []place {
	return []place{{"name", "name", p.T("token.name")}, {"scopes", "scopes", p.T("token.scopes")}, {"flows", "flows", p.T("token.only_flows")},
		{"destinations", "destinations", p.T("token.only_destinations")}, {"life", "life", p.T("token.life")}}
}
