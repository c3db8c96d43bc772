-- +goose Up
-- Terms for what statements and lookups say, and for the bodies of deliveries. The rows stay, with hash, result, verdict and keys.

ALTER TABLE retention_settings DROP CONSTRAINT retention_settings_kind;
ALTER TABLE retention_settings ADD CONSTRAINT retention_settings_kind CHECK (kind IN ('contents', 'attachments', 'evidence', 'deliveries'));
INSERT INTO retention_settings (kind) VALUES ('evidence'), ('deliveries');
ALTER TABLE erasures DROP CONSTRAINT erasures_kind;
ALTER TABLE erasures ADD CONSTRAINT erasures_kind CHECK (kind IN ('contents', 'attachments', 'evidence'));
-- What was added after an erasure is erased by another one.
ALTER TABLE erasures DROP CONSTRAINT erasures_once;
ALTER TABLE erasures ADD CONSTRAINT erasures_once UNIQUE (operation_id, kind, at);

-- Evidence: text and link can become empty, and nothing else can change.
-- +goose StatementBegin
CREATE FUNCTION evidence_guard() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE was record := OLD;
BEGIN
    was.body := '';
    was.link := '';
    IF NEW IS DISTINCT FROM was OR NOT EXISTS (SELECT 1 FROM erasures e WHERE e.operation_id = OLD.operation_id AND e.kind = 'evidence') THEN
        RAISE EXCEPTION 'evidence is append-only: its text goes with a recorded erasure' USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'evidence_append_only';
    END IF;
    RETURN NEW;
END $$;
-- +goose StatementEnd
DROP TRIGGER evidence_append_only ON evidence;
CREATE TRIGGER evidence_append_only BEFORE DELETE OR TRUNCATE ON evidence EXECUTE FUNCTION refuse_change();
CREATE TRIGGER evidence_kept BEFORE UPDATE ON evidence FOR EACH ROW EXECUTE FUNCTION evidence_guard();

-- Deliveries: the body can go, once, and nothing else can change.
ALTER TABLE deliveries ADD COLUMN erased_at timestamptz;
ALTER TABLE deliveries ADD CONSTRAINT deliveries_erased CHECK (erased_at IS NULL OR body IS NULL);
-- +goose StatementBegin
CREATE FUNCTION deliveries_guard() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE was record := OLD;
BEGIN
    was.body := NULL;
    was.erased_at := NEW.erased_at;
    IF NEW IS DISTINCT FROM was OR OLD.erased_at IS NOT NULL OR NEW.erased_at IS NULL THEN
        RAISE EXCEPTION 'deliveries are append-only: a body goes once, and the row stays' USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'deliveries_append_only';
    END IF;
    RETURN NEW;
END $$;
-- +goose StatementEnd
DROP TRIGGER deliveries_append_only ON deliveries;
CREATE TRIGGER deliveries_append_only BEFORE DELETE OR TRUNCATE ON deliveries EXECUTE FUNCTION refuse_change();
CREATE TRIGGER deliveries_kept BEFORE UPDATE ON deliveries FOR EACH ROW EXECUTE FUNCTION deliveries_guard();
-- What the rule looks at: bodies that are there, oldest first.
CREATE INDEX deliveries_with_body ON deliveries (received_at, id) WHERE body IS NOT NULL;

-- How far the events were walked that started nothing, by their identifiers, which begin with the time. An event
-- that waits for a person, or that another one resembles, is passed over; its body goes after the decision (held_events).
ALTER TABLE retention_settings ADD COLUMN walked text COLLATE "C" NOT NULL DEFAULT '';

-- Takes what has lain longer than the term, as the tables' owner: at most that many bodies of deliveries, of events that
-- a person has decided about, and of other events that started nothing. The term is the stored one: without one, nothing goes.
-- +goose StatementBegin
CREATE FUNCTION erase_deliveries(most int) RETURNS TABLE (gone int, events int, days int, oldest timestamptz, newest timestamptz)
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    term int;
    before timestamptz;
    mark text;
    seen text[];
    n int;
