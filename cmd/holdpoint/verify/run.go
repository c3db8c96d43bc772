package verify

import (
	"cmp"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"holdpoint/operation"
	"holdpoint/operation/checkpoint"
	"holdpoint/store"
)

// Job says what to verify.
type Job struct {
	Record      *store.Record    // a database, in one snapshot; nil = an export
	Export      *os.File         // a history as JSON Lines
	Checkpoints io.Reader        // the checkpoint file; nil = none is at hand
	Keys        *checkpoint.Keys // trusted verifier keys; nil = no checkpoint is compared
	Contents    bool             // bodies too; a database only
	Dir         string           // for temporary files; "" = the system's folder
	Now         time.Time        // zero = the clock's: a checkpoint of the last minute may be missing in the file
}

// pass is one verification.
type pass struct {
	Job
	r       *Report
	x       *export
	list    []checkpoint.Checkpoint // that the entries are compared with, in order
	logOK   bool                    // the database's own log fits the checkpoints
	late    []lateSpan
	chains  sorter
	order   sorter
	log     sorter
	words   sorter
	removed []gone // the first entry of each subject that the log knows and the history lacks
}

// lateSpan are entries that a checkpoint took up late.
type lateSpan struct {
	checkpoint.Span
	at int // -1 = by one that is not compared
}

// gone is an entry that the log knows and the history lacks.
type gone struct {
	id, seq, number int64
	kind            operation.SubjectKind
	subject         string
}

// Run verifies. An error means that it could not; what is wrong stands in the report.
func Run(j Job) (*Report, error) {
	dir, err := os.MkdirTemp(j.Dir, "holdpoint-verify-*")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if j.Now.IsZero() {
		j.Now = time.Now()
	}
	p := &pass{Job: j, r: &Report{}, chains: sorter{dir: dir}, order: sorter{dir: dir}, log: sorter{dir: dir}, words: sorter{dir: dir}}
	defer p.close()
	if j.Record == nil {
		p.x = &export{file: j.Export}
	}
	for _, step := range []func() error{p.checkpoints, p.read, p.readLog, p.compareLog, p.compareChains, p.nameRemoved, p.compareWords, p.bound, p.contents} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	p.r.order()
	return p.r, nil
}

func (p *pass) close() {
	p.chains.close()
	p.order.close()
	p.log.close()
	p.words.close()
}

// checkpoints decides which checkpoints count.
func (p *pass) checkpoints() error {
	if p.Keys == nil {
		p.r.remark("no verifier key: only chains are checked. A change after which all later hashes were computed anew is not found, nor is a removed subject whose row is gone too")
		return nil
	}
	var held []checkpoint.Checkpoint
	var err error
	installation := ""
	if p.Record != nil {
		if installation, err = p.Record.Installation(); err != nil {
			return err
		}
		if held, err = p.held(); err != nil {
			return err
		}
	}
	var file *published
	if p.Checkpoints != nil {
		f, err := readNotes(p.Checkpoints, p.Keys, installation, p.r)
		if err != nil {
			return err
		}
		file = &f
	} else {
		p.r.remark("no checkpoint file: the checkpoints are those that the database holds. A restored older copy is not found")
	}
	p.list = held
	all := held
	if p.Record != nil {
		p.list = compareNotes(file, held, p.Now, p.r)
		all = p.list
	} else if file != nil {
		all = file.list
		if p.list, err = p.before(all); err != nil {
			return err
		}
	}
	p.r.Checkpoints = len(p.list)
	if n := len(p.list); n > 0 {
		p.r.Newest = &p.list[n-1]
	}
	for i, c := range all {
		if i >= len(p.list) {
			i = -1 // what it took up late came after those that are compared
		}
		for _, s := range c.Late {
			p.late = append(p.late, lateSpan{s, i})
		}
	}
	slices.SortFunc(p.late, func(a, b lateSpan) int { return cmp.Compare(a.First, b.First) })
	return nil
}

// exportSlack is how long before an export a checkpoint may have been begun and still hold
// entries that the export's snapshot does not: it reads for a moment after its own time.
const exportSlack = 10 * time.Second

