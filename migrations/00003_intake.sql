-- +goose Up
-- What came in: events, deliveries, runs.

CREATE TABLE events (
    id           text COLLATE "C" PRIMARY KEY,
    source       text NOT NULL CONSTRAINT events_source CHECK (source <> ''),
    account      text NOT NULL,
    topic        text NOT NULL,
    event_key    text NOT NULL CONSTRAINT events_key_present CHECK (event_key <> ''),
    business_key text,
    payload_hash bytea NOT NULL,
    event_time   timestamptz NOT NULL,
    received_at  timestamptz NOT NULL,
    CONSTRAINT events_identity UNIQUE (source, account, topic, event_key)
);
CREATE INDEX events_business_key ON events (source, account, topic, business_key) WHERE business_key IS NOT NULL;
CREATE INDEX events_key ON events (event_key);
CREATE TABLE event_bodies (
    event_id text COLLATE "C" PRIMARY KEY REFERENCES events,
    body     bytea NOT NULL,          -- the bytes as received
    data     text NOT NULL            -- the decoded JSON that flows read
);

CREATE TABLE deliveries (
    id           text COLLATE "C" PRIMARY KEY,
    source       text NOT NULL,
    delivery_key text NOT NULL DEFAULT '',
    subscription text NOT NULL DEFAULT '',
    event_id     text COLLATE "C" REFERENCES events,
    verdict      text NOT NULL CONSTRAINT deliveries_verdict CHECK (verdict IN ('accepted', 'repeated', 'conflict', 'held', 'ignored', 'refused')),
    reason       text NOT NULL DEFAULT '',
    status       int NOT NULL,        -- what we answered
    body_hash    bytea NOT NULL,
    body         bytea,               -- kept for refused, held and conflicting ones; erasable
    headers      text NOT NULL DEFAULT '{}',
    skew_ms      bigint,
    received_at  timestamptz NOT NULL,
    CONSTRAINT deliveries_event CHECK (event_id IS NOT NULL OR verdict IN ('refused', 'ignored'))
);
CREATE INDEX deliveries_event_id ON deliveries (event_id);
CREATE INDEX deliveries_time ON deliveries (received_at DESC, id DESC);

CREATE TABLE runs (
    id           text COLLATE "C" PRIMARY KEY,
    flow         text COLLATE "C" NOT NULL,
    flow_version int NOT NULL,
    run_key_hash bytea NOT NULL CONSTRAINT runs_key_form CHECK (length(run_key_hash) = 32),
    label        text NOT NULL DEFAULT '',
    event_id     text COLLATE "C" REFERENCES events,
    state        text NOT NULL CONSTRAINT runs_state CHECK (state IN ('open', 'blocked', 'completed', 'stopped')),
    rev          bigint NOT NULL DEFAULT 1,      -- rises when a stage of the run changes
    held         boolean NOT NULL DEFAULT false,   -- possible duplicate: a person decides first
    inputs       text NOT NULL DEFAULT '{}',
    chain_seq    bigint NOT NULL DEFAULT 0,
    chain_hash   bytea NOT NULL DEFAULT decode(repeat('00', 32), 'hex'),
    created_at   timestamptz NOT NULL,
    CONSTRAINT runs_key UNIQUE (flow, run_key_hash),
    CONSTRAINT runs_flow_version FOREIGN KEY (flow, flow_version) REFERENCES flow_versions (flow, version)
);
CREATE INDEX runs_time ON runs (created_at DESC, id DESC);

-- Every event that led to a run, also the later ones with the same run key.
CREATE TABLE event_runs (
    event_id text COLLATE "C" NOT NULL REFERENCES events,
    run_id   text COLLATE "C" NOT NULL REFERENCES runs,
    PRIMARY KEY (event_id, run_id)
);
CREATE INDEX event_runs_run ON event_runs (run_id);

-- Keys of POST /operations: the same key with another body is refused.
CREATE TABLE api_keys_used (
    token_id   text COLLATE "C" NOT NULL,
    key        text NOT NULL CONSTRAINT api_keys_used_present CHECK (key <> ''),
    body_hash  bytea NOT NULL,
    operation_id text COLLATE "C" NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (token_id, key)
);

-- The owner's recorded "go on without it" for a stage closed without effect.
CREATE TABLE stage_waivers (
    run_id    text COLLATE "C" NOT NULL REFERENCES runs,
    stage     text NOT NULL,
    reason    text NOT NULL CONSTRAINT stage_waivers_reason CHECK (reason <> ''),
    waived_by text NOT NULL,
    waived_at timestamptz NOT NULL,
    PRIMARY KEY (run_id, stage)
);

-- +goose Down
SELECT 'no way back: restore a backup' AS note;
