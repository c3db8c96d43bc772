package store

import (
	"strconv"
	"strings"
	"time"

	"holdpoint/operation"

	"github.com/lib/pq"
)

// A fact is something that happened at a moment and never changes: what a figure counts.
// The conditions stand here once, for counting forward, for what is not counted yet, for
// the check, and for the lists behind the numbers.

const doubt = "('unknown', 'review', 'reexecution_requested')"

// suspicion is an entry of the history by which more than one effect was found.
const suspicion = `(H.action = 'duplicate_suspected' OR H.action = 'lookup' AND H.to_state <> 'in_progress' AND H.links LIKE '%"result":"many"%')`

// duplicated is an entry by which a person recorded more than one effect.
const duplicated = `(H.action IN ('effect', 'more_evidence') AND H.links LIKE '%"duplicate":"%')`

// on writes a condition about another row of the history.
func on(alias, cond string) string { return strings.ReplaceAll(cond, "H.", alias+".") }

// before is an entry of the same operation before this one, which is called p.
func before(cond string) string {
	return `EXISTS (SELECT 1 FROM history p WHERE p.subject_kind = 'operation' AND p.subject_id = h.subject_id AND p.seq < h.seq AND ` + on("p", cond) + `)`
}

// approved is the newest approval of a re-execution before an entry of the history h.
const approved = `(SELECT p.seq, p.at, CAST(p.links AS jsonb) ->> 'clearance' AS clearance FROM history p WHERE p.subject_kind = 'operation' AND p.subject_id = h.subject_id
	AND p.seq < h.seq AND p.action = 'approve_reexecution' ORDER BY p.seq DESC LIMIT 1)`

// proven is the attempt that an entry names as the proof of an effect.
const proven = `(SELECT 1 FROM attempts a WHERE a.id = CAST(H.links AS jsonb) ->> 'attempt' AND a.operation_id = H.subject_id AND a.claimed_at < r.at)`

// reexecutionError holds where an approved re-execution turned out to be an error: its
// effect existed before anything was sent under it, or was proven by an earlier attempt,
// or a person recorded a duplicate after it was sent. Each approval counts once.
var reexecutionError = `EXISTS (SELECT 1 FROM reexecution_requests q WHERE q.operation_id = h.subject_id) AND EXISTS (SELECT 1 FROM ` + approved + ` r WHERE
	(h.to_state = 'confirmed' AND h.from_state <> 'confirmed' AND (
		NOT EXISTS (SELECT 1 FROM history p WHERE p.subject_kind = 'operation' AND p.subject_id = h.subject_id AND p.seq > r.seq AND p.seq < h.seq
			AND p.action IN ('dispatch', 'refuse_reexecution'))
		OR EXISTS ` + on("h", proven) + `)
	OR ` + on("h", duplicated) + ` AND NOT ` + before(duplicated) + ` AND EXISTS (SELECT 1 FROM attempts a WHERE a.clearance_id = r.clearance AND a.dispatched_at IS NOT NULL)
		AND NOT EXISTS (SELECT 1 FROM history e WHERE e.subject_kind = 'operation' AND e.subject_id = h.subject_id AND e.seq > r.seq AND e.seq < h.seq
			AND e.to_state = 'confirmed' AND e.from_state <> 'confirmed' AND EXISTS ` + on("e", proven) + `)))`

// waited is for how many seconds an approved version had waited since it was put up.
const waited = `CAST(EXTRACT(EPOCH FROM h.at - (SELECT p.at FROM history p WHERE p.subject_kind = h.subject_kind AND p.subject_id = h.subject_id AND p.seq < h.seq
	AND p.to_state = 'pending_approval' AND p.from_state <> 'pending_approval' ORDER BY p.seq DESC LIMIT 1)) AS float8)`

// entryFact is a measure that counts entries of the history of operations, called h; where a
// batch is decided upon as a whole, those of batches too.
type entryFact struct {
	kind string // what can be told by the entry's kind alone, of the row K
	more string // what must hold besides
	secs string // the time that it measures; "" = none
	both bool   // of batches too
}

// subjects is the condition on the kind of subject of the row K.
func (f entryFact) subjects() string {
	if f.both {
		return "K.subject_kind IN ('operation', 'batch')"
	}
	return "K.subject_kind = 'operation'"
}

