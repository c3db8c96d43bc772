package store

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"holdpoint/operation"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
)

// AcceptanceRow is one run as a list shows it.
type AcceptanceRow struct {
	ID          operation.AcceptanceID    `db:"id"`
	Number      int64                     `db:"number"`
	Flow        string                    `db:"flow"`
	FlowVersion int                       `db:"flow_version"`
	State       operation.AcceptanceState `db:"state"`
	RequestedBy string                    `db:"requested_by"`
	By          string                    `db:"by_name"`
	RequestedAt time.Time                 `db:"requested_at"`
	StartedAt   *time.Time                `db:"started_at"`
	EndedAt     *time.Time                `db:"ended_at"`
	Cancelling  bool                      `db:"cancelling"`
	Stale       bool                      `db:"stale"`
	Signed      int                       `db:"signed"` // how many of the two have agreed
}

// Agreed reports that owner and implementer have signed.
func (r AcceptanceRow) Agreed() bool { return r.Signed == 2 }

// SignatureRow is one agreement.
type SignatureRow struct {
	Part    string    `db:"part"`
	UserID  string    `db:"user_id"`
	Name    string    `db:"name"`
	Comment string    `db:"comment"`
	At      time.Time `db:"at"`
}

// AcceptanceDestination is a destination's version of a run, and the one in use now.
type AcceptanceDestination struct {
	Name        string `db:"destination"`
	Version     int    `db:"version"`
	Environment string `db:"environment"`
	Current     int    `db:"current"`
}

// AcceptancePage is everything about one run.
type AcceptancePage struct {
	AcceptanceRow
	CurrentVersion int // of the flow, in use now
	Destinations   []AcceptanceDestination
	Input          string
	Failure        string
	Progress       []operation.AcceptanceCase
	SheetText      string // exactly the bytes that the hash covers; "" = none
	SheetHash      []byte
	Sheet          *operation.AcceptanceSheet
	Signatures     []SignatureRow
	History        []HistoryRow
	ChainOK        bool
	OwnerRole      operation.Role
}

// HashHex is the sheet's hash as people compare it; "" = there is no sheet.
func (p *AcceptancePage) HashHex() string { return hexOf(p.SheetHash) }

// SignedBy gives the signature of a part; nil = not signed.
func (p *AcceptancePage) SignedBy(part string) *SignatureRow {
	for i := range p.Signatures {
		if p.Signatures[i].Part == part {
			return &p.Signatures[i]
		}
	}
	return nil
}

const acceptanceColumns = `r.id, r.number, r.flow, r.flow_version, r.state, r.requested_by, u.name AS by_name, r.requested_at, r.started_at, r.ended_at,
	r.cancel_by IS NOT NULL AS cancelling, ` + staleSQL + ` AS stale, (SELECT count(*) FROM acceptance_signatures s WHERE s.run_id = r.id) AS signed`

const acceptanceFrom = ` FROM acceptance_runs r JOIN users u ON u.id = r.requested_by `

// FindAcceptance gives one run; ErrNotFound also for one of a flow that the viewer may
// not see.
func (s *Store) FindAcceptance(ctx context.Context, viewer Actor, id operation.AcceptanceID) (*AcceptancePage, error) {
	v, err := s.FindViewer(ctx, viewer)
	if err != nil {
		return nil, err
	}
	p := &AcceptancePage{}
	err = s.snapshot(ctx, func(t *tx) error {
		var row struct {
			AcceptanceRow
			Input     string `db:"input"`
			Failure   string `db:"failure"`
			Progress  string `db:"progress"`
			Sheet     string `db:"sheet"`
			SheetHash []byte `db:"sheet_hash"`
			Current   int    `db:"current"`
		}
		if err := t.get(&row, `SELECT `+acceptanceColumns+`, r.input, r.failure, r.progress, r.sheet, r.sheet_hash, (SELECT version FROM flows WHERE name = r.flow) AS current`+
			acceptanceFrom+`WHERE r.id = $1`, string(id)); err != nil {
			return err
		}
		if !v.Sees(row.Flow, "") {
			return ErrNotFound
		}
		*p = AcceptancePage{AcceptanceRow: row.AcceptanceRow, CurrentVersion: row.Current, Input: row.Input, Failure: row.Failure, SheetText: row.Sheet, SheetHash: row.SheetHash}
		if err := json.Unmarshal([]byte(row.Progress), &p.Progress); err != nil {
			return err
		}
		if row.Sheet != "" {
			p.Sheet = &operation.AcceptanceSheet{}
			if err := json.Unmarshal([]byte(row.Sheet), p.Sheet); err != nil {
				return err
			}
		}
		f, err := s.flowVersion(ctx, t.Tx, p.Flow, p.FlowVersion)
		if err != nil {
			return err
		}
		p.OwnerRole = f.Owner.Role
		return p.readParts(t)
	})
	return p, mapError(err)
}

