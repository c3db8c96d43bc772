package handlers

import (
	"errors"
	"net/http"
	"strconv"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/views"
	"holdpoint/web"

	"github.com/labstack/echo/v4"
)

// caseVerb is what a form about a case alone does to it.
type caseVerb func(c echo.Context, p *store.CasePage, t *typed) (flash string, err error)

// aboutCase reads the case and the form of a POST about it, runs the verb, and leads back
// to the page that it was sent from.
func (s *site) aboutCase(verb caseVerb) echo.HandlerFunc {
	return func(c echo.Context) error {
		p, err := s.findCase(c, operation.CaseID(c.Param("id")))
		if err != nil {
			return err
		}
		t, err := sent(c)
		if err != nil {
			return err
		}
		if t.ofAnother(web.VisitOf(c).User.ID) {
			return web.ErrFormOfAnother
		}
		id, q, ok := caseBack(t)
		if !ok || id != p.Case.ID {
			q = ""
		}
		if t.tooLong() {
			return s.showCase(c, http.StatusUnprocessableEntity, p, q, t)
		}
		flash, err := verb(c, p, &t)
		if r := refusalOf(err); r != nil && web.RefusalStatus(r.Code) != http.StatusForbidden {
			return s.caseRefused(c, p.Case.ID, q, t, r)
		}
		var no *store.Invalid
		switch {
		case errors.As(err, &no):
			t.wrong(no.Field, views.Invalid(no.Code, no.Limit))
			return s.showCase(c, http.StatusUnprocessableEntity, p, q, t)
		case err != nil:
			return err
		case len(t.errors) > 0:
			return s.showCase(c, http.StatusUnprocessableEntity, p, q, t)
		}
		return done(c, caseReturn(p.Case.ID, q), flash)
	}
}

// caseRefused shows the case as it stands now, with why the form was refused.
func (s *site) caseRefused(c echo.Context, id operation.CaseID, q operation.QueueID, t typed, r *operation.Refusal) error {
	now, err := s.findCase(c, id)
	if err != nil {
		return err
	}
	field := ""
	switch r.Code {
	case operation.CodeReasonMissing:
		field = "reason"
	case operation.CodeClock:
		field = "minutes"
	}
	t.wrong(field, refused(r, now.Flow2, lang(c), now.People))
	return s.showCase(c, web.RefusalStatus(r.Code), now, q, t)
}

func (s *site) takeCase(c echo.Context, p *store.CasePage, t *typed) (string, error) {
	return views.FlashCaseTaken, s.Store.TakeCase(c.Request().Context(), web.VisitOf(c).Actor(), p.Case.ID, operation.UserID(t.val("from")), t.text("reason"))
}

func (s *site) releaseCase(c echo.Context, p *store.CasePage, _ *typed) (string, error) {
	return views.FlashCaseReleased, s.Store.ReleaseCase(c.Request().Context(), web.VisitOf(c).Actor(), p.Case.ID)
}

func (s *site) lookUpCase(c echo.Context, p *store.CasePage, _ *typed) (string, error) {
	return views.FlashCaseLookup, s.Store.AskLookup(c.Request().Context(), web.VisitOf(c).Actor(), p.Case.ID)
}

func (s *site) correctCase(c echo.Context, p *store.CasePage, t *typed) (string, error) {
	minutes, err := strconv.ParseFloat(t.text("minutes"), 64)
	if err != nil || !(minutes >= 0 && minutes <= 366*24*60) {
		t.wrong("minutes", views.Refused(operation.Refuse(operation.CodeClock)))
		return "", nil
	}
	to := time.Duration(minutes * float64(time.Minute))
	return views.FlashCaseTime, s.Store.CorrectCase(c.Request().Context(), web.VisitOf(c).Actor(), p.Case.ID, operation.CaseClock(t.val("clock")), to, t.text("reason"))
}

// beat takes a page's word that it was in use, as far as it can be true, and gives the
// clocks as they are shown.
func (s *site) beat(c echo.Context) error {
	id := operation.CaseID(c.Param("id"))
	if !operation.ValidID("case", string(id)) {
		return store.ErrNotFound
	}
	fields, err := web.PostForm(c)
	if err != nil {
		return err
	}
	ms, err := strconv.ParseInt(fields.Get("active_ms"), 10, 64)
	if err != nil || ms < 0 {
		return echo.NewHTTPError(http.StatusBadRequest)
	}
	ms = min(ms, operation.BeatCap.Milliseconds())
	v := web.VisitOf(c)
	times, err := s.Store.Beat(c.Request().Context(), v.Actor(), id, time.Duration(ms)*time.Millisecond)
	if err != nil {
		return err
	}
	p := v.Printer()
	return c.JSON(http.StatusOK, map[string]string{"in_hand": p.Duration(times.InHand), "active": p.Duration(times.Active)})
}

// answerItem answers one question of the checklist on its own.
func (s *site) answerItem(c echo.Context, at *operationAt, t typed) error {
	item := operation.ChecklistItem(t.val("item"))
	t.fieldsUsed(func(name string) bool { return name == "files_"+string(item) })
	var list store.Answers
	for _, a := range answers(at.p, t) {
		if a.Item == item {
			list = append(list, a)
		}
	}
	if len(list) == 0 {
		t.wrong("check_"+string(item), views.Sentence(views.ErrorRequired))
	}
	if len(t.errors) > 0 {
		return s.showAgain(c, at.p, t)
	}
	sh := t.shown(at.p.ID, "reason")
	sh.Files = t.attached("")
	err := s.Store.AnswerChecklist(at.ctx, at.actor, sh, list)
	return s.answer(c, at.p, t, err, views.FlashCaseAnswered)
}

// inHand refuses what is another person's while they have the case in hand.
func (b panelOf) inHand() *operation.Refusal {
	c := b.p.OpenCase()
	if c == nil {
		return nil
	}
	return inWords(operation.MayWorkOnCase(c.Hold(), b.n.viewer.ID), b.p.Flow2, b.lang, b.n.people)
}
