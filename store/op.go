package store

import (
	"strings"
	"time"

	"holdpoint/operation"
	"holdpoint/operation/definition"
)

// opRow is one row of operations as the gate works with it: locked, changed in memory
// by the verb, written back by save.
type opRow struct {
	ID              operation.ID          `db:"id"`
	RunID           operation.RunID       `db:"run_id"`
	Flow            string                `db:"flow"`
	FlowVersion     int                   `db:"flow_version"`
	Stage           string                `db:"stage"`
	StageNo         int                   `db:"stage_no"`
	Stages          int                   `db:"stages"`
	ItemKey         string                `db:"item_key"`
	Replacement     int                   `db:"replacement"`
	Replaces        string                `db:"replaces"`
	Destination     string                `db:"destination"`
	Action          string                `db:"action"`
	EffectType      string                `db:"effect_type"`
	Account         string                `db:"account"`
	Environment     string                `db:"environment"`
	Title           string                `db:"title"`
	Adopted         bool                  `db:"adopted"`
	BatchID         operation.BatchID     `db:"batch_id"`
	BatchNo         int                   `db:"batch_no"`
	State           operation.State       `db:"state"`
	Revision        int64                 `db:"revision"`
	VersionID       operation.VersionID   `db:"version_id"`
	VersionNo       int                   `db:"version_no"`
	ClearanceID     operation.ClearanceID `db:"clearance_id"`
	AttemptsUsed    int                   `db:"attempts_used"`
	AttemptsMax     int                   `db:"attempts_max"`
	AttemptsEver    int                   `db:"attempts_ever"`
	Fence           int64                 `db:"fence"`
	OpenAttempt     operation.AttemptID   `db:"open_attempt"`
	Unsettled       int                   `db:"unsettled"`
	EverUnproven    bool                  `db:"ever_unproven"`
	KeyGeneration   int                   `db:"key_generation"`
	KeyFirst        *time.Time            `db:"key_first"`
	StoredError     bool                  `db:"stored_error"`
	KeyAnswered     bool                  `db:"key_answered"`
	LastSend        *time.Time            `db:"last_send"`
	LastDispatch    *time.Time            `db:"last_dispatch"`
	Stated          bool                  `db:"stated"`
	Disputed        bool                  `db:"disputed"`
	Stopped         bool                  `db:"stopped"`
	Deliberate      bool                  `db:"deliberate"`
	RetryAt         *time.Time            `db:"retry_at"`
	LookupAt        *time.Time            `db:"lookup_at"`
	Misses          int                   `db:"misses"`
	LastLookup      string                `db:"last_lookup"`
	LastLookupAt    *time.Time            `db:"last_lookup_at"`
	RequestID       operation.RequestID   `db:"request_id"`
	CaseRound       int                   `db:"case_round"`
	NextKind        string                `db:"next_kind"`
	NextRole        operation.Role        `db:"next_role"`
	NextUser        operation.UserID      `db:"next_user"`
	NextSystem      bool                  `db:"next_system"`
	NextAt          *time.Time            `db:"next_at"`
	NextSince       *time.Time            `db:"next_since"`
	HoldUntil       *time.Time            `db:"hold_until"`
	ExpiresAt       *time.Time            `db:"expires_at"`
	Paused          bool                  `db:"paused"`
	TargetReference string                `db:"target_reference"`
	TargetURL       string                `db:"target_url"`
	ConfirmedBy     string                `db:"confirmed_by"`
	Duplicate       string                `db:"duplicate"`
	Delivery        string                `db:"delivery"`
	Remedy          string                `db:"remedy"`
	DeliverBy       *time.Time            `db:"deliver_by"`
	ChainSeq        int64                 `db:"chain_seq"`
	ChainHash       []byte                `db:"chain_hash"`
	CreatedAt       time.Time             `db:"created_at"`
	UpdatedAt       time.Time             `db:"updated_at"`

	was       operation.State       // as loaded
	wasWho    operation.Responsible // whose decision was next, as loaded
	leaseEnd  time.Time             // of the open attempt, for the next decision
	replanned bool                  // the next decision must be planned anew though the state stays
	asleep    bool                  // no attempt is woken: what it waits for has not come
}

