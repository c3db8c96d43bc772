package store

import (
	"context"
	"slices"
	"strings"
	"time"

	"holdpoint/operation"

	"github.com/lib/pq"
)

// IncidentLineID names a line that a person added to a timeline: "inl_…".
type IncidentLineID string

// IncidentLine is one line of a timeline: what the history says of one or several
// operations, or what a person wrote.
type IncidentLine struct {
	At    time.Time
	Group *operation.TimelineGroup // nil = a person's own line
	ID    IncidentLineID
	Says  string
	By    string
}

type ownLine struct {
	ID   IncidentLineID `db:"id"`
	At   time.Time      `db:"at"`
	Says string         `db:"says"`
	By   string         `db:"added_name"`
}

// incidentActions are the entries without a move that a timeline may show.
var incidentActions = append([]string{"dispatch"}, operation.TimelineNotes()...)

// incidentEntries bounds how many history entries one incident reads.
const incidentEntries = 60_000

func (t *tx) readIncidentTimeline(in *Incident) error {
	ids := make([]string, len(in.Operations))
	states := make([]operation.State, len(in.Operations))
	since := time.Time{}
	for i, o := range in.Operations {
		ids[i], states[i] = string(o.ID), o.State
		if made := o.CreatedAt.Add(-clockSlack); i == 0 || made.Before(since) {
			since = made
		}
	}
	var rows []struct {
		ID      int64               `db:"id"`
		Subject operation.ID        `db:"subject_id"`
		At      time.Time           `db:"at"`
		Action  string              `db:"action"`
		From    operation.State     `db:"from_state"`
		To      operation.State     `db:"to_state"`
		Reason  string              `db:"reason"`
		Kind    operation.ActorKind `db:"actor_kind"`
		Name    string              `db:"actor_name"`
	}
	if err := t.list(&rows, `SELECT id, subject_id, at, action, from_state, to_state, reason, actor_kind, actor_name FROM history WHERE subject_kind = 'operation' AND subject_id = ANY($1)
		AND (from_state <> to_state OR action = ANY($2)) AND at >= $4 ORDER BY at, id LIMIT $3`, pq.Array(ids), pq.Array(incidentActions), incidentEntries, since); err != nil {
		return err
	}
	entries := make([]operation.TimelineEntry, len(rows))
	for i, r := range rows {
		entries[i] = operation.TimelineEntry{ID: r.ID, Operation: r.Subject, At: r.At.UTC(), Action: r.Action, From: r.From, To: r.To, Reason: r.Reason, ActorKind: r.Kind, Actor: r.Name}
		if r.Kind == operation.ActorJob || r.Kind == operation.ActorSystem {
			entries[i].Actor = "" // which process it was says nothing to a reader
		}
	}
	in.entries = operation.Significant(entries)
	var sent struct {
		First *time.Time `db:"first"`
		Last  *time.Time `db:"last"`
	}
	if err := t.get(&sent, `SELECT min(dispatched_at) AS first, max(dispatched_at) AS last FROM attempts WHERE operation_id = ANY($1) AND dispatched_at IS NOT NULL
		AND (outcome IS NULL OR outcome <> 'not_started')`, pq.Array(ids)); err != nil {
		return err
	}
	in.Proposed = operation.ProposeTimes(entries, states, timeOf(sent.First).UTC(), timeOf(sent.Last).UTC())
	in.Corrected = in.corrected()
	in.Times = in.Proposed.Corrected(in.Corrected)
	return t.readLines(in)
}

func (t *tx) readLines(in *Incident) error {
	if err := t.list(&in.own, `SELECT id, at, says, added_name FROM incident_lines WHERE incident_id = $1 AND removed_at IS NULL ORDER BY at, id`, string(in.ID)); err != nil {
		return err
	}
	var omitted []int64
	if err := t.list(&omitted, `SELECT history_id FROM incident_omissions WHERE incident_id = $1`, string(in.ID)); err != nil {
		return err
	}
	in.omitted = make(map[int64]bool, len(omitted))
	for _, id := range omitted {
		in.omitted[id] = true
	}
	return nil
}

