package views

import (
	"time"

	"holdpoint/operation"
	"holdpoint/views/text"
)

// AttachmentView is one file that belongs to evidence or to an answer.
type AttachmentView struct {
	ID   operation.AttachmentID
	URL  string
	Name string // as the person's file was called; "" = it had no name
	Kind string // media type: image/png, image/jpeg, image/webp or application/pdf
	Size int    // bytes
	// Width and Height are a picture's, in pixels; 0 for a document.
	Width, Height int
	Hash          string // hex, SHA-256 of the bytes
	By            Who
	At            time.Time
	Erased        bool
}

// isPicture reports that it can be shown in the page.
func (a AttachmentView) isPicture() bool { return a.Width > 0 && a.Height > 0 }

// label is what the file is called on the page.
func (a AttachmentView) label(p *text.Printer) string {
	switch {
	case a.Name != "":
		return a.Name
	case a.isPicture():
		return p.T("attachment.picture")
	}
	return p.T("attachment.document")
}

// thumbnail bounds for width and height attributes, in CSS pixels.
const thumbWidth, thumbHeight = 240, 150

// thumb scales the picture into the thumbnail's box and keeps its shape.
func (a AttachmentView) thumb() (w, h int) {
	w, h = a.Width, a.Height
	if w > thumbWidth {
		w, h = thumbWidth, max(h*thumbWidth/w, 1)
	}
	if h > thumbHeight {
		w, h = max(w*thumbHeight/h, 1), thumbHeight
	}
	return w, h
}

// fileSize says a number of bytes in the reader's words.
func fileSize(p *text.Printer, n int) string {
	if n < 1_000_000 {
		return p.T("attachment.kb", "N", max((n+500)/1000, 1))
	}
	return p.T("attachment.mb", "N", (n+500_000)/1_000_000)
}

// FileRefusals are the reasons for which a file is not taken, as the store names them.
var FileRefusals = []string{"file_empty", "file_large", "file_kind", "file_broken", "file_pixels", "files_many"}

// FileAccept lists the kinds of files that are taken, for the browser's own choice; the
// server looks at the bytes.
const FileAccept = "image/png,image/jpeg,image/webp,application/pdf"
