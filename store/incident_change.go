package store

import (
	"context"
	"crypto/sha256"
	"slices"
	"strconv"
	"strings"
	"time"

	"holdpoint/operation"

	"github.com/lib/pq"
)

// IncidentShown is what a form about an incident was shown with.
type IncidentShown struct {
	ID     operation.IncidentID
	Rev    int64
	FormID string // the same form twice is one change
}

// incidentChange is one change of an incident in progress; its row is locked.
type incidentChange struct {
	*tx
	actor Actor
	who   Viewer
	now   time.Time
	row   IncidentRow
}

// changeIncident is the one way to change an incident: lock, check who and what was
// shown, change, raise its number. A signed one is changed by Revise alone.
func (s *Store) changeIncident(ctx context.Context, a Actor, sh IncidentShown, state operation.IncidentState, fn func(*incidentChange) error) error {
	return s.write(ctx, func(t *tx) error {
		v, err := t.viewer(a)
		if err != nil {
			return err
		}
		c := &incidentChange{tx: t, actor: a, who: v}
		if err := t.get(&c.row, `SELECT `+incidentColumns+incidentFrom+` WHERE i.id = $1 FOR UPDATE OF i`, string(sh.ID)); err != nil {
			return err
		}
		if !c.row.seenBy(v) {
			return ErrNotFound
		}
		if !c.row.writtenBy(v) {
			return notEntitled(operation.RoleOpsOwner)
		}
		if sh.FormID != "" && c.row.LastForm == sh.FormID {
			return errDone
		}
		if sh.FormID == "" || sh.Rev != c.row.Rev || c.row.State != state {
			return ErrChanged
		}
		if c.now, err = t.clock(); err != nil {
			return err
		}
		if c.now.Before(c.row.UpdatedAt) {
			c.now = c.row.UpdatedAt.UTC()
		}
		if err := fn(c); err != nil {
			return err
		}
		return t.one(`UPDATE incidents SET rev = rev + 1, updated_at = $2, last_form = $3 WHERE id = $1 AND rev = $4`, string(sh.ID), c.now, sh.FormID, sh.Rev)
	})
}

func (c *incidentChange) note(action, reason string, links ...string) error {
	return c.enter(c.actor, c.now, operation.SubjectIncident, string(c.row.ID), action, reason, append(links, "revision", strconv.Itoa(c.row.Revision))...)
}

// IncidentEdit is everything that people write into an incident.
type IncidentEdit struct {
	Title, Summary              string
	Owner                       operation.UserID // "" = nobody
	Times                       operation.IncidentTimes
	Class                       operation.CauseClass // "" = not known yet
	Pattern                     string
	PatternID                   operation.PatternID
	Cause, Response, Prevention string
}

func (e *IncidentEdit) check() error {
	e.Title, e.Pattern = shown(strings.TrimSpace(e.Title), IncidentTitleLimit*4), shown(strings.TrimSpace(e.Pattern), 2000)
	for _, s := range []*string{&e.Summary, &e.Cause, &e.Response, &e.Prevention} {
		*s = storable(strings.TrimSpace(*s))
	}
	for _, t := range []*time.Time{&e.Times.First, &e.Times.Last, &e.Times.Detected, &e.Times.Settled} {
		if !t.IsZero() {
			*t = storedTime(*t).Truncate(time.Microsecond)
		}
	}
	if e.Class != "" && !e.Class.Valid() {
		e.Class = ""
	}
	return checkTexts([]textField{{"title", e.Title, IncidentTitleLimit, true}, {"summary", e.Summary, IncidentTextLimit, false}, {"pattern", e.Pattern, 500, false},
		{"cause", e.Cause, IncidentTextLimit, false}, {"response", e.Response, IncidentTextLimit, false}, {"prevention", e.Prevention, IncidentTextLimit, false}})
}

// EditIncident saves what people wrote. The entry names the fields that changed; of short
// ones it gives both values, of long ones their hashes.
func (s *Store) EditIncident(ctx context.Context, a Actor, sh IncidentShown, e IncidentEdit) error {
	if err := e.check(); err != nil {
		return err
	}
	offered, err := s.PatternsOfIncident(ctx, a, sh.ID)
	if err != nil {
		return err
	}
	return s.changeIncident(ctx, a, sh, operation.IncidentOpen, func(c *incidentChange) error {
		if e.PatternID != "" && e.PatternID != c.row.PatternID && !slices.ContainsFunc(offered, func(n PatternName) bool { return n.ID == e.PatternID }) {
			return &Invalid{Field: "pattern_id", Code: "mode_unknown"}
		}
		if e.Owner != "" && e.Owner != c.row.OwnerID {
			if err := c.taskOwner(e.Owner); err != nil {
				return err
			}
		}
		times, err := c.proposedTimes(c.row.ID)
		if err != nil {
			return err
		}
		if t := times.Corrected(e.Times); !t.First.IsZero() && !t.Last.IsZero() && t.Last.Before(t.First) {
			return &Invalid{Field: "last", Code: "incident_times"}
		}
		links := c.row.differences(e)
		if links == nil {
			return errDone
		}
		if err := c.one(`UPDATE incidents SET title = $2, summary = $3, owner_id = $4, first_at = $5, last_at = $6, detected_at = $7, settled_at = $8, cause_class = $9, pattern = $10,
			pattern_id = $11, cause = $12, response = $13, prevention = $14 WHERE id = $1`, string(c.row.ID), e.Title, e.Summary, nilIfEmpty(string(e.Owner)), timePtr(e.Times.First),
			timePtr(e.Times.Last), timePtr(e.Times.Detected), timePtr(e.Times.Settled), string(e.Class), e.Pattern, string(e.PatternID), e.Cause, e.Response, e.Prevention); err != nil {
			return err
		}
		if err := c.setBegan(c.row.ID); err != nil {
			return err
		}
		return c.note("edit_incident", "", links...)
	})
}

