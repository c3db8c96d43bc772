package main

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// Slack: 200 to nearly everything, and `ok` in the body decides. No keys. The
// channel's history shows a message's metadata only to whom asks for it. An
// incoming webhook says "ok" and names nothing.

const (
	destSlack     = "slack"
	destSlackHook = "slack-webhook"
	effectCard    = "workflow_run"
)

func slackFailure(status int, _ string) answer {
	name := map[int]string{
		http.StatusUnauthorized: "invalid_auth", http.StatusTooManyRequests: "ratelimited", http.StatusBadRequest: "invalid_arguments",
		http.StatusServiceUnavailable: "service_unavailable",
	}[status]
	a := slackError(cmpOr(name, "internal_error"))
	a.status = status
	return a
}

func slackError(name string) answer {
	return jsonAnswer(http.StatusOK, map[string]any{"ok": false, "error": name})
}

// slackHookFailure speaks as webhooks do: the name of the error as text.
func slackHookFailure(status int, _ string) answer {
	name := map[int]string{
		http.StatusBadRequest: "invalid_payload", http.StatusUnauthorized: "invalid_token", http.StatusForbidden: "action_prohibited",
		http.StatusNotFound: "no_service", http.StatusTooManyRequests: "rate_limited",
	}[status]
	return plainText(status, cmpOr(name, "rollup_error"))
}

func plainText(status int, words string) answer {
	return answer{status: status, header: http.Header{"Content-Type": {"text/html"}}, body: []byte(words)}
}

func (s *sandbox) routeSlack(mux *http.ServeMux) {
	mux.HandleFunc("POST /slack/api/chat.postMessage", s.endpoint(destSlack, onEffect, postSlack))
	mux.HandleFunc("GET /slack/api/conversations.history", s.endpoint(destSlack, onLookup, historySlack))
}

func (s *sandbox) routeSlackHook(mux *http.ServeMux) {
	mux.HandleFunc("POST /slack-webhook/services/{team}/{hook}/{token}", s.endpoint(destSlackHook, onEffect, hookSlack))
}

type slackOrder struct {
	Channel   string `json:"channel"`
	Text      string `json:"text"`
	Blocks    []any  `json:"blocks"`
	ThreadTS  string `json:"thread_ts"`
	Markdown  *bool  `json:"mrkdwn"`
	LinkNames *bool  `json:"link_names"`
	Unfurl    *bool  `json:"unfurl_links"`
	Media     *bool  `json:"unfurl_media"`
	Metadata  struct {
		Type    string         `json:"event_type"`
		Payload map[string]any `json:"event_payload"`
	} `json:"metadata"`
}

// readSlack reads JSON, or a form in which blocks and metadata are JSON.
func (c *call) readSlack() (o slackOrder, wrong string) {
	if isJSONRequest(c) {
		if strictJSON(c.body, &o) != nil {
			return o, "invalid_json"
		}
		return o, ""
	}
	f, err := formFields(c.request.Header.Get("Content-Type"), c.body)
	if err != nil {
		return o, "invalid_form_data"
	}
	o.Channel, o.Text, o.ThreadTS = f.Get("channel"), f.Get("text"), f.Get("thread_ts")
	for name, into := range map[string]any{"metadata": &o.Metadata, "blocks": &o.Blocks} {
		if raw := f.Get(name); raw != "" && strictJSON([]byte(raw), into) != nil {
			return o, "invalid_" + name + "_format"
		}
	}
	return o, ""
}

func postSlack(c *call) answer {
	o, wrong := c.readSlack()
	if wrong != "" {
		return slackError(wrong)
	}
	switch {
	case o.Channel == "":
		return slackError("channel_not_found")
	case strings.HasPrefix(o.Channel, "CARCHIVED"):
		return slackError("is_archived")
	case o.Text == "" && len(o.Blocks) == 0:
		return slackError("no_text")
	case len(o.Text) > 40_000:
		return slackError("msg_too_long")
	}
	return c.execute(func() answer {
		ts := c.slackTime()
		message := map[string]any{"type": "message", "ts": ts, "text": o.Text, "bot_id": "B0SANDBOX", "thread_ts": o.ThreadTS}
		c.sandbox.ledger.add(effect{
			Destination: destSlack, Effect: effectMessage, ID: o.Channel + ":" + ts, Reference: text(o.Metadata.Payload["op"]), Key: c.key, RequestHash: hashOf(c.body), Time: c.now(),
			Fields: map[string]any{"channel": o.Channel, "ts": ts, "text": o.Text, "message": message,
				"metadata": map[string]any{"event_type": o.Metadata.Type, "event_payload": o.Metadata.Payload}},
		}, uniqueNothing)
		return executed(jsonAnswer(http.StatusOK, map[string]any{"ok": true, "channel": o.Channel, "ts": ts, "message": message}))
	})
}

// slackTime gives a name that no other message of the sandbox has.
func (c *call) slackTime() string {
	number, _ := strconv.Atoi(strings.TrimPrefix(c.sandbox.ledger.nextID("", "/"), "/"+c.sandbox.ledger.tag+"/"))
	micro := strconv.Itoa(1_000_000 + number%1_000_000)[1:]
	return strconv.FormatInt(c.now().Unix(), 10) + "." + micro
}

func historySlack(c *call) answer {
	q := c.request.URL.Query()
	if q.Get("channel") == "" {
		return slackError("channel_not_found")
	}
	shown := []any{}
	for _, e := range c.indexed() {
		if e.Fields["channel"] != q.Get("channel") {
			continue
		}
		message := map[string]any{}
		if m, ok := e.Fields["message"].(map[string]any); ok {
			for name, v := range m {
				message[name] = v
			}
		}
		if slices.Contains([]string{"true", "1"}, q.Get("include_all_metadata")) {
			message["metadata"] = e.Fields["metadata"]
		}
		shown = append(shown, message)
	}
	from := queryNumber(q.Get("cursor"), 0, len(shown))
	to := min(len(shown), from+max(1, queryNumber(q.Get("limit"), 100, 999)))
	next := ""
	if to < len(shown) {
		next = strconv.Itoa(to)
	}
	return jsonAnswer(http.StatusOK, map[string]any{
		"ok": true, "messages": shown[from:to], "has_more": next != "", "response_metadata": map[string]any{"next_cursor": next},
	})
}

// hookSlack finds the caller's reference in the message itself: nothing else carries it.
func hookSlack(c *call) answer {
	var o slackOrder
	if err := strictJSON(c.body, &o); err != nil {
		return plainText(http.StatusBadRequest, "invalid_payload")
	}
	switch {
	case c.request.PathValue("token") == "wrong":
		return plainText(http.StatusForbidden, "invalid_token")
	case o.Text == "" && len(o.Blocks) == 0:
		return plainText(http.StatusBadRequest, "no_text")
	}
	return c.execute(func() answer {
		c.sandbox.ledger.add(effect{
			Destination: destSlackHook, Effect: effectMessage, ID: c.slackTime(), Reference: operationIn.FindString(string(c.body)),
			Key: c.key, RequestHash: hashOf(c.body), Time: c.now(), Fields: map[string]any{"text": o.Text, "blocks": o.Blocks},
		}, uniqueNothing)
		return executed(plainText(http.StatusOK, "ok"))
	})
}
