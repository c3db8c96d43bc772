package verify

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"strings"

	"holdpoint/operation"
	"holdpoint/store"
)

// errEnd is the end of a stream.
var errEnd = io.EOF

// chainAt is the chain that is being read.
type chainAt struct {
	key    []byte
	seq    uint64
	hash   []byte
	broken bool
}

// suspect is a subject whose chain is broken.
type suspect struct {
	kind operation.SubjectKind
	id   string
	head *store.Head
}

// explained bounds how many broken subjects are looked at one by one.
const explained = 50

// compareChains checks each chain in order, and its end against its head.
func (p *pass) compareChains() error {
	next, err := p.chains.reader()
	if err != nil {
		return err
	}
	m := &chainMerge{p: p}
	if p.Record != nil {
		p.r.Heads = true
		m.next = next
		if m.rec, m.err = next(); m.err != nil && !done(m.err) {
			return m.err
		}
		if err := p.Record.Heads(m.head); err != nil {
			return err
		}
		if err := m.rest(); err != nil {
			return err
		}
	} else {
		m.next = next
		if m.rec, m.err = next(); m.err != nil && !done(m.err) {
			return m.err
		}
		if err := m.rest(); err != nil {
			return err
		}
	}
	return m.explain()
}

// chainMerge walks chains and heads in the same order.
type chainMerge struct {
	p        *pass
	next     func() (record, error)
	rec      record
	err      error
	suspects []suspect
	more     int
}

// chain reads one chain whole.
func (m *chainMerge) chain() (chainAt, error) {
	c := chainAt{key: bytes.Clone(subjectOf(m.rec.key))}
	m.p.r.Subjects++
	partial := m.p.x != nil && m.p.x.partial
	zero := make([]byte, 32)
	for m.err == nil && bytes.Equal(subjectOf(m.rec.key), c.key) {
		seq := binary.BigEndian.Uint64(m.rec.key[len(c.key):])
		prev, hash := m.rec.value[1:33], m.rec.value[33:65]
		gap := partial && seq > c.seq+1
		want := c.hash
		if seq == 1 {
			want = zero
		}
		if m.rec.value[0] != 0 || !gap && (seq != c.seq+1 || !bytes.Equal(prev, want)) {
			c.broken = true
		}
		c.seq, c.hash = seq, append(c.hash[:0], hash...)
		m.rec, m.err = m.next()
	}
	if m.err != nil && !done(m.err) {
		return c, m.err
	}
	return c, nil
}

// subjectOf is the part of a chain's key that names its subject.
func subjectOf(key []byte) []byte { return key[:len(key)-16] }

// head takes the next head, and all chains up to it.
func (m *chainMerge) head(h store.Head) error {
	key := subjectKey(nil, h.Kind, h.ID)
	for m.err == nil && bytes.Compare(subjectOf(m.rec.key), key) < 0 {
		c, err := m.chain()
		if err != nil {
			return err
		}
		m.suspect(c.key, nil)
	}
	if m.err != nil || !bytes.Equal(subjectOf(m.rec.key), key) {
		m.suspect(key, &h)
		return nil
	}
	c, err := m.chain()
	if err != nil {
		return err
	}
	if c.broken || int64(c.seq) != h.Seq || !bytes.Equal(c.hash, h.Hash) {
		m.suspect(key, &h)
	}
	return nil
}

// rest takes the chains behind the last head. In an export there are no heads.
func (m *chainMerge) rest() error {
	for m.err == nil {
		c, err := m.chain()
		if err != nil {
			return err
		}
		if c.broken || m.p.Record != nil {
			m.suspect(c.key, nil)
		}
	}
	return nil
}

func (m *chainMerge) suspect(key []byte, head *store.Head) {
	if len(m.suspects) == explained {
		m.more++
		return
	}
	kind, id, _ := parseSubject(key)
	m.suspects = append(m.suspects, suspect{kind, id, head})
}

// explain reads the broken chains again, whole, and says what is wrong first in each.
func (m *chainMerge) explain() error {
	p := m.p
	p.r.Broken += m.more
	for _, s := range m.suspects {
		var lines []operation.Line
		keep := func(l operation.Line) error {
			l.Entry.SubjectKind, l.Entry.SubjectID = operation.SubjectKind(strings.Clone(string(l.Entry.SubjectKind))), strings.Clone(l.Entry.SubjectID)
			lines = append(lines, l)
			return nil
		}
		var err error
		if p.Record != nil {
			err = p.Record.Subject(s.kind, s.id, keep)
		} else {
			err = p.x.subject(s.kind, s.id, keep)
		}
		if err != nil {
			return err
		}
		slices.SortStableFunc(lines, func(a, b operation.Line) int {
			return cmp.Or(cmp.Compare(a.Entry.Seq, b.Entry.Seq), cmp.Compare(a.ID, b.ID))
		})
		p.merge(diagnose(s.kind, s.id, lines, s.head, p.Record != nil))
	}
	return nil
}

// merge adds what a chain shows. What a checkpoint shows of the same entry is one thing
// with it; what follows in the same chain follows from it.
func (p *pass) merge(f Finding) {
	out := p.r.Findings[:0]
	for _, o := range p.r.Findings {
		switch {
		case o.Subject != f.Subject || o.Kind != f.Kind || o.Seq < f.Seq:
			out = append(out, o)
		case o.Seq == f.Seq:
			f.Checkpoint = o.Checkpoint
			p.r.Broken--
		default:
			out = append(out, o)
		}
	}
	p.r.Findings = out
	p.r.add(f)
}

// gone notes an entry that is in the log and not in the history: the first one of each
// subject; the others follow from it.
func (p *pass) gone(g gone) {
	for i, o := range p.removed {
		if o.kind == g.kind && o.subject == g.subject {
			if g.seq < o.seq {
				p.removed[i] = g
			}
			return
		}
	}
	if len(p.removed) == explained {
		p.r.Broken++
		return
	}
	p.removed = append(p.removed, g)
}

// nameRemoved says what is gone, where the chain does not show it.
func (p *pass) nameRemoved() error {
	for _, g := range p.removed {
		f := Finding{What: Removed, Kind: g.kind, Subject: g.subject, Seq: g.seq, Row: g.id, Checkpoint: g.number, Detail: "the checkpoint holds it, and it is not there"}
		var last int64
		if err := p.Record.Subject(g.kind, g.subject, func(l operation.Line) error { last = l.Entry.Seq; return nil }); err != nil {
			return err
		}
		switch {
		case last == 0:
			f.Detail = "the checkpoint holds it, and the whole history of its subject is gone"
		case last < g.seq:
			f.What, f.Detail = Truncated, fmt.Sprintf("the checkpoint holds it, and the chain ends at %d", last)
		}
		p.found(f)
	}
	return nil
}

// found adds what the log shows, unless the chain shows the same.
func (p *pass) found(f Finding) {
	for i := range p.r.Findings {
		if o := &p.r.Findings[i]; o.Kind == f.Kind && o.Subject == f.Subject && o.Seq <= f.Seq {
			if o.Seq == f.Seq {
				o.Row, o.Checkpoint = f.Row, f.Checkpoint
			}
			return
		}
	}
	p.r.add(f)
}
