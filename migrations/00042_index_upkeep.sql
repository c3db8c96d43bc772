-- +goose Up
-- What an item of a batch writes costs mostly the upkeep of indexes. Each query keeps its index here.

-- Newest entries and operations are read backwards. An index that grows at its end is kept up
-- without a search from its root; one that is sorted downwards grows at its beginning.
DROP INDEX history_newest;
CREATE INDEX history_newest ON history (id);
DROP INDEX operations_newest;
CREATE INDEX operations_newest ON operations (created_at, id);

-- Attempts under way are few: their leases stand beside what says that an operation has one at most.
CREATE UNIQUE INDEX attempts_one_under_way ON attempts (operation_id) INCLUDE (lease_until) WHERE outcome IS NULL;
DROP INDEX attempts_one_open;
DROP INDEX attempts_lease_end;
ALTER INDEX attempts_one_under_way RENAME TO attempts_one_open;

-- A reference is searched for by itself, wherever the account is not known.
ALTER TABLE target_references DROP CONSTRAINT target_references_key;
ALTER TABLE target_references ADD CONSTRAINT target_references_key PRIMARY KEY (reference, account, effect_type);
DROP INDEX operations_target;

-- +goose Down
SELECT 'no way back: restore a backup' AS note;
