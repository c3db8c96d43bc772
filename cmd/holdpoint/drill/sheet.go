package drill

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// column is one column of the sheet.
type column struct {
	title string
	width int
}

var columns = []column{{"CASE", 6}, {"WHAT WAS DONE", 44}, {"EFFECTS", 7}, {"ATTEMPTS", 22}, {"EVIDENCE", 20}, {"STATE", 16}, {"NEXT", 18}, {"RESULT", 6}}

// WriteSheet writes the report as an aligned table for people.
func WriteSheet(w io.Writer, r Report) error {
	var b strings.Builder
	head := make([]string, len(columns))
	for i, c := range columns {
		head[i] = c.title
	}
	writeRow(&b, head)
	writeRule(&b)
	for _, c := range r.Cases {
		for i, row := range rowsOf(c) {
			if i > 0 {
				row[0], row[7] = "", ""
			}
			writeRow(&b, row)
		}
		for _, f := range c.Failures {
			fmt.Fprintf(&b, "       failed: %s\n", f)
		}
		writeRule(&b)
	}
	word := "every case passed"
	if !r.Passed {
		word = "NOT every case passed"
	}
	fmt.Fprintf(&b, "%s, in %.1f s. Effects are counted in the sandbox's ledger.\n", word, r.Took)
	_, err := io.WriteString(w, b.String())
	return err
}

// rowsOf gives one row per operation; the steps stand in the first one.
func rowsOf(c Result) [][]string {
	short, _, _ := strings.Cut(c.Case, "_")
	result := "pass"
	if !c.Passed {
		result = "FAIL"
	}
	done := c.Title + ":\n" + strings.Join(c.Done, "\n")
	if len(c.Operations) == 0 {
		return [][]string{{short, done, "-", "-", "-", "-", "-", result}}
	}
	var rows [][]string
	for i, o := range c.Operations {
		if i > 0 {
			done = ""
		}
		state := o.State
		if o.ConfirmedBy != "" {
			state += "\nby " + o.ConfirmedBy
		}
		rows = append(rows, []string{short, done, fmt.Sprintf("%d of %d", o.Effects, o.Expected), orDash(strings.Join(o.Attempts, "\n")),
			orDash(strings.Join(folded(o.Evidence), "\n")), state, o.Next, result})
	}
	return rows
}

// folded writes equal neighbours once, with their number.
func folded(in []string) []string {
	var out []string
	for i := 0; i < len(in); {
		n := 1
		for i+n < len(in) && in[i+n] == in[i] {
			n++
		}
		s := in[i]
		if n > 1 {
			s = fmt.Sprintf("%s ×%d", s, n)
		}
		out, i = append(out, s), i+n
	}
	return out
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

func writeRule(b *strings.Builder) {
	n := 0
	for _, c := range columns {
		n += c.width + 2
	}
	b.WriteString(strings.Repeat("-", n-2) + "\n")
}

// writeRow writes one row, each cell wrapped to its column.
func writeRow(b *strings.Builder, cells []string) {
	wrapped := make([][]string, len(cells))
	height := 0
	for i, c := range cells {
		wrapped[i] = wrap(c, columns[i].width)
		height = max(height, len(wrapped[i]))
	}
	for line := range height {
		var row strings.Builder
		for i, c := range columns {
			text := ""
			if line < len(wrapped[i]) {
				text = wrapped[i][line]
			}
			row.WriteString(text + strings.Repeat(" ", max(0, c.width+2-utf8.RuneCountInString(text))))
		}
		b.WriteString(strings.TrimRight(row.String(), " ") + "\n")
	}
}

// wrap breaks text at spaces, and words that are too long anywhere.
func wrap(s string, width int) []string {
	var lines []string
	for part := range strings.SplitSeq(s, "\n") {
		line := ""
		for word := range strings.FieldsSeq(part) {
			for utf8.RuneCountInString(word) > width {
				if line != "" {
					lines, line = append(lines, line), ""
				}
				r := []rune(word)
				lines, word = append(lines, string(r[:width])), string(r[width:])
			}
			if line != "" && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width {
				lines, line = append(lines, line), ""
			}
			if line != "" {
				line += " "
			}
			line += word
		}
		lines = append(lines, line)
	}
	return lines
}
