package views

import (
	"strings"

	"holdpoint/views/text"
)

// ReportMarkdown writes a review as Markdown in the reader's language. What people wrote
// is escaped, so that it stays text.
func ReportMarkdown(m ReportModel, p *text.Printer) string {
	var b strings.Builder
	line := func(s ...string) { b.WriteString(strings.Join(s, "") + "\n") }
	line("# ", escapeMarkdown(m.Heading(p)))
	line()
	scope := p.T("reports.whole")
	if m.Flow != "" {
		scope = Plain(m.Flow)
	}
	for _, x := range [][2]string{{"reports.scope", scope}, {"reports.made", p.Exact(m.MadeAt)}, {"reports.compared", p.Days(m.Before, m.From, m.Zone)}, {"reports.zone", m.Zone.String()},
		{"reports.fingerprint", m.Hash}} {
		line("- ", p.T(x[0]), ": ", escapeMarkdown(x[1]))
	}
	line()
	line(p.T("reports.frozen"))
	for _, s := range m.Sections {
		line()
		line("## ", p.T("reports.section."+string(s.Section)))
		if len(s.Lines) > 0 {
			line()
			line("| ", p.T("reports.line"), " | ", p.T("reports.this"), " | ", p.T("reports.before"), " | ", p.T("reports.change"), " | ", p.T("reports.since"), " |")
			line("| --- | ---: | ---: | ---: | ---: |")
			for _, l := range s.Lines {
				since := "–"
				if l.Since >= 0 && l.Now.N > 0 {
					since = p.N("reports.since_settled", l.Since)
				}
				line("| ", escapeMarkdown(l.Title(p)), " | ", l.Number(p, l.Now), " | ", l.Number(p, l.Before), " | ", l.Change(p), " | ", since, " |")
			}
		}
		for _, c := range s.Comments {
			line()
			for _, row := range strings.Split(c.Body, "\n") {
				line("> ", escapeMarkdown(Plain(row)))
			}
			line(">")
			line("> — ", escapeMarkdown(Plain(c.Name)), ", ", p.Exact(c.At))
		}
	}
	line()
	line("## ", p.T("reports.signatures"))
	line()
	if len(m.Signatures) == 0 {
		line(p.T("reports.nobody_signed"))
	}
	for _, g := range m.Signatures {
		line("- ", escapeMarkdown(Plain(g.Name)), " (", p.T("role."+string(g.Role)), "), ", p.Exact(g.At), ", ", p.N("reports.covers", g.Comments), ", ", g.Hash)
	}
	return b.String()
}

// escapeMarkdown keeps what people wrote from becoming markup.
func escapeMarkdown(s string) string {
	var b strings.Builder
	for _, r := range s {
		if strings.ContainsRune("\\`*_{}[]<>#|!~", r) {
			b.WriteByte('\\')
		}
		if r == '\n' || r == '\r' {
			r = ' '
		}
		b.WriteRune(r)
	}
	return b.String()
}
