package viewstest

import (
	"strings"

	"holdpoint/operation"
	"holdpoint/views"
)

// viewFixtures are the saved views, and lists whose content is long or runs from right
// to left.
func viewFixtures() []Fixture {
	about := func(id, verb string) views.Form { return form("/operations/views/" + id + "/" + verb) }
	saved := func(id, name string, words ...views.FilterWord) views.SavedView {
		return views.SavedView{ID: id, Name: name, URL: "/operations?state=review&view=" + id, Filters: words,
			Rename: about(id, "rename"), Delete: about(id, "delete"), MakeDefault: about(id, "default")}
	}
	own := saved("viw_1", "Unknown at the CRM", views.FilterWord{Label: "State", Value: "Review"}, views.FilterWord{Label: "Destination", Value: "Northdesk CRM"})
	own.Default = true
	wrong := saved("viw_2", "Unknown at the CRM", views.FilterWord{Label: "Overdue"})
	wrong.Rename.Errors = map[string]views.Say{"name": views.Invalid("view_taken", 0)}
	shared := saved("viw_3", "返品フローの操作", views.FilterWord{Label: "Flow", Value: "返品フォロー"})
	shared.Shared = true
	shared.Rename.Barred = operation.Refuse(operation.CodeNotEntitled, "role", "admin")
	noDefault := form("/operations/views/no-default")
	save := views.ViewForm{Form: form("/operations/views/save"), Filters: "state=review", Words: own.Filters, Name: "Unknown at the CRM", Default: true, MayShare: true}
	save.Errors = map[string]views.Say{"name": views.Invalid("view_taken", 0), "": views.Invalid("view_many", 50)}
	full := views.ViewsModel{Frame: frame(views.SectionOperations, "/operations/views?state=review"), Views: []views.SavedView{own, wrong, shared}, Save: &save, NoDefault: &noDefault}
	none := views.ViewsModel{Frame: frame(views.SectionOperations, "/operations/views")}

	long := strings.Repeat("Please call the customer back about the damaged teapot and the wrong tea. ", 7)[:500]
	rtl := "שיחה חוזרת בעניין הזמנה 10482 – קומקום שבור"
	var rows []views.OperationRow
	for i, title := range []string{long, rtl, "لا تشحن الطلب 10497", strings.Repeat("x", 500), "Invisible\u200b and \u202eturned"} {
		rows = append(rows, views.OperationRow{ID: operation.ID("op_0000000000000000000000000" + string(rune('0'+i))), Revision: 1, URL: "/operations/" + string(opTask), State: operation.Review,
			Flow: "Campaign follow-up", Stage: strings.Repeat("A stage with a long name ", 1+2*(i%2)), Title: title, Destination: "Northdesk CRM", Next: operation.DecideReconcile,
			Responsible: views.RoleWho(operation.RoleOpsOwner, false), Due: in(0), Changed: ago(0)})
	}
	odd := views.OperationsModel{Frame: frame(views.SectionOperations, "/operations"), Filter: views.OperationsFilter{States: views.StateOptions("")}, Rows: rows,
		Views: []views.SavedView{{ID: "viw_1", Name: long[:80], URL: "/operations?q=x"}}, ViewsURL: "/operations/views", ExportURL: "/operations/export.csv"}
	return []Fixture{{"views", views.SavedViewsPage(full)}, {"views-none", views.SavedViewsPage(none)}, {"operations-odd", views.OperationsPage(odd)}}
}
