package viewstest

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/a-h/templ"

	"holdpoint/static"
	"holdpoint/views/text"
)

// Policy is the Content-Security-Policy that every page must work under.
const Policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"font-src 'self'; form-action 'self'; frame-src 'self'; frame-ancestors 'none'; base-uri 'none'"

// Gallery serves every fixture: /gallery lists them, /gallery/<lang>/<name> shows
// one. ?theme=light|dark sets the theme.
func Gallery() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET "+static.Prefix, static.Handler())
	mux.HandleFunc("GET /gallery/frame", mailFrame)
	mux.HandleFunc("GET /gallery", listAll)
	byName := map[string]templ.Component{}
	for _, f := range All() {
		byName[f.Name] = f.Page
	}
	mux.HandleFunc("GET /gallery/{lang}/{name}", func(w http.ResponseWriter, r *http.Request) {
		page, ok := byName[r.PathValue("name")]
		if !ok {
			http.NotFound(w, r)
			return
		}
		var b strings.Builder
		if err := page.Render(text.With(r.Context(), Printer(r.PathValue("lang"))), &b); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		out := b.String()
		if theme := r.URL.Query().Get("theme"); theme == "light" || theme == "dark" {
			out = strings.Replace(out, "<html ", `<html data-theme="`+theme+`" `, 1)
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", Policy)
		fmt.Fprint(w, out)
	})
	return mux
}

// mailFrame is the HTML part of the fixtures' mail, under a policy of its own.
func mailFrame(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'; frame-ancestors 'self'; base-uri 'none'")
	fmt.Fprint(w, `<!DOCTYPE html><html lang="en"><body style="font-family:serif"><p>Hello, your order is on its way.</p></body></html>`)
}

func listAll(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", Policy)
	fmt.Fprint(w, `<!DOCTYPE html><html lang="en"><head><title>Gallery</title><link rel="stylesheet" href="`+static.Path("app.css")+`"></head><body><main class="page stack"><h1>Gallery</h1><ul class="plain">`)
	for _, f := range All() {
		fmt.Fprintf(w, `<li><code class="id">%s</code>`, f.Name)
		for _, l := range text.Languages {
			fmt.Fprintf(w, ` <a href="/gallery/%s/%s">%s</a> <a href="/gallery/%s/%s?theme=dark">%s, dark</a>`, l, f.Name, l, l, f.Name, l)
		}
		fmt.Fprint(w, `</li>`)
	}
	fmt.Fprint(w, `</ul></main></body></html>`)
}
