-- +goose Up
-- Improvement tasks and incidents. No foreign key to operations: its check would lock their rows, and the gate must
-- never wait for a report. Operations are never deleted, and every row here is made from a row that was read there.

CREATE TABLE incidents (
    id            text COLLATE "C" PRIMARY KEY CONSTRAINT incidents_id_form CHECK (id LIKE 'inc\_%'),
    number        bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT incidents_number UNIQUE, -- as people say it: INC-7
    title         text NOT NULL CONSTRAINT incidents_title CHECK (title <> '' AND length(title) <= 200),
    state         text NOT NULL DEFAULT 'open' CONSTRAINT incidents_state CHECK (state IN ('open', 'signed')),
    rev           bigint NOT NULL DEFAULT 1,             -- grows with every change: a form on an older one is refused
    revision      int NOT NULL DEFAULT 1 CONSTRAINT incidents_revision CHECK (revision >= 1), -- of the report: one more after each sign-off
    -- What people corrected; null = as the operations' history says.
    first_at      timestamptz,
    last_at       timestamptz,
    detected_at   timestamptz,
    settled_at    timestamptz,
    summary       text NOT NULL DEFAULT '' CONSTRAINT incidents_summary CHECK (length(summary) <= 10000),
    cause_class   text NOT NULL DEFAULT '' CONSTRAINT incidents_cause_class CHECK (cause_class IN ('', 'system_error', 'destination_outage', 'data_problem')),
    pattern_id    text COLLATE "C" NOT NULL DEFAULT '' CONSTRAINT incidents_pattern_id CHECK (length(pattern_id) <= 100),
    pattern       text NOT NULL DEFAULT '' CONSTRAINT incidents_pattern CHECK (length(pattern) <= 500),
    cause         text NOT NULL DEFAULT '' CONSTRAINT incidents_cause CHECK (length(cause) <= 10000),
    response      text NOT NULL DEFAULT '' CONSTRAINT incidents_response CHECK (length(response) <= 10000),
    prevention    text NOT NULL DEFAULT '' CONSTRAINT incidents_prevention CHECK (length(prevention) <= 10000),
    owner_id      text COLLATE "C" REFERENCES users,
    -- Of its operations, kept with each change of them.
    flows         text[] NOT NULL CONSTRAINT incidents_flows CHECK (flows <> '{}'),
    destinations  text[] NOT NULL CONSTRAINT incidents_destinations CHECK (destinations <> '{}'),
    began_at      timestamptz NOT NULL,                  -- first_at, or what the history says in its place, or when it was opened
    form_id       text NOT NULL CONSTRAINT incidents_form CHECK (form_id <> ''),
    last_form     text NOT NULL DEFAULT '',              -- key of the form that made the newest change
    created_by    text COLLATE "C" NOT NULL REFERENCES users,
    created_at    timestamptz NOT NULL,
    updated_at    timestamptz NOT NULL,
    CONSTRAINT incidents_times CHECK (last_at >= first_at AND updated_at >= created_at),
    CONSTRAINT incidents_form_once UNIQUE (created_by, form_id) -- the same form twice is one incident
);
CREATE INDEX incidents_newest ON incidents (created_at DESC, id DESC);
CREATE INDEX incidents_pattern_of ON incidents (pattern_id, created_at DESC) WHERE pattern_id <> '';
CREATE INDEX incidents_by_flow ON incidents USING gin (flows);
CREATE INDEX incidents_by_destination ON incidents USING gin (destinations);

CREATE TABLE incident_operations (
    incident_id  text COLLATE "C" NOT NULL REFERENCES incidents,
    operation_id text COLLATE "C" NOT NULL,
    flow         text NOT NULL,
    destination  text NOT NULL,
    added_by     text COLLATE "C" NOT NULL REFERENCES users,
    added_at     timestamptz NOT NULL,
    PRIMARY KEY (incident_id, operation_id)
);
CREATE INDEX incident_operations_of ON incident_operations (operation_id);

-- The timeline is filled from the operations' history. Kept here is what people took out of it, by the entry's number,
-- and what they added.
CREATE TABLE incident_omissions (
    incident_id text COLLATE "C" NOT NULL REFERENCES incidents,
    history_id  bigint NOT NULL,
    omitted_by  text COLLATE "C" NOT NULL REFERENCES users,
    omitted_at  timestamptz NOT NULL,
    PRIMARY KEY (incident_id, history_id)
);
CREATE TABLE incident_lines (
    id          text COLLATE "C" PRIMARY KEY CONSTRAINT incident_lines_id_form CHECK (id LIKE 'inl\_%'),
    incident_id text COLLATE "C" NOT NULL REFERENCES incidents,
    at          timestamptz NOT NULL,                    -- when it happened, as the person says
    says        text NOT NULL CONSTRAINT incident_lines_says CHECK (says <> '' AND length(says) <= 2000),
    added_by    text COLLATE "C" NOT NULL REFERENCES users,
    added_name  text NOT NULL,
    added_at    timestamptz NOT NULL,
    removed_at  timestamptz
);
CREATE INDEX incident_lines_of ON incident_lines (incident_id, at);

