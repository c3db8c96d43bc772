package static

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Pages load one script: the entry with the modules that it imports, each in a scope of
// its own, so that nothing waits for a second round trip. A module that is imported when
// it is needed — await import('./x.js') — is served by itself.

var (
	importLine = regexp.MustCompile(`(?m)^import \{ ([\w, ]+) \} from '\./([\w-]+\.js)'\n`)
	exportWord = regexp.MustCompile(`(?m)^export ((?:async )?function|const|let|class) (\w+)`)
	// onDemand are the modules that a page asks for only when it needs them.
	onDemand = regexp.MustCompile(`import\('\./([\w-]+\.js)'\)`)
	// other finds what the bundler does not know.
	other = regexp.MustCompile(`(?m)^\s*(import\b[^(]|export\b)`)
)

// bundler joins modules in the order in which they need each other.
type bundler struct {
	read func(name string) ([]byte, error)
	out  strings.Builder
	done []string
	open []string // being joined, from the entry on
}

// bundle gives the entry with everything that it imports.
func bundle(entry string, read func(name string) ([]byte, error)) ([]byte, error) {
	b := &bundler{read: read}
	if err := b.add(entry); err != nil {
		return nil, err
	}
	return []byte(b.out.String()), nil
}

// variable is what holds a module's exports.
func variable(name string) string {
	return "$" + strings.ReplaceAll(strings.TrimSuffix(name, ".js"), "-", "_")
}

func (b *bundler) add(name string) error {
	if slices.Contains(b.done, name) {
		return nil
	}
	if slices.Contains(b.open, name) {
		return fmt.Errorf("%s imports itself by way of %v", name, b.open)
	}
	b.open = append(b.open, name)
	defer func() { b.open = b.open[:len(b.open)-1] }()
	raw, err := b.read(name)
	if err != nil {
		return err
	}
	for _, m := range importLine.FindAllStringSubmatch(string(raw), -1) {
		if err := b.add(m[2]); err != nil {
			return err
		}
	}
	body := importLine.ReplaceAllStringFunc(string(raw), func(line string) string {
		m := importLine.FindStringSubmatch(line)
		return "const { " + m[1] + " } = " + variable(m[2]) + "\n"
	})
	var exports []string
	for _, m := range exportWord.FindAllStringSubmatch(body, -1) {
		exports = append(exports, m[2])
	}
	body = exportWord.ReplaceAllString(body, "$1 $2")
	if odd := other.FindString(body); odd != "" {
		return fmt.Errorf("%s: %q is a form of import or export that the bundle does not know", name, strings.TrimSpace(odd))
	}
	if b.done = append(b.done, name); len(b.open) == 1 {
		b.out.WriteString(body)
		return nil
	}
	fmt.Fprintf(&b.out, "const %s = (() => {\n%sreturn { %s }\n})()\n", variable(path.Base(name)), body, strings.Join(exports, ", "))
	return nil
}
