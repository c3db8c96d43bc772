package store

import (
	"context"

	"holdpoint/operation"
)

// suppressedToComeSQL counts the rows of the batch $1, of version $2 behind $3, that are to be
// sent and one of whose recipients is on the suppression list now, for the effect $4 or the
// destination $5: those that takeItemsSQL finds suppressed. It looks the list up once for all
// rows instead of once for each.
const suppressedToComeSQL = `SELECT count(DISTINCT i.position) FROM (SELECT y.position, y.recipient FROM batch_items y WHERE y.batch_id = $1 AND y.number = $2 AND y.position > $3 AND y.excluded = '' AND y.recipient <> '') i
	CROSS JOIN LATERAL unnest(string_to_array(CASE WHEN octet_length(i.recipient) = length(i.recipient) THEN i.recipient ELSE visible_address(i.recipient) END, ', ')) AS r(address)
	JOIN suppressions s ON s.address = r.address
	WHERE s.lifted_at IS NULL AND s.since <= clock_timestamp() AND (s.until_at IS NULL OR s.until_at > clock_timestamp())
		AND (s.scope = 'all' OR s.scope = 'effect' AND s.channel = $4 OR s.scope = 'destination' AND s.channel = $5)`

// SuppressedToCome is how many rows of a batch's current version, of those that are to be sent
// and are no operation yet, go to somebody who is on the suppression list now. They are not
// sent when their turn comes, unless their entries end before.
func (s *Store) SuppressedToCome(ctx context.Context, viewer Actor, id operation.BatchID) (n int, err error) {
	v, err := s.FindViewer(ctx, viewer)
	if err != nil {
		return 0, err
	}
	err = s.snapshot(ctx, func(t *tx) error {
		c, err := t.peekBatch(viewer, id)
		if err != nil {
			return err
		}
		if !v.Sees(c.b.Flow, c.b.Destination) {
			return ErrNotFound
		}
		return t.get(&n, suppressedToComeSQL, string(id), c.b.Number, c.b.Released, c.b.EffectType, c.b.Destination)
	})
	return n, err
}
