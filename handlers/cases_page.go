package handlers

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/views"
	"holdpoint/web"

	"github.com/labstack/echo/v4"
)

// casePage shows one case. With a form kept over a sign-in it shows that form again.
func (s *site) casePage(c echo.Context) error {
	t, _ := kept(c)
	p, err := s.findCase(c, operation.CaseID(c.Param("id")))
	if err != nil {
		return err
	}
	return s.showCase(c, http.StatusOK, p, operation.QueueID(c.QueryParam("queue")), t)
}

func (s *site) findCase(c echo.Context, id operation.CaseID) (*store.CasePage, error) {
	if !operation.ValidID("case", string(id)) {
		return nil, store.ErrNotFound
	}
	p, err := s.Store.FindCase(c.Request().Context(), web.VisitOf(c).Actor(), id)
	if err != nil {
		return nil, err
	}
	return p, s.look(c, store.Look{Operation: p.Case.Operation, Flow: p.Flow, Version: p.VersionID})
}

// caseBack is the case, and the frozen list, from whose page a form about an operation
// was sent; ok is false when it came from elsewhere.
func caseBack(t typed) (id operation.CaseID, q operation.QueueID, ok bool) {
	u, err := url.Parse(t.val("return"))
	if err != nil || u.Host != "" || u.Scheme != "" {
		return "", "", false
	}
	rest, found := strings.CutPrefix(u.Path, views.PathCases+"/")
	if !found || !operation.ValidID("case", rest) {
		return "", "", false
	}
	if q = operation.QueueID(u.Query().Get("queue")); !operation.ValidID("queue", string(q)) {
		q = ""
	}
	return operation.CaseID(rest), q, true
}

// caseReturn is the address to which the forms of a case's page lead back.
func caseReturn(id operation.CaseID, q operation.QueueID) string {
	if q == "" {
		return pathCase(id)
	}
	return pathCase(id) + "?" + url.Values{"queue": {string(q)}}.Encode()
}

// backFrom is where a form about an operation leads when it was carried out: to the case
// that it was sent from, else to the operation.
func backFrom(p *store.OperationPage, t typed) string {
	if id, q, ok := caseBack(t); ok {
		return caseReturn(id, q)
	}
	return pathOperation(p.ID)
}

// staleBack is backFrom for the forms of a page that says what has changed.
func staleBack(p *store.OperationPage, t typed) string {
	if to := backFrom(p, t); to != pathOperation(p.ID) {
		return to
	}
	return ""
}

// showCase writes the page of a case, with what was typed into one form.
func (s *site) showCase(c echo.Context, status int, p *store.CasePage, q operation.QueueID, t typed) error {
	b, err := s.builder(c, p.OperationPage, t)
	if err != nil {
		return err
	}
	if !operation.ValidID("queue", string(q)) {
		q = ""
	}
	b.back = caseReturn(p.Case.ID, q)
	b.settling = c.QueryParam(queryNext) != ""
	k := caseOf{panelOf: b, c: p}
	m := views.CaseModel{Case: caseView(p.Case), Head: b.head(), Approved: b.approvedColumn(shown{}), Tried: b.triedColumn(shown{}), Found: b.foundColumn(shown{}),
		Request: k.request(), Asked: k.asked(), List: k.list(), Hand: k.hand(), Clock: k.clock(web.VisitOf(c))}
	m.Case.Old = p.Old
	m.Evidence, m.Files = k.evidence()
	for _, o := range p.Others {
		m.Others = append(m.Others, views.CaseLink{Link: views.Link{Label: operation.CaseNumber(o.Number), URL: pathCase(o.ID)}, OpenedAt: o.OpenedAt, ClosedAs: o.ClosedAs})
	}
	if p.Case.Open() {
		m.Panel, m.Gate = b.panel(), k.gate()
		m.Attempt, m.Max = len(p.Attempts)+1, p.AttemptsMax
	} else {
		m.Panel = k.closedPanel()
	}
	if m.CauseBlock, err = s.causeBlock(c, b); err != nil {
		return err
	}
	if m.Queue, err = s.queueBar(c, p, q); err != nil {
		return err
	}
	if m.Queue == nil {
		if m.Panel.Next, err = s.nextUnknown(c, p.OperationPage); err != nil {
			return err
		}
	}
	m.Frame = web.Frame(c, views.SectionOperations)
	return web.RenderStatus(c, status, views.CasePage(m))
}

