package handlers

import (
	"encoding/csv"
	"net/http"
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
	v, ctx := web.VisitOf(c), c.Request().Context()
	f := operationFilter(c.QueryParams(), v)
	res := c.Response()
	w := csv.NewWriter(res)
	begin := func() error {
		day := time.Now().In(v.Printer().Zone).Format(time.DateOnly)
		res.Header().Set(echo.HeaderContentType, "text/csv; charset=utf-8; header=present")
		res.Header().Set(echo.HeaderContentDisposition, `attachment; filename="holdpoint-operations-`+day+`.csv"`)
		res.WriteHeader(http.StatusOK)
		if _, err := res.Write([]byte(byteOrderMark)); err != nil {
			return err
		}
		return w.Write(exportColumns)
	}
	err := s.Store.EachOperation(ctx, v.Actor(), f, func(r store.InboxRow) error {
		if !res.Committed {
			if err := begin(); err != nil {
				return err
			}
		}
		return w.Write(exportRow(r))
	})
	if err == nil && !res.Committed {
		err = begin()
	}
	if err == nil {
		w.Flush()
		err = w.Error()
	}
	if err != nil && res.Committed {
		s.Log.Warn("export ended early", "id", web.RequestID(c), "err", err)
		panic(http.ErrAbortHandler) // a download that fails, not a file that looks whole
	}
	return err
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
