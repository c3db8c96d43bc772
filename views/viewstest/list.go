package viewstest

import (
	"fmt"
	"time"

	"holdpoint/operation"
	"holdpoint/views"
)

func listFixtures() []Fixture {
	var rows []views.OperationRow
	for i, s := range operation.States {
		r := views.OperationRow{ID: operation.ID(fmt.Sprintf("op_%026d", i)), Revision: int64(i + 1), URL: "/operations/" + string(opTask), State: s, Flow: "Campaign follow-up", Stage: "CRM task", Title: "Call about the damaged teapot, order 10482",
			Destination: "Northdesk CRM", Attempts: i % 4, Changed: ago(time.Duration(i) * 7 * time.Hour)}
		if !s.Closed() {
			r.Next, r.Responsible, r.Due = operation.DecideReconcile, views.RoleWho(operation.RoleOpsOwner, i%2 == 0), in(time.Duration(i)*time.Hour)
		}
		rows = append(rows, r)
	}
	rows[3].Responsible, rows[3].Paused, rows[3].Next = views.SystemWho(), true, operation.DecideTake
	rows[7].Overdue, rows[7].Due, rows[7].Duplicate = true, ago(42*time.Minute), views.DuplicateSuspected
	rows[9].ConfirmedBy = views.ByPerson
	filter := views.OperationsFilter{Q: "10482", States: views.StateOptions(operation.Review), Active: true, Duplicate: true, Overdue: true,
		Flows:        []views.Option{{Value: "campaign-follow-up", Label: "Campaign follow-up"}},
		Destinations: []views.Option{{Value: "crm", Label: "Northdesk CRM"}},
		Sources:      []views.Option{{Value: "job-api", Label: "Job API"}, {Value: "shopify-flow", Label: "Shopify Flow (test shop)", Selected: true}}, From: "2026-04-01", To: "2026-04-16",
		Responsible: []views.Option{{Value: "system", Label: "system"}}}
	list := views.OperationsModel{Frame: frame(views.SectionOperations, "/operations"), Filter: filter, Rows: rows, MayAdopt: true,
		Views:    []views.SavedView{{ID: "viw_1", Name: "Unknown at the CRM", URL: "/operations?state=review", Current: true}, {ID: "viw_2", Name: "返品フローの操作", URL: "/operations?flow=returns"}},
		ViewsURL: "/operations/views?state=review", ExportURL: "/operations/export.csv?state=review",
		Pager: views.Pager{Prev: "/operations?before=1", Next: "/operations?after=2"}}
	none := list
	none.Rows, none.Pager = nil, views.Pager{}
	fresh := none
	fresh.Filter = views.OperationsFilter{States: views.StateOptions("")}

	var deliveries []views.DeliveryRow
	for i, why := range views.DeliveryReasons {
		deliveries = append(deliveries, views.DeliveryRow{ID: operation.DeliveryID(fmt.Sprintf("dlv_%d", i)), At: ago(time.Duration(i) * time.Hour), Source: "Shopify (test shop)", Topic: "orders/create", Key: "d-9", EventKey: "e-9",
			Result: views.DeliveryResults[i%len(views.DeliveryResults)], Why: why, Status: 401})
		if views.ShowsDetail(why) {
			deliveries[i].Detail = "missing field order.id"
		}
	}
	deliveries[0].Run = &views.Link{Label: "order 10482", URL: "/runs/run_1"}
	var results []views.Option
	for _, r := range views.DeliveryResults {
		results = append(results, views.Option{Value: string(r), Selected: r == views.DeliveryRefused})
	}
	incoming := views.DeliveriesModel{Frame: frame(views.SectionDeliveries, "/deliveries"), Q: "d-9", From: "2026-04-01", Active: true, Sources: []views.Option{{Value: "job-api", Label: "Job API"}, {Value: "shopify", Label: "Shopify (test shop)"}}, Results: results, Rows: deliveries}
	same := deliveries[len(deliveries)-1]
	same.ID, same.Key = "dlv_x", ""
	same.Result, same.Why, same.Detail, same.Twin, same.URL, same.MayHeld = views.DeliveryHeld, "held", "", "e-8", "/deliveries/dlv_x", true
	incoming.Rows = append(incoming.Rows, same)
	same.MayHeld, same.ID = false, "dlv_other"
	incoming.Rows = append(incoming.Rows, same)
	same.ID = "dlv_decided"
	same.Why, same.Decided = "", &views.HeldDecision{Released: true, Who: views.PersonWho("Anna Wolska", true), At: ago(time.Hour), Reason: "Two tickets, two customers."}
	incoming.Rows = append(incoming.Rows, same)
	held := heldFixture(incoming.Frame, incoming.Rows[len(incoming.Rows)-3])
	barredHeld := held
	barredHeld.Held = &views.HeldView{BusinessKey: "T-10482", Twin: held.Held.Twin, Barred: operation.Refuse(operation.CodeNotEntitled, "role", "ops_owner").By(operation.Responsible{Role: operation.RoleOpsOwner})}
	decided := barredHeld
	decided.Same = []views.DeliveryRow{same}
	decided.Held = &views.HeldView{BusinessKey: "T-10482", Twin: held.Held.Twin, Decided: &views.HeldDecision{Who: support, At: ago(time.Hour), Reason: "The form was sent twice."}}
	plain := views.DeliveryModel{Frame: incoming.Frame, Row: deliveries[0], Same: deliveries[:1]}
	quiet := incoming
	quiet.Rows, quiet.Q, quiet.From, quiet.Active = nil, "", "", false
	unfit := incoming
	unfit.Rows = nil
	adopt := views.AdoptModel{Frame: frame(views.SectionOperations, "/operations/adopt"), Form: form("/operations/adopt"),
		Targets: []views.Option{{Value: "campaign-follow-up/crm-task", Label: "Campaign follow-up › CRM task"}}, Title: "Call about order 10001"}
	adopt.Errors = map[string]views.Say{"happened_at": views.Sentence(views.ErrorInvalid), "evidence": views.Refused(operation.Refuse(operation.CodeEvidenceMissing))}
	noAdopt := adopt
	noAdopt.Form = barred(operation.CodeNotEntitled, "role", "ops_owner")
	return []Fixture{
		{"operations", views.OperationsPage(list)}, {"operations-no-match", views.OperationsPage(none)}, {"operations-none", views.OperationsPage(fresh)},
		{"deliveries", views.DeliveriesPage(incoming)}, {"deliveries-none", views.DeliveriesPage(quiet)}, {"deliveries-no-match", views.DeliveriesPage(unfit)},
		{"delivery", views.DeliveryPage(plain)}, {"delivery-held", views.DeliveryPage(held)}, {"delivery-held-barred", views.DeliveryPage(barredHeld)},
		{"delivery-held-decided", views.DeliveryPage(decided)},
		{"adopt", views.AdoptPage(adopt)}, {"adopt-barred", views.AdoptPage(noAdopt)},
	}
}

// heldFixture is a possible duplicate that the viewer may decide about.
func heldFixture(f views.Frame, row views.DeliveryRow) views.DeliveryModel {
	release := views.ReasonForm{Form: form("/deliveries/dlv_x/release")}
	release.Errors = map[string]views.Say{"reason": views.Refused(operation.Refuse(operation.CodeReasonMissing)), "": views.Sentence("held.cannot_start")}
	discard := views.ReasonForm{Form: form("/deliveries/dlv_x/discard"), Reason: "The same ticket"}
	return views.DeliveryModel{Frame: f, Row: row, Same: []views.DeliveryRow{row},
		Event: &views.EventSide{Key: "s-2", At: ago(2 * time.Hour), Fields: []views.Field{{Name: "subject", Value: "Broken teapot"}}},
		Held: &views.HeldView{BusinessKey: "T-10482", Flows: []string{"Campaign follow-up"}, Release: &release, Discard: &discard,
			Twin: views.EventSide{Key: "s-1", At: ago(30 * time.Hour), Run: &views.Link{Label: "run_…", URL: "/runs/run_1"}, Fields: []views.Field{{Name: "subject", Value: "Broken teapot"}}}}}
}
