package handlers

import (
	"net/http"
	"net/url"
	"slices"
	"time"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/views"
	"holdpoint/web"

	"github.com/labstack/echo/v4"
)

// inputTime is how a browser writes the moment of a datetime-local field.
const inputTime = "2006-01-02T15:04"

// delegations shows what the viewer handed on and received, and the form to hand on.
func (s *site) delegations(c echo.Context) error {
	t, _ := kept(c)
	return s.showDelegations(c, http.StatusOK, t)
}

func (s *site) showDelegations(c echo.Context, status int, t typed) error {
	v, ctx := web.VisitOf(c), c.Request().Context()
	rows, err := s.Store.ListDelegations(ctx, v.User.ID)
	if err != nil {
		return err
	}
	titles, err := s.flowTitles(c)
	if err != nil {
		return err
	}
	m := views.DelegationsModel{}
	for _, d := range rows {
		line := s.delegationLine(c, d, titles, true)
		if d.From == v.User.ID {
			m.Given = append(m.Given, line)
		} else {
			m.Received = append(m.Received, line)
		}
	}
	if m.New, err = s.delegationForm(c, t.of("delegations"), titles); err != nil {
		return err
	}
	m.Frame = web.Frame(c, views.SectionAccount)
	return web.RenderStatus(c, status, views.DelegationsPage(m))
}

// allDelegations lists everybody's, for admins and auditors of every flow.
func (s *site) allDelegations(c echo.Context) error {
	who, err := s.viewer(c, "")
	if err != nil {
		return err
	}
	if !who.Has(operation.RoleAdmin) && !who.Has(operation.RoleAuditor) {
		return store.ErrNotFound
	}
	rows, err := s.Store.ListDelegations(c.Request().Context(), "")
	if err != nil {
		return err
	}
	titles, err := s.flowTitles(c)
	if err != nil {
		return err
	}
	m := views.DelegationsModel{}
	for _, d := range rows {
		m.All = append(m.All, s.delegationLine(c, d, titles, who.Has(operation.RoleAdmin)))
	}
	m.Frame = web.Frame(c, views.SectionPeople)
	return web.Render(c, views.AllDelegationsPage(m))
}

// flowTitles gives the titles of the flows that the viewer may know of, by name.
func (s *site) flowTitles(c echo.Context) (map[string]string, error) {
	items, err := s.Store.ListFlows(c.Request().Context())
	if err != nil {
		return nil, err
	}
	who, err := s.Store.FindViewer(c.Request().Context(), web.VisitOf(c).Actor())
	out := map[string]string{}
	for _, f := range items {
		if who.Sees(f.Name, "") {
			out[f.Name] = f.Flow.Title.In(web.VisitOf(c).Printer().Lang)
		}
	}
	return out, err
}

func (s *site) delegationLine(c echo.Context, d store.DelegationRow, titles map[string]string, mayEnd bool) views.DelegationLine {
	me := web.VisitOf(c).User.ID
	line := views.DelegationLine{ID: d.ID, From: views.PersonWho(d.FromName, d.From == me), To: views.PersonWho(d.ToName, d.To == me), Roles: d.Roles(), Reason: d.Reason,
		Starts: d.StartsAt, Ends: d.EndsAt, Used: d.Used, Live: d.Live(), Over: d.Over(), EndedBy: d.RevokedBy}
	if d.RevokedAt != nil {
		line.Ended = *d.RevokedAt
	}
	for _, f := range d.Flows() {
		if titles[f] != "" {
			f = titles[f]
		}
		line.Flows = append(line.Flows, f)
	}
	if mayEnd && !d.Over() {
		line.Revoke = &views.ReasonForm{Form: newForm(typed{}, views.PathDelegations+"/"+string(d.ID)+"/revoke")}
	}
	return line
}

