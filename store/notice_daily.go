package store

import (
	"context"
	"strconv"
	"time"

	"holdpoint/operation"

	"github.com/jmoiron/sqlx"
)

// digestLate is how late a daily digest may still be planned, after an outage.
const digestLate = 2 * time.Hour

// PlanDigests plans the daily digest of everybody whose time has come since the last
// look and for whom something waits. What was gathered during the day goes with it, or
// alone where nothing waits. It returns how many it planned.
func (s *Store) PlanDigests(ctx context.Context, ch NoticeChannels) (int, error) {
	var at struct {
		From time.Time `db:"digested"`
		Now  time.Time `db:"now"`
	}
	var people []*noticePerson
	err := s.read(ctx, func(q *sqlx.DB) error {
		people = nil
		if err := q.GetContext(ctx, &at, `SELECT digested, clock_timestamp() AS now FROM notice_reading`); err != nil {
			return err
		}
		return q.SelectContext(ctx, &people, `SELECT `+noticePersonColumns+` WHERE u.active ORDER BY u.id`)
	})
	if err != nil {
		return 0, err
	}
	from, now := at.From.UTC(), at.Now.UTC().Truncate(time.Microsecond)
	if oldest := now.Add(-digestLate); from.Before(oldest) {
		from = oldest
	}
	var told []toldNotice
	for _, who := range people {
		if err := who.prepare(); err != nil {
			return 0, err
		}
		due := operation.NextClock(who.DigestAt, from, who.zone)
		if due.After(now) || who.mode(operation.NoticeDigest) == operation.NoticeOff || len(ch.of(who)) == 0 {
			continue
		}
		n, err := s.CountInbox(ctx, Person(who.ID, "", "job"))
		if err != nil {
			return 0, err
		}
		if n > 0 {
			told = append(told, toldNotice{row: noticeRow{Kind: operation.NoticeDigest, Subject: string(who.ID), Title: strconv.Itoa(n), Since: due}, who: []operation.UserID{who.ID}})
		}
	}
	return s.writeDigests(ctx, ch, at.From, now, told)
}

// writeDigests records them, unless another process has looked meanwhile.
func (s *Store) writeDigests(ctx context.Context, ch NoticeChannels, was, now time.Time, told []toldNotice) (int, error) {
	planned := 0
	err := s.write(ctx, func(t *tx) error {
		p := &noticePass{tx: t, channels: ch, now: now, told: told}
		n, err := t.exec(`UPDATE notice_reading SET digested = $2 WHERE digested = $1`, was, now)
		if err != nil || n == 0 {
			return err
		}
		if err := p.writeNotices(); err != nil {
			return err
		}
		planned = p.planned
		return nil
	})
	return planned, err
}
