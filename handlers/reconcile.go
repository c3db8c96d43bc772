package handlers

import (
	"context"
	"strconv"
	"strings"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/views"
	"holdpoint/web"

	"github.com/labstack/echo/v4"
)

// operationAt is an operation as it was read for a POST, and who posts.
type operationAt struct {
	p     *store.OperationPage
	actor store.Actor
	ctx   context.Context
}

// reconcile takes the reviewer's answer to "does this effect exist?".
func (s *site) reconcile(c echo.Context, at *operationAt, t typed) error {
	finding := views.Finding(t.val("finding"))
	t.fieldsUsed(func(name string) bool {
		return name == string(finding)+"_files" || finding == views.FindingNotDone && strings.HasPrefix(name, "files_")
	})
	switch finding {
	case views.FindingDone:
		return s.confirmDone(c, at, t)
	case views.FindingNotDone:
		return s.confirmNotDone(c, at, t)
	case views.FindingDuplicate:
		return s.recordDuplicate(c, at, t)
	case views.FindingHold:
		return s.hold(c, at, t)
	}
	t.wrong("finding", views.Sentence(views.ErrorRequired))
	return s.showAgain(c, at.p, t)
}

func (s *site) confirmDone(c echo.Context, at *operationAt, t typed) error {
	needs(&t, "done_reference", operation.CodeReferenceMissing)
	sh := stated(c, at, &t, "done_", true)
	ref := store.Reference{ID: t.text("done_reference"), URL: t.text("done_link")}
	if !checkLinks(&t, "done_link") || len(t.errors) > 0 {
		return s.showAgain(c, at.p, t)
	}
	err := s.Store.ConfirmDone(at.ctx, at.actor, sh, ref)
	return s.settled(c, at.p, t, err, views.FlashConfirmed, "Reference", ref.ID)
}

// stated reads a person's statement: a ready answer, their own words, or both, and its
// files. One of the two is needed.
func stated(c echo.Context, at *operationAt, t *typed, prefix string, there bool) store.Shown {
	v := web.VisitOf(c)
	sh := t.shown(at.p.ID, prefix+"evidence")
	ready := views.HowText(v.Printer(), views.How(t.val(prefix+"how")), there, at.p.Profile.Title.In(v.Printer().Lang))
	if sh.Reason = strings.TrimSpace(ready + "\n" + sh.Reason); sh.Reason == "" {
		t.wrong(prefix+"evidence", views.Refused(operation.Refuse(operation.CodeEvidenceMissing)))
	}
	sh.Files = t.attached(prefix + "files")
	return sh
}

func (s *site) confirmNotDone(c echo.Context, at *operationAt, t typed) error {
	then := views.Then(t.val("then"))
	switch {
	case then != views.ThenReexecute && then != views.ThenClose:
		t.wrong("then", views.Sentence(views.ErrorRequired))
	case then == views.ThenClose && !t.yes("not_done_confirm"):
		t.wrong("not_done_confirm", views.Sentence(views.ErrorConfirm))
	}
	if tooEarly(at.p) == nil { // otherwise the form offers no checklist
		markUnanswered(at, &t)
		stated(c, at, &t, "not_done_", false)
	}
	if !checkLinks(&t, "not_done_link") || len(t.errors) > 0 {
		return s.showAgain(c, at.p, t)
	}
	sh := stated(c, at, &t, "not_done_", false)
	if why := t.text("not_done_reason"); why != "" && sh.Reason != "" {
		sh.Reason += "\n\n" + why
	}
	if link := t.text("not_done_link"); link != "" && sh.Reason != "" {
		sh.Reason += "\n" + link
	}
	key := views.FlashNotExecuted
	if then == views.ThenReexecute {
		key = views.FlashReexecutionRequested
	}
	err := s.Store.ConfirmNotDone(at.ctx, at.actor, sh, answers(at.p, t), then == views.ThenReexecute)
	return s.settled(c, at.p, t, err, key)
}

func (s *site) recordDuplicate(c echo.Context, at *operationAt, t typed) error {
	if !t.yes("duplicate_confirm") {
		t.wrong("duplicate_confirm", views.Sentence(views.ErrorConfirm))
	}
	needs(&t, "duplicate_references", operation.CodeReferenceMissing)
	sh := stated(c, at, &t, "duplicate_", true)
	if !checkLinks(&t, "duplicate_link") || len(t.errors) > 0 {
		return s.showAgain(c, at.p, t)
	}
	var refs []store.Reference
	for line := range strings.SplitSeq(t.text("duplicate_references"), "\n") {
		if id := strings.TrimSpace(line); id != "" {
			refs = append(refs, store.Reference{ID: id, URL: t.text("duplicate_link")})
		}
	}
	err := s.Store.RecordDuplicate(at.ctx, at.actor, sh, refs)
	return s.settled(c, at.p, t, err, views.FlashDuplicateRecorded)
}

