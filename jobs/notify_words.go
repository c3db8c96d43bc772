package jobs

import (
	"strconv"
	"strings"
	"time"
	"unicode"

	"holdpoint/connector/chat"
	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/views/text"
)

// itemsShown bounds how many things one message lists.
const itemsShown = 20

// titleShown bounds a title in a message, in characters.
const titleShown = 120

// printer says things in the reader's language and zone.
func printer(o store.NoticeOrder) *text.Printer {
	zone, err := time.LoadLocation(o.To.Zone)
	if err != nil {
		zone = time.UTC
	}
	return text.New(o.To.Locale, zone, o.Now)
}

// in gives a flow's own text in the reader's language.
func in(t map[string]string, lang string) string {
	if s := t[lang]; s != "" {
		return s
	}
	return t["en"]
}

// plain makes one line of a title: without control, invisible and direction-changing
// characters, which could make a subject read as another one.
func plain(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.Is(unicode.Cf, r), unicode.Is(unicode.Co, r):
			return -1
		case unicode.IsControl(r), unicode.IsSpace(r):
			return ' '
		}
		return r
	}, s)
	r := []rune(strings.Join(strings.Fields(s), " "))
	if len(r) > titleShown {
		return string(r[:titleShown-1]) + "…"
	}
	return string(r)
}

// titleOf names what an item is about: its title, or its stage, or its flow.
func titleOf(p *text.Printer, i store.NoticeItem) string {
	switch {
	case i.Limit != nil:
		return limitHeading(p, i.Limit)
	case i.Report != nil:
		return reportHeading(p, i)
	}
	for _, s := range []string{i.Title, in(i.StageTitle, p.Lang), in(i.FlowTitle, p.Lang)} {
		if s = plain(s); s != "" {
			return s
		}
	}
	return i.Subject
}

// heading is an item in one line; it is a mail's subject too.
func heading(p *text.Printer, i store.NoticeItem) string {
	switch {
	case i.Task != nil:
		return taskHeading(p, i)
	case i.Kind == operation.NoticeDigest:
		n, _ := strconv.Atoi(i.Title)
		if n >= store.CountLimit {
			return p.T("notice.digest_many", "N", store.CountLimit-1)
		}
		return p.N("notice.digest", n)
	case i.Step == operation.StepRemind:
		return p.T("notice.reminder", "Title", titleOf(p, i))
	case i.Step == operation.StepEscalate:
		return p.T("notice.escalated", "Title", titleOf(p, i))
	}
	return p.T("notice.subject."+string(i.Kind), "Title", titleOf(p, i))
}

// says is what an item means for its reader, in a sentence.
func says(p *text.Printer, i store.NoticeItem) string {
	switch {
	case i.Task != nil:
		return p.T("notice.task_says." + taskStep(i))
	case i.Step == operation.StepRemind:
		return p.T("notice.says_reminder")
	case i.Step == operation.StepEscalate:
		return p.T("notice.says_escalated")
	case i.Kind == operation.NoticeAlert && strings.HasPrefix(i.Reason, "witness_"):
		return p.T("notice.says_witness")
	}
	return p.T("notice.says." + string(i.Kind))
}

// facts are an item's lines: where it belongs, and by when.
func facts(p *text.Printer, i store.NoticeItem) []string {
	var out []string
	flow, stage := plain(in(i.FlowTitle, p.Lang)), plain(in(i.StageTitle, p.Lang))
	switch {
	case flow != "" && stage != "":
		out = append(out, p.T("notice.flow_stage", "Flow", flow, "Stage", stage))
	case flow != "":
		out = append(out, p.T("notice.flow", "Flow", flow))
	}
	switch {
	case i.Limit != nil:
		out = append(out, limitFacts(p, i.Limit)...)
	case i.Report != nil:
		out = append(out, reportFacts(p, i.Report)...)
	}
	if i.Task != nil {
		out = append(out, p.T("notice.due", "At", p.Exact(i.Task.Due), "In", p.Until(i.Task.Due)))
	}
	if !i.Due.IsZero() {
		out = append(out, p.T("notice.due", "At", p.Exact(i.Due), "In", p.Until(i.Due)))
	}
	return out
}

// link is the page of what an item is about. It opens a page and decides nothing.
func (n *notifier) link(i store.NoticeItem) string {
	base := strings.TrimSuffix(n.cfg.PublicURL, "/")
	switch {
	case strings.HasPrefix(i.Subject, "op_"):
		return base + "/operations/" + i.Subject
	case strings.HasPrefix(i.Subject, "run_"):
		return base + "/runs/" + i.Subject
	case strings.HasPrefix(i.Subject, "bat_"):
		return base + "/batches/" + i.Subject
	case i.Kind == operation.NoticeAlert:
		return base + "/installation"
	case i.Task != nil:
		return base + "/tasks/" + i.Subject
	case i.Limit != nil:
		return base + "/figures/limits/breaches/" + i.Subject
	case i.Report != nil:
		return base + "/reports/" + i.Subject
	}
	return base + "/inbox"
}

// subject is the one line of a whole message.
func subject(p *text.Printer, o store.NoticeOrder) string {
	if len(o.Items) == 1 {
		return heading(p, o.Items[0])
	}
	for _, i := range o.Items {
		if i.Kind == operation.NoticeDigest {
			return heading(p, i)
		}
	}
	return p.N("notice.many", len(o.Items))
}

// chatMessage is a message for a chat. done: the matter is decided, and the message says
// what became of it.
func (n *notifier) chatMessage(o store.NoticeOrder, done bool) chat.Message {
	p := printer(o)
	m := chat.Message{Heading: subject(p, o), Open: p.T("notice.open"), Done: done}
	if len(o.Items) == 1 {
		i := o.Items[0]
		m.Link = n.link(i)
		if done {
			m.Lines = append(m.Lines, p.T("notice.decided", "State", p.T("state."+string(i.State))))
			return m
		}
		m.Lines = append([]string{says(p, i)}, facts(p, i)...)
		return m
	}
	m.Link, m.Open = n.link(store.NoticeItem{}), p.T("notice.open_inbox")
	for k, i := range o.Items {
		if k == itemsShown {
			m.Lines = append(m.Lines, p.N("notice.more", len(o.Items)-itemsShown))
			break
		}
		m.Lines = append(m.Lines, "• "+heading(p, i))
	}
	return m
}
