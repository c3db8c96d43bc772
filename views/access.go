package views

// The catalogue keys of what an action about access did. Handlers put them into a Flash.
const (
	FlashConfirmedSelf     = "flash.confirmed_self" // a form waits for its button
	FlashConfirmedPlain    = "flash.confirmed_plain"
	FlashInvited           = "flash.invited" // Name
	FlashInvitedTwice      = "flash.invited_twice"
	FlashLinkMade          = "flash.link_made"
	FlashRolesChanged      = "flash.roles_changed"
	FlashRolesSame         = "flash.roles_same"
	FlashUserDisabled      = "flash.user_disabled"
	FlashUserEnabled       = "flash.user_enabled"
	FlashSignedOutUser     = "flash.signed_out_user"
	FlashInvitationRevoked = "flash.invitation_revoked"
	FlashTokenMade         = "flash.token_made"
	FlashTokenTwice        = "flash.token_twice"
	FlashTokenRevoked      = "flash.token_revoked"
	FlashSessionEnded      = "flash.session_ended"
	FlashSessionsEnded     = "flash.sessions_ended"
)

// Why the viewer may change nothing about somebody's access; catalogue keys.
const (
	BarredSelf = "person.barred_self"
	BarredRole = "person.barred_role"
)

// ErrorBusy is a password that was not looked at: too many are, at that moment.
const ErrorBusy = "error.busy"
