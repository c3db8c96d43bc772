package store

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"holdpoint/operation"

	"github.com/lib/pq"
)

// About names what a timeline is about.
type About string

// What has a timeline.
const (
	AboutOperation About = "operation"
	AboutRun       About = "run"
	AboutIncident  About = "incident"
	AboutPerson    About = "person"
)

// Happening is one thing of a timeline: exactly one of its parts is set.
type Happening struct {
	At       time.Time
	Entry    *FoundEntry  // of the history
	Event    *EventRow    // a fact that came in
	Delivery *DeliveryRow // one receipt of it
	Notice   *ToldRow     // what somebody was told
	order    string       // among those of one moment
}

// ToldRow is one notice of a timeline.
type ToldRow struct {
	ID        string           `db:"id"`
	Kind      string           `db:"kind"`
	Subject   string           `db:"subject"`
	Title     string           `db:"title"`
	Addressee string           `db:"addressee"` // a person, or a place of the flow
	User      operation.UserID `db:"user_id"`
	Channel   string           `db:"channel"`
	State     string           `db:"state"`
	At        time.Time        `db:"at"` // when it was sent, or planned
}

// Timeline is one page of everything that concerns one thing, newest first.
type Timeline struct {
	Title string // of what it is about; "" = it has none
	Rows  []Happening
	Next  string // cursor, "" = none
}

// timelineShown is how many things a page of a timeline has, timelineSubjects how many
// operations of a run or an incident it follows, sameMoment how many things of one
// source may have one moment.
const (
	timelineShown    = 100
	timelineSubjects = 1000
	sameMoment       = 200
)

// FindTimeline gives a page of everything that concerns an operation, a run, an incident
// or a person, in one order. ErrNotFound = it is not there, or the viewer may not see it.
func (s *Store) FindTimeline(ctx context.Context, viewer Actor, about About, id, at string) (*Timeline, error) {
	v, err := s.FindViewer(ctx, viewer)
	if err != nil {
		return nil, err
	}
	c, ok := decodeCursor(at)
	if !ok {
		c = cursor{At: time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)}
	}
	out := &Timeline{}
	err = s.snapshot(ctx, func(t *tx) error {
		tl := &timeline{tx: t, v: v, to: storedTime(c.At)}
		if err := tl.find(about, id); err != nil {
			return err
		}
		out.Title = tl.title
		return tl.page(out, c)
	})
	return out, err
}

// timeline collects what concerns one thing, up to a moment.
type timeline struct {
	*tx
	v      Viewer
	to     time.Time
	title  string
	kinds  []string // of the subjects whose histories belong to it
	ids    []string // of the subjects
	ops    []string // operations among them
	runs   []string // whose events belong to it
	person string   // whose acts belong to it
	rows   []Happening
}

func (t *timeline) subject(kind operation.SubjectKind, ids ...string) {
	for _, id := range ids {
		t.kinds, t.ids = append(t.kinds, string(kind)), append(t.ids, id)
	}
	if kind == operation.SubjectOperation {
		t.ops = append(t.ops, ids...)
	}
}

// find reads what belongs to the timeline.
func (t *timeline) find(about About, id string) error {
	switch about {
	case AboutOperation:
		return t.ofOperation(id)
	case AboutRun:
		return t.ofRun(id)
	case AboutIncident:
		return t.ofIncident(id)
	case AboutPerson:
		return t.ofPerson(id)
	}
	return ErrNotFound
}

// seenOperation is an operation that a timeline follows.
type seenOperation struct {
	ID          string `db:"id"`
	Run         string `db:"run_id"`
	Flow        string `db:"flow"`
	Destination string `db:"destination"`
	Title       string `db:"title"`
}

func (t *timeline) ofOperation(id string) error {
	var o seenOperation
	if err := t.get(&o, `SELECT id, run_id, flow, destination, title FROM operations WHERE id = $1`, id); err != nil {
		return err
	}
	if !t.v.Sees(o.Flow, o.Destination) {
		return ErrNotFound
	}
	t.title, t.runs = o.Title, []string{o.Run}
	t.subject(operation.SubjectOperation, o.ID)
	t.subject(operation.SubjectRun, o.Run)
	return t.incidentsOf()
}

