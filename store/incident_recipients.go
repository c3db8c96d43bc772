package store

import (
	"crypto/sha256"
	"encoding/json"

	"holdpoint/operation"
	"holdpoint/operation/definition"

	"github.com/lib/pq"
)

// readRecipients counts whom the operations' newest versions reach, each once, as far as
// the profiles they were made with name them. Bodies are read one after the other.
func (t *tx) readRecipients(in *Incident) error {
	ids := make([]string, len(in.Operations))
	for i, o := range in.Operations {
		ids[i] = string(o.ID)
	}
	type kind struct {
		Destination string `db:"destination"`
		Version     int    `db:"destination_version"`
		Action      string `db:"action"`
	}
	var kinds []kind
	if err := t.list(&kinds, `SELECT DISTINCT o.destination, v.destination_version, o.action FROM operations o JOIN content_versions v ON v.id = o.version_id WHERE o.id = ANY($1)`, pq.Array(ids)); err != nil {
		return err
	}
	actions := map[kind]*definition.Action{}
	for _, k := range kinds {
		p, err := t.s.profileVersion(t.ctx, t.Tx, k.Destination, k.Version)
		if err != nil {
			return err
		}
		actions[k], _ = p.Action(k.Action)
	}
	rows, err := t.QueryxContext(t.ctx, `SELECT o.destination, COALESCE(v.destination_version, 0) AS destination_version, o.action, COALESCE(b.content, '') AS content,
		CASE WHEN b.request LIKE '{"kind":"smtp"%' THEN b.request ELSE '' END AS request FROM operations o LEFT JOIN content_versions v ON v.id = o.version_id
		LEFT JOIN version_bodies b ON b.version_id = v.id WHERE o.id = ANY($1)`, pq.Array(ids))
	if err != nil {
		return err
	}
	defer rows.Close()
	people := map[[32]byte]bool{}
	for rows.Next() {
		var r struct {
			kind
			Content string  `db:"content"`
			Request *string `db:"request"`
		}
		if err := rows.StructScan(&r); err != nil {
			return err
		}
		a := actions[r.kind]
		switch {
		case r.Content == "":
			in.Scope.RecipientsNotStored++
			continue
		case a == nil || !a.NamesRecipients():
			in.Scope.RecipientsNotNamed++
			continue
		}
		var req operation.Request
		if r.Request != nil && *r.Request != "" {
			if err := json.Unmarshal([]byte(*r.Request), &req); err != nil {
				return err
			}
		}
		in.Scope.RecipientsNamed++
		for _, who := range a.Recipients(json.RawMessage(r.Content), req) {
			people[sha256.Sum256([]byte(who))] = true
		}
	}
	in.Scope.Recipients = len(people)
	return rows.Err()
}
