package store

import (
	"context"
	"time"

	"holdpoint/operation"
	"holdpoint/operation/definition"

	"github.com/lib/pq"
	"github.com/riverqueue/river"
)

// NoticeOrder is one message that may be sent now, once, until its lease ends.
type NoticeOrder struct {
	ID      operation.NoticeID
	Channel string
	Attempt int       // from 1
	Message string    // Message-ID without brackets; the same at every try
	At      time.Time // frozen with the Message-ID: the mail's date
	Now     time.Time
	Created time.Time // when the notice was recorded
	// To is the person; without one, Place is the chat place of the flow.
	To     NoticeReader
	Place  definition.ChatPlace
	Bundle bool // several in one message, whatever their number
	Items  []NoticeItem
	Remote string // of an update: where the chat keeps the message

	ids []string
}

// NoticeReader is who reads a message. Of a place, only the language is known.
type NoticeReader struct {
	ID      operation.UserID `db:"id"`
	Email   string           `db:"email"`
	Name    string           `db:"name"`
	Locale  string           `db:"locale"`
	Zone    string           `db:"zone"`
	SlackID string           `db:"slack_id"`
}

// NoticeItem is one thing that a message tells of. It holds titles, never content.
type NoticeItem struct {
	ID         operation.NoticeID
	Kind       operation.NoticeKind
	Step       int
	Subject    string // an operation, a run, the installation, or a person's day
	Title      string
	FlowTitle  map[string]string // by language
	StageTitle map[string]string
	Due        time.Time       // zero = none
	State      operation.State // of the operation, now
	Reason     string          // of an alert: the stored reason of the pause
	Limit      *LimitNotice    // of a limit
	Report     *ReportNotice   // of a review
	Task       *TaskNotice     // of an improvement task
}

// noticeSent is a row as it is claimed.
type noticeSent struct {
	ID         operation.NoticeID   `db:"id"`
	Kind       operation.NoticeKind `db:"kind"`
	Subject    string               `db:"subject"`
	Flow       string               `db:"flow"`
	Title      string               `db:"title"`
	Decision   string               `db:"decision"`
	Since      time.Time            `db:"since"`
	Step       int                  `db:"step"`
	Addressee  string               `db:"addressee"`
	User       operation.UserID     `db:"user_id"`
	Channel    string               `db:"channel"`
	Bundle     string               `db:"bundle"`
	PlannedFor time.Time            `db:"planned_for"`
	State      string               `db:"state"`
	Attempts   int                  `db:"attempts"`
	Lease      *time.Time           `db:"lease_until"`
	CarriedBy  operation.NoticeID   `db:"carried_by"`
	Message    string               `db:"message_id"`
	Remote     string               `db:"remote"`
	Live       bool                 `db:"live"`
	Created    time.Time            `db:"created_at"`
	Dated      *time.Time           `db:"dated"`
}

const sentColumns = `id, kind, subject, flow, title, decision, since, step, addressee, COALESCE(user_id, '') AS user_id, channel, bundle, planned_for, state, attempts,
	lease_until, COALESCE(carried_by, '') AS carried_by, message_id, remote, live, created_at, dated`

// bundleLimit bounds how many notices one message carries.
const bundleLimit = 500

// ClaimNotice takes one notice, or the bundle that it belongs to, for one try of at most
// lease. What is decided meanwhile, or must not be told any more, is superseded instead.
// domain is the right side of new Message-IDs. ErrNotFound: there is nothing to send.
func (s *Store) ClaimNotice(ctx context.Context, id operation.NoticeID, domain string, lease time.Duration) (NoticeOrder, error) {
	var o NoticeOrder
	err := s.write(ctx, func(t *tx) error {
		o = NoticeOrder{}
		now, err := t.clock()
		if err != nil {
			return err
		}
		lead, rows, err := t.noticesToSend(id, now)
		switch {
		case err != nil:
			return err
		case len(rows) == 0:
			return errDone
		}
		c := &noticeClaim{tx: t, now: now}
		kept, err := c.current(rows)
		if err != nil || len(kept) == 0 {
			return err
		}
		if kept[0].ID != lead.ID && lead.Attempts == 0 {
			lead = kept[0] // the first one is superseded: another one carries the rest
		}
		o, err = c.order(lead, kept, domain)
		if err != nil {
			return err
		}
		carried := ""
		if lead.Bundle != "" {
			carried = string(lead.ID)
		}
		_, err = t.exec(`UPDATE notices SET lease_until = $2, attempts = attempts + 1, carried_by = NULLIF($3, ''), message_id = CASE WHEN id = $4 THEN $5 ELSE message_id END, dated = CASE WHEN id = $4 THEN CAST($6 AS timestamptz) ELSE dated END WHERE id = ANY($1)`,
			pq.Array(o.ids), now.Add(lease), carried, string(lead.ID), o.Message, o.At)
		return err
	})
	if err == nil && o.ID == "" {
		err = ErrNotFound
	}
	return o, err
}

