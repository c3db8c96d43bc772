package views

import (
	"fmt"
	"strconv"
	"strings"

	"holdpoint/operation"
	"holdpoint/views/text"
)

// AcceptanceMarkdown writes the sheet as Markdown, in the reader's language.
func AcceptanceMarkdown(p *text.Printer, m AcceptanceModel) string {
	var b strings.Builder
	line := func(s string) { b.WriteString(s + "\n") }
	line("# " + p.T("acceptance.sheet") + ": " + sheetText(m.Flow) + " · " + p.T("acceptance.number", "Number", m.Number))
	line("")
	line("- " + p.T("acceptance.result") + ": " + p.T("acceptance.state."+string(m.State)))
	line("- " + p.T("col.flow") + ": " + p.T("flow.version", "Number", m.Version) + " `" + m.FlowHash + "`")
	for _, d := range m.Targets {
		line("- " + p.T("acceptance.destination") + ": " + d.Name + ", " + p.T("flow.version", "Number", d.Version) + " `" + d.Hash + "`")
	}
	line("- " + p.T("acceptance.ended") + ": " + m.Ended.UTC().Format("2006-01-02T15:04:05Z"))
	line("- " + p.T("acceptance.program") + ": `" + m.Program + "`")
	if m.Stale {
		line("\n" + p.T("acceptance.stale_says"))
	}
	for i, c := range m.Cases {
		acceptanceCaseMarkdown(&b, p, i+1, c)
	}
	line("\n## " + p.T("acceptance.settings") + "\n\n" + p.T("acceptance.settings_says") + "\n")
	for _, c := range m.Changed {
		line(fmt.Sprintf("- %s `%s`: `%s` → `%s`", c.File, c.Field, codeSpan(c.From), codeSpan(c.To)))
	}
	line("\n## " + p.T("acceptance.agreed") + "\n\n" + p.T("acceptance.hash") + " `" + m.Hash + "`\n")
	for _, s := range m.Signs {
		said := p.T("acceptance.unsigned", "Role", p.T("role."+string(s.Role)))
		if s.Given() {
			said = s.By.Name + ", " + s.At.UTC().Format("2006-01-02T15:04:05Z")
			if s.Comment != "" {
				said += ": " + sheetText(s.Comment)
			}
		}
		line("- " + p.T("acceptance.part."+s.Part) + ": " + said)
	}
	return b.String()
}

func acceptanceCaseMarkdown(b *strings.Builder, p *text.Printer, no int, c operation.AcceptanceCase) {
	word := p.T("acceptance.case_passed")
	if !c.Passed {
		word = p.T("acceptance.case_failed")
	}
	b.WriteString("\n## " + strconv.Itoa(no) + ". " + p.T("acceptance.case."+c.Key) + ": " + word + "\n\n")
	b.WriteString(p.T("acceptance.expected") + " " + p.T("acceptance.expect."+c.Key) + "\n\n")
	for _, f := range c.Failures {
		b.WriteString("- **" + sheetText(acceptanceNote(p, "fault", f)) + "**\n")
	}
	for i, s := range c.Steps {
		b.WriteString(strconv.Itoa(i+1) + ". " + clockText(s.At) + " " + sheetText(acceptanceNote(p, "step", s)) + "\n")
	}
	b.WriteString("\n")
	for _, f := range c.Found {
		var attempts []string
		for _, a := range f.Attempts {
			attempts = append(attempts, acceptanceAttempt(p, a))
		}
		fmt.Fprintf(b, "- %s: %s (%s); %s; `%s` `%s`\n", sheetText(f.Stage), p.T("acceptance.counted", "Found", f.Effects, "Expected", f.Expected), p.T("acceptance.by."+f.CountedBy),
			strings.Join(attempts, "; "), f.Operation, codeSpan(f.Target))
	}
}

// sheetText keeps what people wrote from being read as Markdown.
func sheetText(s string) string {
	return strings.NewReplacer("\\", "\\\\", "`", "\\`", "*", "\\*", "_", "\\_", "[", "\\[", "<", "&lt;", "#", "\\#", "|", "\\|", "\r", " ", "\n", " ").Replace(s)
}

// codeSpan keeps a text inside a code span.
func codeSpan(s string) string { return strings.NewReplacer("`", "'", "\r", " ", "\n", " ").Replace(s) }
