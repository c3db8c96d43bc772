package operation

import (
	"encoding/hex"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

func readDoc(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "docs", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func sorted(list []string) []string { slices.Sort(list); return slices.Compact(list) }

func sameLists(t *testing.T, what string, got, want []string) {
	t.Helper()
	got, want = sorted(got), sorted(want)
	for _, g := range got {
		if !slices.Contains(want, g) {
			t.Errorf("%s: %q is not in the Go table", what, g)
		}
	}
	for _, w := range want {
		if !slices.Contains(got, w) {
			t.Errorf("%s: %q is missing", what, w)
		}
	}
}

func TestDrawingAgreesWithTable(t *testing.T) {
	doc := readDoc(t, "state-machine.md")
	_, rest, _ := strings.Cut(doc, "```mermaid\nstateDiagram-v2\n")
	drawing, _, _ := strings.Cut(rest, "```")
	var drawn, table, begins, ends []string
	for _, m := range regexp.MustCompile(`(?m)^    (\S+) --> ([a-z_]+|\[\*\])(?:: ([a-z_]+))?$`).FindAllStringSubmatch(drawing, -1) {
		switch {
		case m[1] == "[*]":
			begins = append(begins, m[2])
		case m[2] == "[*]":
			ends = append(ends, m[1])
		default:
			drawn = append(drawn, m[1]+" "+m[3]+" "+m[2])
		}
	}
	if n := len(drawn) + len(begins) + len(ends); n != strings.Count(drawing, "-->") {
		t.Errorf("%d of %d lines of the drawing can be read", n, strings.Count(drawing, "-->"))
	}
	for _, m := range Transitions {
		table = append(table, string(m.From)+" "+string(m.Event)+" "+string(m.To))
	}
	sameLists(t, "drawing", drawn, table)
	var births, closed []string
	for _, s := range Births {
		births = append(births, string(s))
	}
	for _, s := range States {
		if s.Closed() {
			closed = append(closed, string(s))
		}
	}
	sameLists(t, "beginnings", begins, births)
	sameLists(t, "ends", ends, closed)
}

func TestTablesOfTheDrawing(t *testing.T) {
	doc := readDoc(t, "state-machine.md")
	tick := regexp.MustCompile("`([a-z_]+)`")
	for _, s := range States {
		line := regexp.MustCompile("(?m)^\\| `" + string(s) + "` \\|.*$").FindString(doc)
		cells := strings.Split(line, "|")
		if len(cells) != 6 {
			t.Errorf("%s has no row", s)
			continue
		}
		var got, want []string
		for _, m := range tick.FindAllStringSubmatch(cells[4], -1) {
			got = append(got, m[1])
		}
		for _, m := range Transitions {
			if m.From == s {
				want = append(want, string(m.To))
			}
		}
		sameLists(t, "row of "+string(s), got, want)
	}
	for _, e := range Events {
		if !strings.Contains(doc, "| `"+string(e)+"` |") {
			t.Errorf("event %s has no row", e)
		}
	}
	var pairs []string
	_, rest, _ := strings.Cut(doc, "```text\n")
	list, _, _ := strings.Cut(rest, "```")
	pairs = strings.Fields(list)
	sameLists(t, "list of pairs", pairs, movePairTexts())
}

func movePairTexts() (texts []string) {
	for _, p := range MovePairs() {
		texts = append(texts, string(p[0])+">"+string(p[1]))
	}
	return texts
}

// The newest definition of is_move, which the constraint history_move calls, names exactly the moves of
// the table.
func TestConstraintAgreesWithTable(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "migrations", "*.sql"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no migrations: %v", err)
	}
	slices.Sort(files)
	var constraint string
	uses := false
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		up, _, _ := strings.Cut(string(b), "-- +goose Down")
		if i := strings.LastIndex(up, "FUNCTION is_move("); i >= 0 {
			constraint, _, _ = strings.Cut(up[i:], "END $$")
		}
		uses = uses || regexp.MustCompile(`CONSTRAINT history_move CHECK \(.*is_move\(from_state, to_state\)\)`).MatchString(up)
	}
	if constraint == "" || !uses {
		t.Fatal("no migration defines history_move by is_move")
	}
	var got []string
	for _, m := range regexp.MustCompile(`'([a-z_]*>[a-z_]+)'`).FindAllStringSubmatch(constraint, -1) {
		got = append(got, m[1])
	}
	sameLists(t, "history_move", got, movePairTexts())
	if n := strings.Count(MovePairsSQL(), "'"); n != 2*len(MovePairs()) || !strings.HasPrefix(MovePairsSQL(), "'>draft', '>pending_approval', ") {
		t.Errorf("printed as %s", MovePairsSQL())
	}
}

func exampleEntries() []Entry {
	a := Entry{SubjectKind: SubjectOperation, SubjectID: someID, Seq: 1, At: t0, ActorKind: ActorPerson, ActorID: "usr_01h2xcejqtf2nbrexx3vqjhp42",
		ActorName: "Zofia Łęcka", Role: RoleAuthor, Channel: "web", Action: "create", To: Draft, VersionID: "ver_01h2xcejqtf2nbrexx3vqjhp44"}
	b := a
	b.Seq, b.At = 2, t0.Add(5*time.Minute+250*time.Millisecond)
	b.ActorID, b.ActorName, b.Role = "usr_01h2xcejqtf2nbrexx3vqjhp43", "佐藤 花子", RoleApprover
	b.Action, b.From, b.To, b.Reason = "submit", Draft, PendingApproval, "Ready for the campaign"
	b.Links = map[string]string{"policy": "3", "approval_due": "2027-03-01T13:05:00Z"}
	b.Prev = a.Hash()
	return []Entry{a, b}
}