// noticesToSend locks what would be sent now: the notice, or those of its bundle that are
// due. A bundle that was tried before is tried again as it was: its Message-ID stands for
// these and no others.
func (t *tx) noticesToSend(id operation.NoticeID, now time.Time) (lead noticeSent, rows []noticeSent, err error) {
	if err = t.get(&lead, `SELECT `+sentColumns+` FROM notices WHERE id = $1 FOR UPDATE SKIP LOCKED`, string(id)); err != nil {
		if isGone(err) {
			err = nil
		}
		return lead, nil, err
	}
	open := lead.State == "planned" || lead.State == "unknown"
	if !open || lead.PlannedFor.After(now) || lead.Lease != nil && lead.Lease.After(now) || lead.CarriedBy != "" && lead.CarriedBy != lead.ID {
		return lead, nil, nil
	}
	if lead.Bundle == "" {
		return lead, []noticeSent{lead}, nil
	}
	err = t.list(&rows, `SELECT `+sentColumns+` FROM notices WHERE addressee = $1 AND channel = $2 AND bundle = $3 AND state IN ('planned', 'unknown') AND planned_for <= $4
		AND (lease_until IS NULL OR lease_until <= $4) AND ((carried_by IS NULL AND $5 = 0) OR carried_by = $6 OR id = $6) ORDER BY id <> $6, created_at, id LIMIT $7 FOR UPDATE SKIP LOCKED`,
		lead.Addressee, lead.Channel, lead.Bundle, now, lead.Attempts, string(lead.ID), bundleLimit)
	return lead, rows, err
}

// NoticeResult is what is known after one try. Neither Sent nor Unknown nor Permanent: it
// provably did not arrive, and is tried again.
type NoticeResult struct {
	Sent, Unknown, Permanent bool
	Retry                    time.Duration // until the next try
	Code, Detail             string        // no secrets
	Remote                   string        // where the chat keeps the message
}

// noticeLife is how long a notice is tried.
const noticeLife = 3 * 24 * time.Hour

// RecordNotice writes what became of a try and plans the next one. The result of a try
// that was taken over by another is dropped.
func (s *Store) RecordNotice(ctx context.Context, o NoticeOrder, r NoticeResult) error {
	return s.write(ctx, func(t *tx) error {
		now, err := t.clock()
		if err != nil {
			return err
		}
		var lead noticeSent
		if err := t.get(&lead, `SELECT `+sentColumns+` FROM notices WHERE id = $1 FOR UPDATE`, string(o.ID)); err != nil {
			return err
		}
		if lead.Attempts != o.Attempt || lead.State != "planned" && lead.State != "unknown" {
			return errDone
		}
		state, next := "planned", now.Add(max(r.Retry, time.Second))
		switch {
		case r.Sent:
			state, next = "sent", lead.PlannedFor
		case r.Permanent || now.Sub(lead.Created) > noticeLife:
			state, next = "failed", lead.PlannedFor
		case r.Unknown || lead.State == "unknown": // an earlier try may have arrived
			state = "unknown"
		}
		what := ""
		if !r.Sent {
			what = short(r.Code+": "+r.Detail, 500)
		}
		live := r.Sent && o.Channel == ChannelSlack && lead.Decision != "" && lead.Bundle == "" && r.Remote != ""
		if _, err := t.exec(`UPDATE notices SET state = $2, lease_until = NULL, planned_for = CASE WHEN $2 IN ('planned', 'unknown') THEN CAST($3 AS timestamptz) ELSE planned_for END,
			last_error = $4, sent_at = CASE WHEN $2 = 'sent' THEN CAST($5 AS timestamptz) END, remote = CASE WHEN id = $6 THEN $7 ELSE remote END, live = live OR (CAST($8 AS boolean) AND id = $6) WHERE id = ANY($1)`,
			pq.Array(o.ids), state, next, what, now, string(o.ID), r.Remote, live); err != nil {
			return err
		}
		if state == "planned" || state == "unknown" {
			return t.wakeNotices([]river.InsertManyParams{noticeWake(o.ID, o.Attempt, o.Channel, next)})
		}
		return nil
	})
}
