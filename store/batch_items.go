package store

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"holdpoint/operation"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
)

// The differences of an item against the version before.
const (
	ItemAdded   = "added"
	ItemChanged = "changed"
	ItemDropped = "dropped"
	ItemSame    = "same"
)

// maxItemsPage bounds a page of items.
const maxItemsPage = 500

// seenBatch reads a batch that the viewer may know of.
func (s *Store) seenBatch(ctx context.Context, v Viewer, id operation.BatchID) (Batch, error) {
	var b Batch
	err := s.read(ctx, func(q *sqlx.DB) error {
		return q.GetContext(ctx, &b, `SELECT `+batchColumns+` FROM batches b WHERE b.id = $1`, string(id))
	})
	if err == nil && !v.Sees(b.Flow, b.Destination) {
		err = ErrNotFound
	}
	return b, err
}

// BatchItems gives a page of a version's items, by position.
func (s *Store) BatchItems(ctx context.Context, viewer Actor, q BatchQuery) (*BatchItemList, error) {
	v, err := s.FindViewer(ctx, viewer)
	if err != nil {
		return nil, err
	}
	return s.batchItems(ctx, v, q)
}

func (s *Store) batchItems(ctx context.Context, v Viewer, q BatchQuery) (*BatchItemList, error) {
	b, err := s.seenBatch(ctx, v, q.Batch)
	if err != nil {
		return nil, err
	}
	if q.Limit <= 0 || q.Limit > maxItemsPage {
		q.Limit = 50
	}
	if q.Number == 0 {
		q.Number = b.Number
	}
	text, args := q.sql(b)
	var rows []BatchItem
	if err := s.read(ctx, func(db *sqlx.DB) error {
		rows = nil
		return db.SelectContext(ctx, &rows, text, args...)
	}); err != nil {
		return nil, err
	}
	out := &BatchItemList{Items: rows}
	more := len(rows) > q.Limit
	if more {
		out.Items = rows[:q.Limit]
	}
	if q.Before > 0 {
		slices.Reverse(out.Items)
	}
	if n := len(out.Items); n > 0 {
		if more || q.Before > 0 {
			out.Next = out.Items[n-1].Position
		}
		if q.Before == 0 && q.After > 0 || q.Before > 0 && more {
			out.Prev = out.Items[0].Position
		}
	}
	return out, nil
}

// sql is the statement of one page. Where operations are asked for, their own index leads,
// else the items' key does. LATERAL with OFFSET 0 lets the others be found by their keys,
// whatever the planner thinks of the tables' sizes.
func (q BatchQuery) sql(b Batch) (string, []any) {
	var c conditions
	number := q.Number
	if q.Diff == ItemDropped {
		number-- // what was dropped stands in the version before
	}
	position := "i.position"
	byState := q.State != "" || q.Open || q.Bounced
	if byState {
		position = "o.batch_no"
		c.add("o.batch_id = ?", string(q.Batch))
	} else {
		c.add("i.batch_id = ?", string(q.Batch))
		c.add("i.number = ?", number)
	}
	order := "ASC"
	if q.Before > 0 {
		order = "DESC"
		c.add(position+" < ?", q.Before)
	} else if q.After > 0 {
		c.add(position+" > ?", q.After)
	}
	q.narrow(&c, b)
	columns := `i.number, i.position, CASE WHEN i.item_key LIKE E'\x01%' THEN '' ELSE i.item_key END AS item_key, i.recipient, i.title, i.excluded, i.problems, COALESCE(i.hash, '') AS hash, COALESCE(o.id, '') AS operation_id, COALESCE(o.state, '') AS state,
		COALESCE(o.delivery, '') AS delivery, COALESCE(o.remedy, '') AS remedy, ` + q.change()
	from := ""
	if byState {
		from = ` FROM operations o CROSS JOIN LATERAL (SELECT * FROM batch_items y WHERE y.batch_id = o.batch_id AND y.number = ` + c.arg(b.Number) + ` AND y.position = o.batch_no OFFSET 0) i`
	} else {
		from = ` FROM batch_items i LEFT JOIN LATERAL (SELECT * FROM operations y WHERE y.run_id = ` + c.arg(string(b.RunID)) + ` AND y.stage = ` + c.arg(b.Stage) + ` AND y.item_key = i.item_key AND y.replacement = 0
			AND i.excluded = '' AND i.number = ` + c.arg(b.Number) + ` OFFSET 0) o ON true`
	}
	if q.Bodies {
		columns += `, COALESCE(x.item, '') AS item, COALESCE(x.content, '') AS content, COALESCE(x.request, '') AS request`
		from += ` LEFT JOIN LATERAL (SELECT * FROM batch_bodies y WHERE y.batch_id = i.batch_id AND y.number = i.number AND y.position = i.position OFFSET 0) x ON true`
	}
	return `SELECT ` + columns + from + c.sql() + ` ORDER BY ` + position + ` ` + order + ` LIMIT ` + strconv.Itoa(q.Limit+1), c.args
}