var entryFacts = map[measure]entryFact{
	mAttempts:       {kind: "(K.action = 'claim' OR K.action = 'dispatch' AND K.from_state <> 'in_progress')"}, // of a group, both are one entry
	mByDestination:  {kind: "K.to_state = 'confirmed' AND K.from_state <> 'confirmed'", more: `h.links NOT LIKE '%"by":"person"%'`},
	mByPerson:       {kind: "K.to_state = 'confirmed' AND K.from_state <> 'confirmed' AND K.actor_kind = 'person'", more: `h.links LIKE '%"by":"person"%'`},
	mIntoDoubt:      {kind: "K.to_state IN " + doubt + " AND K.from_state NOT IN " + doubt},
	mOutOfDoubt:     {kind: "K.to_state NOT IN " + doubt + " AND K.from_state IN " + doubt},
	mSuspected:      {kind: "K.action IN ('duplicate_suspected', 'lookup')", more: on("h", suspicion) + " AND NOT " + before(suspicion)},
	mDuplicates:     {kind: "K.action IN ('effect', 'more_evidence')", more: on("h", duplicated) + " AND NOT " + before(duplicated)},
	mReexecutions:   {kind: "K.action = 'approve_reexecution'"},
	mReexecutionErr: {kind: "K.action IN ('effect', 'more_evidence')", more: reexecutionError},
	mAdopted:        {kind: "K.from_state = '' AND K.to_state = 'review'"},
	mApproval:       {kind: "K.from_state = 'pending_approval' AND K.to_state IN ('ready', 'waiting', 'running', 'canary')", secs: waited, both: true},
}

// cond is the whole condition of an entry.
func (f entryFact) cond() string {
	out := strings.ReplaceAll(f.subjects()+" AND "+f.kind, "K.", "h.")
	if f.more != "" {
		out += " AND " + f.more
	}
	return out
}

// reached gives, for deliveries called d, when their event reached its flows and which
// these are: with the first delivery that started or met a run, or when a person released
// it. An event reaches all its flows at one moment.
const reached = ` CROSS JOIN LATERAL (SELECT string_agg(DISTINCT r.flow, ',' ORDER BY r.flow) AS flows FROM event_runs x JOIN runs r ON r.id = x.run_id WHERE x.event_id = d.event_id) fs
	LEFT JOIN held_decisions hd ON hd.event_id = d.event_id AND hd.decision = 'release'`

// firstStart holds for the delivery with which its event reached its flows.
const firstStart = `hd.event_id IS NULL AND d.verdict IN ('accepted', 'repeated') AND d.reason <> 'no flow is triggered by it'
	AND NOT EXISTS (SELECT 1 FROM deliveries y WHERE y.event_id = d.event_id AND (y.received_at, y.id) < (d.received_at, d.id)
		AND y.verdict IN ('accepted', 'repeated') AND y.reason <> 'no flow is triggered by it')`

// afterStart holds for a delivery that came when its event had reached its flows.
const afterStart = `(hd.decided_at <= d.received_at OR hd.event_id IS NULL AND EXISTS (SELECT 1 FROM deliveries y WHERE y.event_id = d.event_id
	AND (y.received_at, y.id) <= (d.received_at, d.id) AND y.verdict IN ('accepted', 'repeated') AND y.reason <> 'no flow is triggered by it'))`

// sentAgain holds for the attempt a that sends a key for the second time.
const sentAgain = `a.number > 1 AND a.protected AND a.dispatched_at IS NOT NULL
	AND (SELECT count(*) FROM attempts b WHERE b.operation_id = a.operation_id AND b.key = a.key AND b.number < a.number AND b.dispatched_at IS NOT NULL) = 1`

// caseTimes gives for a closed case c how long people had it in hand and worked on it, in
// milliseconds, corrections included, and how often anybody took it.
const caseTimes = ` CROSS JOIN LATERAL (SELECT count(*) AS holds, COALESCE(sum(CAST(EXTRACT(EPOCH FROM COALESCE(x.released_at, c.closed_at) - x.taken_at) * 1000 AS bigint)), 0)
		+ COALESCE((SELECT sum(k.delta_ms) FROM case_corrections k WHERE k.case_id = c.id AND k.clock = 'in_hand'), 0) AS in_hand,
		COALESCE((SELECT sum(v.active_ms) FROM case_active v WHERE v.case_id = c.id), 0)
		+ COALESCE((SELECT sum(k.delta_ms) FROM case_corrections k WHERE k.case_id = c.id AND k.clock = 'active'), 0) AS active
	FROM case_holds x WHERE x.case_id = c.id) t`

// fact is how often something happened: in which stretch of time, where.
type fact struct {
	Measure     measure `db:"m"`
	Stretch     int     `db:"stretch"` // how many of the given bounds it does not come before
	Flow        string  `db:"flow"`
	Destination string  `db:"destination"`
	Cell        int     `db:"cell"`
	N           int64   `db:"n"`
}

