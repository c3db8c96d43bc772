package definition

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"holdpoint/operation"
)

// What satisfies a fanned-out stage.
const (
	SatisfiedEveryConfirmed = "every_item_confirmed" // every item that was not left out is confirmed
	SatisfiedEveryClosed    = "every_item_closed"    // every item is closed, whatever it came to
)

// ForEach says that a stage fans out: one operation for each entry of a list.
type ForEach struct {
	// Input is the input that is the list, where the list is nothing else: then it may also
	// come as a file. "" = an expression makes the list.
	Input    string
	In       string   // as written
	Key      string   // the expression of an item's key; "" = its recipient
	Required []string // content paths, or fields of the item, that must not be empty
	Canary   int      // how many go first, to be looked at; 0 = all at once
	// SameItem: an item waits for the item with the same key of Follows, not for the whole stage.
	SameItem  bool
	Follows   string // the fanned-out stage before this one; "" unless SameItem
	PauseWhen operation.BatchLimits
	Total     string // the expression of an item's amount, in whole minor units; "" = none
	Currency  string // of Total, such as EUR; may be empty

	in       *expr
	key      template
	total    *expr
	required []requirement
	schema   *jsonschema.Schema // of one item; nil = anything
	fields   map[string]any     // JSON Schema of one item, as written; nil = not known
	shared   []string           // paths of the content that are written once for the batch
}

// requirement is a place that must not be empty.
type requirement struct {
	path    string
	content bool // of the content; else of the item
}

type rawForEach struct {
	In        expression `json:"in"`
	Key       expression `json:"key"`
	SameItem  bool       `json:"same_item"`
	Required  []string   `json:"required"`
	Canary    int        `json:"canary"`
	PauseWhen struct {
		Last    int     `json:"last"`
		Errors  percent `json:"errors"`
		Unknown percent `json:"unknown"`
		Bounced percent `json:"bounced"`
	} `json:"pause_when"`
	Total    expression `json:"total"`
	Currency string     `json:"currency"`
}

// percent is written as "5%" or "2.5%"; it is kept in thousandths.
type percent struct {
	thousandths int
	set         bool
}

var percents = regexp.MustCompile(`^([0-9]{1,3}(?:\.[0-9])?)%$`)

// UnmarshalJSON reads the text form.
func (x *percent) UnmarshalJSON(raw []byte) error {
	m := percents.FindStringSubmatch(strings.Trim(string(raw), `"`))
	if m == nil {
		return fmt.Errorf("%s is not a share; write for example 5%% or 2.5%%", raw)
	}
	n, err := strconv.ParseFloat(m[1], 64)
	if err != nil || n > 100 {
		return fmt.Errorf("%s is not a share of at most 100%%", raw)
	}
	x.thousandths, x.set = int(math.Round(n*10)), true
	return nil
}

func (x percent) or(fallback int) int {
	if x.set {
		return x.thousandths
	}
	return fallback
}

var plainInput = regexp.MustCompile(`^\$\{\s*inputs\.([A-Za-z_][A-Za-z0-9_]*)\s*\}$`)

// forEach compiles what a stage says about its list. tree is the stage's content.
func (r *rawForEach) forEach(f *Flow, st *Stage, path string, p *problems) *ForEach {
	d := operation.DefaultBatchLimits
	x := &ForEach{Canary: r.Canary, SameItem: r.SameItem, Required: r.Required, Currency: r.Currency, PauseWhen: operation.BatchLimits{
		Last: r.PauseWhen.Last, Errors: r.PauseWhen.Errors.or(d.Errors), Unknown: r.PauseWhen.Unknown.or(d.Unknown), Bounced: r.PauseWhen.Bounced.or(d.Bounced)}}
	if x.PauseWhen.Last == 0 {
		x.PauseWhen.Last = d.Last
	}
	x.In, _ = r.In.raw.(string)
	if m := plainInput.FindStringSubmatch(x.In); m != nil {
		x.Input = m[1]
		x.checkInput(f, join(path, "in"), p)
	}
	x.in = compileOne(scopeList, r.In, join(path, "in"), p)
	if r.Key.set {
		x.Key, _ = r.Key.raw.(string)
		x.key = compileText(scopeItem, x.Key, join(path, "key"), asWritten, p)
		if x.Key == "" || !readsItem(x.key) {
			p.add(join(path, "key"), "an item's key is read from the item: ${item.…}")
		}
	}
	if r.Total.set {
		x.Total, _ = r.Total.raw.(string)
		x.total = compileOne(scopeItem, r.Total, join(path, "total"), p)
	}
	if r.Currency != "" && !r.Total.set {
		p.add(join(path, "currency"), "a currency needs a total")
	}
	for _, d := range st.Drafts {
		x.shared = append(x.shared, d.Path)
	}
	for i, name := range r.Required {
		x.require(st, name, item(join(path, "required"), i), p)
	}
	x.follow(f, join(path, "same_item"), p)
	st.tree.each(func(at string, e *expr) {
		if x.Input != "" && slices.Contains(e.inputs, x.Input) {
			p.add(at, "the content of an item cannot read the whole list inputs.%s", x.Input)
		}
	})
	return x
}

