package main

import (
	"cmp"
	"context"
	"fmt"

	"holdpoint/store"
)

type migrateCmd struct{}

// Run migrates as the owner role.
func (migrateCmd) Run(s *Settings) error {
	db, err := s.findDatabase()
	if err != nil {
		return err
	}
	db.owner = cmp.Or(db.owner, db.app)
	ctx := context.Background()
	_, before, err := store.SchemaVersion(ctx, db.owner)
	if err != nil {
		return err
	}
	if err := db.migrate(ctx); err != nil {
		return err
	}
	version, after, err := store.SchemaVersion(ctx, db.owner)
	if err != nil {
		return err
	}
	switch n := after - before; n {
	case 0:
		fmt.Printf("The schema is up to date: version %d.\n", version)
	case 1:
		fmt.Printf("Applied 1 migration. The schema has version %d.\n", version)
	default:
		fmt.Printf("Applied %d migrations. The schema has version %d.\n", n, version)
	}
	if roleOf(db.owner) == roleOf(db.app) {
		fmt.Println("One role is both owner and application, so only triggers guard the history. Two roles are better: docs/operations.md.")
	}
	return nil
}
