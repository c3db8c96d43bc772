package definition

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// ListKind says how a list is written.
type ListKind string

// The kinds of lists.
const (
	ListCSV   ListKind = "csv"
	ListJSON  ListKind = "json"  // an array
	ListLines ListKind = "jsonl" // one value a line
)

// maxListEntry bounds one entry of a JSON list, in bytes.
const maxListEntry = 1 << 20

// listHead is how much of a list is looked at to find out how it is written.
const listHead = 64 << 10

// List reads a list as it comes: never more than one entry is in memory.
type List struct {
	Kind      ListKind
	Encoding  string
	Separator string   // of CSV
	Header    []string // of CSV: trimmed, as they stand in the first line
	text      *bufio.Reader
	csv       *csv.Reader
}

// ListRow is one entry. Entries count from 1; lines without anything in them are none, and
// do not count.
type ListRow struct {
	Number int
	Cells  []string       // of CSV; valid until the next row is read
	Extra  []string       // of CSV: what stands behind the last column with a name; nil = nothing
	Entry  map[string]any // of JSON; an entry that is no object stands as {value: …}
}

// Cell gives a cell by its column's number, from 1; "" = the row has none.
func (r ListRow) Cell(column int) string { return TableRow{Cells: r.Cells}.Cell(column) }

// DetectEncoding reads a list to its end and says in which encoding it is: a byte-order
// mark, many zero bytes (UTF-16), valid UTF-8, else Windows-1252.
func DetectEncoding(r io.Reader) (string, error) {
	b := bufio.NewReaderSize(r, listHead)
	head, err := b.Peek(listHead)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, bufio.ErrBufferFull) {
		return "", err
	}
	if enc := detectEncoding(whole(head)); enc != EncodingUTF8 || bytes.HasPrefix(head, []byte(byteOrderMark)) {
		return enc, nil
	}
	_, err = io.Copy(io.Discard, transform.NewReader(b, encoding.UTF8Validator))
	if errors.Is(err, encoding.ErrInvalidUTF8) {
		return EncodingWindows, nil
	}
	return EncodingUTF8, err
}

// whole cuts a character off that the end of a look has cut.
func whole(head []byte) []byte {
	for i := 1; i <= utf8.UTFMax && i <= len(head); i++ {
		if at := len(head) - i; utf8.RuneStart(head[at]) {
			if !utf8.FullRune(head[at:]) {
				return head[:at]
			}
			break
		}
	}
	return head
}

// OpenList begins to read a list: a CSV file with a header, a JSON array, or JSON lines.
// encoding is one of Encodings; "" = by the beginning, see DetectEncoding. separator "" is
// found out from the first line. The error is a *TableError, or the reader's.
func OpenList(r io.Reader, enc, separator string) (*List, error) {
	raw := bufio.NewReaderSize(r, listHead)
	head, err := raw.Peek(listHead)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if len(head) == 0 {
		return nil, &TableError{Code: "empty"}
	}
	if enc == "" {
		enc = detectEncoding(whole(head))
	}
	l := &List{Encoding: enc, Separator: separator, text: bufio.NewReaderSize(&strictText{r: decoded(raw, enc), utf8: enc == EncodingUTF8}, listHead)}
	start, err := l.text.Peek(listHead)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if bytes.HasPrefix(start, []byte(byteOrderMark)) {
		if _, err := l.text.Discard(len(byteOrderMark)); err != nil {
			return nil, err
		}
		start = start[len(byteOrderMark):]
	}
	if endsByCR(start) {
		l.text = bufio.NewReaderSize(&lineFeeds{r: l.text}, listHead)
	}
	switch start = bytes.TrimLeft(start, " \t\r\n"); {
	case bytes.HasPrefix(start, []byte("[")):
		l.Kind, l.Separator = ListJSON, ""
		return l, nil
	case bytes.HasPrefix(start, []byte("{")):
		l.Kind, l.Separator = ListLines, ""
		return l, nil
	}
	l.Kind = ListCSV
	return l, l.header()
}

