// Package intake is where sources knock: Shopify webhooks and Flow actions, CloudEvents,
// and anything else that posts JSON. It checks the bytes as they came, takes the keys
// out of them, hands the notification over in one transaction, and answers fast. What it
// does not accept is recorded too, with the reason.
//
// It may import store, operation and operation/definition.
package intake
