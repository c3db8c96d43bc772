package store

import (
	"context"
	"time"

	"holdpoint/operation"
	"holdpoint/operation/definition"
)

// BatchPage is everything that is known of one batch, for its page and the API.
type BatchPage struct {
	Batch
	Def       *definition.Flow // the definition that it was made with
	Stage2    definition.Stage
	Profile   *definition.Profile // the destination's current one
	Now       time.Time
	Version   BatchVersion      // the current one
	Versions  []BatchVersion    // all of them, oldest first
	Policy    *operation.Policy // pinned for the current version; nil = it was not submitted
	Canary    int               // how many of the first items go out before the second decision; 0 = no canary
	Counts    BatchCounts
	Again     int                               // of a stopped one: items that were, or may be, tried once more all the same, by a decision about each alone
	Parties   []operation.UserID                // author, editors, submitter, who prompted
	Approvals []BatchApproval                   // every decision, oldest first
	Standing  []BatchApproval                   // those that stand on the current version in this phase and round
	Marks     []BatchMark                       // the newest marks, oldest first
	Rate      float64                           // attempts that ended a second, lately; 0 = none did
	End       time.Time                         // when the rest ends at that rate; zero = not known
	Pauses    []PauseRow                        // open ones of flow, destination and installation
	Earlier   []string                          // earlier stages that are not satisfied yet
	Waived    *WaiverRow                        // "go on without" of its stage; nil = none
	Siblings  []OperationSummary                // the run's operations that belong to no batch, in order
	Batches   []Batch                           // the run's other batches, in order
	Beside    map[operation.BatchID]BatchCounts // where the entries of those are
	History   []HistoryRow                      // oldest first
	ChainOK   bool
	Turn      operation.BatchTurn                       // whose turn it is, with all that holds it
	Turns     map[operation.BatchID]operation.BatchTurn // of all batches of the run
	People    map[string]string                         // ID → name, of everybody named on the page
	Replacing []operation.ID                            // open replacements of its items
	// ReplacingMore: there are more of them than these.
	ReplacingMore bool

	groups  map[operation.ApprovalID][]string
	persons persons
	run     *turnRun                          // with all its batches
	counts  map[operation.BatchID]BatchCounts // of those
}

// FindBatch reads one batch. One of a flow that the viewer has no role for is not found.
func (s *Store) FindBatch(ctx context.Context, viewer Actor, id operation.BatchID) (*BatchPage, error) {
	v, err := s.FindViewer(ctx, viewer)
	if err != nil {
		return nil, err
	}
	var p *BatchPage
	err = s.snapshot(ctx, func(t *tx) error {
		p = &BatchPage{People: map[string]string{}}
		c, err := t.peekBatch(viewer, id)
		if err != nil {
			return err
		}
		if !v.Sees(c.b.Flow, c.b.Destination) {
			return ErrNotFound
		}
		return p.fill(c)
	})
	return p, err
}

// peekBatch reads what a decision about the batch looks at, without a lock.
func (t *tx) peekBatch(a Actor, id operation.BatchID) (*batchChange, error) {
	c := &batchChange{}
	if err := t.get(&c.b, `SELECT `+batchColumns+` FROM batches b WHERE b.id = $1`, string(id)); err != nil {
		return nil, err
	}
	return c, c.begin(t, a)
}

// DecidedAs is the state of one operation in which the same may be decided, for
// operation.MayDecideAs.
func (p *BatchPage) DecidedAs() operation.State { return decidedAs(p.State) }

// Given lists the standing decisions for operation.MayDecide.
func (p *BatchPage) Given() []operation.Given {
	var out []operation.Given
	for _, a := range p.Standing {
		out = append(out, operation.Given{User: p.persons.one(a.User), Decision: a.Decision, For: p.persons.one(a.For), Groups: p.groups[a.ID]})
	}
	return out
}

// Approved is how many approvals count in this phase: those that stand and, where they are
// asked for by groups, fill a place.
func (p *BatchPage) Approved() int { return approvedOf(p.Policy, p.Given()) }

