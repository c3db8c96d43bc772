package definition

import (
	"encoding/json"
	"slices"
	"strings"

	"holdpoint/operation"
)

// NamesRecipients reports that the profile says whom an effect of this action reaches:
// by its recipient field, or by the envelope of a mail.
func (a *Action) NamesRecipients() bool { return a.recipient != nil || a.mail != nil }

// Recipients gives whom one version reaches, as far as the profile names them: the
// envelope's recipients of a mail, else what the recipient field makes of the content.
// Upper and lower case are one, and each stands once. Empty: the content says nobody.
func (a *Action) Recipients(content json.RawMessage, req operation.Request) []string {
	var out []string
	add := func(s string) {
		if s = strings.ToLower(strings.TrimSpace(s)); s != "" && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	if a.recipient == nil {
		for _, s := range req.To {
			add(s)
		}
		return out
	}
	var decoded map[string]any
	if json.Unmarshal(content, &decoded) != nil {
		return nil
	}
	got, err := a.recipient.render(map[string]any{"content": plain(decoded)})
	if err != nil {
		return nil
	}
	list, ok := got.([]any)
	if !ok {
		list = []any{got}
	}
	for _, x := range list {
		if s, err := textOf(x); err == nil {
			add(s)
		}
	}
	return out
}
