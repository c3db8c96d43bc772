package checkpoint

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Span is the numbers from First to Last, both included.
type Span struct{ First, Last int64 }

// Spans are numbers in ascending order, without overlaps.
type Spans []Span

// SpansOf joins numbers, in any order, into spans.
func SpansOf(numbers []int64) Spans {
	var s Spans
	sorted := slices.Clone(numbers)
	slices.Sort(sorted)
	for _, n := range sorted {
		if k := len(s) - 1; k >= 0 && n <= s[k].Last+1 {
			s[k].Last = max(s[k].Last, n)
			continue
		}
		s = append(s, Span{n, n})
	}
	return s
}

// Has reports whether the number is one of them.
func (s Spans) Has(n int64) bool {
	_, ok := s.find(n)
	return ok
}

func (s Spans) find(n int64) (int, bool) {
	return slices.BinarySearchFunc(s, n, func(a Span, n int64) int {
		switch {
		case a.Last < n:
			return -1
		case a.First > n:
			return 1
		}
		return 0
	})
}

// Count is how many numbers there are.
func (s Spans) Count() (n int64) {
	for _, a := range s {
		n += a.Last - a.First + 1
	}
	return n
}

// Rank is how many of the numbers are smaller than n, which is one of them.
func (s Spans) Rank(n int64) (rank int64, ok bool) {
	at, ok := s.find(n)
	if !ok {
		return 0, false
	}
	return s[:at].Count() + n - s[at].First, true
}

// All gives the numbers in ascending order.
func (s Spans) All(yield func(int64) bool) {
	for _, a := range s {
		for n := a.First; n <= a.Last; n++ {
			if !yield(n) {
				return
			}
		}
	}
}

// String writes them as 3,7-9.
func (s Spans) String() string {
	var b strings.Builder
	for i, a := range s {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.FormatInt(a.First, 10))
		if a.Last > a.First {
			b.WriteString("-" + strconv.FormatInt(a.Last, 10))
		}
	}
	return b.String()
}

// ParseSpans reads what String writes, and nothing else.
func ParseSpans(text string) (Spans, error) {
	var s Spans
	for part := range strings.SplitSeq(text, ",") {
		from, to, more := strings.Cut(part, "-")
		if !more {
			to = from
		}
		first, err := strconv.ParseInt(from, 10, 64)
		if err != nil {
			return nil, err
		}
		last, err := strconv.ParseInt(to, 10, 64)
		if err != nil {
			return nil, err
		}
		s = append(s, Span{first, last})
	}
	for i, a := range s {
		if a.First < 1 || a.Last < a.First || i > 0 && a.First <= s[i-1].Last+1 {
			return nil, fmt.Errorf("%q are not numbers in ascending order", text)
		}
	}
	if s.String() != text {
		return nil, fmt.Errorf("%q is not the short form of %q", text, s.String())
	}
	return s, nil
}
