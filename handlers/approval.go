package handlers

import (
	"slices"

	"holdpoint/operation"
	"holdpoint/operation/definition"
	"holdpoint/store"
	"holdpoint/views"
	"holdpoint/views/text"
	"holdpoint/web"

	"github.com/labstack/echo/v4"
)

// decide takes an approver's decision on exactly the version that they were shown. The
// server never fills in the current one (FC-15).
func (s *site) decide(c echo.Context, at *operationAt, t typed) error {
	d := operation.Decision(t.val("decision"))
	if d != operation.Approve && d != operation.RequestChanges && d != operation.Reject {
		t.wrong("decision", views.Sentence(views.ErrorRequired))
		return s.showAgain(c, at.p, t)
	}
	in := decided(at.p, t, d, "comment")
	in.For = operation.UserID(t.val("for"))
	in.Preset, in.PresetWords = presetOf(at.p.Stage2, d, t.val("reason_"+string(d)), web.VisitOf(c).Printer())
	if err := s.Store.Decide(at.ctx, at.actor, in); err != nil {
		return s.answer(c, at.p, t, err, "")
	}
	key, args := s.decidedFlash(c, d)
	return s.doneNext(c, at, key, args...)
}

// doneNext says what was decided and offers the next decision of the inbox.
func (s *site) doneNext(c echo.Context, at *operationAt, key string, args ...string) error {
	if err := web.DropKept(c); err != nil {
		return err
	}
	if err := web.FlashNext(c, views.FlashDone, s.nextWaiting(c, at.actor, at.p.ID), key, args...); err != nil {
		return err
	}
	return c.Redirect(303, pathOperation(at.p.ID))
}

// nextWaiting is the next decision that waits for a person; nil = none, or it could not be
// read: the decision before it stands all the same.
func (s *site) nextWaiting(c echo.Context, a store.Actor, not operation.ID) *views.Link {
	next, err := s.Store.NextInInbox(c.Request().Context(), a, not)
	if err != nil {
		s.Log.Warn("next decision not read", "id", web.RequestID(c), "err", err)
		return nil
	}
	if next == nil {
		return &views.Link{}
	}
	return &views.Link{Label: next.Title, URL: pathOperation(next.ID)}
}

func decided(p *store.OperationPage, t typed, d operation.Decision, reason string) store.Decided {
	return store.Decided{Operation: p.ID, Version: operation.VersionID(t.val("version")), Hash: t.val("hash"), Revision: t.revision(),
		Decision: d, Reason: t.text(reason), FormID: t.val("form_id")}
}

// presetsOf lists the preset reasons of one decision: the flow's, else the common ones.
func presetsOf(st definition.Stage, d operation.Decision, chosen, lang string) []views.Preset {
	var out []views.Preset
	for _, r := range st.Reasons[d] {
		out = append(out, views.Preset{Code: r.Code, Words: r.Text.In(lang), Selected: r.Code == chosen})
	}
	if len(out) > 0 {
		return out
	}
	for _, code := range views.Presets[d] {
		out = append(out, views.Preset{Code: code, Selected: code == chosen})
	}
	return out
}

// presetOf gives a chosen preset reason with the words that its reader saw; a code that
// the form did not offer is none.
func presetOf(st definition.Stage, d operation.Decision, chosen string, p *text.Printer) (code, words string) {
	list := presetsOf(st, d, chosen, p.Lang)
	i := slices.IndexFunc(list, func(r views.Preset) bool { return r.Selected })
	if i < 0 || chosen == "" {
		return "", ""
	}
	return chosen, views.PresetText(p, d, chosen, list[i].Words)
}

// decidedFlash names what the decision did: with an approval, whether it was the last
// one needed.
func (s *site) decidedFlash(c echo.Context, d operation.Decision) (key string, args []string) {
	switch d {
	case operation.RequestChanges:
		return views.FlashChangesRequested, nil
	case operation.Reject:
		return views.FlashRejected, nil
	}
	now, err := s.find(c)
	if err != nil {
		return views.FlashApproved, nil
	}
	if now.State == operation.PendingApproval && now.Policy != nil {
		return views.FlashApprovalCounted, []string{"Given", itoa(now.Approved()), "Required", itoa(max(now.Policy.Required, 1))}
	}
	if why := s.holds(c, now); why != nil {
		return unsentFlash(c, why)
	}
	if now.Profile != nil && now.Profile.PerformedBy == definition.ClientsPerform {
		return views.FlashApprovedForProgram, nil
	}
	return views.FlashApproved, nil
}

// withdraw takes one's own approval back, or the one that was given for oneself, until
// dispatch.
func (s *site) withdraw(c echo.Context, at *operationAt, t typed) error {
	err := s.Store.Decide(at.ctx, at.actor, decided(at.p, t, operation.Withdraw, "reason"))
	return s.answer(c, at.p, t, err, views.FlashWithdrawn)
}
