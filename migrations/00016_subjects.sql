-- +goose Up
-- More subjects with a history of their own. Those without a row that every change locks
-- keep the head of their chain here.

ALTER TABLE history DROP CONSTRAINT history_subject;
ALTER TABLE history ADD CONSTRAINT history_subject CHECK (subject_kind IN ('operation', 'run', 'flow', 'destination', 'user', 'system',
    'incident', 'task', 'pattern', 'limit', 'report', 'acceptance'));

CREATE TABLE chain_heads (
    subject_kind text NOT NULL CONSTRAINT chain_heads_kind CHECK (subject_kind IN ('incident', 'task', 'pattern', 'limit', 'report', 'acceptance')),
    subject_id   text COLLATE "C" NOT NULL CONSTRAINT chain_heads_present CHECK (subject_id <> ''),
    chain_seq    bigint NOT NULL DEFAULT 0 CONSTRAINT chain_heads_seq CHECK (chain_seq >= 0),
    chain_hash   bytea NOT NULL DEFAULT decode(repeat('00', 32), 'hex') CONSTRAINT chain_heads_hash CHECK (length(chain_hash) = 32),
    PRIMARY KEY (subject_kind, subject_id)
);

-- +goose Down
SELECT 'no way back: restore a backup' AS note;
