package operation

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Every move that is not listed is refused, and whoever decides or runs a batch makes only
// listed ones.
func TestBatchMove(t *testing.T) {
	want := map[string]bool{}
	for _, m := range []string{">draft", ">pending_approval", "draft>pending_approval", "draft>cancelled", "pending_approval>draft", "pending_approval>pending_approval",
		"pending_approval>canary", "pending_approval>running", "pending_approval>rejected", "pending_approval>cancelled", "canary>canary_review", "canary>pending_approval", "canary>closed", "canary>cancelled",
		"canary_review>running", "canary_review>closed", "canary_review>canary", "running>closed", "running>pending_approval", "running>canary_review", "running>cancelled", "closed>running", "closed>canary"} {
		want[m] = true
	}
	for _, from := range append([]BatchState{""}, BatchStates...) {
		for _, to := range append([]BatchState{""}, BatchStates...) {
			if got := BatchMove(from, to); got != want[string(from)+">"+string(to)] {
				t.Errorf("%s to %s: %v", from, to, got)
			}
		}
	}
}

func TestNextBatch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		total := rapid.IntRange(1, 20).Draw(t, "total")
		cleared := rapid.IntRange(1, total).Draw(t, "cleared")
		p := BatchProgress{State: rapid.SampledFrom(BatchStates).Draw(t, "state"), Total: total, Cleared: cleared, Released: rapid.IntRange(0, cleared).Draw(t, "released"), Stopped: rapid.Bool().Draw(t, "stopped")}
		p.Open = rapid.IntRange(0, p.Released).Draw(t, "open")
		next := NextBatch(p)
		if next != p.State && !BatchMove(p.State, next) {
			t.Fatalf("%s to %s is no move", p.State, next)
		}
		moved := next != p.State
		if moved && (p.Open > 0 || !p.Stopped && p.Released < p.Cleared) {
			t.Fatalf("%+v goes on to %s while items are open", p, next)
		}
		if !moved && p.State.Cleared() && p.Open == 0 && (p.Stopped || p.Released == p.Cleared) {
			t.Fatalf("%+v stays though nothing is open", p)
		}
		if next == BatchClosed && moved && !p.Stopped && p.State == BatchCanary && p.Cleared < p.Total {
			t.Fatalf("%+v closes without the second decision", p)
		}
	})
}

// A window that holds more of something than its limit permits pauses, and none that holds
// less; what does not count as bad never does.
func TestJudgeWindow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limits := BatchLimits{Last: rapid.IntRange(1, 50).Draw(t, "last"), Errors: rapid.IntRange(0, 1000).Draw(t, "errors"),
			Unknown: rapid.IntRange(0, 1000).Draw(t, "unknown"), Bounced: rapid.IntRange(0, 1000).Draw(t, "bounced")}
		var marks []BatchMark // of one outcome each: the window is then exactly the newest
		n := rapid.IntRange(0, 80).Draw(t, "outcomes")
		count := map[string]int{}
		for i := range n {
			kind := rapid.SampledFrom([]string{"confirmed", AlarmErrors, AlarmUnknown}).Draw(t, fmt.Sprint(i))
			m := map[string]BatchMark{"confirmed": {Confirmed: 1}, AlarmErrors: {NotStarted: 1}, AlarmUnknown: {Unknown: 1}}[kind]
			if marks = append(marks, m); i < limits.Last {
				count[kind]++
			}
		}
		count[AlarmBounced] = rapid.IntRange(0, limits.Last).Draw(t, "bounces")
		over := map[string]bool{AlarmErrors: count[AlarmErrors]*1000 > limits.Errors*limits.Last, AlarmUnknown: count[AlarmUnknown]*1000 > limits.Unknown*limits.Last,
			AlarmBounced: count[AlarmBounced]*1000 > limits.Bounced*limits.Last}
		got := JudgeWindow(marks, count[AlarmBounced], limits)
		switch any := over[AlarmErrors] || over[AlarmUnknown] || over[AlarmBounced]; {
		case any != (got.Kind != ""):
			t.Fatalf("%v of %+v: %+v", count, limits, got)
		case any && (!over[got.Kind] || got.Count != count[got.Kind] || got.Of != limits.Last):
			t.Fatalf("%v of %+v: the alarm says %+v", count, limits, got)
		}
	})
	// A group that is larger than the window is judged whole.
	if a := JudgeWindow([]BatchMark{{Confirmed: 190, NotStarted: 10}}, 0, BatchLimits{Last: 20, Errors: 100, Unknown: 1000, Bounced: 1000}); a.Kind != "" {
		t.Errorf("%+v", a)
	}
}

