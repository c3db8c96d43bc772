-- +goose Up
-- History: append-only, one hash chain per subject (docs/history-format.md).

CREATE TABLE history (
    id           bigint GENERATED ALWAYS AS IDENTITY,
    subject_kind text NOT NULL CONSTRAINT history_subject CHECK (subject_kind IN ('operation', 'run', 'flow', 'destination', 'user', 'system')),
    subject_id   text COLLATE "C" NOT NULL CONSTRAINT history_subject_present CHECK (subject_id <> ''),
    seq          bigint NOT NULL CONSTRAINT history_seq CHECK (seq >= 1),
    at           timestamptz NOT NULL,
    actor_kind   text NOT NULL CONSTRAINT history_actor CHECK (actor_kind IN ('person', 'token', 'job', 'system')),
    actor_id     text NOT NULL,
    actor_name   text NOT NULL,
    role         text NOT NULL,
    channel      text NOT NULL,
    action       text NOT NULL,
    from_state   text NOT NULL,
    to_state     text NOT NULL,
    reason       text NOT NULL,
    links        text NOT NULL,       -- JSON object of identifiers
    version_id   text NOT NULL,
    evidence_hash text NOT NULL,
    prev_hash    bytea NOT NULL,
    hash         bytea NOT NULL,
    PRIMARY KEY (subject_kind, subject_id, seq)
);
CREATE INDEX history_newest ON history (id DESC);

-- The moves of the state machine: operation.MovePairs lists the same pairs, docs/state-machine.md
-- draws them, and a test holds the three together.
-- +goose StatementBegin
CREATE FUNCTION is_move(from_state text, to_state text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN
    RETURN from_state = to_state OR (from_state || '>' || to_state) = ANY (ARRAY[
            '>draft', '>pending_approval', '>review', 'draft>pending_approval', 'pending_approval>draft', 'waiting>draft', 'ready>draft',
            'retry_scheduled>draft', 'pending_approval>rejected', 'pending_approval>waiting', 'pending_approval>ready', 'waiting>ready',
            'ready>waiting', 'retry_scheduled>waiting', 'waiting>pending_approval', 'ready>pending_approval', 'retry_scheduled>pending_approval',
            'draft>cancelled', 'pending_approval>cancelled', 'waiting>cancelled', 'ready>cancelled', 'retry_scheduled>cancelled',
            'in_progress>cancelled', 'ready>in_progress', 'retry_scheduled>in_progress', 'unknown>in_progress', 'in_progress>retry_scheduled',
            'in_progress>review', 'retry_scheduled>review', 'in_progress>unknown', 'draft>confirmed', 'pending_approval>confirmed',
            'waiting>confirmed', 'ready>confirmed', 'retry_scheduled>confirmed', 'in_progress>confirmed', 'unknown>confirmed', 'review>confirmed',
            'reexecution_requested>confirmed', 'unknown>review', 'review>reexecution_requested', 'reexecution_requested>ready',
            'reexecution_requested>review', 'ready>review', 'review>draft', 'review>ready', 'review>not_executed', 'confirmed>review',
            'rejected>review', 'cancelled>review', 'not_executed>review']);
END $$;
-- +goose StatementEnd
ALTER TABLE history ADD CONSTRAINT history_move CHECK (subject_kind <> 'operation' OR is_move(from_state, to_state));

-- +goose StatementBegin
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = TG_TABLE_NAME || '_append_only';
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
DO $$
DECLARE t text;
BEGIN
    FOREACH t IN ARRAY ARRAY['history', 'evidence', 'approvals', 'clearances', 'clearance_approvals', 'content_versions', 'submissions',
        'checklist_answers', 'flow_versions', 'destination_versions', 'events', 'stage_waivers', 'target_references'] LOOP
        EXECUTE format('CREATE TRIGGER %I BEFORE UPDATE OR DELETE OR TRUNCATE ON %I EXECUTE FUNCTION refuse_change()', t || '_append_only', t);
    END LOOP;
END $$;
-- +goose StatementEnd

-- An attempt's identity and what it sent never change; an outcome is written once.
-- +goose StatementBegin
CREATE FUNCTION attempts_guard() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' OR NEW.id <> OLD.id OR NEW.operation_id <> OLD.operation_id OR NEW.version_id <> OLD.version_id
       OR NEW.clearance_id <> OLD.clearance_id OR NEW.fence <> OLD.fence OR NEW.key <> OLD.key
       OR (OLD.dispatched_at IS NOT NULL AND (NEW.dispatched_at IS DISTINCT FROM OLD.dispatched_at OR NEW.resolved_hash IS DISTINCT FROM OLD.resolved_hash))
       OR (OLD.outcome IS NOT NULL AND NEW.outcome IS DISTINCT FROM OLD.outcome)
       OR (OLD.settled = 'confirmed' AND NEW.settled IS DISTINCT FROM OLD.settled AND NEW.settled IS DISTINCT FROM 'duplicate') THEN
        RAISE EXCEPTION 'an attempt''s facts do not change' USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'attempts_facts';
    END IF;
    RETURN NEW;
END $$;
-- +goose StatementEnd
CREATE TRIGGER attempts_facts BEFORE UPDATE OR DELETE ON attempts FOR EACH ROW EXECUTE FUNCTION attempts_guard();

-- +goose Down
SELECT 'no way back: restore a backup' AS note;
