-- What people decided, and its history.
CREATE TEMP TABLE deciders AS SELECT id, row_number() OVER (ORDER BY id) - 1 AS k, count(*) OVER () AS total FROM users WHERE email LIKE 'person-%' OR email LIKE 'approver@%';

ANALYZE deciders;

INSERT INTO approvals (id, operation_id, version_id, hash, decision, user_id, role, reason, form_id, decided_at)
SELECT 'apr_' || m.x, 'op_' || m.x, 'ver_' || m.x, sha256(m.x::bytea), CASE WHEN m.state = 'draft' THEN 'request_changes' WHEN m.state = 'rejected' THEN 'reject' ELSE 'approve' END,
    d.id, 'approver', CASE WHEN m.state = 'draft' THEN 'Say who writes.' ELSE '' END, m.x, m.at + interval '30 minutes'
FROM made m JOIN deciders d ON d.k = m.g % d.total WHERE m.state NOT IN ('pending_approval', 'cancelled');

-- Confirmed after a doubt by a person: each fiftieth. Sent a second time with its key: each thirtieth.
INSERT INTO history (subject_kind, subject_id, seq, at, actor_kind, actor_id, actor_name, role, channel, action, from_state, to_state, reason, links, version_id, evidence_hash, prev_hash, hash, flow, destination)
SELECT 'operation', 'op_' || m.x, row_number() OVER (PARTITION BY m.x ORDER BY s.place), m.at + interval '15 minutes' * (s.place - 1), CASE WHEN s.person THEN 'person' ELSE 'system' END,
    CASE WHEN s.person THEN d.id ELSE 'system' END, 'bench', CASE WHEN s.person THEN 'approver' ELSE '' END, CASE WHEN s.person THEN 'web' ELSE 'job' END, s.action, s.was, s.becomes,
    '', s.links, 'ver_' || m.x, '', sha256(m.x::bytea), sha256(m.x::bytea), p.flow, p.destination
FROM made m JOIN pattern p USING (n) JOIN deciders d ON d.k = m.g % d.total CROSS JOIN LATERAL (SELECT m.state = 'confirmed' AND m.g % 50 = 0 AS doubt,
        m.state IN ('confirmed', 'review', 'unknown', 'retry_scheduled', 'not_executed') AS sent) f
    CROSS JOIN LATERAL (VALUES (1, true, 'create', '', 'pending_approval', false, '{}'), (3, m.state NOT IN ('pending_approval', 'cancelled', 'draft', 'rejected'), 'approve', 'pending_approval', 'ready', true, '{}'),
        (3, m.state = 'draft', 'request_changes', 'pending_approval', 'draft', true, '{}'), (3, m.state = 'rejected', 'reject', 'pending_approval', 'rejected', true, '{}'),
        (4, f.sent, 'claim', 'ready', 'in_progress', false, '{}'), (5, m.state = 'retry_scheduled', 'report', 'in_progress', 'retry_scheduled', false, '{}'),
        (5, f.doubt OR m.state IN ('review', 'unknown', 'not_executed'), 'report', 'in_progress', 'unknown', false, '{}'), (6, m.state IN ('review', 'not_executed'), 'to_review', 'unknown', 'review', false, '{}'),
        (7, m.state = 'not_executed', 'not_executed', 'review', 'not_executed', true, '{}'), (7, m.state = 'confirmed', 'effect', CASE WHEN f.doubt THEN 'unknown' ELSE 'in_progress' END, 'confirmed', f.doubt,
            CASE WHEN f.doubt THEN '{"by":"person"}' ELSE '{"by":"destination"}' END)) AS s(place, made, action, was, becomes, person, links) WHERE s.made;

INSERT INTO history_kinds (subject_kind, flow, destination, actor_kind, role, channel, action, from_state, to_state)
SELECT DISTINCT subject_kind, flow, destination, actor_kind, role, channel, action, from_state, to_state FROM history ON CONFLICT DO NOTHING;

INSERT INTO attempts (id, operation_id, number, fence, kind, counted, cap, version_id, clearance_id, clearance_kind, destination_version, account, key, key_generation, protected, worker, claimed_by,
    claimed_at, lease_until, lease_cap, send_by, dispatched_at, resolved_hash, outcome, proof, ended_at)
SELECT 'att_' || m.x || '_' || k.number, 'op_' || m.x, k.number, k.number, CASE WHEN k.number = 1 THEN 'first' ELSE 'protected' END, k.number, 3, 'ver_' || m.x, 'clr_' || m.x, 'content', 1, p.account,
    'key-' || m.g, 1, true, 'bench', 'system', t.at, t.at + interval '2 minutes', t.at + interval '5 minutes', t.at + interval '1 minute', t.at + interval '10 milliseconds', sha256(m.x::bytea),
    o.outcome, CASE WHEN o.outcome <> 'unknown' THEN 'answer' END, t.at + interval '1 second'
FROM made m JOIN pattern p USING (n) CROSS JOIN LATERAL (VALUES (1), (2)) AS k(number)
    CROSS JOIN LATERAL (SELECT CASE WHEN m.state = 'retry_scheduled' OR m.g % 30 = 1 AND k.number = 1 THEN 'not_started' WHEN m.state <> 'confirmed' OR m.g % 50 = 0 THEN 'unknown' ELSE 'confirmed' END AS outcome) o
    CROSS JOIN LATERAL (SELECT m.at + interval '45 minutes' + interval '1 minute' * k.number AS at) t
WHERE m.state IN ('confirmed', 'review', 'unknown', 'retry_scheduled', 'not_executed') AND (k.number = 1 OR m.state = 'confirmed' AND m.g % 30 = 1);
