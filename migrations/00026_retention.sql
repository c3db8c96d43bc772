-- +goose Up
-- How long contents and attachments are kept, and what was erased. Facts, hashes, decisions, keys and the history stay.

CREATE TABLE retention_settings (
    kind       text PRIMARY KEY CONSTRAINT retention_settings_kind CHECK (kind IN ('contents', 'attachments')),
    days       int CONSTRAINT retention_settings_days CHECK (days BETWEEN 30 AND 36500), -- after an operation was closed; NULL = for ever
    changed_by text COLLATE "C" REFERENCES users,
    changed_at timestamptz
);
INSERT INTO retention_settings (kind) VALUES ('contents'), ('attachments');

CREATE TABLE erasures (
    id           text COLLATE "C" PRIMARY KEY CONSTRAINT erasures_id_form CHECK (id LIKE 'era\_%'),
    operation_id text COLLATE "C" NOT NULL REFERENCES operations,
    kind         text NOT NULL CONSTRAINT erasures_kind CHECK (kind IN ('contents', 'attachments')),
    actor_kind   text NOT NULL CONSTRAINT erasures_actor CHECK (actor_kind IN ('person', 'system')),
    actor_id     text NOT NULL,
    reason       text NOT NULL CONSTRAINT erasures_reason CHECK (reason <> ''),
    days         int,                                    -- of the rule; NULL = a person asked for it
    at           timestamptz NOT NULL,
    since        timestamptz NOT NULL,                   -- when the operation was last touched before
    CONSTRAINT erasures_once UNIQUE (operation_id, kind)
);
CREATE TRIGGER erasures_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON erasures EXECUTE FUNCTION refuse_change();

-- What a rule looks at: closed operations, oldest first.
CREATE INDEX operations_closed_updated ON operations (updated_at) WHERE state IN ('confirmed', 'rejected', 'cancelled', 'not_executed');

-- The only way by which the application role takes bodies away: it holds no right to change or delete them. It works on
-- one closed operation with nothing open, for which an erasure has been written.
-- +goose StatementBegin
CREATE FUNCTION erase_bodies(op text, what text) RETURNS int LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE gone int := 0; n int;
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
    DELETE FROM version_bodies b USING content_versions v WHERE v.id = b.version_id AND v.operation_id = op;
    GET DIAGNOSTICS gone = ROW_COUNT;
    UPDATE attempts SET resolved = NULL WHERE operation_id = op AND resolved IS NOT NULL;
    GET DIAGNOSTICS n = ROW_COUNT;
    gone := gone + n;
    -- The event and the inputs serve all stages: they go with the last of them.
    DELETE FROM event_bodies b WHERE b.event_id IN (SELECT er.event_id FROM event_runs er JOIN operations o ON o.run_id = er.run_id WHERE o.id = op)
        AND NOT EXISTS (SELECT 1 FROM event_runs er JOIN operations o ON o.run_id = er.run_id WHERE er.event_id = b.event_id
            AND NOT EXISTS (SELECT 1 FROM erasures e WHERE e.operation_id = o.id AND e.kind = 'contents'));
    GET DIAGNOSTICS n = ROW_COUNT;
    gone := gone + n;
    UPDATE runs r SET inputs = '{}' FROM operations o WHERE o.id = op AND r.id = o.run_id AND r.inputs <> '{}' AND NOT EXISTS (
        SELECT 1 FROM operations x WHERE x.run_id = r.id AND NOT EXISTS (SELECT 1 FROM erasures e WHERE e.operation_id = x.id AND e.kind = 'contents'));
    RETURN gone;
END $$;
-- +goose StatementEnd

-- +goose Down
SELECT 'no way back: restore a backup' AS note;
