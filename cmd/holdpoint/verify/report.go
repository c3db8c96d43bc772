package verify

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"holdpoint/operation"
	"holdpoint/operation/checkpoint"
)

// What says what is wrong with an entry, or with a checkpoint.
type What string

// What can be wrong.
const (
	Altered   What = "altered"   // the entry is not what its hash, the next entry or a checkpoint says
	Removed   What = "removed"   // it is missing between others, or with its whole subject
	Reordered What = "reordered" // it stands in another place of its chain
	Truncated What = "truncated" // the end is missing
	Added     What = "added"     // it was not there when a checkpoint was signed, or its subject does not know it

	Forged What = "forged" // a checkpoint without a valid signature of a known key
	Cut    What = "cut"    // checkpoints are missing in the file
	Older  What = "older"  // the database lacks a checkpoint: a restored or rolled-back copy
	Forked What = "forked" // two histories under one key
	Other  What = "other"  // a checkpoint that does not fit the entries, or the log's own table
)

// Finding is one thing that is wrong. Without a subject it concerns a checkpoint.
type Finding struct {
	What       What                  `json:"what"`
	Kind       operation.SubjectKind `json:"subject_kind,omitempty"`
	Subject    string                `json:"subject,omitempty"`
	Seq        int64                 `json:"seq,omitempty"`
	Row        int64                 `json:"id,omitempty"`         // the entry's number, or the nearest one that is known
	Checkpoint int64                 `json:"checkpoint,omitempty"` // that shows it, or that is concerned
	Detail     string                `json:"detail"`
}

// String is the finding as one line.
func (f Finding) String() string {
	s := string(f.What)
	switch {
	case f.Subject != "" && f.Seq == 0: // what stands beside its entries
		s += fmt.Sprintf(": %s %s", f.Kind, f.Subject)
	case f.Subject != "":
		s += fmt.Sprintf(": entry %d of %s %s", f.Seq, f.Kind, f.Subject)
	case f.Row > 0:
		s += fmt.Sprintf(": entry with number %d", f.Row)
	}
	if f.Checkpoint > 0 {
		s += fmt.Sprintf(" (checkpoint %d)", f.Checkpoint)
	}
	return s + ": " + f.Detail
}

// keepFindings bounds how many findings are named; all are counted.
const keepFindings = 100

// Report is what a verification found.
type Report struct {
	Entries     int64                  `json:"entries"`
	Subjects    int64                  `json:"subjects"`
	Heads       bool                   `json:"heads"`       // chain heads were compared: only a database has them
	Checkpoints int                    `json:"checkpoints"` // that were compared
	Newest      *checkpoint.Checkpoint `json:"-"`
	Covered     int64                  `json:"covered"`           // entries that the newest checkpoint holds
	Made        *time.Time             `json:"made,omitempty"`    // when the export says it was made; nil = it does not, or it is none
	Later       int                    `json:"later,omitempty"`   // checkpoints that were made after the export, and so are not compared
	Partial     bool                   `json:"partial,omitempty"` // the export holds what a filter found: what is missing does not show
	Thinned     int64                  `json:"thinned"`           // entries whose words were removed under a term
	Bodies      *Bodies                `json:"bodies,omitempty"`
	Broken      int                    `json:"broken"`   // all findings, also those that are not named
	Findings    []Finding              `json:"findings"` // the first ones, in the order of the entries
	Remarks     []string               `json:"remarks"`  // what is not wrong and worth knowing
}

func (r *Report) add(f Finding) {
	r.Broken++
	r.Findings = append(r.Findings, f)
	if len(r.Findings) > 2*keepFindings {
		r.order()
	}
}

func (r *Report) remark(format string, args ...any) {
	r.Remarks = append(r.Remarks, fmt.Sprintf(format, args...))
}

// order sorts the findings: those of entries by their numbers, then those of checkpoints.
func (r *Report) order() {
	place := func(f Finding) int64 {
		if f.Row == 0 {
			return 1<<62 + f.Checkpoint
		}
		return f.Row
	}
	slices.SortStableFunc(r.Findings, func(a, b Finding) int { return cmp.Or(cmp.Compare(place(a), place(b)), cmp.Compare(a.Seq, b.Seq)) })
	r.Findings = r.Findings[:min(len(r.Findings), keepFindings)]
}
