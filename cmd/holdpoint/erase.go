package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

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
	went, err := st.EraseOperation(ctx, store.System("command"), c.Operation, c.Reason)
	if r := (*operation.Refusal)(nil); errors.As(err, &r) && r.Code == operation.CodeForbiddenMove {
		return fmt.Errorf("nothing was erased: the operation is in the state %q, or something about it is still open; only what is closed with nothing open about it can be erased", r.Params["state"])
	}
	if err != nil {
		return err
	}
	fmt.Println(erased(c.Operation, went))
	return nil
}

// erased says what really went.
func erased(id operation.ID, went []store.RetentionKind) string {
	if len(went) == 0 {
		return fmt.Sprintf("unchanged %s: nothing was left to erase.", id)
	}
	words := map[store.RetentionKind]string{store.RetainContents: "contents", store.RetainAttachments: "attachments", store.RetainEvidence: "statements and lookups"}
	var list []string
	for _, kind := range went {
		list = append(list, words[kind])
	}
	return fmt.Sprintf("erased    %s: %s. Facts, hashes, decisions and history stay.", id, strings.Join(list, ", "))
}
