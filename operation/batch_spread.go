package operation

import (
	"reflect"
	"sort"
	"strconv"
)

// maxSpread bounds how many paths a spread keeps: the memory for a list stays flat, however
// differently its items are made.
const maxSpread = 500

// BatchSpread finds in one pass what is the same in all contents and what varies. Its zero
// value is ready.
type BatchSpread struct {
	items int
	parts map[string]*spreadPart
}

type spreadPart struct {
	value  any
	seen   int
	varies bool
}

// Add looks at one content. Values are as JSON decodes them.
func (s *BatchSpread) Add(content map[string]any) {
	if s.parts == nil {
		s.parts = map[string]*spreadPart{}
	}
	s.items++
	s.look(content, "")
}

func (s *BatchSpread) look(v any, path string) {
	switch x := v.(type) {
	case map[string]any:
		if len(x) > 0 {
			for name, e := range x {
				at := name
				if path != "" {
					at = path + "." + name
				}
				s.look(e, at)
			}
			return
		}
	case []any:
		if len(x) > 0 {
			for i, e := range x {
				s.look(e, path+"["+strconv.Itoa(i)+"]")
			}
			return
		}
	}
	p := s.parts[path]
	switch {
	case p == nil && len(s.parts) < maxSpread:
		s.parts[path] = &spreadPart{value: v, seen: 1}
	case p != nil:
		p.seen++
		if !p.varies && !reflect.DeepEqual(p.value, v) {
			p.varies, p.value = true, nil
		}
	}
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
