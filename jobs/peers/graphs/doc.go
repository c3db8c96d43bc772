// Package graphs tests the JavaScript client, and graphs of the real LangGraph, against a
// server on a real PostgreSQL and the sandbox, whose ledger counts the effects. `make
// peers` fetches the programs and runs it; `make test` does not.
package graphs
