-- +goose Up
-- Signed checkpoints of the whole history, and what a restored backup leaves to reconcile.

-- The log: every entry of the history gets a position, once, without gaps, in the order in which checkpoints took it
-- up (docs/history-format.md). One row holds the positions first … first + count - 1.
CREATE TABLE checkpoint_leaves (
    first  bigint PRIMARY KEY CONSTRAINT checkpoint_leaves_first CHECK (first >= 0),
    count  int NOT NULL CONSTRAINT checkpoint_leaves_count CHECK (count BETWEEN 1 AND 4096),
    number bigint NOT NULL,                     -- the checkpoint that took them up
    ids    int8multirange NOT NULL,             -- the entries' numbers; positions follow them in ascending order
    hashes bytea NOT NULL,                      -- the entries' hashes, one after the other
    names  text NOT NULL,                       -- a line for each: kind, seq, identifier of its subject; signed by nobody
    CONSTRAINT checkpoint_leaves_whole CHECK (length(hashes) = 32 * count)
);
ALTER TABLE checkpoint_leaves ALTER COLUMN hashes SET STORAGE EXTERNAL; -- hashes do not compress
CREATE INDEX checkpoint_leaves_upper ON checkpoint_leaves (upper(ids));

CREATE TABLE checkpoints (
    number   bigint PRIMARY KEY CONSTRAINT checkpoints_number CHECK (number >= 1),
    line     bigint NOT NULL CONSTRAINT checkpoints_line CHECK (line >= 1),
    size     bigint NOT NULL CONSTRAINT checkpoints_size CHECK (size >= 1),
    root     bytea NOT NULL CONSTRAINT checkpoints_root CHECK (length(root) = 32),
    frontier bytea NOT NULL CONSTRAINT checkpoints_frontier CHECK (length(frontier) > 0 AND length(frontier) % 32 = 0),
    up_to    bigint NOT NULL,                   -- greatest number of an entry in it
    at       timestamptz NOT NULL,
    signer   text NOT NULL CONSTRAINT checkpoints_signer CHECK (signer <> ''), -- name and fingerprint of the key
    note     text NOT NULL CONSTRAINT checkpoints_note CHECK (note <> '')      -- as it stands in the file
);
ALTER TABLE checkpoint_leaves ADD CONSTRAINT checkpoint_leaves_of FOREIGN KEY (number) REFERENCES checkpoints DEFERRABLE INITIALLY DEFERRED;

CREATE TRIGGER checkpoint_leaves_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON checkpoint_leaves EXECUTE FUNCTION refuse_change();
CREATE TRIGGER checkpoints_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON checkpoints EXECUTE FUNCTION refuse_change();

-- Positions and numbers have no gaps, and nothing is taken up twice by two that work at once.
-- +goose StatementBegin
CREATE FUNCTION checkpoint_leaves_guard() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE next bigint;
BEGIN
    SELECT l.first + l.count INTO next FROM checkpoint_leaves l ORDER BY l.first DESC LIMIT 1;
    IF NEW.first <> COALESCE(next, 0) THEN
        RAISE EXCEPTION 'position % does not follow %', NEW.first, next USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'checkpoint_leaves_follow';
    END IF;
    RETURN NEW;
END $$;
CREATE FUNCTION checkpoints_guard() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE was checkpoints; ends bigint;
BEGIN
    SELECT * INTO was FROM checkpoints c ORDER BY c.number DESC LIMIT 1;
    SELECT l.first + l.count INTO ends FROM checkpoint_leaves l ORDER BY l.first DESC LIMIT 1;
    IF NEW.number <> COALESCE(was.number, 0) + 1 OR NEW.size <> ends OR NEW.size < COALESCE(was.size, 0) OR NEW.line < COALESCE(was.line, 1) OR NEW.up_to < COALESCE(was.up_to, 0) THEN
        RAISE EXCEPTION 'checkpoint % does not follow %', NEW.number, was.number USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'checkpoints_follow';
    END IF;
    RETURN NEW;
END $$;
-- +goose StatementEnd
CREATE TRIGGER checkpoint_leaves_follow BEFORE INSERT ON checkpoint_leaves FOR EACH ROW EXECUTE FUNCTION checkpoint_leaves_guard();
CREATE TRIGGER checkpoints_follow BEFORE INSERT ON checkpoints FOR EACH ROW EXECUTE FUNCTION checkpoints_guard();

