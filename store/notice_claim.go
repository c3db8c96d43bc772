package store

import (
	"slices"
	"time"

	"holdpoint/operation"
	"holdpoint/operation/definition"

	"github.com/lib/pq"
)

// noticeClaim reads, in the transaction that claims, what a message tells of as it is now.
type noticeClaim struct {
	*tx
	now   time.Time
	ops   map[string]*noticeOp
	flows map[string]*definition.Flow
	why   string          // of the pause of everything; "" = none
	tasks map[string]bool // improvement tasks that are open
}

// noticeOp is an operation as a message tells of it.
type noticeOp struct {
	ID     string          `db:"id"`
	Stage  string          `db:"stage"`
	State  operation.State `db:"state"`
	Kind   string          `db:"next_kind"`
	System bool            `db:"next_system"`
	Due    *time.Time      `db:"next_at"`
	Since  *time.Time      `db:"next_since"`
}

// waits reports whether the decision that a notice tells of still waits.
func (o *noticeOp) waits(n noticeSent) bool {
	return o != nil && !o.System && o.Kind == n.Decision && o.Since != nil && o.Since.Equal(n.Since)
}

// current leaves out, and records as superseded, what is not to be sent any more: the
// decision was taken meanwhile, sends go on again, or the person may not see the flow now.
func (c *noticeClaim) current(rows []noticeSent) ([]noticeSent, error) {
	if err := c.read(rows); err != nil {
		return nil, err
	}
	sees, err := c.seen(rows)
	if err != nil {
		return nil, err
	}
	var gone []string
	kept := slices.DeleteFunc(slices.Clone(rows), func(n noticeSent) bool {
		over := n.Decision != "" && !c.ops[n.Subject].waits(n) || n.Kind == operation.NoticeAlert && c.why == "" ||
			n.Kind == operation.NoticeTask && !c.tasks[n.Subject] || n.User != "" && !sees[n.Flow] || n.User == "" && n.Flow != "" && !c.hasPlace(n)
		if over {
			gone = append(gone, string(n.ID))
		}
		return over
	})
	if len(gone) == 0 {
		return kept, nil
	}
	_, err = c.exec(`UPDATE notices SET state = 'superseded', lease_until = NULL WHERE id = ANY($1)`, pq.Array(gone))
	return kept, err
}

func (c *noticeClaim) hasPlace(n noticeSent) bool {
	f := c.flows[n.Flow]
	if f == nil {
		return false
	}
	_, ok := f.Notify.Place(n.Addressee)
	return ok
}

// read reads the operations, the flows and the pause that the rows tell of.
func (c *noticeClaim) read(rows []noticeSent) error {
	c.ops, c.flows = map[string]*noticeOp{}, map[string]*definition.Flow{}
	var subjects []string
	for _, n := range rows {
		subjects = append(subjects, n.Subject)
		if n.Flow == "" || c.flows[n.Flow] != nil {
			continue
		}
		var version int
		if err := c.get(&version, `SELECT version FROM flows WHERE name = $1`, n.Flow); err != nil {
			return err
		}
		f, err := c.s.flowVersion(c.ctx, c.Tx, n.Flow, version)
		if err != nil {
			return err
		}
		c.flows[n.Flow] = f
	}
	var ops []*noticeOp
	if err := c.list(&ops, `SELECT id, stage, state, next_kind, next_system, next_at, next_since FROM operations WHERE id = ANY($1)
		UNION ALL SELECT id, stage, CASE WHEN state IN ('pending_approval', 'canary_review') THEN 'pending_approval' ELSE state END, next_kind, next_system, next_at, next_since FROM batches WHERE id = ANY($1)`, pq.Array(subjects)); err != nil {
		return err
	}
	for _, o := range ops {
		c.ops[o.ID] = o
	}
	if err := c.readTasks(subjects); err != nil {
		return err
	}
	return c.get(&c.why, `SELECT paused_why FROM installation`)
}

// seen gives the flows among the rows that their one person may see now; "" stands for
// what belongs to no flow, which every active person may know of.
func (c *noticeClaim) seen(rows []noticeSent) (map[string]bool, error) {
	out := map[string]bool{}
	if rows[0].User == "" {
		return out, nil
	}
	var roles []struct {
		Flow *string `db:"flow"`
	}
	if err := c.list(&roles, `SELECT r.flow FROM users u LEFT JOIN user_roles r ON r.user_id = u.id WHERE u.id = $1 AND u.active`, string(rows[0].User)); err != nil {
		return nil, err
	}
	for _, r := range roles {
		out[""] = true
		for name := range c.flows {
			out[name] = out[name] || r.Flow != nil && (*r.Flow == "" || *r.Flow == name)
		}
	}
	return out, nil
}

// order puts the message together.
func (c *noticeClaim) order(lead noticeSent, rows []noticeSent, domain string) (NoticeOrder, error) {
	o := NoticeOrder{ID: lead.ID, Channel: lead.Channel, Attempt: lead.Attempts + 1, Message: lead.Message, At: c.now, Now: c.now, Created: lead.Created,
		Bundle: lead.Bundle != "", Remote: lead.Remote}
	if lead.Dated != nil {
		o.At = lead.Dated.UTC()
	}
	if o.Message == "" {
		o.Message = string(lead.ID) + "@" + domain
	}
	if lead.User != "" {
		if err := c.get(&o.To, `SELECT u.id, u.email, u.name, u.locale, u.zone, COALESCE(p.slack_id, '') AS slack_id FROM users u LEFT JOIN notice_people p ON p.user_id = u.id WHERE u.id = $1`, string(lead.User)); err != nil {
			return o, err
		}
	} else if f := c.flows[lead.Flow]; f != nil {
		o.Place, _ = f.Notify.Place(lead.Addressee)
		o.To.Locale = f.Notify.Language
	}
	for _, n := range rows {
		o.ids = append(o.ids, string(n.ID))
		item := c.item(n)
		if err := c.figures(n, &item); err != nil {
			return o, err
		}
		o.Items = append(o.Items, item)
	}
	return o, nil
}

func (c *noticeClaim) item(n noticeSent) NoticeItem {
	i := NoticeItem{ID: n.ID, Kind: n.Kind, Step: n.Step, Subject: n.Subject, Title: n.Title}
	if n.Kind == operation.NoticeAlert {
		i.Reason = c.why
	}
	f := c.flows[n.Flow]
	if f == nil {
		return i
	}
	i.FlowTitle = f.Title
	if op := c.ops[n.Subject]; op != nil {
		i.State = op.State
		if n.Decision != "" {
			i.Due = timeOf(op.Due)
		}
		if st, ok := f.Stage(op.Stage); ok {
			i.StageTitle = st.Title
		}
	}
	return i
}
