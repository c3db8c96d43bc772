package handlers

import (
	"encoding/json"
	"regexp"
	"slices"
	"sort"
	"strings"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/views"
)

// filledPlace finds the places of shared text that are filled for each item.
var filledPlace = regexp.MustCompile(`\{\{\s*([^{}]+?)\s*\}\}`)

// places takes the content apart: what is the same in all items, and what varies. Shared
// text counts as the same; the fields that are filled into it vary.
func places(v store.BatchVersion, picked map[int]store.BatchItem) (same, varies []views.BatchPlace) {
	facts, shared := v.Facts(), v.Shared()
	seen := map[string]bool{}
	for _, path := range sortedPaths(facts.Same, shared) {
		text, is := shared[path]
		if !is {
			text = shownValue(facts.Same[path])
		}
		shown, cut := views.Bound(text, views.ShownText)
		x := views.BatchPlace{Name: path, Value: shown, Filled: is && filledPlace.MatchString(text)}
		if cut {
			x.Cut = views.Cut{Shown: len(shown), Total: len(text)}
		}
		same, seen[path] = append(same, x), true
		for _, m := range filledPlace.FindAllStringSubmatch(text, -1) {
			if name := m[1]; is && !seen["{{"+name] {
				seen["{{"+name] = true
				varies = append(varies, place(facts.Place(name, true), name, picked, func(i store.BatchItem) any { return at(jsonIn(i.ItemText), name) }))
			}
		}
	}
	var list []views.BatchPlace
	for _, path := range facts.Varies {
		if !seen[path] {
			list = append(list, place(facts.Place(path, false), path, picked, func(i store.BatchItem) any { return at(jsonIn(i.ContentText), path) }))
		}
	}
	sort.SliceStable(list, func(i, j int) bool { return fieldBefore(list[i].Name, list[j].Name) })
	return same, append(list, varies...)
}

// place says how much a place varies, with a few of its values; f nil = that was not counted.
func place(f *operation.BatchPlace, name string, picked map[int]store.BatchItem, value func(store.BatchItem) any) views.BatchPlace {
	out := views.BatchPlace{Name: name}
	if f == nil {
		out.Examples = examples(picked, value)
		return out
	}
	out.Distinct, out.AtLeast, out.Empty, out.Shortest, out.Longest = f.Distinct, f.More, f.Empty, f.Shortest, f.Longest
	own := map[int]store.BatchItem{}
	for _, n := range f.Examples {
		if i, ok := picked[n]; ok {
			own[n] = i
		}
	}
	out.Examples = examples(own, value)
	return out
}

// quoted are the positions of the items whose values stand as examples.
func quoted(f store.BatchFacts) []int {
	var out []int
	for i, p := range f.Places {
		if i < placesQuoted {
			out = append(out, p.Examples...)
		}
	}
	return out
}

// sortedPaths lists the places of both maps as people read them.
func sortedPaths(same map[string]any, shared map[string]string) []string {
	all := map[string]any{}
	for k := range same {
		all[k] = nil
	}
	for k := range shared {
		all[k] = nil
	}
	return ordered(all)
}

// at reads the value of a place: keys joined by dots.
func at(content map[string]any, path string) any {
	for _, l := range leaves(content, "") {
		if l.path == path || strings.NewReplacer("[", ".", "]", "").Replace(path) == l.path {
			return l.value
		}
	}
	return nil
}

// examples gives a few different values of a place, from items that were looked at.
func examples(picked map[int]store.BatchItem, value func(store.BatchItem) any) []string {
	var positions []int
	for n := range picked {
		positions = append(positions, n)
	}
	slices.Sort(positions)
	var out []string
	for _, n := range positions {
		x, cut := views.Bound(shownValue(value(picked[n])), exampleChars)
		if cut {
			x += "…"
		}
		if x != "" && !slices.Contains(out, x) && len(out) < examplesShown {
			out = append(out, x)
		}
	}
	return out
}

// jsonIn reads JSON with its numbers as they stand.
func jsonIn(text string) map[string]any {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	out := map[string]any{}
	if d.Decode(&out) != nil {
		return map[string]any{}
	}
	return out
}
