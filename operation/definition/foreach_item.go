package definition

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"holdpoint/operation"
)

// MaxListItems is the most entries that a list may have.
const MaxListItems = 100_000

// ItemProblem is what keeps one item from being approved.
type ItemProblem struct {
	Code  string `json:"code"`
	Field string `json:"field"` // a path of the content or of the item; "" = the item as a whole
}

// The codes of ItemProblem.
const (
	ProblemItem       = "item"       // the entry does not fit the list's schema
	ProblemEmpty      = "empty"      // a required place is empty, or the item has no value for it
	ProblemUnresolved = "unresolved" // the shared text names a field that the item does not fill
	ProblemMergeTag   = "merge_tag"  // something still looks like a place to be filled
	ProblemMarkup     = "markup"     // a value for the shared text holds < or >
	ProblemKey        = "key"        // the item's key is empty or cannot be one
	ProblemTotal      = "total"      // the amount is no whole number
	ProblemContent    = "content"    // it does not fit the destination's action
	ProblemCells      = "cells"      // the row has more cells than the list's header
)

// ItemProblems lists every code.
var ItemProblems = []string{ProblemItem, ProblemEmpty, ProblemUnresolved, ProblemMergeTag, ProblemMarkup, ProblemKey, ProblemTotal, ProblemContent, ProblemCells}

// BatchItem is what one entry of a list makes of a fanned-out stage.
type BatchItem struct {
	Key      string // "" = the flow names none: the item's recipient is its key
	Content  map[string]any
	Missing  []string // paths of shared text that nobody has written yet
	Problems []ItemProblem
	// Told are the places of the content whose fault Problems tell, where it is a fault: of the
	// place itself, or of what it is made of.
	Told   []string
	Amount int64 // what the item adds to the batch's total, in minor units; 0 without a total
	// Fields are the entry's values for the {{name}} places of the shared text.
	Fields map[string]any
}

// ListError says why there is no list to fan out from.
type ListError struct {
	Code  string // "missing", "no_list", "rows"
	Limit int    // with "rows"
}

// Error names the code.
func (e *ListError) Error() string { return "list: " + e.Code }

// Items gives the list that a stage fans out over. An entry that is no object stands as
// {value: …}. A list that is missing, is none or is too long is a *ListError.
func (f *Flow) Items(stage string, ev EventData, inputs map[string]any) ([]map[string]any, error) {
	st, err := f.fanned(stage)
	if err != nil {
		return nil, err
	}
	var v any
	if x := st.ForEach; x.Input != "" {
		var ok bool
		if v, ok = inputs[x.Input]; !ok || v == nil {
			return nil, &ListError{Code: "missing"}
		}
	} else if v, err = x.in.value(map[string]any{"event": ev.variables(), "inputs": plain(inputs)}); err != nil {
		return nil, &ListError{Code: "missing"}
	}
	list, ok := v.([]any)
	switch {
	case !ok:
		return nil, &ListError{Code: "no_list"}
	case len(list) > MaxListItems:
		return nil, &ListError{Code: "rows", Limit: MaxListItems}
	}
	out := make([]map[string]any, len(list))
	for i, e := range list {
		out[i] = asItem(e)
	}
	return out, nil
}

func asItem(v any) map[string]any {
	if m, ok := v.(map[string]any); ok {
		return m
	}
	return map[string]any{"value": v}
}

func (f *Flow) fanned(stage string) (*Stage, error) {
	st, ok := f.Stage(stage)
	switch {
	case !ok:
		return nil, fmt.Errorf("flow %s has no stage %q", f.Name, stage)
	case st.ForEach == nil:
		return nil, fmt.Errorf("stage %s of flow %s does not fan out", stage, f.Name)
	}
	return st, nil
}

// Item renders one item; see ItemMaker, which renders many.
func (f *Flow) Item(stage string, ev EventData, inputs, item map[string]any, shared map[string]string) (BatchItem, error) {
	m, err := f.ItemMaker(stage, ev, inputs, shared)
	if err != nil {
		return BatchItem{}, err
	}
	return m.Item(item), nil
}

// ItemMaker renders the items of one list: what is the same for all is prepared once. It is
// safe for concurrent use.
type ItemMaker struct {
	st      *Stage
	vars    map[string]any
	texts   map[string]sharedText
	missing []string // paths of shared text that is to be written
	fields  []string // what the shared text holds as {{name}}
}

