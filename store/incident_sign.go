package store

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"strings"

	"holdpoint/operation"
)

// Report gives what is signed: the incident as it stands, all of its operations included.
func (in *Incident) Report() operation.IncidentReport {
	r := operation.IncidentReport{ID: in.ID, Number: in.Number, Revision: in.Revision, Title: in.Title, Summary: in.Summary, Owner: in.OwnerName, Times: in.Times, Corrected: in.Corrected,
		Flows: in.Flows, Places: in.Destinations, Scope: in.Scope, Class: in.Class, Pattern: in.Pattern, PatternID: in.PatternID, Cause: in.Cause, Response: in.Response, Prevention: in.Prevention}
	for _, o := range in.Operations {
		r.Operations = append(r.Operations, operation.ReportedOperation{ID: o.ID, Flow: o.Flow, State: o.State, Effect: o.Effect, Duplicate: o.Duplicate, Reference: o.TargetReference})
	}
	for _, l := range in.Timeline {
		line := operation.ReportedLine{At: l.At, Until: l.At, Who: l.By, Says: l.Says}
		if g := l.Group; g != nil {
			line = operation.ReportedLine{At: g.First.At, Until: g.Last.At, Action: g.First.Action, To: g.First.To, Operations: len(g.Operations), Who: g.Actor, Says: g.Reason}
		}
		r.Timeline = append(r.Timeline, line)
	}
	for _, x := range in.Tasks {
		r.Actions = append(r.Actions, operation.ReportedTask{Number: x.Number, State: x.State, Owner: x.Responsible(), Due: x.Due, Title: x.Title, Word: x.Word})
	}
	return r
}

// SignIncident signs exactly the text whose hash (hex) the person was shown. It takes the
// right for every flow of the incident, and a fresh proof of the person.
func (s *Store) SignIncident(ctx context.Context, a Actor, sh IncidentShown, hash, comment string) error {
	comment = storable(strings.TrimSpace(comment))
	if err := checkTexts([]textField{{"comment", comment, IncidentLineLimit, false}}); err != nil {
		return err
	}
	return s.changeIncident(ctx, a, sh, operation.IncidentOpen, func(c *incidentChange) error {
		role := c.row.signedBy(c.who)
		if role == "" {
			return notEntitled(operation.RoleOpsOwner)
		}
		if err := c.confirmed(a, c.now); err != nil {
			return err
		}
		in, err := c.loadIncident(c.row.ID)
		if err != nil {
			return err
		}
		report := in.Report()
		if m := missingParts(report); m != "" {
			return &Invalid{Field: m, Code: "text_missing"}
		}
		says := report.Canonical()
		h := report.Hash()
		if hash != hex.EncodeToString(h[:]) {
			return ErrChanged // an operation moved meanwhile: the text is another one
		}
		facts, err := json.Marshal(in.Scope)
		if err != nil {
			return err
		}
		if err := c.one(`INSERT INTO incident_signatures (incident_id, revision, says, hash, facts, signed_by, signed_name, signed_role, comment, signed_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
			string(c.row.ID), c.row.Revision, says, h[:], string(facts), a.ID, clean(c.who.Name), string(role), comment, c.now); err != nil {
			return err
		}
		if err := c.one(`UPDATE incidents SET state = 'signed' WHERE id = $1`, string(c.row.ID)); err != nil {
			return err
		}
		return c.note("sign_incident", comment, "role", string(role), "evidence_hash", hexOf(h[:]))
	})
}

// missingParts names the first part without which a report is none.
func missingParts(r operation.IncidentReport) string {
	switch {
	case r.Summary == "":
		return "summary"
	case r.Cause == "":
		return "cause"
	case r.Response == "":
		return "response"
	case r.Prevention == "" && len(r.Actions) == 0:
		return "prevention"
	}
	return ""
}

// ReviseIncident begins a new revision of a signed incident; what was signed stays.
func (s *Store) ReviseIncident(ctx context.Context, a Actor, sh IncidentShown, reason string) error {
	if reason = strings.TrimSpace(reason); reason == "" {
		return &Invalid{Field: "reason", Code: "reason_missing"}
	}
	return s.changeIncident(ctx, a, sh, operation.IncidentSigned, func(c *incidentChange) error {
		if err := c.one(`UPDATE incidents SET state = 'open', revision = revision + 1 WHERE id = $1`, string(c.row.ID)); err != nil {
			return err
		}
		c.row.Revision++
		return c.note("revise_incident", reason)
	})
}

func numbers(list []int64) string {
	var out []string
	for i, n := range list {
		if i == listedAtMost {
			out = append(out, "…")
			break
		}
		out = append(out, strconv.FormatInt(n, 10))
	}
	return strings.Join(out, " ")
}
