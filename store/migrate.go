package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"holdpoint/migrations"

	"github.com/lib/pq"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
	"github.com/riverqueue/river/riverdriver/riverdatabasesql"
	"github.com/riverqueue/river/rivermigrate"
)

// ErrSchema is a database whose schema this program does not speak.
var ErrSchema = errors.New("the database's schema does not fit this program")

func provider(db *sql.DB) (*goose.Provider, error) {
	locker, err := lock.NewPostgresSessionLocker()
	if err != nil {
		return nil, err
	}
	return goose.NewProvider(goose.DialectPostgres, db, migrations.FS, goose.WithSessionLocker(locker))
}

// Migrate brings the schema to this program's version, as the owner role, and gives
// the application role its rights: no UPDATE, DELETE or TRUNCATE on append-only
// tables. appRole "" means that one role is both; triggers alone guard the history then.
func Migrate(ctx context.Context, ownerURL, appRole string) error {
	db, err := connect(ownerURL)
	if err != nil {
		return err
	}
	defer db.Close()
	p, err := provider(db.DB)
	if err != nil {
		return err
	}
	if _, err := p.Up(ctx); err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	m, err := rivermigrate.New(riverdatabasesql.New(db.DB), nil)
	if err != nil {
		return err
	}
	if _, err := m.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return fmt.Errorf("migrate job tables: %w", err)
	}
	if appRole == "" {
		return nil
	}
	tx, err := db.BeginTxx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	for _, stmt := range grants(pq.QuoteIdentifier(appRole)) {
		if _, err := tx.ExecContext(ctx, stmt); err != nil {
			return fmt.Errorf("rights of the application role: %w", err)
		}
	}
	return tx.Commit()
}

// appendOnly lists the tables that the application role may only read and add to.
var appendOnly = []string{"history", "evidence", "approvals", "clearances", "clearance_approvals", "content_versions", "submissions",
	"checklist_answers", "flow_versions", "destination_versions", "events", "stage_waivers", "target_references", "deliveries", "held_decisions", "history_kinds", "case_corrections", "stops", "stop_corrections",
	"incident_signatures", "probes",
	"start_rows", "start_places",
	"limit_versions", "reports", "report_items", "report_comments", "report_signatures", "acceptance_destinations", "acceptance_signatures", "erasures", "version_bodies", "event_bodies", "attachment_bodies",
	"checkpoints", "checkpoint_leaves", "callback_refusals", "history_thinnings",
	"batch_items", "batch_bodies", "batch_approvals", "batch_clearances", "batch_clearance_approvals", "batch_marks"}

func grants(role string) []string {
	out := []string{
		"GRANT USAGE ON SCHEMA public TO " + role,
		"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO " + role,
		"GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO " + role,
		"REVOKE INSERT, UPDATE, DELETE ON goose_db_version FROM " + role,
		"REVOKE DELETE ON operations, attempts, runs, users, installation, held_events, chain_heads, acceptance_runs, incidents, incident_lines, improvement_tasks, restores, restore_items, restore_batches, checkpoint_reading FROM " + role,
		"REVOKE DELETE ON recovery_cases, case_holds, case_active FROM " + role,
		"REVOKE DELETE ON patterns, suggestions, starts, source_silences FROM " + role,
		"REVOKE DELETE ON news, batches, batch_versions, batch_counts FROM " + role,
		"REVOKE DELETE ON list_files FROM " + role,
		"REVOKE DELETE ON suppressions FROM " + role,
	}
	out = append(out, "REVOKE INSERT, UPDATE, DELETE ON history_thinnings, history_waits FROM "+role)
	for _, t := range appendOnly {
		out = append(out, "REVOKE UPDATE, DELETE, TRUNCATE ON "+t+" FROM "+role)
	}
	return append(out, "GRANT EXECUTE ON FUNCTION add_partitions(int), erase_deliveries(int), erase_batch(text, timestamptz), thin_history(int) TO "+role, wholeOnly(role))
}

// checkSchema refuses a schema older or newer than this program's.
func (s *Store) checkSchema(ctx context.Context) error {
	want, err := newestMigration()
	if err != nil {
		return err
	}
	var have sql.NullInt64
	err = s.db.GetContext(ctx, &have, `SELECT max(version_id) FROM goose_db_version WHERE is_applied`)
	var p *pq.Error
	switch {
	case errors.As(err, &p) && p.Code == "42P01":
		return fmt.Errorf("%w: it is empty; run: holdpoint migrate", ErrSchema)
	case err != nil:
		return err
	case have.Int64 < want:
		return fmt.Errorf("%w: it has version %d, this program needs %d; run: holdpoint migrate", ErrSchema, have.Int64, want)
	case have.Int64 > want:
		return fmt.Errorf("%w: it has version %d, newer than this program's %d; start the newer program, or restore the older backup", ErrSchema, have.Int64, want)
	}
	return nil
}

func newestMigration() (int64, error) {
	entries, err := migrations.FS.ReadDir(".")
	if err != nil {
		return 0, err
	}
	var newest int64
	for _, e := range entries {
		v, err := goose.NumericComponent(e.Name())
		if err != nil {
			return 0, err
		}
		newest = max(newest, v)
	}
	return newest, nil
}
