package operation

import (
	"crypto/sha256"
	"slices"
	"strconv"
	"time"
)

// SubjectKind says whose history chain an entry belongs to.
type SubjectKind string

// The chains (MODEL §8).
const (
	SubjectOperation   SubjectKind = "operation"
	SubjectRun         SubjectKind = "run"
	SubjectFlow        SubjectKind = "flow"
	SubjectDestination SubjectKind = "destination"
	SubjectUser        SubjectKind = "user"
	SubjectSystem      SubjectKind = "system"
	SubjectIncident    SubjectKind = "incident"
	SubjectTask        SubjectKind = "task"    // an improvement task
	SubjectPattern     SubjectKind = "pattern" // a kind of stop in the pattern library
	SubjectLimit       SubjectKind = "limit"   // of a figure
	SubjectReport      SubjectKind = "report"
	SubjectAcceptance  SubjectKind = "acceptance"
	SubjectBatch       SubjectKind = "batch"
)

// SubjectKinds are all of them.
var SubjectKinds = []SubjectKind{SubjectOperation, SubjectRun, SubjectFlow, SubjectDestination, SubjectUser, SubjectSystem,
	SubjectIncident, SubjectTask, SubjectPattern, SubjectLimit, SubjectReport, SubjectAcceptance, SubjectBatch}

// ActorKind says what kind of somebody acted.
type ActorKind string

// The kinds of actor. Only a person decides.
const (
	ActorPerson ActorKind = "person"
	ActorToken  ActorKind = "token" // a service, by API token
	ActorJob    ActorKind = "job"   // our own background job
	ActorSystem ActorKind = "system"
)

// Entry is one entry of a history chain. docs/history-format.md fixes its encoding.
type Entry struct {
	SubjectKind  SubjectKind
	SubjectID    string
	Seq          int64     // 1, 2, 3 … within the subject
	At           time.Time // database clock, UTC, microseconds
	ActorKind    ActorKind
	ActorID      string
	ActorName    string
	Role         Role
	Channel      string // web, api, job, command
	Action       string // an Event, or another stable word
	From, To     State
	Reason       string
	Links        map[string]string // ids of attempt, version, clearance, evidence …
	VersionID    VersionID
	EvidenceHash string // hex, "" = none
	Prev         [32]byte
	// Words are what can be removed of it under a term; nil = an entry of format 1, whose
	// hash covers everything, for ever.
	Words *Words
}

// Hash chains the entry to the one before it: SHA-256 over its fields, each with its
// length before it, the links in order of their names. In format 2 the words stand in it
// by their stored hash alone; Check compares them too.
func (e Entry) Hash() [32]byte {
	if e.Words != nil {
		return e.hash2()
	}
	b := appendPart(make([]byte, 0, hashRoom), "holdpoint/history/1", string(e.SubjectKind), e.SubjectID, strconv.FormatInt(e.Seq, 10),
		e.At.UTC().Format("2006-01-02T15:04:05.000000Z"), string(e.ActorKind), e.ActorID, e.ActorName,
		string(e.Role), e.Channel, e.Action, string(e.From), string(e.To), e.Reason, string(e.VersionID), e.EvidenceHash)
	return sha256.Sum256(append(e.appendLinks(b, nil), e.Prev[:]...))
}

// hash2 is the hash of format 2.
func (e Entry) hash2() [32]byte {
	b := appendPart(make([]byte, 0, hashRoom), "holdpoint/history/2", string(e.SubjectKind), e.SubjectID, strconv.FormatInt(e.Seq, 10), e.At.UTC().Format(TimeForm), string(e.ActorKind),
		string(e.Role), e.Channel, e.Action, string(e.From), string(e.To), string(e.VersionID), e.EvidenceHash)
	b = append(e.appendLinks(b, e.Words.Links), e.Words.Hash[:]...)
	return sha256.Sum256(append(b, e.Prev[:]...))
}

// appendLinks writes name and value of the links, in order, but for those named.
func (e Entry) appendLinks(b []byte, but []string) []byte {
	names := make([]string, 0, 16)
	for n := range e.Links {
		if !slices.Contains(but, n) {
			names = append(names, n)
		}
	}
	slices.Sort(names)
	for _, n := range names {
		b = appendPart(b, n, e.Links[n])
	}
	return b
}

// FirstBreak finds the first entry of one subject's chain, in order, that does not
// follow from the one before it or is not what the hash stored with it says; -1 = whole.
func FirstBreak(entries []Entry, hashes [][32]byte) int {
	var prev [32]byte
	for i, e := range entries {
		if i >= len(hashes) || e.Seq != int64(i+1) || e.Prev != prev || e.Check(hashes[i]) != nil ||
			e.SubjectKind != entries[0].SubjectKind || e.SubjectID != entries[0].SubjectID {
			return i
		}
		prev = hashes[i]
	}
	if len(hashes) > len(entries) {
		return len(entries)
	}
	return -1
}
