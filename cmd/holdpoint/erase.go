package main

import (
	"context"
	"fmt"

	"holdpoint/operation"
	"holdpoint/store"
)

type eraseCmd struct {
	Operation operation.ID `arg:"" help:"The operation whose contents, attachments and statements go. It must be closed, with nothing open about it."`
	Reason    string       `required:"" help:"Why; it is kept in the operation's history."`
}

// Run erases the bodies of one operation. Facts, hashes, decisions and history stay.
func (c eraseCmd) Run(s *Settings) error {
	ctx := context.Background()
	st, err := s.record(ctx)
	if err != nil {
		return err
	}
	defer st.Close()
	if err := st.EraseOperation(ctx, store.System("command"), c.Operation, c.Reason); err != nil {
		return err
	}
	fmt.Printf("erased    %s: contents, attachments and statements. Facts, hashes, decisions and history stay.\n", c.Operation)
	return nil
}
