-- +goose Up
-- What the history page filters by. An entry is found by its kind: there are few kinds, however many entries there
-- are. These columns are no part of an entry and of its hash: they say where it belongs, which never changes.

ALTER TABLE history ADD COLUMN flow text COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE history ADD COLUMN destination text COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE history DISABLE TRIGGER USER;
UPDATE history h SET flow = o.flow, destination = o.destination FROM operations o WHERE h.subject_kind = 'operation' AND o.id = h.subject_id;
UPDATE history h SET flow = r.flow FROM runs r WHERE h.subject_kind = 'run' AND r.id = h.subject_id;
UPDATE history SET flow = subject_id WHERE subject_kind = 'flow';
UPDATE history SET destination = subject_id WHERE subject_kind = 'destination';
ALTER TABLE history ENABLE TRIGGER USER;

ALTER TABLE history ADD COLUMN kind bigint GENERATED ALWAYS AS (hashtextextended((subject_kind || E'\x1f' || flow || E'\x1f' || destination || E'\x1f' || actor_kind
    || E'\x1f' || role || E'\x1f' || channel || E'\x1f' || action || E'\x1f' || from_state || E'\x1f' || to_state) COLLATE "C", 0)) STORED;

-- Every kind that an entry has. It is written with the first entry of its kind.
CREATE TABLE history_kinds (
    subject_kind text NOT NULL,
    flow         text COLLATE "C" NOT NULL,
    destination  text COLLATE "C" NOT NULL,
    actor_kind   text NOT NULL,
    role         text NOT NULL,
    channel      text NOT NULL,
    action       text NOT NULL,
    from_state   text NOT NULL,
    to_state     text NOT NULL,
    kind         bigint GENERATED ALWAYS AS (hashtextextended((subject_kind || E'\x1f' || flow || E'\x1f' || destination || E'\x1f' || actor_kind
        || E'\x1f' || role || E'\x1f' || channel || E'\x1f' || action || E'\x1f' || from_state || E'\x1f' || to_state) COLLATE "C", 0)) STORED,
    PRIMARY KEY (subject_kind, flow, destination, actor_kind, role, channel, action, from_state, to_state)
);
INSERT INTO history_kinds (subject_kind, flow, destination, actor_kind, role, channel, action, from_state, to_state)
SELECT DISTINCT subject_kind, flow, destination, actor_kind, role, channel, action, from_state, to_state FROM history;

-- All entries, those of one kind, and those of one kind by one person, service or job, each by time.
CREATE INDEX history_time ON history (at, id);
CREATE INDEX history_kind ON history (kind, at, id);
CREATE INDEX history_actor ON history (actor_id, kind, at, id);

-- What somebody looked at or tried with an operation stands in their own history; these find it from the operation.
CREATE INDEX history_about ON history ((CAST(links AS jsonb) ->> 'operation'), at, id) WHERE subject_kind = 'user';

-- What an auditor's session has looked at lately: the same look is not recorded again within a few minutes.
CREATE TABLE recent_looks (
    user_id text COLLATE "C" NOT NULL REFERENCES users,
    session bytea NOT NULL,
    what    text COLLATE "C" NOT NULL CONSTRAINT recent_looks_what CHECK (what <> ''),
    at      timestamptz NOT NULL,
    PRIMARY KEY (user_id, session, what)
);

CREATE TRIGGER history_kinds_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON history_kinds EXECUTE FUNCTION refuse_change();

-- +goose Down
SELECT 'no way back: restore a backup' AS note;
