package store

import (
	"slices"
	"time"

	"holdpoint/operation"

	"github.com/lib/pq"
)

// noticeRow is one notice to be recorded.
type noticeRow struct {
	ID         operation.NoticeID   `json:"id"`
	Kind       operation.NoticeKind `json:"kind"`
	Subject    string               `json:"subject"`
	Flow       string               `json:"flow"`
	Title      string               `json:"title"`
	Decision   string               `json:"decision"`
	Since      time.Time            `json:"since"`
	Revision   int64                `json:"revision"`
	Step       int                  `json:"step"`
	Addressee  string               `json:"addressee"`
	User       *operation.UserID    `json:"user"`
	Channel    string               `json:"channel"`
	Bundle     string               `json:"bundle"`
	PlannedFor time.Time            `json:"planned_for"`
}

// toldNotice is a notice with everybody whom it concerns, before it is known who wants
// it and how.
type toldNotice struct {
	row  noticeRow
	flow *flowPeople // nil = of no flow
	who  []operation.UserID
}

func (p *noticePass) add(n noticeRow, f *flowPeople, who []operation.UserID) {
	p.told = append(p.told, toldNotice{n, f, who})
}

// writeNotices records the notices of a look: for each person as they want them, for each
// place of the flow at once.
func (p *noticePass) writeNotices() error {
	var everybody []operation.UserID
	for _, t := range p.told {
		everybody = append(everybody, t.who...)
	}
	slices.Sort(everybody)
	if len(everybody) > 0 {
		if err := p.readPeople(slices.Compact(everybody)); err != nil {
			return err
		}
	}
	var rows []noticeRow
	for _, t := range p.told {
		for _, id := range t.who {
			rows = append(rows, p.forPerson(t.row, id)...)
		}
		rows = append(rows, p.forPlaces(t)...)
	}
	if err := p.gatherStorms(rows); err != nil {
		return err
	}
	if err := p.insertNotices(rows); err != nil {
		return err
	}
	if err := p.writeDecided(); err != nil {
		return err
	}
	return p.wakeNotices(p.jobs)
}

// forPerson gives a notice as one person wants it: none, one for each of their channels,
// at once, after the quiet hours, or in the daily digest. An alert waits for nothing, nor
// does a contradiction.
func (p *noticePass) forPerson(n noticeRow, id operation.UserID) []noticeRow {
	who := p.people[id]
	if who == nil {
		return nil
	}
	n.Addressee, n.User, n.PlannedFor = string(id), &id, p.now
	switch who.mode(n.Kind) {
	case operation.NoticeOff:
		return nil
	case operation.NoticeInDaily:
		n.Bundle, n.PlannedFor = bundleDaily, operation.NextClock(who.DigestAt, p.now, who.zone)
		if n.Kind == operation.NoticeDigest {
			n.PlannedFor = n.Since // its time has come
		}
	default:
		if end, quiet := who.quiet().Until(p.now, who.zone); quiet && n.Kind != operation.NoticeAlert && n.Kind != operation.NoticeContradiction {
			n.Bundle, n.PlannedFor = bundleQuiet, end
		}
	}
	var out []noticeRow
	for _, c := range p.channels.of(who) {
		n.Channel = c
		out = append(out, n)
	}
	return out
}

// forPlaces gives a notice for the chat places of its flow. A reminder and an escalation
// are between the product and a person.
func (p *noticePass) forPlaces(t toldNotice) []noticeRow {
	if t.flow == nil || t.row.Step == operation.StepRemind || t.row.Step == operation.StepEscalate {
		return nil
	}
	var out []noticeRow
	for _, place := range t.flow.flow.Notify.Places {
		if place.Takes(t.row.Kind) {
			n := t.row
			n.Addressee, n.Channel, n.PlannedFor = place.Name(), place.Kind, p.now
			out = append(out, n)
		}
	}
	return out
}

// stormKey is what is counted together.
type stormKey struct {
	Addressee string               `db:"addressee"`
	Channel   string               `db:"channel"`
	Kind      operation.NoticeKind `db:"kind"`
}

