package definition

// Codes lists the words by which the profile names the outcomes of the action.
func (a *Action) Codes() []string {
	var out []string
	for _, o := range a.outcomes {
		if o.code != "" {
			out = append(out, o.code)
		}
	}
	return out
}
