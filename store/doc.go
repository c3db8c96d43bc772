// Package store keeps Holdpoint's record in PostgreSQL. One exported method is one
// transaction; its history entry is written in the same transaction. A verb locks the
// run and the operation, reads the database's clock, lets package operation decide,
// writes the answer under a guard, commits. Nothing outside the database happens
// inside a transaction.
//
// It may import operation, operation/definition and migrations of ours. sqlx and
// lib/pq appear here only.
package store
