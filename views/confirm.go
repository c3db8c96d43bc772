package views

import "time"

// ConfirmModel is the page on which a person proves once more who they are.
// Fields: password, return (hidden; where to go on).
type ConfirmModel struct {
	Frame
	Form
	// After is how old a proof may be for what was asked.
	After time.Duration
	// Kept says that a form waits and comes back.
	Kept bool
	// HasPassword is false for who signs in by other means alone.
	HasPassword bool
	// Code asks for the code of the authenticator app besides the password. Field: code.
	Code bool
	// Passkey and Provider are other ways; nil = they are none here.
	Passkey  *PasskeyAsk
	Provider *ProviderLink
	// Back leads to the page without confirming.
	Back string
}
