package views

import (
	"strings"
	"time"

	"holdpoint/operation"
	"holdpoint/views/text"
)

// IncidentMarkdown writes an incident as Markdown in the reader's language. Whatever
// people wrote is escaped: none of it becomes markup, a link, a picture or HTML.
func IncidentMarkdown(m IncidentModel, p *text.Printer) string {
	w := &markdownWriter{p: p}
	w.line("# " + m.Number + " " + markdownText(m.Title))
	w.line("")
	w.line("- " + p.T("col.state") + ": " + p.T("incidents.state."+string(m.State)))
	w.line("- " + markdownText(p.T("incidents.kind", "Number", m.Number, "Revision", m.Revision)))
	if m.Owner.Name != "" {
		w.line("- " + p.T("incidents.owner") + ": " + markdownText(m.Owner.Name))
	}
	w.part("incidents.field.summary", m.Summary)
	w.head("incidents.when")
	for _, x := range m.Times {
		w.line("- " + p.T("incidents.time."+x.Key) + ": " + w.time(x))
	}
	w.scope(m)
	w.timeline(m.Lines)
	w.head("incidents.field.cause")
	if m.Class != "" {
		w.line("- " + p.T("incidents.class") + ": " + p.T("incidents.class."+string(m.Class)))
	}
	if m.Library != nil {
		w.line("- " + p.T("incidents.pattern_of") + ": " + markdownText(PatternLine(p, *m.Library)))
	}
	if m.Pattern != "" {
		w.line("- " + p.T("incidents.pattern") + ": " + markdownText(m.Pattern))
	}
	w.line("")
	w.prose(m.Cause)
	w.part("incidents.field.response", m.Response)
	w.part("incidents.field.prevention", m.Prevention)
	w.tasks(m.Tasks)
	w.signatures(m)
	return w.b.String()
}

type markdownWriter struct {
	b strings.Builder
	p *text.Printer
}

func (w *markdownWriter) line(s string) { w.b.WriteString(s + "\n") }

func (w *markdownWriter) head(key string) { w.line("\n## " + w.p.T(key) + "\n") }

func (w *markdownWriter) part(key, says string) {
	w.head(key)
	w.prose(says)
}

// prose writes what people wrote, each of their lines as a line.
func (w *markdownWriter) prose(says string) {
	if says == "" {
		w.line("*" + w.p.T("incidents.not_written") + "*")
		return
	}
	for l := range strings.SplitSeq(says, "\n") {
		if l = markdownText(l); l == "" {
			w.line("")
			continue
		}
		w.line(l + "  ")
	}
}

func (w *markdownWriter) time(x IncidentTime) string {
	switch {
	case x.At.IsZero() && x.Key == "settled":
		return w.p.T("incidents.not_settled")
	case x.At.IsZero():
		return "–"
	case x.Corrected:
		return w.p.Exact(x.At) + " (" + w.p.T("incidents.corrected") + ")"
	}
	return w.p.Exact(x.At) + " (" + w.p.T("incidents.by_history") + ")"
}

