-- +goose Up
-- Lists from which batches are made. A list is kept in slices while it is looked at; nothing is
-- made of it before somebody says so, and then all of it at once. Afterwards the slices go.

CREATE TABLE list_files (
    id         text COLLATE "C" PRIMARY KEY CONSTRAINT list_files_id_form CHECK (id LIKE 'lst\_%'),
    flow       text COLLATE "C" NOT NULL CONSTRAINT list_files_flow CHECK (flow <> ''),
    stage      text NOT NULL CONSTRAINT list_files_stage CHECK (stage <> ''),
    batch_id   text COLLATE "C" REFERENCES batches,  -- the batch whose list it is to replace; NULL = a new one
    actor_kind text NOT NULL CONSTRAINT list_files_actor CHECK (actor_kind IN ('person', 'token')),
    actor_id   text COLLATE "C" NOT NULL,
    form_id    text NOT NULL CONSTRAINT list_files_form_present CHECK (form_id <> ''), -- of a token: its idempotency key
    name       text NOT NULL DEFAULT '',
    kind       text NOT NULL CONSTRAINT list_files_kind CHECK (kind IN ('', 'csv', 'json', 'jsonl', 'request')),
    file_hash  bytea CONSTRAINT list_files_hash CHECK (length(file_hash) = 32), -- NULL = not all of it has come
    size       bigint NOT NULL DEFAULT 0 CONSTRAINT list_files_size CHECK (size BETWEEN 0 AND 67108864),
    encoding   text NOT NULL DEFAULT '',
    separator  text NOT NULL DEFAULT '',
    columns    text NOT NULL DEFAULT '{}',           -- JSON: field of an entry → number of its column, from 1
    inputs     text NOT NULL DEFAULT '{}',           -- JSON: the other inputs, as typed
    shared     text NOT NULL DEFAULT '{}',           -- JSON: shared text by its place
    judged     text NOT NULL DEFAULT '',             -- JSON: what the last look found; '' = none yet
    rev        int NOT NULL DEFAULT 1,
    made       text COLLATE "C" REFERENCES batches,  -- the batch that came of it
    created_at timestamptz NOT NULL,
    ended_at   timestamptz,                          -- made, or dropped: the slices are gone
    CONSTRAINT list_files_made CHECK (made IS NULL OR ended_at IS NOT NULL AND file_hash IS NOT NULL)
);
-- The same form brings one list; one that broke off on the way, or was dropped, is none.
CREATE UNIQUE INDEX list_files_once ON list_files (actor_id, form_id) WHERE file_hash IS NOT NULL AND (ended_at IS NULL OR made IS NOT NULL);
CREATE INDEX list_files_waiting ON list_files (created_at) WHERE ended_at IS NULL;
CREATE INDEX list_files_flow_newest ON list_files (flow, created_at DESC, id DESC);
CREATE INDEX list_files_same ON list_files (flow, file_hash) WHERE made IS NOT NULL;

CREATE TABLE list_slices (
    list_id    text COLLATE "C" NOT NULL REFERENCES list_files,
    no         int NOT NULL CONSTRAINT list_slices_no CHECK (no >= 0),
    data       bytea NOT NULL CONSTRAINT list_slices_size CHECK (length(data) BETWEEN 1 AND 1048576),
    PRIMARY KEY (list_id, no)
);

-- What came stays as it came, and what has ended stays as it ended.
-- +goose StatementBegin
CREATE FUNCTION list_files_guard() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF TG_OP = 'DELETE' OR OLD.ended_at IS NOT NULL OR NEW.id <> OLD.id OR NEW.flow <> OLD.flow OR NEW.stage <> OLD.stage
       OR NEW.batch_id IS DISTINCT FROM OLD.batch_id OR NEW.actor_id <> OLD.actor_id OR NEW.form_id <> OLD.form_id
       OR OLD.file_hash IS NOT NULL AND (NEW.file_hash IS DISTINCT FROM OLD.file_hash OR NEW.size <> OLD.size) THEN
        RAISE EXCEPTION 'a list that has come does not change' USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'list_files_facts';
    END IF;
    RETURN NEW;
END $$;
-- +goose StatementEnd
CREATE TRIGGER list_files_facts BEFORE UPDATE OR DELETE ON list_files FOR EACH ROW EXECUTE FUNCTION list_files_guard();
-- +goose StatementBegin
CREATE FUNCTION list_slices_guard() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    RAISE EXCEPTION 'a slice of a list does not change' USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'list_slices_facts';
END $$;
-- +goose StatementEnd
CREATE TRIGGER list_slices_facts BEFORE UPDATE ON list_slices FOR EACH ROW EXECUTE FUNCTION list_slices_guard();

-- Scopes of their own: hand lists in, watch, pause and stop batches; keep the suppression list. No scope decides.
ALTER TABLE api_tokens DROP CONSTRAINT api_tokens_scopes;
ALTER TABLE api_tokens ADD CONSTRAINT api_tokens_scopes CHECK (scopes <@ ARRAY['events', 'operations', 'claims', 'callbacks', 'read', 'batches', 'suppressions']);

-- +goose Down
SELECT 'no way back: restore a backup' AS note;