func (q BatchQuery) narrow(c *conditions, b Batch) {
	if q.State.Valid() {
		c.where = append(c.where, "o.state = '"+string(q.State)+"'")
	}
	if q.Open {
		c.where = append(c.where, "o.state IN "+openStates)
	}
	if q.Bounced {
		c.where = append(c.where, "o.delivery IN ('bounced', 'complained', 'dropped')")
	}
	if q.Waiting {
		c.add("i.position > ? AND i.excluded = '' AND i.problems = ''", b.Released)
	}
	if q.Released {
		c.add("i.position <= ? AND i.excluded = ''", b.Released)
	}
	switch {
	case q.Why != "":
		c.add("i.excluded = ? AND i.excluded <> ''", string(q.Why))
	case q.Excluded:
		c.where = append(c.where, "i.excluded <> ''")
	}
	if q.Problem {
		c.where = append(c.where, "i.problems <> ''")
	}
	if x := strings.TrimSpace(q.Search); x != "" {
		like := "%" + likeText.Replace(storable(x)) + "%"
		name := c.arg(like)
		c.where = append(c.where, "(i.item_key ILIKE "+name+" OR i.recipient ILIKE "+name+" OR i.title ILIKE "+name+")")
	}
	old := func(step string) string {
		return "(SELECT p.hash FROM batch_items p WHERE p.batch_id = i.batch_id AND p.number = i.number" + step + " AND p.item_key = i.item_key AND p.excluded = '' LIMIT 1)"
	}
	is := func(step string) string {
		return "EXISTS (SELECT 1 FROM batch_items p WHERE p.batch_id = i.batch_id AND p.number = i.number" + step + " AND p.item_key = i.item_key AND p.excluded = '')"
	}
	switch q.Diff {
	case ItemAdded:
		c.where = append(c.where, "i.excluded = '' AND NOT "+is(" - 1"))
	case ItemDropped:
		c.where = append(c.where, "i.excluded = '' AND NOT "+is(" + 1"))
	case ItemChanged:
		c.where = append(c.where, "i.excluded = '' AND "+is(" - 1")+" AND "+old(" - 1")+" IS DISTINCT FROM i.hash")
	}
}

// change is the column that compares an item with the version before.
func (q BatchQuery) change() string {
	switch q.Diff {
	case ItemAdded, ItemChanged, ItemDropped:
		return "'" + q.Diff + "' AS change"
	}
	return "'' AS change"
}

// EachBatchItem hands out everything that a query finds, in the list's order, page by
// page, with bodies where the query asks for them.
func (s *Store) EachBatchItem(ctx context.Context, viewer Actor, q BatchQuery, fn func(BatchItem) error) error {
	q.After, q.Before, q.Limit = 0, 0, maxItemsPage
	for {
		v, err := s.readViewer(ctx, viewer) // rights that are taken away meanwhile end the list
		if err != nil {
			return err
		}
		page, err := s.batchItems(ctx, v, q)
		if err != nil {
			return err
		}
		for _, i := range page.Items {
			if err := fn(i); err != nil {
				return err
			}
		}
		if q.After = page.Next; q.After == 0 {
			return nil
		}
	}
}

// BatchPicks gives the items at these positions of a version, with their bodies, in the
// list's order. Positions that are not there are left out.
func (s *Store) BatchPicks(ctx context.Context, viewer Actor, id operation.BatchID, number int, positions []int) ([]BatchItem, error) {
	v, err := s.FindViewer(ctx, viewer)
	if err != nil {
		return nil, err
	}
	b, err := s.seenBatch(ctx, v, id)
	if err != nil {
		return nil, err
	}
	if number == 0 {
		number = b.Number
	}
	places := make([]int64, 0, len(positions))
	for _, p := range positions {
		places = append(places, int64(p))
	}
	q := BatchQuery{Batch: id, Number: number, Bodies: true, Limit: len(places)}
	text, args := q.sql(b)
	text = strings.Replace(text, " ORDER BY", " AND i.position = ANY($"+strconv.Itoa(len(args)+1)+") ORDER BY", 1)
	var rows []BatchItem
	err = s.read(ctx, func(db *sqlx.DB) error {
		rows = nil
		return db.SelectContext(ctx, &rows, text, append(args, pq.Array(places))...)
	})
	return rows, err
}
