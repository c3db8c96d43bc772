-- Operations with their events, runs and versions. The patterns are operations that went
-- through the gate: what is not named here is as in them.
CREATE TEMP TABLE pattern AS SELECT o.*, r.inputs, row_number() OVER (ORDER BY o.flow) - 1 AS n FROM operations o JOIN runs r ON r.id = o.run_id WHERE o.flow LIKE 'bench-%';

CREATE TEMP TABLE made AS
SELECT g, '0' || substr(md5(g::text), 1, 25) AS x, now() - interval '365 days' * (g::float8 / f.rows) AS at, g % (SELECT count(*) FROM pattern) AS n,
    CASE WHEN g % 200 = 0 THEN 'pending_approval' WHEN g % 667 = 1 THEN 'review' WHEN g % 1000 = 7 THEN 'draft' WHEN g % 1000 = 13 THEN 'unknown'
        WHEN g % 2000 = 17 THEN 'ready' WHEN g % 2000 = 19 THEN 'retry_scheduled' WHEN g % 125 = 3 THEN 'rejected' WHEN g % 125 = 5 THEN 'cancelled'
        WHEN g % 250 = 11 THEN 'not_executed' ELSE 'confirmed' END AS state,
    g % 2000 = 21 AS remedy, g % 2000 = 23 AS doubled
FROM fill f CROSS JOIN LATERAL generate_series(f.rows, 1, -1) g; -- the oldest first, as operations come
ANALYZE pattern;
ANALYZE made;

INSERT INTO events (id, source, account, topic, event_key, payload_hash, event_time, received_at)
SELECT 'evt_' || m.x, p.source, 'bench', 'topic-' || m.n, 'key-' || m.g, sha256(m.x::bytea), m.at, m.at FROM made m JOIN pattern p USING (n);

INSERT INTO runs (id, flow, flow_version, run_key_hash, event_id, state, inputs, created_at)
SELECT 'run_' || m.x, p.flow, p.flow_version, sha256(m.x::bytea), 'evt_' || m.x, CASE WHEN m.state = 'confirmed' THEN 'completed' ELSE 'open' END, p.inputs, m.at FROM made m JOIN pattern p USING (n);

INSERT INTO event_runs (event_id, run_id) SELECT 'evt_' || x, 'run_' || x FROM made;

INSERT INTO content_versions (id, operation_id, number, author_kind, author_id, hash, account, environment, credential, flow_version, destination_version, created_at)
SELECT 'ver_' || m.x, 'op_' || m.x, 1, 'flow', p.flow, sha256(m.x::bytea), p.account, p.environment, 'bench', p.flow_version, 1, m.at FROM made m JOIN pattern p USING (n);

INSERT INTO submissions (version_id, operation_id, submitted_by, policy, submitted_at)
SELECT 'ver_' || m.x, 'op_' || m.x, 'flow', s.policy, m.at FROM made m JOIN pattern p USING (n) JOIN submissions s ON s.version_id = p.version_id WHERE m.state = 'pending_approval';

DO $$
DECLARE
    own text := 'id run_id title state version_id version_no clearance_id attempts_used attempts_ever last_dispatch next_kind next_role next_user next_system next_at next_since retry_at lookup_at'
        ' expires_at target_reference target_url confirmed_by duplicate remedy created_at updated_at';
    same text; taken text;
BEGIN
    SELECT string_agg(quote_ident(column_name), ', '), string_agg('p.' || quote_ident(column_name), ', ') INTO same, taken
    FROM information_schema.columns WHERE table_schema = 'public' AND table_name = 'operations' AND column_name <> ALL (string_to_array(own, ' '));
    EXECUTE format($q$INSERT INTO operations (%s, %s)
        SELECT %s, 'op_' || m.x, 'run_' || m.x, 'Call about order ' || m.g, m.state, 'ver_' || m.x, 1, CASE WHEN m.state NOT IN ('pending_approval', 'draft') THEN 'clr_' || m.x END,
            CASE WHEN sent THEN 1 ELSE 0 END, CASE WHEN sent THEN 1 ELSE 0 END, CASE WHEN sent THEN m.at + interval '1 hour' END,
            COALESCE(d.kind, CASE WHEN m.remedy AND m.state = 'confirmed' THEN 'remedy' ELSE '' END), COALESCE(d.role, CASE WHEN m.remedy AND m.state = 'confirmed' THEN 'approver' ELSE '' END),
            NULL, COALESCE(d.role = '', false), CASE WHEN d.kind IS NOT NULL OR m.remedy THEN now() + interval '1 second' * (m.g %% 28800 - 3600) END, m.at,
            CASE WHEN m.state = 'retry_scheduled' THEN now() + interval '1 hour' END, CASE WHEN m.state = 'unknown' THEN now() + interval '1 hour' END, NULL,
            CASE WHEN m.state = 'confirmed' THEN 'T-' || m.g END, CASE WHEN m.state = 'confirmed' THEN 'https://crm.example.test/' || m.g END,
            CASE WHEN m.state <> 'confirmed' THEN NULL WHEN m.g %% 50 = 0 THEN 'person' ELSE 'destination' END, CASE WHEN m.doubled THEN 'suspected' ELSE '' END,
            CASE WHEN m.remedy AND m.state = 'confirmed' THEN 'bounce' ELSE '' END, m.at, m.at + interval '2 hours'
        FROM made m JOIN pattern p USING (n) CROSS JOIN LATERAL (SELECT m.state IN ('confirmed', 'review', 'unknown', 'retry_scheduled', 'not_executed') AS sent) s
        LEFT JOIN (VALUES ('pending_approval', 'approve', 'approver'), ('review', 'reconcile', 'ops_owner'), ('draft', 'complete', 'author'), ('unknown', 'check', ''),
            ('ready', 'take', ''), ('retry_scheduled', 'try', '')) AS d(state, kind, role) ON d.state = m.state$q$, same, replace(own, ' ', ', '), taken);
END $$;

-- What is in doubt has its case, as a trigger would have given it.
INSERT INTO recovery_cases (id, operation_id, flow, destination, round, opened_at, opened_as, changed_at)
SELECT new_case_id(), o.id, o.flow, o.destination, o.case_round, o.updated_at, o.state, o.updated_at
FROM operations o WHERE needs_case(o.state, o.unsettled, o.request_id) AND NOT EXISTS (SELECT 1 FROM recovery_cases c WHERE c.operation_id = o.id);
