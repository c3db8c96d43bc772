package store_test

import (
	"database/sql"
	"errors"
	"fmt"
	"testing"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/store/storetest"

	"github.com/lib/pq"
)

// guarded lists the append-only tables, each with a column to try to change.
var guarded = map[string]string{
	"history": "reason", "evidence": "body", "approvals": "reason", "clearances": "policy", "clearance_approvals": "approval_id",
	"content_versions": "note", "submissions": "policy", "checklist_answers": "comment", "flow_versions": "source",
	"destination_versions": "source", "events": "account", "stage_waivers": "reason", "target_references": "reference",
}

// full makes an operation that has been approved, sent and confirmed.
func full(t *testing.T, f *storetest.Fixture) (operation.ID, operation.AttemptID) {
	t.Helper()
	id := f.Ready(t)
	d, err := f.Store.ClaimAndDispatch(t.Context(), worker, id, "w")
	ok(t, err)
	_, err = f.Store.Record(t.Context(), worker, d.Attempt, d.Fence, operation.Result{Outcome: operation.OutcomeConfirmed, TargetReference: "co_" + string(id)})
	ok(t, err)
	return id, d.Attempt
}

func pqError(t *testing.T, err error) *pq.Error {
	t.Helper()
	var p *pq.Error
	if !errors.As(err, &p) {
		t.Fatalf("err = %v, want one of the server's", err)
	}
	return p
}

// TestAppendOnly: what has been recorded cannot be changed: not by the application's
// role, for want of the right, and not by the owner, for the trigger.
func TestAppendOnly(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	id, _ := full(t, f)
	seen, err := f.Store.FindOperation(t.Context(), f.As("ops"), id)
	ok(t, err)
	ok(t, f.Store.AddStatement(t.Context(), f.As("ops"), store.Shown{Operation: id, Revision: seen.Revision, FormID: "form-1", Reason: "I saw it."}, ""))
	app, err := sql.Open("postgres", f.AppURL)
	ok(t, err)
	t.Cleanup(func() { app.Close() })
	for table, column := range guarded {
		for what, q := range map[string]string{
			"Update":   fmt.Sprintf(`UPDATE %s SET %s = 'forged'`, table, column),
			"Delete":   `DELETE FROM ` + table,
			"Truncate": `TRUNCATE ` + table + ` CASCADE`,
		} {
			t.Run(table+"/"+what, func(t *testing.T) {
				_, err := app.Exec(q)
				if p := pqError(t, err); p.Code != "42501" {
					t.Errorf("the application's role: %v", err)
				}
				_, err = f.Owner.Exec(q)
				p := pqError(t, err)
				if what == "Truncate" { // it may meet the trigger of a table that refers to this one
					if p.Code != "23000" {
						t.Errorf("the owner: %v", err)
					}
				} else if p.Constraint != table+"_append_only" {
					t.Errorf("the owner: %v", err)
				}
			})
		}
	}
	for _, q := range []string{`ALTER TABLE history DISABLE TRIGGER ALL`, `DROP TABLE history`, `DROP TRIGGER history_append_only ON history`,
		`CREATE OR REPLACE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'`,
		`SET session_replication_role = replica`, `DELETE FROM operations`, `DELETE FROM attempts`, `DELETE FROM users`, `DELETE FROM installation`,
		`UPDATE goose_db_version SET version_id = 1`, `UPDATE deliveries SET verdict = 'accepted'`} {
		if _, err := app.Exec(q); err == nil {
			t.Errorf("the application's role may: %s", q)
		} else if p := pqError(t, err); p.Code != "42501" {
			t.Errorf("%s: %v", q, err)
		}
	}
}