// opColumns lists the columns of opRow; nullable ones come as their zero value.
const opColumns = `o.id, o.run_id, o.flow, o.flow_version, o.stage, o.stage_no, o.stages, o.item_key, o.replacement,
	COALESCE(o.replaces, '') AS replaces, o.destination, o.action, o.effect_type, o.account, o.environment, o.title, o.adopted, COALESCE(o.batch_id, '') AS batch_id, COALESCE(o.batch_no, 0) AS batch_no,
	o.state, o.revision, COALESCE(o.version_id, '') AS version_id, o.version_no, COALESCE(o.clearance_id, '') AS clearance_id,
	o.attempts_used, o.attempts_max, o.attempts_ever, o.fence, COALESCE(o.open_attempt, '') AS open_attempt, o.unsettled,
	o.ever_unproven, o.key_generation, o.key_first, o.stored_error, o.key_answered, o.last_send, o.last_dispatch, o.stated, o.disputed, o.stopped, o.deliberate, o.retry_at, o.lookup_at, o.misses,
	COALESCE(o.last_lookup, '') AS last_lookup, o.last_lookup_at, COALESCE(o.request_id, '') AS request_id, o.case_round,
	o.next_kind, o.next_role, COALESCE(o.next_user, '') AS next_user, o.next_system, o.next_at, o.next_since, o.hold_until, o.expires_at,
	o.paused, COALESCE(o.target_reference, '') AS target_reference, COALESCE(o.target_url, '') AS target_url,
	COALESCE(o.confirmed_by, '') AS confirmed_by, o.duplicate, o.delivery, o.remedy, o.deliver_by, o.chain_seq, o.chain_hash, o.created_at, o.updated_at`

// unit is one decision in progress: the locked operation, what was read with it, and
// the entries to write. now is the database's clock, read after the locks were held.
type unit struct {
	*tx
	actor Actor
	now   time.Time
	op    *opRow
	facts loaded
	// siblings are the other operations of the run, loaded (and locked by the run's
	// lock) when a verb needs them.
	siblings map[operation.ID]*opRow
	entries  []chained
	where    placed // of the entries' subjects
	w        writes
	forName  string                      // of the person acted for
	read     more                        // what some verbs read in the locking statement
	taken    map[string]operation.ID     // who has a target reference, as read in this transaction
	flow     *definition.Flow            // with its named people resolved
	who      map[string]operation.UserID // the named people who are there
	profile  *definition.Profile         // current version of the destination's
	files    Attached                    // of the form, as long as they belong to nothing yet
	placed   int                         // how many have their place
	stopped  stopped                     // what was learnt that may be a stop
	joined   bool                        // claim and dispatch are one entry: they are one decision
	waivers  map[string]bool             // stages that the run goes on without; nil = not read
	batch    *heldBatch                  // what it shares with a group; nil = it is decided upon alone
}

// loaded is what the locking statement reads besides the operation.
type loaded struct {
	Now          time.Time  `db:"now"`
	XID          string     `db:"xid"`
	Epoch        int64      `db:"epoch"`
	RunState     string     `db:"run_state"`
	RunHeld      bool       `db:"run_held"`
	RunRev       int64      `db:"run_rev"`
	RunSeq       int64      `db:"run_seq"`
	RunHash      []byte     `db:"run_hash"`
	SnapRevision int64      `db:"snap_revision"`
	SnapRunRev   int64      `db:"snap_run_rev"`
	PausedWhy    string     `db:"paused_why"`
	FlowPaused   bool       `db:"flow_paused"`
	DestPaused   bool       `db:"dest_paused"`
	DestVersion  int        `db:"dest_version"`
	DestAccount  string     `db:"dest_account"`
	DestEnv      string     `db:"dest_environment"`
	VersionHash  []byte     `db:"version_hash"`
	VerAccount   string     `db:"ver_account"`
	VerEnv       string     `db:"ver_environment"`
	BatchHeld    string     `db:"batch_held"` // of its batch: paused or stopped
	Suppressed   bool       `db:"suppressed"` // its recipient, as an item of a batch
	Clearance    string     `db:"clearance"`  // JSON, '' = none
	UnsettledJS  string     `db:"unsettled_js"`
	Earlier      string     `db:"earlier"` // JSON of the run's other operations, '' for a run of one
	CheckedAt    *time.Time `db:"checked_at"`
	BrokenAt     *time.Time `db:"broken_at"` // the newest telling probe of the action showed that its protection does not hold
}

