package jobs

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"html"
	"mime"
	"mime/quotedprintable"
	"net/mail"
	"strings"
	"time"

	"holdpoint/operation"
	"holdpoint/operation/definition"
	"holdpoint/store"
	"holdpoint/views/text"
)

// compose writes the mail of a message: the same bytes at every try, as long as what it
// tells of is the same.
func (n *notifier) compose(o store.NoticeOrder) (operation.Request, error) {
	from := n.cfg.Mail.From
	if len(o.Items) == 0 || o.To.Email == "" || strings.ContainsAny(o.To.Email, "<>\r\n ") {
		return operation.Request{}, errors.New("the recipient's address cannot be used")
	}
	p := printer(o)
	settings := strings.TrimSuffix(n.cfg.PublicURL, "/") + "/account/notifications"
	var h strings.Builder
	add := func(name, value string) { h.WriteString(name + ": " + value + "\r\n") }
	add("Date", o.At.UTC().Format(time.RFC1123Z))
	add("From", from.String())
	add("To", recipient(o.To.Name, o.To.Email))
	add("Subject", headerText(subject(p, o)))
	add("Message-ID", "<"+o.Message+">")
	if s := o.Items[0].Subject; len(o.Items) == 1 && strings.HasPrefix(s, "op_") {
		// One thread for each operation: the root is never sent, readers gather below it.
		add("In-Reply-To", "<"+s+"@"+n.domain()+">")
		add("References", "<"+s+"@"+n.domain()+">")
	}
	add("List-Id", "Holdpoint <notices."+n.domain()+">")
	add("List-Unsubscribe", "<"+settings+">")
	add("Auto-Submitted", "auto-generated")
	add("X-Auto-Response-Suppress", "All")
	add("Content-Language", p.Lang)
	add("MIME-Version", "1.0")
	plainPart, htmlPart := part("text/plain", n.textPart(p, o, settings)), part("text/html", n.htmlPart(p, o, settings))
	sum := sha256.Sum256([]byte(plainPart + "\x00" + htmlPart))
	boundary := "=_" + hex.EncodeToString(sum[:12])
	add("Content-Type", `multipart/alternative; boundary="`+boundary+`"`)
	body := h.String() + "\r\n--" + boundary + "\r\n" + plainPart + "\r\n--" + boundary + "\r\n" + htmlPart + "\r\n--" + boundary + "--\r\n"
	return operation.Request{Kind: operation.RequestSMTP, From: from.Address, To: []string{o.To.Email}, Body: body}, nil
}

// headerText writes a text of a header. One that looks like an encoded word is encoded
// too: mail programs would show what it hides instead of it.
func headerText(s string) string {
	if hides(s) {
		return definition.EncodeWords(s)
	}
	return folded(mime.QEncoding.Encode("utf-8", s))
}

func recipient(name, address string) string {
	if hides(name) {
		return definition.EncodeWords(name) + " <" + address + ">"
	}
	return folded((&mail.Address{Name: name, Address: address}).String())
}

func hides(s string) bool { return strings.Contains(s, "=?") }

// folded puts each encoded word on a line of its own: no server cuts a long header.
func folded(s string) string { return strings.ReplaceAll(s, "?= =?", "?=\r\n =?") }

func part(kind, content string) string {
	var b strings.Builder
	b.WriteString("Content-Type: " + kind + "; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n")
	w := quotedprintable.NewWriter(&b)
	_, _ = w.Write([]byte(content)) // a strings.Builder does not fail
	_ = w.Close()
	return b.String()
}

// shownItems are the items that a message lists, and how many more there are. The line of
// a digest stands in the subject.
func shownItems(o store.NoticeOrder) (list []store.NoticeItem, more int) {
	list = o.Items
	if len(list) > itemsShown {
		return list[:itemsShown], len(list) - itemsShown
	}
	return list, 0
}

func (n *notifier) textPart(p *text.Printer, o store.NoticeOrder, settings string) string {
	var b strings.Builder
	line := func(s string) { b.WriteString(s + "\n") }
	list, more := shownItems(o)
	for _, i := range list {
		if len(o.Items) > 1 {
			line(heading(p, i))
		} else {
			line(says(p, i))
			line("")
			if titled(i) {
				line(titleOf(p, i))
			}
		}
		for _, f := range facts(p, i) {
			line(f)
		}
		line(n.link(i))
		line("")
	}
	if more > 0 {
		line(p.N("notice.more", more))
		line(n.link(store.NoticeItem{}))
		line("")
	}
	line("-- ")
	line(p.T("notice.footer"))
	line(p.T("notice.settings") + " " + settings)
	return b.String()
}

// titled reports whether an item has a title of its own beside what it says.
func titled(i store.NoticeItem) bool {
	return (i.Title != "" || i.Limit != nil || i.Report != nil) && i.Kind != operation.NoticeDigest
}

// htmlPart is the same for readers that prefer it: no picture, nothing that is fetched.
func (n *notifier) htmlPart(p *text.Printer, o store.NoticeOrder, settings string) string {
	var b strings.Builder
	put := func(s ...string) { b.WriteString(strings.Join(s, "") + "\n") }
	esc := html.EscapeString
	put(`<!doctype html><html lang="`, p.Lang, `"><head><meta charset="utf-8"><title>`, esc(subject(p, o)), `</title></head><body>`)
	list, more := shownItems(o)
	for _, i := range list {
		if len(o.Items) > 1 {
			put(`<h2 style="font-size:1em;margin:1.2em 0 .2em" dir="auto">`, esc(heading(p, i)), `</h2>`)
		} else {
			put(`<p>`, esc(says(p, i)), `</p>`)
			if titled(i) {
				put(`<h1 style="font-size:1.2em" dir="auto">`, esc(titleOf(p, i)), `</h1>`)
			}
		}
		for _, f := range facts(p, i) {
			put(`<p style="margin:.2em 0">`, esc(f), `</p>`)
		}
		open := p.T("notice.open")
		if !strings.HasPrefix(i.Subject, "op_") {
			open = p.T("notice.open_page")
		}
		put(`<p><a href="`, esc(n.link(i)), `">`, esc(open), `</a></p>`)
	}
	if more > 0 {
		put(`<p><a href="`, esc(n.link(store.NoticeItem{})), `">`, esc(p.N("notice.more", more)), `</a></p>`)
	}
	put(`<hr><p style="font-size:.85em">`, esc(p.T("notice.footer")), `<br><a href="`, esc(settings), `">`, esc(p.T("notice.settings_link")), `</a></p></body></html>`)
	return b.String()
}