// TestAttemptFacts: what an attempt sent and how it ended is written once, also by the owner.
func TestAttemptFacts(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	_, att := full(t, f)
	for _, set := range []string{"key = 'other'", "fence = fence + 1", "dispatched_at = NULL", "dispatched_at = dispatched_at - interval '1 s'",
		"resolved_hash = '\\x00'", "outcome = 'not_started'", "outcome = NULL, ended_at = NULL"} {
		_, err := f.Owner.Exec(`UPDATE attempts SET `+set+` WHERE id = $1`, string(att))
		if p := pqError(t, err); p.Constraint != "attempts_facts" {
			t.Errorf("%s: %v", set, err)
		}
	}
	_, err := f.Owner.Exec(`DELETE FROM attempts`)
	if p := pqError(t, err); p.Constraint != "attempts_facts" {
		t.Errorf("delete: %v", err)
	}
}

// TestConstraintsForbid: a bug in the rules must hit a constraint, not a customer.
func TestConstraintsForbid(t *testing.T) {
	t.Parallel()
	f := storetest.NewFixture(t)
	ready, pending := f.Ready(t), f.Receive(t, storetest.CouponEvent())[0]
	c, err := f.Store.Claim(t.Context(), worker, ready, "w")
	ok(t, err)
	for _, x := range []struct{ constraint, q string }{
		{"operations_cleared", `UPDATE operations SET state = 'ready' WHERE id = '` + string(pending) + `'`},
		{"operations_open_attempt", `UPDATE operations SET state = 'ready' WHERE id = '` + string(ready) + `'`},
		{"operations_open_attempt", `UPDATE operations SET open_attempt = NULL WHERE id = '` + string(ready) + `'`},
		{"operations_confirmed", `UPDATE operations SET state = 'confirmed', next_kind = '' WHERE id = '` + string(pending) + `'`},
		{"operations_next_decision", `UPDATE operations SET next_kind = '' WHERE id = '` + string(pending) + `'`},
		{"operations_next_decision", `UPDATE operations SET next_role = '', next_user = NULL WHERE id = '` + string(pending) + `'`},
		{"operations_unknown", `UPDATE operations SET unsettled = 1 WHERE id = '` + string(pending) + `'`},
		{"operations_attempt_limit", `UPDATE operations SET attempts_used = attempts_max + 1 WHERE id = '` + string(pending) + `'`},
		{"attempts_one_open", `INSERT INTO attempts SELECT (jsonb_populate_record(a, '{"id": "att_x", "number": 99, "fence": 99}')).* FROM attempts a WHERE id = '` + string(c.Attempt) + `'`},
		{"attempts_clearance", `INSERT INTO attempts SELECT (jsonb_populate_record(a, jsonb_build_object('id', 'att_x', 'number', 99, 'fence', 99, 'operation_id', '` + string(pending) + `'))).* FROM attempts a WHERE id = '` + string(c.Attempt) + `'`},
		{"attempts_undispatched", `UPDATE attempts SET outcome = 'confirmed', ended_at = clock_timestamp() WHERE id = '` + string(c.Attempt) + `'`},
		{"approvals_version", `INSERT INTO approvals (id, operation_id, version_id, hash, decision, user_id, role, form_id, decided_at)
			SELECT 'apr_x', o.id, o.version_id, decode(repeat('ab', 32), 'hex'), 'approve', (SELECT id FROM users LIMIT 1), 'approver', 'f', clock_timestamp() FROM operations o WHERE id = '` + string(pending) + `'`},
		{"history_move", `INSERT INTO history (subject_kind, subject_id, seq, at, actor_kind, actor_id, actor_name, role, channel, action, from_state, to_state, reason, links, version_id, evidence_hash, prev_hash, hash)
			VALUES ('operation', 'op_x', 1, clock_timestamp(), 'system', '', '', '', '', '', 'unknown', 'ready', '', '{}', '', '', '', '')`},
	} {
		_, err := f.Owner.Exec(x.q)
		if p := pqError(t, err); p.Constraint != x.constraint {
			t.Errorf("%s met %q: %v", x.constraint, p.Constraint, err)
		}
	}
}
