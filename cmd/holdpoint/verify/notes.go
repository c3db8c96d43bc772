package verify

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"holdpoint/operation/checkpoint"
)

// published are the checkpoints that count for the present history, in their order.
type published struct {
	list []checkpoint.Checkpoint
	left int // checkpoints of a history that a restored backup left behind
}

// readNotes reads a checkpoint file: which checkpoints are genuine, and what is wrong
// with the file itself.
func readNotes(file io.Reader, keys *checkpoint.Keys, installation string, r *Report) (published, error) {
	var all []checkpoint.Checkpoint
	torn := 0
	err := checkpoint.ReadFile(file, func(f checkpoint.Found) error {
		if f.Torn() {
			torn++
			return nil
		}
		c, err := checkpoint.Open(f.Note, keys)
		switch {
		case errors.Is(err, checkpoint.ErrUnsigned):
			said, _ := checkpoint.Unsigned(f.Note)
			r.add(Finding{What: Forged, Checkpoint: said.Number, Detail: fmt.Sprintf("line %d of the file: no valid signature of %s", f.Line, keys.Fingerprints())})
		case err != nil:
			r.add(Finding{What: Forged, Checkpoint: c.Number, Detail: fmt.Sprintf("line %d of the file: %v", f.Line, err)})
		case installation != "" && c.Installation != installation:
			r.add(Finding{What: Other, Checkpoint: c.Number, Detail: fmt.Sprintf("it is of installation %s, the database of %s", c.Installation, installation)})
		default:
			all = append(all, c)
		}
		return nil
	})
	if err != nil {
		return published{}, fmt.Errorf("checkpoint file: %w", err)
	}
	if torn > 0 {
		r.remark("%d torn records in the checkpoint file: a writer was stopped in the middle, or the file was cut", torn)
	}
	return effective(all, r), nil
}

// effective checks how the checkpoints follow one another, and gives those of the newest
// line with the part of earlier lines that it goes on from.
func effective(all []checkpoint.Checkpoint, r *Report) published {
	lines := map[int64][]checkpoint.Checkpoint{}
	var newest int64
	for _, c := range all {
		lines[c.Line] = append(lines[c.Line], c)
		newest = max(newest, c.Line)
	}
	for no, l := range lines {
		slices.SortStableFunc(l, func(a, b checkpoint.Checkpoint) int { return int(a.Number - b.Number) })
		lines[no] = follow(l, r)
	}
	var p published
	limit := int64(1) << 62
	for line := newest; line > 0; {
		var from *checkpoint.Point
		var part []checkpoint.Checkpoint
		for _, c := range lines[line] {
			if c.Number <= limit {
				part = append(part, c)
			}
			if c.Continues != nil {
				from = c.Continues
			}
		}
		p.left += len(lines[line]) - len(part)
		p.list = append(part, p.list...)
		if from == nil || from.Line >= line {
			break
		}
		for l := from.Line + 1; l < line; l++ { // lines that were left whole
			p.left += len(lines[l])
		}
		line, limit = from.Line, from.Number
	}
	for i, c := range p.list {
		if want := int64(i + 1); c.Number != want && (i == 0 || p.list[i-1].Number != c.Number-1) {
			r.add(Finding{What: Cut, Checkpoint: want, Detail: fmt.Sprintf("checkpoint %d follows %d in the file", c.Number, before(p.list, i))})
		}
	}
	if p.left > 0 {
		r.remark("%d checkpoints speak about a history that was left behind: a backup was restored, and an admin confirmed it", p.left)
	}
	return p
}

func before(list []checkpoint.Checkpoint, i int) int64 {
	if i == 0 {
		return 0
	}
	return list[i-1].Number
}

// follow checks one line: one checkpoint for a number, nothing ever shrinks.
func follow(list []checkpoint.Checkpoint, r *Report) []checkpoint.Checkpoint {
	var out []checkpoint.Checkpoint
	for _, c := range list {
		if len(out) == 0 {
			out = append(out, c)
			continue
		}
		p := out[len(out)-1]
		switch {
		case c.Text() == p.Text():
		case c.Number == p.Number || c.Size == p.Size:
			r.add(Finding{What: Forked, Checkpoint: c.Number, Detail: fmt.Sprintf("it says %d entries with root %x, another one of the same key says %d with root %x", c.Size, c.Root[:6], p.Size, p.Root[:6])})
		case c.Size < p.Size || c.UpTo < p.UpTo || c.At.Before(p.At):
			r.add(Finding{What: Forked, Checkpoint: c.Number, Detail: fmt.Sprintf("it goes back behind checkpoint %d", p.Number)})
		default:
			out = append(out, c)
		}
	}
	return out
}

// settling is how long a checkpoint may be in the database and not yet in the file.
const settling = time.Minute

// compareNotes compares the file's checkpoints with those that the database holds, and
// gives those that the entries are compared with.
func compareNotes(file *published, held []checkpoint.Checkpoint, now time.Time, r *Report) []checkpoint.Checkpoint {
	if file == nil {
		return held
	}
	inFile := map[int64]checkpoint.Checkpoint{}
	for _, c := range file.list {
		inFile[c.Number] = c
	}
	var lacks []checkpoint.Checkpoint
	for _, c := range held {
		f, there := inFile[c.Number]
		switch {
		case !there && now.Sub(c.At) > settling:
			lacks = append(lacks, c)
		case there && (f.Root != c.Root || f.Size != c.Size) && f.Line == c.Line:
			r.add(Finding{What: Forked, Checkpoint: c.Number, Detail: "the file and the database hold two different ones, both signed"})
		case there && f.Line != c.Line:
			r.add(Finding{What: Older, Checkpoint: c.Number, Detail: fmt.Sprintf("the database holds it in line %d, the file in line %d", c.Line, f.Line)})
		}
	}
	if len(lacks) > 0 {
		r.add(Finding{What: Cut, Checkpoint: lacks[0].Number, Detail: fmt.Sprintf("the database holds %d checkpoints that are missing in the file", len(lacks))})
	}
	n := int64(0)
	if len(held) > 0 {
		n = held[len(held)-1].Number
	}
	var beyond []checkpoint.Checkpoint
	for _, c := range file.list {
		if c.Number > n {
			beyond = append(beyond, c)
		}
	}
	if len(beyond) > 0 {
		c, last := beyond[0], beyond[len(beyond)-1]
		r.add(Finding{What: Older, Checkpoint: c.Number, Detail: fmt.Sprintf("of %s: the database does not hold it. It is a restored or rolled-back copy; %d entries were published in checkpoint %d",
			c.At.Format(time.RFC3339), last.Size, last.Number)})
	}
	return held
}
