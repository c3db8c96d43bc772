package checkpoint

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"holdpoint/operation"

	"pgregory.net/rapid"
)

func key(t *testing.T, name string) (*Signer, *Keys) {
	t.Helper()
	signing, verifier, err := NewKey(rand.Reader, name)
	if err != nil {
		t.Fatal(err)
	}
	s, err := ParseSigner([]byte(signing + "\n"))
	if err != nil {
		t.Fatal(err)
	}
	k, err := ParseKeys("# of the test\n\n" + verifier + "\n")
	if err != nil {
		t.Fatal(err)
	}
	if s.Verifier() != verifier || k.Fingerprints()[0] != s.Fingerprint() || !strings.HasPrefix(verifier, s.Fingerprint()+"+") {
		t.Fatalf("%q, %q, %q", s.Verifier(), k.Fingerprints(), s.Fingerprint())
	}
	return s, k
}

func sample() Checkpoint {
	return Checkpoint{Installation: "ins_01h2xcejqtf2nbrexx3vqjhp41", Line: 2, Number: 17, Size: 1234, Root: sha256.Sum256([]byte("x")),
		At: time.Date(2027, 3, 1, 9, 0, 0, 123456000, time.UTC), UpTo: 1300, Late: Spans{{1201, 1201}, {1204, 1206}},
		System: "7412345678901234567", Timeline: 1, Continues: &Point{1, 16, 1200}}
}

func TestNote(t *testing.T) {
	s, known := key(t, "holdpoint")
	_, other := key(t, "holdpoint")
	for _, turn := range []func(*Checkpoint){func(*Checkpoint) {}, func(c *Checkpoint) { c.Late = nil }, func(c *Checkpoint) { c.System, c.Timeline = "", 0 },
		func(c *Checkpoint) { c.Continues = nil }} {
		want := sample()
		turn(&want)
		raw, err := want.Sign(s)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Open(raw, known)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("read back %+v, want %+v: %v", got, want, err)
		}
		if got, err := Unsigned(raw); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("read unsigned %+v: %v", got, err)
		}
		if _, err := Open(raw, other); !errors.Is(err, ErrUnsigned) {
			t.Errorf("another key opens it: %v", err)
		}
		altered := bytes.Replace(raw, []byte("\nnumber 17\n"), []byte("\nnumber 18\n"), 1)
		if _, err := Open(altered, known); !errors.Is(err, ErrUnsigned) {
			t.Errorf("an altered note opens: %v", err)
		}
	}
}

// The page's example is what the code writes.
func TestNoteAsThePageShowsIt(t *testing.T) {
	const want = `holdpoint/ins_01h2xcejqtf2nbrexx3vqjhp41/2
1234
LXEWQrcmsEQBYnyp+6wy9chTD7GQPMTbAiWHF5IaSIE=
number 17
time 2027-03-01T09:00:00.123456Z
entries 1300
late 1201,1204-1206
database 7412345678901234567 1
continues 1 16 1200
`
	if got := sample().Text(); got != want {
		t.Errorf("%s", got)
	}
	doc := readDoc(t)
	if !strings.Contains(doc, want) {
		t.Error("docs/history-format.md does not hold the note")
	}
}

func TestParseRefuses(t *testing.T) {
	good := sample().Text()
	for name, bad := range map[string]string{
		"another origin":    strings.Replace(good, "holdpoint/", "other/", 1),
		"no line":           strings.Replace(good, "hp41/2\n", "hp41\n", 1),
		"an unknown fact":   good + "more 1\n",
		"another order":     strings.Replace(good, "number 17\ntime 2027-03-01T09:00:00.123456Z\n", "time 2027-03-01T09:00:00.123456Z\nnumber 17\n", 1),
		"a leading zero":    strings.Replace(good, "number 17", "number 017", 1),
		"a short root":      strings.Replace(good, "LXEWQrcmsEQBYnyp+6wy9chTD7GQPMTbAiWHF5IaSIE=", "LXEW", 1),
		"late not in order": strings.Replace(good, "1201,1204-1206", "1204-1206,1201", 1),
		"late overlapping":  strings.Replace(good, "1201,1204-1206", "1201-1205,1204-1206", 1),
		"nothing":           "",
	} {
		if bad == good {
			t.Fatalf("%s changes nothing", name)
		}
		if c, err := Parse(bad); err == nil {
			t.Errorf("%s is read: %+v", name, c)
		}
	}
}

