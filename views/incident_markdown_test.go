package views

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"holdpoint/operation"
	"holdpoint/views/text"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer/html"
)

// hostile is what somebody may write to make a report say something else.
var hostile = []string{"<script>alert(1)</script>", "![x](https://evil.example/p.png)", "[click](javascript:alert(1))", "# Signed by the board", "- [x] done", "1. first", "| a | b |",
	"> quoted", "```\ncode\n```", "    indented", "***", "---", "https://evil.example", "www.evil.example", "<https://evil.example>", "&lt;b&gt;&#60;i&#62;", "a\\\n# b", "[ref]: https://evil.example", "~~gone~~", "line\n===", "a  \n## b", "\u202eevil\u202c", "_x_ **y** `z`"}

// TestIncidentMarkdownTimes: a file is read on another day, so no time in it is said by the
// day on which it was made.
func TestIncidentMarkdownTimes(t *testing.T) {
	for _, lang := range text.Languages {
		at := time.Date(2026, 11, 30, 14, 41, 20, 0, time.UTC)
		p := text.New(lang, time.UTC, at)
		m := IncidentModel{IncidentView: IncidentView{Number: "INC-1", Title: "x", State: operation.IncidentSigned}, Revision: 1, Times: []IncidentTime{{Key: "first", At: at}},
			Lines: []TimelineLine{{ID: "inl_1", At: at, Until: at, Who: "x", Says: "x"}}, Tasks: []TaskView{{Number: "T-1", Title: "x", State: operation.TaskOpen, Due: at}},
			Signatures: []SignatureView{{Revision: 1, By: "x", Role: operation.RoleOpsOwner, At: at, Hash: "00"}}}
		file := IncidentMarkdown(m, p)
		if strings.Contains(strings.ReplaceAll(file, `\`, ""), p.Short(at)) {
			t.Errorf("%s: says %q:\n%s", lang, p.Short(at), file)
		}
		if !strings.Contains(strings.ReplaceAll(file, `\`, ""), p.T("incidents.signed", "Revision", 1, "Who", "x", "Role", p.T("role.ops_owner"), "At", p.Exact(at))) || !strings.Contains(file, p.T("incidents.hash")+" 00") {
			t.Errorf("%s: the signature is not whole:\n%s", lang, file)
		}
	}
}

func TestIncidentMarkdownIsOnlyText(t *testing.T) {
	p := text.New("en", time.UTC, time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC))
	md := goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(html.WithUnsafe()))
	for _, s := range hostile {
		at := p.Now
		m := IncidentModel{IncidentView: IncidentView{Number: "INC-1", Title: s, State: operation.IncidentOpen, Pattern: s, Library: &PatternView{ID: "pat_1", Destination: Link{Label: s}, Phase: operation.CauseAnswer, Code: s, Error: s}, Destinations: []string{s}, Owner: PersonWho(s, false)}, Revision: 1,
			Summary: s, Cause: s, Response: s, Prevention: s, Flows: []string{s},
			Times:      []IncidentTime{{Key: "first", At: at}, {Key: "settled"}},
			Lines:      []TimelineLine{{ID: "inl_1", At: at, Until: at, Who: s, Says: s}, {Key: "1-1-1", At: at, Until: at, Action: "unknown", To: operation.Unknown, Count: 1, Who: s, Says: s}},
			Tasks:      []TaskView{{Number: "T-1", Title: s, Owner: PersonWho(s, false), State: operation.TaskOpen, Due: at}},
			Signatures: []SignatureView{{Revision: 1, By: s, Role: operation.RoleOpsOwner, At: at, Comment: s, Hash: "00"}},
			Ops:        []IncidentOp{{OperationRow: OperationRow{ID: "op_1", Flow: s, Stage: s, State: operation.Unknown}, Effect: operation.EffectDoubtful}}}
		var hostileHTML, plainHTML bytes.Buffer
		if err := md.Convert([]byte(IncidentMarkdown(m, p)), &hostileHTML); err != nil {
			t.Fatal(err)
		}
		got := hostileHTML.String()
		for _, bad := range []string{"<script", "<img", "<a ", "<del>", "<blockquote", "<code", "<input", "<b>", "<i>", "<hr", "<strong"} {
			if strings.Contains(got, bad) {
				t.Errorf("%q becomes %s:\n%s", s, bad, got)
			}
		}
		// the same report with harmless words has the same headings
		calm := m
		calm.Title, calm.Summary, calm.Cause, calm.Response, calm.Prevention = "x", "x", "x", "x", "x"
		if err := md.Convert([]byte(IncidentMarkdown(calm, p)), &plainHTML); err != nil {
			t.Fatal(err)
		}
		for _, h := range []string{"<h1", "<h2", "<table", "<ol"} {
			if a, b := strings.Count(got, h), strings.Count(plainHTML.String(), h); a != b {
				t.Errorf("%q: %d %s, want %d\n%s", s, a, h, b, got)
			}
		}
	}
}
