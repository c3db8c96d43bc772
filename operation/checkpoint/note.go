package checkpoint

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"holdpoint/operation"

	"github.com/transparency-dev/formats/log"
	"golang.org/x/mod/sumdb/note"
)

// Checkpoint is what one signed note says about the history.
type Checkpoint struct {
	Installation string
	// Line counts the histories of one installation: 1, and one more after each restored
	// backup, whose history goes on from an earlier point.
	Line   int64
	Number int64    // 1, 2, 3 … as the database counts them
	Size   uint64   // entries in it
	Root   [32]byte // over their hashes
	At     time.Time
	// UpTo is the greatest number of an entry in it. In it are all entries whose number is
	// not greater, except those that a later checkpoint names as late.
	UpTo int64
	// Late are entries with numbers below the UpTo of the checkpoint before: their
	// transactions were still open then.
	Late Spans
	// System and Timeline are PostgreSQL's, where the database's role may read them.
	System   string
	Timeline int64
	// Continues says where a new line goes on; nil within a line.
	Continues *Point
}

// Point is a place in a line: the newest checkpoint that a restored database held.
type Point struct {
	Line, Number int64
	Size         uint64
}

const originPrefix = "holdpoint/"

// Origin names the log: the installation and the line of its history.
func (c Checkpoint) Origin() string {
	return originPrefix + c.Installation + "/" + strconv.FormatInt(c.Line, 10)
}

// Text is what is signed: the form of a log's checkpoint (origin, size, root), then one
// line for each further fact.
func (c Checkpoint) Text() string {
	var b strings.Builder
	b.Write(log.Checkpoint{Origin: c.Origin(), Size: c.Size, Hash: c.Root[:]}.Marshal())
	fmt.Fprintf(&b, "number %d\ntime %s\nentries %d\n", c.Number, c.At.UTC().Format(operation.TimeForm), c.UpTo)
	if len(c.Late) > 0 {
		fmt.Fprintf(&b, "late %s\n", c.Late)
	}
	if c.System != "" {
		fmt.Fprintf(&b, "database %s %d\n", c.System, c.Timeline)
	}
	if p := c.Continues; p != nil {
		fmt.Fprintf(&b, "continues %d %d %d\n", p.Line, p.Number, p.Size)
	}
	return b.String()
}

// Sign gives the signed note.
func (c Checkpoint) Sign(s *Signer) ([]byte, error) {
	return note.Sign(&note.Note{Text: c.Text()}, s.s)
}

// ErrUnsigned is a note without a valid signature of a known key.
var ErrUnsigned = errors.New("no valid signature of a known key")

// Open checks the signature of a note by one of the known keys, and reads it.
func Open(raw []byte, known *Keys) (Checkpoint, error) {
	n, err := note.Open(raw, known.v)
	if err != nil {
		return Checkpoint{}, fmt.Errorf("%w: %w", ErrUnsigned, err)
	}
	return Parse(n.Text)
}

// Unsigned reads a note without looking at its signature: for what stands in a database
// or file of one's own, never as a proof.
func Unsigned(raw []byte) (Checkpoint, error) {
	text, _, found := strings.Cut(string(raw), "\n\n")
	if !found {
		return Checkpoint{}, errors.New("this is no note")
	}
	return Parse(text + "\n")
}

// Parse reads the text of a note. A text that Text would not write is refused.
func Parse(text string) (Checkpoint, error) {
	var l log.Checkpoint
	rest, err := l.Unmarshal([]byte(text))
	if err != nil {
		return Checkpoint{}, err
	}
	c := Checkpoint{Size: l.Size}
	name, ours := strings.CutPrefix(l.Origin, originPrefix)
	installation, line, parts := strings.Cut(name, "/")
	if !ours || !parts || installation == "" {
		return c, fmt.Errorf("origin %q is not of the form holdpoint/INSTALLATION/LINE", l.Origin)
	}
	c.Installation = installation
	if c.Line, err = strconv.ParseInt(line, 10, 64); err != nil {
		return c, fmt.Errorf("origin %q: %w", l.Origin, err)
	}
	if len(l.Hash) != 32 {
		return c, errors.New("the root is not of 32 bytes")
	}
	c.Root = [32]byte(l.Hash)
	for ext := range strings.Lines(string(rest)) {
		if err := c.fact(strings.TrimSuffix(ext, "\n")); err != nil {
			return c, err
		}
	}
	if c.Text() != text {
		return c, errors.New("the note is not in its one form")
	}
	return c, nil
}

func (c *Checkpoint) fact(line string) (err error) {
	name, value, _ := strings.Cut(line, " ")
	switch name {
	case "number":
		c.Number, err = strconv.ParseInt(value, 10, 64)
	case "time":
		c.At, err = time.Parse(operation.TimeForm, value)
	case "entries":
		c.UpTo, err = strconv.ParseInt(value, 10, 64)
	case "late":
		c.Late, err = ParseSpans(value)
	case "database":
		_, err = fmt.Sscanf(value, "%s %d", &c.System, &c.Timeline)
	case "continues":
		p := &Point{}
		_, err = fmt.Sscanf(value, "%d %d %d", &p.Line, &p.Number, &p.Size)
		c.Continues = p
	default:
		return fmt.Errorf("unknown fact %q", name)
	}
	if err != nil {
		return fmt.Errorf("fact %q: %w", name, err)
	}
	return nil
}
