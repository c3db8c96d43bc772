package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"time"

	"holdpoint/operation"
	"holdpoint/operation/definition"

	"github.com/jmoiron/sqlx"
)

// StartKept is how long a table that nobody begins stays; then it is removed.
const StartKept = 24 * time.Hour

// StartResult says what became of one row of a table.
type StartResult string

// The results of rows.
const (
	StartStarted  StartResult = "started"  // a run began
	StartKnown    StartResult = "known"    // its run is there already
	StartConflict StartResult = "conflict" // the key was used with other inputs
	StartHeld     StartResult = "held"     // a person decides whether it is a duplicate
	StartRefused  StartResult = "refused"  // the inputs do not fit, or the person may not
)

// Starter gives the source through which people start a flow by hand; nil = they cannot:
// no source of kind starter names the flow, or is named as its trigger, or an input has no
// place in a form.
func (s *Store) Starter(ctx context.Context, flow *definition.Flow) (*definition.Source, error) {
	if len(flow.LostInputs()) > 0 {
		return nil, nil
	}
	list, err := s.ListSources(ctx)
	for _, src := range list {
		if src.Kind == definition.KindStarter && src.Starts(flow) {
			return src, err
		}
	}
	return nil, err
}

// MayStart reports whether a person may start a flow by hand: its authors may.
func (s *Store) MayStart(ctx context.Context, a Actor, flow string) (bool, error) {
	v, err := s.FindViewer(ctx, a)
	return err == nil && v.In(flow).Has(operation.RoleAuthor), err
}

// startable is the flow and the source of a start by hand, checked inside the transaction.
func (s *Store) startable(ctx context.Context, flow string) (*definition.Flow, *definition.Source, error) {
	item, err := s.FindFlow(ctx, flow)
	if err != nil {
		return nil, nil, err
	}
	src, err := s.Starter(ctx, item.Flow)
	if err == nil && src == nil {
		err = ErrNotFound
	}
	return item.Flow, src, err
}

// StartRun starts one run of a flow with inputs that an author gave in a form. The same
// form twice is one run.
func (s *Store) StartRun(ctx context.Context, a Actor, flow, formID string, texts map[string]string) (Receipt, []string, error) {
	if formID == "" {
		return Receipt{}, nil, operation.Refuse(operation.CodeStaleRevision)
	}
	f, src, err := s.startable(ctx, flow)
	if err != nil {
		return Receipt{}, nil, err
	}
	inputs, wrong, err := f.ReadInputs(texts)
	if err != nil || len(wrong) > 0 {
		return Receipt{}, wrong, err
	}
	var out Receipt
	err = s.write(ctx, func(t *tx) (err error) {
		out, err = t.start(a, f, src, "form:"+formID, formID, inputs)
		return err
	})
	return out, nil, err
}

// start begins one run, for an author of the flow. key tells it from all others.
func (t *tx) start(a Actor, f *definition.Flow, src *definition.Source, key, delivery string, inputs map[string]any) (Receipt, error) {
	if err := t.mayBe(a, f.Name, operation.RoleAuthor); err != nil {
		return Receipt{}, err
	}
	body, err := json.Marshal(inputs)
	if err != nil {
		return Receipt{}, err
	}
	in := Received{Source: src.Name, Account: src.Account, Topic: f.Name, EventKey: key, DeliveryKey: delivery, Body: body, Data: inputs, Inputs: inputs,
		Flow: f.Name, RunKey: key, Starter: a.UserID(), Status: 200}
	out := Receipt{Delivery: operation.DeliveryID(newID("dlv")), Verdict: VerdictAccepted}
	err = t.receive(a, in, payloadHash(in), &out)
	return out, err
}

