package views

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"holdpoint/operation"
)

func TestPieces(t *testing.T) {
	text := func(s string) Piece { return Piece{Text: s} }
	mark := func(name, code string) Piece { return Piece{Kind: PieceMark, Text: name, Code: code} }
	hole := func(name string) Piece { return Piece{Kind: PieceHole, Text: name} }
	for name, c := range map[string]struct {
		in   string
		want []Piece
	}{
		"plain text stays":           {"Zażółć 日本語\n\ttea", []Piece{text("Zażółć 日本語\n\ttea")}},
		"zero-width space":           {"Pay\u200Bment", []Piece{text("Pay"), mark("ZWSP", "U+200B"), text("ment")}},
		"right-to-left override":     {"a\u202Egpj", []Piece{text("a"), mark("RLO", "U+202E"), text("gpj")}},
		"no-break space":             {"1\u00A0000", []Piece{text("1"), mark("NBSP", "U+00A0"), text("000")}},
		"tag character without name": {"x\U000E0041", []Piece{text("x"), mark("U+E0041", "U+E0041")}},
		"hole":                       {"ref=" + operation.MarkHole("key") + "!", []Piece{text("ref="), hole("key"), text("!")}},
		"encoded hole":               {"ref=%EE%80%80target_ref%28crm-task%29%EE%80%81&x", []Piece{text("ref="), hole("target_ref(crm-task)"), text("&x")}},
		"lone hole marker":           {operation.HoleOpen + "x", []Piece{mark("U+E000", "U+E000"), text("x")}},
		"line ends are not marked":   {"a\r\nb", []Piece{text("a\nb")}},
		"lone carriage return is":    {"a\rb", []Piece{text("a"), mark("CR", "U+000D"), text("b")}},
		"ideographic space is seen":  {"日\u3000本", []Piece{text("日\u3000本")}},
		"hangul filler is not":       {"\u3164", []Piece{mark("U+3164", "U+3164")}},
		"a byte that is no text":     {"a\xffb", []Piece{text("a"), mark("0xFF", "0xFF"), text("b")}},
		"a byte lost on input":       {"\uFFFD", []Piece{mark("U+FFFD", "U+FFFD")}},
		"equal marks are counted":    {"\u200B\u200B\u200B\u200C", []Piece{{Kind: PieceMark, Text: "ZWSP", Code: "U+200B", Count: 3}, mark("ZWNJ", "U+200C")}},
		"marks apart are not":        {"\u200Bx\u200B", []Piece{mark("ZWSP", "U+200B"), text("x"), mark("ZWSP", "U+200B")}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, Pieces(c.in)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestPiecesOfLongTextTakeLinearTime(t *testing.T) {
	s := strings.Repeat("tea "+operation.MarkHole("key")+"\u200B", 20000)
	if got := len(Pieces(s)); got != 60000 {
		t.Errorf("%d pieces", got)
	}
}

func TestDiff(t *testing.T) {
	show := func(parts []DiffPart) string {
		var b strings.Builder
		for _, p := range parts {
			b.WriteString([]string{"", "+", "-"}[p.Op] + p.Text + "|")
		}
		return b.String()
	}
	for name, c := range map[string]struct{ old, now, want string }{
		"same":                 {"tea", "tea", "tea|"},
		"one word":             {"We ship tea today.", "We ship tea tomorrow.", "We ship tea |-today|+tomorrow|.|"},
		"Japanese character":   {"金曜日に届きます", "土曜日に届きます", "-金|+土|曜日に届きます|"},
		"Katakana character":   {"ポット", "ポスト", "ポ|-ッ|+ス|ト|"},
		"Polish word":          {"żółty kubek", "zielony kubek", "-żółty|+zielony| kubek|"},
		"zero-width character": {"a b", "a\u200B b", "a|+\u200B| b|"},
		"from nothing":         {"", "new", "+new|"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := show(Diff(c.old, c.now)); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestDiffOfLongTextLosesNothing(t *testing.T) {
	var old, now strings.Builder
	for i := range 60000 {
		old.WriteString(num64(int64(i)) + " ")
		if i%1000 != 0 {
			now.WriteString(num64(int64(i)) + " ")
		}
	}
	var left, right strings.Builder
	for _, p := range Diff(old.String(), now.String()) {
		if p.Op != DiffInsert {
			left.WriteString(p.Text)
		}
		if p.Op != DiffDelete {
			right.WriteString(p.Text)
		}
	}
	if left.String() != old.String() || right.String() != now.String() {
		t.Error("the parts do not make up the two texts")
	}
}

func TestChangedFields(t *testing.T) {
	old := []Field{{Name: "to", Value: "a"}, {Name: "subject", Value: "Hello"}, {Name: "cc", Value: "c"}}
	now := []Field{{Name: "to", Value: "a"}, {Name: "subject", Value: "Hi"}, {Name: "note", Value: "n"}}
	var names []string
	for _, c := range ChangedFields(old, now) {
		names = append(names, c.Label)
	}
	if diff := cmp.Diff([]string{"subject", "note", "cc"}, names); diff != "" {
		t.Error(diff)
	}
}
