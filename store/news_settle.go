package store

import (
	"context"
	"crypto/sha256"
	"errors"
	"strconv"
	"time"

	"holdpoint/operation"

	"github.com/jmoiron/sqlx"
)

// TieNewsByHand ties news to the operation that a person names, with their reason: the
// flow's owner, its reviewer, or an ops owner. What it proves is confirmed by that person,
// not by the destination. News of another destination or account is never tied.
func (s *Store) TieNewsByHand(ctx context.Context, a Actor, id NewsID, op operation.ID, formID, reason string) error {
	reason, err := reasonGiven(reason)
	if err != nil {
		return err
	}
	if formID == "" {
		return operation.Refuse(operation.CodeStaleRevision)
	}
	err = s.change(ctx, a, op, func(u *unit) error {
		who, err := u.person(a, u.op.Flow)
		if err != nil {
			return err
		}
		if refusal := u.mayTie(who); refusal != nil {
			return refusal
		}
		n, err := u.lockNews(id)
		if err != nil {
			return err
		}
		if n.State == NewsTied {
			return n.decidedBy(a, formID)
		}
		if err := u.tied(n, formID, reason); err != nil {
			return err
		}
		u.note(u.op, "news_tied", reason, "news", string(n.ID), "kind", string(n.Kind))
		return u.told(n.callback(u.op.ID), "person", "news", string(n.ID))
	})
	s.noteRefused(ctx, a, op, err)
	return err
}

// mayTie lets the flow's owner, its reviewer and ops owners tie news by hand.
func (u *unit) mayTie(who operation.Person) *operation.Refusal {
	if u.flow.Owner.Matches(who) || u.flow.Reviewer.Matches(who) || who.Has(operation.RoleOpsOwner) {
		return nil
	}
	p := u.people(u.op)
	return operation.Refuse(operation.CodeNotEntitled, "role", string(p.Reviewer.Role)).By(p.Reviewer)
}

// decidedBy: the same form again is the same decision, another one comes too late.
func (n newsRow) decidedBy(a Actor, form string) error {
	if n.FormID == form && n.SettledBy == a.UserID() && form != "" {
		return errDone
	}
	return operation.Refuse(operation.CodeAlreadyDecided)
}

// PutNewsAside ends the waiting of news that belongs to no operation here, with a person's
// reason: an ops owner or an admin. It can still be tied later.
func (s *Store) PutNewsAside(ctx context.Context, a Actor, id NewsID, formID, reason string) error {
	reason, err := reasonGiven(reason)
	if err != nil {
		return err
	}
	if formID == "" {
		return operation.Refuse(operation.CodeStaleRevision)
	}
	return s.write(ctx, func(t *tx) error {
		if err := t.mayBe(a, "", operation.RoleOpsOwner, operation.RoleAdmin); err != nil {
			return err
		}
		n, err := t.lockNews(id)
		if err != nil {
			return err
		}
		if n.State != NewsWaiting {
			return n.decidedBy(a, formID)
		}
		now, err := t.clock()
		if err != nil {
			return err
		}
		if err := t.one(`UPDATE news SET state = 'aside', settled_at = $2, settled_by = $3, reason = $4, form_id = $5 WHERE id = $1`, string(id), now, a.ID, reason, formID); err != nil {
			return err
		}
		return t.enter(a, now, operation.SubjectDestination, n.Destination, "news_aside", reason, "news", string(id), "kind", string(n.Kind), "reference", n.Reference)
	})
}

const (
	newsFresh   = time.Hour           // how long waiting news is looked at in every sweep
	newsWindow  = 500                 // how much of it at once
	asideBodies = 30 * 24 * time.Hour // how long the body of what was put aside is kept
)

// SweepNews ties news whose operation has become known since it came: what came in the last
// hour, or all of it. It returns how much it tied.
func (s *Store) SweepNews(ctx context.Context, a Actor, all bool) (int, error) {
	since := newsFresh
	if all {
		since = operation.NewsTerm + 24*time.Hour
	}
	// only what fits is taken, so that what waits for long does not stand in the way
	done, err := s.tieFits(ctx, a, `SELECT f.id, f.op FROM (`+newsFits+`news n`+newsFitsWaiting+` AND n.received_at > clock_timestamp() - make_interval(secs => $1)) f
		WHERE f.op IS NOT NULL LIMIT $2`, since.Seconds(), newsWindow)
	return len(done), err
}

