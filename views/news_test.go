package views

import "holdpoint/operation"

// newsFamilies adds the keys of news and callbacks that are put together.
func newsFamilies(f map[string][]string) {
	f["news.kind."], f["news.state."] = names(operation.NewsKinds), NewsStates
	f["callback.why."] = callbackReasons
	f["callback.scheme."] = []string{"hmac_sha256", "standard_webhooks", "stripe", "hubspot_v3", "sendgrid", "mailgun", "sns", "basic", "header"}
	f["do."] = append(f["do."], "news_aside", "news_aside_effect")
}