// buildTimeline groups the entries that stand, and those that were taken out, and puts
// people's own lines among them.
func (in *Incident) buildTimeline() {
	var stand, out []operation.TimelineEntry
	for _, e := range in.entries {
		if in.omitted[e.ID] {
			out = append(out, e)
		} else {
			stand = append(stand, e)
		}
	}
	in.Timeline, in.Omitted = nil, operation.GroupTimeline(out)
	for _, g := range operation.GroupTimeline(stand) {
		in.Timeline = append(in.Timeline, IncidentLine{At: g.First.At, Group: &g})
	}
	for _, l := range in.own {
		in.Timeline = append(in.Timeline, IncidentLine{At: l.At.UTC(), ID: l.ID, Says: l.Says, By: l.By})
	}
	slices.SortStableFunc(in.Timeline, func(a, b IncidentLine) int { return a.At.Compare(b.At) })
}

// AddLine adds a person's own line to the timeline.
func (s *Store) AddLine(ctx context.Context, a Actor, sh IncidentShown, at time.Time, says string) error {
	says = storable(strings.TrimSpace(says))
	if err := checkTexts([]textField{{"says", says, IncidentLineLimit, true}}); err != nil {
		return err
	}
	if at.IsZero() {
		return &Invalid{Field: "at", Code: "time_missing"}
	}
	return s.changeIncident(ctx, a, sh, operation.IncidentOpen, func(c *incidentChange) error {
		id := newID("inl")
		if err := c.one(`INSERT INTO incident_lines (id, incident_id, at, says, added_by, added_name, added_at) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
			id, string(c.row.ID), storedTime(at).Truncate(time.Microsecond), says, a.ID, clean(c.who.Name), c.now); err != nil {
			return err
		}
		return c.note("add_line", says, "line", id, "at", stampText(at))
	})
}

// RemoveLine takes a person's own line out of the timeline; it stays on record.
func (s *Store) RemoveLine(ctx context.Context, a Actor, sh IncidentShown, id IncidentLineID) error {
	return s.changeIncident(ctx, a, sh, operation.IncidentOpen, func(c *incidentChange) error {
		var says string
		if err := c.get(&says, `UPDATE incident_lines SET removed_at = $3 WHERE id = $1 AND incident_id = $2 AND removed_at IS NULL RETURNING says`, string(id), string(c.row.ID), c.now); err != nil {
			return err
		}
		return c.note("remove_line", says, "line", string(id))
	})
}

// ChooseEntries takes entries of the history out of the timeline, or puts them back.
// What the viewer may not see stays as it is.
func (s *Store) ChooseEntries(ctx context.Context, a Actor, sh IncidentShown, leaveOut []int64) error {
	return s.changeIncident(ctx, a, sh, operation.IncidentOpen, func(c *incidentChange) error {
		in, err := c.loadIncident(c.row.ID)
		if err != nil {
			return err
		}
		seen := map[operation.ID]bool{}
		for _, o := range in.Operations {
			seen[o.ID] = c.who.Sees(o.Flow, o.Destination)
		}
		var out, back []int64
		for _, e := range in.entries {
			switch want := slices.Contains(leaveOut, e.ID); {
			case !seen[e.Operation]:
			case want && !in.omitted[e.ID]:
				out = append(out, e.ID)
			case !want && in.omitted[e.ID]:
				back = append(back, e.ID)
			}
		}
		if len(out)+len(back) == 0 {
			return errDone
		}
		if _, err := c.exec(`INSERT INTO incident_omissions (incident_id, history_id, omitted_by, omitted_at) SELECT $1, x, $3, $4 FROM unnest(CAST($2 AS bigint[])) AS x`,
			string(c.row.ID), pq.Array(out), a.ID, c.now); err != nil {
			return err
		}
		if _, err := c.exec(`DELETE FROM incident_omissions WHERE incident_id = $1 AND history_id = ANY($2)`, string(c.row.ID), pq.Array(back)); err != nil {
			return err
		}
		return c.note("choose_entries", "", "left_out", numbers(out), "put_back", numbers(back))
	})
}
