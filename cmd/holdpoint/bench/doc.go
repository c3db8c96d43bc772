// Package bench measures Holdpoint's gate against pgbench on the same server, in
// interleaved slices, in process through the store's own methods with history, named
// constraints and job wake-ups included.
//
// It may import store, store/pglocal, operation, jobs and connector of ours.
package bench
