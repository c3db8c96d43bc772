package store

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"holdpoint/operation"

	"github.com/lib/pq"
)

// Limits of incidents.
const (
	IncidentTitleLimit = 200    // characters
	IncidentTextLimit  = 10_000 // characters of each text
	IncidentLineLimit  = 2_000
	// IncidentLimit bounds how many operations one incident is about.
	IncidentLimit = 2000
)

// ErrChanged is a change of something that was changed by somebody else since it was
// shown. Nothing was done.
var ErrChanged = errors.New("it was changed since it was shown")

// NewIncident is an incident to be opened over some operations.
type NewIncident struct {
	Title      string
	Summary    string
	Owner      operation.UserID
	Operations []operation.ID // what the viewer may not see is refused as not found
	FormID     string         // the same form twice is one incident
}

// AddIncident opens an incident over exactly these operations.
func (s *Store) AddIncident(ctx context.Context, a Actor, n NewIncident) (operation.IncidentID, error) {
	n.Title = shown(strings.TrimSpace(n.Title), IncidentTitleLimit*4)
	n.Summary = storable(strings.TrimSpace(n.Summary))
	if err := checkTexts([]textField{{"title", n.Title, IncidentTitleLimit, true}, {"summary", n.Summary, IncidentTextLimit, false}}); err != nil {
		return "", err
	}
	id := operation.IncidentID(newID("inc"))
	err := s.write(ctx, func(t *tx) error {
		var was operation.IncidentID
		if err := t.get(&was, `SELECT COALESCE((SELECT id FROM incidents WHERE created_by = $1 AND form_id = $2), '')`, a.ID, n.FormID); err != nil {
			return err
		}
		if was != "" {
			id = was
			return errDone
		}
		return t.addIncident(a, id, n)
	})
	return id, err
}

func (t *tx) addIncident(a Actor, id operation.IncidentID, n NewIncident) error {
	v, err := t.viewer(a)
	if err != nil {
		return err
	}
	ops, err := t.takeable(v, n.Operations)
	if err != nil {
		return err
	}
	if n.FormID == "" {
		return operation.Refuse(operation.CodeStaleRevision)
	}
	if n.Owner != "" {
		if err := t.taskOwner(n.Owner); err != nil {
			return err
		}
	}
	now, err := t.clock()
	if err != nil {
		return err
	}
	flows, places := kindsOf(ops)
	if _, err := t.exec(`INSERT INTO incidents (id, title, summary, owner_id, flows, destinations, began_at, form_id, created_by, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $7, $7)`, string(id), n.Title, n.Summary, nilIfEmpty(string(n.Owner)), pq.Array(flows), pq.Array(places), now, n.FormID, a.ID); err != nil {
		return err
	}
	if err := t.addOperations(a, id, ops, now); err != nil {
		return err
	}
	if err := t.setBegan(id); err != nil {
		return err
	}
	return t.enter(a, now, operation.SubjectIncident, string(id), "open_incident", n.Summary, append([]string{"title", n.Title, "owner", string(n.Owner)}, listed(ops)...)...)
}

// takenRow is an operation that an incident is to be about.
type takenRow struct {
	ID          operation.ID `db:"id"`
	Flow        string       `db:"flow"`
	Destination string       `db:"destination"`
}

// takeable reads operations that the viewer may put into an incident: all of them are
// there, seen, and of flows that they work on; else it refuses.
func (t *tx) takeable(v Viewer, ids []operation.ID) ([]takenRow, error) {
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	switch {
	case len(ids) == 0:
		return nil, &Invalid{Field: "operation", Code: "incident_empty"}
	case len(ids) > IncidentLimit:
		return nil, &Invalid{Field: "operation", Code: "incident_many", Limit: IncidentLimit}
	}
	var rows []takenRow
	if err := t.list(&rows, `SELECT id, flow, destination FROM operations WHERE id = ANY($1) ORDER BY id`, pq.Array(texts(ids))); err != nil {
		return nil, err
	}
	writes := false
	for _, r := range rows {
		if !v.Sees(r.Flow, r.Destination) {
			return nil, ErrNotFound
		}
		writes = writes || operation.MayWriteIncident(v.In(r.Flow))
	}
	switch {
	case len(rows) != len(ids):
		return nil, ErrNotFound
	case !writes:
		return nil, notEntitled(operation.RoleOpsOwner)
	}
	return rows, nil
}

func notEntitled(role operation.Role) *operation.Refusal {
	return operation.Refuse(operation.CodeNotEntitled, "role", string(role)).By(operation.Responsible{Role: role})
}

func texts[T ~string](list []T) []string {
	out := make([]string, len(list))
	for i, x := range list {
		out[i] = string(x)
	}
	return out
}

// kindsOf gives the flows and destinations of operations, each once, in order.
func kindsOf(ops []takenRow) (flows, places []string) {
	for _, o := range ops {
		flows, places = append(flows, o.Flow), append(places, o.Destination)
	}
	return slices.Compact(slices.Sorted(slices.Values(flows))), slices.Compact(slices.Sorted(slices.Values(places)))
}

// listedAtMost bounds how many operations one history entry names; it gives their number
// in any case.
const listedAtMost = 50

func listed(ops []takenRow) []string {
	var ids []string
	for _, o := range ops[:min(len(ops), listedAtMost)] {
		ids = append(ids, string(o.ID))
	}
	return []string{"operations", strings.Join(ids, " "), "count", strconv.Itoa(len(ops))}
}

func (t *tx) addOperations(a Actor, id operation.IncidentID, ops []takenRow, now time.Time) error {
	ids := make([]string, len(ops))
	for i, o := range ops {
		ids[i] = string(o.ID)
	}
	_, err := t.exec(`INSERT INTO incident_operations (incident_id, operation_id, flow, destination, added_by, added_at)
		SELECT $1, o.id, o.flow, o.destination, $3, $4 FROM operations o WHERE o.id = ANY($2) ON CONFLICT DO NOTHING`, string(id), pq.Array(ids), a.ID, now)
	return err
}

// setBegan keeps when the incident began, for the list: what a person set, else the first
// request that may have had an effect, else when it was opened.
func (t *tx) setBegan(id operation.IncidentID) error {
	return t.one(`UPDATE incidents i SET began_at = COALESCE(i.first_at, (SELECT min(a.dispatched_at) FROM attempts a JOIN incident_operations p ON p.operation_id = a.operation_id
		WHERE p.incident_id = i.id AND a.dispatched_at IS NOT NULL AND (a.outcome IS NULL OR a.outcome <> 'not_started')), i.created_at) WHERE id = $1`, string(id))
}

// textField is a text of a form with its limit.
type textField struct {
	name, text string
	limit      int
	required   bool
}

func checkTexts(list []textField) error {
	for _, f := range list {
		switch {
		case f.required && f.text == "":
			return &Invalid{Field: f.name, Code: "text_missing"}
		case utf8.RuneCountInString(f.text) > f.limit:
			return &Invalid{Field: f.name, Code: "text_long", Limit: f.limit}
		}
	}
	return nil
}