// before gives the checkpoints that an export must hold: those that were there when it says
// it was made. Later ones took up what is not in it.
func (p *pass) before(list []checkpoint.Checkpoint) ([]checkpoint.Checkpoint, error) {
	made, err := p.x.made()
	if err != nil || made.IsZero() {
		return list, err
	}
	p.r.Made = &made
	n := len(list)
	for n > 0 && list[n-1].At.After(made.Add(-exportSlack)) {
		n--
	}
	if p.r.Later = len(list) - n; p.r.Later > 0 {
		p.r.remark("the export says that it was made at %[2]s; checkpoints that are newer, and not compared: %[1]d; it holds nothing of what came after", p.r.Later, made.UTC().Format(operation.TimeForm))
	}
	return list[:n], nil
}

// held gives the genuine checkpoints of the database.
func (p *pass) held() (list []checkpoint.Checkpoint, err error) {
	err = p.Record.Notes(func(number int64, note []byte) error {
		c, err := checkpoint.Open(note, p.Keys)
		if err != nil || c.Number != number {
			p.r.add(Finding{What: Forged, Checkpoint: number, Detail: "in the database: no valid signature of " + strings.Join(p.Keys.Fingerprints(), ", ")})
			return nil
		}
		list = append(list, c)
		return nil
	})
	return list, err
}

// taken gives the place in the list of the checkpoint that took an entry up; -1 = none
// has yet.
func (p *pass) taken(id int64) int {
	if i, ok := slices.BinarySearchFunc(p.late, id, func(s lateSpan, id int64) int {
		switch {
		case s.Last < id:
			return -1
		case s.First > id:
			return 1
		}
		return 0
	}); ok {
		return p.late[i].at
	}
	at, _ := slices.BinarySearchFunc(p.list, id, func(c checkpoint.Checkpoint, id int64) int { return cmp.Compare(c.UpTo, id) })
	if at == len(p.list) {
		return -1
	}
	return at
}

// read passes all entries once: into the order of chains, and into the order of the log.
func (p *pass) read() error {
	var key, value []byte
	return p.entries(func(l operation.Line) error {
		p.r.Entries++
		e, flags := l.Entry, byte(0)
		if e.Check(l.Hash) != nil {
			flags = 1
		}
		if err := p.noteWords(l); err != nil {
			return err
		}
		key = binary.BigEndian.AppendUint64(subjectKey(key[:0], e.SubjectKind, e.SubjectID), uint64(e.Seq))
		key = binary.BigEndian.AppendUint64(key, uint64(l.ID))
		value = append(append(append(value[:0], flags), e.Prev[:]...), l.Hash[:]...)
		if err := p.chains.add(key, value); err != nil {
			return err
		}
		at := p.taken(l.ID)
		if at < 0 {
			return nil
		}
		p.r.Covered++
		key = orderKey(key[:0], at, l.ID)
		value = subjectKey(append(value[:0], l.Hash[:]...), e.SubjectKind, e.SubjectID)
		return p.order.add(key, binary.BigEndian.AppendUint64(value, uint64(e.Seq)))
	})
}

func (p *pass) entries(yield func(operation.Line) error) error {
	if p.x != nil {
		return p.x.entries(p.r, yield)
	}
	return p.Record.Entries(yield)
}

func subjectKey(b []byte, kind operation.SubjectKind, id string) []byte {
	return append(append(append(append(b, kind...), 0), id...), 0)
}

// parseSubject reads kind and identifier, and gives what follows them.
func parseSubject(b []byte) (kind operation.SubjectKind, id string, rest []byte) {
	k, b, _ := cutZero(b)
	i, b, _ := cutZero(b)
	return operation.SubjectKind(k), string(i), b
}

func cutZero(b []byte) (before, after []byte, found bool) {
	if i := slices.Index(b, 0); i >= 0 {
		return b[:i], b[i+1:], true
	}
	return b, nil, false
}

func orderKey(b []byte, at int, id int64) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint32(b, uint32(at)), uint64(id))
}

func parseOrder(key []byte) (at int, id int64) {
	return int(binary.BigEndian.Uint32(key)), int64(binary.BigEndian.Uint64(key[4:]))
}

// done reports the end of a sorted stream.
func done(err error) bool { return errors.Is(err, io.EOF) }
