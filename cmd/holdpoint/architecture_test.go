package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// rooms says what each room may import of ours, itself and its folders included. The
// longest prefix counts.
var rooms = map[string][]string{
	"operation":            {"operation"},
	"connector":            {"connector", "operation"},
	"store":                {"store", "operation", "migrations"},
	"store/pglocal":        {"store/pglocal"},
	"jobs":                 {"jobs", "connector", "store", "operation", "views/text"},
	"web":                  {"web", "views", "static", "store", "operation"},
	"handlers":             {"handlers", "web", "views", "static", "store", "operation", "connector/outbound", "connector/assist"},
	"handlers/api/client":  {"handlers/api/client"},
	"views":                {"views", "static", "operation"},
	"views/text":           {"views/text"},
	"views/chrometest":     {},
	"static":               {"static"},
	"migrations":           {"migrations"},
	"cmd/holdpoint":        {""},
	"cmd/sandbox":          {"cmd/sandbox"},
	"build":                {"build"},
	"docs/examples":        {"handlers/api/client"},
	"operation/definition": {"operation"},
	"operation/interrupt":  {},
	"operation/signature":  {},
	"systems":              {},
}

// onlyIn says which rooms may import a module or package that is not ours.
var onlyIn = map[string][]string{
	"github.com/jmoiron/sqlx":      {"store"},
	"github.com/lib/pq":            {"store", "cmd/holdpoint/bench"},
	"github.com/jackc/pgx":         {"jobs"},
	"github.com/labstack/echo":     {"web", "handlers", "cmd/holdpoint"},
	"github.com/gorilla":           {"web"},
	"github.com/riverqueue/river":  {"store", "jobs", "cmd/holdpoint/bench"},
	"github.com/a-h/templ":         {"views", "web", "handlers"},
	"database/sql":                 {"store", "migrations", "jobs", "cmd/holdpoint"},
	"net/smtp":                     {},
	"cel.dev/cel-go":               {"operation/definition"},
	"github.com/alecthomas/kong":   {"cmd/holdpoint"},
	"github.com/prometheus":        {"jobs", "cmd/holdpoint"},
	"github.com/pressly/goose":     {"store"},
	"github.com/goccy/go-yaml":     {"operation/definition"},
	"github.com/emersion/go-smtp":  {"connector", "cmd/sandbox"},
	"golang.org/x/time/rate":       {"connector", "web", "handlers"},
	"github.com/coreos/go-oidc":    {"handlers"},
	"golang.org/x/oauth2":          {"handlers"},
	"github.com/go-webauthn":       {"handlers"},
	"github.com/pquerna/otp":       {"store", "handlers"},
	"github.com/yuin/goldmark":     {"views"},
	"github.com/transparency-dev":  {"operation/checkpoint"},
	"golang.org/x/mod/sumdb":       {"operation/checkpoint"},
	"github.com/google/cel-go":     {}, // the old path of cel.dev: two universes of types
	"github.com/chromedp/chromedp": {"views/chrometest", "views/viewstest"},
}

// callsOut lists what opens a connection to somebody else; only the guarded client of
// connector may.
var callsOut = map[string][]string{
	"net/http": {"DefaultClient", "DefaultTransport", "Client", "Transport", "Get", "Post", "PostForm", "Head"},
	"net":      {"Dial", "DialTimeout", "Dialer", "DialTCP"},
	"net/smtp": {"Dial", "SendMail"},
}

// mayCallOut are the rooms with outgoing network: the client library belongs to its
// users, the drill, the benchmark and the sandbox are no part of the running product.
var mayCallOut = []string{"connector", "handlers/api/client", "store", "cmd/sandbox", "cmd/holdpoint/bench", "cmd/holdpoint/drill", "build", "docs/examples"}

type listed struct {
	ImportPath, Dir  string
	Imports, GoFiles []string
}

func TestArchitecture(t *testing.T) {
	cmd := exec.Command("go", "list", "-json=ImportPath,Dir,Imports,GoFiles", "holdpoint/...")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, &stderr)
	}
	seen := 0
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		err := d.Decode(&p)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		seen++
		checkImports(t, p)
		checkCallsOut(t, p)
	}
	if seen < 15 {
		t.Errorf("only %d packages were looked at", seen)
	}
}

func checkImports(t *testing.T, p listed) {
	name, _ := strings.CutPrefix(p.ImportPath, "holdpoint/")
	allowed, ok := rooms[room(name)]
	if !ok {
		t.Errorf("package %s is in no room of the architecture", name)
		return
	}
	for _, i := range p.Imports {
		if ours, ok := strings.CutPrefix(i, "holdpoint/"); ok {
			// Test helpers bring a server up, so they reach further than their room.
			helper := strings.HasSuffix(name, "test")
			if !helper && !within(ours, allowed) {
				t.Errorf("%s must not import %s", name, ours)
			}
			continue
		}
		for prefix, places := range onlyIn {
			if within(i, []string{prefix}) && !within(name, places) {
				t.Errorf("%s must not import %s", name, i)
			}
		}
	}
}

// room gives the longest room that holds a package.
func room(name string) string {
	best := ""
	for r := range rooms {
		if within(name, []string{r}) && len(r) > len(best) {
			best = r
		}
	}
	return best
}

// within reports that a path is one of these or lies below one.
func within(path string, places []string) bool {
	return slices.ContainsFunc(places, func(p string) bool { return p == "" || path == p || strings.HasPrefix(path, p+"/") })
}

func checkCallsOut(t *testing.T, p listed) {
	name, _ := strings.CutPrefix(p.ImportPath, "holdpoint/")
	if within(name, mayCallOut) || strings.HasSuffix(name, "test") {
		return
	}
	for _, f := range p.GoFiles {
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, filepath.Join(p.Dir, f), nil, 0)
		if err != nil {
			t.Error(err)
			continue
		}
		names := map[string][]string{}
		for _, i := range file.Imports {
			path := strings.Trim(i.Path.Value, `"`)
			local := path[strings.LastIndexByte(path, '/')+1:]
			if i.Name != nil {
				local = i.Name.Name
			}
			if words := callsOut[path]; words != nil {
				names[local] = words
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if x, ok := sel.X.(*ast.Ident); ok && slices.Contains(names[x.Name], sel.Sel.Name) {
				t.Errorf("%s: %s.%s: only connector has outgoing network", set.Position(sel.Pos()), x.Name, sel.Sel.Name)
			}
			return true
		})
	}
}