func (p *BatchPage) fill(c *batchChange) error {
	p.Batch, p.Now, p.Def = c.b, c.now, c.flow
	p.Stage2, _ = stageOf(c.flow, p.Stage)
	p.Canary = c.canary()
	var dest int
	if err := c.get(&dest, `SELECT version FROM destinations WHERE name = $1`, p.Destination); err != nil {
		return err
	}
	var err error
	if p.Profile, err = c.s.profileVersion(c.ctx, c.Tx, p.Destination, dest); err != nil {
		return err
	}
	for _, read := range []func(*batchChange) error{p.readVersions, p.readStanding, p.readTurn, p.readCounts, p.readMarks, p.readRun, p.readReplacing, p.readPeople} {
		if err := read(c); err != nil {
			return err
		}
	}
	return nil
}

func (p *BatchPage) readVersions(c *batchChange) error {
	if err := c.list(&p.Versions, `SELECT `+batchVersionColumns+` FROM batch_versions v WHERE v.batch_id = $1 ORDER BY v.number`, string(p.ID)); err != nil {
		return err
	}
	for _, v := range p.Versions {
		if v.Number == p.Number {
			p.Version = v
		}
	}
	return c.list(&p.Approvals, `SELECT id, number, phase, round, user_id, COALESCE(for_user, '') AS for_user, decision, role, reason, reason_code, reason_words, decided_at
		FROM batch_approvals WHERE batch_id = $1 ORDER BY decided_at, id`, string(p.ID))
}

// readStanding finds what stands in the phase that is decided about now.
func (p *BatchPage) readStanding(c *batchChange) error {
	phase := p.Phase()
	if p.State.Cleared() && p.State != operation.BatchCanary || p.State == operation.BatchClosed {
		if phase = operation.PhaseFirst; p.Canary > 0 && p.Canary < p.Included {
			phase = operation.PhaseRest
		}
	} else if p.State == operation.BatchCanary {
		phase = operation.PhaseFirst
	}
	if err := c.get(&c.read.Apr, batchApprovalSQL, string(p.ID), p.Number, string(phase)); err != nil {
		return err
	}
	pol, parties, stand, _, err := c.approvalFacts()
	if err != nil {
		return err
	}
	p.Parties = parties
	if p.persons, err = c.unit.persons(); err != nil {
		return err
	}
	if pol.Grouped() {
		if pol, err = c.presentPolicy(pol); err != nil {
			return err
		}
		if err := c.fitGroups(pol, stand); err != nil {
			return err
		}
	}
	if p.Version.PolicyText != "" {
		p.Policy = &pol
	}
	p.groups = map[operation.ApprovalID][]string{}
	for _, g := range stand {
		p.groups[g.ID] = g.groups
		for _, a := range p.Approvals {
			if a.ID == g.ID {
				p.Standing = append(p.Standing, a)
			}
		}
	}
	return nil
}

func (p *BatchPage) readCounts(c *batchChange) error {
	p.Counts = p.counts[p.ID]
	if !p.Stopped() {
		return nil
	}
	return c.get(&p.Again, againSQL, string(p.ID), p.StoppedAt)
}

// againSQL counts the items of the stopped batch $1 whose re-execution is permitted, or was
// dispatched after the stop at $2.
const againSQL = `SELECT count(DISTINCT r.operation_id) FROM reexecution_requests r JOIN operations o ON o.id = r.operation_id
	WHERE o.batch_id = $1 AND (r.state = 'approved' OR EXISTS (SELECT 1 FROM attempts a WHERE a.operation_id = r.operation_id AND a.kind = 'reexecution' AND a.dispatched_at > $2))`

// rateSpan is how far back attempts count for the rate.
const rateSpan = time.Minute

// marksShown bounds the marks of a page.
const marksShown = 200

