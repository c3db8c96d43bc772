package operation

import (
	"slices"
	"strings"
)

// ByRoles names every role that can help, each once, the one to turn to first. Auditors
// only read.
func (r *Refusal) ByRoles(roles ...Role) *Refusal {
	var list []string
	for _, x := range roles {
		if x.Valid() && x != RoleAuditor && !slices.Contains(list, string(x)) {
			list = append(list, string(x))
		}
	}
	if len(list) == 0 {
		return r
	}
	if r.Params == nil {
		r.Params = map[string]string{}
	}
	r.Params["role"], r.Params["roles"] = list[0], strings.Join(list, " ")
	return r.By(Responsible{Role: Role(list[0])})
}
