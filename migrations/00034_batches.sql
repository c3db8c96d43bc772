-- +goose Up
-- Batches: a fanned-out stage of a run. Its items are frozen in numbered versions, one decision
-- covers a whole version by its hash, and each item becomes an operation when it is released.

CREATE TABLE batches (
    id           text COLLATE "C" PRIMARY KEY CONSTRAINT batches_id_form CHECK (id LIKE 'bat\_%'),
    run_id       text COLLATE "C" NOT NULL REFERENCES runs,
    flow         text COLLATE "C" NOT NULL,
    flow_version int NOT NULL,
    stage        text NOT NULL CONSTRAINT batches_stage CHECK (stage <> ''),
    stage_no     int NOT NULL,
    stages       int NOT NULL,
    destination  text COLLATE "C" NOT NULL REFERENCES destinations,
    action       text NOT NULL,
    effect_type  text NOT NULL,
    account      text NOT NULL,
    environment  text NOT NULL,
    source       text NOT NULL DEFAULT '',
    title        text NOT NULL DEFAULT '',
    state        text NOT NULL CONSTRAINT batches_state CHECK (state IN ('draft', 'pending_approval', 'canary', 'canary_review', 'running', 'closed', 'rejected', 'cancelled')),
    revision     bigint NOT NULL DEFAULT 1,
    number       int NOT NULL,                     -- the current version
    total        int NOT NULL,                     -- items of the current version
    included     int NOT NULL,                     -- of them to be sent
    cleared      int NOT NULL DEFAULT 0,           -- up to which position the clearances reach
    released     int NOT NULL DEFAULT 0,           -- up to which position items have become operations
    clearance_id text COLLATE "C",                 -- the newest batch clearance
    round        int NOT NULL DEFAULT 1,           -- of approval: a version can be approved anew after expiry
    satisfied    boolean NOT NULL DEFAULT false,   -- the stage's rule holds; changes only under the run's lock
    paused_why   text NOT NULL DEFAULT '',
    paused_by    text COLLATE "C" NOT NULL DEFAULT '',
    paused_auto  text NOT NULL DEFAULT '' CONSTRAINT batches_paused_auto CHECK (paused_auto IN ('', 'errors', 'unknown', 'bounced')),
    paused_at    timestamptz,
    stopped_why  text NOT NULL DEFAULT '',
    stopped_by   text COLLATE "C" NOT NULL DEFAULT '',
    stopped_at   timestamptz,
    next_kind    text NOT NULL,
    next_role    text NOT NULL DEFAULT '',
    next_user    text COLLATE "C",
    next_system  boolean NOT NULL DEFAULT false,
    next_at      timestamptz,
    next_since   timestamptz,
    expires_at   timestamptz,
    last_form    text NOT NULL DEFAULT '',         -- the form that changed it last: a double click is one change
    created_at   timestamptz NOT NULL,
    updated_at   timestamptz NOT NULL,
    closed_at    timestamptz,
    CONSTRAINT batches_intent UNIQUE (run_id, stage),
    CONSTRAINT batches_counts CHECK (included BETWEEN 0 AND total AND cleared BETWEEN 0 AND total AND released BETWEEN 0 AND cleared),
    CONSTRAINT batches_cleared CHECK (cleared = 0 OR clearance_id IS NOT NULL),
    CONSTRAINT batches_paused CHECK ((paused_at IS NULL) = (paused_why = '')),
    CONSTRAINT batches_stopped CHECK ((stopped_at IS NULL) = (stopped_why = '')),
    CONSTRAINT batches_closed CHECK ((closed_at IS NOT NULL) = (state IN ('closed', 'rejected', 'cancelled'))),
    CONSTRAINT batches_next_decision CHECK (state IN ('closed', 'rejected', 'cancelled') OR (next_kind <> '' AND next_at IS NOT NULL AND (next_system OR next_role <> '' OR next_user IS NOT NULL)))
);
CREATE INDEX batches_newest ON batches (created_at DESC, id DESC);
CREATE INDEX batches_open ON batches (state, id) WHERE state NOT IN ('closed', 'rejected', 'cancelled');

