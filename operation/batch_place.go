package operation

import (
	"encoding/json"
	"hash/maphash"
	"slices"
	"strings"
	"unicode/utf8"
)

// MaxDistinct is up to which number the different values of a place are counted.
const MaxDistinct = 1000

// placeExamples is how many values of a place are shown.
const placeExamples = 3

// BatchPlace says how much one place varies over all items of a batch. It holds no value of
// an item, so that what an item holds of a person is erased with the item alone.
type BatchPlace struct {
	Path     string `json:"path"`
	Field    bool   `json:"field,omitempty"` // a field of the entry that is filled into shared text; else a place of the content
	Distinct int    `json:"distinct"`        // different values that are not empty, at most MaxDistinct
	More     bool   `json:"more,omitempty"`  // there are more than MaxDistinct
	Empty    int    `json:"empty,omitempty"` // items in which it is empty or missing
	Shortest int    `json:"shortest"`        // characters of the values that are not empty
	Longest  int    `json:"longest"`
	Examples []int  `json:"examples,omitempty"` // positions of items with different values: among them the shortest and the longest
}

// placeCount counts the values of a place; what it keeps is bounded.
type placeCount struct {
	filled            int // values that are not empty
	values            map[uint64]struct{}
	more              bool
	shortest, longest int
	shortAt, longAt   int   // positions
	early             []int // positions of the first different values
}

// placeSeed keeps lists from being made so that different values count as one.
var placeSeed = maphash.MakeSeed()

// again counts a value that is the same as the one before.
func (c *placeCount) again(v any) {
	if !blankPlace(v) {
		c.filled++
	}
}

// add counts the value of the item at a position.
func (c *placeCount) add(position int, v any) {
	if blankPlace(v) {
		return
	}
	c.filled++
	text, kind := placeText(v)
	n := utf8.RuneCountInString(text)
	if c.shortAt == 0 || n < c.shortest {
		c.shortest, c.shortAt = n, position
	}
	if c.longAt == 0 || n > c.longest {
		c.longest, c.longAt = n, position
	}
	if c.more {
		return
	}
	var h maphash.Hash
	h.SetSeed(placeSeed)
	_ = h.WriteByte(kind)
	_, _ = h.WriteString(text)
	sum := h.Sum64()
	if _, there := c.values[sum]; there {
		return
	}
	if len(c.values) == MaxDistinct {
		c.more, c.values = true, nil
		return
	}
	if c.values == nil {
		c.values = map[uint64]struct{}{}
	}
	c.values[sum] = struct{}{}
	if len(c.early) < placeExamples {
		c.early = append(c.early, position)
	}
}

// found sums up over all items of the list.
func (c *placeCount) found(path string, items int) BatchPlace {
	out := BatchPlace{Path: path, Distinct: len(c.values), More: c.more, Empty: items - c.filled, Shortest: c.shortest, Longest: c.longest}
	if c.more {
		out.Distinct = MaxDistinct
	}
	// Each of these positions is the first with its value: different ones hold different values.
	for _, at := range append([]int{c.shortAt, c.longAt}, c.early...) {
		if at > 0 && len(out.Examples) < placeExamples && !slices.Contains(out.Examples, at) {
			out.Examples = append(out.Examples, at)
		}
	}
	slices.Sort(out.Examples)
	return out
}

// blankPlace reports that nothing stands in a place, or spaces only.
func blankPlace(v any) bool {
	switch x := v.(type) {
	case nil:
		return true
	case string:
		return strings.TrimSpace(x) == ""
	case []any:
		return len(x) == 0
	case map[string]any:
		return len(x) == 0
	}
	return false
}

// placeText is a value as it is counted, and whether it is text (1) or not (0): the number 1
// and the text "1" are different values.
func placeText(v any) (string, byte) {
	if s, is := v.(string); is {
		return s, 1
	}
	js, err := json.Marshal(v)
	if err != nil {
		return "", 0
	}
	return string(js), 0
}
