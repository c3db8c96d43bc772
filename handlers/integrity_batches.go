package handlers

import (
	"slices"

	"holdpoint/operation"
	"holdpoint/views"
	"holdpoint/web"

	"github.com/labstack/echo/v4"
)

// restoreBatchRows bounds how many batches of a restored database are shown at once.
const restoreBatchRows = 100

// restoreBatches adds the batches that were open in a restored database.
func (s *site) restoreBatches(c echo.Context, m *views.RestoreModel, id string, t typed) error {
	list, err := s.Store.ListRestoredBatches(c.Request().Context(), web.VisitOf(c).Actor(), id, m.OpenOnly, restoreBatchRows)
	if err != nil {
		return err
	}
	var by []string
	for _, b := range list {
		by = append(by, b.SettledBy)
	}
	people, err := s.names(c, "", by...)
	if err != nil {
		return err
	}
	chosen := t.of("compare-batches").fields["batch"]
	for _, b := range list {
		row := views.RestoreBatchRow{ID: b.ID, URL: views.PathBatches + "/" + string(b.ID), Title: b.Title, Flow: b.Flow, Destination: b.Destination, Was: b.Was, State: b.State,
			Included: b.Included, Released: b.Released, Settled: b.Settled, Reason: b.Reason, Selected: slices.Contains(chosen, string(b.ID))}
		if row.Title == "" {
			row.Title = string(b.ID)
		}
		if b.SettledAt != nil {
			row.SettledAt, row.Who = *b.SettledAt, people.person(b.SettledBy)
		}
		m.Batches = append(m.Batches, row)
	}
	return nil
}

// compareRestoredBatches records what a person found of the chosen batches.
func (s *site) compareRestoredBatches(c echo.Context) error {
	return s.compareWith(c, "restore.choose_batches", func(t typed, restore string) (int, error) {
		ids := t.fields["batch"]
		if len(ids) == 0 || len(ids) > restoreBatchRows {
			return 0, operation.Refuse(operation.CodeChecklist)
		}
		for i, id := range ids {
			if err := s.Store.CompareRestoredBatch(c.Request().Context(), web.VisitOf(c).Actor(), restore, operation.BatchID(id), t.text("reason")); err != nil {
				return i, err
			}
		}
		return len(ids), nil
	})
}
