-- +goose Up
-- The inbox looks for batches that closed without what their stage needs while a later stage of
-- the run waits: few of many, so that each look reads no more than those.
CREATE INDEX batches_unmet ON batches (closed_at, id) WHERE NOT satisfied AND state IN ('closed', 'rejected', 'cancelled') AND stage_no < stages - 1;

-- +goose Down
DROP INDEX batches_unmet;
