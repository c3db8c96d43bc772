-- What people decided, and its history.
CREATE TEMP TABLE deciders AS SELECT id, row_number() OVER (ORDER BY id) - 1 AS k, count(*) OVER () AS total FROM users WHERE email LIKE 'person-%' OR email LIKE 'approver@%';

ANALYZE deciders;

INSERT INTO approvals (id, operation_id, version_id, hash, decision, user_id, role, reason, form_id, decided_at)
SELECT 'apr_' || m.x, 'op_' || m.x, 'ver_' || m.x, sha256(m.x::bytea), CASE WHEN m.state = 'draft' THEN 'request_changes' WHEN m.state = 'rejected' THEN 'reject' ELSE 'approve' END,
    d.id, 'approver', CASE WHEN m.state = 'draft' THEN 'Say who writes.' ELSE '' END, m.x, m.at + interval '30 minutes'
FROM made m JOIN deciders d ON d.k = m.g % d.total WHERE m.state NOT IN ('pending_approval', 'cancelled');

INSERT INTO history (subject_kind, subject_id, seq, at, actor_kind, actor_id, actor_name, role, channel, action, from_state, to_state, reason, links, version_id, evidence_hash, prev_hash, hash)
SELECT 'operation', 'op_' || m.x, s.seq, m.at + interval '30 minutes' * (s.seq - 1), CASE WHEN s.seq = 2 THEN 'person' ELSE 'system' END, CASE WHEN s.seq = 2 THEN d.id ELSE 'system' END, 'bench',
    CASE WHEN s.seq = 2 THEN 'approver' ELSE '' END, 'web', CASE WHEN s.seq = 1 THEN 'create' WHEN s.seq = 2 THEN 'approve' ELSE 'effect' END,
    CASE WHEN s.seq = 1 THEN '' WHEN s.seq = 2 THEN 'pending_approval' ELSE 'in_progress' END, CASE WHEN s.seq = 3 THEN 'confirmed' WHEN s.seq = 2 THEN 'ready' ELSE 'pending_approval' END,
    '', '{}', 'ver_' || m.x, '', sha256(m.x::bytea), sha256(m.x::bytea)
FROM made m JOIN deciders d ON d.k = m.g % d.total CROSS JOIN generate_series(1, CASE WHEN m.state = 'confirmed' THEN 3 WHEN m.state IN ('pending_approval', 'cancelled') THEN 1 ELSE 2 END) AS s(seq);
