package main

import (
	"bytes"
	"encoding/base64"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/mail"
	"net/textproto"
	"regexp"
	"strings"
)

const maxMailText = 64 << 10

// mailText gives the plain text of a mail as its reader sees it; a mail without one, or
// one that cannot be read, has none.
func mailText(body []byte) string {
	m, err := mail.ReadMessage(bytes.NewReader(body))
	if err != nil {
		return ""
	}
	return partText(textproto.MIMEHeader(m.Header), m.Body, 3)
}

// partText finds the first plain text in a part and in those within it.
func partText(h textproto.MIMEHeader, body io.Reader, depth int) string {
	kind, params, err := mime.ParseMediaType(h.Get("Content-Type"))
	if err != nil {
		kind = "text/plain"
	}
	if strings.HasPrefix(kind, "multipart/") && depth > 0 {
		parts := multipart.NewReader(body, params["boundary"])
		for {
			p, err := parts.NextRawPart()
			if err != nil {
				return ""
			}
			if s := partText(p.Header, p, depth-1); s != "" {
				return s
			}
		}
	}
	if kind != "text/plain" {
		return ""
	}
	switch strings.ToLower(h.Get("Content-Transfer-Encoding")) {
	case "quoted-printable":
		body = quotedprintable.NewReader(body)
	case "base64":
		body = base64.NewDecoder(base64.StdEncoding, body)
	}
	read, _ := io.ReadAll(io.LimitReader(body, maxMailText)) // what can be read of it
	return strings.ToValidUTF8(strings.ReplaceAll(string(read), "\r\n", "\n"), "\uFFFD")
}

// plainHeader writes a header's encoded words out.
func plainHeader(s string) string {
	if plain, err := new(mime.WordDecoder).DecodeHeader(s); err == nil {
		return plain
	}
	return s
}

// piece is a stretch of a shown text; a link's text is its address.
type piece struct {
	Text string
	Link bool
}

var webAddress = regexp.MustCompile(`https?://[^\s<>"]+`)

// pieces finds the addresses in a text.
func pieces(s string) []piece {
	var list []piece
	at := 0
	for _, m := range webAddress.FindAllStringIndex(s, -1) {
		list = append(list, piece{Text: s[at:m[0]]}, piece{Text: s[m[0]:m[1]], Link: true})
		at = m[1]
	}
	return append(list, piece{Text: s[at:]})
}
