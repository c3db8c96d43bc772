// Package bench measures Holdpoint's gate against pgbench on the same server, in
// interleaved slices, in process through the store's own methods with history, named
// constraints and job wake-ups included; and whole pages over HTTP with many operations
// in the database.
//
// It may import store, store/pglocal, operation, jobs, connector, handlers and web of ours.
package bench
