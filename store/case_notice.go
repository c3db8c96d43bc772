package store

import "holdpoint/operation"

// planCaseTaken tells whoever had a case in hand that somebody took it over. Whoever took
// one that nobody had took it from nobody.
func (p *noticePass) planCaseTaken(fact noticeFact) error {
	var row struct {
		Flow     string `db:"flow"`
		Title    string `db:"title"`
		Revision int64  `db:"revision"`
		Links    string `db:"links"`
	}
	if err := p.get(&row, `SELECT o.flow, o.title, o.revision, h.links FROM operations o JOIN history h ON h.subject_kind = 'operation' AND h.subject_id = o.id
		WHERE o.id = $1 AND h.at = $2 AND h.action = 'take_case' ORDER BY h.seq DESC LIMIT 1`, fact.subject, fact.at); err != nil {
		return err
	}
	from := operation.UserID(decodeLinks(row.Links)["from_person"])
	if from == "" || string(from) == fact.actor {
		return nil
	}
	p.add(noticeRow{Kind: operation.NoticeCaseTaken, Subject: fact.subject, Flow: row.Flow, Title: row.Title, Since: fact.at, Revision: row.Revision}, nil, []operation.UserID{from})
	return nil
}
