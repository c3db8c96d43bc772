package static

import (
	"io/fs"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
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

func TestModulesImportServedFiles(t *testing.T) {
	for name, a := range load().byName {
		for _, m := range regexp.MustCompile(`from '\./([^']+)'`).FindAllStringSubmatch(string(a.body), -1) {
			if w := get(t, Prefix+m[1], ""); w.Code != 200 {
				t.Errorf("%s imports %s: %d", name, m[1], w.Code)
			}
		}
	}
}
