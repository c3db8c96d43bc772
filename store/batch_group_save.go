package store

import (
	"encoding/json"
	"time"

	"holdpoint/operation"
)

// groupOp is what a group's statement writes of one operation; what is not there is
// nothing: 0, false, ” or NULL.
type groupOp struct {
	ID  operation.ID          `json:"id"`
	Rev int64                 `json:"rev"`
	St  operation.State       `json:"st"`
	Cl  operation.ClearanceID `json:"cl,omitempty"`
	Au  int                   `json:"au,omitempty"`
	Ae  int                   `json:"ae,omitempty"`
	Fe  int64                 `json:"fe,omitempty"`
	Oa  operation.AttemptID   `json:"oa,omitempty"`
	Un  int                   `json:"un,omitempty"`
	Eu  bool                  `json:"eu,omitempty"`
	Kf  *time.Time            `json:"kf,omitempty"`
	Se  bool                  `json:"se,omitempty"`
	Ka  bool                  `json:"ka,omitempty"`
	Ls  *time.Time            `json:"ls,omitempty"`
	Ld  *time.Time            `json:"ld,omitempty"`
	Sp  bool                  `json:"sp,omitempty"`
	Ra  *time.Time            `json:"ra,omitempty"`
	La  *time.Time            `json:"la,omitempty"`
	Mi  int                   `json:"mi,omitempty"`
	Nk  string                `json:"nk,omitempty"`
	Nr  operation.Role        `json:"nr,omitempty"`
	Nu  operation.UserID      `json:"nu,omitempty"`
	Ns  bool                  `json:"ns,omitempty"`
	Na  *time.Time            `json:"na,omitempty"`
	Nc  *time.Time            `json:"nc,omitempty"`
	Ho  *time.Time            `json:"ho,omitempty"`
	Ex  *time.Time            `json:"ex,omitempty"`
	Tr  string                `json:"tr,omitempty"`
	Tu  string                `json:"tu,omitempty"`
	Cb  string                `json:"cb,omitempty"`
	Du  string                `json:"du,omitempty"`
	De  string                `json:"de,omitempty"`
	Re  string                `json:"re,omitempty"`
	Db  *time.Time            `json:"db,omitempty"`
	Cs  int64                 `json:"cs"`
	Ch  string                `json:"ch"`
	Up  time.Time             `json:"up"`
}

// groupSQL writes the changed operations of a group and their history entries in one
// statement. Each is guarded by its revision, all by the epoch; the result is how many
// operations and how many attempts were written.
const groupSQL = `WITH op AS (UPDATE operations o SET revision = o.revision + 1, state = x.st, clearance_id = x.cl, attempts_used = COALESCE(x.au, 0), attempts_ever = COALESCE(x.ae, 0),
	fence = COALESCE(x.fe, 0), open_attempt = x.oa, unsettled = COALESCE(x.un, 0), ever_unproven = COALESCE(x.eu, false), key_first = x.kf, stored_error = COALESCE(x.se, false),
	key_answered = COALESCE(x.ka, false), last_send = x.ls, last_dispatch = x.ld, stopped = COALESCE(x.sp, false), retry_at = x.ra, lookup_at = x.la, misses = COALESCE(x.mi, 0),
	next_kind = COALESCE(x.nk, ''), next_role = COALESCE(x.nr, ''), next_user = x.nu, next_system = COALESCE(x.ns, false), next_at = x.na, next_since = x.nc, hold_until = x.ho, expires_at = x.ex,
	target_reference = x.tr, target_url = x.tu, confirmed_by = x.cb, duplicate = COALESCE(x.du, ''), delivery = COALESCE(x.de, ''), remedy = COALESCE(x.re, ''), deliver_by = x.db,
	chain_seq = x.cs, chain_hash = decode(x.ch, 'hex'), updated_at = x.up
	FROM jsonb_to_recordset(CAST($2 AS jsonb)) AS x(id text, rev bigint, st text, cl text, au int, ae int, fe bigint, oa text, un int, eu boolean, kf timestamptz, se boolean,
	ka boolean, ls timestamptz, ld timestamptz, sp boolean, ra timestamptz, la timestamptz, mi int, nk text, nr text, nu text, ns boolean, na timestamptz, nc timestamptz, ho timestamptz, ex timestamptz,
	tr text, tu text, cb text, du text, de text, re text, db timestamptz, cs bigint, ch text, up timestamptz)
	WHERE o.id = x.id AND o.revision = x.rev AND (SELECT epoch FROM installation) = $3 RETURNING o.id)`

const groupTail = `,
h AS (` + historyInto + ` WHERE EXISTS (SELECT 1 FROM op))
SELECT (SELECT count(*) FROM op)`

