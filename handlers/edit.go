package handlers

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/views"
	"holdpoint/web"

	"github.com/labstack/echo/v4"
)

func (s *site) editPage(c echo.Context) error {
	p, err := s.find(c)
	if err != nil {
		return err
	}
	t, waited := kept(c)
	if waited && t.revision() != p.Revision {
		t.wrong("", views.Refused(operation.Refuse(operation.CodeStaleRevision)))
	}
	return s.showEdit(c, http.StatusOK, p, views.EditVersion, t)
}

func (s *site) replacePage(c echo.Context) error {
	p, err := s.find(c)
	if err != nil {
		return err
	}
	t, waited := kept(c)
	if waited && t.revision() != p.Revision {
		t.wrong("", views.Refused(operation.Refuse(operation.CodeStaleRevision)))
	}
	return s.showEdit(c, http.StatusOK, p, views.EditReplacement, t)
}

// showEdit writes the page that makes a new version or a replacement, with what was
// typed.
func (s *site) showEdit(c echo.Context, status int, p *store.OperationPage, mode views.EditMode, t typed) error {
	b, err := s.builder(c, p, t)
	if err != nil {
		return err
	}
	name, barred := "edit", b.mayEdit
	if mode == views.EditReplacement {
		name, barred = "replace", b.mayReplace
	}
	form, _ := b.form(name)
	form.Errors = t.errors
	if t.fields == nil { // what was typed stays on the page, with the refusal above it
		form.Barred = barred()
	}
	f := views.EditForm{Form: form, Mode: mode, Note: t.val("note"), Submit: t.yes("submit"), Reason: t.val("reason"), Fields: editFields(p, t, web.VisitOf(c))}
	for _, a := range p.Standing {
		if a.Decision == operation.Approve && mode == views.EditVersion {
			f.Lapses++
		}
	}
	if mode == views.EditReplacement {
		f.Dispatched = dispatchedEver(p)
	}
	m := views.EditModel{Head: b.head(), Edit: f, Stages: stageStrip(p, b.lang)}
	m.Frame = web.Frame(c, views.SectionOperations)
	return web.RenderStatus(c, status, views.EditPage(m))
}

// editFields draws the content's places, with what was typed. Where somebody else has
// changed a place since, its hint says what stands there now.
func editFields(p *store.OperationPage, t typed, v *web.Visit) []views.EditField {
	cur := p.Current()
	if cur == nil {
		return nil
	}
	content := cur.Content()
	var seen map[string]any
	if old := versionByID(p, operation.VersionID(t.val("version"))); old != nil && old.ID != cur.ID {
		seen = old.Content()
	}
	var out []views.EditField
	for _, f := range draftFields(p, content) {
		now := shownValue(f.value)
		value := t.or("content."+f.path, now)
		if f.isFlag() && t.fields != nil && value == "yes" {
			value = "true"
		}
		e := f.view(value, cur.Missing())
		if seen != nil && shownValue(valueAt(seen, f.path)) != now {
			e.Hint = v.Printer().T("edit.now", "Number", cur.Number, "Value", now)
		}
		out = append(out, e)
	}
	return out
}

// valueAt gives the value at a place of content.
func valueAt(content map[string]any, path string) any {
	for _, l := range leaves(content, "") {
		if l.path == path {
			return l.value
		}
	}
	return nil
}

// edited reads the content that was typed, over what stands there now.
func edited(p *store.OperationPage, t *typed) (content map[string]any, missing []string) {
	base := p.Current()
	if base == nil {
		return map[string]any{}, nil
	}
	content, before := base.FreshContent(), base.Missing()
	if content == nil {
		content = map[string]any{}
	}
	for _, f := range draftFields(p, content) {
		if f.given {
			continue
		}
		name := "content." + f.path
		if _, there := t.fields[name]; !there && !f.isFlag() {
			if slices.Contains(before, f.path) {
				missing = append(missing, f.path)
			}
			continue
		}
		text := strings.ReplaceAll(t.val(name), "\r\n", "\n")
		if text == shownValue(f.value) {
			if text == "" && slices.Contains(before, f.path) {
				missing = append(missing, f.path)
			}
			continue // untouched
		}
		v, ok := f.parse(text)
		if !ok {
			t.wrong(name, views.Sentence(views.ErrorInvalid))
			continue
		}
		if flag, is := v.(bool); is && !flag && f.value == nil {
			continue
		}
		setAt(content, f.path, v)
		if v == nil && slices.Contains(before, f.path) {
			missing = append(missing, f.path)
		}
	}
	return content, missing
}