// lockSQL locks the run, then the operation (always in this order), takes the gate's
// shared lock, and reads the clock afterwards: the outer list is computed only when
// the inner row has been locked. OFFSET 0 keeps a plan that was made for an empty table from
// reading a grown one whole. The inner row is the newest one; everything read in
// the outer list comes from the statement's snapshot, which may be older when the lock
// had to wait. snap_revision and snap_run_rev show that.
var lockSQL = lockHead + lockColumns + lockFrom

const lockHead = `WITH l AS MATERIALIZED (
	SELECT ` + opColumns + `, r.state AS run_state, r.held AS run_held, r.rev AS run_rev, r.chain_seq AS run_seq, r.chain_hash AS run_hash, ` + gateShared + ` AS gate
	FROM runs r JOIN operations o ON o.run_id = r.id WHERE o.id = $1` + runTurn + ` FOR UPDATE OF r, o)
SELECT `

var lockColumns = `l.*, clock_timestamp() AS now, pg_current_xact_id()::text AS xid, i.epoch, i.paused_why,
	o2.revision AS snap_revision, r2.rev AS snap_run_rev,
	COALESCE(f.paused, false) AS flow_paused, d.paused AS dest_paused, d.version AS dest_version, d.account AS dest_account, d.environment AS dest_environment,
	COALESCE(v.hash, '') AS version_hash, COALESCE(v.account, '') AS ver_account, COALESCE(v.environment, '') AS ver_environment,
	COALESCE(CASE WHEN l.clearance_id <> '' THEN (SELECT json_build_object('id', c.id, 'kind', c.kind, 'version', c.version_id, 'hash', encode(c.hash, 'hex'),
		'expires', c.expires_at, 'required', c.required, 'request', c.request_id, 'policy', c.policy, 'batch', COALESCE(c.batch_clearance_id, ''),
		'approvers', (SELECT json_agg(json_build_object('user', a.user_id, 'for', COALESCE(a.for_user, ''), 'email', u.email, 'active', u.active AND (a.for_user IS NULL OR (SELECT b.active FROM users b WHERE b.id = a.user_id)),
			'roles', (SELECT string_agg(DISTINCT ur.role, ',') FROM user_roles ur WHERE ur.user_id = u.id AND ur.flow IN ('', l.flow))))
			FROM (SELECT a.user_id, a.for_user FROM clearance_approvals ca CROSS JOIN LATERAL (SELECT * FROM approvals y WHERE y.id = ca.approval_id OFFSET 0) a WHERE ca.clearance_id = c.id
				UNION ALL SELECT a.user_id, a.for_user FROM batch_clearance_approvals ca CROSS JOIN LATERAL (SELECT * FROM batch_approvals y WHERE y.id = ca.approval_id OFFSET 0) a WHERE ca.clearance_id = c.batch_clearance_id) a
				CROSS JOIN LATERAL (SELECT * FROM users y WHERE y.id = COALESCE(a.for_user, a.user_id) OFFSET 0) u),
		'spent', c.kind = 'reexecution' AND EXISTS (SELECT 1 FROM attempts t WHERE t.clearance_id = c.id AND t.dispatched_at IS NOT NULL))::text
		FROM clearances c WHERE c.id = l.clearance_id) END, '') AS clearance,
	COALESCE(CASE WHEN l.unsettled > 0 THEN (SELECT json_agg(json_build_object('id', t.id, 'key', t.key, 'account', t.account, 'protected', t.protected,
		'dispatched', t.dispatched_at, 'lease', LEAST(t.lease_until, t.ended_at), 'resolved', encode(t.resolved_hash, 'hex')) ORDER BY t.number)::text
		FROM attempts t WHERE t.operation_id = l.id AND t.outcome = 'unknown' AND t.settled IS NULL) END, '') AS unsettled_js,
	COALESCE(CASE WHEN l.stages > 1 OR l.replacement > 0 OR ` + replacedSQL + ` THEN CASE WHEN EXISTS (SELECT 1 FROM batches b WHERE b.run_id = l.run_id)
		THEN (SELECT json_agg(s.j)::text FROM (SELECT ` + stageRowJSON + ` AS j FROM ` + beside("l.run_id", "l.item_key") + ` s WHERE s.id <> l.id UNION ALL ` + batchRows("l.run_id", "l.item_key") + `) s)
		ELSE (SELECT json_agg(` + stageRowJSON + `)::text FROM operations s WHERE s.run_id = l.run_id AND s.id <> l.id) END END, '') AS earlier,
	CASE WHEN l.batch_id <> '' THEN ` + batchHeld("l.batch_id") + ` ELSE '' END AS batch_held, CASE WHEN l.batch_id <> '' THEN ` + itemSuppressed + ` ELSE false END AS suppressed,
	(SELECT q.checked_at FROM reexecution_requests q WHERE q.id = NULLIF(l.request_id, '')) AS checked_at,
	(SELECT CASE WHEN p.result = 'broken' THEN p.at END FROM probes p WHERE p.destination = l.destination AND p.action = l.action AND p.result <> 'unclear'
		ORDER BY p.at DESC LIMIT 1) AS broken_at`

