package handlers

import (
	"slices"

	"holdpoint/store"
)

// restored reports that the operation was listed when the database was found to be an older
// copy: it may have been sent since, although nothing here says so.
func restored(p *store.OperationPage) bool {
	return slices.ContainsFunc(p.History, func(h store.HistoryRow) bool { return h.Action == "restore_listed" })
}
