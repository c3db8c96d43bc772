package operation

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// TimeForm is how a time stands in the history: UTC, exactly six decimals.
const TimeForm = "2006-01-02T15:04:05.000000Z"

// Line is one entry of the history as one line of an export: the entry, the number of
// its row and the hash that is stored with it. docs/history-format.md fixes its members.
type Line struct {
	ID    int64 // of the row: unique, and not the order of time
	Entry Entry
	Hash  [32]byte // as stored; Entry.Hash() computes it anew
}

// line has the members in the order in which they are written.
type line struct {
	ID          int64             `json:"id"`
	SubjectKind SubjectKind       `json:"subject_kind"`
	Subject     string            `json:"subject"`
	Seq         int64             `json:"seq"`
	At          string            `json:"at"`
	ActorKind   ActorKind         `json:"actor_kind"`
	Actor       string            `json:"actor"`
	ActorName   string            `json:"actor_name"`
	Role        Role              `json:"role"`
	Channel     string            `json:"channel"`
	Action      string            `json:"action"`
	From        State             `json:"from"`
	To          State             `json:"to"`
	Reason      string            `json:"reason"`
	Version     VersionID         `json:"version"`
	Evidence    string            `json:"evidence"`
	Links       map[string]string `json:"links"`
	Words       *lineWords        `json:"words,omitempty"`
	Prev        string            `json:"prev"`
	Hash        string            `json:"hash"`
}

// lineWords is what an entry of format 2 has besides: the hash of its words, and either
// their salt and the names of the links among them, or when they were removed.
type lineWords struct {
	Hash    string   `json:"hash"`
	Salt    string   `json:"salt,omitempty"`
	Links   []string `json:"links,omitempty"`
	Removed string   `json:"removed,omitempty"`
}

// MarshalJSON writes the entry as one object on one line, without a newline. All
// members are there, empty ones too, but for words, which an entry of format 1 has not;
// <, > and & stand as they are.
func (l Line) MarshalJSON() ([]byte, error) {
	e := l.Entry
	links := e.Links
	if links == nil {
		links = map[string]string{}
	}
	var words *lineWords
	if w := e.Words; w != nil {
		words = &lineWords{Hash: hex.EncodeToString(w.Hash[:]), Salt: hex.EncodeToString(w.Salt), Links: w.Links}
		if w.Gone() {
			words.Removed = w.GoneAt.UTC().Format(TimeForm)
		}
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(line{ID: l.ID, SubjectKind: e.SubjectKind, Subject: e.SubjectID, Seq: e.Seq, At: e.At.UTC().Format(TimeForm),
		ActorKind: e.ActorKind, Actor: e.ActorID, ActorName: e.ActorName, Role: e.Role, Channel: e.Channel, Action: e.Action, From: e.From, To: e.To,
		Reason: e.Reason, Version: e.VersionID, Evidence: e.EvidenceHash, Links: links, Words: words,
		Prev: hex.EncodeToString(e.Prev[:]), Hash: hex.EncodeToString(l.Hash[:])})
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// AppendLine appends the entry and a newline, as an export holds it. It is
// json.Marshal without its second look at the same bytes.
func (l Line) AppendLine(b []byte) ([]byte, error) {
	raw, err := l.MarshalJSON()
	if err != nil {
		return b, err
	}
	return append(append(b, raw...), '\n'), nil
}

// UnmarshalJSON reads what MarshalJSON writes. A member that it does not know, a time in
// another form and a hash of another length are errors: they would be lost unseen.
func (l *Line) UnmarshalJSON(raw []byte) error {
	var in line
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&in); err != nil {
		return err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("more than one object on a line")
	}
	at, err := readTime(in.At)
	if err != nil {
		return fmt.Errorf("at: %w", err)
	}
	out := Line{ID: in.ID, Entry: Entry{SubjectKind: in.SubjectKind, SubjectID: in.Subject, Seq: in.Seq, At: at, ActorKind: in.ActorKind,
		ActorID: in.Actor, ActorName: in.ActorName, Role: in.Role, Channel: in.Channel, Action: in.Action, From: in.From, To: in.To,
		Reason: in.Reason, Links: in.Links, VersionID: in.Version, EvidenceHash: in.Evidence}}
	if out.Entry.Prev, err = readHash(in.Prev); err != nil {
		return fmt.Errorf("prev: %w", err)
	}
	if out.Hash, err = readHash(in.Hash); err != nil {
		return fmt.Errorf("hash: %w", err)
	}
	if out.Entry.Words, err = in.Words.read(); err != nil {
		return fmt.Errorf("words: %w", err)
	}
	*l = out
	return nil
}

// read gives the words as the entry holds them: there with a salt, or removed with a time.
func (in *lineWords) read() (*Words, error) {
	if in == nil {
		return nil, nil
	}
	w := &Words{Links: in.Links}
	var err error
	if w.Hash, err = readHash(in.Hash); err != nil {
		return nil, err
	}
	switch {
	case in.Salt != "" && in.Removed == "":
		if w.Salt, err = hex.DecodeString(in.Salt); err == nil && hex.EncodeToString(w.Salt) != in.Salt {
			err = fmt.Errorf("salt: %q is not lower-case hexadecimal", in.Salt)
		}
	case in.Salt == "" && in.Removed != "":
		w.GoneAt, err = readTime(in.Removed)
	default:
		err = errors.New("either salt or removed")
	}
	return w, err
}

func readTime(s string) (time.Time, error) {
	at, err := time.Parse(TimeForm, s)
	if err != nil || at.Format(TimeForm) != s {
		return at, fmt.Errorf("%q is not of the form %s", s, TimeForm)
	}
	return at, nil
}

func readHash(s string) (h [32]byte, err error) {
	raw, err := hex.DecodeString(s)
	if err != nil {
		return h, err
	}
	if len(raw) != len(h) || hex.EncodeToString(raw) != s {
		return h, fmt.Errorf("%q is not 32 bytes in lower-case hexadecimal", s)
	}
	return [32]byte(raw), nil
}
