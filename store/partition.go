package store

import (
	"context"
	"time"

	"holdpoint/operation"

	"github.com/lib/pq"
)

// PartitionsAhead is how many months' partitions are kept ready. Without one, rows go to
// the last resort, the table's default partition: nothing fails.
const PartitionsAhead = 3

// partitioned are the tables that have a partition for each month.
var partitioned = []string{"history", "evidence", "deliveries"}

// AddPartitions makes the partitions of the coming months that are missing; how many it
// made. Any number of processes may do so at once.
func (s *Store) AddPartitions(ctx context.Context) (made int, err error) {
	err = s.write(ctx, func(t *tx) error { return t.get(&made, `SELECT add_partitions($1)`, PartitionsAhead) })
	return made, err
}

// clockSlack is how far the clocks of our processes may be behind the database's.
const clockSlack = 24 * time.Hour

// partitionsFrom is the lowest identifier of rows that belong to something made at that
// time: only the partitions from then on are read.
func partitionsFrom(prefix string, made time.Time) string {
	return operation.FirstID(prefix, made.Add(-clockSlack))
}

// wholeOnly takes from the application's role every right on single partitions: it
// reads and writes the whole table, whose rights are those of appendOnly.
func wholeOnly(role string) string {
	return `DO $$ DECLARE part regclass; BEGIN
		FOR part IN SELECT i.inhrelid::regclass FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhparent WHERE c.relkind = 'p' LOOP
			EXECUTE format('REVOKE ALL ON %s FROM %s', part, ` + pq.QuoteLiteral(role) + `);
		END LOOP; END $$`
}
