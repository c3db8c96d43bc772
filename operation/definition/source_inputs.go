package definition

import (
	"encoding/json"
	"slices"
	"sort"
	"strings"
)

// InputField is one input of a flow that a person can give in a form or in a column.
type InputField struct {
	Path     string         // dotted, for inputs within inputs
	Schema   map[string]any // of this input
	Required bool
}

// InputFields lists the inputs of a flow that can be given as text, the required ones
// first, then by name. Lists have no place in a form; LostInputs names the required ones.
func (f *Flow) InputFields() []InputField {
	fields, _ := inputFields(f.Inputs, "", true)
	sort.SliceStable(fields, func(i, j int) bool {
		if fields[i].Required != fields[j].Required {
			return fields[i].Required
		}
		return fields[i].Path < fields[j].Path
	})
	return fields
}

// LostInputs names the required inputs that no form can hold: a flow with any cannot be
// started by hand. A list that a stage fans out from comes as a file: see ListInputs.
func (f *Flow) LostInputs() []string {
	_, lost := inputFields(f.Inputs, "", true)
	lists := f.ListInputs()
	lost = slices.DeleteFunc(lost, func(path string) bool { return slices.Contains(lists, path) })
	sort.Strings(lost)
	return lost
}

func inputFields(schema map[string]any, path string, needed bool) (fields []InputField, lost []string) {
	props, _ := schema["properties"].(map[string]any)
	need, _ := schema["required"].([]any)
	for name, x := range props {
		sub, _ := x.(map[string]any)
		at := strings.TrimPrefix(path+"."+name, ".")
		required := needed && slices.Contains(need, any(name))
		switch sub["type"] {
		case "object":
			inner, gone := inputFields(sub, at, required)
			fields, lost = append(fields, inner...), append(lost, gone...)
		case "array":
			if required {
				lost = append(lost, at)
			}
		default:
			fields = append(fields, InputField{at, sub, required})
		}
	}
	return fields, lost
}

// Parse reads typed text as this input holds it; nil = it stays empty. ok is false when
// the text does not fit.
func (f InputField) Parse(text string) (v any, ok bool) {
	text = strings.TrimSpace(text)
	switch {
	case text == "":
		return nil, true
	case f.Schema["type"] == "boolean":
		switch strings.ToLower(text) {
		case "true", "yes", "1":
			return true, true
		case "false", "no", "0":
			return false, true
		}
		return nil, false
	case f.Schema["type"] == "integer" || f.Schema["type"] == "number":
		x, err := DecodeJSON([]byte(text))
		_, number := x.(json.Number)
		return x, err == nil && number
	}
	return text, true
}

// ReadInputs makes a flow's inputs from texts by path. wrong names the inputs that are
// missing or do not fit, in the fields' order; it is empty when a run can begin.
func (f *Flow) ReadInputs(texts map[string]string) (inputs map[string]any, wrong []string, err error) {
	inputs = map[string]any{}
	bad := map[string]bool{}
	fields := f.InputFields()
	for _, field := range fields {
		v, ok := field.Parse(texts[field.Path])
		if !ok {
			bad[field.Path] = true
		}
		if ok && v != nil {
			placeInput(inputs, strings.Split(field.Path, "."), v)
		}
	}
	missing, err := f.CheckInputs(inputs)
	for _, path := range missing {
		bad[path] = true
	}
	for _, field := range fields {
		if bad[field.Path] {
			wrong = append(wrong, field.Path)
			delete(bad, field.Path)
		}
	}
	for path := range bad {
		wrong = append(wrong, path)
	}
	return inputs, wrong, err
}

func placeInput(at map[string]any, path []string, v any) {
	for _, name := range path[:len(path)-1] {
		next, ok := at[name].(map[string]any)
		if !ok {
			next = map[string]any{}
			at[name] = next
		}
		at = next
	}
	at[path[len(path)-1]] = v
}

// Starts reports whether the source starts runs of a flow: it is named as the flow's
// trigger, or names the flow itself.
func (s *Source) Starts(f *Flow) bool {
	return f.Trigger.Source == s.Name || slices.Contains(s.Flows, f.Name)
}
