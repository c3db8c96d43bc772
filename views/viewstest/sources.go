package viewstest

import (
	"time"

	"holdpoint/operation/definition"
	"holdpoint/views"
)

func sourceFixtures() []Fixture {
	path := views.PathSources + "/shopify"
	list := views.SourcesModel{Frame: frame(views.SectionDeliveries, views.PathSources), Rows: []views.SourceLine{
		{Key: "api", URL: "/sources/api", Title: "API (CloudEvents)", Kind: definition.KindCloudEvents, Account: "demo", Environment: "test", LastAt: ago(2 * time.Minute)},
		{Key: "form", URL: "/sources/form", Title: "Contact form", Kind: definition.KindJSON, Account: "demo", Environment: "test"},
		{Key: "by-hand", URL: "/sources/by-hand", Title: "Started by hand", Kind: definition.KindStarter, Account: "holdpoint", Environment: "production", LastAt: ago(time.Hour)},
		{Key: "flow", URL: "/sources/flow", Title: "Shopify Flow", Kind: definition.KindShopifyFlow, Account: "an-extraordinarily-long-name-of-a-shop-in-warsaw.myshopify.com", Environment: "production", LastAt: ago(20 * time.Minute)},
		{Key: "shopify", URL: path, Title: "Shopify webhooks", Kind: definition.KindShopifyWebhook, Account: "demo-shop.myshopify.com", Environment: "production", LastAt: ago(51 * time.Hour), Silent: true},
	}}
	none := list
	none.Rows = nil
	quiet := views.SourcePageModel{Frame: frame(views.SectionDeliveries, path), Key: "shopify", Title: "Shopify webhooks", Kind: definition.KindShopifyWebhook, Account: "demo-shop.myshopify.com", Environment: "production",
		Address: "/in/shopify", Scheme: definition.SchemeHMAC, Answer: 200, Version: 3, AppliedAt: ago(20 * 24 * time.Hour), Days: 30, RefusedURL: "/deliveries?result=refused&source=shopify"}
	all := quiet
	all.Flows = []views.Link{{Label: "Order change", URL: "/flows/order-change"}, {Label: "Goodwill invoice", URL: "/flows/goodwill-invoice"}}
	all.LastAt, all.LastNew, all.Silence, all.SilentSince, all.Task = ago(51*time.Hour), ago(80*time.Hour), 48*time.Hour, ago(51*time.Hour), &views.Link{URL: "/tasks/tsk_1"}
	all.SkewMeasured, all.Skew, all.SkewMedian, all.SkewAt, all.SkewFar, all.Tolerance = 200, 4*time.Minute+3*time.Second, 3*time.Minute, ago(51*time.Hour), true, 5*time.Minute
	all.Secrets = []views.SecretLine{{Reference: "env:SHOPIFY_WEBHOOK_SECRET", Readable: true, UsedAt: ago(51 * time.Hour)}, {Reference: "env:SHOPIFY_WEBHOOK_SECRET_OLD", Readable: true, UsedAt: ago(12 * 24 * time.Hour), Spare: true},
		{Reference: "file:/run/secrets/shopify-next", Readable: false}}
	for i, code := range views.DeliveryReasons {
		all.Refused = append(all.Refused, views.RefusedLine{Code: code, N: 1 + 3*(len(views.DeliveryReasons)-i), Last: ago(time.Duration(i+1) * time.Hour)})
	}
	all.Refused = append(all.Refused, views.RefusedLine{Code: "a_newer_word", N: 1, Last: ago(90 * time.Hour)})
	all.Doubles = []views.DoubleLine{{Topic: "orders/updated", First: "holdpoint-orders", Other: "holdpoint-orders-2024", Event: "b54557e4-bdd9-4b37-8a5f-bf7d70bcd043", N: 17, Last: ago(4 * time.Hour), URL: "/deliveries?q=b54557e4&source=shopify"},
		{Topic: "orders/paid", First: "one", Other: "two", Event: "e-2", N: 1, Last: ago(5 * time.Hour), URL: "/deliveries?q=e-2&source=shopify"}}
	ahead := quiet
	ahead.Scheme, ahead.SkewMeasured, ahead.Skew, ahead.SkewMedian, ahead.SkewAt, ahead.Tolerance, ahead.LastAt, ahead.LastNew = definition.SchemeStripe, 1, -90*time.Second, 200*time.Millisecond, ago(time.Minute), 5*time.Minute, ago(time.Minute), ago(time.Minute)
	ahead.Answer, ahead.Secrets = 202, all.Secrets[:1]
	starter := views.SourcePageModel{Frame: frame(views.SectionDeliveries, "/sources/by-hand"), Key: "by-hand", Title: "Started by hand", Kind: definition.KindStarter, Account: "holdpoint", Environment: "test",
		Flows: []views.Link{{Label: "Call a customer back", URL: "/flows/call-back"}}, Version: 1, AppliedAt: ago(time.Hour), LastAt: ago(time.Minute), LastNew: ago(time.Minute), Days: 30}
	return []Fixture{{"sources", views.SourcesPage(list)}, {"sources-none", views.SourcesPage(none)}, {"source", views.SourcePage(all)}, {"source-quiet", views.SourcePage(quiet)},
		{"source-ahead", views.SourcePage(ahead)}, {"source-starter", views.SourcePage(starter)}}
}
