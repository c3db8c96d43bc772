package verify

import (
	"errors"
	"fmt"

	"holdpoint/operation"
	"holdpoint/store"
)

// searchSeq bounds for how many places of a chain an entry is tried.
const searchSeq = 4096

// diagnose says what is wrong first with one subject's chain. head is nil in an export,
// which has none; known says that heads are known at all.
func diagnose(kind operation.SubjectKind, id string, lines []operation.Line, head *store.Head, known bool) Finding {
	at := func(what What, seq int64, row int64, detail string, args ...any) Finding {
		return Finding{What: what, Kind: kind, Subject: id, Seq: seq, Row: row, Detail: fmt.Sprintf(detail, args...)}
	}
	if len(lines) == 0 {
		return at(Removed, 1, 0, "the subject has %d entries, and none of them is there", head.Seq)
	}
	own := ownPlaces(lines)
	var before operation.Line
	for i, l := range lines {
		f := at("", l.Entry.Seq, l.ID, "")
		err := l.Entry.Check(l.Hash)
		switch want := before.Entry.Seq + 1; {
		case err != nil && !errors.Is(err, operation.ErrEntryAltered):
			f.What, f.Detail = Altered, err.Error()
		case own[i] == 0:
			f.What, f.Detail = Altered, operation.ErrEntryAltered.Error()
		case own[i] != l.Entry.Seq && has(own, l.Entry.Seq):
			f.What, f.Detail = Reordered, fmt.Sprintf("what stands there is entry %d", own[i])
		case own[i] != l.Entry.Seq:
			f.What, f.Detail = Removed, fmt.Sprintf("what stands there is entry %d", own[i])
		case i > 0 && l.Entry.Seq == before.Entry.Seq:
			f.What, f.Detail = Added, "the same place is taken twice"
		case l.Entry.Seq != want:
			f.What, f.Seq, f.Detail = Removed, want, fmt.Sprintf("entry %d follows entry %d", l.Entry.Seq, before.Entry.Seq)
		case l.Entry.Prev != before.Hash && i > 0:
			f.What, f.Seq, f.Row, f.Detail = Altered, before.Entry.Seq, before.ID, "its hash was computed anew: the next entry holds another one"
		case l.Entry.Prev != before.Hash:
			f.What, f.Detail = Altered, "the first entry names an entry before it"
		}
		if f.What != "" {
			return f
		}
		before = l
	}
	f := at("", before.Entry.Seq+1, before.ID, "")
	switch {
	case head == nil && known:
		f.What, f.Seq, f.Detail = Added, 1, "there is no such subject: its row was removed, or its history was added"
	case head != nil && head.Seq > before.Entry.Seq:
		f.What, f.Detail = Truncated, fmt.Sprintf("the chain ends at %d, its head says %d", before.Entry.Seq, head.Seq)
	case head != nil && head.Seq < before.Entry.Seq:
		f.What, f.Seq, f.Detail = Added, head.Seq+1, fmt.Sprintf("the chain ends at %d, its head says %d", before.Entry.Seq, head.Seq)
	default:
		f.What, f.Seq, f.Detail = Altered, before.Entry.Seq, "the chain's head holds another hash"
	}
	return f
}

// ownPlaces gives the place in the chain that each entry's hash says; 0 = no place fits
// its hash.
func ownPlaces(lines []operation.Line) []int64 {
	out := make([]int64, len(lines))
	for i, l := range lines {
		e := l.Entry
		if e.Hash() == l.Hash {
			out[i] = e.Seq
			continue
		}
		for s := int64(1); s <= int64(min(len(lines)+8, searchSeq)); s++ {
			if e.Seq = s; e.Hash() == l.Hash {
				out[i] = s
				break
			}
		}
	}
	return out
}

func has(places []int64, seq int64) bool {
	for _, p := range places {
		if p == seq {
			return true
		}
	}
	return false
}