func (p *AcceptancePage) readParts(t *tx) error {
	if err := t.list(&p.Destinations, `SELECT x.destination, x.version, x.environment, d.version AS current FROM acceptance_destinations x
		JOIN destinations d ON d.name = x.destination WHERE x.run_id = $1 ORDER BY x.destination`, string(p.ID)); err != nil {
		return err
	}
	if err := t.list(&p.Signatures, `SELECT s.part, s.user_id, u.name, s.comment, s.at FROM acceptance_signatures s JOIN users u ON u.id = s.user_id
		WHERE s.run_id = $1 ORDER BY s.at`, string(p.ID)); err != nil {
		return err
	}
	if err := t.list(&p.History, `SELECT id, `+historyColumns+` FROM history WHERE subject_kind = 'acceptance' AND subject_id = $1 ORDER BY seq`, string(p.ID)); err != nil {
		return err
	}
	var head chainHead
	if err := t.get(&head, `SELECT chain_seq, chain_hash FROM chain_heads WHERE subject_kind = 'acceptance' AND subject_id = $1`, string(p.ID)); err != nil {
		return err
	}
	p.ChainOK = chainBreak(p.History) == 0 && headFits(p.History, head.Seq, head.Hash)
	return nil
}

// AcceptanceFilter chooses runs.
type AcceptanceFilter struct {
	Flow, Destination string // "" = any
	Before            int64  // only runs with a lower number; 0 = from the newest
	Limit             int    // 0 = 25
}

// ListAcceptances gives the newest runs of the flows that the viewer may see.
func (s *Store) ListAcceptances(ctx context.Context, viewer Actor, f AcceptanceFilter) (rows []AcceptanceRow, more bool, err error) {
	v, err := s.FindViewer(ctx, viewer)
	if err != nil {
		return nil, false, err
	}
	if f.Limit <= 0 {
		f.Limit = 25
	}
	where, args := []string{"true"}, []any{}
	add := func(cond string, arg any) {
		args = append(args, arg)
		where = append(where, strings.ReplaceAll(cond, "?", "$"+strconv.Itoa(len(args))))
	}
	if all, flows := v.seenFlows(); !all {
		add("r.flow = ANY(?)", pq.Array(flows))
	}
	if f.Flow != "" {
		add("r.flow = ?", f.Flow)
	}
	if f.Destination != "" {
		add("EXISTS (SELECT 1 FROM acceptance_destinations x WHERE x.run_id = r.id AND x.destination = ?)", f.Destination)
	}
	if f.Before > 0 {
		add("r.number < ?", f.Before)
	}
	args = append(args, f.Limit+1)
	q := `SELECT ` + acceptanceColumns + acceptanceFrom + `WHERE ` + strings.Join(where, " AND ") + ` ORDER BY r.number DESC LIMIT $` + strconv.Itoa(len(args))
	err = s.read(ctx, func(db *sqlx.DB) error {
		rows = nil
		return db.SelectContext(ctx, &rows, q, args...)
	})
	if len(rows) > f.Limit {
		rows, more = rows[:f.Limit], true
	}
	return rows, more, err
}