// The parts that only groups have: the outcomes of many attempts, and what a group came to.
// Attempts are found by their keys alone, one by one: COALESCE keeps the index of open ones
// away, which would give those of all other groups too, and a join of keys could be planned
// from the other side, over all attempts, while there are few.
const (
	finsPart = `UPDATE attempts a SET outcome = x.outcome, proof = x.proof, permanent = x.permanent, ended_at = x.ended_at, settled = x.settled, settled_at = x.settled_at
	FROM jsonb_to_recordset(?) AS x(id text, fence bigint, outcome text, proof text, permanent boolean, ended_at timestamptz, settled text, settled_at timestamptz)
	CROSS JOIN LATERAL (SELECT y.ctid AS place FROM attempts y WHERE y.id = x.id AND y.fence = x.fence AND COALESCE(y.outcome, '') = '' OFFSET 0) y
	WHERE a.ctid = y.place AND EXISTS (SELECT 1 FROM op) RETURNING a.id`
	markPart = `INSERT INTO batch_marks (batch_id, at, confirmed, not_started, unknown) SELECT batch_id, at, confirmed, not_started, unknown
	FROM jsonb_to_recordset(?) AS x(batch_id text, at timestamptz, confirmed int, not_started int, unknown int) WHERE EXISTS (SELECT 1 FROM op)`
)

// save plans and writes everything that a group decided. It gives the wake-ups.
func (g *group) save() ([]map[string]any, error) {
	var w writes
	var entries []chained
	var where placed
	rows := make([]groupOp, len(g.units))
	for i, u := range g.units {
		if err := u.planAlone(); err != nil {
			return nil, err
		}
		rows[i] = groupOpOf(u.op)
		entries = append(entries, u.entries...)
		where = where.with(u.op)
		w.add(u.w)
	}
	w.counts = batchMoves(opsOf(g.units)...)
	history, err := g.encodeEntries(entries, where)
	if err != nil {
		return nil, err
	}
	ops, err := json.Marshal(rows)
	if err != nil {
		return nil, err
	}
	ctes, tail, more, err := w.groupStatement(4, g.markRow())
	if err != nil {
		return nil, err
	}
	var n int
	err = g.get(&n, groupSQL+ctes+groupTail+tail, append([]any{history, withoutNUL(ops), g.Epoch}, more...)...)
	if err == nil && n != len(g.units)+len(w.ends) {
		err = errAgain
	}
	return w.jobs, err
}

// planAlone plans what follows for a member of a group: it has no siblings to move.
func (u *unit) planAlone() error {
	if err := u.plan(u.op); err != nil {
		return err
	}
	u.noteStop()
	return nil
}

func (g *group) markRow() []map[string]any {
	if g.mark == nil {
		return nil
	}
	return []map[string]any{{"batch_id": g.ID, "at": g.at(), "confirmed": g.mark.Confirmed, "not_started": g.mark.NotStarted, "unknown": g.mark.Unknown}}
}

// add collects what another decision adds.
func (w *writes) add(o writes) {
	w.attempts, w.ends = append(w.attempts, o.attempts...), append(w.ends, o.ends...)
	w.clearances, w.approvals = append(w.clearances, o.clearances...), append(w.approvals, o.approvals...)
	w.targets, w.evidence = append(w.targets, o.targets...), append(w.evidence, o.evidence...)
	w.jobs, w.stops = append(w.jobs, o.jobs...), append(w.stops, o.stops...)
}

// groupStatement builds the parts of a group's statement.
func (w *writes) groupStatement(first int, marks []map[string]any) (ctes, tail string, args []any, err error) {
	p := &statementParts{first: first}
	addRows(p, "att", w.attempts)
	if len(w.ends) > 0 {
		p.put("fin", finsPart, w.ends)
		tail = " + (SELECT count(*) FROM fin)"
	}
	addRows(p, "ref", w.targets)
	addRows(p, "evi", w.evidence)
	addRows(p, "cnt", w.counts)
	addRows(p, "pat", w.stops)
	addRows(p, "stp", w.stops)
	if len(marks) > 0 {
		p.put("mrk", markPart, marks)
	}
	addRows(p, "job", w.jobs)
	return p.sql.String(), tail, p.args, p.err
}

func groupOpOf(o *opRow) groupOp {
	return groupOp{ID: o.ID, Rev: o.Revision, St: o.State, Cl: o.ClearanceID, Au: o.AttemptsUsed, Ae: o.AttemptsEver, Fe: o.Fence, Oa: o.OpenAttempt, Un: o.Unsettled,
		Eu: o.EverUnproven, Kf: o.KeyFirst, Se: o.StoredError, Ka: o.KeyAnswered, Ls: o.LastSend, Ld: o.LastDispatch, Sp: o.Stopped, Ra: o.RetryAt, La: o.LookupAt, Mi: o.Misses,
		Nk: o.NextKind, Nr: o.NextRole, Nu: o.NextUser, Ns: o.NextSystem, Na: o.NextAt, Nc: o.NextSince, Ho: o.HoldUntil, Ex: o.ExpiresAt, Tr: o.TargetReference, Tu: o.TargetURL,
		Cb: o.ConfirmedBy, Du: o.Duplicate, De: o.Delivery, Re: o.Remedy, Db: o.DeliverBy, Cs: o.ChainSeq, Ch: hexOf(o.ChainHash), Up: o.UpdatedAt}
}
