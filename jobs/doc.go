// Package jobs performs effects and lookups in the background. River wakes a worker;
// the operation's row and operation.Permit decide. An attempt is: take a token of the
// destination, claim and dispatch (one transaction), act (no transaction), record (one
// transaction, guarded by the fence).
//
// Any number of processes may run a Worker on the same database. A worker that dies
// leaves nothing but an open attempt; when its lease has ended, the sweep of any other
// worker says what is known: nothing was sent, or unknown.
//
// It may import connector, store, operation, operation/definition and views/text of
// ours, never HTTP server code. *sql.DB and pgx appear for River only.
package jobs
