package definition

import (
	"slices"
	"strings"
)

// causes collects what keeps one item from being approved, and tells each cause once: an
// entry's value that is wrong is not told again of every place that is made of it.
type causes struct {
	item     map[string]any // the entry
	problems []ItemProblem
	told     map[string]bool // fields of the entry that a problem names
	wrong    map[string]bool // names at the top of the entry, of fields that are at fault
	at       map[string]bool // places of the content that are at fault
}

func (c *causes) tell(code, field string) {
	if p := (ItemProblem{code, field}); !slices.Contains(c.problems, p) {
		c.problems = append(c.problems, p)
	}
}

// entry tells what is wrong with a field of the entry; the first thing that is found says it.
func (c *causes) entry(code, field string) {
	c.blame(field)
	if c.told == nil {
		c.told = map[string]bool{}
	}
	if !c.told[field] {
		c.told[field] = true
		c.tell(code, field)
	}
}

func (c *causes) blame(field string) {
	if c.wrong == nil {
		c.wrong = map[string]bool{}
	}
	c.wrong[topOf(field)] = true
}

// place tells what is wrong with a place of the content that t makes; nil = no expression does.
func (c *causes) place(code, path string, t template) { c.because(code, path, entryRead(t)) }

// because tells what is wrong with a place of the content, or with "" with the item as a whole,
// unless it is made of a field whose fault is told. Made of one field only, it is that field's.
func (c *causes) because(code, path string, reads []string) {
	if path != "" && c.at[path] {
		return
	}
	if path != "" {
		if c.at == nil {
			c.at = map[string]bool{}
		}
		c.at[path] = true
	}
	if slices.ContainsFunc(reads, func(name string) bool { return c.wrong[name] }) {
		return
	}
	if len(reads) == 1 && code == ProblemEmpty && lacks(c.item, reads[0]) {
		c.entry(code, reads[0])
		return
	}
	if len(reads) == 1 {
		c.blame(reads[0])
	}
	c.tell(code, path)
}

// mergeTag tells of a place that looks like one to be filled: of the entry's value that brought
// it, else of the place in the content.
func (c *causes) mergeTag(path, text string) {
	from := ""
	eachText(c.item, "", func(field, value string) {
		if from == "" && hasMergeTag(value) && strings.Contains(text, value) {
			from = field
		}
	})
	if from != "" {
		c.entry(ProblemMergeTag, from)
		return
	}
	c.place(ProblemMergeTag, path, nil)
}

// tagsToCome tells of the entry's values that hold what looks like a place to be filled, of
// all fields that shared text can name: it is not written yet, so that nobody knows which
// of them it will bring into the content.
func (c *causes) tagsToCome() {
	var fields []string
	eachText(c.item, "", func(field, value string) {
		if hasMergeTag(value) && place.FindString("{{"+field+"}}") == "{{"+field+"}}" {
			fields = append(fields, field)
		}
	})
	slices.Sort(fields)
	for _, field := range fields {
		c.entry(ProblemMergeTag, field)
	}
}

// places gives the places of the content whose fault is told.
func (c *causes) places(t draftTree, texts map[string]sharedText) (out []string) {
	if len(c.at)+len(c.wrong) == 0 {
		return nil
	}
	t.leaves(func(path string, leaf template) {
		if c.at[path] || slices.ContainsFunc(entryRead(leaf), func(name string) bool { return c.wrong[name] }) {
			out = append(out, path)
		}
	})
	for path, text := range texts {
		for i := 1; i < len(text); i += 2 {
			if c.wrong[topOf(text[i])] {
				out = append(out, path)
				break
			}
		}
	}
	return out
}

// entryRead names the fields at the top of an entry that a template reads.
func entryRead(t template) (out []string) {
	if t == nil {
		return nil
	}
	t.each(func(e *expr) { out = append(out, topsOf(e.items)...) })
	slices.Sort(out)
	return slices.Compact(out)
}

func topsOf(paths []string) (out []string) {
	for _, p := range paths {
		if name := topOf(p); !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

func topOf(path string) string {
	name, _, _ := strings.Cut(path, ".")
	name, _, _ = strings.Cut(name, "[")
	return name
}

// leaves visits what is made by expressions, with its place in the content.
func (t draftTree) leaves(visit func(path string, leaf template)) {
	if t.leaf != nil {
		visit(t.path, t.leaf)
	}
	for _, name := range t.names {
		t.of[name].leaves(visit)
	}
	for _, i := range t.items {
		i.leaves(visit)
	}
}

// leafAt gives the template of a place of the content; nil = no expression makes it.
func (t draftTree) leafAt(path string) (found template) {
	t.leaves(func(at string, leaf template) {
		if at == path {
			found = leaf
		}
	})
	return found
}