func TestKeyNames(t *testing.T) {
	for _, bad := range []string{"", "a b", "a+b", "a\n"} {
		if _, _, err := NewKey(rand.Reader, bad); err == nil {
			t.Errorf("%q is a name", bad)
		}
	}
	for _, bad := range []string{"", "PRIVATE+KEY+x", "x+00000000+" + base64.StdEncoding.EncodeToString(make([]byte, 33))} {
		if _, err := ParseSigner([]byte(bad)); err == nil {
			t.Errorf("%q signs", bad)
		}
		if _, err := ParseKeys(bad); err == nil {
			t.Errorf("%q verifies", bad)
		}
	}
}

func TestSpans(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		numbers := rapid.SliceOfDistinct(rapid.Int64Range(1, 60), func(n int64) int64 { return n }).Draw(t, "numbers")
		s := SpansOf(numbers)
		slices.Sort(numbers)
		if got := slices.Collect(s.All); !slices.Equal(got, numbers) {
			t.Fatalf("%v, want %v", got, numbers)
		}
		if s.Count() != int64(len(numbers)) {
			t.Fatalf("%d numbers", s.Count())
		}
		for n := int64(0); n < 62; n++ {
			at, in := slices.BinarySearch(numbers, n)
			rank, ok := s.Rank(n)
			if s.Has(n) != in || ok != in || in && rank != int64(at) {
				t.Fatalf("%d: has %v, rank %d, want %v, %d", n, s.Has(n), rank, in, at)
			}
		}
		if len(s) == 0 {
			return
		}
		if back, err := ParseSpans(s.String()); err != nil || !slices.Equal(back, s) {
			t.Fatalf("%s read back as %v: %v", s, back, err)
		}
	})
}

func hashOf(i int) [32]byte { return sha256.Sum256([]byte{byte(i), byte(i >> 8)}) }

// A tree that is put down and taken up at any size is the same tree, and every position
// of every size can be proven.
func TestTree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 70).Draw(t, "size")
		cut := rapid.IntRange(0, n).Draw(t, "cut")
		whole, part := NewTree(), NewTree()
		p, err := NewProver(uint64(n), all(n))
		if err != nil {
			t.Fatal(err)
		}
		for i := range n {
			if err := errors.Join(whole.Append(hashOf(i)), p.Append(hashOf(i))); err != nil {
				t.Fatal(err)
			}
			if i < cut {
				if err := part.Append(hashOf(i)); err != nil {
					t.Fatal(err)
				}
			}
		}
		part, err = RestoreTree(part.Size(), part.Frontier())
		if err != nil {
			t.Fatal(err)
		}
		for i := cut; i < n; i++ {
			if err := part.Append(hashOf(i)); err != nil {
				t.Fatal(err)
			}
		}
		root, err := whole.Root()
		if err != nil {
			t.Fatal(err)
		}
		if again, err := part.Root(); err != nil || again != root {
			t.Fatalf("taken up at %d of %d it has another root: %v", cut, n, err)
		}
		for i := range n {
			path, err := p.Path(uint64(i))
			if err != nil {
				t.Fatal(err)
			}
			if err := Included(hashOf(i), uint64(i), uint64(n), root, path); err != nil {
				t.Fatalf("position %d of %d: %v", i, n, err)
			}
			if Included(hashOf(i+1), uint64(i), uint64(n), root, path) == nil || n > 1 && Included(hashOf(i), uint64((i+1)%n), uint64(n), root, path) == nil {
				t.Fatalf("position %d of %d: another entry is proven", i, n)
			}
		}
	})
	if _, err := RestoreTree(5, make([]byte, 32)); err == nil {
		t.Error("a frontier of one hash fits five entries")
	}
}

func all(n int) (p []uint64) {
	for i := range n {
		p = append(p, uint64(i))
	}
	return p
}