-- How far the history is settled: below it, no entry can appear any more. One row; whoever holds its lock makes the
-- next checkpoint.
CREATE TABLE checkpoint_reading (
    one        boolean PRIMARY KEY DEFAULT true CONSTRAINT checkpoint_reading_one CHECK (one),
    settled    bigint NOT NULL DEFAULT 0,
    horizon    bigint NOT NULL DEFAULT 0,       -- settled, once the transactions that ran at horizon_at have ended
    horizon_x  text NOT NULL DEFAULT '0',
    horizon_at timestamptz,
    counted_at timestamptz,                     -- when all entries were last counted against the log
    missing    bigint NOT NULL DEFAULT 0        -- entries of the log that were not there at that count
);
INSERT INTO checkpoint_reading DEFAULT VALUES;

-- A restored or rolled-back database: found at a start, ended by an admin.
CREATE TABLE restores (
    id         text COLLATE "C" PRIMARY KEY CONSTRAINT restores_id_form CHECK (id LIKE 'rst\_%'),
    why        text NOT NULL CONSTRAINT restores_why CHECK (why <> ''),
    since      timestamptz NOT NULL,            -- what happened from then on may be missing
    until      timestamptz NOT NULL,            -- the newest thing known outside the database
    missing    bigint CONSTRAINT restores_missing CHECK (missing >= 0), -- so many entries may be missing; NULL = not known
    line       bigint NOT NULL CONSTRAINT restores_line CHECK (line >= 2), -- of the checkpoints that follow
    found_at   timestamptz NOT NULL,
    ended_at   timestamptz,
    ended_by   text COLLATE "C",
    reason     text,
    CONSTRAINT restores_ended CHECK ((ended_at IS NULL) = (ended_by IS NULL) AND (ended_at IS NULL) = (reason IS NULL) AND reason <> '')
);
CREATE UNIQUE INDEX restores_one_open ON restores ((true)) WHERE ended_at IS NULL;

-- What was open in the restored database: each may have gone on in what was lost.
CREATE TABLE restore_items (
    restore_id   text COLLATE "C" NOT NULL REFERENCES restores,
    operation_id text COLLATE "C" NOT NULL REFERENCES operations,
    state        text NOT NULL,                 -- at the restored point
    marked_at    timestamptz,                   -- its history says so, and a lookup is planned
    settled      text CONSTRAINT restore_items_settled CHECK (settled IN ('confirmed', 'not_executed', 'compared')),
    settled_at   timestamptz,
    settled_by   text COLLATE "C",
    reason       text NOT NULL DEFAULT '',
    CONSTRAINT restore_items_key PRIMARY KEY (restore_id, operation_id),
    CONSTRAINT restore_items_settling CHECK ((settled IS NULL) = (settled_at IS NULL) AND (settled IS NULL) = (settled_by IS NULL)),
    CONSTRAINT restore_items_reason CHECK (settled IS DISTINCT FROM 'compared' OR reason <> '')
);
CREATE INDEX restore_items_open ON restore_items (restore_id, operation_id) WHERE settled_at IS NULL;
CREATE INDEX restore_items_unmarked ON restore_items (restore_id, operation_id) WHERE marked_at IS NULL;
CREATE INDEX restore_items_operation ON restore_items (operation_id);

-- An ended restore and a settled item stay as they are.
-- +goose StatementBegin
CREATE FUNCTION restores_guard() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' OR NEW.id <> OLD.id OR OLD.ended_at IS NOT NULL THEN
        RAISE EXCEPTION 'a restore that is over does not change' USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'restores_kept';
    END IF;
    RETURN NEW;
END $$;
CREATE FUNCTION restore_items_guard() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' OR NEW.restore_id <> OLD.restore_id OR NEW.operation_id <> OLD.operation_id OR OLD.settled_at IS NOT NULL THEN
        RAISE EXCEPTION 'what is reconciled stays so' USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'restore_items_kept';
    END IF;
    RETURN NEW;
END $$;
-- +goose StatementEnd
CREATE TRIGGER restores_kept BEFORE UPDATE OR DELETE ON restores FOR EACH ROW EXECUTE FUNCTION restores_guard();
CREATE TRIGGER restore_items_kept BEFORE UPDATE OR DELETE ON restore_items FOR EACH ROW EXECUTE FUNCTION restore_items_guard();
CREATE TRIGGER restores_whole BEFORE TRUNCATE ON restores EXECUTE FUNCTION refuse_change();
CREATE TRIGGER restore_items_whole BEFORE TRUNCATE ON restore_items EXECUTE FUNCTION refuse_change();

-- +goose Down
SELECT 'no way back: restore a backup' AS note;
