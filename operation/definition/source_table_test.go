package definition

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
)

func utf16Bytes(s string, big, mark bool) []byte {
	units := utf16.Encode([]rune(s))
	if mark {
		units = append([]uint16{0xFEFF}, units...)
	}
	var out []byte
	for _, u := range units {
		if big {
			out = append(out, byte(u>>8), byte(u))
		} else {
			out = append(out, byte(u), byte(u>>8))
		}
	}
	return out
}

func TestReadTable(t *testing.T) {
	const text = "customer_ref;E-Mail;Note\r\nC-1;żółw@example.test;\"a;b\r\nc\"\r\n\r\n;;\r\nC-3;kim@example.test\r\n"
	for name, raw := range map[string][]byte{
		"utf-8":          []byte(text),
		"utf-8 mark":     []byte("\ufeff" + text),
		"utf-8 sep":      []byte("sep=;\r\n" + text),
		"utf-16le mark":  utf16Bytes(text, false, true),
		"utf-16be mark":  utf16Bytes(text, true, true),
		"utf-16le plain": utf16Bytes(text, false, false),
		"utf-16be plain": utf16Bytes(text, true, false),
	} {
		tab, err := ReadTable(raw, "", "")
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if want, _, _ := strings.Cut(name, " "); tab.Encoding != want || tab.Separator != ";" {
			t.Errorf("%s is taken for %s, %q", name, tab.Encoding, tab.Separator)
		}
		if len(tab.Rows) != 2 || tab.Rows[0].Number != 1 || tab.Rows[1].Number != 3 || tab.Rows[0].Cell(2) != "żółw@example.test" || tab.Rows[0].Cell(3) != "a;b\nc" || tab.Rows[1].Cell(3) != "" {
			t.Errorf("%s: %+v", name, tab.Rows)
		}
	}
	win, err := ReadTable([]byte("name,x\nM\xfcller,\x80 5\n"), "", "")
	if err != nil || win.Encoding != EncodingWindows || win.Rows[0].Cell(1) != "Müller" || win.Rows[0].Cell(2) != "€ 5" {
		t.Errorf("windows-1252: %+v %v", win, err)
	}
	for code, raw := range map[string]string{
		"empty": "\r\n\r\n", "quotes": "a,b\n\"x,y\n", "rows": "a\n" + strings.Repeat("x\n", MaxTableRows+1), "columns": strings.Repeat("a,", MaxTableColumns+1) + "\n",
		"cell": "a\n" + strings.Repeat("x", maxTableCell+1), "large": strings.Repeat("x", MaxTableBytes+1), "text": "a\nb\x81\n", "nul": "a\nb\x00\n",
	} {
		var bad *TableError
		if _, err := ReadTable([]byte(raw), "", ""); !errors.As(err, &bad) || bad.Code != code {
			t.Errorf("%s: %v", code, err)
		}
	}
	var nul *TableError
	if _, err := ReadTable([]byte("a\r\nb\r\nc\x00\r\n"), "", ""); !errors.As(err, &nul) || nul.Line != 3 {
		t.Errorf("the line of U+0000: %v", err)
	}
	wide, err := ReadTable([]byte("a,b,\r1,2\r3,4, 5\r6,7,,\r"), "", "")
	if err != nil || len(wide.Rows) != 3 || wide.Rows[0].Extra != nil || !slices.Equal(wide.Rows[1].Extra, []string{"5"}) || wide.Rows[2].Extra != nil {
		t.Errorf("lines that end with CR, too many cells: %+v %v", wide, err)
	}
	if tab, err := ReadTable([]byte("a\n"+strings.Repeat("x\n", MaxTableRows)+"\n"), "", ""); err != nil || len(tab.Rows) != MaxTableRows {
		t.Errorf("as many rows as there may be: %v", err)
	}
}

func TestReadInputs(t *testing.T) {
	f := loadDemo(t).flows["campaign-follow-up"]
	fields := f.InputFields()
	var paths []string
	for _, x := range fields {
		paths = append(paths, x.Path)
	}
	if !slices.Equal(paths, []string{"campaign", "customer_ref", "email", "note"}) || fields[3].Required || !fields[0].Required || len(f.LostInputs()) > 0 {
		t.Fatalf("%v", fields)
	}
	in, wrong, err := f.ReadInputs(map[string]string{"campaign": " Spring ", "customer_ref": "C", "email": "no address"})
	if err != nil || !slices.Equal(wrong, []string{"email"}) || in["campaign"] != "Spring" {
		t.Errorf("%v %v %v", in, wrong, err)
	}
	if _, wrong, _ = f.ReadInputs(nil); !slices.Equal(wrong, []string{"campaign", "customer_ref", "email"}) {
		t.Errorf("nothing given: %v", wrong)
	}
	tab := &Table{Header: []string{"E-Mail", "Customer ref", "x"}}
	if got := tab.GuessColumns(fields); got["email"] != 1 || got["customer_ref"] != 2 || len(got) != 2 {
		t.Errorf("%v", got)
	}
}
