-- +goose Up
-- Recovery cases: a person's work on an operation in doubt. A case opens and closes with the
-- state of its operation, by a trigger, so that no verb can forget it. What happens to a case
-- is told in its operation's history.

CREATE TABLE recovery_cases (
    id             text COLLATE "C" PRIMARY KEY CONSTRAINT recovery_cases_id_form CHECK (id LIKE 'case\_%' AND length(id) = 31),
    number         bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT recovery_cases_number UNIQUE,  -- RC-<number>
    operation_id   text COLLATE "C" NOT NULL REFERENCES operations,
    flow           text COLLATE "C" NOT NULL,       -- of the operation, which never changes it
    destination    text COLLATE "C" NOT NULL,
    round          int NOT NULL,                    -- of the operation's checklist answers
    opened_at      timestamptz NOT NULL,
    opened_as      text NOT NULL,                   -- the operation's state then
    closed_at      timestamptz,
    closed_as      text,                            -- the operation's state then
    taken_by       text COLLATE "C" REFERENCES users,
    taken_at       timestamptz,
    changed_at     timestamptz NOT NULL,            -- when it was taken, released or closed last
    -- What is done to the case alone (taking, releasing) raises the operation's revision too. A form that was shown
    -- since same_since is not out of date while the operation stands at same_until.
    same_since     bigint NOT NULL DEFAULT 0,
    same_until     bigint NOT NULL DEFAULT 0,
    CONSTRAINT recovery_cases_closed CHECK ((closed_at IS NULL) = (closed_as IS NULL)),
    CONSTRAINT recovery_cases_order CHECK (closed_at >= opened_at),
    CONSTRAINT recovery_cases_taken CHECK ((taken_by IS NULL) = (taken_at IS NULL)),
    CONSTRAINT recovery_cases_closed_free CHECK (closed_at IS NULL OR taken_by IS NULL),
    CONSTRAINT recovery_cases_same CHECK (same_since <= same_until)
);
CREATE UNIQUE INDEX recovery_cases_one_open ON recovery_cases (operation_id) WHERE closed_at IS NULL;
CREATE INDEX recovery_cases_operation ON recovery_cases (operation_id, number);
CREATE INDEX recovery_cases_open ON recovery_cases (number) INCLUDE (operation_id, flow, destination, opened_at, taken_by) WHERE closed_at IS NULL;
CREATE INDEX recovery_cases_taken_by ON recovery_cases (taken_by, number) WHERE taken_by IS NOT NULL;
CREATE INDEX recovery_cases_opened_at ON recovery_cases (opened_at);
CREATE INDEX recovery_cases_closed_at ON recovery_cases (closed_at) WHERE closed_at IS NOT NULL;

-- Who had a case in hand, from when to when.
CREATE TABLE case_holds (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    case_id     text COLLATE "C" NOT NULL REFERENCES recovery_cases,
    user_id     text COLLATE "C" NOT NULL REFERENCES users,
    taken_at    timestamptz NOT NULL,
    released_at timestamptz,
    CONSTRAINT case_holds_order CHECK (released_at >= taken_at)
);
CREATE UNIQUE INDEX case_holds_one_open ON case_holds (case_id) WHERE released_at IS NULL;
CREATE INDEX case_holds_case ON case_holds (case_id);

-- For how long each person's page of a case was visible and in use. It is never more than the
-- time that went by between the first and the last beat.
CREATE TABLE case_active (
    case_id    text COLLATE "C" NOT NULL REFERENCES recovery_cases,
    user_id    text COLLATE "C" NOT NULL REFERENCES users,
    first_beat timestamptz NOT NULL,
    last_beat  timestamptz NOT NULL,
    active_ms  bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (case_id, user_id),
    CONSTRAINT case_active_bound CHECK (active_ms >= 0 AND active_ms <= EXTRACT(EPOCH FROM last_beat - first_beat) * 1000)
);

CREATE TABLE case_corrections (
    id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    case_id  text COLLATE "C" NOT NULL REFERENCES recovery_cases,
    clock    text NOT NULL CONSTRAINT case_corrections_clock CHECK (clock IN ('in_hand', 'active')),
    delta_ms bigint NOT NULL,
    user_id  text COLLATE "C" NOT NULL REFERENCES users,
    reason   text NOT NULL CONSTRAINT case_corrections_reason CHECK (reason <> ''),
    at       timestamptz NOT NULL
);
CREATE INDEX case_corrections_case ON case_corrections (case_id);
CREATE TRIGGER case_corrections_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON case_corrections EXECUTE FUNCTION refuse_change();

