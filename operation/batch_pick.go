package operation

import (
	"hash/fnv"
	"math/rand/v2"
	"slices"
)

// PickItems chooses n different numbers from 1 to total, sorted: the same seed gives the same
// ones, so that whoever is shown the seed can look at the same items again. Every choice is
// as likely as any other.
func PickItems(seed string, n, total int) []int {
	h := fnv.New128a()
	_, _ = h.Write([]byte(seed))
	sum := h.Sum(nil)
	var a, b uint64
	for i := range 8 {
		a, b = a<<8|uint64(sum[i]), b<<8|uint64(sum[8+i])
	}
	r := rand.New(rand.NewPCG(a, b))
	n = max(0, min(n, total))
	chosen := make(map[int]bool, n)
	out := make([]int, 0, n)
	for top := total - n + 1; top <= total; top++ { // Floyd: one draw for each item
		x := 1 + r.IntN(top)
		if chosen[x] {
			x = top
		}
		chosen[x] = true
		out = append(out, x)
	}
	slices.Sort(out)
	return out
}
