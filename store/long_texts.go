package store

import (
	"database/sql/driver"
	"strings"
)

// longTexts is a pq.StringArray of long texts, which knows beforehand how long it gets.
type longTexts []string

// Value gives the array as PostgreSQL reads it.
func (a longTexts) Value() (driver.Value, error) {
	size := 2
	for _, s := range a {
		size += len(s) + strings.Count(s, `"`) + strings.Count(s, `\`) + 3
	}
	var b strings.Builder
	b.Grow(size)
	b.WriteByte('{')
	for i, s := range a {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteByte('"')
		from := 0
		for j := range len(s) {
			if s[j] == '"' || s[j] == '\\' {
				b.WriteString(s[from:j])
				b.WriteByte('\\')
				from = j
			}
		}
		b.WriteString(s[from:])
		b.WriteByte('"')
	}
	b.WriteByte('}')
	return b.String(), nil
}
