package definition

import (
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"holdpoint/operation"
)

// EventData is the business fact that starts a run, as expressions see it:
// event.source, event.account, event.topic, event.key, event.id, event.time,
// event.action_run_id and event.data.
type EventData struct {
	Source, Account, Topic, Key, ID string
	Time                            time.Time // zero = not known
	ActionRunID                     string    // Shopify Flow only
	// Data is the notification's own data, decoded with DecodeJSON. For Shopify Flow
	// that is the whole body; see TakeInputs.
	Data map[string]any
}

// Identity is the identity of the event: source, account, topic and event key.
func (ev EventData) Identity() string {
	return strings.Join([]string{ev.Source, ev.Account, ev.Topic, ev.Key}, "\x00")
}

func (ev EventData) variables() map[string]any {
	m := map[string]any{
		"source": ev.Source, "account": ev.Account, "topic": ev.Topic, "key": ev.Key, "id": ev.ID,
		"data": plain(ev.Data),
	}
	if ev.ActionRunID != "" {
		m["action_run_id"] = ev.ActionRunID
	}
	if !ev.Time.IsZero() {
		m["time"] = ev.Time
	}
	return m
}

// Key gives the run key: the flow's rule, or by default the event's identity. A rule
// without a value, or with an empty one, is an error: no run may begin under a key
// that others could share by accident.
func (f *Flow) Key(ev EventData) (string, error) {
	if f.runKey == nil {
		if ev.Key == "" {
			return "", errors.New("the event has no key")
		}
		return ev.Identity(), nil
	}
	ps, err := f.runKey.pieces(map[string]any{"event": ev.variables(), "inputs": map[string]any{}})
	if err != nil {
		return "", fmt.Errorf("run_key: %w", err)
	}
	key, err := keyPieces(ps)
	if err != nil {
		return "", fmt.Errorf("run_key: %w", err)
	}
	return key, nil
}

// TakeInputs gives the inputs that an event brings: the flow's `take` rules, or by
// default the event's data (for Shopify Flow its `properties`). A rule whose value is
// missing leaves its input out.
func (f *Flow) TakeInputs(ev EventData) map[string]any {
	if f.take == nil {
		if props, ok := ev.Data["properties"].(map[string]any); ok && ev.ActionRunID != "" {
			return props
		}
		return ev.Data
	}
	out := map[string]any{}
	rules, _ := f.take.(object)
	for _, name := range rules.names {
		v, err := rules.of[name].render(map[string]any{"event": ev.variables(), "inputs": map[string]any{}})
		if err == nil {
			out[name] = v
		}
	}
	return out
}

// CheckInputs names the inputs that are missing or do not fit the flow's schema, by
// dotted path, sorted. A required text that is empty counts as missing. lists are inputs
// that come by another way, as files, and so are not missed. The entries of a list that a
// stage fans out from are not looked at: each is judged with its item.
func (f *Flow) CheckInputs(inputs map[string]any, lists ...string) (missing []string, err error) {
	missing, err = checkValues(f.schema, inputs)
	missing = slices.DeleteFunc(missing, func(path string) bool { return slices.Contains(lists, path) })
	sort.Strings(missing)
	return missing, err
}

// Draft renders a stage's content from the event and the inputs. Parts that somebody
// must write, and parts whose inputs are missing or do not fit, are left out and
// named in missing by dotted path. An unknown stage is an error.
func (f *Flow) Draft(stage string, ev EventData, inputs map[string]any) (content map[string]any, missing []string, err error) {
	st, ok := f.Stage(stage)
	switch {
	case !ok:
		return nil, nil, fmt.Errorf("flow %s has no stage %q", f.Name, stage)
	case st.ForEach != nil:
		return nil, nil, fmt.Errorf("stage %s of flow %s fans out: its items have contents of their own", stage, f.Name)
	}
	wrong, err := f.CheckInputs(inputs)
	if err != nil {
		return nil, nil, err
	}
	vars := map[string]any{"event": ev.variables(), "inputs": fitting(inputs, wrong)}
	v, ok := st.tree.fill(vars, &missing)
	if !ok {
		return map[string]any{}, missing, nil
	}
	content, _ = operation.NormalizeValue(v).(map[string]any)
	return content, missing, nil
}