func (t *timeline) ofRun(id string) error {
	var r struct {
		Flow  string `db:"flow"`
		Label string `db:"label"`
	}
	if err := t.get(&r, `SELECT flow, label FROM runs WHERE id = $1`, id); err != nil {
		return err
	}
	if !t.v.Sees(r.Flow, "") && !t.v.Token {
		return ErrNotFound
	}
	t.title, t.runs = r.Label, []string{id}
	t.subject(operation.SubjectRun, id)
	return t.follow(`SELECT id, run_id, flow, destination, title FROM operations WHERE run_id = $1 ORDER BY id LIMIT $2`, id)
}

func (t *timeline) ofIncident(id string) error {
	in, err := t.loadIncident(operation.IncidentID(id))
	if err != nil {
		return err
	}
	if !in.seenBy(t.v) {
		return ErrNotFound
	}
	t.title = in.Title
	t.subject(operation.SubjectIncident, id)
	if err := t.tasksOf(id); err != nil {
		return err
	}
	return t.follow(`SELECT o.id, o.run_id, o.flow, o.destination, o.title FROM incident_operations i JOIN operations o ON o.id = i.operation_id
		WHERE i.incident_id = $1 ORDER BY o.id LIMIT $2`, id)
}

func (t *timeline) ofPerson(id string) error {
	if !t.v.seesPeople() && id != string(t.v.Person.ID) {
		return ErrNotFound
	}
	if err := t.get(&t.title, `SELECT name FROM users WHERE id = $1`, id); err != nil {
		return err
	}
	t.person = id
	t.subject(operation.SubjectUser, id)
	return nil
}

// follow adds operations that the viewer may see.
func (t *timeline) follow(q, id string) error {
	var ops []seenOperation
	if err := t.list(&ops, q, id, timelineSubjects); err != nil {
		return err
	}
	for _, o := range ops {
		if t.v.Sees(o.Flow, o.Destination) {
			t.subject(operation.SubjectOperation, o.ID)
		}
	}
	return t.incidentsOf()
}

// incidentsOf adds the incidents that the operations belong to.
func (t *timeline) incidentsOf() error {
	var ids []string
	if err := t.list(&ids, `SELECT DISTINCT incident_id FROM incident_operations WHERE operation_id = ANY($1) ORDER BY 1 LIMIT $2`, pq.Array(t.ops), timelineSubjects); err != nil {
		return err
	}
	for _, id := range ids {
		if slices.Contains(t.ids, id) {
			continue
		}
		in, err := t.loadIncident(operation.IncidentID(id))
		if err != nil {
			return err
		}
		if in.seenBy(t.v) {
			t.subject(operation.SubjectIncident, id)
		}
	}
	return nil
}

func (t *timeline) tasksOf(incident string) error {
	var ids []string
	err := t.list(&ids, `SELECT id FROM improvement_tasks WHERE incident_id = $1 ORDER BY id LIMIT $2`, incident, timelineSubjects)
	t.subject(operation.SubjectTask, ids...)
	return err
}

// page collects, orders and cuts.
func (t *timeline) page(out *Timeline, c cursor) error {
	for _, collect := range []func() error{t.entries, t.acts, t.looks, t.events, t.deliveries, t.notices} {
		if err := collect(); err != nil {
			return err
		}
	}
	rows := slices.DeleteFunc(t.rows, func(h Happening) bool {
		return h.At.Equal(c.At) && c.ID != "" && h.order >= string(c.ID)
	})
	slices.SortFunc(rows, func(a, b Happening) int {
		if d := b.At.Compare(a.At); d != 0 {
			return d
		}
		return strings.Compare(b.order, a.order)
	})
	rows = slices.CompactFunc(rows, func(a, b Happening) bool { return a.order == b.order })
	if len(rows) > timelineShown {
		rows = rows[:timelineShown]
		last := rows[len(rows)-1]
		out.Next = cursor{At: last.At, ID: operation.ID(last.order)}.encode()
	}
	out.Rows = rows
	return t.name(rows)
}

// name names the subjects of what is shown.
func (t *timeline) name(rows []Happening) error {
	var entries []FoundEntry
	for _, r := range rows {
		if r.Entry != nil {
			entries = append(entries, *r.Entry)
		}
	}
	if err := t.label(entries); err != nil {
		return err
	}
	for i := range rows {
		if rows[i].Entry != nil {
			rows[i].Entry, entries = &entries[0], entries[1:]
		}
	}
	return nil
}

func (t *timeline) add(entries []FoundEntry) {
	for i := range entries {
		e := &entries[i]
		t.rows = append(t.rows, Happening{At: e.At, Entry: e, order: fmt.Sprintf("3 %020d", e.ID)})
	}
}

const happeningsLimit = timelineShown + sameMoment

