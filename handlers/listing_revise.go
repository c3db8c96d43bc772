package handlers

import (
	"net/http"
	"net/url"
	"strings"

	"holdpoint/operation"
	"holdpoint/operation/definition"
	"holdpoint/store"
	"holdpoint/views"
	"holdpoint/views/text"
	"holdpoint/web"

	"github.com/labstack/echo/v4"
)

// revisable gives a batch that the viewer may give another list or text: an author of its
// flow, before anything of it was cleared.
func (s *site) revisable(c echo.Context) (*store.BatchPage, error) {
	if !operation.ValidID("bat", c.Param("id")) {
		return nil, store.ErrNotFound
	}
	b, err := s.Store.FindBatch(c.Request().Context(), web.VisitOf(c).Actor(), operation.BatchID(c.Param("id")))
	if err != nil {
		return nil, err
	}
	if err := s.mayAuthor(c, b.Flow); err != nil {
		return nil, err
	}
	if b.State != operation.BatchDraft && b.State != operation.BatchPendingApproval {
		return nil, operation.Refuse(operation.CodeClosed)
	}
	return b, nil
}

func (s *site) revisePage(c echo.Context) error {
	t, _ := kept(c)
	return s.showRevise(c, http.StatusOK, t, nil)
}

func (s *site) showRevise(c echo.Context, status int, t typed, found *store.ListJudged) error {
	b, err := s.revisable(c)
	if err != nil {
		return err
	}
	v := web.VisitOf(c)
	at := pathOneBatch(b.ID)
	m := views.ReviseBatchModel{Batch: views.Link{Label: batchLabel(b, v.Printer().Lang), URL: at}, Number: b.Number, Fields: listFields(b.Def, b.Stage), Rows: definition.MaxListItems, MiB: store.MaxListBytes >> 20}
	for _, x := range b.Standing {
		if x.Decision == operation.Approve {
			m.Lapses++
		}
	}
	m.Upload = shownTo(newForm(t.of("list"), at+"/list"), v.User.ID)
	fields := b.Def.ItemFields(b.Stage)
	m.Offered = offered(fields, nil)
	if len(b.Stage2.Drafts) > 0 {
		m.Shared = shownTo(newForm(t.of("revise"), at+"/revise"), v.User.ID)
		m.Shared.Revision = b.Revision
		texts := b.Version.Shared()
		if mine := t.of("revise"); mine.fields != nil {
			texts = textsOf(mine)
		}
		if m.Texts, err = s.sharedFields(c, &b.Stage2, texts); err != nil {
			return err
		}
		if found != nil {
			m.Preview = previewOf(found)
			m.Preview.Diff.Shared = textChanges(v.Printer(), b.Stage2, b.Version.Shared(), texts)
		}
	}
	m.Frame = web.Frame(c, views.SectionFlows)
	return web.RenderStatus(c, status, views.ReviseBatchPage(m))
}

// textsOf reads the shared texts of a form.
func textsOf(t typed) map[string]string {
	out := map[string]string{}
	for name := range t.fields {
		if path, ok := strings.CutPrefix(name, typedText); ok {
			out[path] = strings.ReplaceAll(t.val(name), "\r\n", "\n")
		}
	}
	return out
}

// textChanges shows what changes in the shared texts.
func textChanges(p *text.Printer, st definition.Stage, old, now map[string]string) []views.FieldChange {
	var out []views.FieldChange
	for _, d := range st.Drafts {
		if old[d.Path] != now[d.Path] {
			out = append(out, views.FieldChange{Label: views.StartFieldNames(p, []string{d.Path})[0], Parts: views.Diff(old[d.Path], now[d.Path])})
		}
	}
	return out
}

// reviseText shows a batch with other shared text, and makes a version of it when asked to.
func (s *site) reviseText(c echo.Context) error {
	t, err := sent(c)
	if err != nil {
		return err
	}
	v := web.VisitOf(c)
	if t.ofAnother(v.User.ID) {
		return web.ErrFormOfAnother
	}
	b, err := s.revisable(c)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	if t.val("do") == "save" {
		err := s.Store.ReviseBatch(ctx, v.Actor(), store.BatchRevision{BatchShown: store.BatchShown{Batch: b.ID, Revision: t.revision(), FormID: t.once()}, Shared: textsOf(t)})
		if r := refusalOf(err); r != nil {
			t.wrong("", views.Refused(r))
			return s.showRevise(c, http.StatusConflict, t, nil)
		}
		if err != nil {
			return err
		}
		return done(c, pathOneBatch(b.ID), views.FlashBatchRevised)
	}
	found, err := s.Store.JudgeTexts(ctx, v.Actor(), b.ID, textsOf(t))
	if err != nil {
		return err
	}
	return s.showRevise(c, http.StatusOK, t, found)
}

// reviseUpload keeps another list of a batch to be looked at.
func (s *site) reviseUpload(c echo.Context) error {
	b, err := s.revisable(c)
	if err != nil {
		return err
	}
	return s.takeList(c, func(c echo.Context, status int, t typed) error { return s.showRevise(c, status, t, nil) }, func(url.Values) store.NewList {
		return store.NewList{Flow: b.Flow, Stage: b.Stage, Batch: b.ID}
	})
}