func (s *site) hold(c echo.Context, at *operationAt, t typed) error {
	p := web.VisitOf(c).Printer()
	until, err := time.ParseInLocation("2006-01-02T15:04", t.text("hold_until"), p.Zone)
	if err != nil {
		t.wrong("hold_until", views.Refused(operation.Refuse(operation.CodeDateMissing)))
	}
	needs(&t, "hold_reason", operation.CodeReasonMissing)
	if len(t.errors) > 0 {
		return s.showAgain(c, at.p, t)
	}
	err = s.Store.Hold(at.ctx, at.actor, t.shown(at.p.ID, "hold_reason"), until)
	return s.settled(c, at.p, t, err, views.FlashHeld, "Until", p.Short(until))
}

// needs marks a field that is empty with what the record would refuse.
func needs(t *typed, field string, code operation.Code) {
	if t.text(field) == "" {
		t.wrong(field, views.Refused(operation.Refuse(code)))
	}
}

// markUnanswered marks every question of the checklist that is not answered with yes.
func markUnanswered(at *operationAt, t *typed) {
	for _, item := range operation.MissingAnswers(signed(answers(at.p, *t), at.actor), extraItems(at.p)) {
		field, key := "check_"+string(item), views.ErrorRequired
		if t.val(field) == "no" {
			key = views.ErrorAnsweredNo
		}
		t.wrong(field, views.Sentence(key))
	}
}

// checkLinks marks addresses that a person could not open.
func checkLinks(t *typed, fields ...string) bool {
	ok := true
	for _, f := range fields {
		if x := t.text(f); x != "" && safeURL(x) == "" {
			t.wrong(f, views.Sentence(views.ErrorInvalidLink))
			ok = false
		}
	}
	return ok
}

// recheck answers the checklist once more before an approved re-execution.
func (s *site) recheck(c echo.Context, at *operationAt, t typed) error {
	if markUnanswered(at, &t); len(t.errors) > 0 {
		return s.showAgain(c, at.p, t)
	}
	sh := t.shown(at.p.ID, "reason")
	sh.Files = t.attached("")
	err := s.Store.AnswerChecklist(at.ctx, at.actor, sh, answers(at.p, t))
	return s.answer(c, at.p, t, err, views.FlashEvidenceAdded)
}

func signed(list store.Answers, a store.Actor) []operation.Answer {
	out := make([]operation.Answer, len(list))
	for i, x := range list {
		x.User = a.UserID()
		out[i] = x
	}
	return out
}

func extraItems(p *store.OperationPage) []operation.ChecklistItem {
	var out []operation.ChecklistItem
	for _, x := range p.Flow2.ChecklistExtra {
		out = append(out, operation.ChecklistItem(x.Key))
	}
	return out
}

// grant gives more attempts where every attempt so far provably did nothing.
func (s *site) grant(c echo.Context, at *operationAt, t typed) error {
	n, err := strconv.Atoi(t.text("attempts"))
	if err != nil || n < 1 || n > 20 {
		t.wrong("attempts", views.Sentence(views.ErrorInvalid))
		return s.showAgain(c, at.p, t)
	}
	err = s.Store.GrantAttempts(at.ctx, at.actor, t.shown(at.p.ID, "reason"), n)
	return s.answer(c, at.p, t, err, views.FlashAttemptsGranted)
}

// dispute brings a closed operation back to review.
func (s *site) dispute(c echo.Context, at *operationAt, t typed) error {
	if !checkLinks(&t, "link") || len(t.errors) > 0 {
		return s.showAgain(c, at.p, t)
	}
	sh := t.shown(at.p.ID, "evidence")
	sh.Files = t.attached("files")
	if ref := t.text("reference"); ref != "" && sh.Reason != "" {
		sh.Reason += "\n" + ref
	}
	err := s.Store.Dispute(at.ctx, at.actor, sh, t.text("link"))
	return s.answer(c, at.p, t, err, views.FlashDisputed)
}

// evidence adds a person's evidence. With a target reference, of an open operation, it is
// the statement that the effect exists.
func (s *site) evidence(c echo.Context, at *operationAt, t typed) error {
	if !checkLinks(&t, "link", "reference_url") || len(t.errors) > 0 {
		return s.showAgain(c, at.p, t)
	}
	sh, ref := t.shown(at.p.ID, "evidence"), store.Reference{ID: t.text("reference"), URL: t.text("reference_url")}
	sh.Files = t.attached("files")
	if ref.ID != "" && !at.p.State.Closed() {
		err := s.Store.ConfirmDone(at.ctx, at.actor, sh, ref)
		return s.answer(c, at.p, t, err, views.FlashConfirmed, "Reference", ref.ID)
	}
	if ref.ID != "" && sh.Reason != "" {
		sh.Reason += "\n" + strings.TrimSpace(ref.ID+" "+ref.URL)
	}
	err := s.Store.AddStatement(at.ctx, at.actor, sh, t.text("link"))
	return s.answer(c, at.p, t, err, views.FlashEvidenceAdded)
}

// remedy records that the open work on a closed operation is done.
func (s *site) remedy(c echo.Context, at *operationAt, t typed) error {
	said := views.FlashRemedyDone
	if at.p.Remedy == store.RemedyBlocked {
		said = views.FlashLeft
	}
	err := s.Store.CloseRemedy(at.ctx, at.actor, t.shown(at.p.ID, "reason"))
	return s.answer(c, at.p, t, err, said)
}
