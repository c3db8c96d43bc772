-- +goose Up
-- A term for the history. Entries stay for ever, with their number, time, action, states and hashes; what they say about
-- people and in their words can go. An entry of format 2 (docs/history-format.md) has a salted hash of its words within
-- its own hash, so that it verifies without them. Entries of format 1 have none and keep everything.

ALTER TABLE history ADD COLUMN words_hash bytea;                          -- of actor, name, reason and those links; NULL = format 1
ALTER TABLE history ADD COLUMN words_salt bytea;                          -- goes with the words
ALTER TABLE history ADD COLUMN words_links text NOT NULL DEFAULT '';      -- names of the links that are words, with commas between
ALTER TABLE history ADD COLUMN words_gone_at timestamptz;                 -- when they went: history_thinnings.at
ALTER TABLE history ADD CONSTRAINT history_words CHECK (CASE
    WHEN words_hash IS NULL THEN words_salt IS NULL AND words_gone_at IS NULL AND words_links = ''
    WHEN words_gone_at IS NULL THEN words_salt IS NOT NULL AND length(words_hash) = 32 AND length(words_salt) = 16
    ELSE words_salt IS NULL AND length(words_hash) = 32 AND words_links = '' AND actor_id = '' AND actor_name = '' AND reason = '' END);

ALTER TABLE retention_settings DROP CONSTRAINT retention_settings_kind;
ALTER TABLE retention_settings ADD CONSTRAINT retention_settings_kind CHECK (kind IN ('contents', 'attachments', 'evidence', 'deliveries', 'history'));
ALTER TABLE retention_settings ADD CONSTRAINT retention_settings_history CHECK (kind <> 'history' OR days >= 365);
-- How far the history was walked: each entry is passed once, when it is older than the term.
ALTER TABLE retention_settings ADD COLUMN walked_at timestamptz NOT NULL DEFAULT '-infinity';
ALTER TABLE retention_settings ADD COLUMN walked_id bigint NOT NULL DEFAULT 0;
-- How many entries there are of format 1. No more are written.
ALTER TABLE retention_settings ADD COLUMN first_format bigint NOT NULL DEFAULT 0;
INSERT INTO retention_settings (kind, first_format) SELECT 'history', count(*) FROM history;

-- One removal of words, of these entries. The history of the system has an entry of the same time that names them too.
CREATE TABLE history_thinnings (
    at     timestamptz PRIMARY KEY,
    days   int NOT NULL CONSTRAINT history_thinnings_days CHECK (days >= 365),
    count  bigint NOT NULL CONSTRAINT history_thinnings_count CHECK (count >= 1),
    oldest timestamptz NOT NULL,
    newest timestamptz NOT NULL,
    ids    int8multirange NOT NULL,
    CONSTRAINT history_thinnings_term CHECK (oldest <= newest AND newest < at - make_interval(hours => 24 * days))
);
CREATE TRIGGER history_thinnings_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON history_thinnings EXECUTE FUNCTION refuse_change();

-- Subjects whose entries the walk has passed while they were not to go yet: looked at again from that time on.
CREATE TABLE history_waits (
    subject_kind text NOT NULL,
    subject_id   text COLLATE "C" NOT NULL,
    again_at     timestamptz NOT NULL,
    PRIMARY KEY (subject_kind, subject_id)
);
CREATE INDEX history_waits_again ON history_waits (again_at);

-- The words of an entry go, all at once, with a removal that names it; nothing else of an entry can change.
-- +goose StatementBegin
CREATE FUNCTION history_guard() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE was record := OLD;
BEGIN
    was.actor_id := '';
    was.actor_name := '';
    was.reason := '';
    was.links := NEW.links;
    was.words_salt := NULL;
    was.words_links := '';
    was.words_gone_at := NEW.words_gone_at;
    was.kind := NEW.kind; -- generated: it is not computed yet
    IF NEW IS DISTINCT FROM was OR OLD.words_salt IS NULL OR NEW.words_gone_at IS NULL
       OR CAST(NEW.links AS jsonb) IS DISTINCT FROM CAST(OLD.links AS jsonb) - string_to_array(OLD.words_links, ',')
       OR NOT EXISTS (SELECT 1 FROM history_thinnings t WHERE t.at = NEW.words_gone_at AND t.ids @> OLD.id AND OLD.at <= t.newest) THEN
        RAISE EXCEPTION 'history is append-only: words of an entry go under a recorded term' USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'history_append_only';
    END IF;
    RETURN NEW;
