package views

import (
	"time"

	"holdpoint/operation"
)

// PeopleModel lists people and their roles (admins; read only here).
type PeopleModel struct {
	Frame
	Rows []PersonRow
}

// PersonRow is one person.
type PersonRow struct {
	ID       operation.UserID
	Name     string
	Email    string
	URL      string // of their page
	Active   bool
	Roles    []RoleGrant
	LastSeen time.Time // zero = never
	// PasswordSet is false until the one-use link was used.
	PasswordSet bool
}

// PersonModel is one person with what they tried and what was changed about them
// (admins and auditors; read only).
type PersonModel struct {
	Frame
	Person PersonRow
	// Refused are the attempts to decide what was not theirs to decide, newest first.
	Refused []RefusedAttempt
	History HistoryModel
}

// RefusedAttempt is one attempt that was refused to the person.
type RefusedAttempt struct {
	At        time.Time
	Operation Link
	Code      operation.Code
}

// RoleGrant is a role, for one flow or for all.
type RoleGrant struct {
	Role operation.Role
	Flow string // "" = all flows
}

// AccountModel is the viewer's own settings.
// Two forms: Settings (fields: language, zone, theme) and Password (fields:
// current, password, password_again).
type AccountModel struct {
	Frame
	Settings SettingsForm
	Password PasswordForm
	Sessions []SessionRow
}

// SettingsForm holds language, time zone and theme.
// Fields: language (en | ja | pl), zone (IANA name), theme (auto | light | dark).
type SettingsForm struct {
	Form
	Language string
	Zone     string
	Zones    []string // suggestions
	Theme    string
}

// PasswordForm changes the password. Fields: current, password, password_again.
type PasswordForm struct {
	Form
	MinLen int
}

// SessionRow is one session of the viewer.
type SessionRow struct {
	Current bool
	Since   time.Time
	Seen    time.Time
	Agent   string // browser, as it named itself
}

// optionsOf lists values as options, one selected; their labels come from the
// catalogues.
func optionsOf(selected string, values ...string) []Option {
	list := make([]Option, 0, len(values))
	for _, v := range values {
		list = append(list, Option{Value: v, Selected: v == selected})
	}
	return list
}
