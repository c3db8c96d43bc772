package store

import (
	"encoding/json"
	"errors"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// writes collects the rows that one decision adds, so that save writes them together
// with the operation and its history in ONE statement: each statement costs a round
// trip. Constraints hold at the statement's end, as they would after several.
type writes struct {
	attempts   []newAttempt
	ends       []attemptEnd
	approvals  []map[string]any
	clearances []map[string]any
	targets    []newTarget
	evidence   []newEvidence
	jobs       []map[string]any
	runs       []map[string]any
	stops      []map[string]any
	batches    []map[string]any // that are not satisfied any more
	counts     []map[string]any // of batches' operations in each state: what is to be added
}

// The parts. ? stands for the JSON record or records. Each runs only when the guarded update of
// the operation (op) found its row, so that nothing is added to a stale decision.
var parts = map[string]string{
	"att": `INSERT INTO attempts (id, operation_id, number, fence, kind, counted, cap, version_id, clearance_id, clearance_kind, destination_version, account, key, key_generation,
	protected, worker, claimed_by, claimed_at, lease_until, lease_cap, send_by, dispatched_at, resolved, resolved_hash)
	SELECT id, operation_id, number, fence, kind, counted, cap, version_id, clearance_id, clearance_kind, destination_version, account, key, key_generation,
	protected, worker, claimed_by, claimed_at, lease_until, lease_cap, send_by, dispatched_at, resolved, decode(resolved_hash, 'hex')
	FROM jsonb_to_recordset(?) AS x(id text, operation_id text, number int, fence bigint, kind text, counted int, cap int, version_id text, clearance_id text, clearance_kind text,
	destination_version int, account text, key text, key_generation int, protected boolean, worker text, claimed_by text, claimed_at timestamptz, lease_until timestamptz,
	lease_cap timestamptz, send_by timestamptz, dispatched_at timestamptz, resolved text, resolved_hash text) WHERE EXISTS (SELECT 1 FROM op)`,
	"fin": `UPDATE attempts a SET outcome = j->>'outcome', proof = j->>'proof', permanent = CAST(j->>'permanent' AS boolean), ended_at = CAST(j->>'ended_at' AS timestamptz),
	settled = j->>'settled', settled_at = CAST(j->>'settled_at' AS timestamptz) FROM (SELECT ? AS j) x
	WHERE a.id = j->>'id' AND a.fence = CAST(j->>'fence' AS bigint) AND a.outcome IS NULL AND EXISTS (SELECT 1 FROM op) RETURNING a.id`,
	"apr": `INSERT INTO approvals (id, operation_id, version_id, hash, request_id, decision, user_id, role, reason, round, form_id, decided_at, for_user, delegation_id, reason_code, reason_words)
	SELECT id, operation_id, version_id, decode(hash, 'hex'), request_id, decision, user_id, role, reason, round, form_id, decided_at, for_user, delegation_id, reason_code, reason_words
	FROM jsonb_to_recordset(?) AS x(id text, operation_id text, version_id text, hash text, request_id text, decision text, user_id text, role text, reason text, round int, form_id text, decided_at timestamptz,
	for_user text, delegation_id text, reason_code text, reason_words text)
	WHERE EXISTS (SELECT 1 FROM op)`,
	"clr": `INSERT INTO clearances (id, operation_id, version_id, hash, kind, request_id, required, policy, expires_at, created_at)
	SELECT id, operation_id, version_id, decode(hash, 'hex'), kind, request_id, required, policy, expires_at, created_at
	FROM jsonb_to_recordset(?) AS x(id text, operation_id text, version_id text, hash text, kind text, request_id text, required int, policy text, expires_at timestamptz, created_at timestamptz)
	WHERE EXISTS (SELECT 1 FROM op)`,
	"cla": `INSERT INTO clearance_approvals (clearance_id, approval_id) SELECT x.id, a FROM jsonb_to_recordset(?) AS x(id text, approvals text[]) CROSS JOIN unnest(x.approvals) AS a
	WHERE EXISTS (SELECT 1 FROM op)`,
	"ref": `INSERT INTO target_references (account, effect_type, reference, operation_id, url, at) SELECT account, effect_type, reference, operation_id, url, at
	FROM jsonb_to_recordset(?) AS x(account text, effect_type text, reference text, operation_id text, url text, at timestamptz) WHERE EXISTS (SELECT 1 FROM op)`,
	"evi": `INSERT INTO evidence (id, operation_id, attempt_id, kind, result, reference, link, body, given_by, hash, at)
	SELECT id, operation_id, NULLIF(attempt_id, ''), kind, result, reference, link, body, given_by, decode(hash, 'hex'), at
	FROM jsonb_to_recordset(?) AS x(id text, operation_id text, attempt_id text, kind text, result text, reference text, link text, body text, given_by text, hash text, at timestamptz)
	WHERE EXISTS (SELECT 1 FROM op)`,
	"run": `UPDATE runs r SET rev = r.rev + 1, state = j->>'state', chain_seq = CAST(j->>'seq' AS bigint), chain_hash = decode(j->>'head', 'hex') FROM (SELECT ? AS j) x
	WHERE r.id = j->>'id' AND EXISTS (SELECT 1 FROM op)`,
	"bat": `UPDATE batches b SET satisfied = false, revision = b.revision + 1 FROM (SELECT ? AS j) x WHERE b.id = j->>'id' AND EXISTS (SELECT 1 FROM op)`,
	"job": `INSERT INTO river_job (args, kind, max_attempts, metadata, priority, queue, scheduled_at, state, tags)
	SELECT args, kind, 1, '{}', 1, queue, COALESCE(scheduled_at, clock_timestamp()), CAST(CASE WHEN scheduled_at IS NULL THEN 'available' ELSE 'scheduled' END AS river_job_state), '{}'
	FROM jsonb_to_recordset(?) AS x(args jsonb, kind text, queue text, scheduled_at timestamptz) WHERE EXISTS (SELECT 1 FROM op)`,
	"cnt": countPart,
	"pat": patternPart,
	"stp": stopPart,
}

// statement builds the saving statement for exactly the parts that a decision needs.
// There are few combinations; each is prepared once.
func (w *writes) statement(first int) (ctes, tail string, args []any, err error) {
	p := &statementParts{first: first}
	var t strings.Builder
	addRows(p, "att", w.attempts)
	// A row that is changed is found by plain values: a join with records would be
	// planned as a scan of the whole table.
	for _, e := range w.ends {
		t.WriteString(" - 1 + (SELECT count(*) FROM " + p.addOne("fin", e) + ")")
	}
	addRows(p, "apr", w.approvals)
	addRows(p, "clr", w.clearances)
	addRows(p, "cla", w.clearances)
	addRows(p, "ref", w.targets)
	addRows(p, "evi", w.evidence)
	for _, r := range w.runs {
		p.addOne("run", r)
	}
	for _, b := range w.batches {
		p.addOne("bat", b)
	}
	addRows(p, "cnt", w.counts)
	addRows(p, "pat", w.stops)
	addRows(p, "stp", w.stops)
	addRows(p, "job", w.jobs)
	return p.sql.String(), t.String(), p.args, p.err
}

// statementParts builds the parts of a statement behind its update of operations (op).
type statementParts struct {
	first int // the number of the parts' first parameter
	sql   strings.Builder
	args  []any
	err   error
}

// addRows adds the part name for its rows, when there are any.
func addRows[T any](p *statementParts, name string, rows []T) {
	if len(rows) > 0 {
		p.put(name, parts[name], rows)
	}
}

// addOne adds the part name for one row, under a name of its own, which it gives.
func (p *statementParts) addOne(name string, row any) string {
	own := name + strconv.Itoa(len(p.args)+1)
	p.put(own, parts[name], row)
	return own
}

func (p *statementParts) put(name, part string, value any) {
	js, err := json.Marshal(value)
	p.err = errors.Join(p.err, err)
	p.args = append(p.args, withoutNUL(js))
	p.sql.WriteString(",\n" + name + " AS (" + strings.ReplaceAll(part, "?", "CAST($"+strconv.Itoa(p.first+len(p.args)-1)+" AS jsonb)") + ")")
}

// nul is an escaped NUL character in JSON, which jsonb refuses; an escaped backslash
// before it makes it plain text.
var nul = regexp.MustCompile(`((?:^|[^\\])(?:\\\\)*)\\u0000`)

func withoutNUL(js []byte) string {
	s := string(js)
	for strings.Contains(s, `\u0000`) {
		t := nul.ReplaceAllString(s, "${1}\uFFFD")
		if t == s {
			break
		}
		s = t
	}
	return s
}

func timeOrNil(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t
}