CREATE TABLE batch_versions (
    batch_id     text COLLATE "C" NOT NULL REFERENCES batches DEFERRABLE INITIALLY DEFERRED,
    number       int NOT NULL CONSTRAINT batch_versions_number CHECK (number >= 1),
    hash         bytea CONSTRAINT batch_versions_hash CHECK (length(hash) = 32),  -- NULL while something is to be done
    total        int NOT NULL,
    included     int NOT NULL,
    duplicates   int NOT NULL,
    suppressed   int NOT NULL,
    problems     int NOT NULL,                     -- rows with a problem
    missing      text[] NOT NULL DEFAULT '{}',     -- shared text that is to be written
    shared       text NOT NULL DEFAULT '{}',       -- JSON: shared text by its place
    facts        text NOT NULL DEFAULT '{}',       -- JSON: what is the same in all items, what varies, sums, longest and emptiest
    list_hash    bytea NOT NULL,
    list_name    text NOT NULL DEFAULT '',         -- of an uploaded file
    author_kind  text NOT NULL CONSTRAINT batch_versions_author CHECK (author_kind IN ('person', 'model', 'token', 'flow')),
    author_id    text NOT NULL,
    prompted_by  text,
    model        text NOT NULL DEFAULT '',
    note         text NOT NULL DEFAULT '',
    credential   text NOT NULL,
    flow_version int NOT NULL,
    destination_version int NOT NULL,
    submitted_by text,
    policy       text,                             -- JSON of operation.Policy, pinned when submitted
    created_at   timestamptz NOT NULL,
    erased_at    timestamptz,                      -- when its contents were erased under a term or for a reason
    PRIMARY KEY (batch_id, number),
    CONSTRAINT batch_versions_exact UNIQUE (batch_id, number, hash),
    CONSTRAINT batch_versions_complete CHECK (hash IS NULL OR (problems = 0 AND cardinality(missing) = 0 AND included > 0)),
    CONSTRAINT batch_versions_submitted CHECK ((policy IS NULL) = (submitted_by IS NULL) AND (policy IS NULL OR hash IS NOT NULL)),
    CONSTRAINT batch_versions_counts CHECK (total = included + duplicates + suppressed)
);

-- The items of a version, in the list's order. Bodies are apart: they can be erased.
CREATE TABLE batch_items (
    batch_id     text COLLATE "C" NOT NULL,
    number       int NOT NULL,
    position     int NOT NULL CONSTRAINT batch_items_position CHECK (position >= 1),
    item_key     text NOT NULL,                    -- of an entry without a key: a control character and its position, which no key can be
    recipient    text NOT NULL DEFAULT '',
    title        text NOT NULL DEFAULT '',
    excluded     text NOT NULL DEFAULT '' CONSTRAINT batch_items_excluded CHECK (excluded IN ('', 'duplicate', 'suppressed')),
    problems     text NOT NULL DEFAULT '',         -- JSON list of code and field; '' = none
    hash         bytea CONSTRAINT batch_items_hash CHECK (length(hash) = 32),      -- of the item's content version
    PRIMARY KEY (batch_id, number, position),
    CONSTRAINT batch_items_version FOREIGN KEY (batch_id, number) REFERENCES batch_versions DEFERRABLE INITIALLY DEFERRED,
    CONSTRAINT batch_items_exact UNIQUE (batch_id, number, position, hash),
    CONSTRAINT batch_items_complete CHECK (problems = '' OR hash IS NULL)
);
CREATE UNIQUE INDEX batch_items_once ON batch_items (batch_id, number, item_key) WHERE excluded = '';
CREATE INDEX batch_items_twice ON batch_items (batch_id, number, item_key) WHERE excluded <> '';
CREATE INDEX batch_items_odd ON batch_items (batch_id, number, position) WHERE excluded <> '' OR problems <> '';

CREATE TABLE batch_bodies (
    batch_id     text COLLATE "C" NOT NULL,
    number       int NOT NULL,
    position     int NOT NULL,
    item         text NOT NULL,                    -- JSON: the entry of the list
    content      text NOT NULL,                    -- JSON
    request      text NOT NULL,                    -- JSON of operation.Request, holes still open
    salt         bytea NOT NULL,
    PRIMARY KEY (batch_id, number, position),
    CONSTRAINT batch_bodies_item FOREIGN KEY (batch_id, number, position) REFERENCES batch_items
);