func TestBatchSpread(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SampledFrom([]any{"a", "b", int64(1), nil, true, []any{}, []any{"x"}, map[string]any{"deep": "a"}})
		contents := rapid.SliceOfN(rapid.MapOfN(rapid.SampledFrom([]string{"k", "l", "m"}), values, 0, 3), 1, 6).Draw(t, "contents")
		var s BatchSpread
		leaves := map[string]map[string]int{} // path → value → times
		for i, c := range contents {
			s.Add(i+1, c)
			eachLeaf(c, "", func(path string, v any) {
				if leaves[path] == nil {
					leaves[path] = map[string]int{}
				}
				leaves[path][fmt.Sprintf("%#v", v)]++
			})
		}
		same, varies := s.Same(), s.Varies()
		for path, seen := range leaves {
			all := len(seen) == 1 && slices.Collect(maps.Values(seen))[0] == len(contents)
			if _, is := same[path]; is != all || all == slices.Contains(varies, path) {
				t.Fatalf("%s of %v: same %v, varies %v", path, contents, same, varies)
			}
		}
		if len(same)+len(varies) != len(leaves) {
			t.Fatalf("%v: same %v, varies %v", contents, same, varies)
		}
	})
	var s BatchSpread
	for i := range 5000 {
		s.Add(i+1, map[string]any{fmt.Sprint("field-", i): i})
	}
	if len(s.parts) > maxSpread {
		t.Errorf("%d paths are kept", len(s.parts))
	}
}

func eachLeaf(v any, path string, visit func(string, any)) {
	switch x := v.(type) {
	case map[string]any:
		for name, e := range x {
			at := name
			if path != "" {
				at = path + "." + name
			}
			eachLeaf(e, at, visit)
		}
		if len(x) > 0 {
			return
		}
	case []any:
		for i, e := range x {
			eachLeaf(e, fmt.Sprintf("%s[%d]", path, i), visit)
		}
		if len(x) > 0 {
			return
		}
	}
	visit(path, v)
}

func TestPickItems(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, total := rapid.IntRange(-1, 30).Draw(t, "n"), rapid.IntRange(0, 1000).Draw(t, "total")
		seed := rapid.String().Draw(t, "seed")
		got := PickItems(seed, n, total)
		if !slices.Equal(got, PickItems(seed, n, total)) {
			t.Fatal("the same seed gives others")
		}
		if len(got) != max(0, min(n, total)) || !slices.IsSorted(got) || len(slices.Compact(slices.Clone(got))) != len(got) {
			t.Fatalf("%v", got)
		}
		if len(got) > 0 && (got[0] < 1 || got[len(got)-1] > total) {
			t.Fatalf("%v of %d", got, total)
		}
	})
	seen := map[int]int{}
	for i := range 2000 {
		for _, x := range PickItems(fmt.Sprint("seed ", i), 2, 10) {
			seen[x]++
		}
	}
	for x := 1; x <= 10; x++ { // 400 each is expected; five standard deviations are about 90
		if seen[x] < 300 || seen[x] > 500 {
			t.Errorf("%d was chosen %d times", x, seen[x])
		}
	}
}

// The hash covers which items there are and in what order.
func TestBatchHash_Order(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 8).Draw(t, "n")
		list := make([][32]byte, n)
		for i := range list {
			list[i][0] = byte(i + 1)
		}
		other := slices.Clone(list)
		i, j := rapid.IntRange(0, n-1).Draw(t, "i"), rapid.IntRange(0, n-1).Draw(t, "j")
		other[i], other[j] = other[j], other[i]
		if (BatchHash(list) == BatchHash(other)) != (i == j) {
			t.Fatalf("items %d and %d changed places", i, j)
		}
		if BatchHash(list) == BatchHash(list[:n-1]) {
			t.Fatal("one item less has the same hash")
		}
	})
}

