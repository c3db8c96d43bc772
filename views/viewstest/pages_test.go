package viewstest

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"

	"holdpoint/views/text"
)

var update = flag.Bool("update", false, "write the golden files anew")

func render(t *testing.T, f Fixture, lang string) string {
	t.Helper()
	var b strings.Builder
	if err := f.Page.Render(text.With(context.Background(), Printer(lang)), &b); err != nil {
		t.Fatalf("%s: %v", f.Name, err)
	}
	return b.String()
}

// fingerprint is the hash in the name of a static file: a change of a style sheet is
// no change of a page.
var fingerprint = regexp.MustCompile(`(/static/[a-z]+\.)[0-9a-f]{12}`)

// lines puts each tag on a line of its own, so that differences can be read.
func lines(s string) string {
	s = fingerprint.ReplaceAllString(s, "${1}HASH")
	return strings.ReplaceAll(s, "><", ">\n<") + "\n"
}

func TestGolden(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range All() {
		if seen[f.Name] {
			t.Errorf("two fixtures are called %s", f.Name)
		}
		seen[f.Name] = true
		t.Run(f.Name, func(t *testing.T) {
			got := lines(render(t, f, "en"))
			file := filepath.Join("testdata", f.Name+".html")
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatalf("%v (write it with -update, then look at it)", err)
			}
			if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
				t.Errorf("page changed (-golden +now):\n%s", diff)
			}
		})
	}
	stored, err := filepath.Glob("testdata/*.html")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range stored {
		if !seen[strings.TrimSuffix(filepath.Base(file), ".html")] {
			t.Errorf("%s belongs to no fixture", file)
		}
	}
}

func TestPagesInEveryLanguage(t *testing.T) {
	for _, lang := range text.Languages {
		t.Run(lang, func(t *testing.T) {
			t.Parallel()
			for _, f := range All() {
				t.Run(f.Name, func(t *testing.T) {
					checkPage(t, render(t, f, lang), lang)
				})
			}
		})
	}
}

// reporter is what a check says its findings to.
type reporter interface {
	Error(args ...any)
	Errorf(format string, args ...any)
	Fatal(args ...any)
}

// counter counts findings.
type counter int

func (c *counter) Error(...any)          { *c++ }
func (c *counter) Errorf(string, ...any) { *c++ }
func (c *counter) Fatal(...any)          { *c++ }

func TestChecksFindFaults(t *testing.T) {
	const before, after = `<!doctype html><html lang="en"><head><title>x</title></head><body><h1>x</h1>`, `</body></html>`
	for name, c := range map[string]struct {
		body   string
		faults bool
	}{
		"nothing":               {`<p>fine</p>`, false},
		"missing sentence":      {`<p>⟦some.key⟧</p>`, true},
		"block in a paragraph":  {`<p><div>x</div></p>`, true},
		"form in a form":        {`<form action="/a" method="get"><form action="/b" method="get"></form></form>`, true},
		"inline style":          {`<p style="color:red">x</p>`, true},
		"inline script":         {`<script>1</script>`, true},
		"event attribute":       {`<p onclick="x()">x</p>`, true},
		"script address":        {`<a href="javascript:x()">x</a>`, true},
		"field without label":   {`<input name="a">`, true},
		"field with label":      {`<label for="a">A</label><input id="a" name="a">`, false},
		"label of nothing":      {`<label for="b">A</label>`, true},
		"id twice":              {`<p id="a">x</p><p id="a">y</p>`, true},
		"post without key":      {`<form action="/a" method="post"></form>`, true},
		"post with key":         {`<form action="/a" method="post"><input type="hidden" name="form_id" value="1"></form>`, false},
		"link without words":    {`<a href="/x"></a>`, true},
		"frame not sandboxed":   {`<iframe src="/x"></iframe>`, true},
		"two headings":          {`<h1>again</h1>`, true},
		"described by nothing":  {`<p aria-describedby="zz">x</p>`, true},
		"new tab with opener":   {`<a href="/x" target="_blank">x</a>`, true},
		"unclosed list element": {`<ul><li>x<li>y</ul>`, true},
	} {
		t.Run(name, func(t *testing.T) {
			var n counter
			checkPage(&n, before+c.body+after, "en")
			if (n > 0) != c.faults {
				t.Errorf("%d findings", n)
			}
		})
	}
}

func checkPage(t reporter, src, lang string) {
	if i := strings.Index(src, "⟦"); i >= 0 {
		t.Errorf("a sentence is missing: %s", src[i:min(i+60, len(src))])
	}
	checkNesting(t, src)
	doc, err := html.Parse(strings.NewReader(src))
	if err != nil {
		t.Fatal(err)
	}
	p := page{ids: map[string]int{}, labelled: map[string]bool{}}
	p.collect(doc)
	for id, n := range p.ids {
		if n > 1 {
			t.Errorf("id %q stands %d times", id, n)
		}
	}
	p.check(t, doc)
	if p.lang != lang {
		t.Errorf("lang is %q, want %q", p.lang, lang)
	}
	if p.headings != 1 {
		t.Errorf("%d h1 headings", p.headings)
	}
}

var void = []string{"meta", "link", "input", "wbr", "br", "path", "img", "circle"}

