package handlers

import (
	"encoding/hex"
	"errors"
	"net/http"
	"strconv"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/views"
	"holdpoint/web"

	"github.com/labstack/echo/v4"
)

// restoreRows bounds a page of what is to be reconciled, checkpointRows the newest
// checkpoints that are shown.
const (
	restoreRows    = 50
	checkpointRows = 5
)

// integrityRoutes are what a restored database leaves to reconcile.
func (s *site) integrityRoutes() []route {
	return []route{
		{get, views.PathRestore, signedIn, "", s.restore},
		{post, views.PathRestore + "/compare", stoppers, views.PathRestore, s.compareRestored},
		{post, views.PathRestore + "/compare-all", stoppers, views.PathRestore, s.compareAllRestored},
		{post, views.PathRestore + "/compare-batches", stoppers, views.PathRestore, s.compareRestoredBatches},
	}
}

// checkpoints says how the history is tied to what lies outside the database.
func (s *site) checkpoints(c echo.Context) (views.CheckpointsView, error) {
	st, err := s.Store.FindCheckpointState(c.Request().Context())
	if err != nil {
		return views.CheckpointsView{}, err
	}
	list, err := s.Store.ListCheckpoints(c.Request().Context(), checkpointRows)
	v := views.CheckpointsView{Waiting: st.Waiting, Missing: st.Missing}
	for _, r := range list {
		v.Rows = append(v.Rows, views.CheckpointRow{Number: r.Number, Size: r.Size, Root: hex.EncodeToString(r.Root), At: r.At, Signer: r.Signer})
	}
	return v, err
}

// restoreNote leads to what is open; nil = nothing is.
func (s *site) restoreNote(c echo.Context) (*views.RestoreNote, error) {
	r, n, err := s.Store.FindRestore(c.Request().Context())
	if errors.Is(err, store.ErrNotFound) || err == nil && r.EndedAt != nil {
		return nil, nil
	}
	return &views.RestoreNote{Open: n.Open, All: n.All}, err
}

func (s *site) restore(c echo.Context) error {
	t, _ := kept(c)
	return s.showRestore(c, http.StatusOK, t)
}

func (s *site) showRestore(c echo.Context, status int, t typed) error {
	ctx, actor := c.Request().Context(), web.VisitOf(c).Actor()
	r, n, err := s.Store.FindRestore(ctx)
	m := views.RestoreModel{}
	m.Frame = web.Frame(c, "")
	if errors.Is(err, store.ErrNotFound) {
		return web.RenderStatus(c, status, views.RestorePage(m))
	}
	if err != nil {
		return err
	}
	m.Found, m.Why, m.Since, m.Until, m.At, m.Missing = true, r.Word, r.Since, r.Until, r.FoundAt, r.Missing
	m.All, m.Open, m.Unmarked, m.Confirmed, m.Compared = n.All, n.Open, n.Unmarked, n.Confirmed, n.Compared
	m.OpenOnly = c.QueryParam("show") != "all"
	items, more, err := s.Store.ListRestored(ctx, actor, r.ID, store.RestoreFilter{Open: m.OpenOnly, After: operation.ID(c.QueryParam("after")), Limit: restoreRows})
	if err != nil {
		return err
	}
	var by []string
	for _, i := range items {
		by = append(by, i.SettledBy)
	}
	if r.EndedBy != nil {
		by = append(by, *r.EndedBy)
	}
	people, err := s.names(c, "", by...)
	if err != nil {
		return err
	}
	for _, i := range items {
		m.Rows = append(m.Rows, restoreRow(i, people, t))
	}
	if more {
		m.Pager.Next = views.PathRestore + "?after=" + string(items[len(items)-1].ID)
		if !m.OpenOnly {
			m.Pager.Next += "&show=all"
		}
	}
	if r.EndedAt != nil {
		m.Ended = &views.RestoreEnd{Who: people.person(*r.EndedBy), At: *r.EndedAt, Reason: *r.Reason}
	}
	if err := s.restoreParts(c, &m, r.ID); err != nil {
		return err
	}
	if err := s.restoreBatches(c, &m, r.ID, t); err != nil {
		return err
	}
	if err := s.restoreForms(c, &m, t); err != nil {
		return err
	}
	return web.RenderStatus(c, status, views.RestorePage(m))
}

