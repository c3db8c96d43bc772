package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

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
	roles, err := rolesOf(c.Roles, c.Role)
	if err != nil {
		return err
	}
	return s.withPerson(c.Email, func(ctx context.Context, st *store.Store, u store.User) error {
		for _, g := range grants(roles) {
			if err := st.GrantRole(ctx, store.System("command"), u.ID, g, c.Reason); err != nil {
				return err
			}
		}
		fmt.Println(u.Email, "holds", strings.Join(roles, ", "))
		return nil
	})
}

type userRevokeCmd struct {
	Email  string   `arg:"" help:"Mail address."`
	Roles  []string `arg:"" optional:"" name:"role" help:"ROLE or ROLE:FLOW, as the list shows it."`
	Role   []string `help:"The same as a flag, as with user add; may be given several times."`
	Reason string   `default:"taken at the command line" help:"Reason, for the history."`
}

// Run takes the roles.
func (c userRevokeCmd) Run(s *Settings) error {
	roles, err := rolesOf(c.Roles, c.Role)
	if err != nil {
		return err
	}
	return s.withPerson(c.Email, func(ctx context.Context, st *store.Store, u store.User) error {
		for _, g := range grants(roles) {
			if err := st.RevokeRole(ctx, store.System("command"), u.ID, g, c.Reason); err != nil {
				return err
			}
		}
		fmt.Println(u.Email, "no longer holds", strings.Join(roles, ", "))
		return nil
	})
}

// rolesOf are the roles behind the address and those of the flag. None at all is a mistake.
func rolesOf(behind, flags []string) ([]string, error) {
	roles := slices.Concat(behind, flags)
	if len(roles) == 0 {
		return nil, errors.New("name a role: behind the address, or with --role")
	}
	return roles, nil
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
