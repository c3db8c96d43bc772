// Package peers tests what leaves against real programs of others: mail against Mailpit.
// `make peers` fetches them and runs it; `make test` does not.
package peers
