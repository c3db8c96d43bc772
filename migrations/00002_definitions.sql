-- +goose Up
-- Versioned definitions: flows, destinations, sources; and who paused what.

CREATE TABLE flows (
    name       text COLLATE "C" PRIMARY KEY,
    version    int NOT NULL,
    paused     boolean NOT NULL DEFAULT false,
    chain_seq  bigint NOT NULL DEFAULT 0,
    chain_hash bytea NOT NULL DEFAULT decode(repeat('00', 32), 'hex')
);
CREATE TABLE flow_versions (
    flow       text COLLATE "C" NOT NULL REFERENCES flows,
    version    int NOT NULL,
    hash       bytea NOT NULL,
    source     text NOT NULL,
    created_by text NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (flow, version)
);
CREATE TABLE destinations (
    name       text COLLATE "C" PRIMARY KEY,
    version    int NOT NULL,
    account    text NOT NULL,
    environment text NOT NULL,
    paused     boolean NOT NULL DEFAULT false,
    chain_seq  bigint NOT NULL DEFAULT 0,
    chain_hash bytea NOT NULL DEFAULT decode(repeat('00', 32), 'hex')
);
CREATE TABLE destination_versions (
    destination text COLLATE "C" NOT NULL REFERENCES destinations,
    version     int NOT NULL,
    hash        bytea NOT NULL,
    source      text NOT NULL,
    created_by  text NOT NULL,
    created_at  timestamptz NOT NULL,
    PRIMARY KEY (destination, version)
);
CREATE TABLE sources (
    name       text COLLATE "C" PRIMARY KEY,
    version    int NOT NULL,
    hash       bytea NOT NULL,
    source     text NOT NULL,
    created_by text NOT NULL,
    created_at timestamptz NOT NULL
);
CREATE TABLE pauses (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    subject_kind text NOT NULL CONSTRAINT pauses_kind CHECK (subject_kind IN ('operation', 'flow', 'destination')),
    subject_id text COLLATE "C" NOT NULL,
    reason     text NOT NULL CONSTRAINT pauses_reason CHECK (reason <> ''),
    paused_by  text NOT NULL,
    paused_at  timestamptz NOT NULL,
    resumed_by text,
    resumed_at timestamptz,
    resume_reason text NOT NULL DEFAULT '',
    CONSTRAINT pauses_end CHECK ((resumed_at IS NULL) = (resumed_by IS NULL))
);
CREATE UNIQUE INDEX pauses_one_open ON pauses (subject_kind, subject_id) WHERE resumed_at IS NULL;

-- +goose Down
SELECT 'no way back: restore a backup' AS note;
