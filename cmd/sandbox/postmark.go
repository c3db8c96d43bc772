package main

import (
	"net/http"
	"slices"
	"strings"
	"time"
)

// Postmark: 200 with a MessageID. No keys. The search of outbound messages
// filters by recipient, tag, subject and metadata, and lags.

const destPostmark = "postmark"

func postmarkFailure(status int, message string) answer {
	code := map[int]int{http.StatusUnauthorized: 10, http.StatusUnprocessableEntity: 300, http.StatusNotAcceptable: 406, http.StatusTooManyRequests: 429}[status]
	return postmarkError(status, code, message)
}

func postmarkError(status, code int, message string) answer {
	return jsonAnswer(status, map[string]any{"ErrorCode": code, "Message": message})
}

func postmarkAdmits(r *http.Request) bool {
	token := r.Header.Get("X-Postmark-Server-Token")
	return token != "" && token != "wrong"
}

func (s *sandbox) routePostmark(mux *http.ServeMux) {
	mux.HandleFunc("POST /postmark/email", s.endpoint(destPostmark, onEffect, sendPostmark))
	mux.HandleFunc("GET /postmark/messages/outbound", s.endpoint(destPostmark, onLookup, searchPostmark))
}

type postmarkOrder struct {
	From, To, Cc, Bcc, ReplyTo, Subject, Tag, HtmlBody, TextBody, MessageStream string
	TrackOpens                                                                  bool
	TrackLinks                                                                  string
	Metadata                                                                    map[string]string
	Headers                                                                     []struct{ Name, Value string }
}

func sendPostmark(c *call) answer {
	if !isJSONRequest(c) || !strings.Contains(c.request.Header.Get("Accept"), "application/json") {
		return postmarkError(http.StatusConflict, 402, "Only JSON is taken: Accept and Content-Type must be application/json.")
	}
	var o postmarkOrder
	if err := strictJSON(c.body, &o); err != nil {
		return postmarkError(http.StatusUnprocessableEntity, 402, "Received invalid JSON input.")
	}
	to := strings.Split(o.To, ",")
	switch {
	case !isAddress(o.From):
		return postmarkError(http.StatusUnprocessableEntity, 300, "Invalid 'From' address.")
	case o.To == "" || len(to) > 50 || slices.ContainsFunc(to, func(s string) bool { return !isAddress(s) }):
		return postmarkError(http.StatusUnprocessableEntity, 300, "Invalid 'To' address.")
	case o.TextBody == "" && o.HtmlBody == "":
		return postmarkError(http.StatusUnprocessableEntity, 300, "Provide either email TextBody or HtmlBody or both.")
	case strings.HasPrefix(o.To, "inactive@"):
		return postmarkError(http.StatusUnprocessableEntity, 406, "You tried to send to a recipient that has been marked as inactive.")
	case o.MessageStream != "" && o.MessageStream != "outbound":
		return postmarkError(http.StatusUnprocessableEntity, 1235, "The message stream does not exist.")
	}
	return c.execute(func() answer {
		e := c.takeMail(mailTaken{
			id: c.sandbox.ledger.nextID("pm", "-"), reference: o.Metadata["operation_id"], from: o.From, to: to, subject: o.Subject,
			text: o.TextBody, html: o.HtmlBody, more: map[string]any{"metadata": o.Metadata, "tag": o.Tag},
		})
		return executed(jsonAnswer(http.StatusOK, map[string]any{
			"To": o.To, "SubmittedAt": e.Time.Format(time.RFC3339Nano), "MessageID": e.ID, "ErrorCode": 0, "Message": "OK",
		}))
	})
}

func searchPostmark(c *call) answer {
	q := c.request.URL.Query()
	if q.Get("count") == "" || q.Get("offset") == "" {
		return postmarkError(http.StatusUnprocessableEntity, 600, "The 'count' and 'offset' parameters are required.")
	}
	var found []any
	for _, e := range c.indexed() {
		metadata, _ := e.Fields["metadata"].(map[string]string)
		to, _ := e.Fields["to"].([]string)
		fits := true
		for name, values := range q {
			switch field, isMetadata := strings.CutPrefix(name, "metadata_"); {
			case isMetadata:
				fits = fits && metadata[field] == values[0]
			case name == "recipient":
				fits = fits && slices.ContainsFunc(to, func(s string) bool { return addressOnly(s) == values[0] })
			case name == "tag" || name == "subject":
				fits = fits && text(e.Fields[name]) == values[0]
			}
		}
		if fits {
			found = append(found, map[string]any{
				"MessageID": e.ID, "MessageStream": "outbound", "Recipients": to, "From": e.Fields["from"], "Subject": e.Fields["subject"],
				"Tag": e.Fields["tag"], "Metadata": metadata, "Status": "Sent", "ReceivedAt": e.Time.Format(time.RFC3339Nano), "Attachments": []any{},
			})
		}
	}
	from := min(queryNumber(q.Get("offset"), 0, 10_000), len(found))
	page := found[from:min(len(found), from+queryNumber(q.Get("count"), 1, 500))]
	return jsonAnswer(http.StatusOK, map[string]any{"TotalCount": len(found), "Messages": append([]any{}, page...)})
}