// edit makes a new content version of an operation.
func (s *site) edit(c echo.Context, at *operationAt, t typed) error {
	content, missing := edited(at.p, &t)
	if len(t.errors) > 0 {
		return s.showEdit(c, http.StatusUnprocessableEntity, at.p, views.EditVersion, t)
	}
	before := at.p.VersionNo
	err := s.Store.AddVersion(at.ctx, at.actor, store.NewVersion{Operation: at.p.ID, Revision: t.revision(), Content: content, Missing: missing,
		Author: store.Author{Kind: "person", ID: at.actor.ID, Note: t.text("note")}, Submit: t.yes("submit")})
	if err != nil {
		return s.editAgain(c, at, t, views.EditVersion, content, err)
	}
	now, err := s.find(c)
	if err != nil {
		return err
	}
	to, number := pathOperation(at.p.ID), itoa(now.VersionNo)
	switch {
	case now.State == operation.PendingApproval && t.yes("submit"):
		return done(c, to, views.FlashVersionSubmitted, "Number", number)
	case now.VersionNo == before:
		return calm(c, to, views.FlashUnchanged)
	}
	return done(c, to, views.FlashVersionSaved, "Number", number)
}

// replace makes a new operation in place of a closed one.
func (s *site) replace(c echo.Context, at *operationAt, t typed) error {
	content, missing := edited(at.p, &t)
	if !t.yes("confirm") {
		t.wrong("confirm", views.Sentence(views.ErrorConfirm))
	}
	if len(t.errors) > 0 {
		return s.showEdit(c, http.StatusUnprocessableEntity, at.p, views.EditReplacement, t)
	}
	id, err := s.Store.Replace(at.ctx, at.actor, t.shown(at.p.ID, "reason"), store.Replacement{Content: content, Missing: missing,
		Deliberate: at.p.State == operation.Confirmed, Submit: t.yes("submit")})
	if err != nil {
		return s.editAgain(c, at, t, views.EditReplacement, content, err)
	}
	if id == "" { // the same form twice: the replacement is there already
		return calm(c, pathOperation(at.p.ID), views.FlashReplaced)
	}
	return done(c, pathOperation(id), views.FlashReplaced)
}

// editAgain shows the page once more with what was typed: 409 when something changed
// meanwhile, 422 when something is missing.
func (s *site) editAgain(c echo.Context, was *operationAt, t typed, mode views.EditMode, content map[string]any, err error) error {
	r := refusalOf(err)
	if r == nil || web.RefusalStatus(r.Code) == http.StatusForbidden {
		return err
	}
	now, err := s.find(c)
	if err != nil {
		return err
	}
	if r.Code == operation.CodeStaleRevision && savedAlready(now, was.actor, content) {
		return calm(c, pathOperation(now.ID), views.FlashVersionSaved, "Number", itoa(now.VersionNo)) // a double click
	}
	switch r.Code {
	case operation.CodeReasonMissing:
		t.wrong("reason", views.Refused(r))
	case operation.CodeContentMissing:
		s.markMissing(now, &t, content)
		for _, path := range strings.Split(r.Params["field"], ", ") { // what the request cannot hold
			if _, marked := t.errors["content."+path]; !marked {
				t.wrong("content."+path, views.Sentence(views.ErrorInvalid))
			}
		}
		t.wrong("", views.Refused(r))
	default:
		t.wrong("", views.Refused(r))
	}
	return s.showEdit(c, web.RefusalStatus(r.Code), now, mode, t)
}

// markMissing marks the places that the action's schema complains about.
func (s *site) markMissing(p *store.OperationPage, t *typed, content map[string]any) {
	if p.Action == nil {
		return
	}
	wrong, err := p.Action.CheckContent(content)
	if err != nil {
		return
	}
	for _, path := range wrong {
		t.wrong("content."+path, views.Sentence(views.ErrorRequired))
	}
}

// savedAlready reports that this person's very content is the current version.
func savedAlready(p *store.OperationPage, a store.Actor, content map[string]any) bool {
	cur := p.Current()
	if cur == nil || cur.AuthorID != a.ID {
		return false
	}
	x, err1 := json.Marshal(operation.NormalizeValue(content))
	y, err2 := json.Marshal(cur.Content())
	return err1 == nil && err2 == nil && bytes.Equal(x, y)
}