// queueBar says where in one's own frozen list a case stands. Another's list is none.
func (s *site) queueBar(c echo.Context, p *store.CasePage, q operation.QueueID) (*views.CaseQueueBar, error) {
	if q == "" {
		return nil, nil
	}
	row, items, err := s.Store.FindQueue(c.Request().Context(), web.VisitOf(c).Actor(), q)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	bar := &views.CaseQueueBar{URL: pathQueue(q), Sums: queueSums(row), Done: c.QueryParam(queryAfter) != ""}
	for _, x := range items {
		if x.ID == p.Case.ID {
			bar.Place, bar.Done = x.Place, bar.Done || !x.Left()
		}
	}
	if next, ok := store.NextInQueue(items, p.Case.ID); ok {
		bar.Next = &views.Link{Label: operation.CaseNumber(next.Number), URL: inQueue(next.ID, q)}
	}
	return bar, nil
}

// caseOf builds the parts of a case's page that its operation's page does not have.
type caseOf struct {
	panelOf
	c *store.CasePage
}

// closedPanel offers of a closed case nothing but its operation's open work and, for
// whoever holds evidence, the way back into doubt.
func (k caseOf) closedPanel() views.Panel {
	return views.Panel{Dispute: k.dispute(), Remedy: k.remedy()}
}

func (k caseOf) request() *views.CaseRequest {
	q := k.c.Request
	if q == nil {
		return nil
	}
	return &views.CaseRequest{By: k.n.person(string(q.By)), At: q.At, Reason: q.Reason, Version: k.p.VersionNo, State: q.State}
}

// asked is the newest question of a second person, while nobody has asked again since.
func (k caseOf) asked() *views.CaseAsked {
	for i := len(k.p.History) - 1; i >= 0; i-- {
		switch h := k.p.History[i]; h.Action {
		case string(operation.EvRequestReexecution):
			return nil
		case string(operation.EvRefuseReexecution):
			if h.Links()["cause"] != "more_evidence" || !k.c.Case.Open() {
				return nil
			}
			return &views.CaseAsked{By: k.n.person(h.ActorID), Of: k.n.person(h.Links()["asked_of"]), At: h.At, Reason: h.Reason}
		}
	}
	return nil
}

// list are the questions, each with its own form for whoever may answer it now.
func (k caseOf) list() views.CaseChecklist {
	var out views.CaseChecklist
	seen := map[string]bool{}
	for _, item := range k.checklist(typed{}) {
		out.Items = append(out.Items, k.item(item))
	}
	for _, a := range k.p.Answers {
		if !seen[string(a.User)] {
			seen[string(a.User)] = true
			out.By = append(out.By, k.n.person(string(a.User)))
		}
	}
	return out
}

func (k caseOf) item(item views.CheckItem) views.CaseItem {
	out := views.CaseItem{CheckItem: item}
	if !k.mayAnswer() {
		return out
	}
	form, t := k.form("checklist")
	form.Action = pathOperation(k.p.ID) + "/checklist"
	if t.val("item") != string(item.Item) {
		form.Errors, form.FilesLost, t = nil, 0, typed{}
	}
	out.Form, out.Typed, out.TypedNote = &form, t.val("check_"+string(item.Item)), t.val("note_"+string(item.Item))
	return out
}

// mayAnswer reports whether the viewer may answer questions now. While a request waits,
// only whoever asked still may: another one would become a party by it.
func (k caseOf) mayAnswer() bool {
	if !k.c.Case.Open() || k.c.Old || !k.p.Flow2.Reviewer.Matches(k.n.viewer) || k.inHand() != nil {
		return false
	}
	switch k.p.State {
	case operation.Review, operation.Unknown:
		return true
	case operation.ReexecutionRequested:
		return k.c.Request != nil && k.c.Request.By == k.n.viewer.ID
	}
	return false
}

// evidence are people's statements, and every file with its hash.
func (k caseOf) evidence() (list []views.EvidenceLine, files []views.AttachmentView) {
	for _, e := range k.p.Evidence {
		if e.Kind == "statement" {
			list = append(list, evidenceLine(k.n, e))
		}
	}
	return list, attachmentViews(k.p, k.n, func(a store.AttachmentRow) bool { return a.Item == "" || a.Round == k.c.Case.Round })
}