CREATE TABLE batch_approvals (
    id           text COLLATE "C" PRIMARY KEY,
    batch_id     text COLLATE "C" NOT NULL,
    number       int NOT NULL,
    hash         bytea NOT NULL,
    phase        text NOT NULL CONSTRAINT batch_approvals_phase CHECK (phase IN ('first', 'rest')),
    round        int NOT NULL,
    decision     text NOT NULL CONSTRAINT batch_approvals_decision CHECK (decision IN ('approve', 'request_changes', 'reject', 'withdraw')),
    user_id      text COLLATE "C" NOT NULL REFERENCES users,
    for_user     text COLLATE "C" REFERENCES users,
    delegation_id text COLLATE "C",
    role         text NOT NULL,
    reason       text NOT NULL DEFAULT '',
    reason_code  text NOT NULL DEFAULT '',
    reason_words text NOT NULL DEFAULT '',
    form_id      text NOT NULL CONSTRAINT batch_approvals_form CHECK (form_id <> ''),
    decided_at   timestamptz NOT NULL,
    CONSTRAINT batch_approvals_delegated CHECK ((for_user IS NULL) = (delegation_id IS NULL)),
    CONSTRAINT batch_approvals_delegation FOREIGN KEY (delegation_id, for_user, user_id) REFERENCES delegations (id, from_user, to_user),
    CONSTRAINT batch_approvals_preset CHECK ((reason_code = '') = (reason_words = '')),
    CONSTRAINT batch_approvals_version FOREIGN KEY (batch_id, number, hash) REFERENCES batch_versions (batch_id, number, hash),
    CONSTRAINT batch_approvals_form_once UNIQUE (user_id, form_id)
);

-- Whose approvals stand on a version: one natural person once, in whatever capacity. A
-- withdrawal frees who acted and who was acted for.
CREATE TABLE batch_approval_people (
    batch_id    text COLLATE "C" NOT NULL,
    number      int  NOT NULL,
    phase       text NOT NULL,
    round       int  NOT NULL,
    user_id     text COLLATE "C" NOT NULL,
    approval_id text COLLATE "C" NOT NULL REFERENCES batch_approvals,
    CONSTRAINT batch_approval_people_once PRIMARY KEY (batch_id, number, phase, round, user_id)
);
CREATE INDEX batch_approval_people_approval ON batch_approval_people (approval_id);

-- +goose StatementBegin
CREATE FUNCTION batch_approvals_people() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.decision = 'approve' THEN
        INSERT INTO batch_approval_people (batch_id, number, phase, round, user_id, approval_id)
        SELECT DISTINCT NEW.batch_id, NEW.number, NEW.phase, NEW.round, COALESCE(u.same_as, u.id), NEW.id FROM users u WHERE u.id IN (NEW.user_id, NEW.for_user);
    ELSIF NEW.decision = 'withdraw' THEN
        DELETE FROM batch_approval_people x USING batch_approval_people mine
        WHERE mine.batch_id = NEW.batch_id AND mine.number = NEW.number AND mine.phase = NEW.phase AND mine.round = NEW.round
          AND mine.user_id = (SELECT COALESCE(u.same_as, u.id) FROM users u WHERE u.id = NEW.user_id) AND x.approval_id = mine.approval_id;
    END IF;
    RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER batch_approvals_people AFTER INSERT ON batch_approvals FOR EACH ROW EXECUTE FUNCTION batch_approvals_people();

-- A decision for somebody else: under a delegation that is live and covers role and flow, by
-- and for nobody who had a part in the batch.
-- +goose StatementBegin
CREATE FUNCTION batch_approvals_for() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE flow_name text; who text[];
BEGIN
    SELECT b.flow INTO flow_name FROM batches b WHERE b.id = NEW.batch_id;
    IF NOT EXISTS (SELECT 1 FROM delegations d WHERE d.id = NEW.delegation_id AND d.revoked_at IS NULL AND NEW.decided_at >= d.starts_at
        AND NEW.decided_at < d.ends_at AND NEW.role = ANY (d.roles) AND (d.flows = '{}' OR flow_name = ANY (d.flows))) THEN
        RAISE EXCEPTION 'the delegation does not cover this decision' USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'batch_approvals_delegation_live';
    END IF;
    SELECT array_agg(u.id) INTO who FROM users u WHERE COALESCE(u.same_as, u.id) IN (SELECT COALESCE(x.same_as, x.id) FROM users x WHERE x.id IN (NEW.user_id, NEW.for_user));
    IF NEW.decision = 'approve' AND EXISTS (SELECT 1 FROM batch_versions v WHERE v.batch_id = NEW.batch_id
        AND (v.author_id = ANY (who) OR v.prompted_by = ANY (who) OR v.number = NEW.number AND v.submitted_by = ANY (who))) THEN
        RAISE EXCEPTION 'a party decides for nobody' USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'batch_approvals_delegated_party';
    END IF;
    RETURN NEW;
