package viewstest

import (
	"strings"
	"time"

	"holdpoint/operation"
	"holdpoint/views"
)

func reportFixtures() []Fixture {
	week, month := reportRow("rep_1", operation.Weekly), reportRow("rep_2", operation.Monthly)
	flow := week
	flow.ID, flow.Flow, flow.Open, flow.Doubt, flow.SignedBy, flow.Stale = "rep_3", "Campaign follow-up", 3, 0, "Anna Wolska", true
	month.SignedBy, month.Comments = "田中 さくら", 4
	list := views.ReportsModel{Frame: frame(views.SectionReports, views.PathReports), Rows: []views.ReportRowView{week, flow, month}, Kinds: []views.Option{{Value: "weekly"}, {Value: "monthly"}},
		Flows: []views.Option{{Value: "*", Label: "–"}, {Value: "campaign", Label: "Campaign follow-up"}}}
	none := views.ReportsModel{Frame: list.Frame, Kinds: list.Kinds, FirstWeek: in(4 * 24 * time.Hour), FirstMonth: in(15 * 24 * time.Hour), Zone: "Europe/Warsaw"}
	open := review(week)
	signed := review(week)
	signed.Late, signed.SignedBy = true, "Anna Wolska"
	signed.Signatures = []views.ReportSignatureView{{Name: "Anna Wolska", Role: operation.RoleOpsOwner, At: ago(2 * time.Hour), Comments: 2, Hash: hashOne}}
	signed.Sign = barred(operation.CodeNotEntitled, "role", "ops_owner")
	for i := range signed.Sections {
		signed.Sections[i].Form = nil
	}
	items := views.ReportItemsModel{Frame: open.Frame, ReportRowView: week, Line: open.Sections[0].Lines[0], Next: "/reports/rep_1/items?line=open_at_end&after=100"}
	for i, s := range []operation.State{operation.Unknown, operation.Review, operation.Confirmed, operation.PendingApproval} {
		items.Rows = append(items.Rows, views.ReportItemView{N: i + 1, ID: string(opTask), URL: "/operations/" + string(opTask), Title: "Call C-1042 about Spring", Flow: "Campaign follow-up", Place: "Northdesk CRM", State: s})
	}
	items.Rows[1].Attempt = "att_01jrw3v9m8f6xt2c7k4q0hz5da"
	items.Rows[3] = views.ReportItemView{N: 4, ID: "inc_1", URL: "/incidents/inc_1", Title: "INC-7 " + strings.Repeat("A long title that goes on ", 5)}
	return []Fixture{
		{"reports", views.ReportsPage(list)},
		{"reports-none", views.ReportsPage(none)},
		{"report", views.ReportPage(open)},
		{"report-signed", views.ReportPage(signed)},
		{"report-items", views.ReportItemsPage(items)},
	}
}

func warsaw() *time.Location {
	if z, err := time.LoadLocation("Europe/Warsaw"); err == nil {
		return z
	}
	return time.UTC
}

func reportRow(id string, k operation.ReportKind) views.ReportRowView {
	p := operation.LastPeriod(k, Now, warsaw())
	return views.ReportRowView{ID: id, URL: views.PathReports + "/" + id, Kind: k, From: p.From, To: p.To, Zone: warsaw(), Open: 7, Doubt: 2, Comments: 2}
}

// review is a whole review with two comments.
func review(row views.ReportRowView) views.ReportModel {
	p := operation.LastPeriod(row.Kind, Now, warsaw())
	m := views.ReportModel{Frame: frame(views.SectionReports, row.URL), ReportRowView: row, Before: p.Before, MadeAt: p.To.Add(11 * time.Minute), Hash: hashTwo, CSV: row.URL + "/review.csv", Markdown: row.URL + "/review.md",
		Sign: form(row.URL + "/sign")}
	line := func(s operation.ReviewSection, code string, kind operation.ReviewKind, n, of, bn, bof int64, since int) views.ReportLineView {
		l := views.ReportLineView{ReviewLine: operation.ReviewLine{Section: s, Code: code, Kind: kind, Now: operation.ReviewNumber{N: n, Of: of}, Before: operation.ReviewNumber{N: bn, Of: bof}}, Since: since}
		if n > 0 && s != operation.ReviewVolume {
			l.URL = row.URL + "/items?line=" + code
		}
		return l
	}
	crm, mail := line(operation.ReviewDestinations, "destination_errors", operation.ReviewRate, 72, 2310, 9, 2204, -1), line(operation.ReviewDestinations, "destination_errors", operation.ReviewRate, 9, 2894, 11, 2760, -1)
	crm.ReviewLine.Name, crm.Name, mail.ReviewLine.Name, mail.Name = "crm", "Northdesk CRM", "mail", "Postrider Mail"
	lines := []views.ReportLineView{
		line(operation.ReviewOpen, "open_at_end", operation.ReviewCount, 7, 0, 3, 0, 5), line(operation.ReviewOpen, "unresolved_at_end", operation.ReviewCount, 2, 0, 0, 0, 2),
		line(operation.ReviewOpen, "unresolved_occurred", operation.ReviewCount, 74, 0, 9, 0, 72), line(operation.ReviewAdopted, "adopted", operation.ReviewCount, 1, 0, 2, 0, 0),
		line(operation.ReviewKeys, "key_reuse", operation.ReviewCount, 37, 0, 12, 0, -1), line(operation.ReviewDuplicates, "duplicates_suspected", operation.ReviewCount, 1, 0, 0, 0, 0),
		line(operation.ReviewDuplicates, "duplicates_confirmed", operation.ReviewCount, 0, 0, 0, 0, -1), line(operation.ReviewDuplicates, "duplicate_rate", operation.ReviewRate, 0, 6118, 0, 5902, -1), crm, mail,
		line(operation.ReviewDelays, "approval_delay", operation.ReviewDuration, 1440, 512, 1210, 498, -1), line(operation.ReviewDelays, "recovery_in_hand", operation.ReviewDuration, 6720, 9, 0, 0, -1),
		line(operation.ReviewReexecutions, "reexecution_errors", operation.ReviewRate, 0, 9, 0, 0, -1), line(operation.ReviewFollowUp, "tasks_overdue", operation.ReviewCount, 2, 0, 1, 0, 1),
		line(operation.ReviewVolume, "events", operation.ReviewCount, 4812, 0, 4590, 0, -1), line(operation.ReviewVolume, "attempts", operation.ReviewCount, 6240, 0, 5990, 0, -1),
	}
	for _, section := range operation.ReviewSections {
		x := views.ReportSectionView{Section: section}
		for _, l := range lines {
			if l.Section == section {
				x.Lines = append(x.Lines, l)
			}
		}
		f := form(row.URL + "/comment")
		x.Form = &f
		m.Sections = append(m.Sections, x)
	}
	m.Sections[0].Comments = []views.ReportCommentView{{Name: "Anna Wolska", Body: "The outage of 14 April.\nAll but two are settled since.", At: ago(3 * time.Hour)}, {Name: "田中 さくら", Body: "確認しました。", At: ago(2 * time.Hour)}}
	return m
}
