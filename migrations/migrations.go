// Package migrations embeds the database schema. It holds SQL only; package store
// runs it. It may import nothing of ours.
package migrations

import "embed"

// FS holds the goose migrations, oldest first.
//
//go:embed *.sql
var FS embed.FS
