package viewstest

import (
	"time"

	"holdpoint/operation"
	"holdpoint/views"
)

// authorFrame is the frame of an author.
func authorFrame(section views.Section, path string) views.Frame {
	f := frame(section, path)
	f.Viewer = &views.Viewer{Name: "Jonas Berg", Email: "jonas@example.test", Roles: []operation.Role{operation.RoleAuthor}}
	return f
}

const startFlow, startPath, startTable = "/flows/call-back", "/flows/call-back/start", "/starts/sta_1"

// startPage is the form of a flow with every kind of input.
func startPage() views.StartModel {
	return views.StartModel{Frame: authorFrame(views.SectionFlows, startPath), FlowTitle: "Call a customer back", FlowURL: startFlow, Rows: 1000, MiB: 2,
		Form: form(startPath), Upload: form(startPath + "/table"),
		Fields: []views.EditField{
			{Path: "customer_ref", Name: "customer_ref", Kind: views.EditLine},
			{Path: "phone", Name: "phone", Kind: views.EditLine, Value: "+48 600 100 200"},
			{Path: "reason", Name: "reason", Kind: views.EditChoice, Options: []views.Option{{Value: "late", Label: "late"}, {Value: "damaged", Label: "damaged"}}},
			{Path: "seats", Name: "seats", Kind: views.EditNumber, Optional: true},
			{Path: "vip", Name: "vip", Kind: views.EditFlag, Optional: true},
			{Path: "note", Name: "note", Kind: views.EditLong, Optional: true, MaxLen: 2000},
		}}
}

func startForms() []Fixture {
	plain := startPage()
	recent := startPage()
	recent.Recent = []views.StartLine{
		{Name: "people.csv", URL: startTable, At: ago(time.Minute), By: editor, Rows: 3, State: "waiting"},
		{Name: "kampania_wiosenna_2026_klienci_z_bardzo_długą_nazwą_pliku_do_sprawdzenia.csv", URL: startTable, At: ago(time.Hour), By: editor, Rows: 1000, State: "going"},
		{Name: "顧客一覧.csv", URL: startTable, At: ago(30 * time.Hour), By: support, Rows: 41, State: "done"},
		{Name: "people.csv", URL: startTable, At: ago(50 * time.Hour), By: editor, Rows: 1, State: "dropped"},
	}
	wrong := startPage()
	wrong.Form.Errors = map[string]views.Say{"content.customer_ref": views.Sentence(views.ErrorRequired), "content.phone": views.Sentence(views.ErrorInvalid),
		"content.reason": views.Sentence(views.ErrorRequired), "content.vip": views.Sentence(views.ErrorInvalid), "content.note": views.Sentence(views.ErrorInvalid)}
	refused := startPage()
	refused.Upload.Errors = map[string]views.Say{"table": views.Sentence("starting.table.columns", "Line", 17, "Limit", 100)}
	return []Fixture{{"start", views.StartPage(plain)}, {"start-recent", views.StartPage(recent)}, {"start-wrong", views.StartPage(wrong)}, {"start-table-refused", views.StartPage(refused)}}
}

// startPreview is a table with rows of every kind.
func startPreview() views.StartTableModel {
	heads := func(chosen string) []views.Option {
		return []views.Option{{Value: "1", Label: "1: Customer", Selected: chosen == "1"}, {Value: "2", Label: "2: Telephone", Selected: chosen == "2"},
			{Value: "3", Label: "3: What happened", Selected: chosen == "3"}}
	}
	columns := []views.StartColumn{{Path: "customer_ref", Required: true, Options: heads("1")}, {Path: "phone", Required: true, Options: heads("2")}, {Path: "note", Options: heads("3")}}
	m := views.StartTableModel{Frame: authorFrame(views.SectionFlows, startTable), FlowTitle: "Call a customer back", FlowURL: startFlow, StartURL: startPath, Name: "people.csv",
		Total: 41, Good: 37, Known: 1, Bad: 3, Until: in(24 * time.Hour), Reading: form(startTable + "/reading"), Begin: form(startTable + "/begin"), Drop: form(startTable + "/drop"),
		Encodings:  []views.Option{{Value: "utf-8", Label: "UTF-8"}, {Value: "windows-1252", Label: "Windows-1252", Selected: true}},
		Separators: []views.Option{{Value: "comma"}, {Value: "semicolon", Selected: true}, {Value: "tab"}, {Value: "line"}}, Columns: columns, Keys: heads("1")}
	m.Rows = []views.StartPreview{
		{Number: 1, Cells: []string{"C-1042", "+48 600 100 200", "The parcel is late and nobody answers the telephone in the shop; she asks to be called after five."}},
		{Number: 2, Cells: []string{"C-2", "", "x"}, Wrong: []string{"Phone"}},
		{Number: 3, Cells: []string{"C-1042", "+48 600 100 200", ""}, Why: "twice"},
		{Number: 4, Cells: []string{"", "+81 3 1234 5678", "田中様、折り返し希望"}, Why: "key"},
		{Number: 5, Cells: []string{"C-7", "+44 20 7946 0000", "=HYPERLINK(\"https://evil.example\")"}, Why: "known", Run: &views.Link{Label: "run_01jrw3v9…", URL: "/runs/run_1"}},
	}
	return m
}

