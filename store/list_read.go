package store

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"slices"
	"strings"

	"holdpoint/operation/definition"
)

// hashText names a text by its SHA-256, in hex.
func hashText(raw []byte) string {
	h := sha256.Sum256(raw)
	return hexOf(h[:])
}

// openList prepares to read a list. What r leaves open is found out and stands in it
// afterwards. A list that cannot be read is a *ListFault.
func (s *Store) openList(ctx context.Context, l ListFile, f *definition.Flow, r *ListReading) (*listSource, error) {
	if l.Kind == ListRequest {
		return nil, ErrNotFound
	}
	fresh := r.Encoding == ""
	if fresh {
		enc, err := definition.DetectEncoding(s.ListBytes(ctx, l))
		if err != nil {
			return nil, err
		}
		r.Encoding = enc
	}
	if !slices.Contains(definition.Encodings, r.Encoding) || r.Separator != "" && !slices.Contains(definition.Separators, r.Separator) {
		return nil, ErrNotFound // no form of ours offers it
	}
	first, err := definition.OpenList(s.ListBytes(ctx, l), r.Encoding, r.Separator)
	if err != nil {
		return nil, listFault(err)
	}
	if fresh && tooLong(first) {
		return nil, listFault(&definition.TableError{Code: "rows", Limit: definition.MaxListItems})
	}
	r.Separator = first.Separator
	src := &listSource{kind: ListKind(first.Kind), header: first.Header}
	fields := f.ItemFields(l.Stage)
	if first.Kind == definition.ListCSV {
		fields, r.Columns = listColumnsOf(fields, first.Header, r.Columns)
	}
	enc, sep, columns := r.Encoding, r.Separator, r.Columns
	src.rows = func(yield func(map[string]any, error) bool) {
		list, err := definition.OpenList(s.ListBytes(ctx, l), enc, sep)
		if err != nil {
			yield(nil, listFault(err))
			return
		}
		for row, err := range list.Rows() {
			entry := row.Entry
			if err == nil && list.Kind == definition.ListCSV {
				if entry = definition.ReadItem(fields, cellTexts(row, columns)); row.Extra != nil {
					entry[definition.ExtraCells] = strings.Join(row.Extra, list.Separator)
				}
			}
			if !yield(entry, listFault(err)) {
				return
			}
		}
	}
	return src, nil
}

// tooLong counts the entries of a list that has just come: one with too many is refused before
// the others are judged. What else is wrong with it shows when it is.
func tooLong(l *definition.List) bool {
	for _, err := range l.Rows() {
		var bad *definition.TableError
		if err != nil {
			return errors.As(err, &bad) && bad.Code == "rows"
		}
	}
	return false
}

// listColumnsOf gives the fields that columns stand for, and which column each has. Where the
// flow describes no entries, every column with a name is a field.
func listColumnsOf(fields []definition.InputField, header []string, columns map[string]int) ([]definition.InputField, map[string]int) {
	if len(fields) == 0 {
		columns = map[string]int{}
		for i, h := range header {
			if name := definition.ColumnField(h); name != "" && columns[name] == 0 {
				columns[name] = i + 1
				fields = append(fields, definition.InputField{Path: name, Schema: map[string]any{"type": "string"}})
			}
		}
		return fields, columns
	}
	if columns == nil {
		return fields, (&definition.Table{Header: header}).GuessColumns(fields)
	}
	known := map[string]int{}
	for _, f := range fields {
		if c := columns[f.Path]; c >= 1 && c <= len(header) {
			known[f.Path] = c
		}
	}
	return fields, known
}

func cellTexts(row definition.ListRow, columns map[string]int) map[string]string {
	out := make(map[string]string, len(columns))
	for path, column := range columns {
		out[path] = row.Cell(column)
	}
	return out
}

// listFault says what kind of fault ends a list; what its reader met stays.
func listFault(err error) error {
	var table *definition.TableError
	var list *definition.ListError
	switch {
	case err == nil, errors.Is(err, io.EOF):
		return nil
	case errors.As(err, &table):
		return &ListFault{Code: table.Code, Line: table.Line, Limit: table.Limit, Key: table.Key}
	case errors.As(err, &list):
		return &ListFault{Code: list.Code, Limit: list.Limit}
	}
	return err
}