// readMarks reads what groups of attempts came to, and how fast.
func (p *BatchPage) readMarks(c *batchChange) error {
	if err := c.list(&p.Marks, `SELECT at, confirmed, not_started, unknown FROM (SELECT * FROM batch_marks WHERE batch_id = $1 ORDER BY id DESC LIMIT $2) m ORDER BY id`, string(p.ID), marksShown); err != nil {
		return err
	}
	var sum struct {
		N     int        `db:"n"`
		First *time.Time `db:"first"`
	}
	if err := c.get(&sum, `SELECT COALESCE(sum(confirmed + not_started + unknown), 0) AS n, min(at) AS first FROM batch_marks WHERE batch_id = $1 AND at > $2`, string(p.ID), p.Now.Add(-rateSpan)); err != nil {
		return err
	}
	if sum.First == nil || sum.N == 0 || !p.State.Cleared() || p.Paused() {
		return nil
	}
	p.Rate = float64(sum.N) / max(p.Now.Sub(*sum.First).Seconds(), 1)
	rest := p.Counts.Waiting
	for s, n := range p.Counts.States {
		if s == operation.Ready || s == operation.RetryScheduled || s == operation.InProgress {
			rest += n
		}
	}
	if rest > 0 {
		p.End = p.Now.Add(time.Duration(float64(rest) / p.Rate * float64(time.Second)))
	}
	return nil
}

// readRun reads what stands beside the batch: pauses, other stages, its history.
func (p *BatchPage) readRun(c *batchChange) error {
	if err := c.list(&p.Pauses, `SELECT subject_kind, subject_id, reason, paused_by, paused_at FROM pauses WHERE resumed_at IS NULL AND
		(subject_kind = 'flow' AND subject_id = $1 OR subject_kind = 'destination' AND subject_id = $2)
		UNION ALL SELECT 'all', '', paused_why, COALESCE(paused_by, ''), paused_at FROM installation WHERE paused_why <> '' ORDER BY paused_at`, p.Flow, p.Destination); err != nil {
		return err
	}
	for i, w := range p.run.waivers {
		if w.Stage == p.Stage {
			p.Waived = &p.run.waivers[i]
		}
	}
	var stages []stageRow
	for _, o := range p.run.ops {
		p.Siblings = append(p.Siblings, OperationSummary{*o})
		stages = append(stages, rowOf(o, p.run.waived))
	}
	p.Beside = map[operation.BatchID]BatchCounts{}
	for _, b := range p.run.batches {
		if b.ID != p.ID {
			p.Batches, p.Beside[b.ID] = append(p.Batches, b), p.counts[b.ID]
			stages = append(stages, batchStanding(&b, p.run.waived))
		}
	}
	p.Earlier = earlierOpen(p.Def, &opRow{Stage: p.Stage, StageNo: p.StageNo}, stages)
	var err error
	if p.History, err = c.history(operation.SubjectBatch, string(p.ID), p.CreatedAt); err != nil {
		return err
	}
	var head chainHead
	if err := c.get(&head, `SELECT chain_seq, chain_hash FROM chain_heads WHERE subject_kind = 'batch' AND subject_id = $1`, string(p.ID)); err != nil {
		return err
	}
	p.ChainOK = chainBreak(p.History) == 0 && headFits(p.History, head.Seq, head.Hash)
	return nil
}

// batchStanding is a batch as one row of its run.
func batchStanding(b *Batch, waived map[string]bool) stageRow {
	h := heldBatch{commonRow: commonRow{Batch: *b}}
	return stageRow{Stage: b.Stage, No: b.StageNo, State: h.standing(), Waived: waived[b.Stage], Batch: b.ID}
}

func (p *BatchPage) readPeople(c *batchChange) error {
	ids := map[string]bool{string(p.NextUser): true, string(p.Turn.Next.Who.User): true, p.PausedBy: true, p.StoppedBy: true}
	for _, v := range p.Versions {
		ids[v.AuthorID], ids[v.PromptedBy], ids[v.SubmittedBy] = true, true, true
	}
	for _, a := range p.Approvals {
		ids[string(a.User)], ids[string(a.For)] = true, true
	}
	for _, id := range p.Parties {
		ids[string(id)] = true
	}
	for _, x := range p.Pauses {
		ids[x.By] = true
	}
	if p.Waived != nil {
		ids[p.Waived.By] = true
	}
	return c.names(ids, p.People)
}
