package handlers

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"sort"
	"strconv"
	"strings"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/views"

	"golang.org/x/net/html"
)

// firstFields stand first, in this order; the others follow by name.
var firstFields = []string{"to", "cc", "subject", "title", "name", "code", "customer", "contact", "description", "lines", "amount", "currency", "due", "text", "html", "note"}

// leaf is one value of content with its place: keys and indexes joined by dots.
type leaf struct {
	path  string
	value any
}

// leaves lists the values of content in the order in which people read them.
func leaves(v any, path string) []leaf {
	at := func(name string) string {
		if path == "" {
			return name
		}
		return path + "." + name
	}
	switch x := v.(type) {
	case map[string]any:
		keys := make([]string, 0, len(x))
		for k := range x {
			keys = append(keys, k)
		}
		sort.Slice(keys, func(i, j int) bool { return fieldBefore(keys[i], keys[j]) })
		var out []leaf
		for _, k := range keys {
			out = append(out, leaves(x[k], at(k))...)
		}
		return out
	case []any:
		var out []leaf
		for i, e := range x {
			out = append(out, leaves(e, at(strconv.Itoa(i)))...)
		}
		return out
	}
	return []leaf{{path, v}}
}

func fieldBefore(a, b string) bool {
	i, j := slices.Index(firstFields, a), slices.Index(firstFields, b)
	switch {
	case i >= 0 && j >= 0:
		return i < j
	case i >= 0 || j >= 0:
		return i >= 0
	}
	return a < b
}

// shownValue writes one value as people read it.
func shownValue(v any) string {
	switch x := v.(type) {
	case nil:
		return ""
	case string:
		return x
	case bool:
		return strconv.FormatBool(x)
	case json.Number:
		return x.String()
	}
	return fmt.Sprint(v)
}

// fieldsOf lists content as fields. The first text that says what it is about is marked.
func fieldsOf(content map[string]any) []views.Field {
	var out []views.Field
	main := mainField(content)
	for _, l := range leaves(content, "") {
		out = append(out, views.Field{Name: l.path, Value: shownValue(l.value), Main: l.path == main})
	}
	return out
}

func mainField(content map[string]any) string {
	for _, k := range []string{"subject", "title", "name", "description", "note", "text", "code"} {
		if s, _ := content[k].(string); s != "" {
			return k
		}
	}
	return ""
}

// isMail reports that content is read as a mail.
func isMail(content map[string]any) bool {
	_, to := content["to"]
	_, subject := content["subject"]
	_, text := content["text"]
	_, body := content["html"]
	return to && subject && (text || body)
}

// contentView shows a version's content: a mail as a mail, anything else as fields.
func contentView(id operation.ID, v store.VersionRow) views.ContentView {
	content := v.Content()
	switch {
	case v.ContentText == "":
		return views.ContentView{Erased: true}
	case isMail(content):
		return views.ContentView{Mail: mailView(id, v, content)}
	}
	return views.ContentView{Fields: fieldsOf(content)}
}

func mailView(id operation.ID, v store.VersionRow, content map[string]any) *views.MailView {
	m := &views.MailView{From: senderOf(v.Request(), content), To: addresses(content["to"]), Cc: addresses(content["cc"]),
		Subject: shownValue(content["subject"]), Text: shownValue(content["text"])}
	if body := shownValue(content["html"]); body != "" {
		m.HTMLFrame = pathOperation(id) + "/versions/" + string(v.ID) + "/preview"
		m.Links = linksIn(body)
	}
	return m
}

func addresses(v any) []string {
	switch x := v.(type) {
	case string:
		if x != "" {
			return []string{x}
		}
	case []any:
		var out []string
		for _, e := range x {
			out = append(out, shownValue(e))
		}
		return out
	}
	return nil
}

// senderOf finds the sender that the exact request names.
func senderOf(r operation.Request, content map[string]any) string {
	if r.From != "" {
		return r.From
	}
	var body struct {
		From any `json:"from"`
	}
	if json.Unmarshal([]byte(r.Body), &body) == nil {
		if s, ok := body.From.(string); ok {
			return s
		}
	}
	return shownValue(content["from"])
}

// maxLinks bounds the list of links beside a mail.
const maxLinks = 100

// linksIn lists where the links of a mail lead: the frame itself follows none.
func linksIn(body string) []views.Link {
	var out []views.Link
	z := html.NewTokenizer(strings.NewReader(body))
	for len(out) < maxLinks {
		switch z.Next() {
		case html.ErrorToken:
			return out
		case html.StartTagToken, html.SelfClosingTagToken:
			for _, a := range z.Token().Attr {
				if a.Key == "href" && !slices.ContainsFunc(out, func(l views.Link) bool { return l.URL == a.Val }) {
					out = append(out, views.Link{Label: a.Val, URL: a.Val})
				}
			}
		}
	}
	return out
}

// requestView shows the exact request: before dispatch with its holes, afterwards the
// bytes that left.
func requestView(p *store.OperationPage, v store.VersionRow) views.RequestView {
	out := views.RequestView{Credential: v.Credential, Account: v.Account}
	r := v.Request()
	if v.ID == p.VersionID {
		for i := len(p.Attempts) - 1; i >= 0; i-- {
			if sent, ok := p.Attempts[i].Sent(); ok && p.Attempts[i].Version == v.ID {
				r, out.Resolved = sent, true
				break
			}
		}
	}
	if r.Kind == "" {
		return out
	}
	out.Text, out.Bytes = requestText(r), len(r.Body)
	return out
}

// requestText writes a request as it travels.
func requestText(r operation.Request) string {
	var b strings.Builder
	if r.Kind == operation.RequestSMTP {
		fmt.Fprintf(&b, "MAIL FROM:<%s>\n", r.From)
		for _, to := range r.To {
			fmt.Fprintf(&b, "RCPT TO:<%s>\n", to)
		}
		return b.String() + "\n" + r.Body
	}
	fmt.Fprintf(&b, "%s %s\n", r.Method, r.URL)
	for _, h := range r.Header {
		fmt.Fprintf(&b, "%s: %s\n", h.Name, h.Value)
	}
	if r.Body != "" {
		b.WriteString("\n" + r.Body)
	}
	return b.String()
}

// safeURL keeps an address that a person may open; everything else becomes "".
func safeURL(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return ""
	}
	return raw
}
