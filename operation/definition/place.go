package definition

import (
	"strings"

	"holdpoint/operation"
)

// CheckPlace finds what is wrong with the profile's address as env has its variables now:
// what ParseProfile cannot see, and what would keep every request from being written. A
// variable that is not set is no problem here: another machine may have it.
func (p *Profile) CheckPlace(env Env) Problems {
	at := p.placeAt
	if p.Kind == operation.RequestHTTP && !p.Local && strings.HasPrefix(p.BaseURL, "http://") {
		at.Text = errNoTLS.Error()
		return Problems{at}
	}
	unset := false
	_, err := p.Base(func(name string) (string, bool) {
		v, ok := "", false
		if env != nil {
			v, ok = env(name)
		}
		unset = unset || !ok
		return v, ok
	})
	if err == nil || unset {
		return nil
	}
	at.Text = err.Error()
	if strings.Contains(p.BaseURL, "env(") || p.SMTP != nil && strings.Contains(p.SMTP.Addr, "env(") {
		at.Text += " (as the environment has it here)"
	}
	return Problems{at}
}
