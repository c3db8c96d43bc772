package static

import (
	"bytes"
	"compress/gzip"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
)

func get(t *testing.T, path, etag string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, path, nil)
	if etag != "" {
		r.Header.Set("If-None-Match", etag)
	}
	w := httptest.NewRecorder()
	Handler().ServeHTTP(w, r)
	return w
}

func TestHandler(t *testing.T) {
	t.Run("NamesWithHashAreKeptForEver", func(t *testing.T) {
		for name, ctype := range map[string]string{"app.css": "text/css; charset=utf-8", "app.js": "text/javascript; charset=utf-8", "logo.svg": "image/svg+xml"} {
			path := Path(name)
			if !regexp.MustCompile(`^/static/[a-z]+\.[0-9a-f]{12}\.(css|js|svg)$`).MatchString(path) {
				t.Errorf("path %q", path)
			}
			w := get(t, path, "")
			if w.Code != 200 || w.Header().Get("Content-Type") != ctype || !strings.Contains(w.Header().Get("Cache-Control"), "immutable") || w.Body.Len() == 0 {
				t.Errorf("%s: %d %v", path, w.Code, w.Header())
			}
			if again := get(t, path, w.Header().Get("Etag")); again.Code != http.StatusNotModified {
				t.Errorf("%s with its etag: %d", path, again.Code)
			}
		}
	})
	t.Run("OthersAreNotFound", func(t *testing.T) {
		for _, path := range []string{"/static/app.css", "/static/", "/static/app.000000000000.css", "/static/../static.go", "/static/css/base.css"} {
			if w := get(t, path, ""); w.Code != http.StatusNotFound {
				t.Errorf("%s: %d", path, w.Code)
			}
		}
	})
	t.Run("TheFaviconHasItsPlainName", func(t *testing.T) {
		if w := get(t, "/static/favicon.svg", ""); w.Code != 200 || w.Header().Get("Cache-Control") != "no-cache" {
			t.Errorf("%d %v", w.Code, w.Header())
		}
	})
}

func TestEverySheetIsServed(t *testing.T) {
	names, err := fs.Glob(files, "css/*.css")
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	for _, s := range sheets {
		listed[s] = true
	}
	for _, n := range names {
		if !listed[n] {
			t.Errorf("%s is not part of app.css", n)
		}
	}
	css := string(load().byName["app.css"].body)
	if open, closed := strings.Count(css, "{"), strings.Count(css, "}"); open != closed {
		t.Errorf("%d braces open, %d close", open, closed)
	}
	if !strings.HasPrefix(strings.TrimSpace(regexp.MustCompile(`(?s)/\*.*?\*/`).ReplaceAllString(css, "")), "@layer reset, tokens, base, layout, components, utilities;") {
		t.Error("the order of the layers does not come first")
	}
}

// TestScripts: the entry needs no other file at once, what it may need later is served,
// and every module is part of one of them.
func TestScripts(t *testing.T) {
	all := ""
	for name, a := range load().byName {
		if !strings.HasSuffix(name, ".js") {
			continue
		}
		all += string(a.body)
		if regexp.MustCompile(`(?m)^\s*(import|export) `).Match(a.body) {
			t.Errorf("%s waits for another file", name)
		}
		for _, m := range regexp.MustCompile(`import\('\./([^']+)'\)`).FindAllStringSubmatch(string(a.body), -1) {
			if w := get(t, Prefix+m[1], ""); w.Code != 200 {
				t.Errorf("%s may ask for %s: %d", name, m[1], w.Code)
			}
		}
	}
	names, err := fs.Glob(files, "js/*.js")
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range names {
		first, _, _ := strings.Cut(string(mustRead(n)), "\n")
		if !strings.Contains(all, first) {
			t.Errorf("%s is part of no script", n)
		}
	}
}

func TestBundle(t *testing.T) {
	modules := map[string]string{
		"app.js":   "import { a } from './one.js'\nimport { b } from './two-x.js'\na(b)\n",
		"one.js":   "import { b } from './two-x.js'\nexport function a(x) { return x + b }\n",
		"two-x.js": "let hidden = 1\nexport const b = hidden\n",
	}
	read := func(n string) ([]byte, error) {
		if m, ok := modules[n]; ok {
			return []byte(m), nil
		}
		return nil, fs.ErrNotExist
	}
	out, err := bundle("app.js", read)
	want := "const $two_x = (() => {\nlet hidden = 1\nconst b = hidden\nreturn { b }\n})()\nconst $one = (() => {\nconst { b } = $two_x\nfunction a(x) { return x + b }\nreturn { a }\n})()\nconst { a } = $one\nconst { b } = $two_x\na(b)\n"
	if err != nil || string(out) != want {
		t.Errorf("%v\n%s", err, out)
	}
	for what, bad := range map[string]string{"default": "export default 1\n", "star": "import * as x from './one.js'\n", "missing": "import { a } from './none.js'\n", "itself": "import { a } from './app.js'\n"} {
		modules["app.js"] = bad
		if out, err := bundle("app.js", read); err == nil {
			t.Errorf("%s: %s", what, out)
		}
	}
}

// TestPacked: each browser gets the smallest form that it takes, and it unpacks to the
// same bytes.
func TestPacked(t *testing.T) {
	path := Path("app.css")
	plain := get(t, path, "").Body.Bytes()
	for accept, want := range map[string]string{"gzip, deflate, br, zstd": "br", "gzip": "gzip", "br;q=0, gzip;q=0.5": "gzip", "deflate": "", "gzip;q=0": ""} {
		r := httptest.NewRequest(http.MethodGet, path, nil)
		r.Header.Set("Accept-Encoding", accept)
		r.Header.Set("Range", "bytes=0-9")
		w := httptest.NewRecorder()
		Handler().ServeHTTP(w, r)
		var from io.Reader = w.Body
		switch want {
		case "br":
			from = brotli.NewReader(w.Body)
		case "gzip":
			z, err := gzip.NewReader(w.Body)
			if err != nil {
				t.Fatal(err)
			}
			from = z
		default:
			if w.Code != http.StatusPartialContent {
				t.Errorf("%q: a part is answered with %d", accept, w.Code)
			}
			continue
		}
		size := w.Body.Len()
		got, err := io.ReadAll(from)
		if err != nil || !bytes.Equal(got, plain) || w.Header().Get("Content-Encoding") != want || w.Header().Get("Vary") != "Accept-Encoding" || size > len(plain)/2 {
			t.Errorf("%q: %v, %d of %d bytes, %v", accept, err, size, len(plain), w.Header())
		}
		if again := get(t, path, w.Header().Get("Etag")); again.Code == http.StatusNotModified {
			t.Errorf("%q: the plain form passes for the packed one", accept)
		}
	}
}
