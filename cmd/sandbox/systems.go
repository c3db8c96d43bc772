package main

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// The destinations of the sandbox's own making. The stand-ins for systems that
// people run have their names in their own files.
const (
	destCRM     = "crm"
	destBilling = "billing"
	destMail    = "mail"
	destPlain   = "plain"
	destSMTP    = "smtp"
	// destElsewhere is where a redirect points unless the fault names a place.
	destElsewhere = "elsewhere"
)

// system is one destination that the sandbox plays. Its addresses begin with
// its name; it has its own faults, settings and part of the ledger.
type system struct {
	name  string
	title string
	// failure gives an error in the words of this system.
	failure func(status int, message string) answer
	// route adds its addresses; nil = it does not speak HTTP.
	route func(*sandbox, *http.ServeMux)
	// authorized tells whether a request carries a credential; nil = any
	// Authorization header but "Bearer wrong".
	authorized func(*http.Request) bool
	// purpose tells what a request is for (onEffect or onLookup) where one address does
	// both and only the body says which; nil = the address says it.
	purpose  func(body []byte) string
	habits   destinationSettings // at the start and after a reset
	keyed    bool                // it takes idempotency keys, and prunes them
	unique   bool                // a field of it is unique: with keyed, what ignore_idempotency breaks
	searched bool                // it has a search, which may lag
}

// systems lists every destination once. It is filled before main runs.
var systems []system

func init() {
	day, lag := duration{24 * time.Hour}, duration{2 * time.Second}
	systems = []system{
		{name: destCRM, title: "CRM", failure: crmAPI.failure, route: (*sandbox).routeCRM, unique: true, searched: true},
		{name: destBilling, title: "Billing", failure: billingAPI.failure, route: (*sandbox).routeBilling, keyed: true, searched: true,
			habits: destinationSettings{Retention: day, IndexLag: lag}},
		{name: destMail, title: "Mail", failure: mailAPI.failure, route: (*sandbox).routeMail, keyed: true, searched: true,
			habits: destinationSettings{Retention: day}},
		{name: destPlain, title: "Plain", failure: plainAPI.failure, route: (*sandbox).routePlain},
		{name: destStripe, title: "Stripe", failure: stripeFailure, route: (*sandbox).routeStripe, keyed: true, searched: true,
			habits: destinationSettings{Retention: day, IndexLag: duration{time.Minute}}},
		{name: destShopify, title: "Shopify", failure: shopifyFailure, route: (*sandbox).routeShopify, authorized: shopifyAuthorized, purpose: graphPurpose},
		{name: destHubSpot, title: "HubSpot", failure: hubspotFailure, route: (*sandbox).routeHubSpot, unique: true, searched: true,
			habits: destinationSettings{IndexLag: duration{10 * time.Second}}},
		{name: destSalesforce, title: "Salesforce", failure: salesforceFailure, route: (*sandbox).routeSalesforce, unique: true},
		{name: destSMTP, title: "SMTP"},
	}
	systems = append(systems, providers()...)
}

// elsewhere takes what followed a redirect. It is no destination of its own: it
// has no faults and no settings, and asks for no credential.
var elsewhere = system{
	name: destElsewhere, title: "Elsewhere", failure: plainAPI.failure,
	authorized: func(*http.Request) bool { return true },
}

// systemOf gives a system by its name.
func systemOf(name string) (system, bool) {
	if name == destElsewhere {
		return elsewhere, true
	}
	for _, d := range systems {
		if d.name == name {
			return d, true
		}
	}
	return system{}, false
}

func (d system) byHTTP() bool { return d.route != nil }

func (d system) admits(r *http.Request) bool {
	if d.authorized != nil {
		return d.authorized(r)
	}
	a := r.Header.Get("Authorization")
	return a != "" && a != "Bearer wrong"
}

// systemNames lists the systems of which is says yes; nil = all.
func systemNames(is func(system) bool) []string {
	var out []string
	for _, d := range systems {
		if is == nil || is(d) {
			out = append(out, d.name)
		}
	}
	return out
}

func checkDestination(name string) error {
	if all := systemNames(nil); !slices.Contains(all, name) {
		return fmt.Errorf("destination %q is not known; it is one of %s", name, strings.Join(all, ", "))
	}
	return nil
}
