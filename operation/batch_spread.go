package operation

import (
	"reflect"
	"sort"
	"strconv"
)

// maxSpread bounds how many paths a spread keeps: the memory for a list stays flat, however
// differently its items are made.
const maxSpread = 500

// BatchSpread finds in one pass what is the same in all contents, what varies, and how much.
// Its zero value is ready.
type BatchSpread struct {
	items int
	parts map[string]*spreadPart
}

type spreadPart struct {
	value  any
	seen   int
	varies bool
	place  placeCount
}

// Add looks at the content of the item at this position of the list. Values are as JSON
// decodes them.
func (s *BatchSpread) Add(position int, content map[string]any) {
	if s.parts == nil {
		s.parts = map[string]*spreadPart{}
	}
	s.items++
	s.look(position, content, "")
}

func (s *BatchSpread) look(position int, v any, path string) {
	switch x := v.(type) {
	case map[string]any:
		if len(x) > 0 {
			for name, e := range x {
				at := name
				if path != "" {
					at = path + "." + name
				}
				s.look(position, e, at)
			}
			return
		}
	case []any:
		if len(x) > 0 {
			for i, e := range x {
				s.look(position, e, path+"["+strconv.Itoa(i)+"]")
			}
			return
		}
	}
	p := s.parts[path]
	switch {
	case p == nil && len(s.parts) < maxSpread:
		p = &spreadPart{value: v, seen: 1}
		s.parts[path] = p
		p.place.add(position, v)
	case p != nil:
		p.see(position, v)
	}
}

// see counts one more value. What is the same in all items so far costs a comparison only.
func (p *spreadPart) see(position int, v any) {
	p.seen++
	if !p.varies {
		if reflect.DeepEqual(p.value, v) {
			p.place.again(v)
			return
		}
		p.varies, p.value = true, nil
	}
	p.place.add(position, v)
}

// Same gives what every content holds, by path.
func (s *BatchSpread) Same() map[string]any {
	out := map[string]any{}
	for path, p := range s.parts {
		if !p.varies && p.seen == s.items {
			out[path] = p.value
		}
	}
	return out
}

// Varies names what differs, or is not in every content, sorted.
func (s *BatchSpread) Varies() []string {
	var out []string
	for path, p := range s.parts {
		if p.varies || p.seen != s.items {
			out = append(out, path)
		}
	}
	sort.Strings(out)
	return out
}

// Places says of each of these paths how much it varies, in their order. One that was never
// seen is left out.
func (s *BatchSpread) Places(paths []string) []BatchPlace {
	var out []BatchPlace
	for _, path := range paths {
		if p := s.parts[path]; p != nil {
			out = append(out, p.place.found(path, s.items))
		}
	}
	return out
}
