package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/mail"
	"strings"
	"time"
)

// What the services that send mail have in common: what a mail is in the
// ledger, and how its index lags behind.

// mailTaken is a mail that a service took.
type mailTaken struct {
	id, reference string
	from          string
	to            []string
	subject       string
	text, html    string
	more          map[string]any // what only this service knows
}

// takeMail records a mail as one effect.
func (c *call) takeMail(m mailTaken) effect {
	e := effect{
		Destination: c.destination, Effect: effectEmail, ID: m.id, Reference: m.reference, Key: c.key, RequestHash: hashOf(c.body), Time: c.now(),
		Fields: map[string]any{
			"id": m.id, "from": m.from, "to": m.to, "subject": m.subject, "text": m.text, "html": m.html,
			"created_at": c.now().Format(time.RFC3339Nano), "last_event": "accepted", "operation_id": m.reference,
		},
	}
	for name, v := range m.more {
		e.Fields[name] = v
	}
	e, _ = c.sandbox.ledger.add(e, uniqueNothing)
	return e
}

// indexed gives the mails that a search of this service sees, newest first.
func (c *call) indexed() []effect {
	until := c.now().Add(-c.searchLag())
	var out []effect
	all := c.sandbox.ledger.list(c.destination, "")
	for i := len(all) - 1; i >= 0; i-- {
		if !all[i].Time.After(until) {
			out = append(out, all[i])
		}
	}
	return out
}

// isAddress tells whether a text is one mail address, with or without a name.
func isAddress(s string) bool {
	_, err := mail.ParseAddress(s)
	return err == nil
}

// addressOnly takes the name from an address.
func addressOnly(s string) string {
	a, err := mail.ParseAddress(s)
	if err != nil {
		return s
	}
	return a.Address
}

// strictJSON reads one JSON value and refuses fields that the service does not know.
func strictJSON(body []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	return d.Decode(into)
}

func isJSONRequest(c *call) bool {
	return strings.HasPrefix(c.request.Header.Get("Content-Type"), "application/json")
}

// providers are the services that send mail, and the chats.
func providers() []system {
	day, anybody := duration{24 * time.Hour}, func(*http.Request) bool { return true }
	return []system{
		{name: destResend, title: "Resend", failure: mailAPI.failure, route: (*sandbox).routeResend, keyed: true, habits: destinationSettings{Retention: day}},
		{name: destSendGrid, title: "SendGrid", failure: sendgridFailure, route: (*sandbox).routeSendGrid, searched: true},
		{name: destPostmark, title: "Postmark", failure: postmarkFailure, route: (*sandbox).routePostmark, authorized: postmarkAdmits, searched: true},
		{name: destMailgun, title: "Mailgun", failure: mailgunFailure, route: (*sandbox).routeMailgun, authorized: mailgunAdmits, searched: true},
		{name: destSES, title: "Amazon SES", failure: sesFailure, route: (*sandbox).routeSES, authorized: sesAdmits},
		{name: destSlack, title: "Slack", failure: slackFailure, route: (*sandbox).routeSlack, searched: true},
		// the address of a webhook is its credential
		{name: destSlackHook, title: "Slack webhook", failure: slackHookFailure, route: (*sandbox).routeSlackHook, authorized: anybody},
		{name: destTeams, title: "Microsoft Teams", failure: teamsFailure, route: (*sandbox).routeTeams, authorized: anybody},
	}
}
