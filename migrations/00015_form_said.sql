-- +goose Up
-- What a form said when it was carried out, as a SHA-256: the same key with something
-- else is another decision. Null: sent before this was noted.

ALTER TABLE forms_used ADD COLUMN said bytea;

-- +goose Down
SELECT 'no way back: restore a backup' AS note;
