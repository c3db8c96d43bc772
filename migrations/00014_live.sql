-- +goose Up
-- Whether single keys act for a person (j, k, a, r, …): people who dictate or whose hands
-- slip switch them off.

ALTER TABLE users ADD COLUMN single_keys boolean NOT NULL DEFAULT true;

-- +goose Down
SELECT 'no way back: restore a backup' AS note;
