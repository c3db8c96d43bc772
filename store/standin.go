package store

import (
	"slices"

	"holdpoint/operation"
	"holdpoint/operation/definition"

	"github.com/lib/pq"
)

// named is a flow as its people stand now: a named person who is gone (disabled, or
// without the role) is replaced by the role, so that nothing waits for nobody (MODEL §1).
type named struct {
	epoch int64
	flow  *definition.Flow
	ids   map[string]operation.UserID // of the named people who are there, by address
}

// names reports the named people of a flow's selectors, each once.
func namedIn(f *definition.Flow) []string {
	var out []string
	add := func(s operation.Selector) {
		if s.User != "" && !slices.Contains(out, s.User) {
			out = append(out, s.User)
		}
	}
	add(f.Reviewer)
	add(f.Reexecution.Approvers)
	add(f.Author)
	for _, st := range f.Stages {
		for _, s := range st.Approval.Selectors() {
			add(s)
		}
	}
	return out
}

// standIn gives the flow with its named people resolved as of an epoch of rights. A flow
// that names nobody is given as it is.
func (t *tx) standIn(f *definition.Flow, version int, epoch int64) (named, error) {
	people := namedIn(f)
	if len(people) == 0 {
		return named{flow: f}, nil
	}
	s, key := t.s, defKey(f.Name, version)
	s.defs.mu.RLock()
	n, ok := s.defs.named[key]
	s.defs.mu.RUnlock()
	if ok && n.epoch == epoch {
		return n, nil
	}
	roles, ids, err := t.namedRoles(f.Name, people)
	if err != nil {
		return named{}, err
	}
	g := *f
	g.Stages = slices.Clone(f.Stages)
	for i := range g.Stages {
		g.Stages[i].Approval.Groups = slices.Clone(g.Stages[i].Approval.Groups)
	}
	for _, sel := range selectorsOf(&g) {
		if sel.User != "" && !slices.Contains(roles[sel.User], sel.Role) {
			sel.User = ""
		}
	}
	n = named{epoch: epoch, flow: &g, ids: ids}
	s.defs.mu.Lock()
	defer s.defs.mu.Unlock()
	if s.defs.named == nil {
		s.defs.named = map[string]named{}
	}
	s.defs.named[key] = n
	return n, nil
}

// selectorsOf gives every selector of a flow by which somebody decides, to be changed.
func selectorsOf(f *definition.Flow) []*operation.Selector {
	out := []*operation.Selector{&f.Reviewer, &f.Reexecution.Approvers, &f.Author}
	for i := range f.Stages {
		a := &f.Stages[i].Approval
		out = append(out, &a.Approvers)
		for k := range a.Groups {
			out = append(out, &a.Groups[k].Approvers)
		}
	}
	return out
}

// namedRoles reads the roles that these people hold for a flow now; nothing for those
// who are disabled or not there.
func (t *tx) namedRoles(flow string, addresses []string) (map[string][]operation.Role, map[string]operation.UserID, error) {
	var rows []struct {
		Email string           `db:"email"`
		ID    operation.UserID `db:"id"`
		Role  operation.Role   `db:"role"`
	}
	err := t.list(&rows, `SELECT u.email, u.id, r.role FROM users u JOIN user_roles r ON r.user_id = u.id
		WHERE u.active AND u.email = ANY($1) AND r.flow IN ('', $2)`, pq.Array(addresses), flow)
	roles, ids := map[string][]operation.Role{}, map[string]operation.UserID{}
	for _, r := range rows {
		roles[r.Email] = append(roles[r.Email], r.Role)
		ids[r.Email] = r.ID
	}
	return roles, ids, err
}

// present resolves one selector of a pinned policy: the role alone when the named person
// is gone since.
func (u *unit) present(s operation.Selector) (operation.Selector, error) {
	if s.User == "" {
		return s, nil
	}
	roles, ids, err := u.namedRoles(u.op.Flow, []string{s.User})
	if err != nil {
		return s, err
	}
	if !slices.Contains(roles[s.User], s.Role) {
		s.User = ""
		return s, nil
	}
	u.who[s.User] = ids[s.User]
	return s, nil
}

// responsible turns a selector into who must act: the named person, or the role.
func responsible(s operation.Selector, ids map[string]operation.UserID) operation.Responsible {
	return operation.Responsible{Role: s.Role, User: ids[s.User]}
}
