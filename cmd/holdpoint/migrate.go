package main

import (
	"cmp"
	"context"
	"fmt"
)

type migrateCmd struct{}

// Run migrates as the owner role.
func (migrateCmd) Run(s *Settings) error {
	db, err := s.findDatabase()
	if err != nil {
		return err
	}
	db.owner = cmp.Or(db.owner, db.app)
	if err := db.migrate(context.Background()); err != nil {
		return err
	}
	fmt.Println("The schema is up to date.")
	if roleOf(db.owner) == roleOf(db.app) {
		fmt.Println("One role is both owner and application, so only triggers guard the history. Two roles are better: docs/operations.md.")
	}
	return nil
}
