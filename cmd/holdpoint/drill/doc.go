// Package drill runs the six acceptance cases with real processes: a private
// PostgreSQL, the sandbox, the server, two workers. It counts effects in the sandbox's
// ledger, never in what a call returned, and gives one sheet with what was done and
// what came of it.
//
// The product has no clock override: the drill's own destinations document a key that
// protects for three seconds without a margin, and the sandbox is told the same.
//
// It may import store, store/pglocal and operation of ours.
package drill
