package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"holdpoint/operation"
	"holdpoint/store"
)

type userInviteCmd struct {
	Email  string   `arg:"" help:"Mail address; it is the sign-in name."`
	Name   string   `help:"Name as people see it. Default: the address before the @."`
	Role   []string `required:"" help:"author, approver, ops_owner, auditor or admin; may be given several times. ROLE:FLOW limits it to one flow."`
	Reason string   `default:"invited at the command line" help:"Reason, for the history."`
}

// Run invites the person.
func (c userInviteCmd) Run(s *Settings) error {
	return s.withRecord(func(ctx context.Context, st *store.Store) error {
		local, _, _ := strings.Cut(c.Email, "@")
		n := store.NewUser{Email: c.Email, Name: cmp.Or(c.Name, local), Roles: grants(c.Role)}
		link, err := st.Invite(ctx, store.System("command"), n, c.Reason)
		if err != nil {
			return err
		}
		s.printLink(link)
		return nil
	})
}

type userResendCmd struct {
	Email  string `arg:"" help:"Mail address."`
	Reason string `default:"sent anew at the command line" help:"Reason, for the history."`
}

// Run makes a new link.
func (c userResendCmd) Run(s *Settings) error {
	return s.withPerson(c.Email, func(ctx context.Context, st *store.Store, u store.User) error {
		link, err := st.ResendInvitation(ctx, store.System("command"), u.ID, c.Reason)
		if err != nil {
			return err
		}
		s.printLink(link)
		return nil
	})
}

type userUninviteCmd struct {
	Email  string `arg:"" help:"Mail address."`
	Reason string `default:"revoked at the command line" help:"Reason, for the history."`
}

// Run revokes the invitation.
func (c userUninviteCmd) Run(s *Settings) error {
	return s.withPerson(c.Email, func(ctx context.Context, st *store.Store, u store.User) error {
		if err := st.RevokeInvitation(ctx, store.System("command"), u.ID, c.Reason); err != nil {
			return err
		}
		fmt.Println("The invitation of", u.Email, "is revoked.")
		return nil
	})
}

type userGrantCmd struct {
	Email  string   `arg:"" help:"Mail address."`
	Roles  []string `arg:"" optional:"" name:"role" help:"ROLE or ROLE:FLOW."`
	Role   []string `help:"The same as a flag, as with user add; may be given several times."`
	Reason string   `default:"given at the command line" help:"Reason, for the history."`
}

// Run gives the roles.
func (c userGrantCmd) Run(s *Settings) error {
	return s.changeRoles((*store.Store).GrantRole, c.Email, slices.Concat(c.Roles, c.Role), c.Reason, "holds")
}

type userRevokeCmd struct {
	Email  string   `arg:"" help:"Mail address."`
	Roles  []string `arg:"" optional:"" name:"role" help:"ROLE or ROLE:FLOW, as the list shows it."`
	Role   []string `help:"The same as a flag, as with user add; may be given several times."`
	Reason string   `default:"taken at the command line" help:"Reason, for the history."`
}

// Run takes the roles.
func (c userRevokeCmd) Run(s *Settings) error {
	return s.changeRoles((*store.Store).RevokeRole, c.Email, slices.Concat(c.Roles, c.Role), c.Reason, "no longer holds")
}

type roleChange = func(*store.Store, context.Context, store.Actor, operation.UserID, store.RoleGrant, string) error

// changeRoles gives or takes roles and says so. None at all is a mistake.
func (s *Settings) changeRoles(change roleChange, email string, roles []string, reason, done string) error {
	if len(roles) == 0 {
		return errors.New("name a role: behind the address, or with --role")
	}
	return s.withPerson(email, func(ctx context.Context, st *store.Store, u store.User) error {
		for _, g := range grants(roles) {
			if err := change(st, ctx, store.System("command"), u.ID, g, reason); err != nil {
				return err
			}
		}
		fmt.Println(u.Email, done, strings.Join(roles, ", "))
		return nil
	})
}

type userSignOutCmd struct {
	Email  string `arg:"" help:"Mail address."`
	Reason string `default:"signed out at the command line" help:"Reason, for the history."`
}

// Run ends the sessions.
func (c userSignOutCmd) Run(s *Settings) error {
	return s.withPerson(c.Email, func(ctx context.Context, st *store.Store, u store.User) error {
		if err := st.SignOutUser(ctx, store.System("command"), u.ID, c.Reason); err != nil {
			return err
		}
		fmt.Println("All sessions of", u.Email, "have ended.")
		return nil
	})
}

// withPerson opens the store and finds somebody by their address.
func (s *Settings) withPerson(email string, fn func(context.Context, *store.Store, store.User) error) error {
	return s.withRecord(func(ctx context.Context, st *store.Store) error {
		u, err := st.FindUserByEmail(ctx, email)
		if err != nil {
			return err
		}
		return fn(ctx, st, u)
	})
}