func readsItem(t template) bool {
	found := false
	t.each(func(e *expr) { found = found || e.names["item"] })
	return found
}

// checkInput looks at the schema of the list, where the flow describes it.
func (x *ForEach) checkInput(f *Flow, path string, p *problems) {
	props, _ := f.Inputs["properties"].(map[string]any)
	list, ok := props[x.Input].(map[string]any)
	switch {
	case !ok:
		p.add(path, "the flow has no input %q", x.Input)
		return
	case list["type"] != "array":
		p.add(path, "the input %q is no list: its type must be array", x.Input)
		return
	}
	items, ok := list["items"].(map[string]any)
	if !ok {
		return
	}
	x.fields = items
	var err error
	if x.schema, err = compilePart("inputs.json", f.Inputs, "/properties/"+x.Input+"/items"); err != nil {
		p.add("inputs.properties."+x.Input+".items", "it is not a JSON Schema: %s", oneLine(err))
	}
}

// require decides where a required place is: in the content, else in the item.
func (x *ForEach) require(st *Stage, name, at string, p *problems) {
	if st.tree.has(name) {
		x.required = append(x.required, requirement{name, true})
		return
	}
	props, _ := x.fields["properties"].(map[string]any)
	first, _, _ := strings.Cut(name, ".")
	if _, known := props[first]; props != nil && !known {
		p.add(at, "neither the content nor the item has %q", name)
	}
	x.required = append(x.required, requirement{name, false})
}

// follow finds the stage whose items this one's wait for.
func (x *ForEach) follow(f *Flow, path string, p *problems) {
	if !x.SameItem {
		return
	}
	for i := len(f.Stages) - 1; i >= 0; i-- {
		if e := f.Stages[i].ForEach; e != nil {
			x.Follows = f.Stages[i].Key
			if x.Key == "" || e.Key != x.Key {
				p.add(path, "the stage %s and this one need the same key, written out, so that it is known which item waits for which", x.Follows)
			}
			return
		}
	}
	p.add(path, "no earlier stage fans out, so there is no item to wait for")
}

// withoutItems gives the inputs' schema without what it says about the entries of the lists
// that stages fan out from: a row that does not fit concerns that row alone.
func withoutItems(inputs map[string]any, lists []string) map[string]any {
	if len(lists) == 0 {
		return inputs
	}
	out, _ := copyTree(inputs).(map[string]any)
	props, _ := out["properties"].(map[string]any)
	for _, name := range lists {
		if list, ok := props[name].(map[string]any); ok {
			delete(list, "items")
		}
	}
	return out
}

func copyTree(v any) any {
	raw, err := json.Marshal(v)
	if err != nil {
		return v
	}
	out, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return v
	}
	return out
}

// rawLists names the inputs that stages fan out from, as written.
func rawLists(stages []rawStage) []string {
	var out []string
	for _, s := range stages {
		if s.ForEach == nil {
			continue
		}
		in, _ := s.ForEach.In.raw.(string)
		if m := plainInput.FindStringSubmatch(in); m != nil && !slices.Contains(out, m[1]) {
			out = append(out, m[1])
		}
	}
	return out
}

// ListInputs names the inputs that stages fan out from, in the order of the stages. Each may
// come as a file.
func (f *Flow) ListInputs() []string {
	var out []string
	for _, st := range f.Stages {
		if st.ForEach != nil && st.ForEach.Input != "" && !slices.Contains(out, st.ForEach.Input) {
			out = append(out, st.ForEach.Input)
		}
	}
	return out
}
