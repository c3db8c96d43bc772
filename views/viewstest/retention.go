package viewstest

import (
	"time"

	"holdpoint/operation"
	"holdpoint/views"
)

func retentionFixtures() []Fixture {
	f := frame("", views.PathRetention)
	f.Viewer.Roles = []operation.Role{operation.RoleAdmin}
	kept := views.RetentionModel{Frame: f, Form: form(views.PathRetention), Rows: []views.RetentionLine{{Kind: "contents"}, {Kind: "attachments", Typed: "365", Days: 365, By: "Anna Wolska", At: ago(48 * time.Hour)}, {Kind: "evidence"}, {Kind: "deliveries"},
		{Kind: "history", History: &views.RetentionHistory{First: 4180}}}}
	preview := kept
	preview.Preview = true
	preview.Rows = []views.RetentionLine{{Kind: "contents", Typed: "90", Days: 90, Operations: 1204, Batches: 3, Oldest: ago(400 * 24 * time.Hour), Newest: ago(91 * 24 * time.Hour),
		Of: []views.Link{{Label: "campaign-follow-up", URL: views.PathFlows + "/campaign-follow-up"}, {Label: "spring-mailing", URL: views.PathFlows + "/spring-mailing"}}}, kept.Rows[1],
		{Kind: "evidence", Typed: "730", Days: 730}, {Kind: "deliveries", Typed: "60", Days: 60, Deliveries: 31, Events: 1, Oldest: ago(300 * 24 * time.Hour), Newest: ago(61 * 24 * time.Hour),
			Of: []views.Link{{Label: "shop", URL: views.PathDeliveries + "?source=shop"}}},
		{Kind: "history", Typed: "1095", Days: 1095, History: &views.RetentionHistory{First: 4180, Entries: 12844, Open: 61, Never: 1, More: true, Months: []views.RetentionMonth{
			{Month: ago(1200 * 24 * time.Hour), Entries: 8120}, {Month: ago(1170 * 24 * time.Hour), Entries: 4723}, {Month: ago(1140 * 24 * time.Hour), Entries: 1}}}}}
	barredModel := kept
	barredModel.Form = barred(operation.CodeNotEntitled, "role", string(operation.RoleAdmin))
	return []Fixture{{"retention", views.RetentionPage(kept)}, {"retention-preview", views.RetentionPage(preview)}, {"retention-barred", views.RetentionPage(barredModel)}}
}