// differences are the links of an entry about an edit; nil = nothing differs.
func (r *IncidentRow) differences(e IncidentEdit) []string {
	var fields, links []string
	differ := func(name, was, is string) {
		if was != is {
			fields = append(fields, name)
			if len(was)+len(is) > 0 {
				links = append(links, name+"_was", dashed(was), name, dashed(is))
			}
		}
	}
	hashed := func(s string) string {
		if s == "" {
			return ""
		}
		h := sha256.Sum256([]byte(s))
		return "sha256:" + hexOf(h[:])
	}
	stamp := func(t *time.Time) string { return stampText(timeOf(t)) }
	differ("title", r.Title, e.Title)
	differ("owner", string(r.OwnerID), string(e.Owner))
	differ("first", stamp(r.FirstAt), stampText(e.Times.First))
	differ("last", stamp(r.LastAt), stampText(e.Times.Last))
	differ("detected", stamp(r.DetectedAt), stampText(e.Times.Detected))
	differ("settled", stamp(r.SettledAt), stampText(e.Times.Settled))
	differ("class", string(r.Class), string(e.Class))
	differ("pattern", r.Pattern, e.Pattern)
	differ("pattern_id", string(r.PatternID), string(e.PatternID))
	differ("summary", hashed(r.Summary), hashed(e.Summary))
	differ("cause", hashed(r.Cause), hashed(e.Cause))
	differ("response", hashed(r.Response), hashed(e.Response))
	differ("prevention", hashed(r.Prevention), hashed(e.Prevention))
	if fields == nil {
		return nil
	}
	return append(links, "fields", strings.Join(fields, ", "))
}

func dashed(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

func stampText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

// AddToIncident adds operations that belong to it too. Those that it has already stay.
func (s *Store) AddToIncident(ctx context.Context, a Actor, sh IncidentShown, ids []operation.ID) error {
	return s.changeIncident(ctx, a, sh, operation.IncidentOpen, func(c *incidentChange) error {
		ops, err := c.takeable(c.who, ids)
		if err != nil {
			return err
		}
		have, err := c.operationsOf(c.row.ID)
		if err != nil {
			return err
		}
		ops = slices.DeleteFunc(ops, func(o takenRow) bool { return slices.Contains(have, o) })
		switch {
		case len(ops) == 0:
			return errDone
		case len(have)+len(ops) > IncidentLimit:
			return &Invalid{Field: "operation", Code: "incident_many", Limit: IncidentLimit}
		}
		if err := c.addOperations(c.actor, c.row.ID, ops, c.now); err != nil {
			return err
		}
		if err := c.setKinds(append(have, ops...)); err != nil {
			return err
		}
		return c.note("add_operations", "", listed(ops)...)
	})
}

// TakeFromIncident takes an operation out that does not belong to it, with a reason. The
// last one stays.
func (s *Store) TakeFromIncident(ctx context.Context, a Actor, sh IncidentShown, id operation.ID, reason string) error {
	if reason = strings.TrimSpace(reason); reason == "" {
		return &Invalid{Field: "reason", Code: "reason_missing"}
	}
	return s.changeIncident(ctx, a, sh, operation.IncidentOpen, func(c *incidentChange) error {
		have, err := c.operationsOf(c.row.ID)
		if err != nil {
			return err
		}
		at := slices.IndexFunc(have, func(o takenRow) bool { return o.ID == id && c.who.Sees(o.Flow, o.Destination) })
		switch {
		case at < 0:
			return ErrNotFound
		case len(have) == 1:
			return &Invalid{Field: "operation", Code: "incident_empty"}
		}
		if err := c.one(`DELETE FROM incident_operations WHERE incident_id = $1 AND operation_id = $2`, string(c.row.ID), string(id)); err != nil {
			return err
		}
		if err := c.setKinds(slices.Delete(have, at, at+1)); err != nil {
			return err
		}
		return c.note("take_operation", reason, "operation", string(id))
	})
}

func (t *tx) operationsOf(id operation.IncidentID) ([]takenRow, error) {
	var rows []takenRow
	err := t.list(&rows, `SELECT operation_id AS id, flow, destination FROM incident_operations WHERE incident_id = $1 ORDER BY operation_id`, string(id))
	return rows, err
}

// setKinds keeps the flows and destinations with the operations.
func (c *incidentChange) setKinds(ops []takenRow) error {
	flows, places := kindsOf(ops)
	if err := c.one(`UPDATE incidents SET flows = $2, destinations = $3 WHERE id = $1`, string(c.row.ID), pq.Array(flows), pq.Array(places)); err != nil {
		return err
	}
	return c.setBegan(c.row.ID)
}