// fitting gives the inputs without those that are wrong, as expressions read them.
func fitting(inputs map[string]any, wrong []string) map[string]any {
	fit := map[string]any{}
	for name, v := range inputs {
		if !slices.ContainsFunc(wrong, func(path string) bool {
			return path == name || strings.HasPrefix(path, name+".") || strings.HasPrefix(path, name+"[")
		}) {
			fit[name] = plain(v)
		}
	}
	return fit
}

// draftTree is a stage's content: templates, and places that somebody fills.
type draftTree struct {
	path  string // in the content
	field string // in the file
	leaf  template
	draft *DraftField
	names []string // sorted; nil when it is no object
	of    map[string]draftTree
	items []draftTree
}

// compileDraft compiles content; field is the place in the file, path the one in the
// content.
func compileDraft(s scope, v any, field, path string, p *problems) draftTree {
	t := draftTree{path: path, field: field}
	switch x := v.(type) {
	case map[string]any:
		if rule, ok := x["draft"]; ok && len(x) == 1 && path != "" {
			t.draft = draftField(rule, field, path, p)
			return t
		}
		t.of = map[string]draftTree{}
		for name, e := range x {
			t.names = append(t.names, name)
			t.of[name] = compileDraft(s, e, join(field, name), join(path, name), p)
		}
		sort.Strings(t.names)
	case []any:
		t.items = make([]draftTree, len(x))
		for i, e := range x {
			t.items[i] = compileDraft(s, e, item(field, i), item(path, i), p)
		}
	default:
		t.leaf = compileTree(s, v, field, asWritten, p)
	}
	return t
}

func draftField(rule any, field, path string, p *problems) *DraftField {
	d := &DraftField{Path: path, By: "author"}
	m, ok := rule.(map[string]any)
	if !ok {
		p.add(field, "a draft is written as {draft: {by: author}}")
		return d
	}
	for name, v := range m {
		s, isText := v.(string)
		switch {
		case name == "by" && (s == "author" || s == "model"):
			d.By = s
		case name == "brief" && isText:
			d.Brief = s
		default:
			p.add(join(join(field, "draft"), name), "a draft has by (author or model) and brief only")
		}
	}
	return d
}

func (t draftTree) eachDraft(visit func(DraftField)) {
	if t.draft != nil {
		visit(*t.draft)
	}
	for _, name := range t.names {
		t.of[name].eachDraft(visit)
	}
	for _, i := range t.items {
		i.eachDraft(visit)
	}
}

// each visits every expression with its place in the file.
func (t draftTree) each(visit func(field string, e *expr)) {
	if t.leaf != nil {
		t.leaf.each(func(e *expr) { visit(t.field, e) })
	}
	for _, name := range t.names {
		t.of[name].each(visit)
	}
	for _, i := range t.items {
		i.each(visit)
	}
}

// has reports whether the content has a part with this path.
func (t draftTree) has(path string) bool {
	if t.path == path {
		return true
	}
	for _, name := range t.names {
		if t.of[name].has(path) {
			return true
		}
	}
	return slices.ContainsFunc(t.items, func(i draftTree) bool { return i.has(path) })
}

// fill renders; ok is false when there is no value here, and the reason (unless the
// part is optional) is noted in missing.
func (t draftTree) fill(vars map[string]any, missing *[]string) (v any, ok bool) {
	switch {
	case t.draft != nil:
		*missing = append(*missing, t.path)
		return nil, false
	case t.of != nil:
		out := map[string]any{}
		for _, name := range t.names {
			if v, ok := t.of[name].fill(vars, missing); ok {
				out[name] = v
			}
		}
		return out, true
	case t.items != nil:
		out := make([]any, 0, len(t.items))
		for _, i := range t.items {
			if v, ok := i.fill(vars, missing); ok {
				out = append(out, v)
			}
		}
		return out, true
	}
	v, err := t.leaf.render(vars)
	if errors.Is(err, errAbsent) {
		return nil, false
	}
	if err != nil {
		*missing = append(*missing, t.path)
		return nil, false
	}
	return v, true
}
