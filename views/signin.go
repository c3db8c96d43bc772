package views

// SignInModel is the sign-in page.
// Fields: email, password, return (hidden; where to go on).
type SignInModel struct {
	Frame
	Form
	Email string
	// SetUpNeeded says that nobody has an account yet.
	SetUpNeeded bool
	// DecisionKept says that the person was about to decide when the session ended.
	DecisionKept bool
}

// SetPasswordModel is the page behind a one-use link.
// Fields: token (hidden), password, password_again.
type SetPasswordModel struct {
	Frame
	Form
	Token   string
	Email   string
	Expired bool // the link was used or is too old
	MinLen  int
}

// The catalogue keys of what can be wrong with a password form; handlers put them
// into Form.Errors.
const (
	ErrorWrongPassword   = "error.wrong_password"    // e-mail address or password
	ErrorTooManyAttempts = "error.too_many_sign_ins" // Wait
	ErrorAccountDisabled = "error.account_disabled"
	ErrorPasswordShort   = "error.password_short" // Min
	ErrorPasswordsDiffer = "error.passwords_differ"
	ErrorCurrentPassword = "error.current_password"
	ErrorRequired        = "error.required"
	ErrorTooLong         = "error.too_long" // Max
	ErrorInvalid         = "error.invalid"
	ErrorInvalidLink     = "error.invalid_link"
	ErrorPastDate        = "error.past_date"
	ErrorConfirm         = "error.confirm" // the box must be ticked
	ErrorUnknownZone     = "error.unknown_zone"
)
