package store

import (
	"encoding/hex"
	"errors"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"holdpoint/operation"
	"holdpoint/operation/definition"
)

// newBatch is a batch that a run begins with, whose items are written already.
type newBatch struct {
	Batch
	made   batchMade
	author Author
	policy string // pinned, as JSON; "" = it is a draft
	list   string // name of an uploaded list
	shared string // JSON
	dest   int    // version of the destination
}

// batch builds the batch of a stage that fans out, with its first version.
func (b *runBuilder) batch(f *definition.Flow, version int, run operation.RunID, no int, st definition.Stage, ev definition.EventData, out *Receipt) error {
	dest := b.defs.dests[st.Destination]
	pre, ok := b.in.built[st.Key]
	switch {
	case !ok:
		var err error
		if pre, err = b.fanOut(f, version, &st, dest, ev, b.inputs(f, ev), b.in.lists, b.in.shared[st.Key], b.now); err != nil {
			return err
		}
	case pre.FlowVersion != version || pre.dest != dest:
		return errAgain // other definitions were applied meanwhile
	}
	author := b.author(f)
	n := pre
	n.RunID, n.Stage, n.StageNo, n.Stages, n.Source, n.author = run, st.Key, no, len(f.Stages), b.in.Source, author
	n.State, n.Number, n.Revision, n.Round = operation.BatchDraft, 1, 1, 1
	n.CreatedAt, n.UpdatedAt = b.now, b.now
	if n.made.Hash != nil {
		n.State = operation.BatchPendingApproval
		var err error
		if n.policy, err = jsonText(st.Approval); err != nil {
			return err
		}
	}
	u, err := b.unitOf(f, version)
	if err != nil {
		return err
	}
	u.planBatch(&n.Batch, nil, nil, true)
	b.batches = append(b.batches, n)
	out.Batches = append(out.Batches, n.ID)
	return nil
}

// author is who made what the flow made of the event.
func (b *runBuilder) author(f *definition.Flow) Author {
	switch {
	case b.in.Starter != "":
		return Author{Kind: "person", ID: string(b.in.Starter)}
	case b.in.Author.Kind != "":
		return b.in.Author
	}
	return Author{Kind: "flow", ID: f.Name}
}

func (b *runBuilder) unitOf(f *definition.Flow, version int) (*unit, error) {
	u := &unit{tx: b.tx, actor: b.actor, now: b.now, facts: loaded{Epoch: b.epoch}}
	return u, u.named(f, version)
}

// fanOut writes the items of a batch that is to be: its list from a file, or as the flow
// finds it in event and inputs. A list that is missing is an empty one, which its author fills.
func (t *tx) fanOut(f *definition.Flow, version int, st *definition.Stage, dest int, ev definition.EventData, inputs map[string]any, lists map[string]List, shared map[string]string, now time.Time) (newBatch, error) {
	b, err := t.newBatchBuilder(operation.BatchID(newID("bat")), 1, f, st, dest, ev, inputs, shared, now)
	if err != nil {
		return newBatch{}, err
	}
	n := newBatch{dest: dest}
	rows := iter.Seq2[map[string]any, error](nil)
	if l, ok := lists[st.ForEach.Input]; ok && st.ForEach.Input != "" {
		rows, n.list = l.Rows, shown(l.Name, 200)
	} else if rows, err = foundList(f, st, ev, inputs); err != nil {
		return n, err
	}
	if n.made, err = b.build(rows); err != nil {
		return n, listRefusal(err, st)
	}
	n.Batch = Batch{ID: b.id, Flow: f.Name, FlowVersion: version, Stage: st.Key, Destination: st.Destination, Action: st.Action, EffectType: b.action.Effect,
		Account: b.profile.Account, Environment: b.profile.Environment, Title: n.made.Title, Total: n.made.Total, Included: n.made.Included}
	n.shared, err = sharedText(shared)
	return n, err
}

func sharedText(shared map[string]string) (string, error) {
	if len(shared) == 0 {
		return "{}", nil
	}
	clean := make(map[string]string, len(shared))
	for path, text := range shared {
		clean[path] = storable(text)
	}
	return jsonText(clean)
}

// foundList gives the entries that the flow finds in event and inputs.
func foundList(f *definition.Flow, st *definition.Stage, ev definition.EventData, inputs map[string]any) (iter.Seq2[map[string]any, error], error) {
	items, err := f.Items(st.Key, ev, inputs)
	var no *definition.ListError
	if errors.As(err, &no) && no.Code != "rows" {
		items, err = nil, nil
	}
	if err != nil {
		return nil, listRefusal(err, st)
	}
	return func(yield func(map[string]any, error) bool) {
		for _, x := range items {
			if !yield(x, nil) {
				return
			}
		}
	}, nil
}