func TestFile(t *testing.T) {
	s, known := key(t, "holdpoint")
	var notes [][]byte
	for i := range 3 {
		c := sample()
		c.Number = int64(i + 1)
		raw, err := c.Sign(s)
		if err != nil {
			t.Fatal(err)
		}
		notes = append(notes, raw)
	}
	read := func(file []byte) (numbers []int64, torn int) {
		err := ReadFile(bytes.NewReader(file), func(f Found) error {
			if f.Torn() {
				torn++
				return nil
			}
			c, err := Open(f.Note, known)
			numbers = append(numbers, c.Number)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return numbers, torn
	}
	file := slices.Concat(Record(notes[0]), []byte("a comment\n"), Record(notes[1]))
	if got, torn := read(file); !slices.Equal(got, []int64{1, 2}) || torn != 0 {
		t.Errorf("%v, %d torn", got, torn)
	}
	// Wherever the last record is torn, the one before it is whole, and what is appended
	// later is read.
	last := Record(notes[2])
	for cut := range last {
		cutFile := slices.Concat(file, last[:cut])
		got, torn := read(cutFile)
		began := cut > len("\n"+beginLine)
		if !slices.Equal(got, []int64{1, 2}) || torn != 0 && !began || torn != 1 && began {
			t.Fatalf("cut after %d bytes: %v, %d torn", cut, got, torn)
		}
		// (a record that lacks nothing but its last line end stands twice then)
		if got, _ := read(slices.Concat(cutFile, last)); !slices.Equal(slices.Compact(got), []int64{1, 2, 3}) {
			t.Fatalf("appended after a cut at %d bytes: %v", cut, got)
		}
	}
}

func TestProof(t *testing.T) {
	s, known := key(t, "holdpoint")
	p, c := proven(t, s)
	if _, err := p.Check(known); err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	read := func() (q Proof) {
		if err := json.Unmarshal(raw, &q); err != nil {
			t.Fatal(err)
		}
		return q
	}
	if got, err := read().Check(known); err != nil || !reflect.DeepEqual(got, c) {
		t.Errorf("read back: %+v, %v", got, err)
	}
	for name, turn := range map[string]func(*Proof){
		"an entry altered": func(p *Proof) { p.Entries[1].Line.Entry.Reason = "x" },
		"altered with a hash": func(p *Proof) {
			p.Entries[1].Line.Entry.Reason = "x"
			p.Entries[1].Line.Hash = p.Entries[1].Line.Entry.Hash()
		},
		"the first gone":     func(p *Proof) { p.Entries = p.Entries[1:] },
		"all gone":           func(p *Proof) { p.Entries = nil },
		"another place":      func(p *Proof) { p.Entries[0].Position++ },
		"a hash of the path": func(p *Proof) { p.Entries[0].Path[0][0]++ },
		"another note":       func(p *Proof) { c := sample(); p.Note, _ = c.Sign(s) },
		"no signature":       func(p *Proof) { p.Note = []byte(c.Text()) },
	} {
		q := read()
		turn(&q)
		if _, err := q.Check(known); err == nil {
			t.Errorf("%s: it is proven", name)
		}
	}
}

func proven(t *testing.T, s *Signer) (Proof, Checkpoint) {
	t.Helper()
	a := operation.Entry{SubjectKind: operation.SubjectOperation, SubjectID: "op_x", Seq: 1, At: sample().At, Action: "create", To: operation.Draft}
	b := a
	b.Seq, b.Action, b.From, b.To, b.Prev = 2, "submit", operation.Draft, operation.PendingApproval, a.Hash()
	leaves := [][32]byte{hashOf(1), a.Hash(), hashOf(2), hashOf(3), b.Hash()}
	pr, err := NewProver(5, []uint64{1, 4})
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range leaves {
		if err := pr.Append(l); err != nil {
			t.Fatal(err)
		}
	}
	c := sample()
	c.Size = 5
	if c.Root, err = pr.Root(); err != nil {
		t.Fatal(err)
	}
	p := Proof{}
	if p.Note, err = c.Sign(s); err != nil {
		t.Fatal(err)
	}
	for i, e := range []operation.Entry{a, b} {
		at := []uint64{1, 4}[i]
		path, err := pr.Path(at)
		if err != nil {
			t.Fatal(err)
		}
		p.Entries = append(p.Entries, ProvenEntry{operation.Line{ID: int64(at), Entry: e, Hash: e.Hash()}, at, path})
	}
	return p, c
}
