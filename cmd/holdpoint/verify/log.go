package verify

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"holdpoint/operation/checkpoint"
	"holdpoint/store"
)

// growing compares a tree that grows with checkpoints, as their sizes are reached.
type growing struct {
	tree *checkpoint.Tree
	list []checkpoint.Checkpoint
	next int
	bad  int // place of the first checkpoint that does not fit; -1 = none
}

func grow(list []checkpoint.Checkpoint) *growing {
	return &growing{tree: checkpoint.NewTree(), list: list, bad: -1}
}

func (g *growing) add(hash [32]byte) error {
	if err := g.tree.Append(hash); err != nil || g.bad >= 0 {
		return err
	}
	for g.next < len(g.list) && g.list[g.next].Size == g.tree.Size() {
		root, err := g.tree.Root()
		if err != nil {
			return err
		}
		if root != g.list[g.next].Root {
			g.bad = g.next
			return nil
		}
		g.next++
	}
	return nil
}

// fits reports that every checkpoint was reached and has this tree's root.
func (g *growing) fits() bool { return g.bad < 0 && g.next == len(g.list) }

// firstBad is the place of the first checkpoint that does not fit.
func (g *growing) firstBad() int {
	if g.bad >= 0 {
		return g.bad
	}
	return g.next
}

// readLog reads the database's own log and compares it with the checkpoints.
func (p *pass) readLog() error {
	if p.Record == nil || len(p.list) == 0 {
		return nil
	}
	g := grow(p.list)
	var key, value []byte
	var position uint64
	err := p.Record.Log(func(e store.LogEntry) error {
		if e.Position != position {
			return nil // the tree shows that something is missing
		}
		position++
		if err := g.add(e.Hash); err != nil {
			return err
		}
		at := p.taken(e.ID)
		if at < 0 {
			return nil
		}
		key = orderKey(key[:0], at, e.ID)
		value = subjectKey(append(value[:0], e.Hash[:]...), e.Kind, e.Subject)
		return p.log.add(key, binary.BigEndian.AppendUint64(value, uint64(e.Seq)))
	})
	if err != nil {
		p.r.add(Finding{What: Other, Detail: "the log of positions in the database cannot be read: " + err.Error()})
		return nil
	}
	if p.logOK = g.fits(); !p.logOK {
		c := p.list[g.firstBad()]
		p.r.add(Finding{What: Other, Checkpoint: c.Number, Detail: "the log of positions in the database was altered or cut: it does not have this checkpoint's root"})
	}
	return nil
}

// compareLog puts the entries into the order of the log and compares them with the
// checkpoints, and where the database's log is good, one by one with it.
func (p *pass) compareLog() error {
	if len(p.list) == 0 || p.x != nil && p.x.partial {
		return nil
	}
	next, err := p.order.reader()
	if err != nil {
		return err
	}
	known := func() (record, error) { return record{}, errEnd }
	if p.logOK {
		if known, err = p.log.reader(); err != nil {
			return err
		}
	}
	g := grow(p.list)
	counts := make([]uint64, len(p.list))
	have, haveErr := next()
	want, wantErr := known()
	for !done(haveErr) || p.logOK && !done(wantErr) {
		if !done(haveErr) && haveErr != nil {
			return haveErr
		}
		if p.logOK && !done(wantErr) && wantErr != nil {
			return wantErr
		}
		side := 0 // < 0: only in the history; > 0: only in the log
		switch {
		case !p.logOK || done(wantErr):
			side = -1
		case done(haveErr):
			side = 1
		default:
			side = bytes.Compare(have.key, want.key)
		}
		if side <= 0 {
			at, _ := parseOrder(have.key)
			counts[at]++
			if err := g.add([32]byte(have.value[:32])); err != nil {
				return err
			}
		}
		if p.logOK {
			p.difference(side, have, want)
		}
		if side <= 0 {
			have, haveErr = next()
		}
		if side >= 0 {
			want, wantErr = known()
		}
	}
	if !g.fits() && !p.logOK {
		p.misfit(g.firstBad(), counts)
	}
	return nil
}

// difference notes what differs between the history and its log at one place.
func (p *pass) difference(side int, have, want record) {
	if side > 0 {
		at, id := parseOrder(want.key)
		kind, subject, rest := parseSubject(want.value[32:])
		p.gone(gone{id: id, kind: kind, subject: subject, seq: int64(binary.BigEndian.Uint64(rest)), number: p.list[at].Number})
		return
	}
	at, id := parseOrder(have.key)
	kind, subject, rest := parseSubject(have.value[32:])
	f := Finding{Kind: kind, Subject: subject, Seq: int64(binary.BigEndian.Uint64(rest)), Row: id, Checkpoint: p.list[at].Number}
	switch {
	case side < 0:
		f.What, f.Detail = Added, "the checkpoint that would have taken it up does not hold it"
	case !bytes.Equal(have.value[:32], want.value[:32]):
		f.What, f.Detail = Altered, "the checkpoint holds another hash for it"
	default:
		return
	}
	p.r.add(f)
}

// misfit says what can be said without a log: between which checkpoints it happened.
func (p *pass) misfit(bad int, counts []uint64) {
	c, from := p.list[bad], uint64(0)
	after := "the beginning"
	if bad > 0 {
		from = p.list[bad-1].Size
		after = fmt.Sprintf("checkpoint %d", p.list[bad-1].Number)
	}
	f := Finding{What: Altered, Checkpoint: c.Number, Detail: fmt.Sprintf("an entry that was taken up after %s, up to number %d, is not what was signed", after, c.UpTo)}
	switch want := c.Size - from; {
	case counts[bad] < want:
		f.What, f.Detail = Removed, fmt.Sprintf("%d of %d entries that were taken up after %s, up to number %d, are missing", want-counts[bad], want, after, c.UpTo)
	case counts[bad] > want:
		f.What, f.Detail = Added, fmt.Sprintf("there are %d entries more than were signed after %s, up to number %d", counts[bad]-want, after, c.UpTo)
	}
	p.r.add(f)
}
