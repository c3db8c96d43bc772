package views

import (
	"slices"
	"time"

	"holdpoint/operation"
)

// PeopleModel lists people and their roles, for admins and auditors.
type PeopleModel struct {
	Frame
	Filter PeopleFilter
	Rows   []PersonRow
	Total  int // of everybody, whatever the filter
	// MayChange is set for admins: they find the buttons.
	MayChange bool
}

// PeopleFilter is the form above the list. Fields: q, role, flow, account.
type PeopleFilter struct {
	Q        string
	Roles    []Option
	Flows    []Option
	Accounts []Option
	Active   bool // something is filtered
}

// AccountState is what an account can do now.
type AccountState string

// The states of an account; each has a key "people.state.<word>".
const (
	AccountActive     AccountState = "active"
	AccountInvited    AccountState = "invited"     // the link waits to be used
	AccountExpired    AccountState = "expired"     // the link was not used in time
	AccountNoPassword AccountState = "no_password" // a new link was given out, or none
	AccountDisabled   AccountState = "disabled"
)

// AccountStates lists every state of an account.
var AccountStates = []AccountState{AccountActive, AccountInvited, AccountExpired, AccountNoPassword, AccountDisabled}

// PersonRow is one person.
type PersonRow struct {
	ID       operation.UserID
	Name     string
	Email    string
	URL      string // of their page
	State    AccountState
	Until    time.Time // of an invitation: how long it holds
	Roles    []RoleGrant
	LastSeen time.Time // zero = never
	SameAs   *Link     // another account of the same natural person
}

// RoleGrant is a role, for one flow or for all.
type RoleGrant struct {
	Role       operation.Role
	Flow       string // its title; "" = all flows
	ByProvider bool   // follows from the provider's groups
}

// InviteModel is the page on which somebody is invited.
// Fields: email, name, grant (of RolesForm), reason.
type InviteModel struct {
	Frame
	Form
	Email  string
	Name   string
	Reason string
	Grants []RoleChoice
}

// RoleChoice is one role with the flows for which it may be held. Field: grant, once
// for each ticked box, with the value ROLE: or ROLE:FLOW.
type RoleChoice struct {
	Role  operation.Role
	All   bool // for every flow
	Flows []FlowChoice
}

// chosen counts the flows that are ticked.
func (c RoleChoice) chosen() int {
	n := 0
	for _, f := range c.Flows {
		if f.On {
			n++
		}
	}
	return n
}

// FlowChoice is one flow of a choice.
type FlowChoice struct {
	Name, Title string
	On          bool
}

// RolesForm changes what a person may. Fields: was (once for each role that is held),
// grant, reason.
type RolesForm struct {
	Form
	Was    []string
	Grants []RoleChoice
	Reason string
}

// PersonModel is one person: what they may, how they sign in, what they tried and what
// was changed about them. Admins change it, auditors read.
type PersonModel struct {
	Frame
	Person PersonRow
	// Link is a new one-use link, shown this once; nil = none.
	Link *OnceLink
	// SignIn leads to how the person signs in; "" = the viewer may not see that.
	SignIn string
	// Barred says why the viewer may change nothing here; empty = they may.
	Barred Say
	Roles  RolesForm
	// Actions are what may be done about the account, in the order of the page.
	Actions  []AccountAction
	Sessions []SessionRow
	SignIns  []SignInRow
	// Refused are the attempts to decide what was not theirs to decide, newest first.
	Refused []RefusedAttempt
	History HistoryModel
}

// AccountAction is something that is done about an account, with a reason.
type AccountAction struct {
	Word   string // the sentences are "do.<word>" and "do.<word>_effect"
	Danger bool
	Form   ReasonForm
}

func (a AccountAction) button() string {
	if a.Danger {
		return "btn-danger"
	}
	return "btn-primary"
}

// OnceLink is a secret that is shown once.
type OnceLink struct {
	Text string // the address or the token
	// Invitation says that it invites somebody; else it sets a password anew.
	Invitation bool
	Until      time.Time
}

// RefusedAttempt is one attempt that was refused to the person.
type RefusedAttempt struct {
	At        time.Time
	Operation Link
	Code      operation.Code
}

// TokensModel lists the API tokens and makes one.
type TokensModel struct {
	Frame
	Rows   []TokenRow
	Secret string // of a new one, shown this once
	Barred Say    // why the viewer may make none
	New    TokenForm
}

// TokenRow is one API token.
type TokenRow struct {
	ID      operation.TokenID
	URL     string
	Name    string
	Scopes  []string
	Limits  []string // flows and destinations by their titles; none = everywhere
	By      Who
	At      time.Time
	Expires time.Time // zero = never
	Used    time.Time // zero = never
	State   TokenState
}

// TokenState says whether a token opens anything.
type TokenState string

// The states of a token; each has a key "token.state.<word>".
const (
	TokenHolds   TokenState = "holds"
	TokenExpired TokenState = "expired"
	TokenRevoked TokenState = "revoked"
	TokenOrphan  TokenState = "orphan" // who made it is disabled
)

// TokenStates lists every state of a token.
var TokenStates = []TokenState{TokenHolds, TokenExpired, TokenRevoked, TokenOrphan}

// TokenForm makes a token. Fields: name, scope (once for each), flow and destination
// (once for each, none = every one), life.
type TokenForm struct {
	Form
	Name         string
	Scopes       []Option
	Flows        []Option
	Destinations []Option
	Lives        []Option
}

// TokenLives are how long a new token may hold; each has a key "token.life.<word>".
var TokenLives = []string{"30d", "90d", "365d", "never"}

// TokenModel is one API token, with the form that revokes it.
type TokenModel struct {
	Frame
	Token  TokenRow
	Barred Say
	Revoke *ReasonForm
}

// scopeWords are the scopes of a token; each has the keys "scope.<word>" and
// "scope.hint.<word>". A test holds them to the store.
var scopeWords = []string{"events", "operations", "claims", "callbacks", "read", "batches", "suppressions"}

// tickedOf lists values as options, some ticked.
func tickedOf(ticked []string, values ...string) []Option {
	list := make([]Option, 0, len(values))
	for _, v := range values {
		list = append(list, Option{Value: v, Selected: slices.Contains(ticked, v)})
	}
	return list
}

// ScopeOptions lists the scopes of a token as boxes.
func ScopeOptions(ticked []string) []Option { return tickedOf(ticked, scopeWords...) }

// LifeOptions lists how long a new token may hold.
func LifeOptions(selected string) []Option { return optionsOf(selected, TokenLives...) }

// AccountOptions lists the states of accounts for the filter.
func AccountOptions(selected string) []Option {
	list := make([]Option, 0, len(AccountStates))
	for _, s := range AccountStates {
		list = append(list, Option{Value: string(s), Selected: string(s) == selected})
	}
	return list
}

// byProvider gives the roles that follow from the provider's groups.
func byProvider(list []RoleGrant) []RoleGrant {
	return slices.DeleteFunc(slices.Clone(list), func(g RoleGrant) bool { return !g.ByProvider })
}
