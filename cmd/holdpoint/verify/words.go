package verify

import (
	"encoding/binary"
	"slices"
	"time"

	"holdpoint/operation"
	"holdpoint/operation/checkpoint"
)

// What lies in the sorter of words: spans that a removal names, before the entries in them.
const (
	wordsSpan  = 0 // value: last number, time of the removal, term in days
	wordsEntry = 1 // value: when they went, time of the entry, sequence, subject
)

// noteWords keeps what an entry says about removed words: its own, or those that it
// records the removal of.
func (p *pass) noteWords(l operation.Line) error {
	e := l.Entry
	if e.Words.Gone() {
		p.r.Thinned++
		value := appendTime(appendTime(nil, e.Words.GoneAt), e.At)
		value = binary.BigEndian.AppendUint64(value, uint64(e.Seq))
		return p.words.add(wordsKey(l.ID, wordsEntry), subjectKey(value, e.SubjectKind, e.SubjectID))
	}
	r, ok := checkpoint.RemovalOf(e)
	if !ok {
		return nil // what a broken one names shows as unrecorded
	}
	for _, s := range r.Entries {
		value := appendTime(binary.BigEndian.AppendUint64(nil, uint64(s.Last)), e.At)
		if err := p.words.add(wordsKey(s.First, wordsSpan), binary.BigEndian.AppendUint64(value, uint64(r.Days))); err != nil {
			return err
		}
	}
	return nil
}

func wordsKey(id int64, what byte) []byte {
	return append(binary.BigEndian.AppendUint64(nil, uint64(id)), what)
}

func appendTime(b []byte, at time.Time) []byte {
	return binary.BigEndian.AppendUint64(b, uint64(at.UnixMicro()))
}

func number(b []byte, place int) int64 {
	return int64(binary.BigEndian.Uint64(b[8*place:]))
}

// removal is a span of entries of one recorded removal of words.
type removal struct {
	checkpoint.Removal
	last int64
}

// compareWords holds each entry without its words against the entries of the system's
// history that record such removals: it must be named by the one of its time, and have
// been older than the term.
func (p *pass) compareWords() error {
	if p.x != nil && p.x.partial {
		if p.r.Thinned > 0 {
			p.r.remark("what a filter leaves out may record why words were removed: it is not looked for")
		}
		return nil
	}
	next, err := p.words.reader()
	if err != nil {
		return err
	}
	var open []removal
	for {
		rec, err := next()
		if done(err) {
			return nil
		}
		if err != nil {
			return err
		}
		id, v := number(rec.key, 0), rec.value
		if rec.key[8] == wordsSpan {
			open = append(open, removal{checkpoint.Removal{At: time.UnixMicro(number(v, 1)).UTC(), Days: int(number(v, 2))}, number(v, 0)})
			continue
		}
		open = slices.DeleteFunc(open, func(r removal) bool { return r.last < id })
		if err := unrecorded(open, time.UnixMicro(number(v, 0)), time.UnixMicro(number(v, 1))); err != nil {
			kind, subject, _ := parseSubject(v[24:])
			p.found(Finding{What: Removed, Kind: kind, Subject: subject, Seq: number(v, 2), Row: id, Detail: err.Error()})
		}
	}
}

// unrecorded says what is wrong with the removal of an entry's words; nil = nothing.
func unrecorded(open []removal, gone, at time.Time) error {
	for _, r := range open {
		if r.At.Equal(gone) {
			return r.Fault(at)
		}
	}
	return checkpoint.Unrecorded(gone)
}
