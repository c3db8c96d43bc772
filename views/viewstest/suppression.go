package viewstest

import (
	"time"

	"holdpoint/operation"
	"holdpoint/views"
)

// suppressionLines are entries of every kind.
func suppressionLines() []views.SuppressionLine {
	line := func(id, address string, reason operation.SuppressionReason, source, by string, at time.Time) views.SuppressionLine {
		return views.SuppressionLine{ID: "sup_" + id, URL: views.PathSuppressions + "/sup_" + id, Address: address, Scope: operation.SuppressAll, Reason: reason, Since: at, Source: source, By: by}
	}
	told := line("2", "bounced@example.test", operation.SuppressedBounce, "callback", "", ago(2*time.Hour))
	told.Scope, told.Channel, told.Operation = operation.SuppressEffect, "Every mail", &views.Link{Label: "op_01jrw3v9…", URL: "/operations/op_1"}
	hand := line("3", "kierownik.zakupow.dzialu.obslugi.klienta.kluczowego@bardzo-dluga-nazwa-domeny.example.test", operation.SuppressedManual, "person", "Mika Ito", ago(30*time.Hour))
	hand.Note, hand.Until, hand.Scope, hand.Channel = "Asked for silence until the move is over.", in(20*24*time.Hour), operation.SuppressDestination, "Only at Letters"
	return []views.SuppressionLine{line("1", "kim@example.test", operation.SuppressedUnsubscribed, "import", "Jonas Berg", ago(time.Minute)), told, hand,
		line("4", "田中@example.test", operation.SuppressedComplaint, "api", "newsletter system", ago(300*time.Hour))}
}

func suppressionChannels() []views.Option {
	return []views.Option{{Value: "effect:email", Label: "Every mail"}, {Value: "destination:mail", Label: "Only at Mail (sandbox)"}}
}

func suppressionReasons(chosen operation.SuppressionReason) []views.Option {
	var out []views.Option
	for _, r := range operation.SuppressionReasons {
		out = append(out, views.Option{Value: string(r), Selected: r == chosen})
	}
	return out
}

func suppressionPage() views.SuppressionsModel {
	upload := form(views.PathSuppressions + "/import")
	return views.SuppressionsModel{Frame: authorFrame(views.SectionOperations, views.PathSuppressions), Reasons: suppressionReasons(""), Channels: suppressionChannels(), Rows: suppressionLines(),
		ExportURL: views.PathSuppressions + "/export.csv", Rows100k: 100_000, MiB: 8, Upload: &upload,
		Add: &views.SuppressionForm{Form: form(views.PathSuppressions + "/add"), Reasons: suppressionReasons(operation.SuppressedUnsubscribed), Channels: suppressionChannels()}}
}

func suppressionImport() views.SuppressionImportModel {
	const at = views.PathSuppressions + "/imports/suf_1"
	return views.SuppressionImportModel{Frame: authorFrame(views.SectionOperations, at), URL: at, Name: "unsubscribed-2026-11.csv", Reasons: suppressionReasons(operation.SuppressedUnsubscribed), Channels: suppressionChannels(),
		Encodings:  []views.Option{{Value: "utf-8", Label: "UTF-8", Selected: true}, {Value: "windows-1252", Label: "Windows-1252"}},
		Separators: []views.Option{{Value: "comma"}, {Value: "semicolon", Selected: true}, {Value: "tab"}, {Value: "line"}},
		Columns:    []views.Option{{Value: "1", Label: "1: Customer"}, {Value: "2", Label: "2: E-mail", Selected: true}},
		Total:      1204, New: 1163, Known: 30, Twice: 9, Wrong: 2, First: []string{"kim@example.test", "lee@example.test", "+48 600 100 200"},
		WrongRows: []views.SuppressionWrong{{Number: 17}, {Number: 403, Cell: "a@example.test, b@example.test"}}, Accepted: views.Invalid("address_all", 0), Begin: form(at + "/begin"), Drop: form(at + "/drop"),
		Chosen: [][2]string{{"encoding", "utf-8"}, {"separator", "semicolon"}, {"column", "2"}, {"reason", "unsubscribed"}, {"channel", ""}}}
}

func suppressionFixtures() []Fixture {
	empty, none, wrong, reader := suppressionPage(), suppressionPage(), suppressionPage(), suppressionPage()
	empty.Rows = nil
	none.Rows, none.Q, none.Active = nil, "zoe", true
	wrong.Add.Errors = map[string]views.Say{"address": views.Invalid("address_missing", 0), "until": views.Invalid("suppression_until", 0)}
	wrong.Upload.Errors = map[string]views.Say{"file": views.Sentence("suppression.file_none")}
	reader.Add, reader.Upload = nil, nil
	reader.Lifted, reader.Active = true, true
	for i := range reader.Rows {
		reader.Rows[i].LiftedAt, reader.Rows[i].LiftedBy, reader.Rows[i].LiftedWhy = ago(time.Hour), "Mika Ito", "They subscribed again."
	}
	reader.Rows[2].LiftedAt, reader.Rows[2].Over, reader.Rows[2].Until = time.Time{}, true, ago(2*time.Hour)
	lift := form(views.PathSuppressions + "/sup_3/lift")
	one := views.SuppressionModel{Frame: frame(views.SectionOperations, views.PathSuppressions+"/sup_3"), SuppressionLine: suppressionLines()[2], Lift: &lift}
	lifted := views.SuppressionModel{Frame: frame(views.SectionOperations, views.PathSuppressions+"/sup_1"), SuppressionLine: reader.Rows[0]}
	broken, nothing := suppressionImport(), suppressionImport()
	broken.Broken, broken.Total, broken.New, broken.Known, broken.Twice, broken.Wrong = views.Sentence("starting.table.quotes", "Line", 12), 0, 0, 0, 0, 0
	broken.First, broken.WrongRows, broken.Columns = nil, nil, nil
	nothing.New, nothing.Known, nothing.Total = 0, 1193, 1204
	return []Fixture{{"suppressions", views.SuppressionsPage(suppressionPage())}, {"suppressions-empty", views.SuppressionsPage(empty)}, {"suppressions-none", views.SuppressionsPage(none)},
		{"suppressions-wrong", views.SuppressionsPage(wrong)}, {"suppressions-lifted", views.SuppressionsPage(reader)}, {"suppression", views.SuppressionPage(one)}, {"suppression-lifted", views.SuppressionPage(lifted)},
		{"suppression-import", views.SuppressionImportPage(suppressionImport())}, {"suppression-import-broken", views.SuppressionImportPage(broken)}, {"suppression-import-nothing", views.SuppressionImportPage(nothing)}}
}
