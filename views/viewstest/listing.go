package viewstest

import (
	"time"

	"holdpoint/operation"
	"holdpoint/views"
)

const listFlow, listPath, listNew = "/flows/spring-mailing", "/lists/lst_1", "/flows/spring-mailing/batches/new"

// listingFixtures are the pages on which batches are made of lists.
func listingFixtures() []Fixture {
	fresh := views.NewBatchModel{Frame: authorFrame(views.SectionFlows, listNew), FlowTitle: "Spring mailing", FlowURL: listFlow, Upload: form(listNew), Rows: 100_000, MiB: 64,
		Fields: []views.ListField{{Path: "email", Required: true}, {Path: "greeting", Required: true}, {Path: "name"}}}
	recent := fresh
	recent.Upload = form(listNew)
	recent.Upload.Errors = map[string]views.Say{"list": views.Sentence("newbatch.bad.json", "Line", 17)}
	recent.Recent = []views.ListLine{
		{Name: "spring-recipients.csv", URL: listPath, At: ago(time.Minute), By: editor, State: "waiting"},
		{Name: "wiosna_2026_odbiorcy_z_bardzo_długą_nazwą_pliku_do_sprawdzenia.csv", At: ago(30 * time.Hour), By: editor, State: "made", Batch: &views.Link{Label: "bat_01jrw3v9…", URL: "/batches/bat_1"}},
		{Name: "宛先一覧.csv", At: ago(50 * time.Hour), By: support, State: "gone"},
	}
	broken := listPreview()
	broken.Preview, broken.Columns, broken.Unused = nil, nil, nil
	broken.Broken = views.Sentence("starting.table.quotes", "Line", 12)
	draft := listPreview()
	draft.Form.Errors, draft.Preview.Wrong = nil, nil
	good := listPreview()
	good.Known, good.Form.Errors = nil, nil
	good.Preview = &views.ListPreview{Total: 197, Included: 197, First: listItems(), At: Now}
	json := good
	json.CSV, json.Columns, json.Unused = false, nil, nil
	nothing := listPreview()
	nothing.Preview = &views.ListPreview{Total: 2, Duplicates: 1, Suppressed: 1, At: Now, Left: listLeft()}
	return []Fixture{{"list-new", views.NewBatchPage(fresh)}, {"list-new-recent", views.NewBatchPage(recent)}, {"list-preview", views.ListPage(listPreview())}, {"list-preview-draft", views.ListPage(draft)},
		{"list-preview-good", views.ListPage(good)}, {"list-preview-json", views.ListPage(json)}, {"list-preview-broken", views.ListPage(broken)},
		{"list-preview-nothing", views.ListPage(nothing)}, {"list-preview-revise", views.ListPage(listRevision())}, {"batch-revise", views.ReviseBatchPage(revision())},
		{"batch-revise-look", views.ReviseBatchPage(revisionLook())}}
}

func listTexts() []views.EditField {
	return []views.EditField{
		{Path: "text.subject", Name: "subject", Kind: views.EditLine, Value: "Spring has come to the demo shop", Hint: "One line that names the season.", MaxLen: 200},
		{Path: "text.text", Name: "text", Kind: views.EditLong, Value: "{{greeting}},\n\nthe spring collection is here: seeds, bulbs and the first tulips.", MaxLen: 50_000},
	}
}

func listItems() []views.ListItem {
	mail := func(n int, to, greeting string) views.ListItem {
		return views.ListItem{Line: views.BatchItemLine{Position: n, Key: to, Recipient: to, Title: "Spring has come to the demo shop"}, Content: views.ContentView{Mail: &views.MailView{
			From: "Demo shop <shop@example.test>", To: []string{to}, Subject: "Spring has come to the demo shop", Text: greeting + ",\n\nthe spring collection is here: seeds, bulbs and the first tulips."}}}
	}
	return []views.ListItem{mail(1, "anna.adams@customer.test", "Dear Anna"), mail(2, "ben.adams@customer.test", "Dear Ben"), mail(3, "very.long.address.of.a.customer.with.many.names@department.customer.example.test", "Dear Clara")}
}

func listLeft() []views.BatchItemLine {
	return []views.BatchItemLine{{Position: 41, Key: "dora@customer.test", Recipient: "dora@customer.test", Excluded: operation.ExcludedDuplicate},
		{Position: 58, Key: "olga.nowak@customer.test", Recipient: "olga.nowak@customer.test", Excluded: operation.ExcludedSuppressed}}
}

