-- +goose Up
-- How many operations of a batch are in each state, kept by the statements that write
-- operations: counting them anew for each page would read the whole batch. Groups change one
-- row for each state that their operations left or reached.
CREATE TABLE batch_counts (
    batch_id     text COLLATE "C" NOT NULL REFERENCES batches,
    state        text COLLATE "C" NOT NULL CONSTRAINT batch_counts_state CHECK (is_operation_state(state)),
    n            bigint NOT NULL,
    PRIMARY KEY (batch_id, state)
) WITH (fillfactor = 50);

INSERT INTO batch_counts (batch_id, state, n) SELECT batch_id, state, count(*) FROM operations WHERE batch_id IS NOT NULL GROUP BY batch_id, state;

-- +goose Down
DROP TABLE batch_counts;
