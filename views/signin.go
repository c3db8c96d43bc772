package views

import "slices"

// SignInModel is the sign-in page.
// Fields: email, password, return (hidden; where to go on).
type SignInModel struct {
	Frame
	Form
	Email string
	// SetUpNeeded says that nobody has an account yet.
	SetUpNeeded bool
	// Passkey and Provider are other ways to sign in; nil = they are none here.
	Passkey  *PasskeyAsk
	Provider *ProviderLink
	// ProviderOnly says that passwords are for chosen accounts alone.
	ProviderOnly bool
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
	ErrorPasswordsDiffer = "error.passwords_differ"
	ErrorCurrentPassword = "error.current_password"
	ErrorRequired        = "error.required"
	ErrorInvalid         = "error.invalid"
	ErrorInvalidLink     = "error.invalid_link"
	ErrorPastDate        = "error.past_date"
	ErrorTooLong         = "error.too_long" // with Limit, in characters
	ErrorAnsweredNo      = "error.answered_no"
	ErrorConfirm         = "error.confirm" // the box must be ticked
)

// invalidCodes are what the store finds wrong with a field (store.Invalid); each has a
// key "invalid.<code>". A test holds them to the store.
var invalidCodes = []string{"dispute_many", "dispute_files", "clock_active", "moment_malformed", "due_past", "class_unknown", "text_long", "files_many", "files_large", "date_past", "email_malformed", "email_taken", "flow_unknown", "language_unknown", "last_admin",
	"name_missing", "not_invited", "own_access", "password_common", "password_long", "password_own", "password_short", "reason_missing", "roles_changed", "role_unknown", "scope_missing", "scope_unknown", "destination_unknown",
	"user_disabled", "zone_unknown", "totp_exists", "factor_missing", "passkey_known", "passkey_name_long", "passkeys_many", "same_account",
	"account_missing", "person_has_accounts", "view_empty", "view_long", "view_many", "view_taken",
	"slack_id_malformed", "time_malformed", "quiet_empty", "mode_unknown",
	"limit_figure", "limit_side", "limit_value", "limit_rate", "limit_margin", "limit_span", "limit_source", "limit_destination", "limit_least", "limit_hold", "limit_remind", "limit_again", "limit_due",
	"limit_owner", "limit_tell", "limit_note", "limit_person", "limit_taken", "comment_missing", "comment_long",
	"text_missing", "time_missing", "owner_missing", "owner_gone", "due_missing", "incident_empty", "incident_many", "incident_times",
	"acceptance_barred", "acceptance_open", "acceptance_input", "acceptance_part", "acceptance_not_passed", "acceptance_other_sheet", "acceptance_stale", "acceptance_two_people",
	"acceptance_signed", "acceptance_long", "retention_days", "address_missing", "address_form", "address_all", "suppression_reason", "suppression_channel", "suppression_until", "suppression_rows",
	"list_rows", "list_missing", "list_no_list", "list_no_input"}

// Invalid says what the store finds wrong with a field. limit is for codes about a
// length or a count.
func Invalid(code string, limit int) Say {
	if !slices.Contains(invalidCodes, code) {
		return Sentence(ErrorInvalid)
	}
	return Sentence("invalid."+code, "Limit", limit)
}
