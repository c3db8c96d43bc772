package store

import (
	"testing"

	"github.com/lib/pq"
	"pgregory.net/rapid"
)

// TestLongTexts: the array is the one that lib/pq writes.
func TestLongTexts(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.SliceOf(rapid.OneOf(rapid.String(), rapid.StringOf(rapid.SampledFrom([]rune(`"\ {},aNULLé`))))).Draw(t, "texts")
		if texts == nil {
			texts = []string{}
		}
		got, err := longTexts(texts).Value()
		want, errPQ := pq.StringArray(texts).Value()
		if err != nil || errPQ != nil || got != want {
			t.Fatalf("%q: %q, %v; lib/pq: %q, %v", texts, got, err, want, errPQ)
		}
	})
}
