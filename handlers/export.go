package handlers

import (
	"encoding/csv"
	"errors"
	"strconv"
	"time"

	"holdpoint/store"
	"holdpoint/web"

	"github.com/labstack/echo/v4"
)

// pathExport is the list of operations as a CSV file; it takes the list's filters.
const pathExport = "/operations/export.csv"

// byteOrderMark lets spreadsheets read the file as UTF-8.
const byteOrderMark = "\uFEFF"

// exportColumns are the columns of the file. The names and the codes in it are stable;
// docs/operations.md says what they mean.
var exportColumns = []string{"operation_id", "state", "confirmed_by", "duplicate", "overdue", "flow", "stage", "item", "title", "destination", "action", "account",
	"environment", "attempts", "next_decision", "responsible", "due", "created", "updated", "source", "run_id", "target_reference", "target_url"}

// export writes the filtered list as CSV, row by row as it is read. What the viewer may
// not see is not in it.
func (s *site) export(c echo.Context) error {
	v, q := web.VisitOf(c), c.QueryParams()
	f := operationFilter(q, v)
	return s.exporting(c, store.Export{What: "operations", Format: "csv", Filter: filterQuery(q)}, func(o *outgoing) error {
		w := csv.NewWriter(o)
		begin := func() error {
			if c.Response().Committed {
				return nil
			}
			fileHead(c, "text/csv; charset=utf-8; header=present", "operations", ".csv")
			if _, err := o.Write([]byte(byteOrderMark)); err != nil {
				return err
			}
			return w.Write(exportColumns)
		}
		err := s.Store.EachOperation(c.Request().Context(), v.Actor(), f, func(r store.InboxRow) error {
			o.rows++
			return errors.Join(begin(), w.Write(exportRow(r)))
		})
		if err == nil {
			err = begin()
		}
		w.Flush()
		return errors.Join(err, w.Error())
	})
}

func exportRow(r store.InboxRow) []string {
	next := r.Next()
	responsible := string(next.Who.User)
	switch {
	case next.Who.System:
		responsible = responsibleSystem
	case responsible == "":
		responsible = string(next.Who.Role)
	}
	row := []string{string(r.ID), string(r.State), r.ConfirmedBy, r.Duplicate, yesOr(r.Late), r.Flow, r.Stage, r.ItemKey, r.Title, r.Destination, r.Action, r.Account,
		r.Environment, strconv.Itoa(r.AttemptsEver), r.NextKind, responsible, isoTime(next.At), isoTime(r.CreatedAt), isoTime(r.UpdatedAt), r.Source, string(r.RunID), r.TargetReference, r.TargetURL}
	for i, cell := range row {
		row[i] = guarded(cell)
	}
	return row
}

func yesOr(yes bool) string {
	if yes {
		return "yes"
	}
	return ""
}

// isoTime writes a moment as ISO 8601 in UTC; "" for none.
func isoTime(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format(time.RFC3339)
}
