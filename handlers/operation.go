package handlers

import (
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/views"
	"holdpoint/web"

	"github.com/labstack/echo/v4"
)

// operation shows one operation. With a form kept over a sign-in it shows that form
// again, checked against what is there now.
func (s *site) operation(c echo.Context) error {
	t, waited := kept(c)
	find := s.Store.FindShown
	if waited || shownOf(c).changes {
		find = s.Store.FindOperation
	}
	p, err := s.findBy(c, find)
	if err != nil {
		return err
	}
	if waited && !p.SameAs(t.revision()) {
		return s.showStale(c, http.StatusOK, p, t)
	}
	return s.showOperation(c, http.StatusOK, p, t)
}

// showOperation writes the page of an operation, with what was typed into one form; of a
// form that was sent from the page of a case, that page.
func (s *site) showOperation(c echo.Context, status int, p *store.OperationPage, t typed) error {
	if id, q, ok := caseBack(t); ok {
		k, err := s.findCase(c, id)
		if err == nil && k.Case.Operation == p.ID {
			return s.showCase(c, status, k, q, t)
		}
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
	}
	b, err := s.builder(c, p, t)
	if err != nil {
		return err
	}
	if len(t.errors) > 0 && !b.offers(b.panel(), t.form) { // the right ended meanwhile: nothing typed is lost
		b.keep = keptText(t)
	}
	b.settling = c.QueryParam(queryNext) != ""
	want := shownOf(c)
	m := views.OperationModel{
		Head: b.head(), Stages: stageStrip(p, b.lang), Approved: b.approvedColumn(want),
		Tried: b.triedColumn(want), Found: b.foundColumn(want), Panel: b.panel(), History: newestOf(p, b.n, b.lang, want),
	}
	if m.Cause, err = s.causeBlock(c, b); err != nil {
		return err
	}
	if m.News, err = s.newsSteps(c, p.ID); err != nil {
		return err
	}
	if m.Panel.Next, err = s.nextUnknown(c, p); err != nil {
		return err
	}
	m.Frame = web.Frame(c, views.SectionOperations)
	return web.RenderStatus(c, status, views.OperationPage(m))
}

// builder gathers what every part of the page needs.
func (s *site) builder(c echo.Context, p *store.OperationPage, t typed) (panelOf, error) {
	who, err := s.viewer(c, p.Flow)
	if err != nil {
		return panelOf{}, err
	}
	v := web.VisitOf(c)
	n := names{p.People, who}
	if err := s.nameFlow(c, n, p.Flow2); err != nil {
		return panelOf{}, err
	}
	p.Gate = inWords(p.Gate, p.Flow2, v.Printer().Lang, n.people)
	causes, err := s.Store.ListCauses(c.Request().Context(), v.Actor(), p.ID)
	if err != nil {
		return panelOf{}, err
	}
	received, err := s.Store.ListReceived(c.Request().Context(), who, p.Flow)
	return panelOf{p: p, n: n, lang: v.Printer().Lang, zone: v.Printer().Zone, typed: t, received: received, causes: causes}, err
}

// showStale writes the page that refuses a decision on something that has changed: what
// was seen and what is there now, with the same form and what was typed.
func (s *site) showStale(c echo.Context, status int, p *store.OperationPage, t typed) error {
	b, err := s.builder(c, p, t)
	if err != nil {
		return err
	}
	b.back = staleBack(p, t)
	panel := b.panel()
	if !b.offers(panel, t.form) { // what was typed has no other place any more
		b.keep = keptText(t)
		panel = b.panel()
	}
	m := views.StaleModel{Head: b.head(), Panel: panel, Signatures: b.signatures(), Changes: historySince(p.History, b.n, t.shownAt())}
	m.Seen.Revision, m.Now.Revision, m.Now.State = max(t.revision(), 0), p.Revision, p.State
	if cur := p.Current(); cur != nil {
		m.Now.Version = versionView(p, b.n, *cur)
	}
	if old := versionByID(p, operation.VersionID(t.val("version"))); old != nil {
		m.Seen.Version = versionView(p, b.n, *old)
		m.Seen.State = stateAt(p.History, t.shownAt())
		if m.SameContent = old.ID == p.VersionID; !m.SameContent && p.Current() != nil {
			m.Diff = changes(*old, *p.Current())
		}
	}
	m.Frame = web.Frame(c, views.SectionOperations)
	return web.RenderStatus(c, status, views.StalePage(m))
}

// stateAt is the state that the history gives for a moment; "" = it does not say.
func stateAt(rows []store.HistoryRow, at time.Time) operation.State {
	var state operation.State
	for _, h := range rows {
		if !at.IsZero() && !h.At.After(at) && h.To != "" {
			state = h.To
		}
	}
	return state
}

// keptText is the free text of a form, so that it is not lost with the form.
func keptText(t typed) string {
	var parts []string
	fields := []string{"comment", "reason", "evidence", "done_reference", "done_evidence", "not_done_evidence", "not_done_reason", "duplicate_references", "duplicate_evidence", "hold_reason"}
	for _, name := range slices.Sorted(maps.Keys(t.fields)) {
		if strings.HasPrefix(name, "note_") { // what was seen, of the checklist
			fields = append(fields, name)
		}
	}
	for _, name := range fields {
		if x := t.text(name); x != "" && t.form != "evidence" {
			parts = append(parts, x)
		}
	}
	return strings.Join(parts, "\n\n")
}

// answer ends a POST about an operation: carried out, done before, refused because
// something changed, or to be corrected. Everything else is an error page.
func (s *site) answer(c echo.Context, p *store.OperationPage, t typed, err error, key string, args ...string) error {
	to := backFrom(p, t)
	if err == nil {
		return done(c, to, key, args...)
	}
	r := refusalOf(err)
	if r == nil {
		return err
	}
	if r.Code == operation.CodeAlreadyDecided {
		return calm(c, to, "refusal."+string(r.Code))
	}
	status := web.RefusalStatus(r.Code)
	if status == http.StatusForbidden {
		return err
	}
	s.Log.Info("decision refused", "id", web.RequestID(c), "form", t.form, "subject", string(p.ID), "code", string(r.Code))
	now, err := s.find(c)
	if err != nil {
		return err
	}
	if isStale(r) {
		return s.showStale(c, http.StatusConflict, now, t)
	}
	t.wrong(fieldOf(t, r.Code), refused(r, now.Flow2, lang(c), now.People))
	return s.showOperation(c, status, now, t)
}

// fieldOf gives the field that a refusal is about; "" = the form as a whole.
func fieldOf(t typed, code operation.Code) string {
	prefix := ""
	if t.form == "reconcile" {
		prefix = t.val("finding") + "_"
	}
	switch code {
	case operation.CodeReasonMissing:
		switch {
		case t.form == "decide" || t.form == "reexecution":
			return "comment"
		case t.form == "reconcile" && t.val("finding") == string(views.FindingDone):
			return "done_evidence"
		}
		return prefix + "reason"
	case operation.CodeEvidenceMissing:
		return prefix + "evidence"
	case operation.CodeReferenceMissing, operation.CodeReferenceTaken:
		if t.val("finding") == string(views.FindingDuplicate) {
			return "duplicate_references"
		}
		return prefix + "reference"
	case operation.CodeDateMissing:
		return "hold_until"
	}
	return ""
}
