package store

// runLock is the first key of the advisory locks of runs that have batches; the second is
// the run's hash. The number spells "hold".
const runLock = "1752132708"

// runTurn lets a decision about one operation of a run that has batches wait in a queue
// with the groups of those batches. A row's lock alone is not fair: groups share it, and
// would go on sharing it while somebody waits to have it alone.
const runTurn = ` AND CASE WHEN o.batch_id IS NOT NULL OR (o.stages > 1 OR o.item_key <> '') AND EXISTS (SELECT 1 FROM batches b WHERE b.run_id = o.run_id)
		THEN pg_advisory_xact_lock(` + runLock + `, hashtext(o.run_id)) IS NOT NULL ELSE true END`

// beside gives, as a table, the operations of a run that has batches which an operation of
// this item looks at: those that belong to no item, and those of the same item. It walks
// from stage to stage through the index, and never reads the other items: each key is
// compared with one value, since a list of them may be planned as a filter of the whole stage.
func beside(run, item string) string {
	items := `SELECT CAST('' AS text) AS item`
	if item != "''" {
		items += ` UNION SELECT ` + item
	}
	return `(WITH RECURSIVE st (stage) AS (
			(SELECT q.stage FROM operations q WHERE q.run_id = ` + run + ` ORDER BY q.run_id, q.stage LIMIT 1)
			UNION ALL SELECT (SELECT q.stage FROM operations q WHERE q.run_id = ` + run + ` AND q.stage > st.stage ORDER BY q.run_id, q.stage LIMIT 1) FROM st WHERE st.stage IS NOT NULL)
		SELECT y.* FROM st CROSS JOIN (` + items + `) k CROSS JOIN LATERAL (SELECT * FROM operations x WHERE x.run_id = ` + run + ` AND x.stage = st.stage AND x.item_key = k.item OFFSET 0) y WHERE st.stage IS NOT NULL)`
}

// openStates are the states that are not closed, as a list of SQL.
const openStates = `('draft', 'pending_approval', 'waiting', 'ready', 'in_progress', 'retry_scheduled', 'unknown', 'review', 'reexecution_requested')`

// batchRows gives one row for each batch of a run, in the form of stageRowJSON: a batch
// stands for all its items. here says that the item is in its list and goes out; open that
// its list can still change.
func batchRows(run, item string) string {
	return `SELECT json_build_object('id', '', 'batch', z.id, 'stage', z.stage, 'no', z.stage_no, 'item', '', 'replacement', 0, 'delivery', '', 'reference', '',
		'state', CASE WHEN z.satisfied THEN 'confirmed' WHEN z.state IN ('rejected', 'cancelled') THEN z.state
			WHEN z.state = 'closed' AND NOT EXISTS (SELECT 1 FROM operations q WHERE q.batch_id = z.id AND q.state IN ` + openStates + `) THEN 'not_executed' ELSE 'in_progress' END,
		'open', z.state IN ('draft', 'pending_approval'),
		'here', ` + item + ` <> '' AND EXISTS (SELECT 1 FROM batch_items zi WHERE zi.batch_id = z.id AND zi.number = z.number AND zi.item_key = ` + item + ` AND zi.excluded = ''),
		'waived', EXISTS (SELECT 1 FROM stage_waivers w WHERE w.run_id = z.run_id AND w.stage = z.stage)) FROM batches z WHERE z.run_id = ` + run
}

// batchHeld says in a statement whether a batch is stopped or paused.
func batchHeld(batch string) string {
	return `COALESCE((SELECT CASE WHEN z.stopped_at IS NOT NULL THEN 'stopped' WHEN z.paused_at IS NOT NULL THEN 'paused' END FROM batches z WHERE z.id = ` + batch + `), '')`
}

// itemSuppressed says in a statement whether the recipient of an item l of a batch is on the
// suppression list now, as the version of the list that people approved names them.
var itemSuppressed = `COALESCE((SELECT zi.recipient <> '' AND ` + suppressedSQL("zi.recipient", "l.effect_type", "l.destination", "clock_timestamp()") + `
	FROM batches z JOIN batch_items zi ON zi.batch_id = z.id AND zi.number = z.number AND zi.position = l.batch_no WHERE z.id = l.batch_id), false)`

// besideSQL locks the operations that an operation of a run with batches looks at: $1 run,
// $2 itself, $3 its item.
var besideSQL = `SELECT ` + opColumns + ` FROM operations o WHERE o.id = ANY (ARRAY(SELECT s.id FROM ` + beside("CAST($1 AS text)", "CAST($3 AS text)") + ` s WHERE s.id <> $2))
	ORDER BY o.stage_no, o.item_key, o.replacement FOR UPDATE`
