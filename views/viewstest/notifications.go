package viewstest

import (
	"strings"
	"time"

	"holdpoint/operation"
	"holdpoint/views"
)

func noticeFixtures() []Fixture {
	none := notifications()
	none.MailSetUp, none.SlackSetUp, none.SlackID, none.Sent = false, false, "", nil
	none.QuietFrom, none.QuietTo = "", ""
	wrong := notifications()
	wrong.SlackID, wrong.QuietTo = "#general", "22:00"
	wrong.Form.Errors = map[string]views.Say{"slack_id": views.Invalid("slack_id_malformed", 0), "quiet_to": views.Invalid("quiet_empty", 0)}
	saved := notifications()
	saved.Flash = []views.Flash{{Kind: views.FlashDone, Say: views.Sentence(views.FlashNoticesSaved)}}
	return []Fixture{
		{"notifications", views.NotificationsPage(saved)},
		{"notifications-none", views.NotificationsPage(none)},
		{"notifications-wrong", views.NotificationsPage(wrong)},
	}
}

func notifications() views.NotificationsModel {
	m := views.NotificationsModel{Frame: frame(views.SectionAccount, views.PathNotifications), Form: views.Form{Action: views.PathNotifications + "/choices", FormID: "f14"},
		MailSetUp: true, SlackSetUp: true, Mail: true, SlackID: "U0123456789", QuietFrom: "22:00", QuietTo: "07:00", DigestAt: "08:00", Zone: "Europe/Warsaw"}
	for _, k := range operation.NoticeKinds {
		c := views.NoticeChoice{Kind: k}
		for _, mode := range k.Modes() {
			c.Modes = append(c.Modes, views.Option{Value: string(mode), Selected: mode == k.Default()})
		}
		m.Kinds = append(m.Kinds, c)
	}
	line := func(k operation.NoticeKind, title, channel string, state views.NoticeState, at time.Duration) views.NoticeLine {
		return views.NoticeLine{Kind: k, Title: title, Flow: "Campaign follow-up", URL: "/operations/" + string(opTask), Channel: channel, State: state, At: ago(at)}
	}
	m.Sent = []views.NoticeLine{
		line(operation.NoticeUnknown, "Call C-1042 about Spring", "mail", views.NoticeSent, 5*time.Minute),
		line(operation.NoticeUnknown, "Call C-1042 about Spring", "slack", views.NoticeUnknown, 5*time.Minute),
		line(operation.NoticeOverdue, "C-2077様への電話（春のキャンペーン）", "mail", views.NoticePlanned, 8*time.Minute),
		line(operation.NoticeReexecution, strings.Repeat("A title that goes on ", 12), "mail", views.NoticeSuperseded, 26*time.Hour),
		{Kind: operation.NoticeAlert, URL: views.PathInstallation, Channel: "mail", State: views.NoticeFailed, At: ago(50 * time.Hour)},
		{Kind: operation.NoticeDigest, URL: views.PathInbox, Channel: "mail", State: views.NoticeSent, At: ago(90 * time.Minute)},
	}
	m.Sent[1].Trouble, m.Sent[2].Trouble = true, true
	return m
}
