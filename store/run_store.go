package store

import (
	"crypto/sha256"
	"slices"
	"strings"

	"holdpoint/operation"
)

// storeSQL writes everything that one delivery brought. A run whose key is there
// already is left as it is, and so are its operations: later redeliveries only add
// their delivery and the link between event and run. A released event brings no delivery.
const storeSQL = `WITH
eb AS (INSERT INTO event_bodies (event_id, body, data) SELECT $2, $3, $4 WHERE $5),
r AS (INSERT INTO runs (id, flow, flow_version, run_key_hash, label, event_id, state, inputs, created_at)
	SELECT x.id, x.flow, x.version, decode(x.key, 'hex'), x.label, $2, 'open', x.inputs, $6
	FROM jsonb_to_recordset(CAST($7 AS jsonb)) AS x(id text, flow text, version int, key text, label text, inputs text)
	ON CONFLICT ON CONSTRAINT runs_key DO NOTHING RETURNING id),
er AS (INSERT INTO event_runs (event_id, run_id) SELECT $2, x.id FROM jsonb_to_recordset(CAST($7 AS jsonb)) AS x(id text) ON CONFLICT DO NOTHING),
o AS (INSERT INTO operations (id, run_id, flow, flow_version, stage, stage_no, stages, destination, action, effect_type, account, environment,
	title, state, version_id, version_no, attempts_max, next_kind, next_role, next_user, next_at, next_since, chain_seq, chain_hash, created_at, updated_at, source)
	SELECT x.id, x.run, x.flow, x.fv, x.stage, x.no, x.stages, x.dest, x.action, x.effect, x.account, x.env, x.title, x.state, x.ver, 1, x.max,
	x.nk, x.nr, NULLIF(x.nu, ''), x.at, $6, x.seq, decode(x.head, 'hex'), $6, $6, $11
	FROM jsonb_to_recordset(CAST($8 AS jsonb)) AS x(id text, run text, flow text, fv int, stage text, no int, stages int, dest text, action text, effect text,
	account text, env text, title text, state text, ver text, max int, nk text, nr text, nu text, at timestamptz, seq bigint, head text)
	JOIN r ON r.id = x.run RETURNING id),
vj AS MATERIALIZED (SELECT x.* FROM jsonb_to_recordset(CAST($9 AS jsonb)) AS x(id text, op text, ak text, ai text, pb text, model text, note text, missing text[], hash text,
	account text, env text, cred text, fv int, dv int, content text, request text, salt text, policy text) JOIN o ON o.id = x.op),
v AS (INSERT INTO content_versions (id, operation_id, number, author_kind, author_id, prompted_by, model, note, missing, hash, account, environment, credential, flow_version, destination_version, created_at)
	SELECT id, op, 1, ak, ai, NULLIF(pb, ''), model, note, missing, decode(NULLIF(hash, ''), 'hex'), account, env, cred, fv, dv, $6 FROM vj),
vb AS (INSERT INTO version_bodies (version_id, content, request, salt) SELECT id, content, request, decode(salt, 'hex') FROM vj),
su AS (INSERT INTO submissions (version_id, operation_id, submitted_by, policy, submitted_at) SELECT id, op, ai, policy, $6 FROM vj WHERE policy <> ''),
d AS (INSERT INTO deliveries (id, source, delivery_key, subscription, event_id, verdict, reason, status, body_hash, body, headers, skew_ms, received_at, post_id, item)
	SELECT $10, $11, $12, $13, $2, CASE WHEN k.known THEN 'repeated' ELSE $14 END, CASE WHEN k.known THEN $20 ELSE $15 END, CASE WHEN k.known THEN CAST($21 AS int) ELSE $16 END,
	$17, CASE WHEN $14 IN ('accepted', 'repeated') THEN NULL ELSE CAST($3 AS bytea) END, $18, $19, $6, $22, $23
	FROM (SELECT $14 = 'accepted' AND $7 <> '[]' AND NOT EXISTS (SELECT 1 FROM r) AS known) k WHERE $10 <> ''),
h AS (` + historyInto + ` JOIN o ON o.id = h.si)
SELECT COALESCE((SELECT string_agg(id, ',') FROM r), '')`

// RunKnown is why a new event started nothing: its run key has been used.
const RunKnown = "the run exists already"

// store writes delivery, event body, runs, operations, versions and history.
func (b *runBuilder) store(out *Receipt) error {
	data, err := jsonText(b.in.Data)
	if err != nil {
		return err
	}
	headers, err := jsonText(b.in.Headers)
	if err != nil {
		return err
	}
	var js [4]string
	for i, v := range []any{b.rows.Runs, b.rows.Ops, b.rows.Versions} {
		if js[i], err = jsonText(v); err != nil {
			return err
		}
		if js[i] == "null" {
			js[i] = "[]"
		}
	}
	if js[3], err = b.tx.encodeEntries(b.entries, b.placed); err != nil {
		return err
	}
	sum := sha256.Sum256(b.in.Body)
	var started string
	err = b.get(&started, storeSQL, js[3], string(b.event), b.in.Body, data, b.newEvent, b.now, js[0], js[1], js[2],
		string(out.Delivery), b.in.Source, b.in.DeliveryKey, b.in.Subscription, string(out.Verdict), out.Reason, b.in.status(out.Verdict), sum[:], headers, b.in.SkewMillis,
		RunKnown, b.in.status(VerdictRepeated), b.in.Post, b.in.Item)
	if err != nil {
		return err
	}
	if len(out.Runs) > 0 && started == "" && out.Verdict == VerdictAccepted {
		out.Verdict, out.Reason, out.Drafted = VerdictRepeated, RunKnown, nil
	}
	if err := b.storeBatches(started); err != nil {
		return err
	}
	return b.writeStops(slices.DeleteFunc(b.rows.Stops, func(row map[string]any) bool {
		return !slices.Contains(strings.Split(started, ","), row["run"].(string))
	}))
}

// operationIDs is a small help for callers that want the run of one operation.
func (r Receipt) First() operation.ID {
	if len(r.Operations) == 0 {
		return ""
	}
	return r.Operations[0]
}
