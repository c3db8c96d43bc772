-- +goose Up
-- Why operations stop. Every stop belongs to a pattern: the same kind of error, at the same
-- destination, at the same place of the way. Both are written with the stop itself.

CREATE TABLE patterns (
    id          text COLLATE "C" PRIMARY KEY CONSTRAINT patterns_id_form CHECK (id LIKE 'pat\_%' AND length(id) = 30),
    fingerprint bytea NOT NULL CONSTRAINT patterns_fingerprint CHECK (length(fingerprint) = 32),
    destination text COLLATE "C" NOT NULL,
    phase       text NOT NULL CONSTRAINT patterns_phase CHECK (phase IN ('prepare', 'guard', 'connect', 'sending', 'waiting', 'answer', 'lookup', 'decision')),
    code        text NOT NULL CONSTRAINT patterns_code CHECK (length(code) <= 200),
    status      int  NOT NULL DEFAULT 0 CONSTRAINT patterns_status CHECK (status BETWEEN 0 AND 999),
    error       text NOT NULL DEFAULT '' CONSTRAINT patterns_error CHECK (length(error) <= 300), -- words of a fixed list only
    class       text NOT NULL CONSTRAINT patterns_class CHECK (class IN ('system_error', 'destination_outage', 'data_problem')), -- by the rules
    own_class   text CONSTRAINT patterns_own_class CHECK (own_class IN ('system_error', 'destination_outage', 'data_problem')), -- a person's word
    note        text NOT NULL DEFAULT '',
    runbook     text NOT NULL DEFAULT '',
    revision    bigint NOT NULL DEFAULT 1,
    first_at    timestamptz NOT NULL,
    CONSTRAINT patterns_once UNIQUE (fingerprint)
);
CREATE INDEX patterns_destination ON patterns (destination);

-- What makes a pattern what it is never changes; what people write about it does.
-- +goose StatementBegin
CREATE FUNCTION patterns_guard() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' OR NEW.id <> OLD.id OR NEW.fingerprint <> OLD.fingerprint OR NEW.destination <> OLD.destination OR NEW.phase <> OLD.phase
       OR NEW.code <> OLD.code OR NEW.status <> OLD.status OR NEW.error <> OLD.error OR NEW.class <> OLD.class OR NEW.first_at <> OLD.first_at THEN
        RAISE EXCEPTION 'a pattern''s facts do not change' USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'patterns_facts';
    END IF;
    RETURN NEW;
END $$;
-- +goose StatementEnd
CREATE TRIGGER patterns_facts BEFORE UPDATE OR DELETE ON patterns FOR EACH ROW EXECUTE FUNCTION patterns_guard();

CREATE TABLE stops (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    operation_id text COLLATE "C" NOT NULL REFERENCES operations,
    round        int  NOT NULL,                     -- of the case that it belongs to
    pattern_id   text COLLATE "C" NOT NULL REFERENCES patterns,
    flow         text COLLATE "C" NOT NULL,         -- of the operation, which never changes it
    destination  text COLLATE "C" NOT NULL,
    kind         text NOT NULL CONSTRAINT stops_kind CHECK (kind IN ('unknown', 'refused', 'contradiction', 'review', 'missing')),
    class        text NOT NULL CONSTRAINT stops_class CHECK (class IN ('system_error', 'destination_outage', 'data_problem')),
    attempt      int  NOT NULL DEFAULT 0 CONSTRAINT stops_attempt CHECK (attempt >= 0), -- number of the attempt that ended so; 0 = none
    at           timestamptz NOT NULL,
    CONSTRAINT stops_once UNIQUE (operation_id, round, pattern_id)
);
CREATE INDEX stops_pattern ON stops (pattern_id, at DESC, id DESC) INCLUDE (flow, destination, operation_id);

-- A person's word against the class that the rules gave one stop. The newest counts.
CREATE TABLE stop_corrections (
    id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    stop_id  bigint NOT NULL REFERENCES stops,
    class    text NOT NULL CONSTRAINT stop_corrections_class CHECK (class IN ('system_error', 'destination_outage', 'data_problem')),
    reason   text NOT NULL CONSTRAINT stop_corrections_reason CHECK (reason <> ''),
    user_id  text COLLATE "C" NOT NULL REFERENCES users,
    at       timestamptz NOT NULL
);
CREATE INDEX stop_corrections_stop ON stop_corrections (stop_id, id);

-- What a language model suggested when a person asked. Nothing follows from it by itself.
CREATE TABLE suggestions (
    id           text COLLATE "C" PRIMARY KEY CONSTRAINT suggestions_id_form CHECK (id LIKE 'sug\_%'),
    operation_id text COLLATE "C" NOT NULL REFERENCES operations,
    purpose      text NOT NULL CONSTRAINT suggestions_purpose CHECK (purpose IN ('class', 'note', 'report')),
    model        text NOT NULL CONSTRAINT suggestions_model CHECK (model <> ''),
    class        text CONSTRAINT suggestions_class CHECK (class IN ('system_error', 'destination_outage', 'data_problem')),
    words        text NOT NULL DEFAULT '' CONSTRAINT suggestions_words CHECK (length(words) <= 4000), -- erasable
    sent_hash    bytea NOT NULL CONSTRAINT suggestions_sent_hash CHECK (length(sent_hash) = 32), -- of what the model was given
    with_content boolean NOT NULL,                  -- content of the operation was part of it
    asked_by     text COLLATE "C" NOT NULL REFERENCES users,
    asked_at     timestamptz NOT NULL,
    millis       int NOT NULL CONSTRAINT suggestions_millis CHECK (millis >= 0),
    CONSTRAINT suggestions_purpose_fits CHECK ((purpose = 'class') = (class IS NOT NULL))
);
CREATE INDEX suggestions_operation ON suggestions (operation_id, asked_at);
-- +goose StatementBegin
CREATE FUNCTION suggestions_guard() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' OR NEW.words NOT IN (OLD.words, '') OR ROW(NEW.id, NEW.operation_id, NEW.purpose, NEW.model, NEW.class, NEW.sent_hash, NEW.with_content, NEW.asked_by, NEW.asked_at, NEW.millis)
        IS DISTINCT FROM ROW(OLD.id, OLD.operation_id, OLD.purpose, OLD.model, OLD.class, OLD.sent_hash, OLD.with_content, OLD.asked_by, OLD.asked_at, OLD.millis) THEN
        RAISE EXCEPTION 'what was suggested does not change' USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'suggestions_facts';
    END IF;
    RETURN NEW;
END $$;
-- +goose StatementEnd
CREATE TRIGGER suggestions_facts BEFORE UPDATE OR DELETE ON suggestions FOR EACH ROW EXECUTE FUNCTION suggestions_guard();

-- +goose StatementBegin
DO $$
DECLARE t text;
BEGIN
    FOREACH t IN ARRAY ARRAY['stops', 'stop_corrections'] LOOP
        EXECUTE format('CREATE TRIGGER %I BEFORE UPDATE OR DELETE OR TRUNCATE ON %I EXECUTE FUNCTION refuse_change()', t || '_append_only', t);
    END LOOP;
END $$;
-- +goose StatementEnd

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
        EXECUTE format('ALTER TABLE %I ADD CONSTRAINT %I CHECK (%s OR kind = ''contradiction'')', place.tab, place.name, old);
    END LOOP;
END $$;
-- +goose StatementEnd

-- +goose Down
SELECT 'no way back: restore a backup' AS note;
