package views

import (
	"strings"
	"time"

	"holdpoint/views/text"
)

// AccountModel is the viewer's own settings. One form (fields: language, zone, theme).
type AccountModel struct {
	Frame
	Settings SettingsForm
	Roles    []RoleGrant // with flows by their titles
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

// SecurityModel is the viewer's own password, sessions and sign-ins.
type SecurityModel struct {
	Frame
	Password   PasswordForm
	NoPassword bool // signs in by other means
	Sessions   []SessionRow
	EndSession Form // field: session
	EndOthers  Form
	SignIns    []SignInRow // newest first
}

// PasswordForm changes the password. Fields: current, password, password_again.
type PasswordForm struct {
	Form
	MinLen int
}

// SessionRow is one session of a person.
type SessionRow struct {
	ID      string
	Current bool
	Since   time.Time
	Seen    time.Time
	Agent   string // browser, as it named itself
	IP      string
}

// SignInRow is one sign-in, or a try that failed.
type SignInRow struct {
	At    time.Time
	How   string // one of SignInWays
	OK    bool
	IP    string
	Agent string
}

// SignInWays are the ways to sign in; each has the keys "signin.by.<way>" and
// "signin.failed.<way>". A test holds them to the store.
var SignInWays = []string{"password", "code", "recovery", "passkey", "provider"}

// optionsOf lists values as options, one selected; their labels come from the
// catalogues.
func optionsOf(selected string, values ...string) []Option {
	list := make([]Option, 0, len(values))
	for _, v := range values {
		list = append(list, Option{Value: v, Selected: v == selected})
	}
	return list
}

// browsers and systems are how they name themselves in a User-Agent, the special ones
// first: most of them name others too.
var (
	browsers = [][2]string{{"Edg/", "Edge"}, {"OPR/", "Opera"}, {"SamsungBrowser/", "Samsung Internet"}, {"Firefox/", "Firefox"}, {"FxiOS/", "Firefox"},
		{"CriOS/", "Chrome"}, {"HeadlessChrome/", "Chrome"}, {"Chrome/", "Chrome"}, {"Safari/", "Safari"}, {"curl/", "curl"}}
	systems = [][2]string{{"iPhone", "iPhone"}, {"iPad", "iPad"}, {"Android", "Android"}, {"CrOS", "ChromeOS"}, {"Windows", "Windows"},
		{"Mac OS X", "macOS"}, {"Linux", "Linux"}}
)

// deviceName says which browser on which system it was; one that is not known stands as
// it named itself.
func deviceName(p *text.Printer, agent string) string {
	if agent == "" {
		return p.T("account.device_unknown")
	}
	browser, system := named(browsers, agent), named(systems, agent)
	switch {
	case browser == "":
		return firstOf(agent, min(len(agent), 80))
	case system == "":
		return browser
	}
	return browser + " · " + system
}

func named(list [][2]string, agent string) string {
	for _, x := range list {
		if strings.Contains(agent, x[0]) {
			return x[1]
		}
	}
	return ""
}
