package checkpoint

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"holdpoint/operation"
)

// The forms of a proof file. The second has removals.
const (
	proofFormat        = "holdpoint/proof/1"
	proofFormatRemoved = "holdpoint/proof/2"
)

// Proof shows without any database that entries of one subject are in a signed
// checkpoint. It holds the entries whole: nothing else is needed to check it but the
// verifier key.
type Proof struct {
	Note    []byte // the signed note
	Entries []ProvenEntry
	// Removals are the entries of the system's history that record why words of the entries
	// are gone; none where all have theirs.
	Removals []ProvenEntry
}

// Thinned is how many of the entries have lost their words under a term.
func (p Proof) Thinned() (n int) {
	for _, e := range p.Entries {
		if e.Line.Entry.Words.Gone() {
			n++
		}
	}
	return n
}

// ProvenEntry is one entry with its place and the hashes that lead to the root.
type ProvenEntry struct {
	Line     operation.Line
	Position uint64
	Path     [][32]byte
}

type proofJSON struct {
	Format     string       `json:"format"`
	Checkpoint string       `json:"checkpoint"`
	Entries    []provenJSON `json:"entries"`
	Removals   []provenJSON `json:"removals,omitempty"`
}

type provenJSON struct {
	Entry    operation.Line `json:"entry"`
	Position uint64         `json:"position"`
	Path     []string       `json:"path"`
}

// MarshalJSON writes the proof's one form (docs/history-format.md).
func (p Proof) MarshalJSON() ([]byte, error) {
	out := proofJSON{Format: proofFormat, Checkpoint: string(p.Note), Entries: writeProven(p.Entries), Removals: writeProven(p.Removals)}
	if len(p.Removals) > 0 {
		out.Format = proofFormatRemoved
	}
	return json.Marshal(out)
}

func writeProven(entries []ProvenEntry) []provenJSON {
	out := []provenJSON{}
	for _, e := range entries {
		path := make([]string, len(e.Path))
		for i, h := range e.Path {
			path[i] = hex.EncodeToString(h[:])
		}
		out = append(out, provenJSON{e.Line, e.Position, path})
	}
	return out
}

// UnmarshalJSON reads a proof; it checks its form only.
func (p *Proof) UnmarshalJSON(raw []byte) error {
	var in proofJSON
	if err := json.Unmarshal(raw, &in); err != nil {
		return err
	}
	if in.Format != proofFormat && in.Format != proofFormatRemoved || (in.Format == proofFormat) != (len(in.Removals) == 0) {
		return fmt.Errorf("format %q is neither %q nor, with removals, %q", in.Format, proofFormat, proofFormatRemoved)
	}
	out := Proof{Note: []byte(in.Checkpoint)}
	var err error
	if out.Entries, err = readProven(in.Entries); err != nil {
		return err
	}
	if out.Removals, err = readProven(in.Removals); err != nil {
		return err
	}
	*p = out
	return nil
}

func readProven(entries []provenJSON) (out []ProvenEntry, err error) {
	for _, e := range entries {
		path := make([][32]byte, len(e.Path))
		for i, h := range e.Path {
			b, err := hex.DecodeString(h)
			if err != nil || len(b) != 32 {
				return nil, fmt.Errorf("%q is no hash", h)
			}
			path[i] = [32]byte(b)
		}
		out = append(out, ProvenEntry{e.Entry, e.Position, path})
	}
	return out, nil
}

// Check proves it: the note is signed by a known key, the entries are the first ones of
// one subject's chain without a gap, each is in the checkpoint's tree, and where words are
// gone an entry of the same tree records it. It does not prove that the subject has no
// further entries after them.
func (p Proof) Check(known *Keys) (Checkpoint, error) {
	c, err := Open(p.Note, known)
	if err != nil {
		return c, err
	}
	if len(p.Entries) == 0 {
		return c, errors.New("the proof holds no entry")
	}
	entries, hashes := make([]operation.Entry, len(p.Entries)), make([][32]byte, len(p.Entries))
	for i, e := range p.Entries {
		entries[i], hashes[i] = e.Line.Entry, e.Line.Hash
	}
	if at := operation.FirstBreak(entries, hashes); at >= 0 {
		return c, fmt.Errorf("entry %d of %s %s does not follow from the one before it, or is not what its hash says", entries[at].Seq, entries[at].SubjectKind, entries[at].SubjectID)
	}
	for _, e := range p.Removals {
		if err := e.Line.Entry.Check(e.Line.Hash); err != nil {
			return c, fmt.Errorf("the entry that records a removal: %w", err)
		}
	}
	for _, e := range slices.Concat(p.Entries, p.Removals) {
		if err := Included(e.Line.Hash, e.Position, c.Size, c.Root, e.Path); err != nil {
			return c, fmt.Errorf("entry %d is not in checkpoint %d: %w", e.Line.Entry.Seq, c.Number, err)
		}
	}
	return c, p.removed()
}
