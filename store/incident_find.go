package store

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"holdpoint/operation"

	"github.com/lib/pq"
)

// IncidentRow is one incident as it is stored. Times are what people corrected.
type IncidentRow struct {
	ID           operation.IncidentID    `db:"id"`
	Number       int64                   `db:"number"`
	Title        string                  `db:"title"`
	State        operation.IncidentState `db:"state"`
	Rev          int64                   `db:"rev"`
	Revision     int                     `db:"revision"`
	FirstAt      *time.Time              `db:"first_at"`
	LastAt       *time.Time              `db:"last_at"`
	DetectedAt   *time.Time              `db:"detected_at"`
	SettledAt    *time.Time              `db:"settled_at"`
	Summary      string                  `db:"summary"`
	Class        operation.CauseClass    `db:"cause_class"`
	PatternID    operation.PatternID     `db:"pattern_id"`
	Pattern      string                  `db:"pattern"`
	Library      PatternName             `db:"library"` // the pattern of the library, by PatternID
	Cause        string                  `db:"cause"`
	Response     string                  `db:"response"`
	Prevention   string                  `db:"prevention"`
	OwnerID      operation.UserID        `db:"owner_id"`
	OwnerName    string                  `db:"owner_name"`
	Flows        pq.StringArray          `db:"flows"`
	Destinations pq.StringArray          `db:"destinations"`
	BeganAt      time.Time               `db:"began_at"`
	LastForm     string                  `db:"last_form"`
	CreatedBy    operation.UserID        `db:"created_by"`
	CreatedName  string                  `db:"created_name"`
	CreatedAt    time.Time               `db:"created_at"`
	UpdatedAt    time.Time               `db:"updated_at"`
}

const incidentColumns = `i.id, i.number, i.title, i.state, i.rev, i.revision, i.first_at, i.last_at, i.detected_at, i.settled_at, i.summary, i.cause_class, i.pattern_id, i.pattern,
	i.cause, i.response, i.prevention, COALESCE(i.owner_id, '') AS owner_id, COALESCE((SELECT name FROM users WHERE id = i.owner_id), '') AS owner_name, i.flows, i.destinations, i.began_at,
	i.last_form, i.created_by, (SELECT name FROM users WHERE id = i.created_by) AS created_name, i.created_at, i.updated_at, ` + libraryColumns

// seenBy: whoever may see one of its flows may know of it.
func (r *IncidentRow) seenBy(v Viewer) bool {
	return slices.ContainsFunc(r.Flows, func(f string) bool { return v.Sees(f, "") })
}

// writtenBy: whoever works on operations of one of its flows.
func (r *IncidentRow) writtenBy(v Viewer) bool {
	return slices.ContainsFunc(r.Flows, func(f string) bool { return operation.MayWriteIncident(v.In(f)) })
}

// wholeFor: whoever may see all of its flows sees all of it.
func (r *IncidentRow) wholeFor(v Viewer) bool {
	return !slices.ContainsFunc(r.Flows, func(f string) bool { return !v.Sees(f, "") })
}

// signedBy gives the role in which a person may sign it; "" = they may not: it takes the
// right for every flow that it is about.
func (r *IncidentRow) signedBy(v Viewer) (role operation.Role) {
	for _, f := range r.Flows {
		if role = operation.MaySignIncident(v.In(f)); role == "" {
			return ""
		}
	}
	return role
}

func (r *IncidentRow) corrected() operation.IncidentTimes {
	return operation.IncidentTimes{First: timeOf(r.FirstAt), Last: timeOf(r.LastAt), Detected: timeOf(r.DetectedAt), Settled: timeOf(r.SettledAt)}
}

// Incident is one incident with all that its page shows to a viewer.
type Incident struct {
	IncidentRow
	Now        time.Time
	Operations []IncidentOperation // that the viewer may see
	Hidden     int                 // of flows that they may not see: counted, not shown
	Whole      bool                // they may see all of it
	MayWrite   bool
	SignRole   operation.Role // in which they may sign; "" = they may not
	Proposed   operation.IncidentTimes
	Corrected  operation.IncidentTimes
	Times      operation.IncidentTimes // proposed, corrected where people did
	Scope      operation.IncidentScope // as it stands now, hidden operations included
	Timeline   []IncidentLine
	Omitted    []operation.TimelineGroup
	Tasks      []TaskRow
	Signatures []IncidentSignature // newest first
	Similar    []IncidentItem      // earlier ones of the same pattern or kind
	History    []HistoryRow
	Broken     int64  // first entry of the history that does not verify; 0 = none
	Hash       string // hex, of what would be signed now; "" where the viewer does not see all of it
	Text       string // that text

	entries []operation.TimelineEntry
	omitted map[int64]bool
	own     []ownLine
}

// IncidentOperation is one operation of an incident, as it stands now.
type IncidentOperation struct {
	InboxRow
	Effect  operation.Effect
	AddedAt time.Time
}

