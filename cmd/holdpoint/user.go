package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strings"
	"text/tabwriter"

	"holdpoint/operation"
	"holdpoint/store"
)

type userCmd struct {
	Add     userAddCmd     `cmd:"" help:"Add a person; prints the link with which they set their password."`
	List    userListCmd    `cmd:"" help:"List people with their roles."`
	Disable userDisableCmd `cmd:"" help:"Take a person out at once: sessions end, approvals count no more."`
	Enable  userEnableCmd  `cmd:"" help:"Let a disabled person in again, with the roles they have."`
	Reset   userResetCmd   `cmd:"" help:"End a person's password and sessions; prints a new link."`

	ResetFactors userResetFactorsCmd `cmd:"" help:"Remove a person's second factors, who has lost them; their sessions end."`

	Invite   userInviteCmd   `cmd:"" help:"Invite a person; prints a link that works once and holds for a week."`
	Resend   userResendCmd   `cmd:"" help:"Print a new link for a person who has not used their invitation; the earlier one is void."`
	Uninvite userUninviteCmd `cmd:"" help:"Revoke an invitation that was not used; the account is disabled."`
	Grant    userGrantCmd    `cmd:"" help:"Give a role to a person, for every flow or for one."`
	Revoke   userRevokeCmd   `cmd:"" help:"Take a role from a person. It counts at once."`
	SignOut  userSignOutCmd  `cmd:"" help:"End all sessions of a person."`
}

type userAddCmd struct {
	Email string   `arg:"" help:"Mail address; it is the sign-in name."`
	Name  string   `help:"Name as people see it. Default: the address before the @."`
	Role  []string `required:"" help:"author, approver, ops_owner, auditor or admin; may be given several times. ROLE:FLOW limits it to one flow."`
}

// Run adds the person.
func (c userAddCmd) Run(s *Settings) error {
	return s.withRecord(func(ctx context.Context, st *store.Store) error {
		local, _, _ := strings.Cut(c.Email, "@")
		link, err := st.AddUser(ctx, store.System("command"), store.NewUser{Email: c.Email, Name: cmp.Or(c.Name, local), Roles: grants(c.Role)})
		if err != nil {
			return err
		}
		s.printLink(link)
		return nil
	})
}

// grants reads ROLE and ROLE:FLOW.
func grants(roles []string) []store.RoleGrant {
	var out []store.RoleGrant
	for _, r := range roles {
		role, flow, _ := strings.Cut(r, ":")
		out = append(out, store.RoleGrant{Role: operation.Role(role), Flow: flow})
	}
	return out
}

func (s *Settings) printLink(l store.PasswordLink) {
	fmt.Printf("Set the password here, once, until %s:\n%s\n", l.Expires.Local().Format("2006-01-02 15:04 MST"), s.passwordLink(l.Secret))
}

// passwordLink is the address of the page on which a password is set.
func (s *Settings) passwordLink(secret string) string {
	return s.publicURL() + "/set-password?token=" + secret
}

type userListCmd struct{}

// Run lists everybody.
func (userListCmd) Run(s *Settings) error {
	return s.withRecord(func(ctx context.Context, st *store.Store) error {
		users, err := st.ListUsers(ctx)
		if err != nil {
			return err
		}
		w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "EMAIL\tNAME\tROLES\tSTATE")
		for _, u := range users {
			var roles []string
			for _, g := range u.Roles {
				roles = append(roles, strings.TrimSuffix(string(g.Role)+":"+g.Flow, ":"))
			}
			state := "active"
			switch {
			case !u.Active:
				state = "disabled"
			case !u.HasPassword:
				state = "no password yet"
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", u.Email, u.Name, strings.Join(roles, ", "), state)
		}
		return w.Flush()
	})
}

type userDisableCmd struct {
	Email  string `arg:"" help:"Mail address."`
	Reason string `default:"disabled at the command line" help:"Reason, for the history."`
}

// Run disables the person.
func (c userDisableCmd) Run(s *Settings) error {
	return s.withRecord(func(ctx context.Context, st *store.Store) error {
		u, err := st.FindUserByEmail(ctx, c.Email)
		if err != nil {
			return err
		}
		if err := st.DisableUser(ctx, store.System("command"), u.ID, c.Reason); err != nil {
			return err
		}
		fmt.Println(u.Email, "is disabled.")
		return nil
	})
}

type userEnableCmd struct {
	Email  string `arg:"" help:"Mail address."`
	Reason string `default:"enabled at the command line" help:"Reason, for the history."`
}

// Run enables the person.
func (c userEnableCmd) Run(s *Settings) error {
	return s.withRecord(func(ctx context.Context, st *store.Store) error {
		u, err := st.FindUserByEmail(ctx, c.Email)
		if err != nil {
			return err
		}
		if err := st.EnableUser(ctx, store.System("command"), u.ID, c.Reason); err != nil {
			return err
		}
		fmt.Println(u.Email, "is enabled.")
		return nil
	})
}

type userResetCmd struct {
	Email  string `arg:"" help:"Mail address."`
	Reason string `default:"reset at the command line" help:"Reason, for the history."`
}

// Run resets the password.
func (c userResetCmd) Run(s *Settings) error {
	return s.withRecord(func(ctx context.Context, st *store.Store) error {
		u, err := st.FindUserByEmail(ctx, c.Email)
		if err != nil {
			return err
		}
		link, err := st.ResetPassword(ctx, store.System("command"), u.ID, c.Reason)
		if err != nil {
			return err
		}
		s.printLink(link)
		return nil
	})
}

type userResetFactorsCmd struct {
	Email  string `arg:"" help:"Mail address."`
	Reason string `default:"reset at the command line" help:"Reason, for the history."`
}

// Run removes the second factors.
func (c userResetFactorsCmd) Run(s *Settings) error {
	return s.withRecord(func(ctx context.Context, st *store.Store) error {
		u, err := st.FindUserByEmail(ctx, c.Email)
		if err != nil {
			return err
		}
		if err := st.ResetFactors(ctx, store.System("command"), u.ID, c.Reason); err != nil {
			return err
		}
		fmt.Println(u.Email, "has no second factor now.")
		return nil
	})
}

// withRecord opens the store, runs fn and closes it.
func (s *Settings) withRecord(fn func(context.Context, *store.Store) error) error {
	ctx := context.Background()
	st, err := s.record(ctx)
	if err != nil {
		return err
	}
	defer st.Close()
	return fn(ctx, st)
}
