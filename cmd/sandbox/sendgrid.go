package main

import (
	"net/http"
	"regexp"
	"strings"
	"time"
)

// SendGrid v3: 202 with an empty body, and the mail's name in the header
// X-Message-Id. No keys. Email Activity searches, and lags.

const destSendGrid = "sendgrid"

func sendgridFailure(status int, message string) answer { return sendgridError(status, message, nil) }

func sendgridError(status int, message string, field any) answer {
	return jsonAnswer(status, map[string]any{"errors": []any{map[string]any{"message": message, "field": field, "help": nil}}})
}

func (s *sandbox) routeSendGrid(mux *http.ServeMux) {
	mux.HandleFunc("POST /sendgrid/v3/mail/send", s.endpoint(destSendGrid, onEffect, sendSendGrid))
	mux.HandleFunc("GET /sendgrid/v3/messages", s.endpoint(destSendGrid, onLookup, searchSendGrid))
}

type sendgridAddress struct {
	Email string `json:"email"`
	Name  string `json:"name"`
}

type sendgridOrder struct {
	From             sendgridAddress  `json:"from"`
	ReplyTo          *sendgridAddress `json:"reply_to"`
	Personalizations []struct {
		To         []sendgridAddress `json:"to"`
		Cc         []sendgridAddress `json:"cc"`
		Bcc        []sendgridAddress `json:"bcc"`
		Subject    string            `json:"subject"`
		Headers    map[string]string `json:"headers"`
		CustomArgs map[string]string `json:"custom_args"`
	} `json:"personalizations"`
	Subject string `json:"subject"`
	Content []struct {
		Type  string `json:"type"`
		Value string `json:"value"`
	} `json:"content"`
	CustomArgs map[string]string `json:"custom_args"`
	Headers    map[string]string `json:"headers"`
	Categories []string          `json:"categories"`
}

// problem names the first field that is wrong; "" = none.
func (o sendgridOrder) problem() (field, message string) {
	switch {
	case len(o.Personalizations) == 0:
		return "personalizations", "The personalizations field is required and must have at least one personalization."
	case !isAddress(o.From.Email):
		return "from.email", "The from email does not contain a valid address."
	case o.Subject == "":
		return "subject", "The subject is required."
	case len(o.Content) == 0:
		return "content", "The content field must be defined."
	}
	for i, part := range o.Content {
		if part.Value == "" {
			return "content", "The content value must be a string at least one character in length."
		}
		if part.Type == "text/plain" && i > 0 {
			return "content", "If present, text/plain must be first, followed by text/html."
		}
	}
	size := 0
	for name, v := range o.CustomArgs {
		size += len(name) + len(v)
	}
	if size > 10_000 {
		return "custom_args", "The custom arguments are larger than 10,000 bytes."
	}
	for _, p := range o.Personalizations {
		if len(p.To) == 0 {
			return "personalizations.to", "The to array is required for all personalization objects, and must have at least one email object."
		}
		for _, to := range p.To {
			if !isAddress(to.Email) {
				return "personalizations.to.email", "Does not contain a valid address."
			}
		}
	}
	return "", ""
}

func sendSendGrid(c *call) answer {
	if !isJSONRequest(c) {
		return sendgridError(http.StatusUnsupportedMediaType, "Content-Type should be application/json.", nil)
	}
	var o sendgridOrder
	if err := strictJSON(c.body, &o); err != nil {
		return sendgridError(http.StatusBadRequest, "Bad Request: "+err.Error(), nil)
	}
	if field, message := o.problem(); message != "" {
		return sendgridError(http.StatusBadRequest, message, field)
	}
	return c.execute(func() answer {
		m := mailTaken{
			id: c.sandbox.ledger.nextID("sg", "-"), reference: o.CustomArgs["operation_id"], from: o.From.Email, subject: o.Subject,
			more: map[string]any{"custom_args": o.CustomArgs},
		}
		for _, to := range o.Personalizations[0].To {
			m.to = append(m.to, to.Email)
		}
		for _, part := range o.Content {
			if part.Type == "text/html" {
				m.html = part.Value
			} else {
				m.text = part.Value
			}
		}
		c.takeMail(m)
		return executed(answer{status: http.StatusAccepted, header: http.Header{"X-Message-Id": {m.id}}})
	})
}

var (
	sendgridCondition = regexp.MustCompile(`^\(?(?:(to_email|from_email|subject|msg_id|status)="([^"]*)"|\(?unique_args\['([^']+)'\]="([^"]*)"\)?)\)?$`)
	sendgridAnd       = regexp.MustCompile(`(?i) and `)
)

// searchSendGrid reads the query language as far as comparisons with AND go.
func searchSendGrid(c *call) answer {
	q := c.request.URL.Query()
	if q.Get("limit") == "" {
		return sendgridError(http.StatusBadRequest, "limit is required", "limit")
	}
	found := []any{}
	for _, e := range c.indexed() {
		fits := true
		for _, condition := range sendgridAnd.Split(strings.TrimSpace(q.Get("query")), -1) {
			m := sendgridCondition.FindStringSubmatch(strings.TrimSpace(condition))
			if m == nil {
				return sendgridError(http.StatusBadRequest, "invalid query: "+condition, "query")
			}
			fits = fits && sendgridFits(e, m)
		}
		if fits && len(found) < queryNumber(q.Get("limit"), 10, 1000) {
			to, _ := e.Fields["to"].([]string)
			found = append(found, map[string]any{
				"from_email": e.Fields["from"], "to_email": strings.Join(to, ","), "subject": e.Fields["subject"], "status": e.Fields["last_event"],
				"msg_id": e.ID + ".filterdrecv-5d4b8c9f-1-67A1-0", "opens_count": 0, "clicks_count": 0, "last_event_time": e.Time.Format(time.RFC3339),
			})
		}
	}
	return jsonAnswer(http.StatusOK, map[string]any{"messages": found})
}

func sendgridFits(e effect, m []string) bool {
	to, _ := e.Fields["to"].([]string)
	switch m[1] {
	case "":
		args, _ := e.Fields["custom_args"].(map[string]string)
		return args[m[3]] == m[4]
	case "to_email":
		return strings.Join(to, ",") == m[2]
	case "msg_id":
		return strings.HasPrefix(m[2], e.ID)
	}
	return text(e.Fields[map[string]string{"from_email": "from", "subject": "subject", "status": "last_event"}[m[1]]]) == m[2]
}