// entries are those of the subjects' own histories.
func (t *timeline) entries() error {
	var rows []FoundEntry
	err := t.list(&rows, `SELECT h.id, h.flow, h.destination, `+aliased+` FROM unnest(CAST($1 AS text[]), CAST($2 AS text[])) AS s(kind, id) CROSS JOIN LATERAL (
		SELECT h.* FROM history h WHERE h.subject_kind = s.kind AND h.subject_id = s.id AND h.at <= $3 ORDER BY h.seq DESC LIMIT $4) h
		ORDER BY h.at DESC, h.id DESC LIMIT 20000`, pq.Array(t.kinds), pq.Array(t.ids), t.to, happeningsLimit)
	t.add(rows)
	return err
}

// acts are what the person did with anything.
func (t *timeline) acts() error {
	if t.person == "" {
		return nil
	}
	q := HistoryFilter{Actor: t.person, To: t.to.Add(time.Microsecond), Limit: happeningsLimit}.page(t.v)
	var rows []FoundEntry
	err := t.list(&rows, q.sql, q.args...)
	t.add(rows)
	return err
}

// looks are what people looked at and tried, which stands in their own histories.
func (t *timeline) looks() error {
	if len(t.ops) == 0 || !t.v.seesPeople() {
		return nil
	}
	var rows []FoundEntry
	err := t.list(&rows, `SELECT h.id, h.flow, h.destination, `+aliased+` FROM unnest(CAST($1 AS text[])) AS s(id) CROSS JOIN LATERAL (
		SELECT h.* FROM history h WHERE h.subject_kind = 'user' AND CAST(h.links AS jsonb) ->> 'operation' = s.id AND h.at <= $2 ORDER BY h.at DESC, h.id DESC LIMIT $3) h
		ORDER BY h.at DESC, h.id DESC LIMIT $3`, pq.Array(t.ops), t.to, happeningsLimit)
	t.add(rows)
	return err
}

func (t *timeline) events() error {
	var rows []EventRow
	err := t.list(&rows, `SELECT DISTINCT e.id, e.source, e.account, e.topic, e.event_key, e.event_time, e.received_at FROM event_runs r JOIN events e ON e.id = r.event_id
		WHERE r.run_id = ANY($1) AND e.received_at <= $2 ORDER BY e.received_at DESC, e.id DESC LIMIT $3`, pq.Array(t.runs), t.to, happeningsLimit)
	for i := range rows {
		t.rows = append(t.rows, Happening{At: rows[i].ReceivedAt, Event: &rows[i], order: "1 " + string(rows[i].ID)})
	}
	return err
}

func (t *timeline) deliveries() error {
	var rows []DeliveryRow
	err := t.list(&rows, `SELECT DISTINCT d.id, d.source, e.topic, d.delivery_key, d.verdict, d.reason, d.status, d.received_at, e.event_key
		FROM event_runs r JOIN deliveries d ON d.event_id = r.event_id JOIN events e ON e.id = d.event_id
		WHERE r.run_id = ANY($1) AND d.received_at <= $2 ORDER BY d.received_at DESC, d.id DESC LIMIT $3`, pq.Array(t.runs), t.to, happeningsLimit)
	for i := range rows {
		t.rows = append(t.rows, Happening{At: rows[i].ReceivedAt, Delivery: &rows[i], order: "2 " + string(rows[i].ID)})
	}
	return err
}

// notices are what people were told about these operations and runs, or what the person
// was told.
func (t *timeline) notices() error {
	const columns = `n.id, n.kind, n.subject, n.title, n.addressee, COALESCE(n.user_id, '') AS user_id, n.channel, n.state, COALESCE(n.sent_at, n.created_at) AS at`
	var rows []ToldRow
	var err error
	if t.person != "" {
		err = t.list(&rows, `SELECT `+columns+` FROM notices n WHERE n.user_id = $1 AND n.created_at <= $2 AND COALESCE(n.sent_at, n.created_at) <= $2
			ORDER BY n.created_at DESC, n.id DESC LIMIT $3`, t.person, t.to, happeningsLimit)
	} else {
		err = t.list(&rows, `SELECT `+columns+` FROM notices n WHERE n.subject = ANY($1) AND COALESCE(n.sent_at, n.created_at) <= $2
			ORDER BY at DESC, n.id DESC LIMIT $3`, pq.Array(t.ids), t.to, happeningsLimit)
	}
	for i := range rows {
		t.rows = append(t.rows, Happening{At: rows[i].At, Notice: &rows[i], order: "4 " + rows[i].ID})
	}
	return err
}
