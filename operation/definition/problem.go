package definition

import (
	"fmt"
	"sort"
	"strings"
)

// Problem is one thing that is wrong in a definition file.
type Problem struct {
	File  string
	Line  int    // 1-based; 0 = not known
	Field string // dotted path such as stages[0].approval.required; "" = the file as a whole
	Text  string // an English sentence
}

// String gives "file:line: field: text".
func (p Problem) String() string {
	s := p.File
	if p.Line > 0 {
		s += fmt.Sprintf(":%d", p.Line)
	}
	if p.Field != "" {
		s += ": " + p.Field
	}
	return s + ": " + p.Text
}

// Problems is every problem of a file: the error of ParseFlow, ParseProfile and
// ParseSource.
type Problems []Problem

// Error lists the problems, one a line.
func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// problems collects what is wrong while a document is read.
type problems struct {
	doc  *document
	list Problems
}

func (p *problems) add(field, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	p.list = append(p.list, Problem{File: p.doc.file, Line: p.doc.line(field), Field: field, Text: text})
}

func (p *problems) err() error {
	if len(p.list) == 0 {
		return nil
	}
	sort.SliceStable(p.list, func(i, j int) bool { return p.list[i].Line < p.list[j].Line })
	return p.list
}

// join appends a name to a dotted path.
func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// item appends an index to a dotted path.
func item(path string, i int) string { return fmt.Sprintf("%s[%d]", path, i) }
