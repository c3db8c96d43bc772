package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
)

type tokenCmd struct {
	Add    tokenAddCmd    `cmd:"" help:"Make a token; its secret is printed once."`
	List   tokenListCmd   `cmd:"" help:"List tokens, without their secrets."`
	Revoke tokenRevokeCmd `cmd:"" help:"Revoke a token at once."`
}

type tokenAddCmd struct {
	Name        string        `arg:"" help:"What the token is for."`
	Scope       []string      `required:"" help:"events, operations, claims, callbacks, batches, suppressions or read; may be given several times."`
	Flow        []string      `help:"Limits the token to these flows."`
	Destination []string      `help:"Limits the token to these destinations."`
	Expires     time.Duration `help:"How long it holds, e.g. 8760h. Default: until it is revoked."`
}

// Run makes the token.
func (c tokenAddCmd) Run(s *Settings) error {
	return s.withRecord(func(ctx context.Context, st *store.Store) error {
		n := store.NewToken{Name: c.Name, Scopes: c.Scope, Flows: c.Flow, Destinations: c.Destination}
		if c.Expires > 0 {
			n.Expires = time.Now().Add(c.Expires)
		}
		id, secret, err := st.AddToken(ctx, store.System("command"), n)
		if err != nil {
			return err
		}
		fmt.Fprintf(os.Stderr, "%s is made. Its secret is shown only now:\n", id)
		fmt.Println(secret)
		return nil
	})
}

type tokenListCmd struct{}

// Run lists the tokens.
func (tokenListCmd) Run(s *Settings) error {
	return s.withRecord(func(ctx context.Context, st *store.Store) error {
		tokens, err := st.ListTokens(ctx)
		if err != nil {
			return err
		}
		w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "ID\tNAME\tSCOPES\tLIMITED TO\tSTATE")
		for _, t := range tokens {
			state := "holds"
			switch {
			case t.RevokedAt != nil:
				state = "revoked " + t.RevokedAt.Local().Format(time.DateTime)
			case t.ExpiresAt != nil && t.ExpiresAt.Before(time.Now()):
				state = "expired " + t.ExpiresAt.Local().Format(time.DateTime)
			case t.ExpiresAt != nil:
				state = "holds until " + t.ExpiresAt.Local().Format(time.DateTime)
			}
			limits := strings.Join(append(append([]string{}, t.Flows...), t.Destinations...), ", ")
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", t.ID, t.Name, strings.Join(t.Scopes, ", "), limits, state)
		}
		return w.Flush()
	})
}

type tokenRevokeCmd struct {
	ID     string `arg:"" help:"ID of the token, tok_…"`
	Reason string `default:"revoked at the command line" help:"Reason, for the history."`
}

// Run revokes the token.
func (c tokenRevokeCmd) Run(s *Settings) error {
	return s.withRecord(func(ctx context.Context, st *store.Store) error {
		if err := st.RevokeToken(ctx, store.System("command"), operation.TokenID(c.ID), c.Reason); err != nil {
			return err
		}
		fmt.Println(c.ID, "is revoked.")
		return nil
	})
}
