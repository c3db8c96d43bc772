package handlers

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"mime"
	"net/mail"
	"net/url"
	"slices"
	"strings"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/views"
)

// isMail reports that content is read as a mail.
func isMail(content map[string]any) bool {
	_, to := content["to"]
	_, subject := content["subject"]
	_, text := content["text"]
	_, body := content["html"]
	return to && subject && (text || body)
}

// mailFields are the fields of content that a mail's view shows in their own places.
var mailFields = []string{"from", "reply_to", "to", "cc", "bcc", "subject", "text", "html", "attachments"}

// mailView shows a version as the mail that its exact request makes of it: who receives it
// is read from the request, since that is what is sent.
func mailView(id operation.ID, v store.VersionRow, content map[string]any) *views.MailView {
	m := mailHead(v, content)
	at := pathVersion(id, v.ID)
	text := shownValue(content["text"])
	shown, cut := views.Bound(text, views.ShownText)
	if m.Text = shown; cut {
		m.TextCut = views.Cut{Shown: len(shown), Total: len(text), URL: at + "/content?field=text"}
	}
	body := shownValue(content["html"])
	if body != "" {
		m.HTMLFrame, m.HTMLBytes, m.HTMLURL = at+"/preview", len(body), at+"/content?field=html"
	}
	m.Links, m.LinksLeft = mailLinks(body, text)
	rest := map[string]any{}
	for k, x := range content {
		if !slices.Contains(mailFields, k) {
			rest[k] = x
		}
	}
	m.More, _ = shownFields(rest, at+"/content")
	return m
}

// mailHead reads who sends and who receives, the subject and the attachments.
func mailHead(v store.VersionRow, content map[string]any) *views.MailView {
	sent := sentMail(v.Request())
	either := func(name string) []string {
		if list := sent[name]; list != nil {
			return addresses(list)
		}
		return addresses(content[name])
	}
	m := &views.MailView{To: either("to"), Cc: either("cc"), Bcc: either("bcc"), ReplyTo: either("reply_to"),
		Subject: shownValue(content["subject"]), Attachments: attachmentsOf(content["attachments"])}
	if from := either("from"); len(from) > 0 {
		m.From = from[0]
	}
	if s, ok := sent["subject"].(string); ok {
		m.Subject = s
	}
	if list := attachmentsOf(sent["attachments"]); list != nil {
		m.Attachments = list
	}
	return m
}

// sentMail reads the head of a mail from the exact request: an SMTP message, a JSON body
// or a form, as mail services take them.
func sentMail(r operation.Request) map[string]any {
	if r.Kind == operation.RequestSMTP {
		return smtpHead(r)
	}
	var body map[string]any
	if json.Unmarshal([]byte(r.Body), &body) != nil {
		body = formHead(r.Body)
	}
	out := map[string]any{}
	for name, keys := range map[string][]string{"from": {"from"}, "to": {"to"}, "cc": {"cc"}, "bcc": {"bcc"}, "subject": {"subject"},
		"reply_to": {"reply_to", "replyTo", "reply-to", "ReplyTo", "h:Reply-To"}, "attachments": {"attachments"}} {
		for _, k := range keys {
			if x := body[k]; x != nil && x != "" {
				out[name] = x
			}
		}
	}
	return out
}

func formHead(body string) map[string]any {
	out := map[string]any{}
	form, err := url.ParseQuery(body)
	if err != nil {
		return out
	}
	for k, list := range form {
		if len(list) == 1 {
			out[k] = list[0]
			continue
		}
		var all []any
		for _, x := range list {
			all = append(all, x)
		}
		out[k] = all
	}
	return out
}

// smtpHead reads a message's header. Whoever the envelope names and no header does, gets
// it unseen.
func smtpHead(r operation.Request) map[string]any {
	out := map[string]any{"from": r.From}
	msg, err := mail.ReadMessage(strings.NewReader(r.Body))
	if err != nil {
		return out
	}
	named := map[string]bool{}
	for name, key := range map[string]string{"from": "From", "to": "To", "cc": "Cc", "reply_to": "Reply-To"} {
		list, err := msg.Header.AddressList(key)
		if err != nil {
			continue
		}
		var all []any
		for _, a := range list {
			all = append(all, shownAddress(a))
			if name == "to" || name == "cc" {
				named[views.BareAddress(a.Address)] = true
			}
		}
		out[name] = all
	}
	var unseen []any
	for _, to := range r.To {
		if !named[views.BareAddress(to)] {
			unseen = append(unseen, to)
		}
	}
	if unseen != nil {
		out["bcc"] = unseen
	}
	if s, err := new(mime.WordDecoder).DecodeHeader(msg.Header.Get("Subject")); err == nil {
		out["subject"] = s
	}
	return out
}

// shownAddress writes an address with its name readable.
func shownAddress(a *mail.Address) string {
	if a.Name == "" {
		return a.Address
	}
	return a.Name + " <" + a.Address + ">"
}

// addresses reads a list of addresses: a text, a list of texts, or objects with an
// address and a name.
func addresses(v any) []string {
	switch x := v.(type) {
	case string:
		if x != "" {
			return splitAddresses(x)
		}
	case map[string]any:
		for _, k := range []string{"email", "address"} {
			if a := shownValue(x[k]); a != "" {
				return []string{shownAddress(&mail.Address{Name: shownValue(x["name"]), Address: a})}
			}
		}
	case []any:
		var out []string
		for _, e := range x {
			out = append(out, addresses(e)...)
		}
		return out
	}
	return nil
}

// splitAddresses takes a list in one text apart; what is no list stays as it is.
func splitAddresses(s string) []string {
	if !strings.Contains(s, ",") {
		return []string{s}
	}
	list, err := mail.ParseAddressList(s)
	if err != nil {
		return []string{s}
	}
	var out []string
	for _, a := range list {
		out = append(out, shownAddress(a))
	}
	return out
}

// attachmentsOf lists what travels with a mail.
func attachmentsOf(v any) []views.Attachment {
	list, _ := v.([]any)
	var out []views.Attachment
	for _, e := range list {
		x, _ := e.(map[string]any)
		first := func(keys ...string) string {
			for _, k := range keys {
				if s, ok := x[k].(string); ok && s != "" {
					return s
				}
			}
			return ""
		}
		a := views.Attachment{Name: first("filename", "name", "file_name"), Type: first("content_type", "contentType", "type", "mime_type"),
			URL: first("path", "url", "href"), Size: -1}
		if raw := first("content", "data", "base64"); raw != "" {
			data := []byte(raw)
			if b, err := base64.StdEncoding.DecodeString(raw); err == nil {
				data = b
			}
			sum := sha256.Sum256(data)
			a.Size, a.Hash = len(data), hex.EncodeToString(sum[:])
		}
		out = append(out, a)
	}
	return out
}
