package store_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"holdpoint/store"
	"holdpoint/store/storetest"
)

// totalsDigest is everything that is counted ahead but what the last hour may still change.
func totalsDigest(t *testing.T, f *storetest.Fixture, until time.Time) (sum string, rows int) {
	t.Helper()
	ok(t, f.Owner.QueryRow(`SELECT md5(string_agg(s.part || ' ' || s.flow || ' ' || s.destination || ' ' || extract(epoch FROM x.until) || ' ' || CAST(x.totals AS text), E'\n' ORDER BY s.part, s.flow, s.destination, x.until)), count(*)
		FROM figure_totals x JOIN figure_series s ON s.id = x.series WHERE x.until <= $1`, until).Scan(&sum, &rows))
	return sum, rows
}

// cutOften cuts one of n statements, chosen by chance: before the server has it, after it
// was executed, or with a reset. It gives what was cut, by its beginning.
func cutOften(p *storetest.Proxy, rnd *rand.Rand, n int) map[storetest.Cut]map[string]int {
	kinds := []storetest.Cut{storetest.CutBefore, storetest.CutAfterForward, storetest.CutRST}
	cut := map[storetest.Cut]map[string]int{}
	chosen := -1
	for i, how := range kinds {
		cut[how] = map[string]int{}
		p.CutOn(func(q string) bool {
			if i == 0 {
				chosen = rnd.IntN(n * len(kinds))
			}
			if chosen == i {
				words := strings.Fields(q)
				cut[how][strings.Join(words[:min(3, len(words))], " ")]++
			}
			return chosen == i
		}, how, 1<<30)
	}
	return cut
}

// TestCountingIsCutOff: the connection ends in the middle of counting, at any statement and
// around commits, again and again. Nothing is lost and nothing counted twice.
func TestCountingIsCutOff(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	quick(t, f)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 2))
	couponsPerson(t, f)
	scatterWithin(t, f, rnd, 13, 12)
	until := time.Now().Add(-time.Hour).UTC().Truncate(15 * time.Minute)
	countAll(t, f)
	want, rows := totalsDigest(t, f, until)
	if rows < 50 {
		t.Fatalf("only %d running totals", rows)
	}
	owner(t, f, `DELETE FROM figure_totals`)
	owner(t, f, `DELETE FROM figure_cases`)
	owner(t, f, `UPDATE figure_state SET counted_until = NULL, counted_at = NULL`)

	p := storetest.NewProxy(t, f.AppURL)
	st, err := store.Open(t.Context(), store.Config{URL: p.URL(), Secret: storetest.Secret, MaxConns: 2})
	ok(t, err)
	defer st.Close()
	cut := cutOften(p, rand.New(rand.NewPCG(seed, 3)), 8)
	errs := 0
	for done := false; !done; {
		progress, err := st.CountFigures(t.Context())
		if err != nil {
			errs++
		}
		if done = err == nil && !progress.Behind && !progress.Busy; errs > 3000 {
			t.Fatalf("it does not come to an end: %v", err)
		}
	}
	p.Reset()
	t.Logf("%d calls of the counting failed; what was cut: %v", errs, cut)
	all := map[string]int{}
	for _, at := range cut {
		for q, n := range at {
			all[strings.ToUpper(q)] += n
		}
	}
	if all["COMMIT"] == 0 || all["BEGIN READ WRITE"] == 0 || len(all) < 7 {
		t.Errorf("too little was cut: %v", all)
	}
	if got, n := totalsDigest(t, f, until); got != want {
		t.Errorf("%d running totals, %d when nothing is cut, and they differ", n, rows)
	}
	checkFigures(t, f)
	for range 2 {
		figuresAgree(t, f, loadFacts(t, f), rnd, true)
	}
}