// Start is a table from which a person starts runs of one flow.
type Start struct {
	ID        operation.StartID `db:"id"`
	Source    string            `db:"source"`
	Flow      string            `db:"flow"`
	By        operation.UserID  `db:"user_id"`
	Name      string            `db:"name"` // of the file
	Hash      []byte            `db:"file_hash"`
	Encoding  string            `db:"encoding"`
	Separator string            `db:"separator"`
	Mapping   string            `db:"columns"`
	KeyColumn int               `db:"key_column"` // 0 = file and row are the key
	Rows      int               `db:"rows"`
	Rev       int               `db:"rev"`
	Body      []byte            `db:"body"` // nil once it has ended
	At        time.Time         `db:"created_at"`
	BegunAt   *time.Time        `db:"begun_at"`
	EndedAt   *time.Time        `db:"ended_at"`
}

// Columns maps inputs to columns, from 1.
func (s Start) Columns() map[string]int {
	out := map[string]int{}
	_ = json.Unmarshal([]byte(s.Mapping), &out)
	return out
}

// Table reads the file again as it was read before; nil once it is gone.
func (s Start) Table() (*definition.Table, error) {
	if s.Body == nil {
		return nil, nil
	}
	return definition.ReadTable(s.Body, s.Encoding, s.Separator)
}

// Key is what tells a row's run from all others of the flow. "" = the key's cell is empty.
func (s Start) Key(r definition.TableRow) string {
	if s.KeyColumn > 0 {
		switch cell := operation.Normalize(r.Cell(s.KeyColumn)); {
		case cell == "":
			return ""
		case len(cell) > 200:
			sum := sha256.Sum256([]byte(cell))
			return "key-hash:" + hex.EncodeToString(sum[:])
		default:
			return "key:" + cell
		}
	}
	return "file:" + hex.EncodeToString(s.Hash) + ":" + strconv.Itoa(r.Number)
}

// StartRow is what became of one row.
type StartRow struct {
	Row    int             `db:"row"`
	Result StartResult     `db:"result"`
	Reason string          `db:"reason"` // a stable word
	Fields string          `db:"fields"` // the inputs that do not fit, by path, with commas
	Run    operation.RunID `db:"run_id"`
	At     time.Time       `db:"at"`
}

const startColumns = `id, source, flow, user_id, name, file_hash, encoding, separator, columns, key_column, rows, rev, body, created_at, begun_at, ended_at`

// FindStart gives a table and what became of its rows, to whoever sees the flow. The file
// itself is shown to authors of the flow only: Body is nil for the others.
func (s *Store) FindStart(ctx context.Context, viewer Actor, id operation.StartID) (Start, []StartRow, error) {
	v, err := s.FindViewer(ctx, viewer)
	if err != nil {
		return Start{}, nil, err
	}
	var out Start
	var rows []StartRow
	err = s.read(ctx, func(q *sqlx.DB) error {
		rows = nil
		if err := q.GetContext(ctx, &out, `SELECT `+startColumns+` FROM starts WHERE id = $1`, string(id)); err != nil {
			return err
		}
		return q.SelectContext(ctx, &rows, `SELECT row, result, reason, fields, run_id, at FROM start_rows WHERE start_id = $1 ORDER BY row`, string(id))
	})
	if err == nil && !v.Sees(out.Flow, "") {
		err = ErrNotFound
	}
	if !v.In(out.Flow).Has(operation.RoleAuthor) {
		out.Body = nil
	}
	return out, rows, err
}

// ListStarts gives the newest tables of a flow, without their files.
func (s *Store) ListStarts(ctx context.Context, flow string, limit int) ([]Start, error) {
	var out []Start
	err := s.read(ctx, func(q *sqlx.DB) error {
		out = nil
		return q.SelectContext(ctx, &out, `SELECT id, source, flow, user_id, name, file_hash, encoding, separator, columns, key_column, rows, rev, NULL::bytea AS body, created_at, begun_at, ended_at
			FROM starts WHERE flow = $1 ORDER BY created_at DESC, id DESC LIMIT $2`, flow, limit)
	})
	return out, err
}
