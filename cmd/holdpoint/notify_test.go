package main

import (
	"strings"
	"testing"
)

func TestNoticeSettings(t *testing.T) {
	for name, c := range map[string]struct {
		n    Notices
		want string // "" = fits
	}{
		"nothing":            {Notices{}, ""},
		"mail":               {Notices{SMTPURL: "smtp://mail.example:587", MailFrom: "Holdpoint <h@shop.example>"}, ""},
		"no sender":          {Notices{SMTPURL: "smtp://mail.example:587"}, "belong together"},
		"no server":          {Notices{MailFrom: "h@shop.example"}, "belong together"},
		"a sender's name":    {Notices{SMTPURL: "smtp://mail.example:587", MailFrom: "Holdpoint"}, "HOLDPOINT_MAIL_FROM"},
		"not a mail server":  {Notices{SMTPURL: "https://u:hush@mail.example", MailFrom: "h@shop.example"}, "HOLDPOINT_SMTP_URL"},
		"password in clear":  {Notices{SMTPURL: "smtp://u:hush@mail.example?starttls=off", MailFrom: "h@shop.example"}, "unencrypted"},
		"not an API address": {Notices{SlackURL: "slack"}, "HOLDPOINT_SLACK_URL"},
	} {
		err := c.n.Validate()
		if err == nil {
			_, err = c.n.notify("https://holdpoint.example")
		}
		if (err == nil) != (c.want == "") || err != nil && (!strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "hush")) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	t.Setenv(slackTokenEnv, "xoxb-1")
	if ch := (Notices{}).channels(); ch.Mail || !ch.Slack {
		t.Errorf("channels %+v", ch)
	}
}
