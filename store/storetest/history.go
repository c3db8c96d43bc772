package storetest

// MultiplyHistory repeats the history of the operations that are there as that of many
// others until about $1 entries are added, one a second up to now. It takes the owner's
// connection. The hashes are copied and verify for nobody: it is for reading many entries.
const MultiplyHistory = `INSERT INTO history (subject_kind, subject_id, seq, at, actor_kind, actor_id, actor_name, role, channel, action, from_state, to_state, reason, links,
	version_id, evidence_hash, prev_hash, hash, flow, destination)
	SELECT h.subject_kind, 'op_' || lpad(CAST(n AS text), 26, '0') || '_' || h.of, h.seq, clock_timestamp() - make_interval(secs => ((CAST($1 AS int) / h.entries - n) * h.entries + h.entries - h.place)),
	h.actor_kind, h.actor_id, h.actor_name, h.role, h.channel, h.action, h.from_state, h.to_state, h.reason, h.links, h.version_id, h.evidence_hash, h.prev_hash, h.hash, h.flow, h.destination
	FROM (SELECT *, count(*) OVER () AS entries, row_number() OVER (ORDER BY id) AS place, dense_rank() OVER (ORDER BY subject_id) AS of FROM history WHERE subject_kind = 'operation') h
	CROSS JOIN generate_series(1, CAST($1 AS int) / (SELECT count(*) FROM history WHERE subject_kind = 'operation')) AS n ORDER BY 4`
