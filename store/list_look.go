package store

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"maps"
	"slices"
	"time"

	"holdpoint/operation"
	"holdpoint/operation/definition"

	"github.com/jmoiron/sqlx"
)

// ListReading is how a list is to be read, and what is the same for all its rows.
type ListReading struct {
	Encoding, Separator string            // of a CSV file; "" = found out
	Columns             map[string]int    // field of an entry → column, from 1; nil = guessed by the header
	Inputs              map[string]string // the flow's other inputs by path, as typed
	Shared              map[string]string // text by its place
}

// Reading is how a list was read the last time.
func (l ListFile) Reading() ListReading {
	return ListReading{Encoding: l.Encoding, Separator: l.Separator, Columns: l.Columns(), Inputs: l.Inputs(), Shared: l.Shared()}
}

// LookAtList reads a list anew and keeps how it was read and what was found. Only whoever
// handed it in may. rev is what was shown; a list that was read differently meanwhile is
// refused (stale_revision). What cannot be read is kept too: the findings say why.
func (s *Store) LookAtList(ctx context.Context, a Actor, id operation.ListID, rev int, r ListReading) (ListFile, error) {
	l, err := s.FindList(ctx, a, id)
	if err != nil {
		return l, err
	}
	if l.ActorID != a.ID || l.EndedAt != nil {
		return l, ErrNotFound
	}
	if l.Rev != rev {
		return l, operation.Refuse(operation.CodeStaleRevision)
	}
	j, err := s.judgingOf(ctx, a, l, r)
	if err != nil {
		return l, err
	}
	found, err := s.lookAt(ctx, &l, j, &r)
	if err != nil {
		return l, err
	}
	for to, from := range map[*string]any{&l.Mapping: r.Columns, &l.Typed: r.Inputs, &l.Texts: r.Shared, &l.Judged: found} {
		if *to, err = jsonText(from); err != nil {
			return l, err
		}
	}
	l.Rev++
	return l, s.write(ctx, func(t *tx) error {
		have, err := t.lockList(a, id)
		if err != nil {
			return err
		}
		if have.Rev != rev || have.EndedAt != nil {
			return operation.Refuse(operation.CodeStaleRevision)
		}
		return t.one(`UPDATE list_files SET encoding = $2, separator = $3, columns = $4, inputs = $5, shared = $6, judged = $7, rev = $8, kind = $9 WHERE id = $1`,
			string(id), l.Encoding, l.Separator, storedText(l.Mapping), storedText(l.Typed), storedText(l.Texts), storedText(l.Judged), l.Rev, string(l.Kind))
	})
}

// lookAt reads and judges a list. What was found out about how it is to be read stands in l
// and r afterwards.
func (s *Store) lookAt(ctx context.Context, l *ListFile, j judging, r *ListReading) (*ListJudged, error) {
	src, err := s.openList(ctx, *l, j.flow, r)
	var found *ListJudged
	if err == nil {
		l.Kind, l.Encoding, l.Separator = src.kind, r.Encoding, r.Separator
		found, err = s.judge(ctx, j, src.rows)
	}
	var fault *ListFault
	switch {
	case errors.As(err, &fault):
		found = &ListJudged{Fault: fault}
	case err != nil:
		return nil, err
	}
	if src != nil {
		found.Header = src.header
	}
	if l.Batch != "" { // its run has its inputs
		return found, nil
	}
	_, wrong, err := j.flow.ReadInputs(r.Inputs)
	found.Wrong = plainLists(j.flow, wrong)
	return found, err
}

// judgingOf prepares to look at a list, as if a batch were made of it now.
func (s *Store) judgingOf(ctx context.Context, a Actor, l ListFile, r ListReading) (judging, error) {
	if l.Batch != "" {
		return s.judgingAgain(ctx, l, r.Shared)
	}
	f, _, err := s.Flow(ctx, l.Flow)
	if err != nil {
		return judging{}, err
	}
	st, ok := f.Stage(l.Stage)
	if !ok || st.ForEach == nil || st.ForEach.Input == "" {
		return judging{}, ErrNotFound
	}
	inputs, _, err := f.ReadInputs(notYetTyped(f, r.Inputs))
	if err != nil {
		return judging{}, err
	}
	return s.judgingNew(ctx, a, NewBatchRun{Flow: l.Flow, FormID: string(l.ID), Inputs: inputs}, st, f, r.Shared)
}

// notYetTyped stands in for texts that nobody has typed yet: the rows are looked at as if
// they were there, and what is missing is said once, of the input.
func notYetTyped(f *definition.Flow, texts map[string]string) map[string]string {
	out := maps.Clone(texts)
	if out == nil {
		out = map[string]string{}
	}
	for _, x := range f.InputFields() {
		if x.Required && out[x.Path] == "" && x.Schema["type"] == "string" {
			out[x.Path] = "…"
		}
	}
	return out
}

// judgingNew prepares to look at a list as if a run were started with it.
func (s *Store) judgingNew(ctx context.Context, a Actor, n NewBatchRun, st *definition.Stage, f *definition.Flow, shared map[string]string) (judging, error) {
	in, err := s.batchRunOf(ctx, a, n)
	ev := definition.EventData{Source: in.Source, Account: in.Account, Topic: in.Topic, Key: in.EventKey, Time: time.Now().UTC(), Data: in.Data}
	return judging{flow: f, stage: st, event: ev, inputs: in.Inputs, shared: shared}, err
}

