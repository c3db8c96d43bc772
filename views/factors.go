package views

import (
	"strings"
	"time"

	"holdpoint/operation"
	"holdpoint/views/text"
)

// The addresses of second factors and of the sign-in provider.
const (
	PathFactors      = PathAccount + "/factors"
	PathSignInFactor = PathSignIn + "/factor"
	PathProvider     = PathSignIn + "/provider"
)

// The catalogue keys of what can be wrong with a second factor.
const (
	ErrorWrongCode      = "factors.error.code"
	ErrorNoPasskey      = "factors.error.no_passkey"
	ErrorPasskeyRefused = "factors.error.passkey"
	ErrorPasskeyLate    = "factors.error.passkey_late"
	ErrorSignInAnew     = "factors.error.sign_in_anew"
)

// The catalogue keys of what was done about second factors.
const (
	FlashTOTPAdded         = "factors.flash.totp_added"
	FlashFactorRemoved     = "factors.flash.removed"
	FlashRecoveryMade      = "factors.flash.recovery_made"
	FlashRecoveryUsed      = "factors.flash.recovery_used"
	FlashPasskeyAdded      = "factors.flash.passkey_added"
	FlashPasskeyRenamed    = "factors.flash.passkey_renamed"
	FlashFactorRule        = "factors.flash.rule"
	FlashFactorsReset      = "factors.flash.reset"
	FlashPersonLinked      = "factors.flash.linked"
	FlashPersonUnlinked    = "factors.flash.unlinked"
	FlashIdentityForgotten = "factors.flash.identity_forgotten"
)

// PasskeyAsk is where a page's script asks for a passkey. Without scripts it is not shown.
type PasskeyAsk struct {
	Start, Finish string // addresses
	Return        string // where to go on to
	MaxName       int    // of a new passkey's name, in characters; 0 = no new one
}

// SignInFactorModel asks for the second factor. Fields: code, return (hidden).
type SignInFactorModel struct {
	Frame
	Form
	Email    string
	TOTP     bool // an authenticator app is set up
	Recovery bool // recovery codes are left
	Passkey  *PasskeyAsk
	Leave    Form // ends this sign-in
}

// FactorsModel is the person's own second factors.
type FactorsModel struct {
	Frame
	Must      bool // they must set one up before anything else
	Any       bool
	TOTPSince time.Time // zero = no authenticator app
	Start     Form      // begins to set one up
	Remove    Form
	Recovery  int // codes that are left
	NewCodes  Form
	Passkeys  []PasskeyRow
	Add       *PasskeyAsk // nil = no passkeys at this address
}

// PasskeyRow is one passkey.
type PasskeyRow struct {
	ID             string
	Name           string
	Created        time.Time
	Used           time.Time // zero = never
	Cloned         time.Time // a copy may be in use since; zero = no sign of it
	Rename, Remove Form      // Rename has the field name
}

// TOTPModel sets an authenticator app up. Field: code.
type TOTPModel struct {
	Frame
	Form
	Must    bool
	QR      string // address of the picture, data:
	Seed    string // as a person types it
	Issuer  string
	Account string
	Cancel  Form
}

// RecoveryModel shows recovery codes, once.
type RecoveryModel struct {
	Frame
	Codes []string
	File  Form // field: codes
}

// FactorRuleModel says which roles must have a second factor. Fields: role (several),
// reason.
type FactorRuleModel struct {
	Frame
	Form
	Reason     string
	Roles      []FactorRole
	People     []FactorPerson
	BreakGlass []BreakGlassRow
	// ProviderOnly says that only chosen accounts sign in past the provider.
	ProviderOnly bool
	Provider     string // its name; "" = none
}

// FactorRole is one role of the rule.
type FactorRole struct {
	Role operation.Role
	Must bool
}

// recommendedFactor are the roles for which the rule is recommended.
func recommendedFactor(r operation.Role) bool {
	return r == operation.RoleAdmin || r == operation.RoleOpsOwner || r == operation.RoleApprover
}

// FactorPerson is one person and their second factor.
type FactorPerson struct {
	Name, Email, URL string
	Has, Needs       bool
}

// BreakGlassRow is one sign-in past the provider.
type BreakGlassRow struct {
	Name, URL string
	At        time.Time
}

// SignInForm is one change of how somebody signs in. Fields: reason and, by form,
// same_as or issuer.
type SignInForm struct {
	Form
	Reason string
}

// PersonSignInModel is how somebody signs in, for administrators.
type PersonSignInModel struct {
	Frame
	Name, Email, URL string
	Own              bool // the viewer's own person: they change nothing here
	Password         bool
	Any, Needs       bool
	TOTPSince        time.Time
	Recovery         int
	Passkeys         []PasskeyRow
	Provider         string // the provider's name; "" = none
	Identities       []IdentityRow
	Accounts         []Link   // other accounts of the same natural person
	Linked           bool     // this account names another one
	Choices          []Option // accounts that could be the same person
	Reset            SignInForm
	Link             SignInForm
	Unlink           SignInForm
	Forget           SignInForm
}

// IdentityRow is somebody's identity at a provider.
type IdentityRow struct {
	Issuer, Email string
	Linked, Used  time.Time
}

// issuers lists identities as options.
func issuers(list []IdentityRow) []Option {
	out := make([]Option, len(list))
	for i, x := range list {
		out[i] = Option{Value: x.Issuer, Label: x.Issuer, Selected: i == 0}
	}
	return out
}

// joined writes codes as one field holds them.
func joined(codes []string) string { return strings.Join(codes, " ") }

func signInPlaces(p *text.Printer, word string) []place {
	return append([]place{{"same_as", "same-as", p.T("factors.accounts.same_as")}}, reasonPlaces(p, word)...)
}