func decoded(r io.Reader, enc string) io.Reader {
	switch enc {
	case EncodingUTF16LE:
		return transform.NewReader(r, unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM).NewDecoder())
	case EncodingUTF16BE:
		return transform.NewReader(r, unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM).NewDecoder())
	case EncodingWindows:
		return transform.NewReader(r, charmap.Windows1252.NewDecoder())
	}
	return transform.NewReader(r, encoding.UTF8Validator)
}

// strictText refuses what the encoding does not have, and U+0000: nothing is replaced in
// what goes out to customers.
type strictText struct {
	r     io.Reader
	utf8  bool
	lines lineCount
}

// Read passes the text on.
func (s *strictText) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	if at := bytes.IndexByte(p[:n], 0); at >= 0 {
		s.lines.add(p[:at])
		return 0, &TableError{Code: "nul", Line: s.lines.line()}
	}
	if errors.Is(err, encoding.ErrInvalidUTF8) || !s.utf8 && bytes.Contains(p[:n], []byte("\uFFFD")) {
		return 0, &TableError{Code: "text"}
	}
	s.lines.add(p[:n])
	return n, err
}

// header reads the first line of a CSV file.
func (l *List) header() error {
	if start, _ := l.text.Peek(len("sep=;\r\n")); bytes.HasPrefix(start, []byte("sep=")) { // as spreadsheets write it
		line, err := l.text.ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if sep := strings.TrimPrefix(strings.TrimRight(line, "\r\n"), "sep="); l.Separator == "" && len(sep) == 1 && strings.Contains(",;\t|", sep) {
			l.Separator = sep
		}
	}
	if l.Separator == "" {
		start, err := l.text.Peek(listHead)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		l.Separator = detectSeparator(string(start))
	}
	l.csv = csv.NewReader(l.text)
	l.csv.Comma, l.csv.FieldsPerRecord, l.csv.ReuseRecord = rune(l.Separator[0]), -1, true
	cells, line, err := l.record()
	if errors.Is(err, io.EOF) {
		return &TableError{Code: "empty"}
	}
	if err != nil {
		return err
	}
	t := &Table{}
	if err := t.row(0, line, cells); err != nil {
		return err
	}
	l.Header = append([]string(nil), t.Header...)
	return nil
}

func (l *List) record() (cells []string, line int, err error) {
	cells, err = l.csv.Read()
	var bad *csv.ParseError
	if errors.As(err, &bad) {
		return nil, 0, &TableError{Code: "quotes", Line: bad.Line}
	}
	if err == nil {
		line, _ = l.csv.FieldPos(0)
	}
	return cells, line, err
}

// Rows gives the entries in their order, once. An error ends them: a *TableError that says
// where and why (see ReadEntry), or the reader's.
func (l *List) Rows() iter.Seq2[ListRow, error] {
	return func(yield func(ListRow, error) bool) {
		next := l.nextLine
		switch l.Kind {
		case ListJSON:
			next = l.nextEntry(json.NewDecoder(l.text))
		case ListCSV:
			next = l.nextRow
		}
		for n := 1; ; n++ {
			row, err := next(n)
			switch {
			case errors.Is(err, io.EOF):
				return
			case err == nil && n > MaxListItems:
				err = &TableError{Code: "rows", Limit: MaxListItems}
			}
			if !yield(row, err) || err != nil {
				return
			}
		}
	}
}

func (l *List) nextRow(n int) (ListRow, error) {
	for {
		cells, line, err := l.record()
		if err != nil {
			return ListRow{}, err
		}
		t := &Table{Header: l.Header}
		if err := t.row(n, line, cells); err != nil {
			return ListRow{}, err
		}
		if len(t.Rows) > 0 {
			return ListRow{Number: n, Cells: t.Rows[0].Cells, Extra: t.Rows[0].Extra}, nil
		}
	}
}

