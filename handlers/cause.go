package handlers

import (
	"cmp"
	"encoding/hex"
	"net/url"
	"strconv"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/views"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"
)

// causeRoutes are why operations stop.
func (s *site) causeRoutes() []route {
	const op, pattern = "/operations/:id", views.PathPatterns + "/:id"
	return []route{
		{get, views.PathPatterns, signedIn, "", s.patterns},
		{get, pattern, signedIn, "", s.pattern},
		{post, pattern + "/words", stoppers, pattern, s.writePattern},
		{post, op + "/cause", owners, op, s.about(s.correctCause)},
		{post, op + "/suggest", owners, op, s.about(s.suggest)},
		{get, views.PathDisputes, owners, "", s.disputes},
		{post, views.PathDisputes, owners, views.PathDisputes, s.disputeSet},
		{get, views.PathDisputes + "/result", owners, "", s.disputeResult},
	}
}

func pathPattern(id operation.PatternID) string { return views.PathPatterns + "/" + string(id) }

// causeBlock tells why an operation stopped, for its page and that of its case; nil = it
// never did.
func (s *site) causeBlock(c echo.Context, b panelOf) (templ.Component, error) {
	if len(b.causes) == 0 {
		return nil, nil
	}
	m := views.CauseModel{Known: b.known()}
	for _, x := range b.causes {
		m.Causes = append(m.Causes, causeView(x, b.n))
	}
	list, err := s.Store.ListSuggestions(c.Request().Context(), b.p.ID)
	if err != nil {
		return nil, err
	}
	if b.mayCorrect() {
		m.Correct = b.correctForm()
		if chosen := chosenSuggestion(c, list); chosen != nil && b.typed.of("cause").fields == nil {
			m.Correct.Class, m.Correct.Reason, m.Correct.From = chosen.Class, chosen.Words, chosen.Model
		}
		if s.Assist != nil {
			form, _ := b.form("suggest")
			m.Assist = &views.AssistView{Form: form, Model: s.Assist.Model(), Host: s.Assist.Host(), Content: s.Assist.SendsContent(), Sent: s.sentText(b)}
		}
	}
	for _, x := range list {
		m.Suggestions = append(m.Suggestions, b.suggestion(x, m.Correct != nil))
	}
	return views.CauseBlock(m), nil
}

// chosenSuggestion is the one that the address asks to be put into the form; nil = none.
func chosenSuggestion(c echo.Context, list []store.Suggestion) *store.Suggestion {
	for i, x := range list {
		if x.Class != "" && string(x.ID) == c.QueryParam("suggestion") {
			return &list[i]
		}
	}
	return nil
}

// suggestion shows what a model suggested. What has a class can be put into the form.
func (b panelOf) suggestion(x store.Suggestion, usable bool) views.SuggestionView {
	v := views.SuggestionView{Model: x.Model, Purpose: x.Purpose, Class: x.Class, Words: x.Words, By: b.n.person(string(x.By)), At: x.At, Took: time.Duration(x.Millis) * time.Millisecond}
	if v.By.Name == "" {
		v.By.Name = x.Name
	}
	if usable && x.Class != "" {
		to, err := url.Parse(cmp.Or(b.back, pathOperation(b.p.ID)))
		if err != nil {
			return v
		}
		q := to.Query()
		q.Set("suggestion", string(x.ID))
		to.RawQuery, to.Fragment = q.Encode(), "cause-form"
		v.Use = to.String()
	}
	return v
}

func causeView(x store.Cause, n names) views.CauseView {
	v := views.CauseView{Kind: x.Kind, Class: x.Counts(), Phase: x.Pattern.Phase, Code: x.Pattern.Code, Status: x.Pattern.Status, Error: x.Pattern.Error, At: x.At, Pattern: pathPattern(x.Pattern.ID)}
	if x.ClassBy != "" && x.ClassAt != nil {
		v.By, v.ByAt, v.ByWhy = n.person(string(x.ClassBy)), *x.ClassAt, x.ClassWhy
		if v.By.Name == "" {
			v.By.Name = x.ClassName
		}
	}
	return v
}