// listPreview is a list with rows of every kind.
func listPreview() views.ListModel {
	heads := func(chosen string) []views.Option {
		return []views.Option{{Value: "1", Label: "1: E-mail", Selected: chosen == "1"}, {Value: "2", Label: "2: Anrede", Selected: chosen == "2"}, {Value: "3", Label: "3: Name", Selected: chosen == "3"}}
	}
	m := views.ListModel{Frame: authorFrame(views.SectionFlows, listPath), FlowTitle: "Spring mailing", FlowURL: listFlow, BackURL: listNew, Name: "spring-recipients.csv", CSV: true,
		Form: form(listPath + "/look"), Create: listPath + "/create", Drop: form(listPath + "/drop"), Until: in(24 * time.Hour),
		Encodings:  []views.Option{{Value: "utf-8", Label: "UTF-8"}, {Value: "windows-1252", Label: "Windows-1252", Selected: true}},
		Separators: []views.Option{{Value: "comma"}, {Value: "semicolon", Selected: true}, {Value: "tab"}, {Value: "line"}},
		Columns:    []views.StartColumn{{Path: "email", Required: true, Options: heads("1")}, {Path: "greeting", Required: true, Options: heads("2")}, {Path: "name", Options: heads("3")}},
		Unused:     []string{"Schuhgröße", "Kundennummer"},
		Inputs:     []views.EditField{{Path: "in.season", Name: "season", Kind: views.EditLine}}, Texts: listTexts(), Offered: []string{"email", "greeting", "name"},
		Known: []views.Link{{Label: "bat_01jrw3v9…", URL: "/batches/bat_1"}}}
	m.Form.Errors = map[string]views.Say{"again": views.Sentence("newbatch.again_needed"), "content.in.season": views.Sentence(views.ErrorRequired)}
	m.Preview = &views.ListPreview{Total: 200, Included: 192, Duplicates: 3, Suppressed: 1, Problems: 4, Missing: []string{"subject"}, Wrong: []string{"season"}, First: listItems(), Left: listLeft(), ProblemsCSV: listPath + "/problems.csv", At: Now,
		Odd: []views.BatchItemLine{
			{Position: 12, Key: "no address", Recipient: "no address", Problems: []views.BatchProblem{{Code: "item", Field: "email"}, {Code: "content", Field: "to"}}},
			{Position: 77, Key: "ewa@customer.test", Recipient: "ewa@customer.test", Problems: []views.BatchProblem{{Code: "empty", Field: "greeting"}}},
			{Position: 123, Key: "info@flower-market.test", Recipient: "info@flower-market.test", Problems: []views.BatchProblem{{Code: "merge_tag", Field: "text"}}},
		}}
	return m
}

// listRevision is a list that is to take the place of a batch's.
func listRevision() views.ListModel {
	m := listPreview()
	m.Batch, m.Number, m.BackURL = &views.Link{Label: "Spring has come to the demo shop", URL: "/batches/bat_1"}, 2, "/batches/bat_1/revise"
	m.Known, m.Inputs, m.Texts, m.Form.Errors = nil, nil, nil, nil
	m.Preview = &views.ListPreview{Total: 198, Included: 198, First: listItems()[:1], At: Now, Diff: &views.ListDiff{From: 2, Added: 3, Dropped: 12, Changed: 1, Same: 194,
		AddedRows: []string{"cy@customer.test", "kim@customer.test", "田中@customer.test"}, DroppedRows: []string{"ann@customer.test", "ben@customer.test"}, DroppedLeft: 10, ChangedRows: []string{"ewa@customer.test"}}}
	return m
}

func revision() views.ReviseBatchModel {
	return views.ReviseBatchModel{Frame: authorFrame(views.SectionFlows, "/batches/bat_1/revise"), Batch: views.Link{Label: "Spring has come to the demo shop", URL: "/batches/bat_1"}, Number: 2, Lapses: 1,
		Upload: form("/batches/bat_1/list"), Shared: form("/batches/bat_1/revise"), Texts: listTexts(), Offered: []string{"email", "greeting", "name"}, Rows: 100_000, MiB: 64,
		Fields: []views.ListField{{Path: "email", Required: true}, {Path: "greeting", Required: true}, {Path: "name"}}}
}

func revisionLook() views.ReviseBatchModel {
	m := revision()
	m.Preview = &views.ListPreview{Total: 200, Included: 196, Duplicates: 3, Suppressed: 1, First: listItems(), At: Now, Diff: &views.ListDiff{From: 2, Changed: 196,
		ChangedRows: []string{"anna.adams@customer.test", "ben.adams@customer.test"}, ChangedLeft: 194,
		Shared: []views.FieldChange{{Label: "subject", Parts: views.Diff("Spring is here", "Spring has come to the demo shop")}}}}
	return m
}
