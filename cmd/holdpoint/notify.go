package main

import (
	"fmt"
	"net/mail"
	"net/url"
	"os"

	"holdpoint/connector/chat"
	"holdpoint/connector/order"
	"holdpoint/connector/smtp"
	"holdpoint/jobs"
	"holdpoint/store"
)

// Notices are the settings of how people are told.
type Notices struct {
	SMTPURL        string `env:"HOLDPOINT_SMTP_URL" name:"smtp-url" help:"Mail server for notices: smtp://user:password@host:587. Encrypted by STARTTLS, except on this machine; ?starttls=optional or off where there is no password. Empty: nobody is told by mail." group:"Notices"`
	MailFrom       string `env:"HOLDPOINT_MAIL_FROM" help:"Sender of notices, such as Holdpoint <holdpoint@shop.example>. Its domain is that of Message-IDs." group:"Notices"`
	SlackTokenFile string `env:"HOLDPOINT_SLACK_TOKEN_FILE" help:"File with the bot token (xoxb-…) for direct messages and for places of flows that name no token. Default: the environment variable HOLDPOINT_SLACK_TOKEN, where it is set. It is read at each use." group:"Notices"`
	SlackURL       string `env:"HOLDPOINT_SLACK_URL" help:"Address of the Slack API, or of a compatible one. Default: https://slack.com/api." group:"Notices"`
}

const slackTokenEnv = "HOLDPOINT_SLACK_TOKEN"

// Validate refuses settings that do not fit together.
func (n Notices) Validate() error {
	if (n.SMTPURL == "") != (n.MailFrom == "") {
		return fmt.Errorf("HOLDPOINT_SMTP_URL and HOLDPOINT_MAIL_FROM belong together")
	}
	if u, err := url.Parse(n.SlackURL); n.SlackURL != "" && (err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http") {
		return fmt.Errorf("HOLDPOINT_SLACK_URL is not an address")
	}
	return nil
}

// slackToken is where the bot token is; zero = there is none.
func (n Notices) slackToken() order.Ref {
	if n.SlackTokenFile != "" {
		return order.Ref{File: n.SlackTokenFile}
	}
	if os.Getenv(slackTokenEnv) != "" {
		return order.Ref{Env: slackTokenEnv}
	}
	return order.Ref{}
}

// channels says by what people can be reached.
func (n Notices) channels() store.NoticeChannels {
	return store.NoticeChannels{Mail: n.SMTPURL != "", Slack: n.slackToken() != order.Ref{}}
}

// notify prepares the channels. public is the address that links lead to.
func (n Notices) notify(public string) (*jobs.Notify, error) {
	if err := n.Validate(); err != nil {
		return nil, err
	}
	out := &jobs.Notify{PublicURL: public, SlackToken: n.slackToken(), Chat: &chat.Client{Env: os.LookupEnv, Slack: n.SlackURL, Local: n.SlackURL != ""}}
	if n.SMTPURL == "" {
		return out, nil
	}
	server, err := smtp.FromURL(n.SMTPURL)
	if err != nil {
		return nil, fmt.Errorf("HOLDPOINT_SMTP_URL: %w", err)
	}
	from, err := mail.ParseAddress(n.MailFrom)
	if err != nil {
		return nil, fmt.Errorf("HOLDPOINT_MAIL_FROM is not an address such as Holdpoint <holdpoint@shop.example>")
	}
	out.Mail = &jobs.Mail{Server: server, From: *from}
	return out, nil
}
