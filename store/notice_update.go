package store

import (
	"context"

	"holdpoint/operation"
)

// ClaimNoticeUpdate gives a chat message whose matter is decided, as it stands now, so
// that it can be changed. ErrNotFound: there is nothing to change.
func (s *Store) ClaimNoticeUpdate(ctx context.Context, id operation.NoticeID) (NoticeOrder, error) {
	var o NoticeOrder
	err := s.write(ctx, func(t *tx) error {
		var n noticeSent
		if err := t.get(&n, `SELECT `+sentColumns+` FROM notices WHERE id = $1 AND live FOR UPDATE SKIP LOCKED`, string(id)); err != nil {
			return err
		}
		now, err := t.clock()
		if err != nil {
			return err
		}
		c := &noticeClaim{tx: t, now: now}
		if err := c.read([]noticeSent{n}); err != nil {
			return err
		}
		if c.ops[n.Subject].waits(n) {
			return ErrNotFound
		}
		o, err = c.order(n, []noticeSent{n}, "")
		return err
	})
	return o, err
}

// RecordNoticeUpdate records that a chat message says what became of its matter, or that
// it never will.
func (s *Store) RecordNoticeUpdate(ctx context.Context, id operation.NoticeID, trouble string) error {
	return s.write(ctx, func(t *tx) error {
		_, err := t.exec(`UPDATE notices SET live = false, last_error = $2 WHERE id = $1 AND live`, string(id), short(trouble, 500))
		return err
	})
}
