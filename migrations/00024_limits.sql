-- +goose Up
-- Limits of figures, what broke them, and the weekly and monthly reviews.

-- A limit as it holds now. Every change is a version beside it; a breach names the version that it broke.
CREATE TABLE limits (
    id           text COLLATE "C" PRIMARY KEY CONSTRAINT limits_id_form CHECK (id LIKE 'lim\_%'),
    version      int NOT NULL CONSTRAINT limits_version CHECK (version >= 1),
    figure       text NOT NULL CONSTRAINT limits_figure CHECK (figure ~ '^[a-z][a-z_]{1,60}$'),
    flow         text COLLATE "C" NOT NULL DEFAULT '',        -- '' = all flows
    destination  text COLLATE "C" NOT NULL DEFAULT '',        -- '' = all destinations
    source       text NOT NULL DEFAULT '',                    -- whose deliveries; '' = of all
    side         text NOT NULL CONSTRAINT limits_side CHECK (side IN ('over', 'under')),
    value        bigint NOT NULL CONSTRAINT limits_value CHECK (value >= 0),     -- a count, hundredths of a percent, or seconds
    span_hours   int NOT NULL CONSTRAINT limits_span CHECK (span_hours BETWEEN 0 AND 720), -- 0 = at any time
    least        bigint NOT NULL DEFAULT 0 CONSTRAINT limits_least CHECK (least >= 0), -- fewer tries or samples are not judged
    margin       bigint NOT NULL DEFAULT 0 CONSTRAINT limits_margin CHECK (margin >= 0),
    hold_minutes int NOT NULL DEFAULT 15 CONSTRAINT limits_hold CHECK (hold_minutes BETWEEN 0 AND 10080),
    remind_hours int NOT NULL DEFAULT 24 CONSTRAINT limits_remind CHECK (remind_hours BETWEEN 0 AND 720), -- 0 = never again
    again_hours  int NOT NULL DEFAULT 168 CONSTRAINT limits_again CHECK (again_hours BETWEEN 0 AND 8760),
    due_days     int NOT NULL DEFAULT 14 CONSTRAINT limits_due CHECK (due_days BETWEEN 1 AND 365),
    tell_users   text[] NOT NULL DEFAULT '{}',
    tell_roles   text[] NOT NULL DEFAULT '{}' CONSTRAINT limits_roles CHECK (tell_roles <@ ARRAY['author', 'approver', 'ops_owner', 'auditor', 'admin']),
    tell_owner   boolean NOT NULL DEFAULT false,
    note         text NOT NULL DEFAULT '',
    changed_by   text NOT NULL,
    created_at   timestamptz NOT NULL,
    changed_at   timestamptz NOT NULL,
    ended_at     timestamptz,                                 -- no longer watched
    CONSTRAINT limits_reach CHECK (CASE side WHEN 'over' THEN margin <= value ELSE value > 0 END),
    CONSTRAINT limits_of_source CHECK (source = '' OR figure = 'deliveries'),
    CONSTRAINT limits_told CHECK (tell_owner OR cardinality(tell_users) + cardinality(tell_roles) > 0),
    CONSTRAINT limits_owner CHECK (NOT tell_owner OR flow <> ''),
    CONSTRAINT limits_times CHECK (changed_at >= created_at AND ended_at >= created_at)
);
CREATE UNIQUE INDEX limits_once ON limits (figure, flow, destination, source, side, span_hours) WHERE ended_at IS NULL;

CREATE TABLE limit_versions (
    limit_id   text COLLATE "C" NOT NULL REFERENCES limits,
    version    int NOT NULL CONSTRAINT limit_versions_number CHECK (version >= 1),
    settings   text NOT NULL,          -- JSON
    changed_by text NOT NULL,
    changed_at timestamptz NOT NULL,
    CONSTRAINT limit_versions_key PRIMARY KEY (limit_id, version)
);
CREATE TRIGGER limit_versions_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON limit_versions EXECUTE FUNCTION refuse_change();

