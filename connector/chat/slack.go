package chat

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"holdpoint/connector/outbound"
)

// escape takes the meaning from the three characters by which Slack begins links,
// mentions and entities: a title cannot call a whole channel.
var escape = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// plainly also takes it from Slack's own emphasis, by a word joiner that nobody sees.
func plainly(s string) string {
	return strings.NewReplacer("*", "*\u2060", "_", "_\u2060", "~", "~\u2060", "`", "`\u2060").Replace(escape.Replace(s))
}

func slackBody(m Message) map[string]any {
	heading := "*" + plainly(m.Heading) + "*"
	if m.Done {
		heading = "~" + plainly(m.Heading) + "~"
	}
	text := heading
	for _, l := range m.Lines {
		text += "\n" + plainly(l)
	}
	if m.Link != "" {
		text += "\n<" + escape.Replace(m.Link) + "|" + plainly(m.Open) + ">"
	}
	return map[string]any{
		"text":         plainly(m.Heading), // for notifications and screen readers
		"blocks":       []any{map[string]any{"type": "section", "text": map[string]any{"type": "mrkdwn", "text": cut(text, 2900), "verbatim": true}}},
		"unfurl_links": false, "unfurl_media": false,
	}
}

func cut(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return string(r[:n-1]) + "…"
}

// slackAnswer is what every method answers; ts names the message in its channel.
type slackAnswer struct {
	OK      bool   `json:"ok"`
	Error   string `json:"error"`
	Channel string `json:"channel"`
	TS      string `json:"ts"`
}

// slack calls chat.postMessage, or chat.update for a message that is there. Both take a
// form.
func (c *Client) slack(ctx context.Context, p Place, m Message, remote, token string) Result {
	form, method := url.Values{"channel": {p.Channel}}, "chat.postMessage"
	if remote != "" {
		channel, ts, _ := strings.Cut(remote, "/")
		form, method = url.Values{"channel": {channel}, "ts": {ts}}, "chat.update"
	}
	for name, v := range slackBody(m) {
		if s, ok := v.(string); ok {
			form.Set(name, s)
			continue
		}
		raw, err := json.Marshal(v)
		if err != nil {
			return Result{Permanent: true, Code: outbound.CodeBadRequest, Detail: "The message cannot be written as JSON."}
		}
		form.Set(name, string(raw))
	}
	base := strings.TrimSuffix(cmp.Or(c.Slack, DefaultSlack), "/")
	a := c.post(ctx, base+"/"+method, "application/x-www-form-urlencoded", form.Encode(), p.Local || c.Local,
		func(h http.Header) { h.Set("Authorization", "Bearer "+token) })
	if r, ok := general(a, token); ok {
		return r
	}
	var said slackAnswer
	if err := json.Unmarshal(a.Body, &said); err != nil {
		return Result{Unknown: true, Code: CodeOddAnswer, Detail: "Slack’s answer is not JSON."}
	}
	if said.OK {
		r := Result{Sent: true, Code: CodePosted}
		if said.Channel != "" && said.TS != "" {
			r.Remote = said.Channel + "/" + said.TS
		}
		return r
	}
	return slackError(said.Error, a)
}

// Slack's errors. What is in none of the lists refuses this try and may pass.
var (
	slackOpen = []string{"fatal_error", "internal_error", "service_unavailable", "request_timeout", "duplicate_channel_not_found", "duplicate_message_not_found"}
	slackLast = []string{"channel_not_found", "is_archived", "msg_too_long", "no_text", "invalid_blocks", "message_not_found", "cant_update_message", "edit_window_closed", "user_not_found", "restricted_action"}
)

func slackError(code string, a outbound.Answer) Result {
	code = outbound.Excerpt([]byte(cut(code, 60)))
	r := Result{Code: code, Detail: "Slack answered: " + code + "."}
	switch {
	case code == "":
		return Result{Unknown: true, Code: CodeOddAnswer, Detail: "Slack’s answer says neither yes nor no."}
	case code == "ratelimited" || code == "rate_limited":
		r.RetryAfter = retryAfter(a.Header)
	case slices.Contains(slackOpen, code):
		r.Unknown = true
	case slices.Contains(slackLast, code):
		r.Permanent = true
	}
	return r
}

// hookResult reads the answer of an incoming webhook: the text "ok", or an error's name.
// An empty 200 proves nothing.
func hookResult(a outbound.Answer, secret string) Result {
	if r, ok := general(a, secret); ok {
		return r
	}
	if strings.TrimSpace(string(a.Body)) == "ok" {
		return Result{Sent: true, Code: CodePosted}
	}
	return Result{Unknown: true, Code: CodeOddAnswer, Detail: "The webhook’s answer is not “ok”: " + outbound.Excerpt(a.Body, secret)}
}