// judgingAgain prepares to look at what would take the place of a batch's version. Texts
// that are not given stay.
func (s *Store) judgingAgain(ctx context.Context, l ListFile, shared map[string]string) (judging, error) {
	var have struct {
		Flow    string `db:"flow"`
		Version int    `db:"flow_version"`
		Stage   string `db:"stage"`
		Number  int    `db:"number"`
		Inputs  string `db:"inputs"`
		Shared  string `db:"shared"`
	}
	err := s.read(ctx, func(q *sqlx.DB) error {
		return q.GetContext(ctx, &have, `SELECT b.flow, b.flow_version, b.stage, b.number, r.inputs, v.shared FROM batches b JOIN runs r ON r.id = b.run_id
			JOIN batch_versions v ON v.batch_id = b.id AND v.number = b.number WHERE b.id = $1`, string(l.Batch))
	})
	if err != nil {
		return judging{}, err
	}
	f, err := s.flowVersion(ctx, s.db, have.Flow, have.Version)
	if err != nil {
		return judging{}, err
	}
	st, ok := f.Stage(have.Stage)
	if !ok || st.ForEach == nil {
		return judging{}, ErrNotFound
	}
	v, err := definition.DecodeJSON([]byte(have.Inputs))
	if err != nil {
		return judging{}, err
	}
	inputs, _ := v.(map[string]any)
	texts := textMap[string](have.Shared)
	for path, text := range shared {
		texts[path] = text
	}
	return judging{flow: f, stage: st, event: definition.EventData{Topic: f.Name, Data: inputs}, inputs: inputs, shared: texts, batch: l.Batch, number: have.Number}, nil
}

// EachJudged judges a list once more and hands every row out, for files of its problems.
func (s *Store) EachJudged(ctx context.Context, a Actor, l ListFile, fn func(JudgedItem) error) error {
	r := l.Reading()
	j, err := s.judgingOf(ctx, a, l, r)
	if err != nil {
		return err
	}
	src, err := s.openList(ctx, l, j.flow, &r)
	if err != nil {
		return err
	}
	j.each = fn
	_, err = s.judge(ctx, j, src.rows)
	return err
}

// listSource is a list that can be read from its beginning, any number of times.
type listSource struct {
	kind   ListKind
	header []string
	rows   iter.Seq2[map[string]any, error]
}

// MakeBatch makes a batch of a list, exactly as it was read when it was looked at last:
// a new run, or a new version of the batch whose list it is to replace. again says that the
// same file is meant once more; otherwise the batch that was made of it is given, with
// known. The list ends with it.
func (s *Store) MakeBatch(ctx context.Context, a Actor, id operation.ListID, rev int, again bool) (made operation.BatchID, known bool, err error) {
	l, err := s.FindList(ctx, a, id)
	switch {
	case err != nil:
		return "", false, err
	case l.ActorID != a.ID:
		return "", false, ErrNotFound
	case l.Made != "":
		return l.Made, true, nil
	case l.EndedAt != nil:
		return "", false, ErrNotFound
	case l.Rev != rev:
		return "", false, operation.Refuse(operation.CodeStaleRevision)
	}
	r := l.Reading()
	j, err := s.judgingOf(ctx, a, l, r)
	if err != nil {
		return "", false, err
	}
	if _, wrong, err := j.flow.ReadInputs(r.Inputs); l.Batch == "" && (err != nil || len(plainLists(j.flow, wrong)) > 0) {
		return "", false, errors.Join(err, operation.Refuse(operation.CodeContentMissing, "field", joinOr(plainLists(j.flow, wrong), "")))
	}
	src, err := s.openList(ctx, l, j.flow, &r)
	if err == nil {
		list := List{Name: l.Name, Rows: src.rows}
		if l.Batch != "" {
			made = l.Batch
			err = s.ReviseBatch(ctx, a, BatchRevision{BatchShown: BatchShown{Batch: l.Batch, FormID: string(l.ID)}, List: &list, Shared: r.Shared})
		} else {
			made, known, err = s.newBatchOf(ctx, a, l, j, list, again)
		}
	}
	if err != nil {
		if now, again := s.FindList(ctx, a, id); again == nil && now.Made != "" {
			return now.Made, true, nil // somebody's same click was quicker, and took the bytes with it
		}
		return "", false, err
	}
	return made, known, s.write(ctx, func(t *tx) error { return t.endList(id, made) })
}

// newBatchOf starts the run of a list. What tells it from others is the file, with the
// other inputs; and where the same is meant once more, the list itself.
func (s *Store) newBatchOf(ctx context.Context, a Actor, l ListFile, j judging, list List, again bool) (operation.BatchID, bool, error) {
	key := "list:" + hexOf(l.Hash)
	if len(j.inputs) > 0 {
		raw, err := json.Marshal(j.inputs)
		if err != nil {
			return "", false, err
		}
		key += ":" + hashText(raw)
	}
	if again {
		key += ":" + string(l.ID)
	}
	rec, batches, err := s.CreateBatchRun(ctx, a, NewBatchRun{Flow: l.Flow, RunKey: key, FormID: string(l.ID), Inputs: j.inputs,
		Lists: map[string]List{j.stage.ForEach.Input: list}, Shared: map[string]map[string]string{l.Stage: j.shared}})
	if err != nil {
		return "", false, err
	}
	if i := slices.Index(stagesThatFan(j.flow), l.Stage); i >= 0 && i < len(batches) {
		return batches[i], rec.Verdict != VerdictAccepted, nil
	}
	return "", false, ErrNotFound
}

func stagesThatFan(f *definition.Flow) []string {
	var out []string
	for _, st := range f.Stages {
		if st.ForEach != nil {
			out = append(out, st.Key)
		}
	}
	return out
}