-- The newest measurement of each limit: whoever measures writes it, so that two processes do not do the same work.
CREATE TABLE limit_readings (
    limit_id    text COLLATE "C" PRIMARY KEY REFERENCES limits,
    measured    bigint NOT NULL CONSTRAINT limit_readings_measured CHECK (measured >= 0),
    parts       bigint NOT NULL DEFAULT 0 CONSTRAINT limit_readings_parts CHECK (parts >= 0), -- of how many: tries, samples
    measured_at timestamptz NOT NULL
);

-- One row for each breach, one of them open for each limit at most.
CREATE TABLE limit_breaches (
    id           text COLLATE "C" PRIMARY KEY CONSTRAINT limit_breaches_id_form CHECK (id LIKE 'brc\_%'),
    limit_id     text COLLATE "C" NOT NULL,
    version      int NOT NULL,
    measured     bigint NOT NULL,      -- when it began
    parts        bigint NOT NULL,
    worst        bigint NOT NULL,
    worst_parts  bigint NOT NULL,
    opened_at    timestamptz NOT NULL,
    within_since timestamptz,          -- back within the limit since then, not long enough yet
    told_at      timestamptz NOT NULL,
    reminders    int NOT NULL DEFAULT 0 CONSTRAINT limit_breaches_reminders CHECK (reminders >= 0),
    task_id      text COLLATE "C",
    closed_at    timestamptz,
    closed_why   text NOT NULL DEFAULT '' CONSTRAINT limit_breaches_why CHECK (closed_why IN ('', 'back', 'changed', 'ended')),
    back         bigint,               -- what was measured then
    back_parts   bigint,
    CONSTRAINT limit_breaches_version FOREIGN KEY (limit_id, version) REFERENCES limit_versions (limit_id, version),
    CONSTRAINT limit_breaches_closed CHECK ((closed_at IS NULL) = (closed_why = '') AND (closed_why = 'back') = (back IS NOT NULL) AND (back IS NULL) = (back_parts IS NULL)),
    CONSTRAINT limit_breaches_order CHECK (closed_at >= opened_at AND within_since >= opened_at AND told_at >= opened_at)
);
CREATE UNIQUE INDEX limit_breaches_one_open ON limit_breaches (limit_id) WHERE closed_at IS NULL;
CREATE INDEX limit_breaches_newest ON limit_breaches (limit_id, opened_at DESC);
CREATE INDEX limit_breaches_time ON limit_breaches (opened_at);

-- A review: facts of one period, frozen as of the moment at which it was made, in no language.
CREATE TABLE reports (
    id         text COLLATE "C" PRIMARY KEY CONSTRAINT reports_id_form CHECK (id LIKE 'rep\_%'),
    kind       text NOT NULL CONSTRAINT reports_kind CHECK (kind IN ('weekly', 'monthly')),
    period     text NOT NULL CONSTRAINT reports_period CHECK (CASE kind WHEN 'weekly' THEN period ~ '^\d{4}-W\d{2}$' ELSE period ~ '^\d{4}-\d{2}$' END),
    flow       text COLLATE "C" NOT NULL DEFAULT '',   -- '' = the whole installation
    zone       text NOT NULL CONSTRAINT reports_zone CHECK (zone <> ''),
    from_at    timestamptz NOT NULL,
    to_at      timestamptz NOT NULL,
    before_at  timestamptz NOT NULL,                   -- when the period before began
    facts      text NOT NULL,                          -- canonical JSON
    facts_hash bytea NOT NULL CONSTRAINT reports_hash CHECK (length(facts_hash) = 32),
    made_at    timestamptz NOT NULL,
    CONSTRAINT reports_once UNIQUE (kind, period, flow),
    CONSTRAINT reports_order CHECK (before_at < from_at AND from_at < to_at AND to_at <= made_at)
);
CREATE INDEX reports_newest ON reports (to_at DESC, id DESC);
-- The database hashes the facts itself: a hash never belongs to other bytes.
-- +goose StatementBegin
CREATE FUNCTION reports_guard() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF sha256(convert_to(NEW.facts, 'UTF8')) <> NEW.facts_hash THEN
        RAISE EXCEPTION 'this is not the hash of these facts' USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'reports_exact';
    END IF;
    RETURN NEW;