END $$;
-- +goose StatementEnd
CREATE TRIGGER batch_approvals_for BEFORE INSERT ON batch_approvals FOR EACH ROW WHEN (NEW.for_user IS NOT NULL) EXECUTE FUNCTION batch_approvals_for();

CREATE TABLE batch_clearances (
    id           text COLLATE "C" PRIMARY KEY,
    batch_id     text COLLATE "C" NOT NULL,
    number       int NOT NULL,
    hash         bytea NOT NULL,
    upto         int NOT NULL CONSTRAINT batch_clearances_upto CHECK (upto >= 1),   -- the last position that it covers
    required     int NOT NULL CONSTRAINT batch_clearances_required CHECK (required >= 1),
    policy       text NOT NULL,
    expires_at   timestamptz,
    created_at   timestamptz NOT NULL,
    CONSTRAINT batch_clearances_version FOREIGN KEY (batch_id, number, hash) REFERENCES batch_versions (batch_id, number, hash),
    CONSTRAINT batch_clearances_exact UNIQUE (id, batch_id, number, upto)
);
-- Nothing is released behind the position up to which the newest clearance of the current version reaches.
ALTER TABLE batches ADD CONSTRAINT batches_clearance FOREIGN KEY (clearance_id, id, number, cleared) REFERENCES batch_clearances (id, batch_id, number, upto);
CREATE TABLE batch_clearance_approvals (
    clearance_id text COLLATE "C" NOT NULL REFERENCES batch_clearances,
    approval_id  text COLLATE "C" NOT NULL REFERENCES batch_approvals,
    PRIMARY KEY (clearance_id, approval_id)
);

-- An operation's clearance that rests on a batch's covers exactly an item of the approved
-- version, and none behind the position up to which people decided.
ALTER TABLE clearances ADD COLUMN batch_clearance_id text COLLATE "C", ADD COLUMN batch_id text COLLATE "C", ADD COLUMN batch_number int, ADD COLUMN batch_upto int, ADD COLUMN batch_no int,
    ADD CONSTRAINT clearances_batch FOREIGN KEY (batch_clearance_id, batch_id, batch_number, batch_upto) REFERENCES batch_clearances (id, batch_id, number, upto),
    ADD CONSTRAINT clearances_batch_item FOREIGN KEY (batch_id, batch_number, batch_no, hash) REFERENCES batch_items (batch_id, number, position, hash),
    ADD CONSTRAINT clearances_batch_whole CHECK (num_nonnulls(batch_clearance_id, batch_id, batch_number, batch_upto, batch_no) IN (0, 5)),
    ADD CONSTRAINT clearances_batch_upto CHECK (batch_no IS NULL OR batch_no <= batch_upto);

ALTER TABLE operations ADD COLUMN batch_id text COLLATE "C" CONSTRAINT operations_batch REFERENCES batches, ADD COLUMN batch_no int,
    ADD CONSTRAINT operations_batch_place CHECK ((batch_id IS NULL) = (batch_no IS NULL)),
    ADD CONSTRAINT operations_batch_original CHECK (batch_id IS NULL OR replacement = 0);
CREATE INDEX operations_batch_state ON operations (batch_id, state, batch_no) WHERE batch_id IS NOT NULL;
CREATE INDEX operations_batch_bounced ON operations (batch_id) WHERE batch_id IS NOT NULL AND delivery IN ('bounced', 'complained', 'dropped');

-- What one group of attempts came to: for the rate, the estimated end and the automatic pause.
CREATE TABLE batch_marks (
    id           bigint GENERATED ALWAYS AS IDENTITY,
    batch_id     text COLLATE "C" NOT NULL REFERENCES batches,
    at           timestamptz NOT NULL,
    confirmed    int NOT NULL,
    not_started  int NOT NULL,
    unknown      int NOT NULL,
    PRIMARY KEY (batch_id, id)
);

ALTER TABLE history DROP CONSTRAINT history_subject;
ALTER TABLE history ADD CONSTRAINT history_subject CHECK (subject_kind IN ('operation', 'run', 'flow', 'destination', 'user', 'system',
    'incident', 'task', 'pattern', 'limit', 'report', 'acceptance', 'batch')) NOT VALID;