END $$;
-- +goose StatementEnd
DROP TRIGGER history_append_only ON history;
CREATE TRIGGER history_append_only BEFORE DELETE OR TRUNCATE ON history EXECUTE FUNCTION refuse_change();
CREATE TRIGGER history_kept BEFORE UPDATE ON history FOR EACH ROW EXECUTE FUNCTION history_guard();

-- An operation that is closed, with nothing open about it.
-- +goose StatementBegin
CREATE FUNCTION is_quiet(o operations) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN o.state IN ('confirmed', 'rejected', 'cancelled', 'not_executed') AND o.remedy = '' AND NOT o.disputed AND o.unsettled = 0
        AND NOT EXISTS (SELECT 1 FROM recovery_cases c WHERE c.operation_id = o.id AND c.closed_at IS NULL)
        AND NOT EXISTS (SELECT 1 FROM incident_operations io JOIN incidents i ON i.id = io.incident_id WHERE io.operation_id = o.id AND i.state = 'open')
        AND NOT EXISTS (SELECT 1 FROM restore_items r WHERE r.operation_id = o.id AND r.settled_at IS NULL);
END $$;
-- +goose StatementEnd
-- When an operation was last touched; an erasure is no touch.
-- +goose StatementBegin
CREATE FUNCTION touched_at(o operations) RETURNS timestamptz LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN COALESCE((SELECT min(e.since) FROM erasures e WHERE e.operation_id = o.id AND e.at = o.updated_at), o.updated_at);
END $$;
-- +goose StatementEnd

-- Says of subjects whether the words of their entries from before that time may go at now_at: closed, nothing open about
-- them, and last touched before it (an erasure is no touch). again NULL = they may; otherwise when to look again. Subjects
-- that never close are not among the rows.
-- +goose StatementBegin
CREATE FUNCTION history_due(kinds text[], ids text[], before timestamptz, now_at timestamptz) RETURNS TABLE (kind text, id text, again timestamptz) LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN QUERY SELECT s.kind, s.id, CASE WHEN NOT x.closed THEN now_at + interval '1 day' WHEN x.touched < before THEN NULL ELSE x.touched + (now_at - before) END
    FROM unnest(kinds, ids) AS s(kind, id) CROSS JOIN LATERAL (
        SELECT is_quiet(o) AS closed, touched_at(o) AS touched FROM operations o WHERE s.kind = 'operation' AND o.id = s.id
        UNION ALL
        SELECT r.state IN ('completed', 'stopped') AND NOT r.held AND NOT EXISTS (SELECT 1 FROM operations o WHERE o.run_id = r.id AND NOT is_quiet(o)),
            COALESCE((SELECT max(touched_at(o)) FROM operations o WHERE o.run_id = r.id), r.created_at)
        FROM runs r WHERE s.kind = 'run' AND r.id = s.id
        UNION ALL
        SELECT i.state = 'signed', i.updated_at FROM incidents i WHERE s.kind = 'incident' AND i.id = s.id
        UNION ALL
        SELECT t.state <> 'open', t.updated_at FROM improvement_tasks t WHERE s.kind = 'task' AND t.id = s.id
        UNION ALL
        SELECT b.closed_at IS NOT NULL, b.updated_at FROM batches b WHERE s.kind = 'batch' AND b.id = s.id) x;
END $$;
-- +goose StatementEnd

