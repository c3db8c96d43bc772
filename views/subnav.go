package views

import "holdpoint/operation"

// subEntry is one link of the navigation inside a section.
type subEntry struct {
	path string
	key  string // of its word in the catalogues
}

// The pages of a person's own account. A page gets its entry in accountEntries when it
// is there.
const (
	PathAccountSecurity = PathAccount + "/security"
)

// accountEntries lists the pages of one's own account, in their order.
var accountEntries = []subEntry{
	{PathAccount, "account.nav.general"},
	{PathAccountSecurity, "account.nav.security"},
	{PathDelegations, "delegation.title"},
	{PathFactors, "account.nav.factors"},
	{PathNotifications, "account.nav.notifications"},
}

// The pages of people and access.
const (
	PathTokens = PathPeople + "/tokens"
	PathInvite = PathPeople + "/invite"
)

// peopleEntries lists the pages of people and access.
var peopleEntries = []subEntry{
	{PathPeople, "people.nav.people"},
	{PathTokens, "people.nav.tokens"},
	{PathAllDelegations, "delegation.title"},
	{PathPeople + "/factors", "people.nav.factors"},
}

// peopleTabs are the pages of people and access that this viewer may open: the rule about
// second factors is the administrators'.
func peopleTabs(v *Viewer) []subEntry {
	if v.Has(operation.RoleAdmin) {
		return peopleEntries
	}
	return peopleEntries[:len(peopleEntries)-1]
}
