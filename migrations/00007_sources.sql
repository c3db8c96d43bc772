-- +goose Up
-- The source of the event behind each operation, so that the list of operations is
-- narrowed to one source by an index. '' = entered by hand.

ALTER TABLE operations ADD COLUMN source text NOT NULL DEFAULT '';
UPDATE operations o SET source = e.source FROM runs r JOIN events e ON e.id = r.event_id WHERE r.id = o.run_id;
CREATE INDEX operations_source ON operations (source, created_at DESC, id DESC);

-- +goose Down
SELECT 'no way back: restore a backup' AS note;
