package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"image"
	"image/jpeg"
	"image/png"
	"io"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gabriel-vasile/mimetype"
	"golang.org/x/image/webp"
)

// Limits of what is attached; the database has the same.
const (
	// FileLimit bounds one file, in bytes.
	FileLimit = 10 << 20
	// FilesLimit bounds the files of one form, in bytes together.
	FilesLimit = 20 << 20
	// FilesMax is how many files one form may bring.
	FilesMax = 10
	// fileSide and filePixels bound a picture: 20,000 on a side, 50 million together.
	fileSide, filePixels = 20_000, 50_000_000
	fileNameMax          = 200
)

// Attachment is a file that is to be attached. Only NewAttachment makes one, so that what is attached is
// always what it is said to be.
type Attachment struct {
	id            string
	name, kind    string
	data          []byte
	hash          [sha256.Size]byte
	width, height int
}

// Size is the length of the file, in bytes.
func (f Attachment) Size() int { return len(f.data) }

// Kind is its media type, found from its bytes.
func (f Attachment) Kind() string { return f.kind }

// NewAttachment checks a file by its bytes alone: the name and the type that came with it say
// nothing. PNG, JPEG, WebP and PDF are taken, whole and with nothing around them that
// could be read as something else. Errors are *Invalid, with the code file_empty,
// file_large, file_kind, file_broken or file_pixels.
func NewAttachment(name string, data []byte) (Attachment, error) {
	refuse := func(code string, limit int) (Attachment, error) {
		return Attachment{}, &Invalid{Field: "files", Code: code, Limit: limit}
	}
	switch {
	case len(data) == 0:
		return refuse("file_empty", 0)
	case len(data) > FileLimit:
		return refuse("file_large", FileLimit>>20)
	}
	kind := mimetype.Detect(data).String()
	look, ok := kinds[kind]
	if !ok {
		return refuse("file_kind", 0)
	}
	if !look.whole(data) {
		return refuse("file_broken", 0)
	}
	f := Attachment{name: fileName(name), kind: kind, data: data, hash: sha256.Sum256(data)}
	if look.header == nil {
		return f, nil
	}
	c, err := look.header(bytes.NewReader(data)) // the header alone: no pixel is unpacked
	switch {
	case err != nil:
		return refuse("file_broken", 0)
	case c.Width < 1 || c.Height < 1 || c.Width > fileSide || c.Height > fileSide || c.Width*c.Height > filePixels:
		return refuse("file_pixels", filePixels/1_000_000)
	}
	f.width, f.height = c.Width, c.Height
	return f, nil
}

// look is how one kind is checked.
type look struct {
	whole  func([]byte) bool
	header func(io.Reader) (image.Config, error)
}

// kinds are the media types that are taken.
var kinds = map[string]look{
	"image/png":       {wholePNG, png.DecodeConfig},
	"image/jpeg":      {wholeJPEG, jpeg.DecodeConfig},
	"image/webp":      {wholeWebP, webp.DecodeConfig},
	"application/pdf": {wholePDF, nil},
}

// wholePNG walks the chunks: the file ends with its last one, and nothing follows.
func wholePNG(b []byte) bool {
	const mark = "\x89PNG\r\n\x1a\n"
	if !bytes.HasPrefix(b, []byte(mark)) {
		return false
	}
	b = b[len(mark):]
	for len(b) >= 12 {
		n := uint64(binary.BigEndian.Uint32(b)) + 12
		if n > uint64(len(b)) {
			return false
		}
		if string(b[4:8]) == "IEND" {
			return n == 12 && len(b) == 12
		}
		b = b[n:]
	}
	return false
}

// wholeJPEG walks the segments to the picture and looks for its end. Cameras put more
// pictures behind the first one, so something may follow.
func wholeJPEG(b []byte) bool {
	if !bytes.HasPrefix(b, []byte("\xff\xd8")) {
		return false
	}
	for b = b[2:]; len(b) >= 4 && b[0] == 0xff; {
		if b[1] == 0xff { // fill
			b = b[1:]
			continue
		}
		n := 2 + int(binary.BigEndian.Uint16(b[2:]))
		if n > len(b) {
			return false
		}
		if b[1] == 0xda { // the picture's data
			return bytes.Contains(b[n:], []byte("\xff\xd9"))
		}
		b = b[n:]
	}
	return false
}

// wholeWebP compares the length that the file states with its own.
func wholeWebP(b []byte) bool {
	if len(b) < 12 || string(b[:4]) != "RIFF" || string(b[8:12]) != "WEBP" {
		return false
	}
	n := uint64(binary.LittleEndian.Uint32(b[4:])) + 8
	return n == uint64(len(b))
}

// wholePDF wants the mark at the very beginning, and the end of a document at the end.
func wholePDF(b []byte) bool {
	return bytes.HasPrefix(b, []byte("%PDF-")) && bytes.Contains(b[max(len(b)-1024, 0):], []byte("%%EOF"))
}

// fileName is the name as a label: without its folders, without what cannot be seen.
func fileName(s string) string {
	s = path.Base(strings.ReplaceAll(strings.ToValidUTF8(s, ""), `\`, "/"))
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, s)
	s = strings.TrimSpace(storable(s))
	if s == "." || s == "/" {
		return ""
	}
	for utf8.RuneCountInString(s) > fileNameMax {
		_, n := utf8.DecodeLastRuneInString(s)
		s = s[:len(s)-n]
	}
	return s
}
