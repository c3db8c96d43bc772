-- +goose Up
-- Sources: several notifications in one POST, which secret fitted, silence, and runs that people start.

-- One POST may bring several notifications: each is a delivery of its own, with its place in the POST (from 1).
ALTER TABLE deliveries ADD COLUMN post_id text COLLATE "C" NOT NULL DEFAULT '', ADD COLUMN item int NOT NULL DEFAULT 0,
    ADD CONSTRAINT deliveries_item CHECK (item >= 0 AND (item = 0) = (post_id = ''));
CREATE INDEX deliveries_post ON deliveries (post_id, item) WHERE post_id <> '';

-- When a valid signature last fitted a secret, by the reference that names it in the source's file. Neither the
-- secret nor anything made from it is here. To the minute: no delivery waits for another because of it.
CREATE TABLE source_secret_uses (
    source    text NOT NULL CONSTRAINT source_secret_uses_source CHECK (source <> ''),
    reference text NOT NULL CONSTRAINT source_secret_uses_reference CHECK (reference ~ '^(env|file):.'),
    last_at   timestamptz NOT NULL,
    PRIMARY KEY (source, reference)
);

-- A source that was silent for longer than its file says, and the task that asks somebody to look.
CREATE TABLE source_silences (
    source    text NOT NULL CONSTRAINT source_silences_source CHECK (source <> ''),
    since     timestamptz NOT NULL,         -- its last notification, or when it was applied
    task_id   text COLLATE "C" NOT NULL REFERENCES improvement_tasks,
    opened_at timestamptz NOT NULL,
    ended_at  timestamptz CONSTRAINT source_silences_order CHECK (ended_at >= opened_at),
    PRIMARY KEY (source, since)
);
CREATE UNIQUE INDEX source_silences_open ON source_silences (source) WHERE ended_at IS NULL;

-- A table from which a person starts runs of one flow. The file itself is kept only until the last row is done.
CREATE TABLE starts (
    id         text COLLATE "C" PRIMARY KEY,
    source     text NOT NULL CONSTRAINT starts_source CHECK (source <> ''),
    flow       text COLLATE "C" NOT NULL CONSTRAINT starts_flow CHECK (flow <> ''),
    user_id    text COLLATE "C" NOT NULL REFERENCES users,
    form_id    text NOT NULL CONSTRAINT starts_form_present CHECK (form_id <> ''),
    name       text NOT NULL,
    file_hash  bytea NOT NULL CONSTRAINT starts_hash CHECK (length(file_hash) = 32),
    encoding   text NOT NULL CONSTRAINT starts_encoding CHECK (encoding IN ('utf-8', 'utf-16le', 'utf-16be', 'windows-1252')),
    separator  text NOT NULL CONSTRAINT starts_separator CHECK (separator IN (',', ';', E'\t', '|')),
    columns    text NOT NULL DEFAULT '{}',       -- JSON: input → number of its column, from 1
    key_column int NOT NULL DEFAULT 0 CONSTRAINT starts_key_column CHECK (key_column >= 0), -- 0 = file and row
    rows       int NOT NULL CONSTRAINT starts_rows CHECK (rows BETWEEN 0 AND 1000),
    rev        int NOT NULL DEFAULT 1,
    body       bytea CONSTRAINT starts_size CHECK (length(body) BETWEEN 1 AND 2097152),
    created_at timestamptz NOT NULL,
    begun_at   timestamptz,
    ended_at   timestamptz,                      -- the last row is done, or it was dropped
    CONSTRAINT starts_once UNIQUE (user_id, form_id),
    CONSTRAINT starts_kept CHECK ((body IS NULL) = (ended_at IS NOT NULL))
);
CREATE INDEX starts_flow_newest ON starts (flow, created_at DESC, id DESC);
CREATE INDEX starts_going ON starts (begun_at) WHERE begun_at IS NOT NULL AND ended_at IS NULL;
CREATE INDEX starts_waiting ON starts (created_at) WHERE begun_at IS NULL AND ended_at IS NULL;

-- Begun with one mapping, ended once, never changed after that.
-- +goose StatementBegin
CREATE FUNCTION starts_guard() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' OR NEW.id <> OLD.id OR NEW.source <> OLD.source OR NEW.flow <> OLD.flow OR NEW.user_id <> OLD.user_id OR NEW.form_id <> OLD.form_id
       OR NEW.file_hash <> OLD.file_hash OR OLD.ended_at IS NOT NULL
       OR OLD.begun_at IS NOT NULL AND (NEW.begun_at IS DISTINCT FROM OLD.begun_at OR NEW.columns <> OLD.columns OR NEW.key_column <> OLD.key_column
          OR NEW.encoding <> OLD.encoding OR NEW.separator <> OLD.separator OR NEW.rows <> OLD.rows)
       OR NEW.body IS NOT NULL AND NEW.body IS DISTINCT FROM OLD.body THEN
        RAISE EXCEPTION 'what was begun does not change' USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'starts_facts';
    END IF;
    RETURN NEW;
END $$;
-- +goose StatementEnd
CREATE TRIGGER starts_facts BEFORE UPDATE OR DELETE ON starts FOR EACH ROW EXECUTE FUNCTION starts_guard();

-- What became of each row. A row is judged once.
CREATE TABLE start_rows (
    start_id text COLLATE "C" NOT NULL REFERENCES starts,
    row      int NOT NULL CONSTRAINT start_rows_row CHECK (row > 0),
    result   text NOT NULL CONSTRAINT start_rows_result CHECK (result IN ('started', 'known', 'conflict', 'held', 'refused')),
    reason   text NOT NULL DEFAULT '',
    fields   text NOT NULL DEFAULT '',           -- the inputs that do not fit, never what was in them
    run_id   text COLLATE "C" NOT NULL DEFAULT '',
    at       timestamptz NOT NULL,
    PRIMARY KEY (start_id, row),
    CONSTRAINT start_rows_run CHECK (result <> 'started' OR run_id <> '')
);
CREATE TRIGGER start_rows_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON start_rows EXECUTE FUNCTION refuse_change();

-- The places of a file whose row has begun something: the same file never begins one of them again, however its
-- columns are read the next time.
CREATE TABLE start_places (
    flow      text COLLATE "C" NOT NULL,
    file_hash bytea NOT NULL CONSTRAINT start_places_hash CHECK (length(file_hash) = 32),
    row       int NOT NULL,
    run_id    text COLLATE "C" NOT NULL DEFAULT '',   -- '' = a person decides first whether it is a duplicate
    CONSTRAINT start_places_once PRIMARY KEY (flow, file_hash, row)
);
CREATE TRIGGER start_places_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON start_places EXECUTE FUNCTION refuse_change();

-- +goose Down
SELECT 'no way back: restore a backup' AS note;
