package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"time"

	"holdpoint/operation"
)

// BodyRow is what is kept of one body that can be erased, with the hash that stays.
type BodyRow struct {
	Kind      string    `db:"kind"` // version, request, attachment or evidence
	ID        string    `db:"id"`
	Operation string    `db:"operation_id"`
	State     string    `db:"state"` // of the operation
	Hash      []byte    `db:"hash"`
	Erased    bool      `db:"erased"`
	Recorded  bool      `db:"recorded"` // the operation's history tells of an erasure of its kind
	At        time.Time `db:"at"`

	Content     string `db:"content"`
	Request     string `db:"request"`
	Salt        []byte `db:"salt"`
	Destination string `db:"destination"`
	Action      string `db:"action"`
	Account     string `db:"account"`
	Environment string `db:"environment"`
	Credential  string `db:"credential"`
	Data        []byte `db:"data"`
}

// bodySQL reads the kinds of body: versions, the bytes that attempts sent, attachments, what evidence says.
var bodySQL = []string{
	`SELECT 'version' AS kind, v.id, v.operation_id, o.state, v.hash, b.version_id IS NULL OR b.content = '' AS erased, EXISTS (SELECT 1 FROM history h WHERE h.subject_kind = 'operation' AND h.subject_id = v.operation_id AND h.action = 'erase_contents') AS recorded,
		v.created_at AS at, COALESCE(b.content, '') AS content,
		COALESCE(b.request, '') AS request, b.salt, o.destination, o.action, v.account, v.environment, v.credential, CAST(NULL AS bytea) AS data
		FROM content_versions v JOIN operations o ON o.id = v.operation_id LEFT JOIN version_bodies b ON b.version_id = v.id WHERE v.hash IS NOT NULL ORDER BY v.id`,
	`SELECT 'request' AS kind, a.id, a.operation_id, o.state, a.resolved_hash AS hash, a.resolved IS NULL AS erased, EXISTS (SELECT 1 FROM history h WHERE h.subject_kind = 'operation' AND h.subject_id = a.operation_id AND h.action = 'erase_contents') AS recorded,
		a.dispatched_at AS at, '' AS content,
		COALESCE(a.resolved, '') AS request, CAST(NULL AS bytea) AS salt, '' AS destination, '' AS action, '' AS account, '' AS environment, '' AS credential, CAST(NULL AS bytea) AS data
		FROM attempts a JOIN operations o ON o.id = a.operation_id WHERE a.dispatched_at IS NOT NULL ORDER BY a.id`,
	`SELECT 'attachment' AS kind, a.id, a.operation_id, o.state, a.hash, b.attachment_id IS NULL AS erased, EXISTS (SELECT 1 FROM history h WHERE h.subject_kind = 'operation' AND h.subject_id = a.operation_id AND h.action = 'erase_attachments') AS recorded,
		a.at, '' AS content,
		'' AS request, CAST(NULL AS bytea) AS salt, '' AS destination, '' AS action, '' AS account, '' AS environment, '' AS credential, b.data
		FROM attachments a JOIN operations o ON o.id = a.operation_id LEFT JOIN attachment_bodies b ON b.attachment_id = a.id ORDER BY a.id`,
	`SELECT 'evidence' AS kind, v.id, v.operation_id, o.state, v.hash, v.body = '' AND v.hash <> sha256('') AS erased, EXISTS (SELECT 1 FROM history h WHERE h.subject_kind = 'operation' AND h.subject_id = v.operation_id AND h.action = 'erase_evidence') AS recorded,
		v.at, '' AS content, '' AS request, CAST(NULL AS bytea) AS salt, '' AS destination, '' AS action, '' AS account, '' AS environment, '' AS credential, convert_to(v.body, 'UTF8') AS data
		FROM evidence v JOIN operations o ON o.id = v.operation_id ORDER BY v.id`,
}

// Bodies gives everything that an approval or a statement rests on and that can be
// erased: versions with content and request, bytes that were sent, attachments, evidence.
func (r *Record) Bodies(yield func(BodyRow) error) error {
	for _, q := range bodySQL {
		if err := each(r, q, yield); err != nil {
			return err
		}
	}
	return nil
}

// Check reports whether the body is the one whose hash was recorded. What cannot be read
// as one is not.
func (b BodyRow) Check() (bool, error) {
	switch b.Kind {
	case "attachment", "evidence":
		h := sha256.Sum256(b.Data)
		return bytes.Equal(h[:], b.Hash), nil
	case "request":
		var req operation.Request
		if err := json.Unmarshal([]byte(b.Request), &req); err != nil {
			return false, nil
		}
		h, err := req.Hash()
		return err == nil && bytes.Equal(h[:], b.Hash), nil
	case "version":
		v := operation.Version{Content: json.RawMessage(b.Content), Destination: b.Destination, Action: b.Action, Account: b.Account, Environment: b.Environment, Credential: b.Credential}
		if err := json.Unmarshal([]byte(b.Request), &v.Request); err != nil {
			return false, nil
		}
		h, err := v.Hash(b.Salt)
		return err == nil && bytes.Equal(h[:], b.Hash), nil
	}
	return false, fmt.Errorf("unknown kind of body %q", b.Kind)
}
