package views

import (
	"context"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"holdpoint/operation"
)

// PieceKind says how a piece of content is shown.
type PieceKind int

// The kinds of piece.
const (
	PieceText PieceKind = iota // as it is
	PieceMark                  // an invisible or direction-changing character, shown by name
	PieceHole                  // a declared hole that is filled at dispatch
)

// Piece is a stretch of content that is shown in one way.
type Piece struct {
	Kind PieceKind
	// Text is the text, the mark's short name ("ZWSP", "U+2061") or the hole's name.
	Text string
	// Code is the mark's code point, "U+200B"; of a byte that is no text, its value.
	Code string
	// Count is how many equal marks stand in a row; 0 = one.
	Count int
}

// markNames gives the usual short names of characters that people cannot see.
var markNames = map[rune]string{
	0x00A0: "NBSP", 0x00AD: "SHY", 0x034F: "CGJ", 0x061C: "ALM", 0x180E: "MVS",
	0x200B: "ZWSP", 0x200C: "ZWNJ", 0x200D: "ZWJ", 0x200E: "LRM", 0x200F: "RLM",
	0x2028: "LSEP", 0x2029: "PSEP", 0x202A: "LRE", 0x202B: "RLE", 0x202C: "PDF", 0x202D: "LRO", 0x202E: "RLO",
	0x202F: "NNBSP", 0x2060: "WJ", 0x2066: "LRI", 0x2067: "RLI", 0x2068: "FSI", 0x2069: "PDI", 0xFEFF: "BOM",
	0xFFFD: "U+FFFD", 0x0000: "NUL", 0x0008: "BS", 0x000B: "VT", 0x000C: "FF", 0x000D: "CR", 0x001B: "ESC", 0x007F: "DEL",
}

// invisible lists what people cannot see beyond the Unicode categories Cf, Cc, Zl, Zp, Co:
// fillers, blanks and spaces that look like another.
var invisible = map[rune]bool{0x034F: true, 0x115F: true, 0x1160: true, 0x17B4: true, 0x17B5: true,
	0x2800: true, 0x3164: true, 0xFFA0: true, 0x00A0: true, 0x202F: true}

// IsInvisible reports whether a character cannot be seen, or changes the direction
// of others. Line feed, tab, the ordinary and the ideographic space are not meant.
func IsInvisible(r rune) bool {
	switch {
	case r == '\n' || r == '\t' || r == ' ' || r == 0x3000:
		return false
	case invisible[r], r >= 0xFE00 && r <= 0xFE0D, r >= 0xE0100 && r <= 0xE01EF:
		return true
	case r >= 0x2000 && r <= 0x200A, r == 0x205F, r == 0x1680: // spaces of other widths
		return true
	}
	return unicode.In(r, unicode.Cf, unicode.Cc, unicode.Zl, unicode.Zp, unicode.Co)
}

// encodedHole is a hole in a form-encoded or URL-encoded place.
var encodedHole = regexp.MustCompile(`%EE%80%80(.*?)%EE%80%81`)

// Pieces splits content so that invisible characters and holes can be shown by name.
// Everything that people are to approve is shown through it.
func Pieces(s string) []Piece {
	s = encodedHole.ReplaceAllStringFunc(s, func(m string) string {
		name, err := url.QueryUnescape(encodedHole.FindStringSubmatch(m)[1])
		if err != nil {
			return m
		}
		return operation.MarkHole(name)
	})
	var out []Piece
	plain := 0 // start of the text that is not yet in out
	flush := func(end int) {
		if end > plain {
			out = append(out, Piece{Kind: PieceText, Text: strings.ReplaceAll(s[plain:end], "\r\n", "\n")})
		}
	}
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		piece, length := pieceAt(s[i:], r, size)
		if length == 0 {
			i += size
			continue
		}
		flush(i)
		if n := len(out); n > 0 && piece.Kind == PieceMark && out[n-1].Kind == PieceMark && out[n-1].Code == piece.Code && plain == i {
			out[n-1].Count = max(out[n-1].Count, 1) + 1
		} else {
			out = append(out, piece)
		}
		i += length
		plain = i
	}
	flush(len(s))
	return out
}

// pieceAt gives the mark or hole that s begins with; length 0 = plain text.
func pieceAt(s string, r rune, size int) (p Piece, length int) {
	switch {
	case strings.HasPrefix(s, operation.HoleOpen):
		if end := strings.Index(s, operation.HoleClose); end > 0 {
			return Piece{Kind: PieceHole, Text: s[size:end]}, end + len(operation.HoleClose)
		}
		return markPiece(r), size
	case strings.HasPrefix(s, "\r\n"):
		return Piece{}, 0
	case r == utf8.RuneError && size == 1: // a byte that is no text
		code := fmt.Sprintf("0x%02X", s[0])
		return Piece{Kind: PieceMark, Text: code, Code: code}, 1
	case r == utf8.RuneError, IsInvisible(r):
		return markPiece(r), size
	}
	return Piece{}, 0
}

// Plain writes content where no element can stand (a title, an attribute): invisible and
// direction-changing characters by name in brackets, holes in braces.
func Plain(s string) string {
	if strings.IndexFunc(s, isMarked) < 0 {
		return s
	}
	var b strings.Builder
	for _, p := range Pieces(s) {
		switch {
		case p.Kind == PieceMark && p.Count > 1:
			fmt.Fprintf(&b, "[%s ×%d]", p.Text, p.Count)
		case p.Kind == PieceMark:
			b.WriteString("[" + p.Text + "]")
		case p.Kind == PieceHole:
			b.WriteString("{" + p.Text + "}")
		default:
			b.WriteString(p.Text)
		}
	}
	return b.String()
}

// markText names a mark and, of several in a row, how many.
func markText(ctx context.Context, p Piece) string {
	if p.Count > 1 {
		return p.Text + " ×" + num(ctx, p.Count)
	}
	return p.Text
}

func markPiece(r rune) Piece {
	code := fmt.Sprintf("U+%04X", r)
	name, ok := markNames[r]
	if !ok {
		name = code
	}
	return Piece{Kind: PieceMark, Text: name, Code: code}
}