func TestNormalAddress(t *testing.T) {
	for in, want := range map[string]string{" Kim@Example.TEST ": "kim@example.test", "Kim <KIM@example.test>": "kim@example.test", "+48 600 100 200": "+48 600 100 200", "": "", "a\x00b": "", "  ": "", "kim@exa\u200bmple.test": "kim@example.test", "a\nb@c.test": ""} {
		if got := NormalAddress(in); got != want {
			t.Errorf("%q gives %q", in, got)
		}
	}
	for in, want := range map[string]string{`"ev"@x.test`: "ev@x.test", "ev@x.test.": "ev@x.test", `Ev <"E\v"@X.test.>`: "ev@x.test", `"a.b+c"@x.test`: "a.b+c@x.test", `ev."x"@y.test`: "ev.x@y.test",
		`"a b"@x.test.`: `"a b"@x.test`, `"a..b"@x.test`: `"a..b"@x.test`, `"\a\"\ b"@x.test`: `"a\" b"@x.test`, `"a@b"@x.test`: `"a@b"@x.test`, `""@x.test`: `""@x.test`,
		`"ev@x.test`: `"ev@x.test`, `"日本"@x.test`: "日本@x.test", "@kim.": "@kim.", "v1.": "v1.", `"kim"`: `"kim"`} {
		if got := NormalAddress(in); got != want {
			t.Errorf("%s gives %s, want %s", in, got, want)
		}
	}
	spelled := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{"a", "B", ".", `"`, `\`, "@", " ", "<", ">", ",", "é"})).Draw(t, "parts"), "") + rapid.SampledFrom([]string{"@x.test", "@x.test.", ">", ""}).Draw(t, "end")
	})
	rapid.Check(t, func(t *rapid.T) {
		once := NormalAddress(rapid.OneOf(rapid.String(), spelled).Draw(t, "address"))
		if NormalAddress(once) != once {
			t.Fatalf("%q is not stable", once)
		}
	})
}

// How much a place varies is counted exactly up to a bound; examples are different values,
// the shortest and the longest among them, and everything kept is bounded.
func TestBatchPlaces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SampledFrom([]any{"a", "bb", "ccc", "1", int64(1), "", " ", nil, []any{}, true})
		list := rapid.SliceOfN(values, 1, 12).Draw(t, "values")
		var s BatchSpread
		filled, different := 0, map[string]bool{}
		short, long := 1<<30, 0
		for i, v := range list {
			s.Add(i+1, map[string]any{"k": v})
			if v == nil || v == "" || v == " " || fmt.Sprint(v) == "[]" {
				continue
			}
			n := len(fmt.Sprint(v))
			short, long = min(short, n), max(long, n)
			different[fmt.Sprintf("%T %v", v, v)] = true
			filled++
		}
		if filled == 0 {
			short = 0
		}
		got := s.Places([]string{"k", "nowhere"})
		if len(got) != 1 || got[0].Distinct != len(different) || got[0].More || got[0].Empty != len(list)-filled || got[0].Shortest != short || got[0].Longest != long {
			t.Fatalf("%v gives %+v", list, got)
		}
		shown := map[string]bool{}
		lengths := map[int]bool{}
		for _, at := range got[0].Examples {
			shown[fmt.Sprintf("%T %v", list[at-1], list[at-1])] = true
			lengths[len(fmt.Sprint(list[at-1]))] = true
		}
		if len(shown) != len(got[0].Examples) || len(shown) != min(len(different), placeExamples) || filled > 0 && (!lengths[short] || !lengths[long]) {
			t.Fatalf("%v: examples at %v", list, got[0].Examples)
		}
	})
	for n, more := range map[int]bool{MaxDistinct: false, MaxDistinct + 1: true, 3 * MaxDistinct: true} {
		var s BatchSpread
		for i := range n {
			s.Add(i+1, map[string]any{"k": fmt.Sprint(i), "once": map[bool]any{true: "x"}[i == n/2]})
		}
		got := s.Places([]string{"k", "once"})
		if got[0].Distinct != MaxDistinct || got[0].More != more || got[1].Empty != n-1 || got[1].Distinct != 1 || got[1].Examples[0] != n/2+1 {
			t.Errorf("%d: %+v", n, got)
		}
		if kept := len(s.parts["k"].place.values); kept > MaxDistinct {
			t.Errorf("%d values are kept", kept)
		}
	}
}

// What the record keeps of an automatic pause can be read again, also as it once was written.
func TestBatchAlarm_Reason(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := BatchAlarm{Kind: rapid.SampledFrom(BatchAlarms).Draw(t, "kind"), Count: rapid.IntRange(0, 9999).Draw(t, "count"), Of: rapid.IntRange(1, 9999).Draw(t, "of"), Limit: rapid.IntRange(0, 999).Draw(t, "limit")}
		if got, ok := ReadBatchAlarm(a.Reason()); !ok || got != a {
			t.Fatalf("%q is read as %+v", a.Reason(), got)
		}
		old := a
		old.Limit = -1
		if got, ok := ReadBatchAlarm(fmt.Sprintf("%s: %d of %d", a.Kind, a.Count, a.Of)); !ok || got != old {
			t.Fatalf("an older one is read as %+v", got)
		}
	})
	for _, words := range []string{"", "unknown", "unknown: many of them", "The shop is down.", "errors count=x of=1 limit=2", "errors: 0 of 0"} {
		if a, ok := ReadBatchAlarm(words); ok {
			t.Errorf("%q is read as %+v", words, a)
		}
	}
}

// Nothing is an address of a mail whose host is no name, or that holds what nobody sees.
func TestIsAddress(t *testing.T) {
	for address, is := range map[string]bool{"kim@example.test": true, "kim@localhost": true, "kim@ex\u00e4mple.test": true, "kim@a-1.example.test": true,
		"a@b": false, "a@-x.test": false, "a@x-.test": false, "a@x..test": false, "a@.test": false, "a@x_y.test": false, "a@[192.0.2.1]": false, "a@" + strings.Repeat("x", 64) + ".test": false,
		"kim@exa\u200bmple.test": false, "k\u00adim@example.test": false, "kim@example\u3164.test": false} {
		if IsAddress(address, SuppressAll, false) != is || IsAddress(address, SuppressEffect, true) != is {
			t.Errorf("%q is not %t", address, is)
		}
	}
	if OneAddress("kim@exa\u200bmple.test") != "" || IsAddress("+48\u200e600", SuppressDestination, false) {
		t.Error("what nobody sees is taken")
	}
}
