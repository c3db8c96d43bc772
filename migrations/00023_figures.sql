-- +goose Up
-- Figures (docs/figures.md). Each counts facts that never change: entries of the history, attempts, deliveries, events,
-- settled cases. A job counts them forward; nothing is added to what the gate writes but the entries of these indexes.

CREATE INDEX events_time ON events (received_at, id);
-- Attempts that were sent and have ended; those among them that a destination refused or left unknown; and those
-- that sent a key again.
CREATE INDEX attempts_ended ON attempts (ended_at, id) WHERE dispatched_at IS NOT NULL AND outcome IS NOT NULL;
CREATE INDEX attempts_errors ON attempts (ended_at, id) WHERE dispatched_at IS NOT NULL AND outcome IN ('not_started', 'unknown');
CREATE INDEX attempts_again ON attempts (dispatched_at, id) WHERE number > 1 AND protected AND dispatched_at IS NOT NULL;

-- A series of running totals: of one flow and destination, of one destination ('*' = every flow), of everything.
-- What an event reached may be several flows: their names in order, with a comma between.
CREATE TABLE figure_series (
    id          int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    part        smallint NOT NULL CONSTRAINT figure_series_part CHECK (part BETWEEN 0 AND 9), -- counts, or the cells of one kind of time
    flow        text COLLATE "C" NOT NULL,
    destination text COLLATE "C" NOT NULL,
    CONSTRAINT figure_series_once UNIQUE (part, flow, destination)
);

-- How much there has been before a moment, a multiple of 15 minutes. There is a row only where something came to it.
-- The row that ends after figure_state.counted_until holds what was counted up to there.
CREATE TABLE figure_totals (
    series int NOT NULL REFERENCES figure_series,
    until  timestamptz NOT NULL CONSTRAINT figure_totals_quarter CHECK (EXTRACT(EPOCH FROM until)::bigint % 900 = 0),
    totals bigint[] NOT NULL CONSTRAINT figure_totals_present CHECK (cardinality(totals) > 0),
    CONSTRAINT figure_totals_key PRIMARY KEY (series, until)
);

-- Up to where everything is counted: one row.
CREATE TABLE figure_state (
    one           boolean NOT NULL DEFAULT true CONSTRAINT figure_state_one CHECK (one),
    counted_until timestamptz,
    counted_at    timestamptz,
    PRIMARY KEY (one)
);
INSERT INTO figure_state DEFAULT VALUES;

-- Settled cases as they are counted. A time that is corrected later is counted anew, in the place of the old one.
CREATE TABLE figure_cases (
    case_id     text COLLATE "C" PRIMARY KEY,
    flow        text COLLATE "C" NOT NULL,
    destination text COLLATE "C" NOT NULL,
    closed_at   timestamptz NOT NULL,
    in_hand     int NOT NULL CONSTRAINT figure_cases_in_hand CHECK (in_hand >= 0), -- cells
    active      int NOT NULL CONSTRAINT figure_cases_active CHECK (active >= 0)
);
CREATE INDEX figure_cases_time ON figure_cases (closed_at, case_id);

-- +goose Down
SELECT 'no way back: restore a backup' AS note;
