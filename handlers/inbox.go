package handlers

import (
	"net/http"

	"holdpoint/operation"
	"holdpoint/operation/definition"
	"holdpoint/store"
	"holdpoint/views"
	"holdpoint/web"

	"github.com/labstack/echo/v4"
)

// home leads to the inbox, or to the sign-in.
func (s *site) home(c echo.Context) error {
	return c.Redirect(http.StatusSeeOther, views.PathInbox)
}

// inbox shows what needs this person's decision.
func (s *site) inbox(c echo.Context) error {
	v := web.VisitOf(c)
	in, err := s.Store.ListInbox(c.Request().Context(), v.Actor())
	if err != nil {
		return err
	}
	m := views.InboxModel{StillChecked: in.Unknown, NextCheck: in.NextCheck, StillCheckedURL: views.PathOperations + "?state=unknown",
		WithOthers: in.Others, WithOthersURL: views.PathOperations + "?open=yes"}
	groups := map[views.InboxGroupKind]*views.InboxGroup{}
	order := []views.InboxGroupKind{views.GroupOverdue, views.GroupUnknown, views.GroupReexecutions, views.GroupHeld, views.GroupApprovals, views.GroupStages, views.GroupRemedies, views.GroupDrafts}
	for _, k := range order {
		groups[k] = &views.InboxGroup{Kind: k}
	}
	for _, r := range in.Rows {
		kind := groupOf(r)
		if r.Late {
			groups[kind].AlsoOverdue++
			kind = views.GroupOverdue
		}
		groups[kind].Rows = append(groups[kind].Rows, inboxRow(r, v))
	}
	if len(in.Held) > 0 {
		sources, err := s.sourceTitles(c)
		if err != nil {
			return err
		}
		for _, h := range in.Held {
			row := heldRow(h, v.Printer().Lang)
			if x := sources[h.Source]; x != "" {
				row.Source = x
			}
			groups[views.GroupHeld].Held = append(groups[views.GroupHeld].Held, row)
		}
	}
	for _, k := range order {
		if len(groups[k].Rows)+len(groups[k].Held) > 0 {
			m.Groups = append(m.Groups, *groups[k])
		}
	}
	m.Frame = web.Frame(c, views.SectionInbox)
	return web.Render(c, views.InboxPage(m))
}

// groupOf says in which group a decision stands.
func groupOf(r store.InboxRow) views.InboxGroupKind {
	switch operation.DecisionKind(r.NextKind) {
	case operation.DecideApprove:
		return views.GroupApprovals
	case operation.DecideReconcile:
		return views.GroupUnknown
	case operation.DecideReexecution:
		return views.GroupReexecutions
	case operation.DecideRemedy:
		return views.GroupRemedies
	case operation.DecideComplete:
		return views.GroupDrafts
	}
	return views.GroupStages
}

func inboxRow(r store.InboxRow, v *web.Visit) views.InboxRow {
	lang := v.Printer().Lang
	out := views.InboxRow{
		ID: r.ID, URL: pathOperation(r.ID), State: r.State, Flow: titled(r.FlowTitle, lang, r.Flow), Stage: titled(r.StageTitle, lang, r.Stage), Title: r.Title,
		Destination: titled(r.DestinationTitle, lang, r.Destination), Attempts: r.AttemptsEver, Since: timeOf(r.NextSince), Due: timeOf(r.NextAt),
		Duplicate: views.Duplicate(r.Duplicate), OnlyYou: r.NextUser == v.User.ID && r.NextUser != "",
	}
	if out.Title == "" {
		out.Title = out.Stage
	}
	if out.Since.IsZero() {
		out.Since = r.UpdatedAt
	}
	if !out.OnlyYou {
		out.Also = []views.Who{views.RoleWho(r.NextRole, false)}
	}
	switch {
	case r.Remedy == store.RemedyBlocked:
		out.URL, out.Note = pathRun(r.RunID), "inbox.blocked"
	case r.Blocked:
		out.Note = "inbox.earlier_closed"
	}
	if r.NextKind == string(operation.DecideApprove) {
		out.Version, out.Given, out.Required = r.VersionNo, r.Given, r.Required
	}
	return out
}

// titled gives a title in the reader's language, or the name.
func titled(t map[string]string, lang, name string) string {
	if x := definition.Text(t).In(lang); x != "" {
		return x
	}
	return name
}