// factsSQL counts every fact of [$1, $2) but those of cases, by the stretches between the
// bounds $3; $4 are the bounds of the cells of times.
var factsSQL = func() string {
	stretch := func(at string) string { return "width_bucket(" + at + ", CAST($3 AS timestamptz[]))" }
	var entries []string
	for m := range countMeasures {
		if f, ok := entryFacts[m]; ok {
			entries = append(entries, "SELECT "+strconv.Itoa(int(m))+" AS m, CAST(NULL AS float8) AS secs WHERE "+f.cond())
		}
	}
	f := entryFacts[mApproval]
	entries = append(entries, "SELECT "+strconv.Itoa(int(mApproval))+", "+f.secs+" WHERE "+f.cond())
	plain := func(m measure, at, flow, destination, from, where string) string {
		return "SELECT " + strconv.Itoa(int(m)) + " AS m, " + stretch(at) + " AS stretch, " + flow + " AS flow, " + destination + " AS destination, 0 AS cell, count(*) AS n FROM " + from +
			" WHERE " + at + " >= $1 AND " + at + " < $2 AND " + where + " GROUP BY 2, 3, 4"
	}
	attempt := "attempts a JOIN operations o ON o.id = a.operation_id"
	return `SELECT x.m, ` + stretch("h.at") + ` AS stretch, h.flow, h.destination, COALESCE(width_bucket(x.secs, CAST($4 AS float8[])), 0) AS cell, count(*) AS n
	FROM history h CROSS JOIN LATERAL (` + strings.Join(entries, "\n\t\tUNION ALL ") + `) x
	WHERE h.at >= $1 AND h.at < $2 AND h.subject_kind IN ('operation', 'batch') GROUP BY 1, 2, 3, 4, 5
	UNION ALL ` + strings.Join([]string{
		plain(mEvents, "e.received_at", "'*'", "'*'", "events e", "true"),
		plain(mDeliveries, "d.received_at", "'*'", "'*'", "deliveries d", "true"),
		plain(mReached, "d.received_at", "fs.flows", "''", "deliveries d"+reached, "fs.flows IS NOT NULL AND "+firstStart),
		plain(mReached, "hd.decided_at", "fs.flows", "''", "held_decisions hd CROSS JOIN LATERAL (SELECT string_agg(DISTINCT r.flow, ',' ORDER BY r.flow) AS flows FROM event_runs x JOIN runs r ON r.id = x.run_id WHERE x.event_id = hd.event_id) fs",
			"hd.decision = 'release' AND fs.flows IS NOT NULL"),
		plain(mBrought, "d.received_at", "fs.flows", "''", "deliveries d"+reached, "fs.flows IS NOT NULL AND "+afterStart),
		plain(mEnded, "a.ended_at", "o.flow", "o.destination", attempt, "a.dispatched_at IS NOT NULL AND a.outcome IS NOT NULL"),
		plain(mRefused, "a.ended_at", "o.flow", "o.destination", attempt, "a.dispatched_at IS NOT NULL AND a.outcome IN ('not_started', 'unknown') AND a.outcome = 'not_started'"),
		plain(mUnknown, "a.ended_at", "o.flow", "o.destination", attempt, "a.dispatched_at IS NOT NULL AND a.outcome IN ('not_started', 'unknown') AND a.outcome = 'unknown'"),
		plain(mKeyReuse, "a.dispatched_at", "o.flow", "o.destination", attempt, sentAgain),
	}, "\n\tUNION ALL ")
}()

// facts counts what happened in [from, to), by the stretches between the bounds, which
// are in order.
func (t *tx) facts(from, to time.Time, bounds []time.Time) ([]fact, error) {
	return t.factsBy(casesSQL, from, to, bounds)
}

// factsBy is facts with the statement that counts settled cases.
func (t *tx) factsBy(cases string, from, to time.Time, bounds []time.Time) ([]fact, error) {
	var all []fact
	if !from.Before(to) {
		return nil, nil
	}
	for _, q := range []string{factsSQL, cases} {
		var rows []fact
		if err := t.list(&rows, q, from.UTC(), to.UTC(), timeArray(bounds), pq.Array(operation.DurationBounds)); err != nil {
			return nil, err
		}
		all = append(all, rows...)
	}
	return all, nil
}

// casesSQL counts the cases that were closed in [$1, $2) and that anybody had in hand.
var casesSQL = `SELECT k.m, width_bucket(c.closed_at, CAST($3 AS timestamptz[])) AS stretch, c.flow, c.destination, width_bucket(CAST(GREATEST(k.ms, 0) / 1000 AS float8), CAST($4 AS float8[])) AS cell, count(*) AS n
	FROM recovery_cases c` + caseTimes + ` CROSS JOIN LATERAL (VALUES (` + strconv.Itoa(int(mInHand)) + `, t.in_hand), (` + strconv.Itoa(int(mActive)) + `, t.active)) AS k(m, ms)
	WHERE c.closed_at >= $1 AND c.closed_at < $2 AND t.holds > 0 GROUP BY 1, 2, 3, 4, 5`

// timeArray writes moments as a parameter.
func timeArray(at []time.Time) any {
	out := make([]string, len(at))
	for i, a := range at {
		out[i] = a.UTC().Format("2006-01-02T15:04:05.999999Z07:00")
	}
	return pq.Array(out)
}
