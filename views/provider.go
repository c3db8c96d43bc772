package views

// Why nobody was signed in by the provider; each has the keys "provider.<why>.title",
// ".what" and ".todo". The first four are the store's codes.
const (
	ProviderEmail        = "email"
	ProviderDisabled     = "disabled"
	ProviderOther        = "other"
	ProviderNoRole       = "no_role"
	ProviderDomain       = "domain"
	ProviderDenied       = "denied"
	ProviderAnswer       = "answer"
	ProviderAway         = "away"
	ProviderNotConfirmed = "not_confirmed"
)

// providerReasons lists them all.
var providerReasons = []string{ProviderEmail, ProviderDisabled, ProviderOther, ProviderNoRole, ProviderDomain, ProviderDenied, ProviderAnswer,
	ProviderAway, ProviderNotConfirmed}

// ErrorProviderOnly is said to whoever signs in with a password where only the provider
// signs people in. It does not say whether there is such an account. Parameter: Name.
const ErrorProviderOnly = "provider.only"

// ProviderModel says why the provider signed nobody in.
type ProviderModel struct {
	Frame
	Name     string // of the provider
	Why      string
	Again    string // address to try again
	Only     bool   // only chosen accounts sign in past the provider
	SignedIn bool   // somebody is: they wanted to confirm who they are
}

// ProviderLink leads to the provider from a page; nil = there is none.
type ProviderLink struct{ Name, URL string }
