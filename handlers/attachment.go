package handlers

import (
	"encoding/hex"
	"errors"
	"mime"
	"net/http"
	"strings"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/views"
	"holdpoint/web"

	"github.com/labstack/echo/v4"
)

// attachmentRoutes are the files that belong to evidence and to answers.
func (s *site) attachmentRoutes() []route {
	return []route{{get, "/operations/:id/attachments/:attachment", signedIn, "", s.attachment}}
}

func pathAttachment(op operation.ID, id operation.AttachmentID) string {
	return pathOperation(op) + "/attachments/" + string(id)
}

// attachment gives one file to whoever may see its operation. What is sent is named and
// typed by what its bytes were found to be, never by what came with it; pictures are
// shown, documents are saved, and neither runs or loads anything.
func (s *site) attachment(c echo.Context) error {
	id, file := c.Param("id"), c.Param("attachment")
	if !operation.ValidID("op", id) || !operation.ValidID("atc", file) {
		return store.ErrNotFound
	}
	row, data, err := s.Store.FindAttachment(c.Request().Context(), web.VisitOf(c).Actor(), operation.ID(id), operation.AttachmentID(file))
	if err != nil {
		return err
	}
	if err := s.look(c, store.Look{Operation: operation.ID(id), Flow: row.Flow, Attachment: row.ID}); err != nil {
		return err
	}
	how, ending := "inline", strings.TrimPrefix(row.Kind, "image/")
	if row.Width == 0 {
		how, ending = "attachment", "pdf"
	}
	web.AttachmentHeaders(c, hex.EncodeToString(row.Hash))
	h := c.Response().Header()
	h.Set("Content-Disposition", mime.FormatMediaType(how, map[string]string{"filename": string(row.ID) + "." + ending}))
	if c.Request().Header.Get("If-None-Match") == h.Get("Etag") {
		return c.NoContent(http.StatusNotModified)
	}
	return c.Blob(http.StatusOK, row.Kind, data)
}

// aboutFiles is about for a form that may bring files. A file that is not taken marks
// its field; what was typed stays.
func (s *site) aboutFiles(handle func(echo.Context, *operationAt, typed) error) echo.HandlerFunc {
	return s.aboutBy(sentFiles, handle)
}

// uploadLimits are the record's.
var uploadLimits = web.UploadLimits{File: store.FileLimit, All: store.FilesLimit, Count: store.FilesMax}

// sentFiles is sent for a form that may bring files.
func sentFiles(c echo.Context) (typed, error) {
	fields, uploads, err := web.PostFiles(c, uploadLimits)
	if err != nil {
		return typed{}, err
	}
	t, err := typedBy(c, fields)
	if err != nil {
		return t, err
	}
	t.lost = len(uploads)
	for i, u := range uploads {
		if i >= uploadLimits.Count {
			t.wrong(u.Field, views.Sentence("attachment.refused.files_many"))
			break
		}
		t.take(u)
	}
	return t, nil
}

// take checks one file. The first of a field that is not taken is named.
func (t *typed) take(u web.Upload) {
	code := "file_large"
	if !u.Large {
		a, err := store.NewAttachment(u.Name, u.Data)
		if err == nil {
			if t.files == nil {
				t.files = map[string][]store.Attachment{}
			}
			t.files[u.Field] = append(t.files[u.Field], a)
			return
		}
		var bad *store.Invalid
		if code = "file_kind"; errors.As(err, &bad) {
			code = bad.Code
		}
	}
	if t.errors[u.Field].Empty() {
		t.wrong(u.Field, views.Sentence("attachment.refused."+code, "Name", u.Name))
	}
}

// attached gives the files of a statement's field, and those of the checklist.
func (t typed) attached(field string) store.Attached {
	out := store.Attached{Evidence: t.files[field]}
	for name, list := range t.files {
		if item, ok := strings.CutPrefix(name, "files_"); ok {
			if out.Answers == nil {
				out.Answers = map[operation.ChecklistItem][]store.Attachment{}
			}
			out.Answers[operation.ChecklistItem(item)] = list
		}
	}
	return out
}

// attachmentViews shows those attachments of an operation that fit.
func attachmentViews(p *store.OperationPage, n names, fits func(store.AttachmentRow) bool) []views.AttachmentView {
	var out []views.AttachmentView
	for _, a := range p.Attachments {
		if fits(a) {
			out = append(out, views.AttachmentView{ID: a.ID, URL: pathAttachment(p.ID, a.ID), Name: a.Name, Kind: a.Kind, Size: a.Size, Width: a.Width, Height: a.Height,
				Hash: hex.EncodeToString(a.Hash), By: n.person(string(a.By)), At: a.At, Erased: a.Erased})
		}
	}
	return out
}

// ofEvidence are the files of one statement, ofAnswer those of one item in this round.
func ofEvidence(p *store.OperationPage, n names, id operation.EvidenceID) []views.AttachmentView {
	return attachmentViews(p, n, func(a store.AttachmentRow) bool { return a.Evidence == id })
}

func ofAnswer(p *store.OperationPage, n names, item operation.ChecklistItem) []views.AttachmentView {
	return attachmentViews(p, n, func(a store.AttachmentRow) bool { return a.Item == item && a.Round == p.CaseRound })
}

// fieldsUsed keeps the files of these fields only: those of another answer of the form,
// whose fields are closed, do not count.
func (t *typed) fieldsUsed(used func(string) bool) {
	for name := range t.files {
		if !used(name) {
			delete(t.files, name)
		}
	}
	for name := range t.errors {
		if strings.HasPrefix(name, "files_") || strings.HasSuffix(name, "files") {
			if !used(name) {
				delete(t.errors, name)
			}
		}
	}
}
