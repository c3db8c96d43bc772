package store

import (
	"context"
	"encoding/hex"
	"fmt"
	"strconv"
	"time"

	"holdpoint/operation"

	"github.com/jmoiron/sqlx"
)

// Attached are the files of one form: those of the statement, and those of the
// checklist's answers.
type Attached struct {
	Evidence []Attachment
	Answers  map[operation.ChecklistItem][]Attachment
}

// each calls fn with every file, so that it can be changed in place.
func (a *Attached) each(fn func(*Attachment)) {
	for i := range a.Evidence {
		fn(&a.Evidence[i])
	}
	for _, list := range a.Answers {
		for i := range list {
			fn(&list[i])
		}
	}
}

// named gives the files their IDs, and refuses more than one form may bring.
func (a *Attached) named() error {
	n, size := 0, 0
	a.each(func(f *Attachment) {
		f.id = newID("atc")
		n++
		size += len(f.data)
	})
	switch {
	case n > FilesMax:
		return &Invalid{Field: "files", Code: "files_many", Limit: FilesMax}
	case size > FilesLimit:
		return &Invalid{Field: "files", Code: "files_large", Limit: FilesLimit >> 20}
	}
	return nil
}

// stage writes the bytes. It comes before the locks, so that nobody waits for the
// transport of a picture; the facts follow under them, in the same transaction.
func (a *Attached) stage(t *tx) (err error) {
	a.each(func(f *Attachment) {
		if err == nil {
			_, err = t.exec(`INSERT INTO attachment_bodies (attachment_id, name, data) VALUES ($1, $2, $3)`, f.id, f.name, f.data)
		}
	})
	return err
}

// attach writes the facts of files that belong to a statement or to an answer, with an
// entry for each.
func (u *unit) attach(files []Attachment, evidence string, item operation.ChecklistItem) error {
	var round any
	if item != "" {
		round = u.op.CaseRound
	}
	for _, f := range files {
		u.placed++
		if _, err := u.exec(`INSERT INTO attachments (id, operation_id, evidence_id, round, item, place, kind, size, width, height, hash, given_by, at)
			VALUES ($1, $2, NULLIF($3, ''), $4, NULLIF($5, ''), $6, $7, $8, $9, $10, $11, $12, $13)`, f.id, string(u.op.ID), evidence, round, string(item),
			u.placed, f.kind, len(f.data), f.width, f.height, f.hash[:], u.actor.ID, u.now); err != nil {
			return err
		}
		u.note(u.op, "attachment", "", "attachment", f.id, "kind", f.kind, "size", strconv.Itoa(len(f.data)), "evidence", evidence, "item", string(item),
			"evidence_hash", hex.EncodeToString(f.hash[:]))
	}
	return nil
}

// attachEvidence attaches the form's files to its statement: to the first, where it
// makes several.
func (u *unit) attachEvidence(evidence string) error {
	files := u.files.Evidence
	u.files.Evidence = nil
	return u.attach(files, evidence, "")
}

// attachAnswer attaches the files of one answer.
func (u *unit) attachAnswer(item operation.ChecklistItem) error {
	files := u.files.Answers[item]
	if len(files) == 0 {
		return nil
	}
	rest := map[operation.ChecklistItem][]Attachment{}
	for k, v := range u.files.Answers {
		if k != item {
			rest[k] = v
		}
	}
	u.files.Answers = rest
	return u.attach(files, "", item)
}

// allAttached makes sure that nothing of a form is dropped in silence.
func (u *unit) allAttached() error {
	n := 0
	u.files.each(func(*Attachment) { n++ })
	if n > 0 {
		return fmt.Errorf("%d files belong to nothing that was recorded", n)
	}
	return nil
}

// AttachmentRow are the facts of one attachment. An erased one has no name.
type AttachmentRow struct {
	ID       operation.AttachmentID  `db:"id"`
	Evidence operation.EvidenceID    `db:"evidence_id"` // "" = of an answer
	Round    int                     `db:"round"`
	Item     operation.ChecklistItem `db:"item"` // "" = of a statement
	Name     string                  `db:"name"` // as the person's file was called
	Kind     string                  `db:"kind"` // media type
	Size     int                     `db:"size"` // bytes
	Width    int                     `db:"width"`
	Height   int                     `db:"height"`
	Hash     []byte                  `db:"hash"` // SHA-256
	By       operation.UserID        `db:"given_by"`
	At       time.Time               `db:"at"`
	Erased   bool                    `db:"erased"`
	Flow     string                  `db:"flow"` // of its operation; read with the file only
}

const attachmentColumns = `a.id, COALESCE(a.evidence_id, '') AS evidence_id, COALESCE(a.round, 0) AS round, COALESCE(a.item, '') AS item,
	COALESCE(b.name, '') AS name, a.kind, a.size, a.width, a.height, a.hash, a.given_by, a.at, b.attachment_id IS NULL AS erased`

func (p *OperationPage) readAttachments(u *unit) error {
	return u.list(&p.Attachments, `SELECT `+attachmentColumns+` FROM attachments a LEFT JOIN attachment_bodies b ON b.attachment_id = a.id
		WHERE a.operation_id = $1 ORDER BY a.at, a.place, a.id`, string(p.ID))
}

// FindAttachment gives the facts and the bytes of one attachment. ErrNotFound = there is
// none, it was erased, or the viewer has no role for its operation (FC-48).
func (s *Store) FindAttachment(ctx context.Context, viewer Actor, op operation.ID, id operation.AttachmentID) (AttachmentRow, []byte, error) {
	v, err := s.FindViewer(ctx, viewer)
	if err != nil {
		return AttachmentRow{}, nil, err
	}
	var row struct {
		AttachmentRow
		Data        []byte `db:"data"`
		Destination string `db:"destination"`
	}
	err = s.read(ctx, func(q *sqlx.DB) error {
		return q.GetContext(ctx, &row, `SELECT `+attachmentColumns+`, b.data, o.flow, o.destination FROM attachments a JOIN attachment_bodies b ON b.attachment_id = a.id
			JOIN operations o ON o.id = a.operation_id WHERE a.operation_id = $1 AND a.id = $2`, string(op), string(id))
	})
	if err == nil && !v.Sees(row.Flow, row.Destination) {
		err = ErrNotFound
	}
	if err != nil {
		return AttachmentRow{}, nil, err
	}
	return row.AttachmentRow, row.Data, nil
}
