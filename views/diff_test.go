package views

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// sides puts a diff together again: what was there before, and what is there now.
func sides(parts []DiffPart) (old, now string) {
	var a, b strings.Builder
	for _, p := range parts {
		if p.Op != DiffInsert {
			a.WriteString(p.Text)
		}
		if p.Op != DiffDelete {
			b.WriteString(p.Text)
		}
	}
	return a.String(), b.String()
}

// marked writes a diff so that it can be read in a test.
func marked(parts []DiffPart) string {
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(map[DiffOp]string{DiffEqual: "", DiffInsert: "+", DiffDelete: "-"}[p.Op] + "[" + p.Text + "]")
	}
	return b.String()
}

func TestDiffByWordsAndByCharacters(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ old, now, want string }{
		"same":          {"a b", "a b", "[a b]"},
		"a word":        {"we are sorry", "we are glad", "[we are ]-[sorry]+[glad]"},
		"polish":        {"zażółć gęślą jaźń", "zażółć inną jaźń", "[zażółć ]-[gęślą]+[inną][ jaźń]"},
		"japanese":      {"金曜日に届きます。", "土曜日に届きます。", "-[金]+[土][曜日に届きます。]"},
		"thai":          {"ราคาห้าบาท", "ราคาหกบาท", "[ราคา]-[ห้า]+[หก][บาท]"},
		"right to left": {"שלום עולם", "שלום חבר", "[שלום ]-[עולם]+[חבר]"},
		"a mark":        {"pay", "p\u200Bay", "-[pay]+[p\u200Bay]"},
		"line ends":     {"a\r\nb\r\n", "a\r\nc\r\n", "[a\r\n]-[b]+[c][\r\n]"},
		"put in":        {"a\nc\n", "a\nb\nc\n", "[a\n]+[b\n][c\n]"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := marked(Diff(c.old, c.now)); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestDiffLosesNothing(t *testing.T) {
	t.Parallel()
	words := []string{"a", "b ", "\n", "\r\n", "金", "ราคา", "\u202E", "👩‍👩‍👧", "é", "x-y", " "}
	r := rand.New(rand.NewPCG(1, 2))
	text := func() string {
		var b strings.Builder
		for range r.IntN(40) {
			b.WriteString(words[r.IntN(len(words))])
		}
		return b.String()
	}
	for range 2000 {
		old, now := text(), text()
		parts := Diff(old, now)
		if a, b := sides(parts); a != old || b != now {
			t.Fatalf("%q → %q gives %s", old, now, marked(parts))
		}
		if Changed(parts) != (old != now) {
			t.Fatalf("%q → %q: changed is %v", old, now, Changed(parts))
		}
	}
}

func TestDiffOfFiveMegabytesEndsSoonAndStaysSmall(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	text := func(n int) string {
		var b strings.Builder
		for b.Len() < n {
			b.WriteString(string(rune('a'+r.IntN(26))) + string(rune('a'+r.IntN(26))) + " ")
		}
		return b.String()
	}
	long := strings.Repeat("The same line of a long letter.\n", 160_000)
	for name, c := range map[string]struct{ old, now string }{
		"one word of 5 MB":    {long, long[:2_000_032] + "Another line.\n" + long[2_000_032:]},
		"nothing in common":   {text(5 << 20), text(5 << 20)},
		"just small enough":   {text(diffBytes), text(diffBytes)},
		"japanese of 190 kB":  {strings.Repeat("届きます。", 12_000), strings.Repeat("返品です。", 12_000)},
		"five million marks":  {strings.Repeat("\u200B\u200C", 800_000), "x"},
		"one very long token": {strings.Repeat("a", 5<<20), strings.Repeat("b", 5<<20)},
	} {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			parts := Shorten(Diff(c.old, c.now))
			var count ChangeCount
			count.Count(parts)
			if took := time.Since(start); took > 5*time.Second {
				t.Errorf("took %v", took)
			}
			size := 0
			for _, p := range parts {
				size += len(p.Text)
			}
			if size > 4*diffShown || !Changed(parts) {
				t.Errorf("%d bytes are shown, changed %v", size, Changed(parts))
			}
		})
	}
}

func TestShortenSaysWhatIsLeftOut(t *testing.T) {
	t.Parallel()
	equal := strings.Repeat("same ", 1000)
	parts := Shorten([]DiffPart{{Op: DiffEqual, Text: equal}, {Op: DiffInsert, Text: strings.Repeat("new ", 10_000)}, {Op: DiffDelete, Text: "gone"}})
	var ops []DiffOp
	left := 0
	for _, p := range parts {
		ops = append(ops, p.Op)
		left += p.Left
	}
	if len(ops) != 5 || ops[0] != DiffSkip || ops[1] != DiffEqual || ops[2] != DiffInsert || ops[3] != DiffCut || ops[4] != DiffCut {
		t.Fatalf("parts %v", ops)
	}
	if shown := len(parts[1].Text) + len(parts[2].Text); left+shown != len(equal)+40_000+len("gone") {
		t.Errorf("%d characters left out, %d shown", left, shown)
	}
}

func TestChangeCount(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		old, now       string
		added, removed int
		characters     bool
	}{
		{"we are sorry", "we are very glad", 2, 1, false},
		{"金曜日に", "土曜日に", 1, 1, true},
		{"a, b", "a; b", 0, 0, false},
	} {
		var n ChangeCount
		n.Count(Diff(c.old, c.now))
		if n.Added != c.added || n.Removed != c.removed || n.Characters != c.characters {
			t.Errorf("%q → %q: %+v", c.old, c.now, n)
		}
	}
}

func TestCompareAddresses(t *testing.T) {
	t.Parallel()
	c, changed := CompareAddresses("to", []string{"Ann <ann@example.test>", "bob@example.test"}, []string{"ANN@example.test", "eve@example.test", "eve@example.test"})
	if !changed || len(c.Added) != 1 || c.Added[0] != "eve@example.test" || len(c.Removed) != 1 || c.Removed[0] != "bob@example.test" {
		t.Errorf("%+v", c)
	}
	if _, changed = CompareAddresses("to", []string{"Ann <ann@example.test>"}, []string{"ann@example.test"}); changed {
		t.Error("a name alone counts as another recipient")
	}
}