// checkNesting compares the tags as written with those of the parsed document: a
// parser that had to repair something gives others.
func checkNesting(t reporter, src string) {
	doc, err := html.Parse(strings.NewReader(src))
	if err != nil {
		t.Fatal(err)
	}
	var again strings.Builder
	if err := html.Render(&again, doc); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(tags(src), tags(again.String())); diff != "" {
		t.Errorf("invalid nesting (-written +parsed):\n%s", diff)
	}
}

func tags(src string) []string {
	var list []string
	z := html.NewTokenizer(strings.NewReader(src))
	for {
		switch z.Next() {
		case html.ErrorToken:
			return list
		case html.StartTagToken, html.SelfClosingTagToken:
			name, _ := z.TagName()
			list = append(list, string(name))
		case html.EndTagToken:
			name, _ := z.TagName()
			if !slices.Contains(void, string(name)) {
				list = append(list, "/"+string(name))
			}
		}
	}
}

// page is what a check knows of a parsed document.
type page struct {
	ids      map[string]int
	labelled map[string]bool
	lang     string
	headings int
}

func attr(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

func has(n *html.Node, key string) bool {
	return slices.ContainsFunc(n.Attr, func(a html.Attribute) bool { return a.Key == key })
}

func (p *page) collect(n *html.Node) {
	if n.Type == html.ElementNode {
		if id := attr(n, "id"); id != "" {
			p.ids[id]++
		}
		switch n.Data {
		case "label":
			p.labelled[attr(n, "for")] = true
		case "html":
			p.lang = attr(n, "lang")
		case "h1":
			p.headings++
		}
	}
	for c := range n.ChildNodes() {
		p.collect(c)
	}
}

func (p *page) check(t reporter, n *html.Node) {
	if n.Type == html.ElementNode {
		p.checkPolicy(t, n)
		p.checkReferences(t, n)
		switch n.Data {
		case "input", "textarea", "select":
			p.checkLabel(t, n)
		case "form":
			checkForm(t, n)
		case "iframe":
			if !has(n, "sandbox") || attr(n, "sandbox") != "" || attr(n, "src") == "" {
				t.Error("a frame is not fully sandboxed, or holds its document inline")
			}
		case "a":
			// A picture may lead where the words beside it lead, unseen by the keyboard and by screen readers.
			beside := attr(n, "aria-hidden") == "true" && attr(n, "tabindex") == "-1"
			if strings.TrimSpace(textOf(n)) == "" && !beside || !has(n, "href") {
				t.Errorf("link without words or address: %q", attr(n, "href"))
			}
			if attr(n, "target") != "" && !strings.Contains(attr(n, "rel"), "noopener") {
				t.Error("a link into a new tab lacks rel=noopener")
			}
		}
	}
	for c := range n.ChildNodes() {
		p.check(t, c)
	}
}

// checkPolicy finds what the Content-Security-Policy would refuse.
func (p *page) checkPolicy(t reporter, n *html.Node) {
	for _, a := range n.Attr {
		if a.Key == "style" || a.Key == "srcdoc" || strings.HasPrefix(a.Key, "on") || strings.HasPrefix(strings.ToLower(a.Val), "javascript:") {
			t.Errorf("<%s %s=%q>", n.Data, a.Key, a.Val)
		}
	}
	if n.Data == "style" || (n.Data == "script" && (attr(n, "src") == "" || n.FirstChild != nil)) {
		t.Errorf("inline <%s>", n.Data)
	}
}

func (p *page) checkReferences(t reporter, n *html.Node) {
	for _, key := range []string{"aria-labelledby", "aria-describedby", "for", "list", "popovertarget"} {
		for _, id := range strings.Fields(attr(n, key)) {
			if p.ids[id] == 0 {
				t.Errorf("<%s %s=%q> names nothing on the page", n.Data, key, id)
			}
		}
	}
}

func (p *page) checkLabel(t reporter, n *html.Node) {
	if attr(n, "type") == "hidden" || attr(n, "aria-label") != "" || p.labelled[attr(n, "id")] && attr(n, "id") != "" {
		return
	}
	for up := n.Parent; up != nil; up = up.Parent {
		if up.Data == "label" {
			return
		}
	}
	t.Errorf("field %q has no label", attr(n, "name"))
}

// checkForm sees that a form changes things by POST only, and carries its key.
func checkForm(t reporter, n *html.Node) {
	names := map[string]bool{}
	var walk func(*html.Node)
	walk = func(c *html.Node) {
		if c.Data == "input" || c.Data == "textarea" || c.Data == "select" {
			names[attr(c, "name")] = true
		}
		for d := range c.ChildNodes() {
			walk(d)
		}
	}
	walk(n)
	if attr(n, "action") == "" {
		t.Error("a form has no address")
	}
	switch attr(n, "method") {
	case "get":
	case "post":
		if !names["form_id"] && attr(n, "class") != "leave" {
			t.Errorf("form %s has no form_id", attr(n, "action"))
		}
	default:
		t.Errorf("form %s has method %q", attr(n, "action"), attr(n, "method"))
	}
}

func textOf(n *html.Node) string {
	if n.Type == html.TextNode {
		return n.Data
	}
	var b strings.Builder
	for c := range n.ChildNodes() {
		b.WriteString(textOf(c))
	}
	return b.String()
}