// SweepNewsTerm puts aside what has waited for its term, and forgets what has served: bodies
// of what was put aside long ago, and tokens that are too old to be believed. It returns how
// much was put aside.
func (s *Store) SweepNewsTerm(ctx context.Context, a Actor) (int, error) {
	var due []struct {
		Destination string `db:"destination"`
	}
	err := s.read(ctx, func(q *sqlx.DB) error {
		due = nil
		return q.SelectContext(ctx, &due, `SELECT DISTINCT destination FROM (SELECT destination FROM news WHERE state = 'waiting'
			AND received_at < clock_timestamp() - make_interval(secs => $1) ORDER BY received_at LIMIT 5000) n`, operation.NewsTerm.Seconds())
	})
	n := 0
	for _, d := range due {
		e := s.write(ctx, func(t *tx) error {
			now, err := t.clock()
			if err != nil {
				return err
			}
			gone, err := t.exec(`UPDATE news SET state = 'aside', settled_at = $1 WHERE state = 'waiting' AND destination = $2 AND received_at < $3`, now, d.Destination, now.Add(-operation.NewsTerm))
			if err != nil || gone == 0 {
				return err
			}
			n += int(gone)
			return t.enter(a, now, operation.SubjectDestination, d.Destination, "news_expired", "", "count", strconv.FormatInt(gone, 10))
		})
		err = errors.Join(err, e)
	}
	return n, errors.Join(err, s.write(ctx, func(t *tx) error {
		if _, err := t.exec(`UPDATE news SET body = '' WHERE id IN (SELECT id FROM news WHERE state = 'aside' AND body <> '' AND settled_at < clock_timestamp() - make_interval(secs => $1) LIMIT 5000)`, asideBodies.Seconds()); err != nil {
			return err
		}
		_, err := t.exec(`DELETE FROM callback_tokens WHERE expires_at < clock_timestamp()`)
		return err
	}))
}

// RefusedCallback is a callback that was not believed, or that could not be read.
type RefusedCallback struct {
	Destination string
	Code        string    `db:"code"` // a stable word
	Detail      string    `db:"detail"`
	Status      int       `db:"status"` // what was answered
	Size        int       `db:"size"`
	SkewMillis  *int64    `db:"skew_ms"` // the sender's measured clock skew
	At          time.Time `db:"at"`
}

// RefuseCallback records a refusal: where and why, never the body. Everybody may send
// rubbish, so a minute keeps only so many.
func (s *Store) RefuseCallback(ctx context.Context, in RefusedCallback, body []byte) error {
	sum := sha256.Sum256(body)
	return s.write(ctx, func(t *tx) error {
		_, err := t.exec(`INSERT INTO callback_refusals (id, destination, code, detail, status, body_hash, size, skew_ms, at)
			SELECT $1, $2, $3, $4, $5, $6, $7, $8, clock_timestamp() WHERE (SELECT count(*) FROM (SELECT 1 FROM callback_refusals r
				WHERE r.destination = $2 AND r.at > clock_timestamp() - interval '1 minute' LIMIT CAST($9 AS int)) k) < $9`,
			newID("cbr"), in.Destination, clean(in.Code), clean(in.Detail), in.Status, sum[:], in.Size, in.SkewMillis, keptPerMinute)
		return err
	})
}

// ConfirmedTopic records that the subscription of an SNS topic was confirmed.
func (s *Store) ConfirmedTopic(ctx context.Context, a Actor, destination, topic string) error {
	return s.write(ctx, func(t *tx) error {
		now, err := t.clock()
		if err != nil {
			return err
		}
		return t.enter(a, now, operation.SubjectDestination, destination, "topic_confirmed", "", "topic", topic)
	})
}
