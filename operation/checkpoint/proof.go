package checkpoint

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"holdpoint/operation"
)

// proofFormat names the form of a proof file.
const proofFormat = "holdpoint/proof/1"

// Proof shows without any database that entries of one subject are in a signed
// checkpoint. It holds the entries whole: nothing else is needed to check it but the
// verifier key.
type Proof struct {
	Note    []byte // the signed note
	Entries []ProvenEntry
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
}

type provenJSON struct {
	Entry    operation.Line `json:"entry"`
	Position uint64         `json:"position"`
	Path     []string       `json:"path"`
}

// MarshalJSON writes the proof's one form (docs/history-format.md).
func (p Proof) MarshalJSON() ([]byte, error) {
	out := proofJSON{Format: proofFormat, Checkpoint: string(p.Note), Entries: []provenJSON{}}
	for _, e := range p.Entries {
		path := make([]string, len(e.Path))
		for i, h := range e.Path {
			path[i] = hex.EncodeToString(h[:])
		}
		out.Entries = append(out.Entries, provenJSON{e.Line, e.Position, path})
	}
	return json.Marshal(out)
}

// UnmarshalJSON reads a proof; it checks its form only.
func (p *Proof) UnmarshalJSON(raw []byte) error {
	var in proofJSON
	if err := json.Unmarshal(raw, &in); err != nil {
		return err
	}
	if in.Format != proofFormat {
		return fmt.Errorf("format %q is not %q", in.Format, proofFormat)
	}
	out := Proof{Note: []byte(in.Checkpoint)}
	for _, e := range in.Entries {
		path := make([][32]byte, len(e.Path))
		for i, h := range e.Path {
			b, err := hex.DecodeString(h)
			if err != nil || len(b) != 32 {
				return fmt.Errorf("%q is no hash", h)
			}
			path[i] = [32]byte(b)
		}
		out.Entries = append(out.Entries, ProvenEntry{e.Entry, e.Position, path})
	}
	*p = out
	return nil
}

// Check proves it: the note is signed by a known key, the entries are the first ones of
// one subject's chain without a gap, and each is in the checkpoint's tree. It does not
// prove that the subject has no further entries after them.
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
	for _, e := range p.Entries {
		if err := Included(e.Line.Hash, e.Position, c.Size, c.Root, e.Path); err != nil {
			return c, fmt.Errorf("entry %d is not in checkpoint %d: %w", e.Line.Entry.Seq, c.Number, err)
		}
	}
	return c, nil
}