func (w *markdownWriter) scope(m IncidentModel) {
	p := w.p
	w.head("incidents.scope")
	row := func(key string, now int, signed func(operation.IncidentScope) int) {
		cells := "| " + p.T("incidents.count."+key) + " | " + p.Number(now) + " |"
		if m.Signed != nil {
			cells += " " + p.Number(signed(*m.Signed)) + " |"
		}
		w.line(cells)
	}
	head, rule := "| "+p.T("incidents.counted")+" | "+p.T("incidents.now")+" |", "| --- | ---: |"
	if m.Signed != nil {
		head, rule = head+" "+p.T("incidents.at_signature")+" |", rule+" ---: |"
	}
	w.line(head)
	w.line(rule)
	row("operations", m.Scope.Operations, func(s operation.IncidentScope) int { return s.Operations })
	for _, e := range operation.Effects {
		row("effect."+string(e), m.Scope.Effects[e], func(s operation.IncidentScope) int { return s.Effects[e] })
	}
	row("duplicate_suspected", m.Scope.DuplicateSuspected, func(s operation.IncidentScope) int { return s.DuplicateSuspected })
	row("duplicate_confirmed", m.Scope.DuplicateConfirmed, func(s operation.IncidentScope) int { return s.DuplicateConfirmed })
	w.line("")
	w.line("- " + p.T("incidents.recipients_title") + ": " + recipientsText(p, m.Scope))
	w.line("- " + p.T("col.flow") + ": " + markdownText(strings.Join(m.Flows, ", ")))
	w.line("- " + p.T("col.destination") + ": " + markdownText(strings.Join(m.Destinations, ", ")))
	if m.Hidden > 0 {
		w.line("- " + p.N("incidents.hidden", m.Hidden))
	}
	if len(m.Ops) == 0 {
		return
	}
	w.line("")
	w.line("| " + p.T("incidents.operation") + " | " + p.T("col.flow_stage") + " | " + p.T("col.state") + " | " + p.T("incidents.effect") + " |")
	w.line("| --- | --- | --- | --- |")
	for _, o := range m.Ops {
		w.line("| " + markdownText(string(o.ID)) + " | " + markdownText(o.Flow+" › "+o.Stage) + " | " + p.T("state."+string(o.State)) + " | " + p.T("incidents.count.effect."+string(o.Effect)) + " |")
	}
}

func (w *markdownWriter) timeline(lines []TimelineLine) {
	p := w.p
	w.head("incidents.timeline")
	for _, l := range lines {
		at := p.Exact(l.At)
		if l.Until.Sub(l.At) >= time.Minute {
			at += " – " + p.Exact(l.Until)
		}
		if l.Action == "" {
			w.line("- " + at + ": " + markdownText(l.Says) + " (" + markdownText(l.Who) + ")")
			continue
		}
		what := lineAction(p, l)
		if l.To != l.From {
			what += " → " + p.T("state."+string(l.To))
		}
		if l.Count > 1 {
			what += ", " + p.N("incidents.of_operations", l.Count)
		}
		if l.Who != "" {
			what += " (" + markdownText(l.Who) + ")"
		}
		if l.Says != "" {
			what += ": " + markdownText(l.Says)
		}
		w.line("- " + at + ": " + what)
	}
}

func (w *markdownWriter) tasks(rows []TaskView) {
	p := w.p
	w.head("incidents.actions")
	if len(rows) == 0 {
		w.line(p.T("incidents.no_actions"))
		return
	}
	w.line("| " + p.T("tasks.task") + " | " + p.T("tasks.owner") + " | " + p.T("col.due") + " | " + p.T("col.state") + " |")
	w.line("| --- | --- | --- | --- |")
	for _, r := range rows {
		owner := r.Owner.Name
		if owner == "" || r.OwnerGone {
			owner = p.T("role." + string(r.Role))
		}
		w.line("| " + r.Number + " " + markdownText(r.Title) + " | " + markdownText(owner) + " | " + p.Date(r.Due) + " | " + p.T("tasks.state."+string(r.State)) + " |")
	}
}

func (w *markdownWriter) signatures(m IncidentModel) {
	p := w.p
	w.head("incidents.signatures")
	if len(m.Signatures) == 0 {
		w.line(p.T("incidents.nobody_signed"))
	}
	for _, g := range m.Signatures {
		w.line("- " + markdownText(p.T("incidents.signed", "Revision", g.Revision, "Who", g.By, "Role", p.T("role."+string(g.Role)), "At", p.Exact(g.At))))
		if g.Comment != "" {
			w.line("  " + markdownText(g.Comment))
		}
		w.line("  " + p.T("incidents.hash") + " " + g.Hash)
	}
}

// markdownText makes one line of plain text of what people wrote. Every mark of ASCII is
// escaped, so that nothing is markup wherever the text stands; what cannot be seen is
// named.
func markdownText(s string) string {
	var b strings.Builder
	for _, r := range strings.Join(strings.Fields(Plain(s)), " ") {
		if r < 0x80 && strings.ContainsRune("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	out := b.String()
	// "12. x" is escaped at its point; nothing else begins a list or a block
	return out
}