// known is what is known of the newest stop's pattern from other operations; nil = nothing.
func (b panelOf) known() *views.KnownPattern {
	if len(b.causes) == 0 {
		return nil
	}
	x := b.causes[0]
	if x.Before.Total() == 0 && x.Pattern.Note == "" && x.Pattern.Runbook == "" {
		return nil
	}
	k := &views.KnownPattern{URL: pathPattern(x.Pattern.ID), Ended: x.Before, Note: x.Pattern.Note, Runbook: x.Pattern.Runbook != ""}
	for _, r := range x.BeforeLast {
		k.Last = append(k.Last, patternCase(r))
	}
	return k
}

// mayCorrect lets the reviewer and ops owners set a class right, as the store does.
func (b panelOf) mayCorrect() bool {
	return b.p.Flow2.Reviewer.Matches(b.n.viewer) || b.n.viewer.Has(operation.RoleOpsOwner) || b.n.viewer.Has(operation.RoleAdmin)
}

func (b panelOf) correctForm() *views.CorrectCauseForm {
	form, t := b.form("cause")
	f := &views.CorrectCauseForm{Form: form, Stop: b.causes[0].Stop, Class: b.causes[0].Counts(), Reason: t.val("reason")}
	if t.fields != nil {
		f.Class = operation.CauseClass(t.val("class"))
	}
	return f
}

// correctCause takes a person's word against a class.
func (s *site) correctCause(c echo.Context, at *operationAt, t typed) error {
	stop, _ := strconv.ParseInt(t.val("stop"), 10, 64)
	err := s.Store.CorrectCause(at.ctx, at.actor, t.shown(at.p.ID, "reason"), stop, operation.CauseClass(t.val("class")))
	if field, say, ok := invalidOf(err); ok {
		t.wrong(field, say)
		return s.showAgain(c, at.p, t)
	}
	return s.answer(c, at.p, t, err, views.FlashCauseCorrected)
}

// contradictionOf is the newest evidence against a person's decision that no person has
// settled since; nil = there is none.
func contradictionOf(p *store.OperationPage, n names) *views.Contradiction {
	last := -1
	for i, h := range p.History {
		switch {
		case h.Action == "contradicted":
			last = i
		case last >= 0 && h.ActorKind == operation.ActorPerson && decides(h.Action):
			last = -1
		}
	}
	if last < 0 {
		return nil
	}
	h := p.History[last]
	links := h.Links()
	m := &views.Contradiction{Decision: links["decision"], At: h.At, Teller: n.actor(h), Told: "callback", Evidence: views.Link{Label: links["reference"]}}
	for _, d := range p.History[:last] {
		if strconv.FormatInt(d.Seq, 10) == links["decision_seq"] {
			m.By, m.Decided, m.Words = n.actor(d), d.At, d.Reason
			m.Words = decisionWords(p, d, m.Words)
		}
	}
	for _, e := range p.Evidence {
		if hex.EncodeToString(e.Hash) == h.EvidenceHash {
			m.Told, m.Evidence.URL = e.Kind, e.Link
		}
	}
	return m
}

// decisionWords gives the words of a decision: its reason, or the statement that it carries.
func decisionWords(p *store.OperationPage, d store.HistoryRow, words string) string {
	if words != "" {
		return words
	}
	for _, e := range p.Evidence {
		if d.EvidenceHash != "" && e.Kind == "statement" && hex.EncodeToString(e.Hash) == d.EvidenceHash {
			return e.Body
		}
	}
	return ""
}

// decides reports whether an entry of a person settles what was contradicted.
func decides(action string) bool {
	for _, a := range operation.PersonDecisions {
		if a == action {
			return true
		}
	}
	return action == "remedy_done"
}
