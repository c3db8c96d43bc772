package store

import "holdpoint/operation"

// Actor is who asks for a change: a signed-in person, an API token, one of our own
// jobs, or the system. Rights are read inside the transaction, never from here.
type Actor struct {
	Kind    operation.ActorKind
	ID      string // operation.UserID, operation.TokenID, a worker's name, or "system"
	Name    string // as shown in the history
	Channel string // web, api, job, command
	// Session is the hash of the token of the browser's session; nil where there is none.
	Session []byte
	// Scopes, Flows and Destinations limit a token; empty Flows or Destinations = all.
	Scopes, Flows, Destinations []string
}

// System is the actor of steps that nobody asked for.
func System(channel string) Actor {
	return Actor{Kind: operation.ActorSystem, ID: "system", Name: "system", Channel: channel}
}

// Job is the actor of a background worker.
func Job(worker string) Actor {
	return Actor{Kind: operation.ActorJob, ID: worker, Name: worker, Channel: "job"}
}

// Person is the actor of a signed-in person.
func Person(id operation.UserID, name, channel string) Actor {
	return Actor{Kind: operation.ActorPerson, ID: string(id), Name: name, Channel: channel}
}

// UserID is the person's ID, "" when the actor is not a person.
func (a Actor) UserID() operation.UserID {
	if a.Kind != operation.ActorPerson {
		return ""
	}
	return operation.UserID(a.ID)
}

// person reads the acting person and their roles for a flow, inside the transaction.
func (t *tx) person(a Actor, flow string) (operation.Person, error) {
	if a.Kind != operation.ActorPerson {
		return operation.Person{}, operation.Refuse(operation.CodeNotEntitled)
	}
	var row struct {
		Email  string `db:"email"`
		Active bool   `db:"active"`
		Roles  string `db:"roles"`
		Same   string `db:"same_as"`
	}
	err := t.get(&row, `SELECT email, active, COALESCE(same_as, '') AS same_as, COALESCE((SELECT string_agg(DISTINCT role, ',') FROM user_roles
		WHERE user_id = u.id AND flow IN ('', $2)), '') AS roles FROM users u WHERE id = $1`, a.ID, flow)
	if err != nil {
		return operation.Person{}, err
	}
	return operation.Person{ID: operation.UserID(a.ID), Natural: operation.UserID(row.Same), Email: row.Email, Active: row.Active, Roles: splitRoles(row.Roles)}, nil
}
