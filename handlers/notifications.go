package handlers

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/views"
	"holdpoint/web"

	"github.com/labstack/echo/v4"
)

// noticeRoutes are how a person is told.
func (s *site) noticeRoutes() []route {
	return []route{
		{get, views.PathNotifications, signedIn, "", s.notifications},
		{post, views.PathNotifications + "/choices", signedIn, views.PathNotifications, s.saveNotifications},
	}
}

func (s *site) notifications(c echo.Context) error {
	t, _ := kept(c)
	return s.showNotifications(c, http.StatusOK, t.of("choices"))
}

func (s *site) showNotifications(c echo.Context, status int, t typed) error {
	v, ctx := web.VisitOf(c), c.Request().Context()
	n, err := s.Store.FindNoticeSettings(ctx, v.Actor())
	if err != nil {
		return err
	}
	told, err := s.Store.ListNotices(ctx, v.Actor())
	if err != nil {
		return err
	}
	m := views.NotificationsModel{Form: newForm(t, views.PathNotifications+"/choices"), MailSetUp: s.Told.Mail, SlackSetUp: s.Told.Slack,
		Mail: n.Mail, SlackID: t.or("slack_id", n.SlackID), DigestAt: t.or("digest_at", clock(n.DigestAt)), Zone: v.Printer().Zone.String()}
	if n.Quiet != nil {
		m.QuietFrom, m.QuietTo = clock(n.Quiet.From), clock(n.Quiet.To)
	}
	m.QuietFrom, m.QuietTo = t.or("quiet_from", m.QuietFrom), t.or("quiet_to", m.QuietTo)
	if t.fields != nil {
		m.Mail = t.yes("mail")
	}
	for _, k := range operation.NoticeKinds {
		chosen := t.or("mode_"+string(k), string(n.Modes[k]))
		choice := views.NoticeChoice{Kind: k}
		for _, mode := range k.Modes() {
			choice.Modes = append(choice.Modes, views.Option{Value: string(mode), Selected: string(mode) == chosen})
		}
		m.Kinds = append(m.Kinds, choice)
	}
	for _, x := range told {
		m.Sent = append(m.Sent, noticeLine(x, v))
	}
	m.Frame = web.Frame(c, views.SectionAccount)
	return web.RenderStatus(c, status, views.NotificationsPage(m))
}

// noticeLine is one notice as its reader sees it in their list.
func noticeLine(n store.NoticeSeen, v *web.Visit) views.NoticeLine {
	line := views.NoticeLine{Kind: n.Kind, Title: n.Title, Flow: inLanguage(n.FlowTitle, v.Printer().Lang), Channel: n.Channel, State: views.NoticeState(n.State),
		At: n.Planned, Trouble: n.LastError != "" && (n.State == "planned" || n.State == "unknown")}
	if n.Sent != nil {
		line.At = *n.Sent
	}
	switch {
	case strings.HasPrefix(n.Subject, "op_"):
		line.URL = pathOperation(operation.ID(n.Subject))
	case strings.HasPrefix(n.Subject, "run_"):
		line.URL = pathRun(operation.RunID(n.Subject))
	case n.Kind == operation.NoticeAlert:
		line.URL = views.PathInstallation
	case n.Kind == operation.NoticeDigest:
		line.URL, line.Title = views.PathInbox, ""
	}
	return line
}

func inLanguage(t map[string]string, lang string) string {
	if s := t[lang]; s != "" {
		return s
	}
	return t["en"]
}

// saveNotifications keeps how the person wants to be told.
func (s *site) saveNotifications(c echo.Context) error {
	t, err := sent(c)
	if err != nil {
		return err
	}
	n := store.NoticeSettings{Mail: t.yes("mail"), SlackID: t.text("slack_id"), Modes: map[operation.NoticeKind]operation.NoticeMode{}}
	for _, k := range operation.NoticeKinds {
		if mode := t.text("mode_" + string(k)); mode != "" {
			n.Modes[k] = operation.NoticeMode(mode)
		}
	}
	minute := func(field string) int {
		m, ok := minuteOf(t.text(field))
		if !ok {
			t.wrong(field, views.Invalid("time_malformed", 0))
		}
		return m
	}
	n.DigestAt = minute("digest_at")
	if t.text("quiet_from") != "" || t.text("quiet_to") != "" {
		n.Quiet = &operation.Quiet{From: minute("quiet_from"), To: minute("quiet_to")}
	}
	if len(t.errors) == 0 {
		err = s.Store.SaveNoticeSettings(c.Request().Context(), web.VisitOf(c).Actor(), n)
		if field, say, ok := invalidOf(err); ok {
			t.wrong(field, say)
		} else if err != nil {
			return err
		}
	}
	if len(t.errors) > 0 {
		return s.showNotifications(c, http.StatusUnprocessableEntity, t)
	}
	return done(c, views.PathNotifications, views.FlashNoticesSaved)
}

// clock writes a minute of the day as forms do.
func clock(minute int) string { return fmt.Sprintf("%02d:%02d", minute/60, minute%60) }

// minuteOf reads it; browsers may send seconds too.
func minuteOf(s string) (minute int, ok bool) {
	for _, layout := range []string{"15:04", "15:04:05"} {
		if at, err := time.Parse(layout, s); err == nil {
			return at.Hour()*60 + at.Minute(), true
		}
	}
	return 0, false
}