-- A frozen list of cases that one person settles one after the other.
CREATE TABLE case_queues (
    id         text COLLATE "C" PRIMARY KEY CONSTRAINT case_queues_id_form CHECK (id LIKE 'queue\_%'),
    user_id    text COLLATE "C" NOT NULL REFERENCES users,
    form_id    text NOT NULL CONSTRAINT case_queues_form CHECK (form_id <> ''),
    total      int NOT NULL CONSTRAINT case_queues_total CHECK (total >= 1),
    created_at timestamptz NOT NULL,
    CONSTRAINT case_queues_once UNIQUE (user_id, form_id)
);
CREATE INDEX case_queues_user ON case_queues (user_id, created_at);
CREATE TABLE case_queue_items (
    queue_id text COLLATE "C" NOT NULL REFERENCES case_queues,
    place    int NOT NULL CONSTRAINT case_queue_items_place CHECK (place >= 1),
    case_id  text COLLATE "C" NOT NULL REFERENCES recovery_cases,
    done_at  timestamptz,                            -- when the person of the queue dealt with it
    done_as  text CONSTRAINT case_queue_items_done_as CHECK (done_as IN ('settled', 'requested', 'held')),
    PRIMARY KEY (queue_id, place),
    CONSTRAINT case_queue_items_once UNIQUE (queue_id, case_id),
    CONSTRAINT case_queue_items_done CHECK ((done_at IS NULL) = (done_as IS NULL))
);
CREATE INDEX case_queue_items_case ON case_queue_items (case_id) WHERE done_at IS NULL;

-- +goose StatementBegin
CREATE FUNCTION new_case_id() RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    bits bit varying := B'00' || CAST('x' || replace(CAST(gen_random_uuid() AS text), '-', '') AS bit(128));
    id text := 'case_';
BEGIN
    FOR i IN 0..25 LOOP
        id := id || substr('0123456789abcdefghjkmnpqrstvwxyz', CAST(CAST(substring(bits FROM i * 5 + 1 FOR 5) AS bit(5)) AS int) + 1, 1);
    END LOOP;
    RETURN id;
END $$;
-- +goose StatementEnd

-- An operation has an open case while it is unresolved, and while an attempt runs or is planned that belongs to the case:
-- a protected repeat of an unknown one, or an approved re-execution.
-- +goose StatementBegin
CREATE FUNCTION needs_case(state text, unsettled int, request_id text) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
    SELECT state IN ('unknown', 'review', 'reexecution_requested')
        OR state IN ('waiting', 'ready', 'in_progress', 'retry_scheduled') AND (unsettled > 0 OR request_id IS NOT NULL)
$$;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE FUNCTION keep_case() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' THEN
        UPDATE recovery_cases SET closed_at = GREATEST(NEW.updated_at, opened_at), closed_as = NEW.state, taken_by = NULL, taken_at = NULL,
            changed_at = GREATEST(NEW.updated_at, changed_at)
            WHERE operation_id = NEW.id AND closed_at IS NULL;
    END IF;
    IF needs_case(NEW.state, NEW.unsettled, NEW.request_id) THEN
        INSERT INTO recovery_cases (id, operation_id, flow, destination, round, opened_at, opened_as, changed_at)
            VALUES (new_case_id(), NEW.id, NEW.flow, NEW.destination, NEW.case_round, NEW.updated_at, NEW.state, NEW.updated_at);
    END IF;
    RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER operations_open_case AFTER INSERT ON operations FOR EACH ROW
    WHEN (needs_case(NEW.state, NEW.unsettled, NEW.request_id)) EXECUTE FUNCTION keep_case();
-- A new round is a case of its own, with its own answers.
CREATE TRIGGER operations_keep_case AFTER UPDATE ON operations FOR EACH ROW
    WHEN (needs_case(OLD.state, OLD.unsettled, OLD.request_id) <> needs_case(NEW.state, NEW.unsettled, NEW.request_id)
        OR (OLD.case_round <> NEW.case_round AND needs_case(NEW.state, NEW.unsettled, NEW.request_id)))
    EXECUTE FUNCTION keep_case();

