package definition

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// Bounds of a table from which people start runs. Batches of thousands are no table.
const (
	MaxTableBytes   = 2 << 20
	MaxTableRows    = 1000
	MaxTableColumns = 100
	maxTableCell    = 10_000 // characters
)

// The encodings of a table.
const (
	EncodingUTF8    = "utf-8"
	EncodingUTF16LE = "utf-16le"
	EncodingUTF16BE = "utf-16be"
	EncodingWindows = "windows-1252"
)

// Encodings and Separators are what a person can choose where the detection is wrong.
var (
	Encodings  = []string{EncodingUTF8, EncodingUTF16LE, EncodingUTF16BE, EncodingWindows}
	Separators = []string{",", ";", "\t", "|"}
)

// Table is a table with a header.
type Table struct {
	Encoding  string
	Separator string
	Header    []string
	Rows      []TableRow
}

// TableRow is one row. Rows count from 1 after the header; ones with empty cells only count
// too, and are left out.
type TableRow struct {
	Number int
	Cells  []string
	Extra  []string // what stands behind the last column with a name; nil = nothing
}

// Cell gives a cell by its column's number, from 1; "" = the row has none.
func (r TableRow) Cell(column int) string {
	if column < 1 || column > len(r.Cells) {
		return ""
	}
	return r.Cells[column-1]
}

// TableError says why a file is no table that can be used.
type TableError struct {
	Code  string // "empty", "large", "rows", "columns", "text", "nul", "quotes", "cell"
	Line  int    // in the file; 0 = the whole
	Limit int
	Key   string // with "twice" and "nul" of a JSON list: the member
}

// Error names code and line.
func (e *TableError) Error() string { return fmt.Sprintf("table: %s in line %d", e.Code, e.Line) }

// ReadTable reads a CSV file. encoding and separator "" are found out: a byte-order mark,
// valid UTF-8, many zero bytes (UTF-16), else Windows-1252; the separator that stands most
// often in the first line. The error is a *TableError.
func ReadTable(raw []byte, encoding, separator string) (*Table, error) {
	switch {
	case len(raw) == 0:
		return nil, &TableError{Code: "empty"}
	case len(raw) > MaxTableBytes:
		return nil, &TableError{Code: "large", Limit: MaxTableBytes}
	}
	if encoding == "" {
		encoding = detectEncoding(raw)
	}
	text, err := decodeText(raw, encoding)
	if err != nil {
		return nil, err
	}
	if line, rest, ok := strings.Cut(text, "\n"); ok && strings.HasPrefix(line, "sep=") { // as spreadsheets write it
		if sep := strings.TrimPrefix(strings.TrimRight(line, "\r"), "sep="); separator == "" && len(sep) == 1 && strings.Contains(",;\t|", sep) {
			separator = sep
		}
		text = rest
	}
	if separator == "" {
		separator = detectSeparator(text)
	}
	t := &Table{Encoding: encoding, Separator: separator}
	return t, t.read(text)
}

func (t *Table) read(text string) error {
	r := csv.NewReader(strings.NewReader(text))
	r.Comma, r.FieldsPerRecord = rune(t.Separator[0]), -1
	for n := 0; ; n++ {
		cells, err := r.Read()
		var bad *csv.ParseError
		switch {
		case err == io.EOF && n == 0:
			return &TableError{Code: "empty"}
		case err == io.EOF:
			return nil
		case errors.As(err, &bad):
			return &TableError{Code: "quotes", Line: bad.Line}
		case err != nil:
			return &TableError{Code: "text"}
		}
		line, _ := r.FieldPos(0)
		if err := t.row(n, line, cells); err != nil {
			return err
		}
	}
}

func (t *Table) row(n, line int, cells []string) error {
	empty := true
	for i, c := range cells {
		cells[i] = strings.TrimSpace(c)
		empty = empty && cells[i] == ""
		if utf8.RuneCountInString(c) > maxTableCell {
			return &TableError{Code: "cell", Line: line, Limit: maxTableCell}
		}
	}
	switch {
	case len(cells) > MaxTableColumns:
		return &TableError{Code: "columns", Line: line, Limit: MaxTableColumns}
	case n == 0 && empty:
		return &TableError{Code: "empty"}
	case n == 0:
		t.Header = cells
	case len(t.Rows) == MaxTableRows && !empty:
		return &TableError{Code: "rows", Line: line, Limit: MaxTableRows}
	case !empty:
		t.Rows = append(t.Rows, TableRow{n, cells, extraCells(t.Header, cells)})
	}
	return nil
}

