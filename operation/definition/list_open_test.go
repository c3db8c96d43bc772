package definition_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"holdpoint/operation/definition"
)

// slow gives one byte at a time, so that no rule rests on how much comes at once.
type slow struct{ r io.Reader }

func (s slow) Read(p []byte) (int, error) { return s.r.Read(p[:min(1, len(p))]) }

func readList(r io.Reader, enc, sep string) (string, error) {
	l, err := definition.OpenList(r, enc, sep)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	fmt.Fprintf(&out, "%s %s %q %v", l.Kind, l.Encoding, l.Separator, l.Header)
	for row, err := range l.Rows() {
		if err != nil {
			return out.String(), err
		}
		if l.Kind == definition.ListCSV {
			fmt.Fprintf(&out, " %d:%s|%s", row.Number, row.Cell(1), row.Cell(2))
			if row.Extra != nil {
				fmt.Fprintf(&out, "+%q", row.Extra)
			}
		} else {
			fmt.Fprintf(&out, " %d:%v", row.Number, row.Entry)
		}
	}
	return out.String(), nil
}

func TestOpenList(t *testing.T) {
	t.Parallel()
	wide := func(s string, order ...int) string {
		var b strings.Builder
		for _, r := range s {
			pair := [2]byte{byte(r), byte(r >> 8)}
			b.WriteByte(pair[order[0]])
			b.WriteByte(pair[order[1]])
		}
		return b.String()
	}
	for name, c := range map[string]struct{ in, want string }{
		"csv":             {"mail,name\na@x.test,Ann\n\n , \nb@x.test,\"B, B\"\n", `csv utf-8 "," [mail name] 1:a@x.test|Ann 2:b@x.test|B, B`},
		"semicolon, mark": {"\ufeffmail;name\r\na@x.test;Zoë\r\n", `csv utf-8 ";" [mail name] 1:a@x.test|Zoë`},
		"as spreadsheets": {"sep=;\r\nmail;name\r\na@x.test;Ann\r\n", `csv utf-8 ";" [mail name] 1:a@x.test|Ann`},
		"windows":         {"mail;name\na@x.test;Zo\xeb\n", `csv windows-1252 ";" [mail name] 1:a@x.test|Zoë`},
		"utf-16 le":       {wide("\ufeffmail\tname\na@x.test\tZoë\n", 0, 1), `csv utf-16le "\t" [mail name] 1:a@x.test|Zoë`},
		"utf-16 be":       {wide("\ufeffmail\tname\na@x.test\tZoë\n", 1, 0), `csv utf-16be "\t" [mail name] 1:a@x.test|Zoë`},
		"array":           {" [ {\"mail\": \"a@x.test\", \"n\": 1.50}, \"b\" ] \n", `json utf-8 "" [] 1:map[mail:a@x.test n:1.50] 2:map[value:b]`},
		"lines":           {"{\"mail\":\"a\"}\n\n{\"mail\":\"b\"}", `jsonl utf-8 "" [] 1:map[mail:a] 2:map[mail:b]`},
		"too many cells":  {"mail,name\na@x.test,Dear A, Ann\nb@x.test,Ben,, ,\nc@x.test\n", `csv utf-8 "," [mail name] 1:a@x.test|Dear A+["Ann"] 2:b@x.test|Ben 3:c@x.test|`},
		"column unnamed":  {"mail,name,\na@x.test,Dear A, Ann\n", `csv utf-8 "," [mail name ] 1:a@x.test|Dear A+["Ann"]`},
		"lines by CR":     {"mail,name\ra@x.test,\"Ann\nB\"\r\rb@x.test,Ben", `csv utf-8 "," [mail name] 1:a@x.test|Ann` + "\n" + `B 2:b@x.test|Ben`},
		"sep=, by CR":     {"sep=;\rmail;name\ra@x.test;Ann\r", `csv utf-8 ";" [mail name] 1:a@x.test|Ann`},
		"JSON by CR":      {"{\"mail\":\"a\"}\r{\"mail\":\"b\"}\r", `jsonl utf-8 "" [] 1:map[mail:a] 2:map[mail:b]`},
		"CR in a cell":    {"mail,name\na@x.test,\"A\rB\"\n", `csv utf-8 "," [mail name] 1:a@x.test|A` + "\rB"},
		"empty array":     {"[]", `json utf-8 "" []`},
	} {
		got, err := readList(strings.NewReader(c.in), "", "")
		if err != nil || got != c.want {
			t.Errorf("%s: %s, %v\nwant %s", name, got, err, c.want)
		}
		if again, err := readList(slow{strings.NewReader(c.in)}, "", ""); err != nil || again != got {
			t.Errorf("%s, slowly: %s, %v", name, again, err)
		}
	}
}

func TestOpenListRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		in, enc, code string
		line          int
	}{
		"nothing":          {"", "", "empty", 0},
		"only spaces":      {" ,\n", "", "empty", 0},
		"quotes":           {"a,b\n1,2\n\"x,3\n", "", "quotes", 3},
		"not in UTF-8":     {"a,b\n1,2\nZo\xeb,3\n", "utf-8", "text", 0},
		"half a pair":      {"a,b\n1", "utf-16le", "text", 0},
		"zero":             {"a,b\r\n1,\x00\r\n", "utf-8", "nul", 2},
		"zero, by CR":      {"a,b\r1,2\r3,\x00\r", "", "nul", 3},
		"zero far behind":  {"a,b\n" + strings.Repeat("plain,text\n", 20_000) + "x,\x00y\n", "", "nul", 20_002},
		"long cell":        {"a,b\n1," + strings.Repeat("x", 10_001) + "\n", "", "cell", 2},
		"many columns":     {"a" + strings.Repeat(",a", 100) + "\n", "", "columns", 1},
		"array is cut":     {`[{"a":1},{"a"`, "", "json", 2},
		"behind the array": {`[{"a":1}] x`, "", "json", 2},
		"key twice":        {`[{"a":1},{"a":1,"a":2}]`, "", "twice", 2},
		"key in two cases": {"{\"a\":1}\n{\"a\":1,\"A\":2}\n", "", "twice", 2},
		"half a character": {`[{"a":"\ud800"}]`, "", "encoding", 1},
		"nested":           {`[{"a":` + strings.Repeat("[", 300) + strings.Repeat("]", 300) + `}]`, "", "deep", 1},
		"large in array":   {`[1,{"a":"` + strings.Repeat("x", 6<<20) + `"}]`, "", "entry", 2},
		"large line":       {"{\"a\":1}\n{\"a\":\"" + strings.Repeat("x", 6<<20) + "\"}\n", "", "entry", 2},
		"line is cut":      {"{\"a\":1}\n{\"a\":\n", "", "json", 2},
		"zero in JSON":     {`[{"a":"\u0000"}]`, "", "nul", 1},
	} {
		_, err := readList(strings.NewReader(c.in), c.enc, "")
		var bad *definition.TableError
		if !errors.As(err, &bad) || bad.Code != c.code || bad.Line != c.line {
			t.Errorf("%s: %v", name, err)
		}
	}
	for text, want := range map[string]string{`{"a":{"b":[1,"\u0000"]}}`: "a.b[1]", `{"a":{"b":1,"B":2}}`: "B"} {
		var bad *definition.TableError
		if _, err := definition.ReadEntry([]byte(text), 7); !errors.As(err, &bad) || bad.Line != 7 || bad.Key != want {
			t.Errorf("%s: %+v", text, bad)
		}
	}
	many := strings.NewReader("n\n" + strings.Repeat("1\n", definition.MaxListItems+1))
	var bad *definition.TableError
	if _, err := readList(many, "", ""); !errors.As(err, &bad) || bad.Code != "rows" || bad.Limit != definition.MaxListItems {
		t.Errorf("too many rows: %v", err)
	}
	lost := errors.New("lost")
	if _, err := readList(io.MultiReader(strings.NewReader("a\n1\n"), broken{lost}), "", ""); !errors.Is(err, lost) {
		t.Errorf("what the reader met is another: %v", err)
	}
}

type broken struct{ err error }

func (b broken) Read([]byte) (int, error) { return 0, b.err }

// What stands far behind the beginning counts too.
func TestDetectEncoding(t *testing.T) {
	t.Parallel()
	long := "a,b\n" + strings.Repeat("plain,text\n", 20_000)
	for want, in := range map[string]string{"utf-8": long + "Zoë,é\n", "windows-1252": long + "Zo\xeb,x\n"} {
		if got, err := definition.DetectEncoding(strings.NewReader(in)); got != want || err != nil {
			t.Errorf("%s: %s %v", want, got, err)
		}
	}
}

func TestColumnField(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"First name": "First_name", " e-mail ": "e_mail", "名前": "名前", "1st": "_1st", "??": ""} {
		if got := definition.ColumnField(in); got != want {
			t.Errorf("%q: %q", in, got)
		}
	}
}
