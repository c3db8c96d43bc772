package store

import (
	"context"
	"strconv"
	"strings"
	"unicode/utf8"

	"holdpoint/operation"
)

// PatternTextLimit is how long a pattern's note and runbook may each be, in characters.
const PatternTextLimit = 20000

// PatternWords are what a person writes about a pattern.
type PatternWords struct {
	ID       operation.PatternID
	Revision int64 // that the person saw
	Note     string
	Runbook  string
	Class    operation.CauseClass // "" = the rules' class stands
	Reason   string               // needed where the class changes
}

// WritePattern keeps note, runbook and class of a pattern. Ops owners and admins of a flow
// that stopped so may write; what is written can change no operation.
func (s *Store) WritePattern(ctx context.Context, a Actor, w PatternWords) error {
	w.Note, w.Runbook, w.Reason = strings.TrimSpace(storable(w.Note)), strings.TrimSpace(storable(w.Runbook)), strings.TrimSpace(storable(w.Reason))
	switch {
	case utf8.RuneCountInString(w.Note) > PatternTextLimit:
		return &Invalid{Field: "note", Code: "text_long", Limit: PatternTextLimit}
	case utf8.RuneCountInString(w.Runbook) > PatternTextLimit:
		return &Invalid{Field: "runbook", Code: "text_long", Limit: PatternTextLimit}
	case w.Class != "" && !w.Class.Valid():
		return &Invalid{Field: "class", Code: "class_unknown"}
	}
	v, err := s.FindViewer(ctx, a)
	if err != nil {
		return err
	}
	all, seen := v.seenFlows()
	return s.write(ctx, func(t *tx) error {
		now, err := t.clock()
		if err != nil {
			return err
		}
		var p Pattern
		if err := t.get(&p, `SELECT `+patternColumns+` FROM patterns p WHERE p.id = $1 FOR UPDATE`, string(w.ID)); err != nil {
			return err
		}
		role, err := t.patternWriter(a, w.ID, all, seen)
		if err != nil {
			return err
		}
		if p.Revision != w.Revision {
			return operation.Refuse(operation.CodeStaleRevision)
		}
		changed := w.changes(p)
		if len(changed) == 0 {
			return errDone
		}
		if p.OwnClass != w.Class && w.Reason == "" {
			return operation.Refuse(operation.CodeReasonMissing)
		}
		if err := t.one(`UPDATE patterns SET note = $2, runbook = $3, own_class = NULLIF($4, ''), revision = revision + 1 WHERE id = $1`,
			string(w.ID), w.Note, w.Runbook, string(w.Class)); err != nil {
			return err
		}
		class := ""
		if p.OwnClass != w.Class {
			class = string(p.Class()) + " > " + string(Pattern{RuleClass: p.RuleClass, OwnClass: w.Class}.Class())
		}
		return t.enter(a, now, operation.SubjectPattern, string(w.ID), "write_pattern", w.Reason, "role", string(role), "changed", strings.Join(changed, ", "),
			"class", class, "note", w.noteIf(p), "runbook", w.runbookIf(p), "revision", strconv.FormatInt(p.Revision+1, 10))
	})
}

// changes names what differs from what stands.
func (w PatternWords) changes(p Pattern) []string {
	var out []string
	if w.Note != p.Note {
		out = append(out, "note")
	}
	if w.Runbook != p.Runbook {
		out = append(out, "runbook")
	}
	if w.Class != p.OwnClass {
		out = append(out, "class")
	}
	return out
}

// noteIf gives the new note where it changed: the history holds every version.
func (w PatternWords) noteIf(p Pattern) string {
	if w.Note == p.Note {
		return ""
	}
	return w.Note
}

func (w PatternWords) runbookIf(p Pattern) string {
	if w.Runbook == p.Runbook {
		return ""
	}
	return w.Runbook
}

// patternWriter gives the role in which a person may write about a pattern. One of which
// they may see nothing is not found.
func (t *tx) patternWriter(a Actor, id operation.PatternID, all bool, seen []string) (operation.Role, error) {
	var flows []string
	if err := t.list(&flows, `SELECT DISTINCT flow FROM stops WHERE pattern_id = $1 ORDER BY flow`, string(id)); err != nil {
		return "", err
	}
	known := false
	for _, f := range flows {
		who, err := t.person(a, f)
		if err != nil {
			return "", err
		}
		for _, r := range []operation.Role{operation.RoleOpsOwner, operation.RoleAdmin} {
			if who.Has(r) {
				return r, nil
			}
		}
		known = known || all || contains(seen, f)
	}
	if !known {
		return "", ErrNotFound
	}
	return "", operation.Refuse(operation.CodeNotEntitled, "role", string(operation.RoleOpsOwner)).By(operation.Responsible{Role: operation.RoleOpsOwner})
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

// CorrectCause records a person's word against the class of one stop of an operation. It
// decides nothing.
func (s *Store) CorrectCause(ctx context.Context, a Actor, sh Shown, stop int64, class operation.CauseClass) error {
	return s.personVerb(ctx, a, sh, func(u *unit, who operation.Person) error {
		if !u.reviewer().Matches(who) && !who.Has(operation.RoleOpsOwner) && !who.Has(operation.RoleAdmin) {
			return operation.Refuse(operation.CodeNotEntitled, "role", string(u.reviewer().Role)).By(u.people(u.op).Reviewer)
		}
		reason := strings.TrimSpace(storable(sh.Reason))
		if reason == "" {
			return operation.Refuse(operation.CodeReasonMissing)
		}
		if !class.Valid() {
			return &Invalid{Field: "class", Code: "class_unknown"}
		}
		var have struct {
			Pattern operation.PatternID  `db:"pattern_id"`
			Class   operation.CauseClass `db:"class"`
		}
		if err := u.get(&have, `SELECT s.pattern_id, COALESCE((SELECT c.class FROM stop_corrections c WHERE c.stop_id = s.id ORDER BY c.id DESC LIMIT 1), p.own_class, p.class) AS class
			FROM stops s JOIN patterns p ON p.id = s.pattern_id WHERE s.id = $1 AND s.operation_id = $2`, stop, string(u.op.ID)); err != nil {
			return err
		}
		if have.Class == class {
			return errDone
		}
		if _, err := u.exec(`INSERT INTO stop_corrections (stop_id, class, reason, user_id, at) VALUES ($1, $2, $3, $4, $5)`, stop, string(class), reason, a.ID, u.now); err != nil {
			return err
		}
		u.note(u.op, "correct_cause", reason, "pattern", string(have.Pattern), "class", string(have.Class)+" > "+string(class))
		return nil
	})
}
