package main

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Mailgun v3: a form, and 200 with the mail's Message-ID. No keys. Events can be
// searched by tag, not by variables, and lag.

const destMailgun = "mailgun"

func mailgunFailure(status int, message string) answer {
	if status == http.StatusUnauthorized {
		return answer{status: status, header: http.Header{"Content-Type": {"text/plain"}}, body: []byte("Forbidden")}
	}
	return jsonAnswer(status, map[string]any{"message": message})
}

func mailgunAdmits(r *http.Request) bool {
	user, password, ok := r.BasicAuth()
	return ok && user != "" && password != "" && password != "wrong"
}

func (s *sandbox) routeMailgun(mux *http.ServeMux) {
	mux.HandleFunc("POST /mailgun/v3/{domain}/messages", s.endpoint(destMailgun, onEffect, sendMailgun))
	mux.HandleFunc("GET /mailgun/v3/{domain}/events", s.endpoint(destMailgun, onLookup, searchMailgun))
}

// formFields reads both kinds of form. A file is none of a message's fields here.
func formFields(kind string, body []byte) (url.Values, error) {
	media, params, err := mime.ParseMediaType(kind)
	switch {
	case err != nil:
		return nil, err
	case media == "application/x-www-form-urlencoded":
		return url.ParseQuery(string(body))
	case media != "multipart/form-data":
		return nil, errors.New("the body is no form")
	}
	out, parts := url.Values{}, multipart.NewReader(bytes.NewReader(body), params["boundary"])
	for {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		value, err := io.ReadAll(part)
		if err != nil {
			return nil, err
		}
		out.Add(part.FormName(), string(value))
	}
}

func sendMailgun(c *call) answer {
	f, err := formFields(c.request.Header.Get("Content-Type"), c.body)
	if err != nil {
		return mailgunFailure(http.StatusBadRequest, "The form cannot be read: "+err.Error())
	}
	for _, name := range []string{"from", "to"} {
		if f.Get(name) == "" {
			return mailgunFailure(http.StatusBadRequest, name+" parameter is missing")
		}
	}
	to, variables, extra := strings.Split(f.Get("to"), ","), map[string]any{}, 0
	for name, values := range f {
		if kind, of, ok := strings.Cut(name, ":"); ok && slices.Contains([]string{"o", "h", "v"}, kind) {
			extra += len(name) + len(strings.Join(values, ""))
			if kind == "v" {
				variables[of] = values[0]
			}
		}
	}
	switch {
	case slices.ContainsFunc(append(to, f.Get("from")), func(s string) bool { return !isAddress(s) }):
		return mailgunFailure(http.StatusBadRequest, "to parameter is not a valid address. please check documentation")
	case f.Get("text") == "" && f.Get("html") == "":
		return mailgunFailure(http.StatusBadRequest, "Need at least one of 'text', 'html', 'amp-html' or 'template' parameters specified")
	case extra > 16<<10:
		return mailgunFailure(http.StatusBadRequest, "o:, h: and v: parameters are larger than 16 kB")
	}
	return c.execute(func() answer {
		domain := c.request.PathValue("domain")
		id := c.sandbox.ledger.nextID("mg", ".") + "@" + domain
		c.takeMail(mailTaken{
			id: id, reference: text(variables["operation_id"]), from: f.Get("from"), to: to, subject: f.Get("subject"),
			text: f.Get("text"), html: f.Get("html"), more: map[string]any{"tags": f["o:tag"], "user-variables": variables, "domain": domain},
		})
		return executed(jsonAnswer(http.StatusOK, map[string]any{"id": "<" + id + ">", "message": "Queued. Thank you."}))
	})
}

// searchMailgun gives one event "accepted" for each recipient, newest first.
func searchMailgun(c *call) answer {
	q := c.request.URL.Query()
	for name := range q {
		if !slices.Contains([]string{"begin", "end", "ascending", "limit", "event", "tags", "recipient", "to", "from", "subject", "message-id"}, name) {
			return mailgunFailure(http.StatusBadRequest, "'"+name+"' is an unknown filter")
		}
	}
	if n, err := strconv.Atoi(q.Get("limit")); q.Get("limit") != "" && (err != nil || n > 300) {
		return mailgunFailure(http.StatusBadRequest, "limit is at most 300")
	}
	items := []any{}
	for _, e := range c.indexed() {
		to, _ := e.Fields["to"].([]string)
		for _, recipient := range to {
			if mailgunFits(e, addressOnly(recipient), q) && len(items) < queryNumber(q.Get("limit"), 100, 300) {
				items = append(items, mailgunEvent(e, "accepted", recipient))
			}
		}
	}
	next := "http://" + c.request.Host + c.request.URL.Path + "/next"
	return jsonAnswer(http.StatusOK, map[string]any{"items": items, "paging": map[string]any{"next": next, "previous": next}})
}

func mailgunFits(e effect, recipient string, q url.Values) bool {
	tags, _ := e.Fields["tags"].([]string)
	is := func(name, value string) bool { return q.Get(name) == "" || q.Get(name) == value }
	return is("event", "accepted") && is("recipient", recipient) && is("message-id", e.ID) && is("subject", text(e.Fields["subject"])) &&
		(q.Get("tags") == "" || slices.Contains(tags, q.Get("tags"))) && e.Fields["domain"] != nil
}

func mailgunEvent(e effect, event, recipient string) map[string]any {
	return map[string]any{
		"event": event, "id": "ev-" + e.ID, "timestamp": float64(e.Time.UnixMilli()) / float64(time.Second/time.Millisecond),
		"recipient": addressOnly(recipient), "tags": e.Fields["tags"], "user-variables": e.Fields["user-variables"],
		"message": map[string]any{"headers": map[string]any{
			"message-id": e.ID, "to": recipient, "from": e.Fields["from"], "subject": e.Fields["subject"],
		}},
	}
}
