package handlers

import (
	"net/http"
	"net/url"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/views"
	"holdpoint/web"

	"github.com/labstack/echo/v4"
)

// aboutBatch reads the batch and the form of a POST about it, before its handler.
func (s *site) aboutBatch(handle func(echo.Context, *store.BatchPage, typed) error) echo.HandlerFunc {
	return func(c echo.Context) error {
		p, err := s.findBatch(c)
		if err != nil {
			return err
		}
		t, err := sent(c)
		if err != nil {
			return err
		}
		v := web.VisitOf(c)
		if t.ofAnother(v.User.ID) {
			return web.ErrFormOfAnother
		}
		if t.old(v.Now) {
			t.wrong("", views.Sentence("settling.form_old"))
		}
		if t.tooLong(); len(t.errors) > 0 {
			return s.batchAgain(c, http.StatusUnprocessableEntity, p, t)
		}
		return handle(c, p, t)
	}
}

// batchAgain shows the page of a form that is to be corrected.
func (s *site) batchAgain(c echo.Context, status int, p *store.BatchPage, t typed) error {
	for _, a := range operation.BatchActs {
		if t.form == string(a) {
			return s.showBatchAct(c, status, p, a, t)
		}
	}
	return s.showBatch(c, status, p, t, t.revision() != p.Revision)
}

// batchAnswer ends a POST about a batch: carried out, refused because something changed, or
// to be corrected.
func (s *site) batchAnswer(c echo.Context, p *store.BatchPage, t typed, err error, key string, args ...string) error {
	if err == nil {
		return done(c, pathBatch(p.ID), key, args...)
	}
	r := refusalOf(err)
	if r == nil {
		return err
	}
	if r.Code == operation.CodeAlreadyDecided {
		return calm(c, pathBatch(p.ID), "refusal."+string(r.Code))
	}
	status := web.RefusalStatus(r.Code)
	if status == http.StatusForbidden {
		return err
	}
	s.Log.Info("decision refused", "id", web.RequestID(c), "form", t.form, "subject", string(p.ID), "code", string(r.Code))
	now, err := s.findBatch(c)
	if err != nil {
		return err
	}
	if isStale(r) {
		status = http.StatusConflict
	}
	if !isStale(r) || t.form != "decide" && t.form != "withdraw" {
		t.wrong(batchField(t, r.Code), refused(r, now.Def, lang(c), now.People))
	}
	return s.batchAgain(c, status, now, t)
}

// batchField gives the field that a refusal is about; "" = the form as a whole.
func batchField(t typed, code operation.Code) string {
	if code != operation.CodeReasonMissing {
		return ""
	}
	if t.form == "decide" {
		return "comment"
	}
	return "reason"
}

// decideBatch takes a decision about exactly the version that the person was shown.
func (s *site) decideBatch(c echo.Context, p *store.BatchPage, t typed) error {
	d := operation.Decision(t.val("decision"))
	if d != operation.Approve && d != operation.RequestChanges && d != operation.Reject {
		t.wrong("decision", views.Sentence(views.ErrorRequired))
		return s.batchAgain(c, http.StatusUnprocessableEntity, p, t)
	}
	in := decidedBatch(p, t, d, "comment")
	in.For = operation.UserID(t.val("for"))
	in.Preset, in.PresetWords = presetOf(p.Stage2, d, t.val("reason_"+string(d)), web.VisitOf(c).Printer())
	v, ctx := web.VisitOf(c), c.Request().Context()
	if err := s.Store.DecideBatch(ctx, v.Actor(), in); err != nil {
		return s.batchAnswer(c, p, t, err, "")
	}
	key, args := s.batchFlash(c, p, in)
	if err := web.DropKept(c); err != nil {
		return err
	}
	if err := web.FlashNext(c, views.FlashDone, s.nextWaiting(c, v.Actor(), ""), key, args...); err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, pathBatch(p.ID))
}

func decidedBatch(p *store.BatchPage, t typed, d operation.Decision, reason string) store.BatchDecided {
	number, phase := splitVersion(t.val("version"))
	return store.BatchDecided{Batch: p.ID, Number: number, Phase: phase, Hash: t.val("hash"), Revision: t.revision(), Decision: d, Reason: t.text(reason), FormID: t.val("form_id")}
}

// batchFlash names what the decision did: with an approval, whether it was the last one needed.
func (s *site) batchFlash(c echo.Context, p *store.BatchPage, in store.BatchDecided) (key string, args []string) {
	switch {
	case in.Decision == operation.RequestChanges:
		return "flash.batch_changes", nil
	case in.Decision == operation.Reject && in.Phase == operation.PhaseRest:
		return "flash.batch_stop", nil
	case in.Decision == operation.Reject:
		return "flash.batch_rejected", nil
	}
	now, err := s.findBatch(c)
	if err == nil && now.Phase() == in.Phase && now.Policy != nil && (now.State == operation.BatchPendingApproval || now.State == operation.BatchCanaryReview) {
		return views.FlashApprovalCounted, []string{"Given", itoa(now.AsOperation().Approved()), "Required", itoa(max(now.Policy.Required, 1))}
	}
	if err == nil {
		if why := batchHolds(now, web.VisitOf(c).Printer().Lang); why != nil {
			return unsentFlash(c, why)
		}
	}
	if in.Phase == operation.PhaseRest {
		return "flash.batch_rest", nil
	}
	if err == nil && now.State == operation.BatchCanary {
		return views.FlashBatchCanary, []string{"N", web.VisitOf(c).Printer().Number(min(now.Canary, now.Included))}
	}
	return "flash.batch_approved", nil
}