END $$;
-- +goose StatementEnd
CREATE TRIGGER reports_exact BEFORE INSERT ON reports FOR EACH ROW EXECUTE FUNCTION reports_guard();
CREATE TRIGGER reports_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON reports EXECUTE FUNCTION refuse_change();

-- What a number of a report counts, one row each: the number of rows is the number.
CREATE TABLE report_items (
    report_id    text COLLATE "C" NOT NULL REFERENCES reports,
    line         text NOT NULL CONSTRAINT report_items_line CHECK (line <> ''),
    n            int NOT NULL CONSTRAINT report_items_n CHECK (n >= 1),
    item         text COLLATE "C" NOT NULL CONSTRAINT report_items_item CHECK (item <> ''), -- an attempt, an operation, an incident, a task, a breach
    operation_id text COLLATE "C",
    CONSTRAINT report_items_key PRIMARY KEY (report_id, line, n)
);
CREATE TRIGGER report_items_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON report_items EXECUTE FUNCTION refuse_change();

CREATE TABLE report_comments (
    id        text COLLATE "C" PRIMARY KEY CONSTRAINT report_comments_id_form CHECK (id LIKE 'rcm\_%'),
    report_id text COLLATE "C" NOT NULL REFERENCES reports,
    number    int NOT NULL CONSTRAINT report_comments_number CHECK (number >= 1),
    section   text NOT NULL CONSTRAINT report_comments_section CHECK (section ~ '^[a-z_]{1,40}$'),
    user_id   text COLLATE "C" NOT NULL REFERENCES users,
    body      text NOT NULL CONSTRAINT report_comments_body CHECK (body <> ''),
    form_id   text NOT NULL CONSTRAINT report_comments_form CHECK (form_id <> ''),
    at        timestamptz NOT NULL,
    CONSTRAINT report_comments_order UNIQUE (report_id, number),
    CONSTRAINT report_comments_form_once UNIQUE (user_id, form_id)
);
CREATE TRIGGER report_comments_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON report_comments EXECUTE FUNCTION refuse_change();

-- A signature covers the facts and the first comments, by their hash.
CREATE TABLE report_signatures (
    report_id text COLLATE "C" NOT NULL REFERENCES reports,
    number    int NOT NULL CONSTRAINT report_signatures_number CHECK (number >= 1),
    user_id   text COLLATE "C" NOT NULL REFERENCES users,
    role      text NOT NULL CONSTRAINT report_signatures_role CHECK (role <> ''),
    comments  int NOT NULL CONSTRAINT report_signatures_comments CHECK (comments >= 0),
    hash      bytea NOT NULL CONSTRAINT report_signatures_hash CHECK (length(hash) = 32),
    at        timestamptz NOT NULL,
    CONSTRAINT report_signatures_key PRIMARY KEY (report_id, number),
    CONSTRAINT report_signatures_once UNIQUE (report_id, user_id, hash)
);
CREATE TRIGGER report_signatures_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON report_signatures EXECUTE FUNCTION refuse_change();

-- More kinds of notices, beside those that other parts have added.
-- +goose StatementBegin
DO $$
DECLARE
    place record;
    old   text;
BEGIN
    FOR place IN SELECT * FROM (VALUES ('notice_choices', 'notice_choices_kind'), ('notices', 'notices_kind')) AS p(tab, name) LOOP
        SELECT pg_get_expr(conbin, conrelid) INTO STRICT old FROM pg_constraint WHERE conname = place.name AND conrelid = CAST(place.tab AS regclass);
        EXECUTE format('ALTER TABLE %I DROP CONSTRAINT %I', place.tab, place.name);
        EXECUTE format('ALTER TABLE %I ADD CONSTRAINT %I CHECK (%s OR kind IN (''limit'', ''limit_back'', ''report''))', place.tab, place.name, old);
    END LOOP;
END $$;
-- +goose StatementEnd

-- +goose Down
SELECT 'no way back: restore a backup' AS note;
