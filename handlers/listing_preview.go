package handlers

import (
	"slices"

	"holdpoint/operation/definition"
	"holdpoint/store"
	"holdpoint/views"
)

// previewOf shows what a look at a list found.
func previewOf(f *store.ListJudged) *views.ListPreview {
	m := &views.ListPreview{Total: f.Total, Included: f.Included - f.Problems, Duplicates: f.Duplicates, Suppressed: f.Suppressed, Problems: f.Problems, Missing: f.Missing, Wrong: f.Wrong, At: f.At}
	for _, x := range f.First {
		m.First = append(m.First, views.ListItem{Line: listLine(x), Content: previewContent(x)})
	}
	for _, x := range f.Odd {
		m.Odd = append(m.Odd, listLine(x))
	}
	for _, x := range f.Left {
		m.Left = append(m.Left, listLine(x))
	}
	if d := f.Diff; d != nil {
		m.Diff = &views.ListDiff{From: d.From, Added: d.Added, Dropped: d.Dropped, Changed: d.Changed, Same: d.Same, AddedRows: d.Adds, DroppedRows: d.Drops, ChangedRows: d.Changes,
			AddedLeft: d.Added - len(d.Adds), DroppedLeft: d.Dropped - len(d.Drops), ChangedLeft: d.Changed - len(d.Changes)}
	}
	return m
}

func listLine(x store.JudgedItem) views.BatchItemLine {
	out := views.BatchItemLine{Position: x.Position, Key: x.Key, Recipient: x.Recipient, Title: x.Title, Excluded: x.Excluded}
	for _, p := range x.Problems {
		out.Problems = append(out.Problems, views.BatchProblem{Code: p.Code, Field: p.Field})
	}
	return out
}

// previewContent shows one row as it would be sent. A mail's HTML part stands as its source:
// there is no page yet that could frame it.
func previewContent(x store.JudgedItem) views.ContentView {
	v, err := definition.DecodeJSON(x.Content)
	content, ok := v.(map[string]any)
	if err != nil || !ok {
		return views.ContentView{}
	}
	if !isMail(content) {
		fields, cut := shownFields(content, "")
		return views.ContentView{Fields: fields, Cut: cut}
	}
	row := store.VersionRow{ContentText: string(x.Content), RequestText: string(x.Request)}
	m := mailHead(row, content)
	text, cut := views.Bound(shownValue(content["text"]), views.ShownText)
	if m.Text = text; cut {
		m.TextCut = views.Cut{Shown: len(text), Total: len(shownValue(content["text"]))}
	}
	rest := map[string]any{}
	for k, x := range content {
		if k == "html" || !slices.Contains(mailFields, k) {
			rest[k] = x
		}
	}
	m.Links, m.LinksLeft = mailLinks(shownValue(content["html"]), text)
	m.More, _ = shownFields(rest, "")
	return views.ContentView{Mail: m}
}
