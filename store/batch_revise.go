package store

import (
	"context"
	"iter"
	"maps"
	"slices"
	"time"

	"holdpoint/operation"
	"holdpoint/operation/definition"
)

// ReviseBatch makes a new version of a batch, from another list or other shared text, and
// puts it up for approval when nothing is missing. It voids the approvals of the version
// before. Only while nothing was cleared. A batch that was sent back and is handed in again
// as it is keeps its version.
func (s *Store) ReviseBatch(ctx context.Context, a Actor, r BatchRevision) error {
	if a.Kind == operation.ActorPerson {
		r.Author = Author{Kind: "person", ID: a.ID}
	}
	r.Author.Note = storable(r.Reason)
	v := &revising{r: r}
	err := s.changeBatch(ctx, a, r.Batch, false, func(t *tx) error { return v.build(t, a) }, v.write)
	if violates(err, "batch_items_pkey") { // somebody else made the next version at the same moment
		return operation.Refuse(operation.CodeStaleRevision)
	}
	return err
}

// revising is a new version on its way: its items are written before anything is locked.
type revising struct {
	r     BatchRevision
	was   Batch
	n     newBatch
	again bool // nothing differs: the version is handed in as it is
}

// mayRevise is for the flow's authors, its approvers and its reviewer.
func (c *batchChange) mayRevise() error {
	if c.actor.Kind != operation.ActorPerson {
		return nil
	}
	who, err := c.person(c.actor, c.b.Flow)
	if err != nil {
		return err
	}
	p := c.people(c.op)
	if who.Has(p.Author.Role) || slices.ContainsFunc(c.approverRoles(), who.Has) || who.Has(p.Reviewer.Role) || who.Has(operation.RoleAuthor) {
		return nil
	}
	return operation.Refuse(operation.CodeNotEntitled, "role", string(p.Author.Role)).By(p.Author)
}

// mayChange refuses what cannot be revised.
func (c *batchChange) mayChange() error {
	if c.b.Cleared > 0 || c.b.State != operation.BatchDraft && c.b.State != operation.BatchPendingApproval {
		return c.refuseState()
	}
	return nil
}

// build writes the items of the next version.
func (v *revising) build(t *tx, a Actor) error {
	*v = revising{r: v.r}
	c, err := t.peekBatch(a, v.r.Batch)
	if err != nil {
		return err
	}
	for _, check := range []func() error{c.mayRevise, func() error { return c.fresh(v.r.BatchShown) }, c.mayChange} {
		if err := check(); err != nil {
			return err
		}
	}
	v.was = c.b
	var old BatchVersion
	if err := t.get(&old, `SELECT `+batchVersionColumns+` FROM batch_versions v WHERE v.batch_id = $1 AND v.number = $2`, string(c.b.ID), c.b.Number); err != nil {
		return err
	}
	var dest struct {
		Now  int `db:"now"`
		Then int `db:"then"`
	}
	if err := t.get(&dest, `SELECT d.version AS now, v.destination_version AS then FROM destinations d, batch_versions v WHERE d.name = $1 AND v.batch_id = $2 AND v.number = $3`, c.b.Destination, string(c.b.ID), c.b.Number); err != nil {
		return err
	}
	shared := old.Shared()
	if v.r.Shared != nil {
		shared = v.r.Shared
	}
	if v.again = v.r.List == nil && maps.Equal(shared, old.Shared()) && dest.Now == dest.Then && len(old.Hash) > 0; v.again {
		return nil
	}
	return v.buildItems(t, c, old, shared, dest.Now)
}

func (v *revising) buildItems(t *tx, c *batchChange, old BatchVersion, shared map[string]string, dest int) error {
	st, ok := c.flow.Stage(c.b.Stage)
	if !ok || st.ForEach == nil {
		return c.refuseState()
	}
	ev, inputs, err := t.eventOf(c.b.RunID)
	if err != nil {
		return err
	}
	b, err := t.newBatchBuilder(c.b.ID, c.b.Number+1, c.flow, st, dest, ev, inputs, shared, c.now)
	if err != nil {
		return err
	}
	b.before = c.b.Number
	rows, name := t.storedList(c.b.ID, c.b.Number), old.ListName
	if v.r.List != nil {
		rows, name = v.r.List.Rows, shown(v.r.List.Name, 200)
	}
	v.n = newBatch{dest: dest, list: name, author: v.r.Author}
	if v.n.made, err = b.build(rows); err != nil {
		return listRefusal(err, st)
	}
	if v.n.shared, err = sharedText(shared); err != nil {
		return err
	}
	v.n.made.Facts.Diff, err = t.diffBatch(c.b.ID, c.b.Number)
	v.n.Account, v.n.Environment = b.profile.Account, b.profile.Environment
	return err
}