// gate are the gate's conditions as they stand.
func (k caseOf) gate() []views.GateLine {
	var out []views.GateLine
	for _, x := range operation.GateConditions(k.p.Facts, k.p.Now) {
		line := views.GateLine{Name: x.Name, Why: inWords(x.Why, k.p.Flow2, k.lang, k.n.people)}
		if x.Name == operation.GatePermission && x.Why != nil && (k.p.State == operation.Review || k.p.State == operation.ReexecutionRequested) {
			w := k.turn(k.n.responsible(k.p.Next().Who))
			line.Waits = &w
		}
		out = append(out, line)
	}
	return out
}

// hand says who has the case in hand, and what the viewer may do about it.
func (k caseOf) hand() views.CaseHand {
	h := k.c.Case.Hold()
	out := views.CaseHand{Closed: h.Closed, Mine: h.TakenBy == k.n.viewer.ID, Since: h.Since, Lost: k.lost()}
	if h.TakenBy != "" {
		out.By = k.n.person(string(h.TakenBy))
	}
	if h.Closed || !k.p.Flow2.Reviewer.Matches(k.n.viewer) {
		return out
	}
	form := func(name string) (*views.Form, typed) {
		t := k.typed.of(name)
		f := shownTo(newForm(t, pathCase(k.c.Case.ID)+"/"+name), k.n.viewer.ID)
		f.Return = k.back
		return &f, t
	}
	if out.Mine {
		out.Release, _ = form("release")
	} else {
		f, t := form("take")
		out.Take, out.From = &views.ReasonForm{Form: *f, Reason: t.val("reason")}, h.TakenBy
	}
	if k.p.Action != nil && k.p.Action.HasLookup() && k.p.AttemptsEver > 0 && (k.p.LookupAt == nil || k.p.LookupAt.After(k.p.Now)) {
		out.Lookup, _ = form("lookup")
	}
	return out
}

// lost is the takeover by which the case left the viewer's hands; nil = it did not.
func (k caseOf) lost() *views.CaseTaken {
	for i := len(k.p.History) - 1; i >= 0; i-- {
		h := k.p.History[i]
		if h.Action != "take_case" || h.Links()["case"] != string(k.c.Case.ID) {
			continue
		}
		if h.Links()["from_person"] != string(k.n.viewer.ID) || h.ActorID == string(k.n.viewer.ID) {
			return nil
		}
		return &views.CaseTaken{By: k.n.person(h.ActorID), At: h.At, Reason: h.Reason}
	}
	return nil
}

// clock are the case's two clocks.
func (k caseOf) clock(v *web.Visit) views.CaseClockView {
	out := views.CaseClockView{InHand: k.c.Times.InHand, Active: k.c.Times.Active}
	for _, h := range k.c.Holds {
		out.Holds = append(out.Holds, views.CaseHold{Who: k.n.person(string(h.User)), Taken: h.Taken, Released: timeOf(h.Released)})
	}
	for _, a := range k.c.Active {
		out.People = append(out.People, views.CaseActive{Who: k.n.person(string(a.User)), Active: time.Duration(a.Millis) * time.Millisecond})
	}
	for _, x := range k.c.Corrections {
		out.Corrections = append(out.Corrections, views.CaseCorrection{Who: k.n.person(string(x.User)), At: x.At, Clock: x.Clock, Delta: time.Duration(x.Delta) * time.Millisecond, Reason: x.Reason})
	}
	reviews := k.p.Flow2.Reviewer.Matches(k.n.viewer)
	if k.c.Case.Open() && v.Has(owners.roles...) && (reviews || k.p.Flow2.Reexecution.Approvers.Matches(k.n.viewer)) {
		out.Beat = pathCase(k.c.Case.ID) + "/beat"
	}
	if reviews {
		t := k.typed.of("time")
		f := shownTo(newForm(t, pathCase(k.c.Case.ID)+"/time"), k.n.viewer.ID)
		f.Return = k.back
		out.Correct = &views.CorrectForm{Form: f, Clock: operation.CaseClock(t.val("clock")), Minutes: t.val("minutes"), Reason: t.val("reason")}
	}
	return out
}
