package views

import (
	"context"
	"time"

	"holdpoint/operation"
)

// PathNotifications is where a person says how they want to be told.
const PathNotifications = PathAccount + "/notifications"

// FlashNoticesSaved says that the choices are kept.
const FlashNoticesSaved = "flash.notices_saved"

// NotificationsModel is the page of how the viewer is told, and of what they were told.
type NotificationsModel struct {
	Frame
	Form Form
	// Kinds are the choices, in their order.
	Kinds []NoticeChoice
	// MailSetUp and SlackSetUp say what this installation can do at all.
	MailSetUp, SlackSetUp bool
	// Mail is ticked when the viewer wants mails. SlackID is their member ID.
	Mail    bool
	SlackID string
	// QuietFrom, QuietTo and DigestAt are times of the viewer's day, "22:00"; "" = none.
	QuietFrom, QuietTo, DigestAt string
	Zone                         string
	// Sent lists the newest notices to the viewer, whatever became of them.
	Sent []NoticeLine
}

// NoticeChoice is when the viewer is told of one kind.
type NoticeChoice struct {
	Kind  operation.NoticeKind
	Modes []Option
}

// name is the choice's field.
func (c NoticeChoice) name() string { return "mode_" + string(c.Kind) }

// NoticeState is what became of a notice.
type NoticeState string

// The states of a notice.
const (
	NoticePlanned    NoticeState = "planned"    // it waits for its time
	NoticeSent       NoticeState = "sent"       // the server has it
	NoticeUnknown    NoticeState = "unknown"    // it may have arrived; it is sent again
	NoticeFailed     NoticeState = "failed"     // it did not arrive and is not tried again
	NoticeSuperseded NoticeState = "superseded" // decided before it was sent
)

var (
	noticeStates   = []NoticeState{NoticePlanned, NoticeSent, NoticeUnknown, NoticeFailed, NoticeSuperseded}
	noticeChannels = []string{"mail", "slack"}
	noticeModes    = []operation.NoticeMode{operation.NoticeNow, operation.NoticeInDaily, operation.NoticeOff}
)

// icon shows the state by its shape.
func (s NoticeState) icon() string {
	switch s {
	case NoticeSent:
		return "tick"
	case NoticeFailed:
		return "cross"
	case NoticeUnknown:
		return "unknown"
	case NoticeSuperseded:
		return "minus"
	}
	return "clock"
}

// NoticeLine is one notice in the viewer's list.
type NoticeLine struct {
	Kind    operation.NoticeKind
	Title   string // "" = the kind says it all
	Flow    string
	URL     string
	Channel string
	State   NoticeState
	At      time.Time // of its sending, or planned
	Trouble bool      // the newest try failed
}

// noticePlaces are the fields that can be wrong, in their order.
func noticePlaces(ctx context.Context, kinds []NoticeChoice) []place {
	var list []place
	for _, k := range kinds {
		list = append(list, place{k.name(), k.name(), t(ctx, "notifications.kind."+string(k.Kind))})
	}
	return append(list, []place{{"slack_id", "slack-id", t(ctx, "notifications.slack")}, {"quiet_from", "quiet-from", t(ctx, "notifications.quiet_from")},
		{"quiet_to", "quiet-to", t(ctx, "notifications.quiet_to")}, {"digest_at", "digest-at", t(ctx, "notifications.digest_at")}}...)
}

func slackHint(ctx context.Context, setUp bool) string {
	if !setUp {
		return t(ctx, "notifications.slack_not_set_up")
	}
	return t(ctx, "notifications.slack_hint")
}
