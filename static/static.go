// Package static holds the style sheet, the scripts and the pictures of the pages,
// embedded in the binary. Each is served under a name with its hash, so that
// browsers keep it for ever and a new build is seen at once.
//
// It imports nothing of ours.
package static

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"sync"
	"time"
)

//go:embed css/*.css js/*.js img/*.svg
var files embed.FS

// Prefix is where Handler is to be mounted.
const Prefix = "/static/"

// sheets are joined to app.css in this order; the layers are named in the first.
var sheets = []string{
	"css/tokens.css",
	"css/base.css",
	"css/frame.css",
	"css/case.css",
	"css/content.css",
	"css/panel.css",
	"css/list.css",
	"css/lists.css",
	"css/access.css",
	"css/factors.css",
	"css/settling.css",
	"css/causes.css",
	"css/notices.css",
	"css/deciding.css",
	"css/live.css",
	"css/groups.css",
	"css/interrupt.css",
	"css/history.css",
	"css/incidents.css",
	"css/cases.css",
	"css/reports.css",
	"css/figures.css",
	"css/news.css",
	"css/probes.css",
	"css/starting.css",
	"css/print.css",
	"css/acceptance.css",
	"css/batch.css",
	"css/batchnew.css",
	"css/targets.css",
	"css/utilities.css",
}

// entry is the script that pages load, joined with what it imports.
const entry = "js/app.js"

// asset is one file as it is served.
type asset struct {
	name   string // with hash: "app.1a2b3c4d5e6f.css"
	body   []byte
	ctype  string
	packed *encoded
}

type index struct {
	byName map[string]asset  // "app.css"
	byPath map[string]string // "app.1a2b….css" → "app.css"
}

var types = map[string]string{
	".css": "text/css; charset=utf-8",
	".js":  "text/javascript; charset=utf-8",
	".svg": "image/svg+xml",
}

var load = sync.OnceValue(func() index {
	ix := index{byName: map[string]asset{}, byPath: map[string]string{}}
	var css bytes.Buffer
	for _, s := range sheets {
		css.Write(mustRead(s))
		css.WriteByte('\n')
	}
	ix.add("app.css", css.Bytes())
	for _, pattern := range []string{"img/*.svg", "js/*.js"} {
		names, err := fs.Glob(files, pattern)
		if err != nil {
			panic(err) // the patterns are constants
		}
		for _, n := range names {
			if path.Ext(n) != ".js" {
				ix.add(path.Base(n), mustRead(n))
			}
		}
	}
	ix.addScript(path.Base(entry))
	return ix
})

// addScript adds a script with what it imports, and the modules that it asks for when it
// needs them, under the names that are served.
func (ix index) addScript(name string) string {
	if a, ok := ix.byName[name]; ok {
		return a.name
	}
	body, err := bundle(name, func(n string) ([]byte, error) { return files.ReadFile("js/" + n) })
	if err != nil {
		panic(err) // embedded: cannot happen in a tested build
	}
	ix.add(name, onDemand.ReplaceAllFunc(body, func(m []byte) []byte {
		return []byte("import('./" + ix.addScript(string(onDemand.FindSubmatch(m)[1])) + "')")
	}))
	return ix.byName[name].name
}

func (ix index) add(name string, body []byte) {
	sum := sha256.Sum256(body)
	ext := path.Ext(name)
	hashed := strings.TrimSuffix(name, ext) + "." + hex.EncodeToString(sum[:6]) + ext
	ix.byName[name] = asset{name: hashed, body: body, ctype: types[ext], packed: &encoded{}}
	ix.byPath[hashed] = name
}

func mustRead(name string) []byte {
	b, err := files.ReadFile(name)
	if err != nil {
		panic(fmt.Sprintf("embedded file %s: %v", name, err))
	}
	return b
}

// Path gives the address of a file by its plain name: "app.css", "app.js",
// "logo.svg". An unknown name is a mistake in the caller and panics.
func Path(name string) string {
	a, ok := load().byName[name]
	if !ok {
		panic("static: no file " + name)
	}
	return Prefix + a.name
}

// Handler serves the files below Prefix. Names with a hash may be kept for ever;
// "favicon.svg" is also served by its plain name, for browsers that guess it, with a
// check each time.
func Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ix := load()
		base := strings.TrimPrefix(r.URL.Path, Prefix)
		name, hashed := ix.byPath[base]
		if !hashed {
			name = base
		}
		a, ok := ix.byName[name]
		if !ok || (!hashed && name != "favicon.svg") {
			http.NotFound(w, r)
			return
		}
		h := w.Header()
		h.Set("Content-Type", a.ctype)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Etag", `"`+a.name+`"`)
		if hashed {
			h.Set("Cache-Control", "public, max-age=31536000, immutable")
		} else {
			h.Set("Cache-Control", "no-cache")
		}
		body, coding := a.packed.choose(a.body, r.Header.Get("Accept-Encoding"))
		h.Set("Vary", "Accept-Encoding")
		if coding != "" {
			h.Set("Content-Encoding", coding)
			h.Set("Etag", `"`+a.name+"-"+coding+`"`)
			r.Header.Del("Range") // a part of what is packed is of no use
		}
		http.ServeContent(w, r, a.name, time.Time{}, bytes.NewReader(body))
	})
}
