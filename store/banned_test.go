package store_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The rule: every write is in an explicit transaction of tx.go. Outside of one, lib/pq
// and database/sql may run a write twice (see TestNoStatementRunsTwice).

// writers change something, or begin what changes something.
var writers = []string{"Exec", "ExecContext", "MustExec", "MustExecContext", "NamedExec", "NamedExecContext",
	"Begin", "BeginTx", "Beginx", "BeginTxx", "MustBegin", "MustBeginTx"}

// readers are harmless with a statement that reads.
var readers = []string{"Get", "GetContext", "Select", "SelectContext", "Query", "QueryContext", "Queryx", "QueryxContext",
	"QueryRow", "QueryRowContext", "QueryRowx", "QueryRowxContext", "NamedQuery", "NamedQueryContext"}

// allowed lists the places that may, each with its reason.
var allowed = map[string]string{
	"store/tx.go":                 "the transaction helper itself",
	"store/migrate.go":            "the schema, as its owner",
	"store/driver.go":             "the guard passes calls of the pool on",
	"store/find_operation.go":     "BeginTxx for a read-only snapshot",
	"store/pglocal":               "the server's own set-up, as its superuser",
	"store/storetest":             "databases of tests",
	"cmd/holdpoint/bench/fill.go": "rows for a database that is only measured",
	"cmd/sandbox":                 "a separate program without a database",
}

var changing = regexp.MustCompile(`(?i)\b(INSERT\s+INTO|UPDATE\s+\S+(\s+\w+)?\s+SET|DELETE\s+FROM|TRUNCATE|MERGE\s+INTO|pg_advisory_lock)\b`)

func isAllowed(path string) bool {
	for place := range allowed {
		if path == place || strings.HasPrefix(path, place+"/") {
			return true
		}
	}
	return false
}

// texts collects the constant and variable strings of a package, by name.
func texts(files []*ast.File) map[string]ast.Expr {
	out := map[string]ast.Expr{}
	for _, f := range files {
		for _, d := range f.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, s := range g.Specs {
				if v, ok := s.(*ast.ValueSpec); ok {
					for i, n := range v.Names {
						if i < len(v.Values) {
							out[n.Name] = v.Values[i]
						}
					}
				}
			}
		}
	}
	return out
}

// textOf gives what is known of a string expression.
func textOf(e ast.Expr, names map[string]ast.Expr, depth int) string {
	if depth > 8 {
		return ""
	}
	switch x := e.(type) {
	case *ast.BasicLit:
		if s, err := strconv.Unquote(x.Value); err == nil && x.Kind == token.STRING {
			return s
		}
	case *ast.BinaryExpr:
		return textOf(x.X, names, depth+1) + textOf(x.Y, names, depth+1)
	case *ast.ParenExpr:
		return textOf(x.X, names, depth+1)
	case *ast.Ident:
		if v, ok := names[x.Name]; ok {
			return textOf(v, names, depth+1)
		}
	}
	return ""
}

// banned lists the calls of a package that may write outside a transaction.
func banned(fset *token.FileSet, files []*ast.File) []string {
	var out []string
	names := texts(files)
	for _, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			sel, ok := call.Fun.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if pkg, ok := sel.X.(*ast.Ident); ok && (pkg.Name == "syscall" || pkg.Name == "unix" || pkg.Name == "exec") {
				return true
			}
			at := fmt.Sprintf("%s: %s", fset.Position(call.Pos()), sel.Sel.Name)
			if slices.Contains(writers, sel.Sel.Name) {
				out = append(out, at)
			}
			if slices.Contains(readers, sel.Sel.Name) {
				for _, a := range call.Args {
					if changing.MatchString(textOf(a, names, 0)) {
						out = append(out, at+" with a statement that writes")
					}
				}
			}
			return true
		})
	}
	return out
}

func TestBannedCalls(t *testing.T) {
	root, err := filepath.Abs("..")
	ok(t, err)
	packages := map[string][]*ast.File{}
	fset := token.NewFileSet()
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(root, path)
		if err != nil || d.IsDir() && (strings.HasPrefix(d.Name(), ".") && rel != "." || d.Name() == "node_modules" || d.Name() == "testdata") {
			if err == nil {
				err = filepath.SkipDir
			}
			return err
		}
		if d.IsDir() || !strings.HasSuffix(rel, ".go") || strings.HasSuffix(rel, "_test.go") || isAllowed(filepath.ToSlash(rel)) {
			return nil
		}
		src, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		f, err := parser.ParseFile(fset, filepath.ToSlash(rel), src, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		packages[filepath.Dir(rel)] = append(packages[filepath.Dir(rel)], f)
		return nil
	})
	ok(t, err)
	if len(packages["store"]) < 20 {
		t.Fatalf("only %d files of store were read", len(packages["store"]))
	}
	for _, files := range packages {
		for _, b := range banned(fset, files) {
			t.Errorf("%s: writes belong into a transaction of store/tx.go", b)
		}
	}
	// the one exception within store that begins a transaction may only read
	src, err := os.ReadFile("find_operation.go")
	ok(t, err)
	if n := strings.Count(string(src), "BeginTxx("); n != strings.Count(string(src), "BeginTxx(ctx, snapshotOptions)") {
		t.Error("find_operation.go begins a transaction that is no snapshot")
	}
}

// TestBannedCallsFinds shows that the scan sees what it is for.
func TestBannedCallsFinds(t *testing.T) {
	const src = `package x
const q = "WITH a AS (SELECT 1) " + tail
const tail = "UPDATE t SET a = 1"
func f() {
	db.Exec("SELECT 1")
	db.GetContext(ctx, &n, "INSERT INTO t VALUES (1) RETURNING id")
	db.Get(&n, q)
	db.QueryRowContext(ctx, ` + "`DELETE\n FROM t`" + `)
	db.BeginTxx(ctx, nil)
	db.Get(&n, "SELECT updated_at FROM t")
	u.exec("INSERT INTO t VALUES (1)")
	form.Get("update")
}`
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "x.go", src, 0)
	ok(t, err)
	var lines []string
	for _, b := range banned(fset, []*ast.File{f}) {
		lines = append(lines, strings.Split(b, ":")[1])
	}
	if got := strings.Join(lines, " "); got != "5 6 7 8 10" {
		t.Errorf("found lines %s", got)
	}
}