// FindIncident reads an incident as the viewer may see it; the same error for one that is
// not there and one of other people's flows.
func (s *Store) FindIncident(ctx context.Context, viewer Actor, id operation.IncidentID) (*Incident, error) {
	v, err := s.FindViewer(ctx, viewer)
	if err != nil {
		return nil, err
	}
	var in *Incident
	err = s.snapshot(ctx, func(t *tx) error {
		if in, err = t.loadIncident(id); err != nil {
			return err
		}
		if !in.seenBy(v) {
			return ErrNotFound
		}
		return t.forViewer(in, v)
	})
	return in, err
}

// forViewer completes an incident with what only its page needs, and takes out what the
// viewer may not see.
func (t *tx) forViewer(in *Incident, v Viewer) error {
	in.Whole, in.MayWrite, in.SignRole = in.wholeFor(v), in.writtenBy(v), in.signedBy(v)
	report := in.Report()
	in.Text = report.Canonical()
	h := report.Hash()
	in.Hash = hexOf(h[:])
	all := len(in.Operations)
	in.Operations = slices.DeleteFunc(in.Operations, func(o IncidentOperation) bool { return !v.Sees(o.Flow, o.Destination) })
	in.Hidden = all - len(in.Operations)
	if !in.Whole {
		in.Hash, in.Text, in.Library = "", "", PatternName{}
		for i := range in.Signatures {
			in.Signatures[i].Says = ""
		}
	}
	seen := map[operation.ID]bool{}
	for _, o := range in.Operations {
		seen[o.ID] = true
	}
	in.entries = slices.DeleteFunc(in.entries, func(e operation.TimelineEntry) bool { return !seen[e.Operation] })
	in.buildTimeline()
	names := t.s.titler(t.ctx, t.Tx)
	for i := range in.Operations {
		if err := names.fill(&in.Operations[i].InboxRow); err != nil {
			return err
		}
	}
	var err error
	if in.Similar, err = t.similarIncidents(in, v); err != nil {
		return err
	}
	if in.History, err = t.history(operation.SubjectIncident, string(in.ID), in.CreatedAt); err != nil {
		return err
	}
	in.Broken = chainBreak(in.History)
	return nil
}

// loadIncident reads an incident with everything that its report says.
func (t *tx) loadIncident(id operation.IncidentID) (*Incident, error) {
	in := &Incident{}
	if err := t.get(&in.IncidentRow, `SELECT `+incidentColumns+incidentFrom+` WHERE i.id = $1`, string(id)); err != nil {
		return nil, err
	}
	if err := t.get(&in.Now, `SELECT clock_timestamp()`); err != nil {
		return nil, err
	}
	for _, step := range []func(*Incident) error{t.readIncidentOperations, t.readIncidentTimeline, t.readRecipients, t.readIncidentTasks, t.readSignatures} {
		if err := step(in); err != nil {
			return nil, err
		}
	}
	in.buildTimeline()
	return in, nil
}

func (t *tx) readIncidentOperations(in *Incident) error {
	var rows []struct {
		opRow
		AddedAt time.Time `db:"added_at"`
	}
	if err := t.list(&rows, `SELECT `+opColumns+`, p.added_at FROM incident_operations p JOIN operations o ON o.id = p.operation_id WHERE p.incident_id = $1 ORDER BY o.created_at, o.id`, string(in.ID)); err != nil {
		return err
	}
	for _, r := range rows {
		o := IncidentOperation{InboxRow: InboxRow{OperationSummary: OperationSummary{r.opRow}}, AddedAt: r.AddedAt}
		o.Effect = operation.EffectOf(r.State, r.EverUnproven || r.Unsettled > 0, r.Disputed)
		in.Scope.Add(operation.Counted{Effect: o.Effect, ByPerson: r.ConfirmedBy == "person", Duplicate: r.Duplicate})
		in.Operations = append(in.Operations, o)
	}
	return nil
}

// proposedTimes reads when the operations say that the incident took place.
func (t *tx) proposedTimes(id operation.IncidentID) (operation.IncidentTimes, error) {
	in := &Incident{IncidentRow: IncidentRow{ID: id}}
	if err := t.readIncidentOperations(in); err != nil {
		return in.Proposed, err
	}
	err := t.readIncidentTimeline(in)
	return in.Proposed, err
}

// IncidentSignature is one signed revision.
type IncidentSignature struct {
	Revision int            `db:"revision"`
	Says     string         `db:"says"` // the signed text; "" where the viewer does not see all of it
	Hash     []byte         `db:"hash"`
	Facts    string         `db:"facts"`
	By       string         `db:"signed_name"`
	ByID     string         `db:"signed_by"`
	Role     operation.Role `db:"signed_role"`
	Comment  string         `db:"comment"`
	At       time.Time      `db:"signed_at"`
	Scope    operation.IncidentScope
}

func (t *tx) readSignatures(in *Incident) error {
	if err := t.list(&in.Signatures, `SELECT revision, says, hash, facts, signed_by, signed_name, signed_role, comment, signed_at FROM incident_signatures WHERE incident_id = $1 ORDER BY revision DESC`, string(in.ID)); err != nil {
		return err
	}
	for i := range in.Signatures {
		if err := json.Unmarshal([]byte(in.Signatures[i].Facts), &in.Signatures[i].Scope); err != nil {
			return err
		}
	}
	return nil
}
