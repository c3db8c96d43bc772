package handlers

import (
	"encoding/hex"
	"time"

	"holdpoint/store"
	"holdpoint/views"
)

// historyOf shows the entries of one subject, newest first.
func historyOf(rows []store.HistoryRow, n names, verified bool) views.HistoryModel {
	m := views.HistoryModel{Total: len(rows), Verified: verified}
	for i := len(rows) - 1; i >= 0; i-- {
		m.Entries = append(m.Entries, historyLine(rows[i], n))
	}
	return m
}

func historyLine(h store.HistoryRow, n names) views.HistoryLine {
	return views.HistoryLine{Seq: h.Seq, Hash: hex.EncodeToString(h.Hash), At: h.At, Who: n.actor(h), Role: h.Role, Channel: h.Channel,
		Action: h.Action, From: h.From, To: h.To, Reason: h.Reason, Links: h.Links()}
}

// historySince gives the entries after a moment, newest first.
func historySince(rows []store.HistoryRow, n names, at time.Time) []views.HistoryLine {
	if at.IsZero() {
		return nil
	}
	var out []views.HistoryLine
	for i := len(rows) - 1; i >= 0 && rows[i].At.After(at); i-- {
		out = append(out, historyLine(rows[i], n))
	}
	return out
}
