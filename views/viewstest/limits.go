package viewstest

import (
	"time"

	"holdpoint/operation"
	"holdpoint/views"
)

func limitFixtures() []Fixture {
	list := views.LimitsModel{Frame: frame("figures", views.PathLimits), Rows: limits(), May: true}
	none := views.LimitsModel{Frame: frame("figures", views.PathLimits)}
	l := limits()[0]
	page := views.LimitModel{Frame: frame("figures", l.URL), LimitView: l, DrillURL: "/figures/unresolved", ChangeURL: l.URL + "/change",
		End: &views.ReasonForm{Form: form(l.URL + "/end")}}
	back := operation.Measure{N: 4}
	page.Breaches = []views.BreachView{*l.Breach, {Since: ago(40 * 24 * time.Hour), Closed: ago(39 * 24 * time.Hour), Why: "back", Began: operation.Measure{N: 6}, Peak: operation.Measure{N: 12}, End: &back,
		Task: &views.Link{Label: "T-4", URL: "/tasks/tsk_4"}, Told: []string{"Anna Wolska"}, ToldAt: ago(40 * 24 * time.Hour)}}
	page.Versions = []views.LimitVersionView{{LimitRule: l.LimitRule, Version: 2, By: "Anna Wolska", At: ago(30 * 24 * time.Hour)}, {LimitRule: l.LimitRule, Version: 1, By: "田中 さくら", At: ago(90 * 24 * time.Hour)}}
	return []Fixture{
		{"limits", views.LimitsPage(list)},
		{"limits-none", views.LimitsPage(none)},
		{"limit", views.LimitPage(page)},
		{"limit-new", views.LimitFormPage(limitForm())},
		{"limit-wrong", views.LimitFormPage(limitFormWrong())},
	}
}

func limits() []views.LimitView {
	over := views.LimitView{LimitRule: views.LimitRule{Figure: operation.FigureUnresolved, Value: 5, Margin: 1, Hold: 15 * time.Minute, Remind: 24 * time.Hour, Again: 7 * 24 * time.Hour, DueDays: 14,
		Roles: []operation.Role{operation.RoleOpsOwner}, People: []string{"Anna Wolska"}, Note: "Look at the CRM first."}, ID: "lim_1", URL: views.PathLimits + "/lim_1", Measured: operation.Measure{N: 7}, At: ago(30 * time.Second),
		Version: 2, ChangedBy: "Anna Wolska", ChangedAt: ago(30 * 24 * time.Hour)}
	over.Breach = &views.BreachView{Since: ago(39 * time.Hour), Began: operation.Measure{N: 6}, Peak: operation.Measure{N: 9}, Task: &views.Link{Label: "T-17", URL: "/tasks/tsk_17"}, TaskState: "open",
		Told: []string{"Anna Wolska", "Tomek Lis"}, ToldAt: ago(39 * time.Hour), Reminders: 1}
	rate := over
	rate.ID, rate.URL, rate.LimitRule.Figure, rate.Destination, rate.Value, rate.Hours, rate.Least = "lim_2", views.PathLimits+"/lim_2", operation.FigureDestinationErrors, "Northdesk CRM", 200, 720, 20
	rate.Measured = operation.Measure{N: 72, Of: 2310, Rate: true}
	silent := over
	silent.ID, silent.URL, silent.LimitRule.Figure, silent.Source, silent.Under, silent.Value, silent.Hours = "lim_3", views.PathLimits+"/lim_3", operation.FigureDeliveries, "shopify-orders", true, 1, 6
	silent.Measured, silent.Breach = operation.Measure{N: 41}, nil
	delay := silent
	delay.ID, delay.URL, delay.LimitRule.Figure, delay.Source, delay.Flow, delay.Under, delay.Value, delay.Hours, delay.Owner = "lim_4", views.PathLimits+"/lim_4", operation.FigureApprovalDelay, "", "Campaign follow-up", false, 3600, 168, true
	delay.Measured, delay.At = operation.Measure{}, time.Time{}
	returning := over
	b := *over.Breach
	b.Within = ago(5 * time.Minute)
	returning.ID, returning.URL, returning.LimitRule.Figure, returning.Hours, returning.Breach = "lim_5", views.PathLimits+"/lim_5", operation.FigureKeyReuse, 24, &b
	ended := silent
	ended.ID, ended.URL, ended.Ended, ended.Source, ended.Hours = "lim_6", views.PathLimits+"/lim_6", ago(5*24*time.Hour), "", 24
	return []views.LimitView{over, rate, silent, delay, returning, ended}
}

func limitForm() views.LimitFormModel {
	m := views.LimitFormModel{Frame: frame("figures", views.PathLimits+"/new"), Form: form(views.PathLimits + "/new/set"), New: true, BackURL: views.PathLimits, Value: "5", Least: "20", Margin: "1", Hold: "15", Remind: "24",
		Again: "7", Due: "14"}
	for _, f := range operation.Figures {
		m.Figures = append(m.Figures, views.Option{Value: string(f), Selected: f == operation.FigureUnresolved})
	}
	m.Flows = []views.Option{{Value: "campaign", Label: "Campaign follow-up"}}
	m.Destinations = []views.Option{{Value: "crm", Label: "Northdesk CRM"}}
	m.Sources = []views.Option{{Value: "shopify", Label: "Shopify orders"}}
	m.Sides = []views.Option{{Value: "over", Selected: true}, {Value: "under"}}
	for _, s := range []string{"0", "24", "168", "720", "hours"} {
		m.Spans = append(m.Spans, views.Option{Value: s, Selected: s == "0"})
	}
	for _, r := range operation.Roles {
		m.Roles = append(m.Roles, views.Option{Value: string(r), Selected: r == operation.RoleOpsOwner})
	}
	m.People = []views.Option{{Value: "usr_1", Label: "Anna Wolska"}, {Value: "usr_2", Label: "田中 さくら"}}
	return m
}

func limitFormWrong() views.LimitFormModel {
	m := limitForm()
	m.New, m.FlowTitle, m.Version, m.Value, m.Reason = false, "Campaign follow-up", 2, "many", "It was too low."
	m.People[1].Selected = true
	m.Form.Errors = map[string]views.Say{"value": views.Invalid("limit_value", 0), "span": views.Invalid("limit_span", 0), "tell": views.Invalid("limit_tell", 0)}
	return m
}
