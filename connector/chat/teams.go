package chat

import (
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"holdpoint/connector/outbound"
)

// teamsBody is a card whose texts are runs: those are shown as they are, while a text
// block would read Markdown. Its one action opens the page.
func teamsBody(m Message) map[string]any {
	run := func(text, weight string, struck bool) map[string]any {
		return map[string]any{"type": "RichTextBlock", "inlines": []any{
			map[string]any{"type": "TextRun", "text": cut(text, 2000), "weight": weight, "strikethrough": struck}}}
	}
	body := []any{run(m.Heading, "bolder", m.Done)}
	for _, l := range m.Lines {
		body = append(body, run(l, "default", false))
	}
	card := map[string]any{"$schema": "http://adaptivecards.io/schemas/adaptive-card.json", "type": "AdaptiveCard", "version": "1.4", "body": body}
	if m.Link != "" {
		card["actions"] = []any{map[string]any{"type": "Action.OpenUrl", "title": m.Open, "url": m.Link}}
	}
	return map[string]any{"type": "message", "attachments": []any{
		map[string]any{"contentType": "application/vnd.microsoft.card.adaptive", "content": card}}}
}

// teamsError finds the error that the old connector hides in the text of a 200.
var teamsError = regexp.MustCompile(`(?i)HTTP error (\d{3})`)

// teamsResult reads the answer: 202 of a workflow, 200 with "1" of an old connector.
func teamsResult(a outbound.Answer, secret string) Result {
	if r, ok := general(a, secret); ok {
		return r
	}
	text := strings.TrimSpace(string(a.Body))
	if m := teamsError.FindStringSubmatch(text); m != nil {
		status, _ := strconv.Atoi(m[1])
		r := Result{Code: "status_" + m[1], Detail: "Teams answered 200 and reported the error " + m[1] + "."}
		switch {
		case status == http.StatusTooManyRequests:
			r.Code = CodeBusy
		case status >= 500:
			r.Unknown = true
		default:
			r.Permanent = status == http.StatusBadRequest || status == http.StatusNotFound || status == http.StatusRequestEntityTooLarge
		}
		return r
	}
	switch {
	case a.Status == http.StatusAccepted:
		return Result{Sent: true, Code: CodeAccepted}
	case a.Status == http.StatusOK && (text == "1" || text == ""):
		return Result{Sent: true, Code: CodePosted}
	}
	return Result{Unknown: true, Code: CodeOddAnswer, Detail: "Teams’ answer is not one that is documented: " + outbound.Excerpt(a.Body, secret)}
}