-- The links without those that are named, written as the product writes them: in order, and without blanks, since
-- entries are searched by pieces of that text.
-- +goose StatementBegin
CREATE FUNCTION links_without(links text, names text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    RETURN '{' || COALESCE((SELECT string_agg(CAST(to_json(l.key) AS text) || ':' || CAST(to_json(l.value) AS text), ',' ORDER BY l.key COLLATE "C")
        FROM jsonb_each_text(CAST(links AS jsonb)) l WHERE l.key <> ALL (string_to_array(names, ','))), '') || '}';
END $$;
-- +goose StatementEnd

-- Removes words under the stored term, as the tables' owner: it walks so many entries further, looks again at subjects that
-- waited, and takes the words of all entries, older than the term, of the subjects that are due. Without a term it does nothing.
-- +goose StatementBegin
CREATE FUNCTION thin_history(most int) RETURNS TABLE (thinned bigint, walked bigint, term int, done_at timestamptz, oldest timestamptz, newest timestamptz, which text)
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    mark_at timestamptz;
    mark_id bigint;
    before timestamptz;
    seen_kinds text[];
    seen_ids text[];
    due_kinds text[];
    due_ids text[];
    entries int8multirange;
    n bigint;
BEGIN
    thinned := 0;
    walked := 0;
    SELECT r.days, r.walked_at, r.walked_id INTO term, mark_at, mark_id FROM retention_settings r WHERE r.kind = 'history' FOR UPDATE;
    IF term IS NULL OR most NOT BETWEEN 1 AND 10000 THEN
        RETURN NEXT;
        RETURN;
    END IF;
    done_at := clock_timestamp();
    before := done_at - make_interval(hours => 24 * term);

    WITH w AS MATERIALIZED (SELECT h.at, h.id, h.subject_kind, h.subject_id, h.words_salt FROM history h
            WHERE h.at >= mark_at AND (h.at, h.id) > (mark_at, mark_id) AND h.at < before ORDER BY h.at, h.id LIMIT most),
        s AS (SELECT x.subject_kind, x.subject_id FROM w x WHERE x.words_salt IS NOT NULL
            UNION SELECT * FROM (SELECT x.subject_kind, x.subject_id FROM history_waits x WHERE x.again_at <= done_at ORDER BY x.again_at LIMIT most / 4 + 1) y)
    SELECT (SELECT count(*) FROM w), array_agg(s.subject_kind ORDER BY s.subject_id), array_agg(s.subject_id ORDER BY s.subject_id) INTO walked, seen_kinds, seen_ids FROM s;
    IF walked > 0 THEN
        UPDATE retention_settings r SET (walked_at, walked_id) = (SELECT x.at, x.id FROM (SELECT h.at, h.id FROM history h
            WHERE h.at >= mark_at AND (h.at, h.id) > (mark_at, mark_id) AND h.at < before ORDER BY h.at, h.id LIMIT most) x ORDER BY x.at DESC, x.id DESC LIMIT 1) WHERE r.kind = 'history';
    END IF;
    IF seen_ids IS NULL THEN
        RETURN NEXT;
        RETURN;
    END IF;

    -- Runs before operations, each in order, as decisions lock them: what is being reopened is seen as it will be.
    PERFORM 1 FROM runs r WHERE r.id IN (SELECT s.id FROM unnest(seen_kinds, seen_ids) AS s(kind, id) WHERE s.kind = 'run') ORDER BY r.id FOR SHARE;
    PERFORM 1 FROM operations o WHERE o.id IN (SELECT s.id FROM unnest(seen_kinds, seen_ids) AS s(kind, id) WHERE s.kind = 'operation') ORDER BY o.id FOR SHARE;
    WITH d AS MATERIALIZED (SELECT * FROM history_due(seen_kinds, seen_ids, before, done_at)),
        later AS (INSERT INTO history_waits AS x (subject_kind, subject_id, again_at) SELECT d.kind, d.id, d.again FROM d WHERE d.again IS NOT NULL
            ON CONFLICT (subject_kind, subject_id) DO UPDATE SET again_at = EXCLUDED.again_at),
        over AS (DELETE FROM history_waits x USING d WHERE d.again IS NULL AND x.subject_kind = d.kind AND x.subject_id = d.id)
    SELECT array_agg(d.kind), array_agg(d.id) INTO due_kinds, due_ids FROM d WHERE d.again IS NULL;
    IF due_ids IS NULL THEN
        RETURN NEXT;
        RETURN;
    END IF;

    SELECT count(*), min(h.at), max(h.at), range_agg(int8range(h.id, h.id, '[]')) INTO thinned, oldest, newest, entries
        FROM unnest(due_kinds, due_ids) AS s(kind, id) JOIN history h ON h.subject_kind = s.kind AND h.subject_id = s.id
        WHERE h.at < before AND h.words_salt IS NOT NULL;
    IF thinned > 0 THEN
        INSERT INTO history_thinnings (at, days, count, oldest, newest, ids) VALUES (done_at, term, thinned, oldest, newest, entries);
        UPDATE history h SET actor_id = '', actor_name = '', reason = '', links = links_without(h.links, h.words_links),
                words_salt = NULL, words_links = '', words_gone_at = done_at
            FROM unnest(due_kinds, due_ids) AS s(kind, id) WHERE h.subject_kind = s.kind AND h.subject_id = s.id AND h.at < before AND h.words_salt IS NOT NULL;
        GET DIAGNOSTICS n = ROW_COUNT;
        IF n <> thinned THEN
            RAISE EXCEPTION 'other entries than those that were counted' USING ERRCODE = 'serialization_failure';
        END IF;
        which := CAST(entries AS text);
    END IF;
    RETURN NEXT;
END $$;
-- +goose StatementEnd
REVOKE EXECUTE ON FUNCTION thin_history(int) FROM PUBLIC;

-- +goose Down
SELECT 'no way back: restore a backup' AS note;