// diffBatch compares the items of the next version with those of a version, by key.
func (t *tx) diffBatch(id operation.BatchID, number int) (*BatchDiff, error) {
	d := BatchDiff{Against: number}
	err := t.get(&d, `SELECT count(*) FILTER (WHERE o.item_key IS NULL) AS added, count(*) FILTER (WHERE n.item_key IS NULL) AS dropped,
		count(*) FILTER (WHERE n.hash = o.hash) AS same, count(*) FILTER (WHERE n.item_key = o.item_key AND n.hash IS NULL OR n.item_key = o.item_key AND o.hash IS NULL OR n.hash <> o.hash) AS changed
		FROM (SELECT item_key, hash FROM batch_items WHERE batch_id = $1 AND number = $2 + 1 AND excluded = '') n
		FULL JOIN (SELECT item_key, hash FROM batch_items WHERE batch_id = $1 AND number = $2 AND excluded = '') o ON o.item_key = n.item_key`, string(id), number)
	return &d, err
}

// write makes the new version the current one, under the locks.
func (v *revising) write(c *batchChange) error {
	if err := c.mayRevise(); err != nil {
		return err
	}
	if err := c.fresh(v.r.BatchShown); err != nil {
		return err
	}
	if err := c.mayChange(); err != nil {
		return err
	}
	switch {
	case c.b.Number != v.was.Number || v.again && c.b.State != v.was.State:
		return errAgain // it was revised meanwhile
	case v.again && c.b.State == operation.BatchPendingApproval:
		return errDone
	case v.again:
		c.b.Round++
		return c.submitBatch()
	}
	var dest int
	if err := c.get(&dest, `SELECT version FROM destinations WHERE name = $1`, c.b.Destination); err != nil {
		return err
	}
	if dest != v.n.dest {
		return errAgain // another version of the destination was applied meanwhile
	}
	b := &c.b
	b.Number, b.Total, b.Included, b.Round, b.State = b.Number+1, v.n.made.Total, v.n.made.Included, 1, operation.BatchDraft
	b.Account, b.Environment = v.n.Account, v.n.Environment
	if v.n.made.Title != "" {
		b.Title = v.n.made.Title
	}
	v.n.Batch = *b
	if v.n.made.Hash != nil {
		st, _ := stageOf(c.flow, b.Stage)
		policy, err := jsonText(st.Approval)
		if err != nil {
			return err
		}
		v.n.policy, c.hash = policy, hexOf(v.n.made.Hash[:])
	}
	if err := c.insertBatchVersion(&v.n, c.now); err != nil {
		return err
	}
	if v.n.made.Hash == nil {
		c.planBatch(b, nil, nil, true)
	}
	if err := c.note("new_version", v.r.Reason, v.n.links()...); err != nil || v.n.made.Hash == nil {
		return err
	}
	return c.submitBatch()
}

// submitBatch puts the current version up for approval.
func (c *batchChange) submitBatch() error {
	c.b.State = operation.BatchPendingApproval
	c.planBatch(&c.b, nil, nil, true)
	return c.note("submit", "", versionHash, c.hash)
}

// storedList gives the entries of a version again, in their order.
func (t *tx) storedList(id operation.BatchID, number int) iter.Seq2[map[string]any, error] {
	return func(yield func(map[string]any, error) bool) {
		for after := 0; ; {
			var rows []struct {
				Position int    `db:"position"`
				Item     string `db:"item"`
			}
			err := t.list(&rows, `SELECT position, item FROM batch_bodies WHERE batch_id = $1 AND number = $2 AND position > $3 ORDER BY position LIMIT $4`, string(id), number, after, entriesPage)
			if err != nil {
				yield(nil, err)
				return
			}
			for _, r := range rows {
				entry, err := decodeMap(r.Item)
				if !yield(entry, err) {
					return
				}
				after = r.Position
			}
			if len(rows) < entriesPage {
				return
			}
		}
	}
}

func decodeMap(text string) (map[string]any, error) {
	x, err := definition.DecodeJSON([]byte(text))
	m, _ := x.(map[string]any)
	return m, err
}

// eventOf gives the event that began a run, and the run's inputs, as they are kept. What was
// erased is empty.
func (t *tx) eventOf(id operation.RunID) (ev definition.EventData, inputs map[string]any, err error) {
	var row struct {
		ID      string    `db:"id"`
		Source  string    `db:"source"`
		Account string    `db:"account"`
		Topic   string    `db:"topic"`
		Key     string    `db:"event_key"`
		Time    time.Time `db:"event_time"`
		Data    string    `db:"data"`
		Inputs  string    `db:"inputs"`
	}
	if err := t.get(&row, `SELECT e.id, e.source, e.account, e.topic, e.event_key, e.event_time, COALESCE(b.data, '{}') AS data, r.inputs
		FROM runs r JOIN events e ON e.id = r.event_id LEFT JOIN event_bodies b ON b.event_id = e.id WHERE r.id = $1`, string(id)); err != nil {
		return ev, nil, err
	}
	ev = definition.EventData{Source: row.Source, Account: row.Account, Topic: row.Topic, Key: row.Key, ID: row.ID, Time: row.Time.UTC()}
	if ev.Data, err = decodeMap(row.Data); err != nil {
		return ev, nil, err
	}
	inputs, err = decodeMap(row.Inputs)
	return ev, inputs, err
}