// extraCells gives a row's cells behind the last column that the header names, where they hold
// anything: a separator that stands unquoted in a text moves what follows it.
func extraCells(header, cells []string) []string {
	width := len(header)
	for width > 0 && header[width-1] == "" {
		width--
	}
	if len(cells) <= width || !slices.ContainsFunc(cells[width:], func(c string) bool { return c != "" }) {
		return nil
	}
	return slices.Clone(cells[width:])
}

func detectEncoding(raw []byte) string {
	switch {
	case bytes.HasPrefix(raw, []byte(byteOrderMark)):
		return EncodingUTF8
	case bytes.HasPrefix(raw, []byte{0xFF, 0xFE}):
		return EncodingUTF16LE
	case bytes.HasPrefix(raw, []byte{0xFE, 0xFF}):
		return EncodingUTF16BE
	}
	var zero [2]int
	head := raw[:min(len(raw), 4096)]
	for i, b := range head {
		if b == 0 {
			zero[i%2]++
		}
	}
	switch {
	case zero[1] > len(head)/4 && zero[1] > zero[0]:
		return EncodingUTF16LE
	case zero[0] > len(head)/4:
		return EncodingUTF16BE
	case utf8.Valid(raw):
		return EncodingUTF8
	}
	return EncodingWindows
}

// decodeText gives the text of a file. Bytes that the encoding does not have, and U+0000,
// are refused: nothing is replaced in what goes out to customers.
func decodeText(raw []byte, encoding string) (string, error) {
	text, ok := "", false
	switch encoding {
	case EncodingUTF8:
		text, ok = string(StripBOM(raw)), utf8.Valid(raw)
	case EncodingUTF16LE, EncodingUTF16BE:
		text, ok = decodeUTF16(raw, encoding == EncodingUTF16BE)
	case EncodingWindows:
		out, err := charmap.Windows1252.NewDecoder().Bytes(raw)
		text, ok = string(out), err == nil && !bytes.ContainsRune(out, utf8.RuneError)
	}
	if !ok {
		return "", &TableError{Code: "text"}
	}
	if before, _, nul := strings.Cut(text, "\x00"); nul {
		var n lineCount
		n.add([]byte(before))
		return "", &TableError{Code: "nul", Line: n.line()}
	}
	if endsByCR([]byte(text)) {
		text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
	}
	return text, nil
}

func decodeUTF16(raw []byte, big bool) (string, bool) {
	if len(raw)%2 != 0 {
		return "", false
	}
	units := make([]uint16, len(raw)/2)
	for i := range units {
		a, b := raw[2*i], raw[2*i+1]
		if big {
			a, b = b, a
		}
		units[i] = uint16(a) | uint16(b)<<8
	}
	if len(units) > 0 && units[0] == 0xFEFF {
		units = units[1:]
	}
	runes := utf16.Decode(units)
	for _, r := range runes {
		if r == utf8.RuneError {
			return "", false
		}
	}
	return string(runes), true
}

// detectSeparator counts in the first line, outside quotes.
func detectSeparator(text string) string {
	count := map[rune]int{}
	quoted := false
	for _, r := range text {
		if r == '"' {
			quoted = !quoted
		}
		if r == '\n' && !quoted {
			break
		}
		if !quoted {
			count[r]++
		}
	}
	best := ","
	for _, s := range Separators {
		if count[rune(s[0])] > count[rune(best[0])] {
			best = s
		}
	}
	return best
}

// GuessColumns maps inputs to columns whose header is the input's path or name, whatever
// its case and its spaces. Columns count from 1.
func (t *Table) GuessColumns(fields []InputField) map[string]int {
	plain := strings.NewReplacer(" ", "", "_", "", "-", "", ".", "")
	fold := func(s string) string { return plain.Replace(strings.ToLower(s)) }
	out := map[string]int{}
	for _, f := range fields {
		last := f.Path[strings.LastIndex(f.Path, ".")+1:]
		for i, h := range t.Header {
			if x := fold(h); x != "" && (x == fold(f.Path) || x == fold(last)) {
				out[f.Path] = i + 1
				break
			}
		}
	}
	return out
}

// Texts gives a row's texts by input, as the columns say.
func (r TableRow) Texts(columns map[string]int) map[string]string {
	out := map[string]string{}
	for path, column := range columns {
		out[path] = r.Cell(column)
	}
	return out
}