func startTables() []Fixture {
	broken, known, nothing := startPreview(), startPreview(), startPreview()
	broken.Broken = views.Sentence("starting.table.quotes", "Line", 12)
	broken.Rows, broken.Columns, broken.Keys, broken.Total, broken.Good, broken.Known, broken.Bad = nil, nil, nil, 0, 0, 0, 0
	known.Rows = known.Rows[4:]
	known.Total, known.Good, known.Known, known.Bad = 1, 0, 1, 0
	nothing.Rows = nothing.Rows[1:2]
	nothing.Total, nothing.Good, nothing.Known, nothing.Bad = 1, 0, 0, 1
	nothing.Begin.Errors = map[string]views.Say{"": views.Sentence("starting.stale")}
	nothing.Reading.Errors = nothing.Begin.Errors
	return []Fixture{{"start-preview", views.StartTablePage(startPreview())}, {"start-preview-broken", views.StartTablePage(broken)},
		{"start-preview-known", views.StartTablePage(known)}, {"start-preview-nothing", views.StartTablePage(nothing)}}
}

func startResults() []Fixture {
	run := &views.Link{Label: "run_01jrw3v9…", URL: "/runs/run_1"}
	done := views.StartResultModel{Frame: authorFrame(views.SectionFlows, startTable), FlowTitle: "Call a customer back", FlowURL: startFlow, StartURL: startPath, Name: "people.csv", By: editor, At: ago(time.Hour),
		Total: 1000, CSV: startTable + "/results.csv",
		Counts: []views.StartCount{{Result: "started", N: 994}, {Result: "known", N: 2}, {Result: "conflict", N: 1}, {Result: "held", N: 1}, {Result: "refused", N: 2}},
		Rows: []views.StartResultRow{
			{Number: 1, Result: "started", Run: run}, {Number: 2, Result: "refused", Why: "inputs", Fields: []string{"Phone", "Customer reference"}},
			{Number: 3, Result: "known", Run: run}, {Number: 4, Result: "known", Why: "twice"}, {Number: 5, Result: "conflict", Run: run}, {Number: 6, Result: "held"},
			{Number: 7, Result: "refused", Why: "key"}, {Number: 8, Result: "refused", Why: "not_entitled"}, {Number: 9, Result: "refused", Why: "not_possible"}}}
	going := done
	going.Left, going.GoOn, going.Counts, going.Rows = 997, form(startTable+"/begin"), []views.StartCount{{Result: "started", N: 1}, {Result: "refused", N: 1}, {Result: "known", N: 1}}, done.Rows[:3]
	others := going
	others.GoOn = views.Form{}
	others.Note = views.Sentence("starting.stale")
	waiting := done
	waiting.Waiting, waiting.Counts, waiting.Rows = true, nil, nil
	dropped := waiting
	dropped.Waiting, dropped.Dropped = false, true
	return []Fixture{{"start-done", views.StartResultPage(done)}, {"start-going", views.StartResultPage(going)}, {"start-going-others", views.StartResultPage(others)},
		{"start-waiting", views.StartResultPage(waiting)}, {"start-dropped", views.StartResultPage(dropped)}}
}

func startingFixtures() []Fixture {
	list := startForms()
	list = append(list, startTables()...)
	return append(list, startResults()...)
}