// delegationForm offers what the viewer can hand on: their own roles; nil = they hold none
// in which anything is approved.
func (s *site) delegationForm(c echo.Context, t typed, titles map[string]string) (*views.DelegationForm, error) {
	v := web.VisitOf(c)
	f := &views.DelegationForm{Form: shownTo(newForm(t, views.PathDelegations), v.User.ID), Reason: t.val("reason")}
	for _, r := range operation.DelegableRoles {
		if v.Has(r) {
			f.Roles = append(f.Roles, views.Option{Value: string(r), Selected: t.fields == nil || slices.Contains(t.fields["roles"], string(r))})
		}
	}
	if len(f.Roles) == 0 {
		return nil, nil
	}
	people, err := s.Store.ListColleagues(c.Request().Context(), v.User.ID)
	if err != nil {
		return nil, err
	}
	for _, p := range people {
		f.People = append(f.People, views.Option{Value: string(p.ID), Label: p.Name, Selected: string(p.ID) == t.val("to")})
	}
	for name, title := range titles {
		f.Flows = append(f.Flows, views.Option{Value: name, Label: title, Selected: slices.Contains(t.fields["flows"], name)})
	}
	slices.SortFunc(f.Flows, func(a, b views.Option) int {
		if a.Label < b.Label {
			return -1
		}
		return 1
	})
	now := v.Now.In(v.Printer().Zone)
	f.Starts = t.or("starts", now.Format(inputTime))
	f.Ends = t.or("ends", now.AddDate(0, 0, 7).Format(inputTime))
	return f, nil
}

// delegate hands the viewer's approvals to another person for a time.
func (s *site) delegate(c echo.Context) error {
	t, err := sent(c)
	if err != nil {
		return err
	}
	t.form = "delegations"
	v := web.VisitOf(c)
	if t.ofAnother(v.User.ID) {
		return web.ErrFormOfAnother
	}
	n := store.NewDelegation{To: operation.UserID(t.val("to")), Flows: t.fields["flows"], Reason: t.text("reason"), FormID: t.val("form_id")}
	for _, r := range t.fields["roles"] {
		n.Roles = append(n.Roles, operation.Role(r))
	}
	var err1, err2 error
	n.StartsAt, err1 = time.ParseInLocation(inputTime, t.text("starts"), v.Printer().Zone)
	n.EndsAt, err2 = time.ParseInLocation(inputTime, t.text("ends"), v.Printer().Zone)
	switch {
	case n.To == "":
		t.wrong("to", views.Sentence(views.ErrorRequired))
	case len(n.Roles) == 0:
		t.wrong("roles", views.Sentence(views.ErrorRequired))
	case err1 != nil || err2 != nil:
		t.wrong("ends", views.Refused(operation.Refuse(operation.CodeDelegationTime)))
	case t.text("reason") == "":
		t.wrong("reason", views.Refused(operation.Refuse(operation.CodeReasonMissing)))
	case t.tooLong():
	}
	if len(t.errors) > 0 {
		return s.showDelegations(c, http.StatusUnprocessableEntity, t)
	}
	err = s.Store.AddDelegation(c.Request().Context(), v.Actor(), n)
	if r := refusalOf(err); r != nil {
		field := map[operation.Code]string{operation.CodeDelegate: "to", operation.CodeDelegationTime: "ends", operation.CodeNotEntitled: "roles"}[r.Code]
		t.wrong(field, views.Refused(r))
		return s.showDelegations(c, http.StatusUnprocessableEntity, t)
	}
	if err != nil {
		return err
	}
	return done(c, views.PathDelegations, "flash.delegated")
}

// endDelegation takes a delegation back. An admin comes from the list of all.
func (s *site) endDelegation(c echo.Context) error {
	t, err := sent(c)
	if err != nil {
		return err
	}
	if err := s.Store.RevokeDelegation(c.Request().Context(), web.VisitOf(c).Actor(), operation.DelegationID(c.Param("id")), t.text("reason")); err != nil {
		return err
	}
	to := views.PathDelegations
	if ref, err := url.Parse(c.Request().Referer()); err == nil && ref.Path == views.PathAllDelegations {
		to = views.PathAllDelegations
	}
	return done(c, to, "flash.delegation_ended")
}