func TestHistoryFormatExample(t *testing.T) {
	doc := readDoc(t, "history-format.md")
	for i, e := range exampleEntries() {
		h := e.Hash()
		line := "hash " + itoa(i+1) + " = " + hex.EncodeToString(h[:])
		if !strings.Contains(doc, line+"\n") {
			t.Errorf("the page does not hold %q", line)
		}
	}
	if len("holdpoint/history/1") != 0x13 {
		t.Error("the page names another length")
	}
}

// I7: every field counts, in its own place.
func TestEntryHash(t *testing.T) {
	base := exampleEntries()[1]
	h := base.Hash()
	for name, turn := range map[string]func(*Entry){
		"subject kind": func(e *Entry) { e.SubjectKind = SubjectRun }, "subject": func(e *Entry) { e.SubjectID += "x" },
		"seq": func(e *Entry) { e.Seq++ }, "time": func(e *Entry) { e.At = e.At.Add(time.Microsecond) },
		"actor kind": func(e *Entry) { e.ActorKind = ActorJob }, "actor": func(e *Entry) { e.ActorID = "" },
		"name": func(e *Entry) { e.ActorName += " " }, "role": func(e *Entry) { e.Role = "" }, "channel": func(e *Entry) { e.Channel = "api" },
		"action": func(e *Entry) { e.Action = "edit" }, "from": func(e *Entry) { e.From = "" }, "to": func(e *Entry) { e.To = Ready },
		"reason": func(e *Entry) { e.Reason = "" }, "version": func(e *Entry) { e.VersionID = "" }, "evidence": func(e *Entry) { e.EvidenceHash = "00" },
		"link changed": func(e *Entry) { e.Links = map[string]string{"policy": "4", "approval_due": "2027-03-01T13:05:00Z"} },
		"link gone":    func(e *Entry) { e.Links = map[string]string{"policy": "3"} },
		"link name and value swapped": func(e *Entry) {
			e.Links = map[string]string{"3": "policy", "approval_due": "2027-03-01T13:05:00Z"}
		},
		"text moved to the next field": func(e *Entry) { e.Channel, e.Action = "webs", "ubmit" },
		"link moved to evidence": func(e *Entry) {
			e.EvidenceHash, e.Links = "approval_due", map[string]string{"2027-03-01T13:05:00Z": "policy", "3": ""}
		},
		"prev": func(e *Entry) { e.Prev[31]++ },
	} {
		e := base
		turn(&e)
		if e.Hash() == h {
			t.Errorf("%s does not count", name)
		}
	}
	zone := base
	zone.At = base.At.In(time.FixedZone("JST", 9*3600))
	empty := base
	empty.Links, base.Links = map[string]string{}, nil
	if zone.Hash() != h || empty.Hash() != base.Hash() {
		t.Error("the same entry has two hashes")
	}
}

func TestFirstBreak(t *testing.T) {
	entries := exampleEntries()
	hashes := [][32]byte{entries[0].Hash(), entries[1].Hash()}
	if got := FirstBreak(entries, hashes); got != -1 {
		t.Fatalf("a whole chain breaks at %d", got)
	}
	if FirstBreak(nil, nil) != -1 {
		t.Error("an empty chain breaks")
	}
	for name, c := range map[string]struct {
		turn func(e []Entry, h [][32]byte) ([]Entry, [][32]byte)
		want int
	}{
		"an entry changed": {func(e []Entry, h [][32]byte) ([]Entry, [][32]byte) { e[0].Reason = "x"; return e, h }, 0},
		"changed, and its hash too": {func(e []Entry, h [][32]byte) ([]Entry, [][32]byte) {
			e[0].Reason = "x"
			h[0] = e[0].Hash()
			return e, h
		}, 1},
		"the first entry missing": {func(e []Entry, h [][32]byte) ([]Entry, [][32]byte) { return e[1:], h[1:] }, 0},
		"the last entry missing":  {func(e []Entry, h [][32]byte) ([]Entry, [][32]byte) { return e[:1], h }, 1},
		"the last hash missing":   {func(e []Entry, h [][32]byte) ([]Entry, [][32]byte) { return e, h[:1] }, 1},
		"order changed": {func(e []Entry, h [][32]byte) ([]Entry, [][32]byte) {
			e[0], e[1] = e[1], e[0]
			h[0], h[1] = h[1], h[0]
			return e, h
		}, 0},
		"an entry of another subject": {func(e []Entry, h [][32]byte) ([]Entry, [][32]byte) {
			e[1].SubjectID = "op_x"
			h[1] = e[1].Hash()
			return e, h
		}, 1},
	} {
		e, h := c.turn(slices.Clone(entries), slices.Clone(hashes))
		if got := FirstBreak(e, h); got != c.want {
			t.Errorf("%s: breaks at %d, want %d", name, got, c.want)
		}
	}
}
