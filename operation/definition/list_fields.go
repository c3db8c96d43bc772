package definition

import (
	"sort"
	"strings"
	"unicode"
)

// ItemFields lists what an entry of a stage's list may hold as columns of a table, the
// required ones first, then by name. None = the flow does not describe the entries: then
// every column is a field, see ColumnField.
func (f *Flow) ItemFields(stage string) []InputField {
	st, err := f.fanned(stage)
	if err != nil || st.ForEach.fields == nil {
		return nil
	}
	fields, _ := inputFields(st.ForEach.fields, "", true)
	sort.SliceStable(fields, func(i, j int) bool {
		if fields[i].Required != fields[j].Required {
			return fields[i].Required
		}
		return fields[i].Path < fields[j].Path
	})
	return fields
}

// ColumnField is the field that a column's header stands for where the flow does not
// describe the entries: letters and digits stay, anything else becomes one "_".
func ColumnField(header string) string {
	var b strings.Builder
	gap := false
	for _, r := range strings.TrimSpace(header) {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			gap = true
			continue
		}
		if gap && b.Len() > 0 || b.Len() == 0 && unicode.IsDigit(r) {
			b.WriteByte('_')
		}
		gap = false
		b.WriteRune(r)
	}
	return b.String()
}

// ExtraCells is the member of an entry under which a row's cells behind the last named column
// stay with it, so that every version made of the entry is judged by them. No column and no
// field of a flow is called so.
const ExtraCells = "\u001fextra"

// ReadItem makes an entry of texts by field. A text that does not fit its field stays text,
// so that the entry is judged and shown with it; an empty one is left out.
func ReadItem(fields []InputField, texts map[string]string) map[string]any {
	out := map[string]any{}
	for _, field := range fields {
		text := strings.TrimSpace(texts[field.Path])
		v, ok := field.Parse(text)
		if !ok {
			v = text
		}
		if v != nil {
			placeInput(out, strings.Split(field.Path, "."), v)
		}
	}
	return out
}