ALTER TABLE history VALIDATE CONSTRAINT history_subject;
ALTER TABLE chain_heads DROP CONSTRAINT chain_heads_kind;
ALTER TABLE chain_heads ADD CONSTRAINT chain_heads_kind CHECK (subject_kind IN ('incident', 'task', 'pattern', 'limit', 'report', 'acceptance', 'batch'));

-- Three more things that people are told of.
-- +goose StatementBegin
DO $$
DECLARE
    place record;
    old   text;
BEGIN
    FOR place IN SELECT * FROM (VALUES ('notice_choices', 'notice_choices_kind'), ('notices', 'notices_kind')) AS p(tab, name) LOOP
        SELECT pg_get_expr(conbin, conrelid) INTO STRICT old FROM pg_constraint WHERE conname = place.name AND conrelid = CAST(place.tab AS regclass);
        EXECUTE format('ALTER TABLE %I DROP CONSTRAINT %I', place.tab, place.name);
        EXECUTE format('ALTER TABLE %I ADD CONSTRAINT %I CHECK (%s OR kind IN (''canary'', ''batch_paused'', ''batch_closed''))', place.tab, place.name, old);
    END LOOP;
END $$;
-- +goose StatementEnd

-- An item of an approved batch begins as ready: its version is cleared already.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION is_move(from_state text, to_state text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN
    RETURN from_state = to_state OR (from_state || '>' || to_state) = ANY (ARRAY[
            '>draft', '>pending_approval', '>review', '>ready', 'draft>pending_approval', 'pending_approval>draft', 'waiting>draft', 'ready>draft',
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

-- +goose StatementBegin
DO $$
DECLARE t text;
BEGIN
    FOREACH t IN ARRAY ARRAY['batch_approvals', 'batch_clearances', 'batch_clearance_approvals', 'batch_marks'] LOOP
        EXECUTE format('CREATE TRIGGER %I BEFORE UPDATE OR DELETE OR TRUNCATE ON %I EXECUTE FUNCTION refuse_change()', t || '_append_only', t);
    END LOOP;
END $$;
-- +goose StatementEnd
-- A version's facts stand; only its submission is added, once, and its shared text can be erased.
-- +goose StatementBegin
CREATE FUNCTION batch_versions_guard() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF TG_OP = 'UPDATE' AND OLD.policy IS NULL AND (to_jsonb(NEW) - 'policy' - 'submitted_by') = (to_jsonb(OLD) - 'policy' - 'submitted_by') THEN
        RETURN NEW;
    END IF;
    IF TG_OP = 'UPDATE' AND OLD.erased_at IS NULL AND NEW.erased_at IS NOT NULL AND NEW.shared = '{}' AND NEW.note = ''
        AND (to_jsonb(NEW) - 'shared' - 'note' - 'facts' - 'erased_at') = (to_jsonb(OLD) - 'shared' - 'note' - 'facts' - 'erased_at') THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'a batch version is not changed' USING ERRCODE = 'restrict_violation', CONSTRAINT = 'batch_versions_facts';
END $$;
-- +goose StatementEnd
CREATE TRIGGER batch_versions_facts BEFORE UPDATE OR DELETE ON batch_versions FOR EACH ROW EXECUTE FUNCTION batch_versions_guard();

-- An item stands, with its place and its hash; only whom it was for can be erased.
-- +goose StatementBegin
CREATE FUNCTION batch_items_guard() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF TG_OP = 'UPDATE' AND NEW.recipient = '' AND NEW.title = ''
        AND (NEW.batch_id, NEW.number, NEW.position, NEW.item_key, NEW.excluded, NEW.problems) = (OLD.batch_id, OLD.number, OLD.position, OLD.item_key, OLD.excluded, OLD.problems)
        AND NEW.hash IS NOT DISTINCT FROM OLD.hash THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'an item of a batch is not changed' USING ERRCODE = 'restrict_violation', CONSTRAINT = 'batch_items_facts';
END $$;
-- +goose StatementEnd
CREATE TRIGGER batch_items_facts BEFORE UPDATE OR DELETE ON batch_items FOR EACH ROW EXECUTE FUNCTION batch_items_guard();
CREATE TRIGGER batch_items_whole BEFORE TRUNCATE ON batch_items EXECUTE FUNCTION refuse_change();

-- What is erased of an operation is erased of its item too, in all versions.
-- +goose StatementBegin
CREATE FUNCTION erase_batch_item() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    of_batch text;
    of_item text;
    place record;
BEGIN
    SELECT o.batch_id, o.item_key INTO of_batch, of_item FROM operations o WHERE o.id = NEW.operation_id AND o.batch_id IS NOT NULL;
    IF NEW.kind = 'contents' AND FOUND THEN
        FOR place IN SELECT i.number, i.position FROM batch_versions v JOIN batch_items i ON i.batch_id = v.batch_id AND i.number = v.number WHERE v.batch_id = of_batch AND i.item_key = of_item AND i.excluded = ''
            UNION ALL SELECT i.number, i.position FROM batch_versions v JOIN batch_items i ON i.batch_id = v.batch_id AND i.number = v.number WHERE v.batch_id = of_batch AND i.item_key = of_item AND i.excluded <> '' LOOP
            DELETE FROM batch_bodies b WHERE b.batch_id = of_batch AND b.number = place.number AND b.position = place.position;
            UPDATE batch_items i SET recipient = '', title = '' WHERE i.batch_id = of_batch AND i.number = place.number AND i.position = place.position AND (i.recipient <> '' OR i.title <> '');
        END LOOP;
    END IF;
    RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER erasures_batch_item AFTER INSERT ON erasures FOR EACH ROW EXECUTE FUNCTION erase_batch_item();

-- All that a closed batch holds of people: entries, contents, shared text, recipients.
-- +goose StatementBegin
CREATE FUNCTION erase_batch(of_batch text, at timestamptz) RETURNS int LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    gone int := 0;
BEGIN
    IF NOT EXISTS (SELECT 1 FROM batches b WHERE b.id = of_batch AND b.state IN ('closed', 'rejected', 'cancelled')) OR EXISTS (
        SELECT 1 FROM operations o WHERE o.batch_id = of_batch AND (o.state NOT IN ('confirmed', 'rejected', 'cancelled', 'not_executed') OR o.remedy <> '' OR o.disputed
            OR EXISTS (SELECT 1 FROM recovery_cases c WHERE c.operation_id = o.id AND c.closed_at IS NULL))) THEN
        RAISE EXCEPTION 'bodies stay until their batch is closed and nothing about it is open' USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'bodies_kept';
    END IF;
    DELETE FROM batch_bodies WHERE batch_id = of_batch;
    GET DIAGNOSTICS gone = ROW_COUNT;
    UPDATE batch_items SET recipient = '', title = '' WHERE batch_id = of_batch AND (recipient <> '' OR title <> '');
    UPDATE batch_versions v SET shared = '{}', note = '', facts = '{}', erased_at = at WHERE v.batch_id = of_batch AND v.erased_at IS NULL;
    -- The event and the inputs serve the whole run: they go with the last of it.
    IF NOT EXISTS (SELECT 1 FROM batches x JOIN batches b ON b.run_id = x.run_id JOIN batch_versions v ON v.batch_id = x.id WHERE b.id = of_batch AND v.erased_at IS NULL)
        AND NOT EXISTS (SELECT 1 FROM operations o JOIN batches b ON b.run_id = o.run_id WHERE b.id = of_batch
            AND NOT EXISTS (SELECT 1 FROM erasures e WHERE e.operation_id = o.id AND e.kind = 'contents')) THEN
        DELETE FROM event_bodies v USING event_runs r, batches b WHERE b.id = of_batch AND r.run_id = b.run_id AND v.event_id = r.event_id
            AND NOT EXISTS (SELECT 1 FROM event_runs q WHERE q.event_id = v.event_id AND q.run_id <> b.run_id);
        UPDATE deliveries d SET body = NULL, erased_at = at FROM event_runs r, batches b WHERE b.id = of_batch AND r.run_id = b.run_id AND d.event_id = r.event_id AND d.body IS NOT NULL
            AND NOT EXISTS (SELECT 1 FROM event_runs q WHERE q.event_id = r.event_id AND q.run_id <> b.run_id);
        UPDATE runs r SET inputs = '{}' FROM batches b WHERE b.id = of_batch AND r.id = b.run_id AND r.inputs <> '{}';
    END IF;
    RETURN gone;
END $$;
-- +goose StatementEnd
REVOKE EXECUTE ON FUNCTION erase_batch(text, timestamptz) FROM PUBLIC;

-- +goose Down
SELECT 'no way back: restore a backup' AS note;
