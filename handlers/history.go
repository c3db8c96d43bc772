package handlers

import (
	"encoding/hex"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/views"
)

// historyOf shows the entries of one subject, newest first.
func historyOf(rows []store.HistoryRow, n names, verified bool) views.HistoryModel {
	m := views.HistoryModel{Total: len(rows), Verified: verified}
	if len(rows) > 0 {
		m.Timeline = timelineURL(rows[0].SubjectKind, rows[0].SubjectID)
	}
	for i := len(rows) - 1; i >= 0; i-- {
		m.Entries = append(m.Entries, historyLine(rows[i], n))
	}
	return m
}

// newestEntries is how many entries an operation's page shows unless all are asked for.
const newestEntries = 100

// newestOf shows the newest entries of an operation's history; all with ?all=history.
func newestOf(p *store.OperationPage, n names, lang string, want shown) views.HistoryModel {
	rows := p.History
	if want.all != "history" && len(rows) > newestEntries {
		rows = rows[len(rows)-newestEntries:]
	}
	m := historyOf(rows, n, p.ChainOK)
	for i := range m.Entries {
		inFigures(m.Entries[i].Links, p, lang)
	}
	if m.Total = len(p.History); m.Total > len(rows) {
		m.Older = pathOperation(p.ID) + "?all=history#hist"
	}
	return m
}

// inFigures says attempts and versions by their numbers, and stages by their titles, as the
// rest of the page does.
func inFigures(links map[string]string, p *store.OperationPage, lang string) {
	if v := versionByID(p, operation.VersionID(links["version"])); v != nil {
		links["version"] = itoa(v.Number)
	}
	for _, a := range p.Attempts {
		if string(a.ID) == links["attempt"] {
			links["attempt"] = itoa(a.Number)
		}
	}
	if st, ok := p.Flow2.Stage(links["stage"]); ok {
		links["stage"] = st.Title.In(lang)
	}
}

func historyLine(h store.HistoryRow, n names) views.HistoryLine {
	return views.HistoryLine{Seq: h.Seq, Hash: hex.EncodeToString(h.Hash), At: h.At, Who: n.actor(h), Role: h.Role, Channel: h.Channel,
		Action: h.Action, From: h.From, To: h.To, Reason: h.Reason, Links: h.Links(), Gone: h.WordsGone()}
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