-- What a case is does not change, and it ends only with the doubt. Its times in hand follow from who has it.
-- +goose StatementBegin
CREATE FUNCTION recovery_cases_guard() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' OR NEW.id <> OLD.id OR NEW.number <> OLD.number OR NEW.operation_id <> OLD.operation_id OR NEW.round <> OLD.round
       OR NEW.opened_at <> OLD.opened_at OR NEW.opened_as <> OLD.opened_as OR NEW.changed_at < OLD.changed_at
       OR (OLD.closed_at IS NOT NULL AND (NEW.closed_at IS DISTINCT FROM OLD.closed_at OR NEW.closed_as IS DISTINCT FROM OLD.closed_as)) THEN
        RAISE EXCEPTION 'a case''s facts do not change' USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'recovery_cases_facts';
    END IF;
    IF OLD.closed_at IS NULL AND NEW.closed_at IS NOT NULL AND EXISTS (SELECT 1 FROM operations o WHERE o.id = NEW.operation_id
       AND o.case_round = OLD.round AND needs_case(o.state, o.unsettled, o.request_id)) THEN
        RAISE EXCEPTION 'the operation is not settled' USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'recovery_cases_unsettled';
    END IF;
    IF NEW.taken_by IS DISTINCT FROM OLD.taken_by THEN
        UPDATE case_holds SET released_at = NEW.changed_at WHERE case_id = NEW.id AND released_at IS NULL;
        IF NEW.taken_by IS NOT NULL THEN
            INSERT INTO case_holds (case_id, user_id, taken_at) VALUES (NEW.id, NEW.taken_by, NEW.changed_at);
        END IF;
    END IF;
    RETURN NEW;
END $$;
-- +goose StatementEnd
CREATE TRIGGER recovery_cases_facts BEFORE UPDATE OR DELETE ON recovery_cases FOR EACH ROW EXECUTE FUNCTION recovery_cases_guard();

-- The two clocks of each case as they stand: from taking to giving back, and of that, or beside it, how long pages were in
-- use. Corrections are added to both.
CREATE VIEW case_times AS
SELECT c.id AS case_id, c.operation_id, c.flow, c.destination, c.opened_at, c.closed_at,
    GREATEST(0, COALESCE((SELECT sum(CAST(EXTRACT(EPOCH FROM COALESCE(h.released_at, clock_timestamp()) - h.taken_at) * 1000 AS bigint)) FROM case_holds h WHERE h.case_id = c.id), 0)
        + COALESCE((SELECT sum(x.delta_ms) FROM case_corrections x WHERE x.case_id = c.id AND x.clock = 'in_hand'), 0))::bigint AS in_hand_ms,
    GREATEST(0, COALESCE((SELECT sum(a.active_ms) FROM case_active a WHERE a.case_id = c.id), 0)
        + COALESCE((SELECT sum(x.delta_ms) FROM case_corrections x WHERE x.case_id = c.id AND x.clock = 'active'), 0))::bigint AS active_ms
FROM recovery_cases c;

-- What became of each case of a list that was worked on at once; '' = done.
CREATE TABLE case_bulk (
    user_id text COLLATE "C" NOT NULL REFERENCES users,
    form_id text NOT NULL CONSTRAINT case_bulk_form CHECK (form_id <> ''),
    case_id text COLLATE "C" NOT NULL REFERENCES recovery_cases,
    place   int NOT NULL,
    verb    text NOT NULL CONSTRAINT case_bulk_verb CHECK (verb IN ('take', 'lookup')),
    code    text NOT NULL,
    at      timestamptz NOT NULL,
    PRIMARY KEY (user_id, form_id, case_id)
);

-- Operations that are unresolved already get their case, open since they came into doubt.
INSERT INTO recovery_cases (id, operation_id, flow, destination, round, opened_at, opened_as, changed_at)
SELECT new_case_id(), x.id, x.flow, x.destination, x.case_round, x.since, x.state, x.since
FROM (SELECT o.id, o.flow, o.destination, o.case_round, o.state, COALESCE((SELECT max(h.at) FROM history h WHERE h.subject_kind = 'operation' AND h.subject_id = o.id
        AND h.to_state IN ('unknown', 'review', 'reexecution_requested') AND h.from_state NOT IN ('unknown', 'review', 'reexecution_requested')), o.updated_at) AS since
    FROM operations o WHERE needs_case(o.state, o.unsettled, o.request_id)) x
ORDER BY x.since, x.id;

-- One more kind of notices, beside those that other parts have added.
-- +goose StatementBegin
DO $$
DECLARE
    place record;
    old   text;
BEGIN
    FOR place IN SELECT * FROM (VALUES ('notice_choices', 'notice_choices_kind'), ('notices', 'notices_kind')) AS p(tab, name) LOOP
        SELECT pg_get_expr(conbin, conrelid) INTO STRICT old FROM pg_constraint WHERE conname = place.name AND conrelid = CAST(place.tab AS regclass);
        EXECUTE format('ALTER TABLE %I DROP CONSTRAINT %I', place.tab, place.name);
        EXECUTE format('ALTER TABLE %I ADD CONSTRAINT %I CHECK (%s OR kind = ''case_taken'')', place.tab, place.name, old);
    END LOOP;
END $$;
-- +goose StatementEnd

-- +goose Down
SELECT 'no way back: restore a backup' AS note;
