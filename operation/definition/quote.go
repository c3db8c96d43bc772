package definition

import "strings"

// In YAML's flow style ({…} and […]) the braces of ${…} would end the value, and
// inside an expression ": " or " #" would too. So a value that is one expression is
// put into single quotes before the YAML is read. Lines stay the same. Text with an
// expression in the middle has to be quoted by the person who writes it.

// quoteExpressions quotes every bare ${…} that is a whole value on one line.
func quoteExpressions(src string) string {
	if !strings.Contains(src, "${") {
		return src
	}
	lines := strings.Split(src, "\n")
	block := -1    // indentation of the key that opened a block scalar
	var quote byte // of a quoted scalar that goes over lines
	for i, line := range lines {
		indent := len(line) - len(strings.TrimLeft(line, " "))
		if block >= 0 && (strings.TrimSpace(line) == "" || indent > block) {
			continue
		}
		block = -1
		lines[i], quote = quoteLine(line, quote)
		if quote == 0 && opensBlock(lines[i]) {
			block = indent
		}
	}
	return strings.Join(lines, "\n")
}

// quoteLine quotes the values of one line; quote is the open quote before and after.
func quoteLine(line string, quote byte) (string, byte) {
	var out strings.Builder
	start := true // a value may begin here
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case quote != 0:
			if quote == '"' && c == '\\' && i+1 < len(line) {
				out.WriteByte(c)
				i++
				c = line[i]
			} else if c == quote {
				quote = 0 // '' inside single quotes closes and opens again: the same
			}
		case c == '#' && (i == 0 || line[i-1] == ' '):
			out.WriteString(line[i:])
			return out.String(), 0
		case (c == '"' || c == '\'') && (start || i > 0 && line[i-1] == c):
			quote, start = c, false
		case start && strings.HasPrefix(line[i:], "${"):
			if n := expressionEnd(line[i:]); n > 0 && endsValue(line[i+n:]) {
				out.WriteString("'" + strings.ReplaceAll(line[i:i+n], "'", "''") + "'")
				i += n - 1
				start = false
				continue
			}
			start = false
		case c == ' ':
			start = start || valueMayBegin(line[:i+1])
		case c == '{' || c == '[' || c == ',':
			start = true
		default:
			start = false
		}
		out.WriteByte(c)
	}
	return out.String(), quote
}

// valueMayBegin reports whether a value may begin after "key: " or "- ".
func valueMayBegin(before string) bool {
	return strings.HasSuffix(before, ": ") || strings.HasSuffix(before, "- ")
}

// endsValue reports whether nothing more of a value follows.
func endsValue(rest string) bool {
	trimmed := strings.TrimLeft(rest, " ")
	if trimmed == "" || trimmed == "\r" {
		return true
	}
	return strings.ContainsRune(",}]", rune(trimmed[0])) || trimmed[0] == '#' && trimmed != rest
}

// opensBlock reports whether the line ends with the sign of a block scalar.
func opensBlock(line string) bool {
	fields := strings.Fields(line)
	if len(fields) == 0 {
		return false
	}
	last := fields[len(fields)-1]
	if last[0] != '|' && last[0] != '>' {
		return false
	}
	return strings.Trim(last[1:], "+-0123456789") == "" && (len(fields) == 1 || strings.HasSuffix(fields[len(fields)-2], ":") || fields[len(fields)-2] == "-")
}

// expressionEnd gives the length of the ${…} at the beginning of s, or 0 when it is
// not closed. Braces and quotes inside the expression are followed.
func expressionEnd(s string) int {
	depth := 0
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i + 1
			}
		case '"', '\'':
			n := stringEnd(s[i:])
			if n == 0 {
				return 0
			}
			i += n - 1
		}
	}
	return 0
}

// stringEnd gives the length of the CEL string literal at the beginning of s, or 0.
func stringEnd(s string) int {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case s[0]:
			return i + 1
		}
	}
	return 0
}