// withdrawBatch takes one's own approval back while others are still missing.
func (s *site) withdrawBatch(c echo.Context, p *store.BatchPage, t typed) error {
	err := s.Store.DecideBatch(c.Request().Context(), web.VisitOf(c).Actor(), decidedBatch(p, t, operation.Withdraw, "reason"))
	return s.batchAnswer(c, p, t, err, views.FlashWithdrawn)
}

func (s *site) showBatchAct(c echo.Context, status int, p *store.BatchPage, a operation.BatchAct, t typed) error {
	b, err := s.batchBuilder(c, p, t)
	if err != nil {
		return err
	}
	if why := b.mayAct(a); why != nil {
		return why
	}
	if a == operation.BatchActGoOn && !p.Turn.Unmet {
		return calm(c, pathBatch(p.ID), "batch.go_on_not")
	}
	form, mine := b.form(string(a))
	h := b.head()
	m := views.BatchActModel{Form: form, Act: a, Batch: views.Link{Label: h.Title, URL: h.URL}, Counts: b.counts(), Reason: mine.val("reason"), Mails: h.Mails, Pause: h.Pause, Where: h.Destination.Label, Stage: h.Stage, Replacing: h.Replacing}
	m.Frame = web.Frame(c, views.SectionOperations)
	return web.RenderStatus(c, status, views.BatchActPage(m))
}

// actOnBatch pauses, resumes, stops or cancels. What cannot be taken back is ticked.
func (s *site) actOnBatch(c echo.Context, p *store.BatchPage, a operation.BatchAct, t typed) error {
	v, ctx := web.VisitOf(c), c.Request().Context()
	if a == operation.BatchActGoOn && !p.Turn.Unmet {
		return calm(c, pathBatch(p.ID), "batch.go_on_not")
	}
	if stands(p.Batch, a) && t.val("form_id") != p.LastForm {
		return calm(c, pathBatch(p.ID), "batch."+string(a)+"_not")
	}
	if (a == operation.BatchActStop || a == operation.BatchActCancel || a == operation.BatchActGoOn) && !t.yes("confirm") {
		t.wrong("confirm", views.Sentence(views.ErrorRequired))
	}
	if t.text("reason") == "" {
		t.wrong("reason", views.Refused(operation.Refuse(operation.CodeReasonMissing)))
	}
	if len(t.errors) > 0 {
		return s.showBatchAct(c, http.StatusUnprocessableEntity, p, a, t)
	}
	sh := store.BatchShown{Batch: p.ID, Revision: t.revision(), FormID: t.val("form_id"), Reason: t.text("reason")}
	var err error
	switch a {
	case operation.BatchActPause:
		_, err = s.Store.PauseBatch(ctx, v.Actor(), sh)
	case operation.BatchActResume:
		err = s.Store.ResumeBatch(ctx, v.Actor(), sh)
	case operation.BatchActGoOn:
		err = s.Store.GoOnWithoutBatch(ctx, v.Actor(), sh)
	case operation.BatchActStop:
		_, err = s.Store.StopBatch(ctx, v.Actor(), sh)
	default:
		err = s.Store.CancelBatch(ctx, v.Actor(), sh)
	}
	return s.batchAnswer(c, p, t, err, "flash.batch_"+string(a))
}

// batchCases are the open cases of a batch that the viewer may work on, the oldest rows first.
func (s *site) batchCases(c echo.Context, p *store.BatchPage) ([]store.PickedCase, error) {
	ids, err := s.Store.BatchCases(c.Request().Context(), web.VisitOf(c).Actor(), p.ID, store.CaseListLimit)
	var out []store.PickedCase
	for _, x := range ids {
		out = append(out, store.PickedCase{ID: x.ID, From: x.TakenBy})
	}
	return out, err
}

// settleBatch freezes the batch's open cases into a list and leads to its first.
func (s *site) settleBatch(c echo.Context, p *store.BatchPage, t typed) error {
	list, err := s.batchCases(c, p)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return calm(c, pathBatch(p.ID), "batch.no_doubt")
	}
	return s.settleCases(c, t, list)
}

// lookUpBatch asks the destination about each open case once more, each alone.
func (s *site) lookUpBatch(c echo.Context, p *store.BatchPage, t typed) error {
	list, err := s.batchCases(c, p)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return calm(c, pathBatch(p.ID), "batch.no_doubt")
	}
	for i := range list {
		list[i].From = "" // a lookup takes no case over
	}
	if err := s.Store.WorkOnCases(c.Request().Context(), web.VisitOf(c).Actor(), t.val("form_id"), store.BulkLookup, list, ""); err != nil {
		return err
	}
	if err := web.DropKept(c); err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, views.PathCases+"/result?"+url.Values{"form": {t.val("form_id")}}.Encode())
}