// gatherStorms makes one summary of what would be too many messages of one kind for one
// addressee within a minute. It waits for what comes in the same minute.
func (p *noticePass) gatherStorms(rows []noticeRow) error {
	count := map[stormKey]int{}
	var addressees []string
	for _, n := range rows {
		if n.Bundle == "" {
			count[stormKey{n.Addressee, n.Channel, n.Kind}]++
			addressees = append(addressees, n.Addressee)
		}
	}
	if len(addressees) == 0 {
		return nil
	}
	slices.Sort(addressees)
	var recent []struct {
		stormKey
		N int `db:"n"`
	}
	if err := p.list(&recent, `SELECT addressee, channel, kind, count(*) AS n FROM notices WHERE created_at > $1 AND addressee = ANY($2) AND bundle NOT IN ('digest', 'quiet') GROUP BY 1, 2, 3`,
		p.now.Add(-stormTime), pq.Array(slices.Compact(addressees))); err != nil {
		return err
	}
	for _, r := range recent {
		if _, ok := count[r.stormKey]; ok {
			count[r.stormKey] += r.N
		}
	}
	for i := range rows {
		n := &rows[i]
		if n.Bundle == "" && n.Kind != operation.NoticeContradiction && count[stormKey{n.Addressee, n.Channel, n.Kind}] > stormSize {
			n.Bundle, n.PlannedFor = bundleStorm+" "+string(n.Kind), p.now.Add(stormTime)
		}
	}
	return nil
}

const insertNoticesSQL = `INSERT INTO notices (id, kind, subject, flow, title, decision, since, revision, step, addressee, user_id, channel, bundle, planned_for, created_at)
	SELECT x.id, x.kind, x.subject, x.flow, x.title, x.decision, x.since, x.revision, x.step, x.addressee, x."user", x.channel, x.bundle, x.planned_for, $2
	FROM jsonb_to_recordset(CAST($1 AS jsonb)) AS x(id text, kind text, subject text, flow text, title text, decision text, since timestamptz, revision bigint, step int,
	addressee text, "user" text, channel text, bundle text, planned_for timestamptz) ON CONFLICT ON CONSTRAINT notices_once DO NOTHING RETURNING id`

// insertNotices records what is not recorded yet, with one job for each notice that goes
// alone and one for each bundle.
func (p *noticePass) insertNotices(rows []noticeRow) error {
	if len(rows) == 0 {
		return nil
	}
	for i := range rows {
		rows[i].ID = operation.NoticeID(newID("ntc"))
	}
	js, err := jsonText(rows)
	if err != nil {
		return err
	}
	var new []operation.NoticeID
	if err := p.list(&new, insertNoticesSQL, js, p.now); err != nil {
		return err
	}
	p.planned += len(new)
	type bundle struct {
		addressee, channel, name string
		at                       time.Time
	}
	woken := map[bundle]bool{}
	for _, n := range rows {
		b := bundle{n.Addressee, n.Channel, n.Bundle, n.PlannedFor}
		if !slices.Contains(new, n.ID) || n.Bundle != "" && woken[b] {
			continue
		}
		woken[b] = true
		p.jobs = append(p.jobs, noticeWake(n.ID, 0, n.Channel, wakeAt(n.PlannedFor, p.now)))
	}
	return nil
}

func (p *noticePass) writeDecided() error {
	if len(p.decided) == 0 {
		return nil
	}
	js, err := jsonText(p.decided)
	if err != nil {
		return err
	}
	_, err = p.exec(`INSERT INTO notice_decisions (operation_id, kind, since, step, step_at)
		SELECT x.id, x.kind, x.since, x.step, x.at FROM jsonb_to_recordset(CAST($1 AS jsonb)) AS x(id text, kind text, since timestamptz, step int, at timestamptz)
		ON CONFLICT (operation_id) DO UPDATE SET kind = EXCLUDED.kind, since = EXCLUDED.since, step = EXCLUDED.step, step_at = EXCLUDED.step_at`, js)
	return err
}
