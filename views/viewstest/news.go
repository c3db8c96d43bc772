package viewstest

import (
	"time"

	"holdpoint/operation"
	"holdpoint/views"
)

// newsSteps is a mail that was deferred, delivered, and complained about.
func newsSteps() []views.NewsStep {
	step := func(k operation.NewsKind, at time.Duration) views.NewsStep {
		return views.NewsStep{Kind: k, At: ago(at), Received: ago(at), Reference: "em_77"}
	}
	list := []views.NewsStep{step(operation.NewsAccepted, 50*time.Hour), step(operation.NewsDeferred, 49*time.Hour), step(operation.NewsDelivered, 3*time.Hour), step(operation.NewsComplained, 20*time.Minute)}
	list[2].Link = &views.Link{Label: "em_77", URL: "https://mail.example.com/em_77"}
	list[3].By, list[3].Reference = opsOwner, ""
	return list
}

func newsFixtures() []Fixture {
	var rows []views.NewsRow
	for i, k := range operation.NewsKinds {
		rows = append(rows, views.NewsRow{ID: "nws_" + string(k), URL: "/news/nws_" + string(k), Kind: k, Destination: "sendgrid", Account: "shop-1", Names: string(opMail), Reference: "14c5d75ce93.dfd.64b469",
			Key: "ZGVsaXZlcmVkLTA", At: ago(time.Duration(i) * time.Hour), ReceivedAt: ago(time.Duration(i) * time.Hour), State: "waiting"})
	}
	rows[1].Names, rows[2].Names, rows[2].Reference = "", "", ""
	rows[3].State, rows[3].Settled = "aside", &views.NewsSettled{Who: opsOwner, At: ago(time.Hour), Reason: "Another shop's mail."}
	rows[4].State, rows[4].Operation = "tied", &views.Link{Label: "op_01jrw3v9…", URL: "/operations/" + string(opMail)}
	var kinds, states []views.Option
	for _, k := range operation.NewsKinds {
		kinds = append(kinds, views.Option{Value: string(k), Selected: k == operation.NewsBounced})
	}
	for _, s := range views.NewsStates {
		states = append(states, views.Option{Value: s})
	}
	list := views.NewsModel{Frame: frame(views.SectionDestinations, views.PathNews), Q: "em_77", Active: true, Waiting: 12, States: states, Kinds: kinds, Destinations: []views.Option{{Value: "sendgrid", Label: "SendGrid"}}, Rows: rows,
		Pager: views.Pager{Next: "/news?after=2"}}
	none := views.NewsModel{Frame: list.Frame, States: states, Kinds: kinds}
	aside := reason("/news/nws_1/aside")
	item := views.NewsPageModel{Frame: frame(views.SectionDestinations, "/news/nws_1"), NewsRow: rows[5], Body: `{"event":"bounce","email":"…","sg_event_id":"ZGVsaXZlcmVkLTA"}`, Why: views.Sentence("news.why.not_found"),
		Tie: &views.NewsTieForm{Form: form("/news/nws_1/tie"), Operation: string(opMail)}, Aside: aside}
	item.Repeats = 3
	wrong := item
	wrong.Tie = &views.NewsTieForm{Form: form("/news/nws_1/tie"), Operation: "op_x"}
	wrong.Tie.Errors = map[string]views.Say{"operation": views.Sentence("news.unknown_operation"), "reason": views.Refused(operation.Refuse(operation.CodeReasonMissing))}
	return []Fixture{{"news", views.NewsPage(list)}, {"news-none", views.NewsPage(none)}, {"news-item", views.NewsItemPage(item)}, {"news-item-refused", views.NewsItemPage(wrong)}}
}

// callbackCard is a destination whose callbacks come in, some of them not believed.
func callbackCard() views.CallbackCard {
	return views.CallbackCard{Address: "https://holdpoint.example.com/cb/sendgrid", Scheme: "sendgrid", Last: ago(4 * time.Minute), Waiting: 2, NewsURL: "/news?destination=sendgrid",
		Refused: []views.CallbackRefusal{{At: ago(time.Hour), Code: "signature_time", Status: 401, Skew: 6*time.Minute + 12*time.Second}, {At: ago(2 * time.Hour), Code: "entry", Detail: "entry 3: dedupe: it is missing or empty", Status: 200}}}
}