BEGIN
    gone := 0;
    events := 0;
    SELECT r.days, r.walked INTO term, mark FROM retention_settings r WHERE r.kind = 'deliveries' FOR UPDATE;
    days := term;
    IF term IS NULL OR most NOT BETWEEN 1 AND 10000 THEN
        RETURN NEXT;
        RETURN;
    END IF;
    before := clock_timestamp() - make_interval(days => term);

    WITH due AS (SELECT d.id FROM deliveries d WHERE d.body IS NOT NULL AND d.received_at < before
            AND NOT EXISTS (SELECT 1 FROM held_events h WHERE h.open AND d.event_id IN (h.event_id, h.twin_id)) ORDER BY d.received_at, d.id LIMIT most),
        went AS (UPDATE deliveries d SET body = NULL, erased_at = clock_timestamp() FROM due WHERE d.id = due.id RETURNING d.received_at)
    SELECT count(*), min(received_at), max(received_at) INTO gone, oldest, newest FROM went;

    WITH due AS (SELECT DISTINCT e.id AS event_id FROM held_events h CROSS JOIN LATERAL (VALUES (h.event_id), (h.twin_id)) AS x(id)
            JOIN events e ON e.id = x.id JOIN event_bodies b ON b.event_id = e.id
            WHERE NOT h.open AND e.received_at < before AND NOT EXISTS (SELECT 1 FROM event_runs y WHERE y.event_id = e.id)
            AND NOT EXISTS (SELECT 1 FROM held_events w WHERE w.open AND e.id IN (w.event_id, w.twin_id)) ORDER BY e.id LIMIT most),
        went AS (DELETE FROM event_bodies b USING due WHERE b.event_id = due.event_id RETURNING b.event_id)
    SELECT count(*), LEAST(oldest, min(e.received_at)), GREATEST(newest, max(e.received_at)) INTO n, oldest, newest FROM went JOIN events e ON e.id = went.event_id;
    events := events + n;

    SELECT array_agg(k.id ORDER BY k.id) INTO seen FROM (SELECT e.id FROM events e WHERE e.id > mark AND e.id < id_from('evt', before) ORDER BY e.id LIMIT most) k;
    IF seen IS NOT NULL THEN
        WITH went AS (DELETE FROM event_bodies b USING events e WHERE b.event_id = ANY(seen) AND e.id = b.event_id AND e.received_at < before
                AND NOT EXISTS (SELECT 1 FROM event_runs x WHERE x.event_id = e.id)
                AND NOT EXISTS (SELECT 1 FROM held_events h WHERE h.open AND e.id IN (h.event_id, h.twin_id)) RETURNING e.received_at)
        SELECT count(*), LEAST(oldest, min(received_at)), GREATEST(newest, max(received_at)) INTO n, oldest, newest FROM went;
        events := events + n;
        UPDATE retention_settings r SET walked = seen[cardinality(seen)] WHERE r.kind = 'deliveries';
    END IF;
    RETURN NEXT;
END $$;
-- +goose StatementEnd
REVOKE EXECUTE ON FUNCTION erase_deliveries(int) FROM PUBLIC;

-- As before, and: what statements and lookups say, of one operation; and with an event's body those of its deliveries.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION erase_bodies(op text, what text) RETURNS int LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    gone int := 0;
    n int;
    went text[];
BEGIN
    IF NOT EXISTS (SELECT 1 FROM erasures e WHERE e.operation_id = op AND e.kind = what) OR NOT EXISTS (
        SELECT 1 FROM operations o WHERE o.id = op AND o.state IN ('confirmed', 'rejected', 'cancelled', 'not_executed') AND o.remedy = '' AND NOT o.disputed
            AND NOT EXISTS (SELECT 1 FROM recovery_cases c WHERE c.operation_id = op AND c.closed_at IS NULL)) THEN
        RAISE EXCEPTION 'bodies stay until their operation is closed and nothing about it is open' USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'bodies_kept';
    END IF;
    IF what = 'attachments' THEN
        DELETE FROM attachment_bodies b USING attachments a WHERE a.id = b.attachment_id AND a.operation_id = op;
        GET DIAGNOSTICS gone = ROW_COUNT;
        RETURN gone;
    END IF;
    IF what = 'evidence' THEN
        UPDATE evidence v SET body = '', link = '' WHERE v.operation_id = op AND (v.body <> '' OR v.link <> '');
        GET DIAGNOSTICS gone = ROW_COUNT;
        RETURN gone;
    END IF;
    DELETE FROM version_bodies b USING content_versions v WHERE v.id = b.version_id AND v.operation_id = op;
    GET DIAGNOSTICS gone = ROW_COUNT;
    UPDATE attempts SET resolved = NULL WHERE operation_id = op AND resolved IS NOT NULL;
    GET DIAGNOSTICS n = ROW_COUNT;
    gone := gone + n;
    -- The event and the inputs serve all stages: they go with the last of them.
    WITH last AS (DELETE FROM event_bodies b WHERE b.event_id IN (SELECT er.event_id FROM event_runs er JOIN operations o ON o.run_id = er.run_id WHERE o.id = op)
        AND NOT EXISTS (SELECT 1 FROM event_runs er JOIN operations o ON o.run_id = er.run_id WHERE er.event_id = b.event_id
            AND NOT EXISTS (SELECT 1 FROM erasures e WHERE e.operation_id = o.id AND e.kind = 'contents')) RETURNING b.event_id)
    SELECT array_agg(event_id) INTO went FROM last;
    IF went IS NOT NULL THEN
        gone := gone + cardinality(went);
        UPDATE deliveries d SET body = NULL, erased_at = clock_timestamp() WHERE d.event_id = ANY(went) AND d.body IS NOT NULL
            AND NOT EXISTS (SELECT 1 FROM held_events h WHERE h.open AND d.event_id IN (h.event_id, h.twin_id));
        GET DIAGNOSTICS n = ROW_COUNT;
        gone := gone + n;
    END IF;
    UPDATE runs r SET inputs = '{}' FROM operations o WHERE o.id = op AND r.id = o.run_id AND r.inputs <> '{}' AND NOT EXISTS (
        SELECT 1 FROM operations x WHERE x.run_id = r.id AND NOT EXISTS (SELECT 1 FROM erasures e WHERE e.operation_id = x.id AND e.kind = 'contents'));
    RETURN gone;
END $$;
-- +goose StatementEnd

-- +goose Down
SELECT 'no way back: restore a backup' AS note;