// nextEntry reads an array's entries one by one.
func (l *List) nextEntry(d *json.Decoder) func(int) (ListRow, error) {
	begun := false
	return func(n int) (ListRow, error) {
		if !begun {
			if _, err := d.Token(); err != nil {
				return ListRow{}, jsonFault(err, n)
			}
			begun = true
		}
		if !d.More() {
			if _, err := d.Token(); err != nil {
				return ListRow{}, jsonFault(err, n)
			}
			if _, err := d.Token(); !errors.Is(err, io.EOF) {
				return ListRow{}, jsonFault(err, n)
			}
			return ListRow{}, io.EOF
		}
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return ListRow{}, jsonFault(err, n)
		}
		return ReadEntry(raw, n)
	}
}

func (l *List) nextLine(n int) (ListRow, error) {
	for {
		raw, err := l.text.ReadSlice('\n')
		for errors.Is(err, bufio.ErrBufferFull) && len(raw) < maxListEntry {
			var more []byte
			raw = bytes.Clone(raw)
			more, err = l.text.ReadSlice('\n')
			raw = append(raw, more...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			return ListRow{}, &TableError{Code: "entry", Line: n, Limit: maxListEntry}
		case err != nil && !errors.Is(err, io.EOF):
			return ListRow{}, jsonFault(err, n)
		}
		if raw = bytes.TrimSpace(raw); len(raw) > 0 {
			return ReadEntry(bytes.Clone(raw), n)
		}
		if err != nil {
			return ListRow{}, err
		}
	}
}

// ReadEntry reads entry number n of a JSON list, strictly. The error is a *TableError: "json"
// = it is no JSON that can be read, "encoding" = it is not UTF-8, "entry" = it is larger than
// Limit bytes, "deep" = it is nested deeper than Limit, "twice" = an object of it holds the
// member Key twice (letters' case counts for nothing), "nul" = U+0000 stands in the member Key.
func ReadEntry(raw []byte, n int) (ListRow, error) {
	if len(raw) > maxListEntry {
		return ListRow{}, &TableError{Code: "entry", Line: n, Limit: maxListEntry}
	}
	v, err := DecodeJSON(raw)
	if err != nil {
		return ListRow{}, entryFault(err, n)
	}
	if key, is := nulIn(v, ""); is {
		return ListRow{}, &TableError{Code: "nul", Line: n, Key: key}
	}
	return ListRow{Number: n, Entry: asItem(v)}, nil
}

func entryFault(err error, n int) error {
	var bad *JSONError
	if !errors.As(err, &bad) {
		return &TableError{Code: "json", Line: n}
	}
	switch bad.Code {
	case JSONDuplicateKey, JSONCaseVariantKey:
		return &TableError{Code: "twice", Line: n, Key: bad.Key}
	case JSONTooDeep:
		return &TableError{Code: "deep", Line: n, Limit: MaxJSONDepth}
	case JSONEncoding:
		return &TableError{Code: "encoding", Line: n}
	}
	return &TableError{Code: "json", Line: n}
}

// nulIn finds the member in which U+0000 stands, which the database stores in no text.
func nulIn(v any, path string) (string, bool) {
	switch x := v.(type) {
	case string:
		return path, strings.ContainsRune(x, 0)
	case []any:
		for i, e := range x {
			if at, is := nulIn(e, item(path, i)); is {
				return at, true
			}
		}
	case map[string]any:
		for k, e := range x {
			at := join(path, strings.ReplaceAll(k, "\x00", "\uFFFD"))
			if strings.ContainsRune(k, 0) {
				return at, true
			}
			if at, is := nulIn(e, at); is {
				return at, true
			}
		}
	}
	return "", false
}

// jsonFault says at which entry a list ceases to be JSON; what the reader met stays.
func jsonFault(err error, n int) error {
	var syntax *json.SyntaxError
	var own *TableError
	switch {
	case errors.As(err, &own):
		return own
	case err == nil, errors.As(err, &syntax), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, bufio.ErrBufferFull):
		return &TableError{Code: "json", Line: n}
	}
	return err
}