// ItemMaker prepares a fanned-out stage: inputs without the list itself, and the shared text
// by its path in the content. A blank text counts as not written.
func (f *Flow) ItemMaker(stage string, ev EventData, inputs map[string]any, shared map[string]string) (*ItemMaker, error) {
	st, err := f.fanned(stage)
	if err != nil {
		return nil, err
	}
	wrong, err := f.CheckInputs(inputs, f.ListInputs()...)
	if err != nil {
		return nil, err
	}
	m := &ItemMaker{st: st, texts: map[string]sharedText{}, vars: map[string]any{"event": ev.variables(), "inputs": fitting(inputs, append(wrong, f.ListInputs()...))}}
	for _, path := range st.ForEach.shared {
		if text := shared[path]; strings.TrimSpace(text) != "" {
			m.texts[path] = splitShared(operation.Normalize(text))
			for i := 1; i < len(m.texts[path]); i += 2 {
				if name := m.texts[path][i]; !slices.Contains(m.fields, name) {
					m.fields = append(m.fields, name)
				}
			}
		} else {
			m.missing = append(m.missing, path)
		}
	}
	return m, nil
}

// Missing names the shared text that is to be written.
func (m *ItemMaker) Missing() []string { return slices.Clone(m.missing) }

// Fields names the fields of an entry that the shared text holds as {{name}}, in its order.
func (m *ItemMaker) Fields() []string { return slices.Clone(m.fields) }

// Item renders one entry of the list. What keeps it from being approved stands in Problems.
func (m *ItemMaker) Item(entry map[string]any) BatchItem {
	x := m.st.ForEach
	out := BatchItem{Missing: m.Missing()}
	c := &causes{}
	if _, moved := entry[ExtraCells]; moved {
		entry = maps.Clone(entry)
		delete(entry, ExtraCells)
		c.tell(ProblemCells, "")
	}
	wrong, err := checkValues(x.schema, entry)
	if err != nil {
		c.entry(ProblemItem, "")
	}
	for _, path := range wrong {
		c.entry(ProblemItem, path)
	}
	it, _ := plain(operation.NormalizeValue(entry)).(map[string]any)
	for _, r := range x.required {
		if !r.content && lacks(it, r.path) && !slices.Contains(m.missing, r.path) {
			c.entry(ProblemEmpty, r.path)
		}
	}
	c.item = it
	vars := map[string]any{"event": m.vars["event"], "inputs": m.vars["inputs"], "item": it}
	f := filling{vars: vars, item: it, texts: m.texts, causes: c}
	v, _ := f.fill(m.st.tree)
	out.Content, _ = operation.NormalizeValue(v).(map[string]any)
	if out.Content == nil {
		out.Content = map[string]any{}
	}
	for _, r := range x.required {
		if r.content && lacks(out.Content, r.path) && !slices.Contains(m.missing, r.path) {
			c.place(ProblemEmpty, r.path, m.st.tree.leafAt(r.path))
		}
	}
	eachText(out.Content, "", func(path, text string) {
		if hasMergeTag(text) {
			c.mergeTag(path, text)
		}
	})
	if len(m.missing) > 0 {
		c.tagsToCome()
	}
	for _, name := range m.fields {
		if out.Fields == nil {
			out.Fields = make(map[string]any, len(m.fields))
		}
		out.Fields[name], _ = valueAt(it, name)
	}
	out.Key = m.key(vars, c)
	out.Amount = m.amount(vars, c)
	out.Problems, out.Told = c.problems, c.places(m.st.tree, m.texts)
	return out
}

// lacks reports that there is nothing at a path.
func lacks(v map[string]any, path string) bool {
	at, ok := valueAt(v, path)
	return !ok || isEmpty(at)
}

func (m *ItemMaker) key(vars map[string]any, c *causes) string {
	t := m.st.ForEach.key
	if t == nil {
		return ""
	}
	ps, err := t.pieces(vars)
	key := ""
	if err == nil {
		key, err = keyPieces(ps)
	}
	key = strings.TrimSpace(operation.Normalize(key))
	if err != nil || operation.CheckItemKey(key) != nil {
		c.place(ProblemKey, "", t)
		return ""
	}
	return key
}

// maxAmount keeps the total of a full list within what every reader holds exactly.
const maxAmount = maxExact / MaxListItems

func (m *ItemMaker) amount(vars map[string]any, c *causes) int64 {
	e := m.st.ForEach.total
	if e == nil {
		return 0
	}
	v, err := e.value(vars)
	switch n := v.(type) {
	case int64:
		if n <= maxAmount && n >= -maxAmount {
			return n
		}
	case float64:
		if n == math.Trunc(n) && math.Abs(n) <= maxAmount {
			return int64(n)
		}
	case string:
		if w, ok := wholeNumber(n); ok && w <= maxAmount && w >= -maxAmount {
			return w
		}
	}
	if !errors.Is(err, errAbsent) {
		c.because(ProblemTotal, "", topsOf(e.items))
	}
	return 0
}
