package views

import (
	"context"
	"strings"
	"testing"
)

func TestMarkdown(t *testing.T) {
	for src, want := range map[string]string{
		"## When\n1. Look.\n2. **Ask.**":            "<h3>When</h3>\n<ol>\n<li>Look.</li>\n<li><strong>Ask.</strong></li>\n</ol>\n",
		"### Deeper":                                "<h4>Deeper</h4>\n",
		"<script>alert(1)</script>":                 "<!-- raw HTML omitted -->\n",
		"[a](javascript:alert(1))":                  "<p>a</p>\n",
		"[a](/sign-out)":                            "<p>a</p>\n",
		`[a](https://x.example/?a=1&b="c")`:         `<p><a href="https://x.example/?a=1&amp;b=&#34;c&#34;" rel="noreferrer noopener" target="_blank">a</a></p>` + "\n",
		"![log](https://evil.example/pixel.png)":    "<p>log</p>\n",
		"<https://x.example> <a@x.example>":         `<p><a href="https://x.example" rel="noreferrer noopener" target="_blank">https://x.example</a> <a href="mailto:a@x.example" rel="noreferrer noopener" target="_blank">a@x.example</a></p>` + "\n",
		"a\u200bb\u202ec":                           "<p>a‹ZWSP›b‹RLO›c</p>\n",
		"`x < y`":                                   "<p><code>x &lt; y</code></p>\n",
		"<img src=x onerror=alert(1)> and <b>b</b>": "<!-- raw HTML omitted -->\n",
	} {
		var b strings.Builder
		if err := Markdown(src).Render(context.Background(), &b); err != nil {
			t.Fatal(err)
		}
		got := b.String()
		if strings.HasPrefix(src, "<img") {
			if strings.Contains(got, "<img") || strings.Contains(got, "<b>") {
				t.Errorf("%q: %q", src, got)
			}
			continue
		}
		if got != want {
			t.Errorf("%q: %q, want %q", src, got, want)
		}
	}
}