// restoreParts adds destinations and sources.
func (s *site) restoreParts(c echo.Context, m *views.RestoreModel, id string) error {
	places, err := s.Store.ListRestorePlaces(c.Request().Context(), web.VisitOf(c).Actor(), id)
	if err != nil {
		return err
	}
	for _, p := range places {
		m.Places = append(m.Places, views.RestorePlace{Name: p.Destination, Open: p.Open, InDoubt: p.InDoubt})
	}
	sources, err := s.Store.ListRestoreSources(c.Request().Context(), id)
	for _, x := range sources {
		row := views.RestoreSource{Name: x.Source, SentNew: x.SentNew}
		if x.Newest != nil {
			row.Newest = *x.Newest
		}
		m.Sources = append(m.Sources, row)
	}
	return err
}

func (s *site) restoreForms(c echo.Context, m *views.RestoreModel, t typed) error {
	barred, err := s.mayPause(c, "")
	if err != nil {
		return err
	}
	form := func(name string) *views.ReasonForm {
		f := &views.ReasonForm{Form: newForm(t.of(name), views.PathRestore+"/"+name), Reason: t.of(name).val("reason")}
		f.Barred = barred
		return f
	}
	m.Compare, m.CompareAll, m.CompareBatches = form("compare"), form("compare-all"), form("compare-batches")
	return nil
}

func restoreRow(i store.RestoreItem, n names, t typed) views.RestoreRow {
	r := views.RestoreRow{ID: i.ID, URL: pathOperation(i.ID), Title: i.Title, Flow: i.Flow, Destination: i.Destination, Was: i.Was, State: i.State,
		InDoubt: i.InDoubt(), Lookup: i.LastLookup, Settled: i.Settled, Reason: i.Reason}
	if r.Title == "" {
		r.Title = string(i.ID)
	}
	if i.LookedUp != nil {
		r.LookedUp = *i.LookedUp
	}
	if i.SettledAt != nil {
		r.SettledAt, r.Who = *i.SettledAt, n.person(i.SettledBy)
	}
	for _, id := range t.of("compare").fields["operation"] {
		r.Selected = r.Selected || id == string(i.ID)
	}
	return r
}

// compareRestored records what a person found of the chosen operations. One in doubt is
// compared alone.
func (s *site) compareRestored(c echo.Context) error {
	return s.compareWith(c, "restore.choose", func(t typed, restore string) (int, error) {
		ids := t.fields["operation"]
		if len(ids) == 0 || len(ids) > restoreRows {
			return 0, operation.Refuse(operation.CodeChecklist)
		}
		if len(ids) > 1 {
			for _, id := range ids {
				alone, err := s.Store.RestoredInDoubt(c.Request().Context(), restore, operation.ID(id))
				if err != nil {
					return 0, err
				}
				if alone {
					return 0, operation.Refuse(operation.CodeAlone)
				}
			}
		}
		for i, id := range ids {
			if err := s.Store.CompareRestored(c.Request().Context(), web.VisitOf(c).Actor(), restore, operation.ID(id), t.text("reason")); err != nil {
				return i, err
			}
		}
		return len(ids), nil
	})
}

// compareAllRestored records that a destination's log was compared as a whole.
func (s *site) compareAllRestored(c echo.Context) error {
	return s.compareWith(c, "restore.choose", func(t typed, restore string) (int, error) {
		return s.Store.CompareAllRestored(c.Request().Context(), web.VisitOf(c).Actor(), restore, t.val("destination"), t.text("reason"))
	})
}

// compareWith lets a verb compare; choose is what it says to whoever chose nothing.
func (s *site) compareWith(c echo.Context, choose string, verb func(typed, string) (int, error)) error {
	t, err := sent(c)
	if err != nil {
		return err
	}
	if t.tooLong() {
		return s.showRestore(c, http.StatusUnprocessableEntity, t)
	}
	r, _, err := s.Store.FindRestore(c.Request().Context())
	if err != nil {
		return err
	}
	n, err := verb(t, r.ID)
	refusal := refusalOf(err)
	switch {
	case err == nil:
		return done(c, views.PathRestore, views.FlashCompared, "N", strconv.Itoa(n))
	case refusal != nil && refusal.Code == operation.CodeReasonMissing:
		t.wrong("reason", views.Refused(refusal))
	case refusal != nil && refusal.Code == operation.CodeChecklist:
		t.wrong("", views.Sentence(choose))
	case refusal != nil && refusal.Code == operation.CodeAlone:
		t.wrong("", views.Sentence("restore.choose_alone"))
	default:
		return err
	}
	return s.showRestore(c, http.StatusUnprocessableEntity, t)
}
