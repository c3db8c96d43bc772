package views

import (
	"bytes"
	"context"
	"html"
	"io"
	"strings"

	"github.com/a-h/templ"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// markdown reads what people write in definitions. HTML in it is left out; pictures
// become their description, since pages load nothing from outside.
var markdown = goldmark.New(
	goldmark.WithParserOptions(parser.WithASTTransformers(util.Prioritized(lowerHeadings{}, 500))),
	goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(safeLinks{}, 500))),
)

// Markdown shows a text written in Markdown, with invisible characters by name.
func Markdown(source string) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		var b strings.Builder
		for _, p := range Pieces(source) {
			switch p.Kind {
			case PieceMark:
				b.WriteString("‹" + p.Text + "›")
			case PieceHole:
				b.WriteString("{" + p.Text + "}")
			default:
				b.WriteString(p.Text)
			}
		}
		var out bytes.Buffer
		if err := markdown.Convert([]byte(b.String()), &out); err != nil {
			return err
		}
		_, err := w.Write(out.Bytes())
		return err
	})
}

// lowerHeadings puts headings below the one of the card that the text stands in.
type lowerHeadings struct{}

// Transform lowers every heading.
func (lowerHeadings) Transform(doc *ast.Document, _ text.Reader, _ parser.Context) {
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if h, ok := n.(*ast.Heading); ok && entering {
			h.Level = min(max(h.Level+1, 3), 6)
		}
		return ast.WalkContinue, nil
	})
}

// safeLinks draws links to web and mail addresses only, and no pictures.
type safeLinks struct{}

// RegisterFuncs takes the nodes over that lead out of the page.
func (safeLinks) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindImage, func(util.BufWriter, []byte, ast.Node, bool) (ast.WalkStatus, error) { return ast.WalkContinue, nil })
	r.Register(ast.KindLink, func(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		return ast.WalkContinue, anchor(w, string(n.(*ast.Link).Destination), entering)
	})
	r.Register(ast.KindAutoLink, func(w util.BufWriter, src []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		link := n.(*ast.AutoLink)
		to := string(link.URL(src))
		if link.AutoLinkType == ast.AutoLinkEmail && !strings.HasPrefix(to, "mailto:") {
			to = "mailto:" + to
		}
		if err := anchor(w, to, true); err != nil {
			return ast.WalkStop, err
		}
		if _, err := w.WriteString(html.EscapeString(string(link.Label(src)))); err != nil {
			return ast.WalkStop, err
		}
		return ast.WalkContinue, anchor(w, to, false)
	})
}

func anchor(w util.BufWriter, to string, entering bool) (err error) {
	low := strings.ToLower(to)
	switch {
	case !strings.HasPrefix(low, "https://") && !strings.HasPrefix(low, "http://") && !strings.HasPrefix(low, "mailto:"):
	case entering:
		_, err = w.WriteString(`<a href="` + html.EscapeString(to) + `" rel="noreferrer noopener" target="_blank">`)
	default:
		_, err = w.WriteString("</a>")
	}
	return err
}
