package store

import (
	"context"
	"slices"
	"time"

	"holdpoint/operation"

	"github.com/lib/pq"
)

// TaskNotice is what a notice about an improvement task says.
type TaskNotice struct {
	Number int64
	Due    time.Time
	Late   bool // it was due before the message
}

// taskWindow bounds how many tasks one look tells of.
const taskWindow = 200

// PlanTaskNotices tells the owners of improvement tasks whose next step has come: that a
// task is theirs, that it is due, that it is overdue, then every week; once it has been
// overdue for a while, others are told too. Each step is told once, whichever process
// looks. It returns how many notices it planned.
func (s *Store) PlanTaskNotices(ctx context.Context, ch NoticeChannels) (int, error) {
	planned := 0
	err := s.write(ctx, func(t *tx) error {
		planned = 0
		var rows []TaskRow
		if err := t.list(&rows, `SELECT `+taskColumns+taskFrom+` WHERE k.step_at <= clock_timestamp() AND k.state = 'open' ORDER BY k.step_at LIMIT $1 FOR UPDATE OF k SKIP LOCKED`, taskWindow); err != nil {
			return err
		}
		if len(rows) == 0 {
			return errDone
		}
		now, err := t.clock()
		if err != nil {
			return err
		}
		p := &noticePass{tx: t, channels: ch, now: now}
		for _, r := range rows {
			if err := p.planTaskStep(r); err != nil {
				return err
			}
		}
		if err := p.writeNotices(); err != nil {
			return err
		}
		planned = p.planned
		return nil
	})
	return planned, err
}

// planTaskStep tells of one task's step and plans the next one. A look that comes late
// tells of the newest step alone.
func (p *noticePass) planTaskStep(r TaskRow) error {
	step, at := operation.NextTaskStep(r.Told, r.Due, *r.StepAt)
	for next, then := operation.NextTaskStep(step, r.Due, at); !then.After(p.now) && next > step; next, then = operation.NextTaskStep(step, r.Due, at) {
		step, at = next, then
	}
	who, err := p.taskPeople(r)
	if err != nil {
		return err
	}
	if step == operation.StepEscalate {
		others, err := p.taskEscalation(r)
		if err != nil {
			return err
		}
		for id, flow := range others {
			if _, told := who[id]; !told {
				who[id] = flow
			}
		}
	}
	ids := make([]operation.UserID, 0, len(who))
	for id := range who {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		p.add(noticeRow{Kind: operation.NoticeTask, Subject: string(r.ID), Flow: who[id], Title: r.Title, Since: *r.StepAt, Step: step}, nil, []operation.UserID{id})
	}
	_, at = operation.NextTaskStep(step, r.Due, p.now)
	return p.one(`UPDATE improvement_tasks SET told_step = $2, step_at = $3 WHERE id = $1`, string(r.ID), step, at)
}

// taskPeople gives whose task it is, each with the flow by which they may know of it: the
// person while they are there, else everybody who holds the role.
func (p *noticePass) taskPeople(r TaskRow) (map[operation.UserID]string, error) {
	if r.OwnerID != "" && !r.OwnerGone {
		return map[operation.UserID]string{r.OwnerID: ""}, nil
	}
	role := r.OwnerRole
	if role == "" {
		role = operation.RoleOpsOwner
	}
	return p.holdersIn(r.Flows, role)
}

// taskEscalation gives who is told besides: the owners of the flows, else admins.
func (p *noticePass) taskEscalation(r TaskRow) (map[operation.UserID]string, error) {
	out := map[operation.UserID]string{}
	for _, name := range r.Flows {
		f, err := p.flowOf(name)
		if err != nil {
			return nil, err
		}
		for _, id := range f.selected(f.flow.Owner) {
			out[id] = name
		}
	}
	if len(out) > 0 {
		return out, nil
	}
	return p.holdersIn(r.Flows, operation.RoleAdmin)
}

func (p *noticePass) holdersIn(flows []string, role operation.Role) (map[operation.UserID]string, error) {
	out := map[operation.UserID]string{}
	for _, name := range append([]string{""}, flows...) {
		people, err := p.peopleOf(name)
		if err != nil {
			return nil, err
		}
		for _, x := range people {
			if _, known := out[x.ID]; !known && x.Has(role) {
				out[x.ID] = name
			}
		}
	}
	return out, nil
}

// readTasks reads which of the subjects are improvement tasks that are still open.
func (c *noticeClaim) readTasks(subjects []string) error {
	var open []string
	err := c.list(&open, `SELECT id FROM improvement_tasks WHERE id = ANY($1) AND state = 'open'`, pq.Array(subjects))
	c.tasks = make(map[string]bool, len(open))
	for _, id := range open {
		c.tasks[id] = true
	}
	return err
}

// taskNotice reads what a notice about a task tells of.
func (c *noticeClaim) taskNotice(n noticeSent) (*TaskNotice, error) {
	var k struct {
		Number int64     `db:"number"`
		Due    time.Time `db:"due_at"`
	}
	err := c.get(&k, `SELECT number, due_at FROM improvement_tasks WHERE id = $1`, n.Subject)
	return &TaskNotice{Number: k.Number, Due: k.Due.UTC(), Late: k.Due.Before(c.now)}, err
}
