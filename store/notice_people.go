package store

import (
	"encoding/json"
	"slices"
	"time"

	"holdpoint/operation"
	"holdpoint/operation/definition"

	"github.com/lib/pq"
)

// noticePerson is a person with what they set about notices.
type noticePerson struct {
	ID       operation.UserID `db:"id"`
	Locale   string           `db:"locale"`
	ZoneName string           `db:"zone"`
	Mail     bool             `db:"mail"`
	SlackID  string           `db:"slack_id"`
	From     *int             `db:"quiet_from"`
	To       *int             `db:"quiet_to"`
	DigestAt int              `db:"digest_at"`
	Choices  string           `db:"choices"` // JSON

	modes map[operation.NoticeKind]operation.NoticeMode
	zone  *time.Location
}

const noticePersonColumns = `u.id, u.locale, u.zone, COALESCE(p.mail, true) AS mail, COALESCE(p.slack_id, '') AS slack_id, p.quiet_from, p.quiet_to, COALESCE(p.digest_at, 480) AS digest_at,
	COALESCE((SELECT json_object_agg(c.kind, c.mode)::text FROM notice_choices c WHERE c.user_id = u.id), '{}') AS choices FROM users u LEFT JOIN notice_people p ON p.user_id = u.id`

// prepare reads the choices and the zone. A zone that this machine does not know is UTC.
func (n *noticePerson) prepare() error {
	n.zone = time.UTC
	if z, err := time.LoadLocation(n.ZoneName); err == nil {
		n.zone = z
	}
	return json.Unmarshal([]byte(n.Choices), &n.modes)
}

func (n *noticePerson) mode(k operation.NoticeKind) operation.NoticeMode {
	if m, ok := n.modes[k]; ok && k.Allows(m) {
		return m
	}
	return k.Default()
}

func (n *noticePerson) quiet() operation.Quiet {
	if n.From == nil || n.To == nil {
		return operation.Quiet{}
	}
	return operation.Quiet{From: *n.From, To: *n.To}
}

// of lists by what a person is reached now.
func (c NoticeChannels) of(n *noticePerson) []string {
	var out []string
	if c.Mail && n.Mail {
		out = append(out, ChannelMail)
	}
	if c.Slack && n.SlackID != "" {
		out = append(out, ChannelSlack)
	}
	return out
}

// readPeople reads what these people have set, once for each look. Whoever is not active
// is left out.
func (p *noticePass) readPeople(ids []operation.UserID) error {
	list := make([]string, len(ids))
	for i, id := range ids {
		list[i] = string(id)
	}
	var rows []*noticePerson
	if err := p.list(&rows, `SELECT `+noticePersonColumns+` WHERE u.active AND u.id = ANY($1)`, pq.Array(list)); err != nil {
		return err
	}
	p.people = map[operation.UserID]*noticePerson{}
	for _, n := range rows {
		if err := n.prepare(); err != nil {
			return err
		}
		p.people[n.ID] = n
	}
	return nil
}

// flowPeople is a flow as it stands now, with everybody who may see it.
type flowPeople struct {
	flow      *definition.Flow
	people    []operation.Person // active, with their roles for it
	delegates []delegateRow
}

type delegateRow struct {
	From  operation.UserID `db:"from_user"`
	To    operation.UserID `db:"to_user"`
	Roles pq.StringArray   `db:"roles"`
	Flows pq.StringArray   `db:"flows"`
}

func (p *noticePass) flowOf(name string) (*flowPeople, error) {
	if f, ok := p.flows[name]; ok {
		return f, nil
	}
	var version int
	if err := p.get(&version, `SELECT version FROM flows WHERE name = $1`, name); err != nil {
		return nil, err
	}
	f := &flowPeople{}
	var err error
	if f.flow, err = p.s.flowVersion(p.ctx, p.Tx, name, version); err != nil {
		return nil, err
	}
	if f.people, err = p.peopleOf(name); err != nil {
		return nil, err
	}
	if err := p.list(&f.delegates, `SELECT from_user, to_user, roles, flows FROM delegations WHERE revoked_at IS NULL AND starts_at <= $1 AND ends_at > $1`, p.now); err != nil {
		return nil, err
	}
	if p.flows == nil {
		p.flows = map[string]*flowPeople{}
	}
	p.flows[name] = f
	return f, nil
}

// sees reports whether a person may know of the flow's operations: any role is enough.
func (f *flowPeople) sees(id operation.UserID) bool {
	return slices.ContainsFunc(f.people, func(x operation.Person) bool { return x.ID == id })
}

// holders gives who may take a decision of a role: the named person while they are
// there and hold the role, else everybody who holds it, and whoever stands in for one of
// them meanwhile.
func (f *flowPeople) holders(role operation.Role, named operation.UserID) []operation.UserID {
	var out []operation.UserID
	for _, x := range f.people {
		if x.Has(role) || x.ID == named {
			out = append(out, x.ID)
		}
	}
	if slices.Contains(out, named) {
		out = []operation.UserID{named}
	}
	for _, d := range f.delegates {
		if slices.Contains(out, d.From) && slices.Contains(d.Roles, string(role)) && (len(d.Flows) == 0 || slices.Contains(d.Flows, f.flow.Name)) && f.sees(d.To) && !slices.Contains(out, d.To) {
			out = append(out, d.To)
		}
	}
	return out
}

// selected gives who a selector of the flow names, with the same rule.
func (f *flowPeople) selected(s operation.Selector) []operation.UserID {
	named := operation.UserID("")
	for _, x := range f.people {
		if s.User != "" && x.Email == s.User {
			named = x.ID
		}
	}
	return f.holders(s.Role, named)
}

// groupMembers gives who may fill a place that is still open, where the stage asks for its
// approvals by groups: all groups are asked at once.
func (f *flowPeople) groupMembers(r *waitingRow) []operation.UserID {
	st, ok := stageOf(f.flow, r.Stage)
	if !ok || !st.Approval.Grouped() || !slices.Contains(st.Approval.Roles(), r.Role) {
		return nil
	}
	var given []operation.Given
	for _, id := range idsOf(r.Given) {
		for _, x := range f.people {
			if x.ID == id {
				given = append(given, operation.Given{User: x.One(), Decision: operation.Approve, Groups: st.Approval.GroupsOf(x, operation.Delegation{}, r.Flow)})
			}
		}
	}
	var out []operation.UserID
	for _, g := range st.Approval.Fill(given) {
		if g.Open() > 0 {
			out = append(out, leaving(f.selected(g.Group.Approvers), out...)...)
		}
	}
	return out
}

// leaving takes people out of a list.
func leaving(list []operation.UserID, out ...operation.UserID) []operation.UserID {
	return slices.DeleteFunc(slices.Clone(list), func(id operation.UserID) bool { return slices.Contains(out, id) })
}