// replacedSQL: the locked operation has a replacement. Only one that was closed once can
// have one, so that the others are not asked.
const replacedSQL = `(l.case_round > 0 OR l.state IN ` + closedStates + `) AND EXISTS (SELECT 1 FROM operations x
		WHERE x.run_id = l.run_id AND x.stage = l.stage AND x.item_key = l.item_key AND x.replacement > 0)`

const lockFrom = `
FROM l JOIN operations o2 ON o2.id = l.id JOIN runs r2 ON r2.id = l.run_id CROSS JOIN installation i
	JOIN destinations d ON d.name = l.destination LEFT JOIN flows f ON f.name = l.flow LEFT JOIN content_versions v ON v.id = NULLIF(l.version_id, '')`

// Some verbs read more in the locking statement: a round trip less each. What they read
// belongs to the locked operation, so it is as fresh as the rest.
var (
	// claimSQL reads the current version's body besides.
	claimSQL = lockHead + lockColumns + `, COALESCE(vb.content, '') AS "body.content", COALESCE(vb.request, '') AS "body.request", COALESCE(vb.salt, '') AS "body.salt",
	COALESCE(v.credential, '') AS "body.credential"` + lockFrom + ` LEFT JOIN version_bodies vb ON vb.version_id = v.id`

	// attemptSQL locks the operation of the attempt $1 and reads the attempt, and who has the target reference $2.
	attemptSQL = strings.Replace(lockHead, "o.id = $1", "o.id = (SELECT operation_id FROM attempts WHERE id = $1)", 1) + lockColumns + attemptPart("att") + `,
	COALESCE((SELECT x.operation_id FROM target_references x WHERE x.account = l.account AND x.effect_type = l.effect_type AND x.reference = $2), '') AS taken_by` +
		lockFrom + ` JOIN attempts att ON att.id = $1`

	// decideSQL reads the approver $2, whether the form $3 was sent before, and what stands on the current version.
	decideSQL = lockHead + lockColumns + approvalColumns + `, COALESCE(me.email, '') AS "me.email", COALESCE(me.active, false) AS "me.active",
	COALESCE((SELECT string_agg(DISTINCT ur.role, ',') FROM user_roles ur WHERE ur.user_id = me.id AND ur.flow IN ('', l.flow)), '') AS "me.roles",
	` + receivedBy("$2", "l.flow") + ` AS "me.received",
	EXISTS (SELECT 1 FROM approvals a WHERE a.user_id = $2 AND a.form_id = $3) AS seen` + lockFrom + ` LEFT JOIN submissions s ON s.version_id = v.id LEFT JOIN users me ON me.id = $2`
)

// attemptPart lists an attempt's columns under a prefix.
func attemptPart(alias string) string {
	var b strings.Builder
	for _, c := range strings.Split(strings.ReplaceAll(attemptColumns, "\n", ""), ",") {
		c = strings.TrimSpace(c)
		b.WriteString(", " + alias + "." + c + ` AS "` + alias + "." + c + `"`)
	}
	return b.String()
}

// stageRowJSON is what the gate looks at of another operation s of the run.
const stageRowJSON = `json_build_object('id', s.id, 'stage', s.stage, 'no', s.stage_no, 'item', s.item_key,
		'replacement', s.replacement, 'replaces', COALESCE(s.replaces, ''), 'deliberate', s.deliberate, 'doubt', s.open_attempt IS NOT NULL OR s.unsettled > 0 OR s.disputed,
		'state', s.state, 'delivery', s.delivery, 'reference', s.target_reference,
		'waived', EXISTS (SELECT 1 FROM stage_waivers w WHERE w.run_id = s.run_id AND w.stage = s.stage))`

func splitRoles(s string) []operation.Role {
	if s == "" {
		return nil
	}
	var out []operation.Role
	for _, r := range strings.Split(s, ",") {
		out = append(out, operation.Role(r))
	}
	return out
}
