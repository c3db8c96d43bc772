package store

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"holdpoint/operation"

	"github.com/jmoiron/sqlx"
)

// NoticeSettings are how one person wants to be told.
type NoticeSettings struct {
	Modes    map[operation.NoticeKind]operation.NoticeMode // of every kind
	Mail     bool
	SlackID  string           // member ID at the installation's Slack; "" = no direct messages
	Quiet    *operation.Quiet // nil = no quiet hours
	DigestAt int              // minute of the local day
}

// FindNoticeSettings gives a person's settings, with the defaults where they set none.
func (s *Store) FindNoticeSettings(ctx context.Context, a Actor) (NoticeSettings, error) {
	var row noticePerson
	err := s.read(ctx, func(q *sqlx.DB) error {
		return q.GetContext(ctx, &row, `SELECT `+noticePersonColumns+` WHERE u.id = $1`, a.ID)
	})
	if err != nil {
		return NoticeSettings{}, err
	}
	if err := row.prepare(); err != nil {
		return NoticeSettings{}, err
	}
	n := NoticeSettings{Mail: row.Mail, SlackID: row.SlackID, DigestAt: row.DigestAt, Modes: map[operation.NoticeKind]operation.NoticeMode{}}
	if q := row.quiet(); q.From != q.To {
		n.Quiet = &q
	}
	for _, k := range operation.NoticeKinds {
		n.Modes[k] = row.mode(k)
	}
	return n, nil
}

var slackMember = regexp.MustCompile(`^[A-Z][A-Z0-9]{5,30}$`)

func (n NoticeSettings) check() error {
	minute := func(m int) bool { return m >= 0 && m < 24*60 }
	switch q := n.Quiet; {
	case n.SlackID != "" && !slackMember.MatchString(n.SlackID):
		return &Invalid{Field: "slack_id", Code: "slack_id_malformed"}
	case !minute(n.DigestAt):
		return &Invalid{Field: "digest_at", Code: "time_malformed"}
	case q == nil:
	case !minute(q.From):
		return &Invalid{Field: "quiet_from", Code: "time_malformed"}
	case !minute(q.To) || q.To == q.From:
		return &Invalid{Field: "quiet_to", Code: "quiet_empty"}
	}
	for k, m := range n.Modes {
		if !k.Allows(m) {
			return &Invalid{Field: "mode_" + string(k), Code: "mode_unknown"}
		}
	}
	return nil
}

// SaveNoticeSettings sets how the acting person is told; each sets their own. What they
// did not name stays as it is.
func (s *Store) SaveNoticeSettings(ctx context.Context, a Actor, n NoticeSettings) error {
	if a.UserID() == "" {
		return operation.Refuse(operation.CodeNotEntitled)
	}
	if err := n.check(); err != nil {
		return err
	}
	return s.write(ctx, func(t *tx) error {
		now, err := t.clock()
		if err != nil {
			return err
		}
		var active bool
		if err := t.get(&active, `SELECT active FROM users WHERE id = $1`, a.ID); err != nil {
			return err
		}
		if !active {
			return ErrNotFound
		}
		var from, to *int
		if n.Quiet != nil {
			from, to = &n.Quiet.From, &n.Quiet.To
		}
		if err := t.one(`INSERT INTO notice_people (user_id, mail, slack_id, quiet_from, quiet_to, digest_at) VALUES ($1, $2, $3, $4, $5, $6)
			ON CONFLICT (user_id) DO UPDATE SET mail = EXCLUDED.mail, slack_id = EXCLUDED.slack_id, quiet_from = EXCLUDED.quiet_from, quiet_to = EXCLUDED.quiet_to, digest_at = EXCLUDED.digest_at`,
			a.ID, n.Mail, n.SlackID, from, to, n.DigestAt); err != nil {
			return err
		}
		for _, k := range operation.NoticeKinds {
			m, ok := n.Modes[k]
			if !ok {
				continue
			}
			if err := t.one(`INSERT INTO notice_choices (user_id, kind, mode) VALUES ($1, $2, $3) ON CONFLICT (user_id, kind) DO UPDATE SET mode = EXCLUDED.mode`, a.ID, string(k), string(m)); err != nil {
				return err
			}
		}
		return t.enter(a, now, operation.SubjectUser, a.ID, "set_notices", "", "off", offKinds(n.Modes))
	})
}

// offKinds names what somebody does not want to be told of: whoever asks later why
// nobody was told finds it in the history.
func offKinds(modes map[operation.NoticeKind]operation.NoticeMode) string {
	var off []string
	for _, k := range operation.NoticeKinds {
		if modes[k] == operation.NoticeOff {
			off = append(off, string(k))
		}
	}
	slices.Sort(off)
	return strings.Join(off, ", ")
}
