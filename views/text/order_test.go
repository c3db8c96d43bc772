package text

import (
	"slices"
	"testing"
)

func TestSortBy(t *testing.T) {
	for _, c := range []struct {
		lang string
		want []string
	}{
		{"pl", []string{"alfa", "Beata", "lama", "Luna", "Łąka", "maj", "Step 2", "Step 10", "zero", "Źdźbło", "Żaba"}},
		{"en", []string{"alfa", "Beata", "Łąka", "lama", "Luna", "maj", "Step 2", "Step 10", "Żaba", "Źdźbło", "zero"}},
		{"ja", []string{"あき", "いぬ", "カメラ", "さくら"}},
	} {
		got := slices.Clone(c.want)
		slices.Reverse(got)
		SortBy(New(c.lang, nil, now), got, func(s string) string { return s })
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.lang, got, c.want)
		}
	}
}
