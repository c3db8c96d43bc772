package handlers

import (
	"encoding/csv"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"holdpoint/operation"
	"holdpoint/store"
	"holdpoint/views"
	"holdpoint/web"

	"github.com/labstack/echo/v4"
)

// reportColumns are the columns of a review's file; docs/reports.md says what they mean.
var reportColumns = []string{"section", "figure", "destination", "kind", "this_n", "this_of", "before_n", "before_of", "settled_since"}

// reportCSV gives a review's numbers as they are stored.
func (s *site) reportCSV(c echo.Context) error {
	p, err := s.Store.FindReport(c.Request().Context(), web.VisitOf(c).Actor(), operation.ReportID(c.Param("id")))
	if err != nil {
		return err
	}
	return s.exporting(c, store.Export{What: "report", Format: "csv", Filter: "id=" + string(p.ID)}, func(o *outgoing) error {
		h := c.Response().Header()
		h.Set(echo.HeaderContentType, "text/csv; charset=utf-8; header=present")
		h.Set(echo.HeaderContentDisposition, `attachment; filename="`+reportFile(p)+`.csv"`)
		c.Response().WriteHeader(http.StatusOK)
		if _, err := o.Write([]byte(byteOrderMark)); err != nil {
			return err
		}
		w := csv.NewWriter(o)
		_ = w.Write(reportColumns)
		for _, l := range p.Lines {
			o.rows++
			_ = w.Write(reportCells(p, l))
		}
		w.Flush()
		return w.Error()
	})
}

// reportCells is one line of a review's file.
func reportCells(p *store.ReportPage, l operation.ReviewLine) []string {
	num := func(n int64) string { return strconv.FormatInt(n, 10) }
	since := ""
	if slices.Contains(store.SettledLines, l.Code) {
		since = strconv.Itoa(p.Since[l.Code])
	}
	return []string{string(l.Section), l.Code, guarded(l.Name), string(l.Kind), num(l.Now.N), num(l.Now.Of), num(l.Before.N), num(l.Before.Of), since}
}

// reportFile names a review's files.
func reportFile(p *store.ReportPage) string {
	name := "holdpoint-review-" + p.Period
	if p.Flow != "" {
		name += "-" + p.Flow
	}
	return strings.Map(func(r rune) rune {
		if r < 0x80 && (r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z') {
			return r
		}
		return '-'
	}, name)
}

// reportMarkdown gives a review with its comments and signatures as text, in the
// reader's language.
func (s *site) reportMarkdown(c echo.Context) error {
	v := web.VisitOf(c)
	p, err := s.Store.FindReport(c.Request().Context(), v.Actor(), operation.ReportID(c.Param("id")))
	if err != nil {
		return err
	}
	m, err := s.reportModel(c, p)
	if err != nil {
		return err
	}
	return s.exportDocument(c, store.Export{What: "report", Format: "markdown", Filter: "id=" + string(p.ID)}, markdownType, reportFile(p)+".md", []byte(views.ReportMarkdown(m, v.Printer())))
}
