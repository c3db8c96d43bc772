package store

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"holdpoint/operation"
	"holdpoint/operation/definition"

	"github.com/lib/pq"
)

// Outcome is what one attempt of a group came to.
type Outcome struct {
	Operation operation.ID
	Attempt   operation.AttemptID
	Fence     int64
	Result    operation.Result
}

// GroupRecorded is what became of one outcome of a group.
type GroupRecorded struct {
	Recorded
	Err error // a refusal, or why it is not written yet; nil = it is written
}

// recordGroupSQL locks the operations $1 of the batch $2 in the order of their IDs and reads
// their attempts, and who has their target references: $3 holds both by the operation's ID.
// $4 names the stages whose same item waits for this one.
// Each is found by its key alone. A plan is made once for a session, and may be made while there
// are few operations: a list of keys, = ANY, would be looked for in any index that holds them,
// all of it for every group, and an index of batches would give all operations of this one.
// COALESCE keeps that away: any strict condition on batch_id says that it is not NULL.
var recordGroupSQL = `WITH asked AS MATERIALIZED (SELECT CAST($3 AS jsonb) AS j),
	l AS MATERIALIZED (SELECT y.* FROM (SELECT w.id FROM unnest(CAST($1 AS text[])) AS w (id) ORDER BY w.id COLLATE "C") w
		CROSS JOIN LATERAL (SELECT ` + opColumns + ` FROM operations o WHERE o.id = w.id AND COALESCE(o.batch_id, '') = $2 FOR UPDATE) y)
	SELECT l.*, ` + groupFacts + attemptPart("att") + `, COALESCE((SELECT x.operation_id FROM target_references x WHERE x.account = l.account AND x.effect_type = l.effect_type
		AND x.reference = asked.j -> l.id ->> 'r'), '') AS taken_by,
	cardinality(CAST($4 AS text[])) > 0 AND (SELECT count(*) FROM operations s WHERE s.run_id = l.run_id AND s.stage = ANY ($4) AND s.item_key = l.item_key AND COALESCE(s.state, '') = 'waiting') > 0 AS awaited
	FROM asked CROSS JOIN l` + groupFrom + ` CROSS JOIN LATERAL (SELECT * FROM attempts y WHERE y.id = asked.j -> l.id ->> 'a' OFFSET 0) att`

// RecordGroup writes the outcomes of attempts of one batch, each guarded by its fence, in one
// transaction. What is unusual about one is decided upon by Record alone, and so are all of
// them when the group cannot be written: one that a constraint refuses must not lose the
// others. The answers stand in the order of the outcomes. An error means that nothing is
// known to be written; the same outcomes can be given again.
func (s *Store) RecordGroup(ctx context.Context, a Actor, id operation.BatchID, outcomes []Outcome) ([]GroupRecorded, error) {
	out := make([]GroupRecorded, len(outcomes))
	for i := range outcomes {
		outcomes[i].Result.TargetReference = clean(outcomes[i].Result.TargetReference)
	}
	var alone []int
	g, err := s.group(ctx, a, id, func(g *group) (err error) {
		alone, err = g.record(outcomes, out)
		return err
	})
	switch {
	case err != nil && g != nil && constraint(err):
		alone = nil
		for i := range outcomes {
			alone = append(alone, i)
		}
	case err != nil:
		return nil, err
	}
	for _, i := range alone {
		o := outcomes[i]
		out[i].Recorded, out[i].Err = s.Record(ctx, a, o.Attempt, o.Fence, o.Result)
	}
	return out, nil
}

// record decides about the members of a group. It gives those that are left to be decided
// upon alone.
func (g *group) record(outcomes []Outcome, out []GroupRecorded) (alone []int, err error) {
	place := map[operation.ID]int{}
	asked := map[operation.ID]map[string]string{}
	taken := map[string]bool{}
	var ids []string
	for i, o := range outcomes {
		_, twice := place[o.Operation]
		ref := o.Result.TargetReference
		if twice || ref != "" && taken[ref] {
			alone = append(alone, i)
			continue
		}
		place[o.Operation], asked[o.Operation], taken[ref] = i, map[string]string{"a": string(o.Attempt), "r": ref}, true
		ids = append(ids, string(o.Operation))
	}
	js, err := json.Marshal(asked)
	if err != nil {
		return nil, err
	}
	var rows []groupRow
	if err := g.list(&rows, recordGroupSQL, pq.Array(ids), string(g.ID), string(js), pq.Array(followers(g.flow, g.Stage))); err != nil {
		return nil, err
	}
	now := latestOf(rows)
	g.mark = &operation.BatchMark{}
	found := map[operation.ID]bool{}
	for i := range rows {
		at := place[rows[i].ID]
		done, err := g.recordOne(&rows[i], now, outcomes[at], &out[at])
		if err != nil {
			return nil, err
		}
		found[rows[i].ID] = done
	}
	for id, i := range place {
		if !found[id] {
			alone = append(alone, i)
		}
	}
	slices.Sort(alone)
	return alone, nil
}

// recordOne decides about one member; done is false when it is to be decided upon alone.
func (g *group) recordOne(r *groupRow, now time.Time, o Outcome, out *GroupRecorded) (done bool, err error) {
	if r.unusual(o) {
		return false, nil
	}
	u, err := g.member(r, now)
	if err != nil {
		return false, err
	}
	u.taken = map[string]operation.ID{o.Result.TargetReference: ""}
	err = u.record(r.Att, o.Result)
	if _, no := operation.RefusalIn(err); no {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	out.Recorded = Recorded{Operation: u.op.ID, State: u.op.State}
	g.units = append(g.units, u)
	switch o.Result.Outcome {
	case operation.OutcomeConfirmed:
		g.mark.Confirmed++
	case operation.OutcomeNotStarted:
		g.mark.NotStarted++
	default:
		g.mark.Unknown++
	}
	return true, nil
}

// unusual reports what a group does not decide about: a stale fence, a reference that is
// taken, an attempt of a case, an operation that others wait for or that moved meanwhile.
func (r *groupRow) unusual(o Outcome) bool {
	late := r.Att.Fence != o.Fence || r.Att.Outcome != nil || r.OpenAttempt != o.Attempt
	return late || r.State != operation.InProgress || r.TakenBy != "" || r.Unsettled > 0 || r.Disputed || r.Stopped || r.RequestID != "" ||
		r.Clr.Batch == "" || r.Awaited || r.Att.Kind == operation.AttemptReexecution || r.Att.Kind == operation.AttemptProtected
}

// followers names the stages whose items wait for the same item of a stage.
func followers(flow *definition.Flow, stage string) []string {
	out := []string{}
	for _, st := range flow.Stages {
		if st.ForEach != nil && follows(flow, st.Key, "any")[stage] {
			out = append(out, st.Key)
		}
	}
	return out
}
