-- +goose Up
-- Batches that were open in a restored database: rows of them may have gone out in what was
-- lost, of which no operation is known here. Each is compared by a person before sends go on.
CREATE TABLE restore_batches (
    restore_id text COLLATE "C" NOT NULL REFERENCES restores,
    batch_id   text COLLATE "C" NOT NULL REFERENCES batches,
    state      text NOT NULL,                   -- at the restored point
    settled    text CONSTRAINT restore_batches_settled CHECK (settled IN ('over', 'compared')), -- over: nothing more of it can go out
    settled_at timestamptz,
    settled_by text COLLATE "C",
    reason     text NOT NULL DEFAULT '',
    CONSTRAINT restore_batches_key PRIMARY KEY (restore_id, batch_id),
    CONSTRAINT restore_batches_settling CHECK ((settled IS NULL) = (settled_at IS NULL) AND (settled IS NULL) = (settled_by IS NULL)),
    CONSTRAINT restore_batches_reason CHECK (settled IS DISTINCT FROM 'compared' OR reason <> '')
);
CREATE INDEX restore_batches_batch ON restore_batches (batch_id);

-- +goose StatementBegin
CREATE FUNCTION restore_batches_guard() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' OR NEW.restore_id <> OLD.restore_id OR NEW.batch_id <> OLD.batch_id OR OLD.settled_at IS NOT NULL THEN
        RAISE EXCEPTION 'what is reconciled stays so' USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'restore_batches_kept';
    END IF;
    RETURN NEW;
END $$;
-- +goose StatementEnd
CREATE TRIGGER restore_batches_kept BEFORE UPDATE OR DELETE ON restore_batches FOR EACH ROW EXECUTE FUNCTION restore_batches_guard();
CREATE TRIGGER restore_batches_whole BEFORE TRUNCATE ON restore_batches EXECUTE FUNCTION refuse_change();

-- A restore that goes on while the program is exchanged.
INSERT INTO restore_batches (restore_id, batch_id, state)
    SELECT r.id, b.id, b.state FROM restores r CROSS JOIN batches b
    WHERE r.ended_at IS NULL AND r.why IN ('witness_older', 'witness_checkpoint') AND b.state NOT IN ('closed', 'rejected', 'cancelled') AND b.stopped_at IS NULL;

-- +goose Down
SELECT 'no way back: restore a backup' AS note;
