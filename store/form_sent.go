package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"slices"

	"holdpoint/operation"
)

// A form's key stands for one decision. When its answer was lost, the person may choose
// otherwise on the same page and press again: calmly confirming that would say what did
// not happen. So the key with anything else than at first is a decision on something that
// has changed.

// sentBefore ends a form of an approver whose key was used: errDone where it says what is
// on record and still is this person's last word on the version.
func (u *unit) sentBefore(d Decided) error {
	var same bool
	err := u.get(&same, `SELECT EXISTS (SELECT 1 FROM approvals a WHERE user_id = $1 AND form_id = $2 AND operation_id = $3 AND version_id = $4 AND decision = $5
			AND COALESCE(for_user, '') = $6 AND COALESCE(reason, '') = $7 AND COALESCE(reason_code, '') = $8
			AND NOT EXISTS (SELECT 1 FROM approvals n WHERE n.user_id = a.user_id AND n.version_id = a.version_id AND n.request_id IS NULL AND n.decided_at > a.decided_at))`,
		u.actor.ID, d.FormID, string(d.Operation), string(d.Version), string(d.Decision), string(d.For), d.Reason, d.Preset)
	switch {
	case err != nil:
		return err
	case same: // double click, Back, reload: the same calm answer
		return errDone
	}
	return operation.Refuse(operation.CodeStaleRevision)
}

// formNew is nil for a form that was not sent yet, and errDone for one that was.
func (u *unit) formNew(sh Shown) error {
	var sent [][]byte
	if err := u.list(&sent, `SELECT said FROM forms_used WHERE operation_id = $1 AND user_id = $2 AND form_id = $3`, string(u.op.ID), u.actor.ID, sh.FormID); err != nil {
		return err
	}
	switch {
	case len(sent) == 0:
		return nil
	case sent[0] == nil || bytes.Equal(sent[0], sh.digest()):
		return errDone
	}
	return operation.Refuse(operation.CodeStaleRevision)
}

func (u *unit) rememberForm(sh Shown) error {
	_, err := u.exec(`INSERT INTO forms_used (operation_id, user_id, form_id, at, said) VALUES ($1, $2, $3, $4, $5)`,
		string(u.op.ID), u.actor.ID, sh.FormID, u.now, sh.digest())
	return err
}

// digest is the hash of what a form says, with its files.
func (sh *Shown) digest() []byte {
	var files []string
	sh.Files.each(func(f *Attachment) {
		sum := sha256.Sum256(f.data)
		files = append(files, hexOf(sum[:])+" "+f.name)
	})
	slices.Sort(files) // those of the answers come in no order
	raw, err := json.Marshal([]any{sh.Said, sh.Reason, sh.For, files})
	if err != nil {
		panic(err) // text
	}
	sum := sha256.Sum256(raw)
	return sum[:]
}