// listRefusal says which list cannot be taken.
func listRefusal(err error, st *definition.Stage) error {
	var no *definition.ListError
	if errors.As(err, &no) {
		field := st.ForEach.Input
		if field == "" {
			field = st.Key
		}
		switch no.Code {
		case "rows":
			return &Invalid{Field: field, Code: "list_rows", Limit: no.Limit}
		case "missing":
			return &Invalid{Field: field, Code: "list_missing"}
		}
		return &Invalid{Field: field, Code: "list_no_list"}
	}
	return err
}

// storeBatches writes the batches of the runs that were started just now. Their items are
// there already: of a run that was there, nothing may stay, so all is done again without them.
func (b *runBuilder) storeBatches(started string) error {
	for _, n := range b.batches {
		if !slices.Contains(strings.Split(started, ","), string(n.RunID)) {
			return errAgain
		}
		if err := b.insertBatch(&n.Batch); err != nil {
			return err
		}
		if err := b.insertBatchVersion(&n, b.now); err != nil {
			return err
		}
		if err := b.noteBatch(b.actor, b.now, &n.Batch, "create", "", n.State, "", n.links("event", string(b.event))...); err != nil {
			return err
		}
	}
	return nil
}

// links are what an entry about a new version says of it.
func (n *newBatch) links(more ...string) []string {
	h := ""
	if n.made.Hash != nil {
		h = hex.EncodeToString(n.made.Hash[:])
	}
	return append(more, "number", strconv.Itoa(n.Number), versionHash, h, "total", strconv.Itoa(n.made.Total), "included", strconv.Itoa(n.made.Included),
		"hash", hex.EncodeToString(n.made.ListHash[:]), "author_kind", n.author.Kind)
}

// noteBatch writes an entry into a batch's history.
func (t *tx) noteBatch(a Actor, now time.Time, b *Batch, action string, from, to operation.BatchState, reason string, links ...string) error {
	links = append(links[:len(links):len(links)], "flow", b.Flow, "destination", b.Destination, "run", string(b.RunID), "policy", strconv.Itoa(b.FlowVersion))
	return t.enterMove(a, now, operation.SubjectBatch, string(b.ID), action, operation.State(from), operation.State(to), reason, links...)
}

func (t *tx) insertBatch(b *Batch) error {
	return t.one(`INSERT INTO batches (id, run_id, flow, flow_version, stage, stage_no, stages, destination, action, effect_type, account, environment, source, title, state, number, total, included,
		next_kind, next_role, next_user, next_system, next_at, next_since, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, NULLIF($21, ''), $22, $23, $24, $25, $25)`,
		string(b.ID), string(b.RunID), b.Flow, b.FlowVersion, b.Stage, b.StageNo, b.Stages, b.Destination, b.Action, b.EffectType, b.Account, b.Environment, b.Source, storedText(b.Title),
		string(b.State), b.Number, b.Total, b.Included, b.NextKind, string(b.NextRole), string(b.NextUser), b.NextSystem, b.NextAt, b.NextSince, b.CreatedAt)
}

func (t *tx) insertBatchVersion(n *newBatch, now time.Time) error {
	facts, err := jsonText(n.made.Facts)
	if err != nil {
		return err
	}
	missing, err := jsonText(append([]string{}, n.made.Missing...))
	if err != nil {
		return err
	}
	var hash any
	if n.made.Hash != nil {
		hash = n.made.Hash[:]
	}
	var policy, submitter any
	if n.policy != "" {
		policy, submitter = n.policy, n.author.ID
	}
	return t.one(`INSERT INTO batch_versions (batch_id, number, hash, total, included, duplicates, suppressed, problems, missing, shared, facts, list_hash, list_name, author_kind, author_id, prompted_by, model, note,
		credential, flow_version, destination_version, submitted_by, policy, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, ARRAY(SELECT jsonb_array_elements_text(CAST($9 AS jsonb))), $10, $11, $12, $13, $14, $15, NULLIF($16, ''), $17, $18, $19, $20, $21, $22, $23, $24)`,
		string(n.ID), n.Number, hash, n.made.Total, n.made.Included, n.made.Duplicates, n.made.Suppressed, n.made.Problems, missing, storedText(n.shared), storedText(facts), n.made.ListHash[:], n.list,
		n.author.Kind, n.author.ID, string(n.author.PromptedBy), n.author.Model, storable(n.author.Note), n.made.Credential, n.FlowVersion, n.dest, submitter, policy, now)
}

// listNames names the inputs that come as files.
func listNames(lists map[string]List) []string {
	var out []string
	for name := range lists {
		out = append(out, name)
	}
	return out
}