-- What was signed, word for word. The database hashes it itself.
CREATE TABLE incident_signatures (
    incident_id text COLLATE "C" NOT NULL REFERENCES incidents,
    revision    int NOT NULL CONSTRAINT incident_signatures_revision CHECK (revision >= 1),
    says        text NOT NULL,                           -- the canonical text
    hash        bytea NOT NULL CONSTRAINT incident_signatures_hash CHECK (hash = sha256(convert_to(says, 'UTF8'))),
    facts       text NOT NULL,                           -- JSON: the scope as it stood
    signed_by   text COLLATE "C" NOT NULL REFERENCES users,
    signed_name text NOT NULL,
    signed_role text NOT NULL,
    comment     text NOT NULL DEFAULT '',
    signed_at   timestamptz NOT NULL,
    PRIMARY KEY (incident_id, revision)
);
CREATE TRIGGER incident_signatures_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON incident_signatures EXECUTE FUNCTION refuse_change();

-- Work that is to be done later, whatever it follows from.
CREATE TABLE improvement_tasks (
    id          text COLLATE "C" PRIMARY KEY CONSTRAINT improvement_tasks_id_form CHECK (id LIKE 'tsk\_%'),
    number      bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT improvement_tasks_number UNIQUE, -- as people say it: T-7
    title       text NOT NULL CONSTRAINT improvement_tasks_title CHECK (title <> '' AND length(title) <= 200),
    why         text NOT NULL DEFAULT '' CONSTRAINT improvement_tasks_why CHECK (length(why) <= 4000),
    owner_id    text COLLATE "C" REFERENCES users,
    owner_role  text NOT NULL DEFAULT '' CONSTRAINT improvement_tasks_role CHECK (owner_role IN ('', 'author', 'approver', 'ops_owner', 'auditor', 'admin')),
    due_at      timestamptz NOT NULL,
    state       text NOT NULL DEFAULT 'open' CONSTRAINT improvement_tasks_state CHECK (state IN ('open', 'done', 'dropped')),
    word        text NOT NULL DEFAULT '' CONSTRAINT improvement_tasks_word CHECK (length(word) <= 4000), -- what was done, or why it is dropped
    closed_at   timestamptz,
    closed_by   text NOT NULL DEFAULT '',
    incident_id text COLLATE "C" REFERENCES incidents,
    limit_id    text COLLATE "C",                        -- a figure's limit that was passed
    report_id   text COLLATE "C",                        -- a review
    flows       text[] NOT NULL DEFAULT '{}',            -- whose people may see it; empty = of no single flow. An incident's task follows the incident
    rev         bigint NOT NULL DEFAULT 1,
    form_id     text,
    last_form   text NOT NULL DEFAULT '',
    created_by  text NOT NULL,
    created_at  timestamptz NOT NULL,
    updated_at  timestamptz NOT NULL,
    told_step   int NOT NULL DEFAULT -1 CONSTRAINT improvement_tasks_step CHECK (told_step BETWEEN -1 AND 3), -- -1 = its owner knows nothing of it yet
    step_at     timestamptz,                             -- when its owner is told next; null = no more
    CONSTRAINT improvement_tasks_owner CHECK (owner_id IS NOT NULL OR owner_role <> ''),
    CONSTRAINT improvement_tasks_closed CHECK ((state = 'open') = (closed_at IS NULL) AND (state = 'open' OR word <> '' AND closed_by <> '' AND step_at IS NULL)),
    CONSTRAINT improvement_tasks_origin CHECK (num_nonnulls(incident_id, limit_id, report_id) <= 1),
    CONSTRAINT improvement_tasks_form_once UNIQUE (created_by, form_id)
);
CREATE INDEX improvement_tasks_order ON improvement_tasks (state, due_at, id);
CREATE INDEX improvement_tasks_owned ON improvement_tasks (owner_id, state, due_at);
CREATE INDEX improvement_tasks_steps ON improvement_tasks (step_at) WHERE step_at IS NOT NULL;
CREATE INDEX improvement_tasks_incident ON improvement_tasks (incident_id) WHERE incident_id IS NOT NULL;
CREATE INDEX improvement_tasks_limit ON improvement_tasks (limit_id) WHERE limit_id IS NOT NULL;
CREATE INDEX improvement_tasks_report ON improvement_tasks (report_id) WHERE report_id IS NOT NULL;

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
        EXECUTE format('ALTER TABLE %I ADD CONSTRAINT %I CHECK (%s OR kind = ''task'')', place.tab, place.name, old);
    END LOOP;
END $$;
-- +goose StatementEnd

-- +goose Down
SELECT 'no way back: restore a backup' AS note;
