-- +goose Up
-- Acceptances: the six cases, run with one version of a flow and the versions of its destinations, their sheet, and who
-- agreed to it. The run takes place in an installation of its own; what is kept here is the request and the sheet.

CREATE TABLE acceptance_runs (
    id            text COLLATE "C" PRIMARY KEY CONSTRAINT acceptance_runs_id_form CHECK (id LIKE 'acc\_%'),
    number        bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT acceptance_runs_number UNIQUE,
    flow          text COLLATE "C" NOT NULL,
    flow_version  int NOT NULL,
    state         text NOT NULL CONSTRAINT acceptance_runs_state
                  CHECK (state IN ('waiting', 'running', 'passed', 'failed', 'interrupted', 'cancelled', 'broken')),
    input         text NOT NULL,                     -- JSON of operation.AcceptanceInput
    requested_by  text COLLATE "C" NOT NULL REFERENCES users,
    requested_at  timestamptz NOT NULL,
    worker        text NOT NULL DEFAULT '',
    started_at    timestamptz,
    lease_until   timestamptz,
    cancel_by     text COLLATE "C" REFERENCES users, -- who asked to break it off
    progress      text NOT NULL DEFAULT '[]',        -- JSON of the cases that have ended, while it runs
    ended_at      timestamptz,
    failure       text NOT NULL DEFAULT '',          -- why it could not be run
    sheet         text NOT NULL DEFAULT '',          -- exactly the bytes that the hash covers
    sheet_hash    bytea,
    CONSTRAINT acceptance_runs_version FOREIGN KEY (flow, flow_version) REFERENCES flow_versions (flow, version),
    CONSTRAINT acceptance_runs_lease CHECK ((state = 'running') = (lease_until IS NOT NULL) AND (state <> 'running' OR worker <> '')),
    CONSTRAINT acceptance_runs_ended CHECK ((state IN ('waiting', 'running')) = (ended_at IS NULL)),
    CONSTRAINT acceptance_runs_sheet CHECK ((sheet_hash IS NOT NULL) = (state IN ('passed', 'failed'))
        AND (sheet_hash IS NULL) = (sheet = '') AND (sheet_hash IS NULL OR sheet_hash = sha256(convert_to(sheet, 'UTF8')))),
    CONSTRAINT acceptance_runs_signable UNIQUE (id, state, sheet_hash)
);
-- One at a time per flow.
CREATE UNIQUE INDEX acceptance_runs_one_open ON acceptance_runs (flow) WHERE state IN ('waiting', 'running');
CREATE INDEX acceptance_runs_flow ON acceptance_runs (flow, number DESC);
CREATE INDEX acceptance_runs_open ON acceptance_runs (requested_at) WHERE state IN ('waiting', 'running');

-- What ended stays as it is.
-- +goose StatementBegin
CREATE FUNCTION acceptance_runs_guard() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' OR OLD.state NOT IN ('waiting', 'running') OR NEW.flow <> OLD.flow OR NEW.flow_version <> OLD.flow_version
        OR NEW.input <> OLD.input OR NEW.requested_by <> OLD.requested_by OR (OLD.state = 'running' AND NEW.state = 'waiting') THEN
        RAISE EXCEPTION 'an acceptance does not change once it has ended' USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'acceptance_runs_kept';
    END IF;
    RETURN NEW;
END $$;
-- +goose StatementEnd
CREATE TRIGGER acceptance_runs_kept BEFORE UPDATE OR DELETE ON acceptance_runs FOR EACH ROW EXECUTE FUNCTION acceptance_runs_guard();
CREATE TRIGGER acceptance_runs_whole BEFORE TRUNCATE ON acceptance_runs EXECUTE FUNCTION refuse_change();

-- The destinations of a run: marked as for tests, as the destination stands now.
CREATE TABLE acceptance_destinations (
    run_id      text COLLATE "C" NOT NULL REFERENCES acceptance_runs,
    destination text COLLATE "C" NOT NULL,
    version     int NOT NULL,
    environment text NOT NULL CONSTRAINT acceptance_destinations_test CHECK (environment IN ('test', 'sandbox', 'demo')),
    PRIMARY KEY (run_id, destination),
    CONSTRAINT acceptance_destinations_version FOREIGN KEY (destination, version) REFERENCES destination_versions (destination, version)
);
CREATE INDEX acceptance_destinations_of ON acceptance_destinations (destination, run_id);

-- The mark is the destination's own, not what the one who asks says.
-- +goose StatementBegin
CREATE FUNCTION acceptance_destinations_guard() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM destinations d WHERE d.name = NEW.destination AND d.version = NEW.version AND d.environment = NEW.environment) THEN
        RAISE EXCEPTION 'the destination has another version or environment now' USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'acceptance_destinations_current';
    END IF;
    RETURN NEW;
END $$;
-- +goose StatementEnd
CREATE TRIGGER acceptance_destinations_current BEFORE INSERT ON acceptance_destinations FOR EACH ROW EXECUTE FUNCTION acceptance_destinations_guard();
CREATE TRIGGER acceptance_destinations_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON acceptance_destinations EXECUTE FUNCTION refuse_change();

-- Who agreed: to the sheet of a run that passed, one natural person for each part.
CREATE TABLE acceptance_signatures (
    run_id     text COLLATE "C" NOT NULL,
    part       text NOT NULL CONSTRAINT acceptance_signatures_part CHECK (part IN ('owner', 'implementer')),
    state      text NOT NULL DEFAULT 'passed' CONSTRAINT acceptance_signatures_passed CHECK (state = 'passed'),
    sheet_hash bytea NOT NULL,
    user_id    text COLLATE "C" NOT NULL REFERENCES users,
    natural_id text COLLATE "C" NOT NULL REFERENCES users,
    comment    text NOT NULL DEFAULT '' CONSTRAINT acceptance_signatures_comment CHECK (length(comment) <= 4000),
    at         timestamptz NOT NULL,
    PRIMARY KEY (run_id, part),
    CONSTRAINT acceptance_signatures_two UNIQUE (run_id, natural_id),
    CONSTRAINT acceptance_signatures_sheet FOREIGN KEY (run_id, state, sheet_hash) REFERENCES acceptance_runs (id, state, sheet_hash)
);
CREATE TRIGGER acceptance_signatures_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON acceptance_signatures EXECUTE FUNCTION refuse_change();

-- +goose Down
SELECT 'no way back: restore a backup' AS note;
